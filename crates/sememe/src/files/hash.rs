//! A hash by which a replaced file is noticed without reading all of it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};

/// Number of blocks that are hashed.
const BLOCKS: usize = 64;
/// Bytes of a block: a page of memory.
const BLOCK: usize = 4096;

/// A hash of the length of a file and of blocks spread evenly over it. Small files are hashed as a whole; a large
/// mapped file costs 64 pages.
///
/// The first block holds the header of a safetensors file, and with it the hash of all words and vectors that sememe
/// writes there. So any other file that sememe wrote has another hash.
pub(crate) fn sampled_hash(bytes: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    for block in blocks(bytes.len()) {
        hasher.update(&bytes[block]);
    }
    hasher.finalize().to_hex().to_string()
}

/// The [`sampled_hash`] of a file that is read. Each page that is looked at in a mapped file may bring 2 MiB of the file
/// into memory.
pub(crate) fn sampled_hash_of_file(path: &Path) -> Result<String> {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&len.to_le_bytes());
        for block in blocks(usize::try_from(len).map_err(io::Error::other)?) {
            let mut bytes = vec![0; block.len()];
            file.seek(SeekFrom::Start(block.start as u64))?;
            file.read_exact(&mut bytes)?;
            hasher.update(&bytes);
        }
        Ok(hasher.finalize().to_hex().to_string())
    };
    read().map_err(|error| Error::read(path, error))
}

/// The parts of so many bytes that are hashed.
fn blocks(len: usize) -> impl Iterator<Item = Range<usize>> {
    let is_small = len <= BLOCKS * BLOCK;
    (0..if is_small { 1 } else { BLOCKS }).map(move |block| match block {
        _ if is_small => 0..len,
        // The last block ends where the file does.
        _ if block == BLOCKS - 1 => len - BLOCK..len,
        _ => {
            let start = (len - BLOCK) / (BLOCKS - 1) * block;
            start..start + BLOCK
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_the_end_and_the_length_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for len in [10, BLOCKS * BLOCK, BLOCKS * BLOCK + 1, 3_000_000] {
            let bytes = vec![7; len];
            let hash = sampled_hash(&bytes);
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(hash, sampled_hash_of_file(&file).unwrap());
            assert_ne!(hash, sampled_hash(&bytes[1..]));
            for at in [0, len - 1] {
                let mut changed = bytes.clone();
                changed[at] = 8;
                assert_ne!(hash, sampled_hash(&changed), "byte {at} of {len}");
            }
        }
    }
}

//! A hash by which a replaced file is noticed without reading all of it.

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
    if bytes.len() <= BLOCKS * BLOCK {
        hasher.update(bytes);
    } else {
        for block in 0..BLOCKS {
            // The last block ends where the file does.
            let start = (bytes.len() - BLOCK) / (BLOCKS - 1) * block;
            let start = if block == BLOCKS - 1 { bytes.len() - BLOCK } else { start };
            hasher.update(&bytes[start..start + BLOCK]);
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_the_end_and_the_length_count() {
        for len in [10, BLOCKS * BLOCK, BLOCKS * BLOCK + 1, 3_000_000] {
            let bytes = vec![7; len];
            let hash = sampled_hash(&bytes);
            assert_ne!(hash, sampled_hash(&bytes[1..]));
            for at in [0, len - 1] {
                let mut changed = bytes.clone();
                changed[at] = 8;
                assert_ne!(hash, sampled_hash(&changed), "byte {at} of {len}");
            }
        }
    }
}

//! Input files: memory-mapped or decompressed, with text in blocks of whole lines.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::compression::{Compression, decompression_error};
use crate::error::{Error, Place, Result};

/// Immutable bytes that are cheap to clone.
#[derive(Clone)]
pub(crate) struct Bytes(Storage);

#[derive(Clone)]
enum Storage {
    /// A memory-mapped file.
    Mapped(Arc<Mmap>),
    /// Bytes read or decompressed into memory.
    Owned(Arc<Vec<u8>>),
}

impl Bytes {
    /// Maps a file into memory.
    ///
    /// # Safety
    /// The file must not be truncated or changed while the bytes are in use.
    unsafe fn map(file: &File) -> io::Result<Self> {
        // SAFETY: the caller upholds the contract.
        Ok(Bytes(Storage::Mapped(Arc::new(unsafe { Mmap::map(file) }?))))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Mapped(map) => map,
            Storage::Owned(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(Storage::Owned(Arc::new(bytes)))
    }
}

/// An input file, plain or compressed.
pub struct Input {
    path: PathBuf,
    raw: Bytes,
    compression: Option<Compression>,
}

impl Input {
    /// Opens a file. Folders and empty files are errors.
    ///
    /// A plain file is memory-mapped, so it must not be truncated while it is in use. A file that cannot be mapped,
    /// such as a pipe, is read into memory.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let about = file.metadata().map_err(|e| Error::read(path, e))?;
        refuse_folder(path, &about)?;
        let raw = if about.is_file() && about.len() > 0 {
            // SAFETY: the map is only read. The documented contract excludes truncation.
            unsafe { Bytes::map(&file) }.map_err(|e| Error::read(path, e))?
        } else {
            let mut bytes = Vec::new();
            (&file).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
            bytes.into()
        };
        Self::new(path, raw)
    }

    /// Data in memory, with a name for messages. Readers treat it like a file.
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        Self::new(&name.into(), bytes.into())
    }

    fn new(path: &Path, raw: Bytes) -> Result<Self> {
        if raw.is_empty() {
            return Err(Error::malformed(path, Place::Whole, "is empty"));
        }
        let compression = Compression::of(&raw);
        Ok(Input { path: path.to_owned(), raw, compression })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size on disk, before any decompression.
    pub fn stored_len(&self) -> u64 {
        self.raw.len() as u64
    }

    /// The stored content, before any decompression.
    pub(super) fn stored(&self) -> &[u8] {
        &self.raw
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// The first `len` bytes of the (decompressed) content, or fewer if it is shorter.
    pub(crate) fn head(&self, len: usize) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        self.reader()?.take(len as u64).read_to_end(&mut head).map_err(|e| self.decompression_error(e))?;
        Ok(head)
    }

    /// The whole (decompressed) content; a plain file is not copied.
    pub(crate) fn bytes(&self) -> Result<Bytes> {
        if self.compression.is_none() {
            return Ok(self.raw.clone());
        }
        let limit = ALWAYS_UNPACKED.max(MOST_EXPANSION * self.stored_len());
        let mut bytes = Vec::new();
        self.reader()?.take(limit + 1).read_to_end(&mut bytes).map_err(|e| self.decompression_error(e))?;
        if bytes.len() as u64 > limit {
            let problem = format!("holds more than {} MiB when decompressed; is it the right file?", limit >> 20);
            return Err(Error::malformed(&self.path, Place::Whole, problem));
        }
        Ok(bytes.into())
    }

    /// The whole content as UTF-8 text without its byte order mark.
    pub(crate) fn text(&self) -> Result<Bytes> {
        let bytes = self.bytes()?;
        Ok(match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => rest.to_vec().into(),
            None => bytes,
        })
    }

    /// Returns the (decompressed) content in blocks of whole lines.
    pub(crate) fn blocks(&self) -> Result<Blocks<'_>> {
        Ok(match self.compression {
            None => Blocks::Mapped { rest: &self.raw },
            Some(_) => Blocks::Streamed { input: self, reader: self.reader()?, buffer: Vec::new(), carried: 0 },
        })
    }

    fn reader(&self) -> Result<Box<dyn Read + '_>> {
        let raw: &[u8] = &self.raw;
        match self.compression {
            None => Ok(Box::new(raw)),
            Some(compression) => compression.reader(&self.path, raw),
        }
    }

    fn decompression_error(&self, error: io::Error) -> Error {
        decompression_error(&self.path, error)
    }
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Archives up to this decompressed size are accepted regardless of their compression ratio.
const ALWAYS_UNPACKED: u64 = 256 << 20;
/// Largest compression ratio accepted. Vectors and dictionaries rarely reach ten; more is a mistake or a decompression
/// bomb.
const MOST_EXPANSION: u64 = 32;

/// Bytes of text per block: enough to keep all threads busy, small compared with the resulting matrix.
const BLOCK: usize = 8 << 20;
/// Longest line accepted.
const LONGEST_LINE: usize = 64 << 20;

/// Blocks of whole lines; see [`Input::blocks`].
pub(crate) enum Blocks<'a> {
    Mapped { rest: &'a [u8] },
    Streamed { input: &'a Input, reader: Box<dyn Read + 'a>, buffer: Vec<u8>, carried: usize },
}

impl Blocks<'_> {
    /// The next block of whole lines. At the end of the file, the last line may lack its newline.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        match self {
            Blocks::Mapped { rest } => {
                if rest.is_empty() {
                    return Ok(None);
                }
                let end = match rest.get(BLOCK..).and_then(|later| memchr::memchr(b'\n', later)) {
                    Some(newline) => BLOCK + newline + 1,
                    None => rest.len(),
                };
                let (block, later) = rest.split_at(end);
                *rest = later;
                Ok(Some(block))
            }
            Blocks::Streamed { input, reader, buffer, carried } => {
                buffer.drain(..*carried);
                loop {
                    let wanted = BLOCK.saturating_sub(buffer.len()).max(BLOCK / 8);
                    let got = reader
                        .by_ref()
                        .take(wanted as u64)
                        .read_to_end(buffer)
                        .map_err(|e| input.decompression_error(e))?;
                    if got < wanted {
                        *carried = buffer.len();
                        break;
                    }
                    if let Some(newline) = memchr::memrchr(b'\n', buffer) {
                        *carried = newline + 1;
                        break;
                    }
                    if buffer.len() > LONGEST_LINE {
                        return Err(Error::malformed(
                            &input.path,
                            Place::Whole,
                            "has a line of more than 64 MiB; this is not a text file of word vectors",
                        ));
                    }
                }
                Ok((*carried > 0).then(|| &buffer[..*carried]))
            }
        }
    }
}

/// Checks that a file exists and is no folder. Call it before long computations. Pipes are not opened.
pub fn check_readable(path: &Path) -> Result<()> {
    refuse_folder(path, &fs::metadata(path).map_err(|e| Error::read(path, e))?)
}

fn refuse_folder(path: &Path, about: &fs::Metadata) -> Result<()> {
    match about.is_dir() {
        true => Err(Error::malformed(path, Place::Whole, "is a directory; name a file inside it")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(mut content: impl Read) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::copy(&mut content, &mut gzip).unwrap();
        gzip.finish().unwrap()
    }

    fn lines_through_blocks(input: &Input) -> Vec<u8> {
        let mut blocks = input.blocks().unwrap();
        let mut all = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            all.extend_from_slice(block);
        }
        all
    }

    #[test]
    fn blocks_of_plain_and_compressed_text_agree() {
        let text: Vec<u8> = (0..2_000_000).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
        for bytes in [
            text.clone(),
            gzip(&text[..]),
            #[cfg(feature = "zstd")]
            zstd::encode_all(&text[..], 1).unwrap(),
        ] {
            let input = Input::from_bytes("lines", bytes).unwrap();
            assert!(lines_through_blocks(&input) == text);
        }
    }

    #[test]
    fn cut_off_archive_is_an_error() {
        let mut gzip = gzip(&[b'x'; 100_000][..]);
        gzip.truncate(gzip.len() - 3);
        let input = Input::from_bytes("cut.gz", gzip).unwrap();
        let error = input.bytes().err().unwrap().to_string();
        assert!(error.contains("cut off"), "{error}");
    }

    #[test]
    fn an_archive_that_grows_too_much_is_refused() {
        let zeros = std::io::repeat(0).take(ALWAYS_UNPACKED + 1);
        let input = Input::from_bytes("bomb.gz", gzip(zeros)).unwrap();
        assert!(input.bytes().err().unwrap().to_string().contains("256 MiB"));
    }
}

//! Input files: read, memory-mapped or decompressed, with text in blocks of whole lines.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bytes::{Bytes, Storage};
use super::compression::{Compression, decompression_error};
use super::mapped::Mapped;
#[cfg(feature = "parquet")]
use super::pieces::Pieces;
use crate::error::{Error, Place, Result};

/// An input file, plain or compressed.
pub struct Input {
    path: PathBuf,
    source: Source,
    compression: Option<Compression>,
}

enum Source {
    /// A regular file of this length.
    File { file: File, len: u64, mmap: bool },
    /// A pipe that was read, or data in memory.
    Memory(Bytes),
}

impl Input {
    /// Opens a file. Folders and empty files are errors.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, false)
    }

    /// Opens a file. With `mmap`, content that is needed as a whole is memory-mapped instead of read: that takes no
    /// memory of its own, but the file must not be changed while the content is in use. If it is truncated, the
    /// operating system ends the program by a signal. Text is always read, and a pipe cannot be mapped.
    pub fn open_with(path: &Path, mmap: bool) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let about = file.metadata().map_err(|e| Error::read(path, e))?;
        refuse_folder(path, &about)?;
        // Files of the system, such as those in /proc, tell no length.
        if about.is_file() && about.len() > 0 {
            return Self::new(path, Source::File { file, len: about.len(), mmap });
        }
        let mut bytes = Vec::new();
        (&file).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
        Self::new(path, Source::Memory(bytes.into()))
    }

    /// Data in memory, with a name for messages. Readers treat it like a file.
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        Self::new(&name.into(), Source::Memory(bytes.into()))
    }

    fn new(path: &Path, source: Source) -> Result<Self> {
        let mut input = Input { path: path.to_owned(), source, compression: None };
        let beginning = input.head(LONGEST_MAGIC)?;
        if beginning.is_empty() {
            return Err(Error::malformed(path, Place::Whole, "is empty"));
        }
        input.compression = Compression::of(&beginning);
        Ok(input)
    }

    /// The same file, read instead of mapped.
    pub(crate) fn copied(mut self) -> Self {
        if let Source::File { mmap, .. } = &mut self.source {
            *mmap = false;
        }
        self
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size on disk, before any decompression.
    pub fn stored_len(&self) -> u64 {
        match &self.source {
            Source::File { len, .. } => *len,
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Reads the stored content from its beginning, before any decompression. There is one reader at a time.
    pub(super) fn stored(&self) -> Result<Box<dyn io::BufRead + '_>> {
        match &self.source {
            Source::File { file, len, .. } => {
                let mut file: &File = file;
                file.rewind().map_err(|e| Error::read(&self.path, e))?;
                Ok(Box::new(BufReader::with_capacity(STORED_BUFFER, Whole { file, left: *len })))
            }
            Source::Memory(bytes) => Ok(Box::new(&**bytes)),
        }
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// The first `len` bytes of the (decompressed) content, or fewer if it is shorter.
    pub(crate) fn head(&self, len: usize) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        self.reader()?.take(len as u64).read_to_end(&mut head).map_err(|e| self.read_error(e))?;
        Ok(head)
    }

    /// The whole (decompressed) content.
    pub(crate) fn bytes(&self) -> Result<Bytes> {
        match (&self.source, self.compression) {
            (_, Some(_)) => self.decompressed(),
            (Source::Memory(bytes), None) => Ok(bytes.clone()),
            (Source::File { file, mmap: true, .. }, None) => {
                // SAFETY: the map is only read. Who asks for it knows that the file must not change.
                let mapped = unsafe { Mapped::new(file, &self.path) }.map_err(|e| Error::read(&self.path, e))?;
                Ok(Bytes(Storage::Mapped(Arc::new(mapped))))
            }
            (Source::File { len, mmap: false, .. }, None) => {
                let too_large = || Error::malformed(&self.path, Place::Whole, "is too large for the memory here");
                let len = usize::try_from(*len).map_err(|_| too_large())?;
                let mut numbers = vec![0.0_f32; len.div_ceil(size_of::<f32>())];
                let bytes = &mut bytemuck::cast_slice_mut(&mut numbers)[..len];
                self.stored()?.read_exact(bytes).map_err(|e| self.read_error(e))?;
                Ok(Bytes(Storage::Aligned { numbers: Arc::new(numbers), len }))
            }
        }
    }

    /// Random access to the (decompressed) content. A file is read piece by piece, unless it is to be mapped and may be.
    #[cfg(feature = "parquet")]
    pub(crate) fn pieces(&self, may_map: bool) -> Result<Pieces> {
        match (&self.source, self.compression) {
            (Source::File { file, len, mmap }, None) if !(*mmap && may_map) => {
                let file = file.try_clone().map_err(|e| Error::read(&self.path, e))?;
                Ok(Pieces::of_file(file, *len))
            }
            _ => Ok(Pieces::of_bytes(self.bytes()?)),
        }
    }

    fn decompressed(&self) -> Result<Bytes> {
        let limit = most_unpacked(self.stored_len());
        let mut bytes = Vec::new();
        self.reader()?.take(limit + 1).read_to_end(&mut bytes).map_err(|e| self.read_error(e))?;
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
        Ok(match (&self.source, self.compression) {
            (Source::Memory(bytes), None) => Blocks::InMemory { rest: bytes },
            _ => Blocks::Streamed { input: self, reader: self.reader()?, buffer: Vec::new(), carried: 0 },
        })
    }

    fn reader(&self) -> Result<Box<dyn Read + '_>> {
        let stored = self.stored()?;
        match self.compression {
            None => Ok(Box::new(stored)),
            Some(compression) => compression.reader(&self.path, stored),
        }
    }

    fn read_error(&self, error: io::Error) -> Error {
        match self.compression {
            Some(_) => decompression_error(&self.path, error),
            None => Error::read(&self.path, error),
        }
    }
}

/// A file that must be as long as it was when it was opened.
struct Whole<'a> {
    file: &'a File,
    left: u64,
}

impl Read for Whole<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let got = self.file.read(&mut buffer[..wanted])?;
        if got == 0 && wanted > 0 {
            let problem = "it was truncated while it was read; try again when nothing else writes to it";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        self.left -= got as u64;
        Ok(got)
    }
}

/// Bytes of a file that are read at a time.
const STORED_BUFFER: usize = 1 << 18;
/// Bytes by which a compression is recognised.
const LONGEST_MAGIC: usize = 6;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Archives up to this decompressed size are accepted regardless of their compression ratio.
const ALWAYS_UNPACKED: u64 = 256 << 20;
/// Largest compression ratio accepted. Vectors and dictionaries rarely reach ten; more is a mistake or a decompression
/// bomb.
const MOST_EXPANSION: u64 = 32;

/// The size up to which a file of this length may grow when it is decompressed.
pub(crate) fn most_unpacked(stored: u64) -> u64 {
    ALWAYS_UNPACKED.max(stored.saturating_mul(MOST_EXPANSION))
}

/// Bytes of text per block: enough to keep all threads busy, small compared with the resulting matrix.
const BLOCK: usize = 8 << 20;
/// Longest line accepted.
const LONGEST_LINE: usize = 64 << 20;

/// Blocks of whole lines; see [`Input::blocks`].
pub(crate) enum Blocks<'a> {
    InMemory { rest: &'a [u8] },
    Streamed { input: &'a Input, reader: Box<dyn Read + 'a>, buffer: Vec<u8>, carried: usize },
}

impl Blocks<'_> {
    /// The next block of whole lines. At the end of the file, the last line may lack its newline.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        match self {
            Blocks::InMemory { rest } => {
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
                    let got =
                        reader.by_ref().take(wanted as u64).read_to_end(buffer).map_err(|e| input.read_error(e))?;
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
    fn a_file_is_read_as_it_is_mapped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        let text: Vec<u8> = (0..200_001).flat_map(|i: u32| i.to_le_bytes()).chain(*b"\n..").collect();
        fs::write(&path, &text).unwrap();
        for mmap in [false, true] {
            let input = Input::open_with(&path, mmap).unwrap();
            assert!(*input.bytes().unwrap() == text && input.head(9).unwrap() == text[..9]);
            assert!(lines_through_blocks(&input) == text && input.stored_len() == text.len() as u64);
            assert_eq!(input.bytes().unwrap().aligned().is_some(), !mmap);
        }
    }

    #[test]
    fn a_file_that_is_truncated_while_it_is_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "a line\n".repeat(1000)).unwrap();
        let input = Input::open(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(700).unwrap();
        for error in [input.bytes().err().unwrap(), input.blocks().unwrap().next().unwrap_err()] {
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(error.to_string().contains("text") && cause.contains("truncated"), "{error}: {cause}");
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

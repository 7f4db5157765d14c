//! Random access to a file whose content is needed in parts, such as a table of which some columns are read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use super::bytes::Bytes;

/// A file that is read piece by piece, or bytes in memory. Clones share it, and threads may read at the same time.
#[derive(Clone)]
pub(crate) struct Pieces(Arc<Storage>);

enum Storage {
    File { file: File, len: u64 },
    Whole(bytes::Bytes),
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Pieces {
    pub(super) fn of_file(file: File, len: u64) -> Self {
        Pieces(Arc::new(Storage::File { file, len }))
    }

    pub(super) fn of_bytes(bytes: Bytes) -> Self {
        Pieces(Arc::new(Storage::Whole(bytes::Bytes::from_owner(bytes))))
    }

    pub(crate) fn len(&self) -> u64 {
        match &*self.0 {
            Storage::File { len, .. } => *len,
            Storage::Whole(bytes) => bytes.len() as u64,
        }
    }

    /// The `len` bytes from `start` on, without a copy if they are in memory. Memory is allocated only if the file has
    /// that many.
    pub(crate) fn at(&self, start: u64, len: usize) -> io::Result<bytes::Bytes> {
        if start.checked_add(len as u64).is_none_or(|end| end > self.len()) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends before the data that it declares"));
        }
        match &*self.0 {
            Storage::Whole(bytes) => Ok(bytes.slice(start as usize..start as usize + len)),
            Storage::File { file, .. } => {
                let mut piece = vec![0; len];
                read_exact_at(file, &mut piece, start)?;
                Ok(piece.into())
            }
        }
    }

    /// Reads from `start` to the end.
    pub(crate) fn reader(&self, start: u64) -> BufReader<PieceReader> {
        BufReader::new(PieceReader { pieces: self.clone(), at: start })
    }
}

/// Reads a file from some place on.
pub(crate) struct PieceReader {
    pieces: Pieces,
    at: u64,
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.pieces.len().saturating_sub(self.at);
        let len = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        buffer[..len].copy_from_slice(&self.pieces.at(self.at, len)?);
        self.at += len as u64;
        Ok(len)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut start: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, start)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            got => {
                buffer = &mut buffer[got..];
                start += got as u64;
            }
        }
    }
    Ok(())
}

//! Joins segments to one file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::Precision;
use super::segments::Form;
use crate::error::{Error, Place, Result};
use crate::files::Output;
use crate::tensors;
use crate::vectors::npy;

/// Bytes that are copied at a time.
const BUFFER: usize = 1 << 20;

/// An output whose checksum is computed while it is written.
pub(super) struct Checked {
    output: Output,
    hasher: blake3::Hasher,
}

impl Checked {
    fn create(path: &Path) -> Result<Self> {
        Ok(Checked { output: Output::create(path)?, hasher: blake3::Hasher::new() })
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        self.output.write_all(bytes)
    }

    fn finish(self) -> Result<String> {
        self.output.finish()?;
        Ok(self.hasher.finalize().to_hex().to_string())
    }
}

#[cfg(feature = "parquet")]
impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The checksum of a file, as the names of segments have it.
pub(super) fn checksum_of(path: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    copy(path, |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

/// Joins complete segments, in order, and returns the checksum of the whole. A segment that was changed since is an
/// error.
pub(super) fn join(
    segments: &[PathBuf],
    output: &Path,
    (form, precision, shape): (Form, Precision, (usize, usize)),
) -> Result<String> {
    for segment in segments {
        check(segment)?;
    }
    let mut joined = Checked::create(output)?;
    match form {
        Form::Npy => {
            let dtype = if precision == Precision::F16 { "<f2" } else { "<f4" };
            joined.write_all(&npy::header(dtype, shape))?;
            segments.iter().try_for_each(|segment| copy(segment, |bytes| joined.write_all(bytes)))?;
            joined.finish()
        }
        Form::Safetensors => {
            joined.write_all(&tensors::vectors_header(precision == Precision::F16, shape))?;
            segments.iter().try_for_each(|segment| copy(segment, |bytes| joined.write_all(bytes)))?;
            joined.finish()
        }
        #[cfg(feature = "parquet")]
        Form::Table(format) => crate::tables::join(segments, output, format, joined)?.finish(),
    }
}

fn check(segment: &Path) -> Result<()> {
    match is_whole(segment) {
        true => Ok(()),
        false => {
            let problem = "was changed after it was written; run the command again";
            Err(Error::malformed(segment, Place::Whole, problem))
        }
    }
}

/// Whether the content of a segment is the one that its name tells of.
pub(super) fn is_whole(segment: &Path) -> bool {
    let name = segment.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.split_once('-').is_some_and(|(_, checksum)| checksum_of(segment).is_ok_and(|own| own == checksum))
}

fn copy(path: &Path, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut file = File::open(path).map_err(|error| Error::read(path, error))?;
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => take(&buffer[..len])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::read(path, error)),
        }
    }
}

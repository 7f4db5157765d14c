//! Numbers that were moved from memory to a file without a name.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::error::{Error, Result};

/// Bytes that are written at a time.
const PIECE: usize = 8 << 20;

/// Numbers in a file without a name, which is mapped: the system reads what is used, and may take its memory back at
/// any time. The file is gone when the numbers are dropped or the program ends, however it ends.
pub(crate) struct Spilled {
    map: Mmap,
    folder: PathBuf,
}

impl Spilled {
    /// Writes numbers to a file in a folder.
    pub(crate) fn new(numbers: &[f32], folder: &Path) -> Result<Self> {
        Self::of_pieces(numbers.chunks(PIECE / size_of::<f32>()).map(Cow::Borrowed), folder)
    }

    /// [`Spilled::new`] for numbers that are never in memory as a whole.
    pub(crate) fn of_pieces<'a>(mut pieces: impl Iterator<Item = Cow<'a, [f32]>>, folder: &Path) -> Result<Self> {
        let mut write = || {
            let mut file = tempfile::tempfile_in(folder)?;
            pieces.try_for_each(|piece| file.write_all(bytemuck::cast_slice(&piece)))?;
            // SAFETY: the file has no name, so that nobody else can change it.
            unsafe { Mmap::map(&file) }
        };
        let map = write().map_err(|error| Error::write(folder, error))?;
        Ok(Spilled { map, folder: folder.to_owned() })
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A copy in memory. What was copied does not stay in memory beside it.
    pub(crate) fn to_vec(&self) -> Vec<f32> {
        let mut numbers = Vec::with_capacity(self.as_ref().len());
        for piece in self.as_ref().chunks(PIECE / size_of::<f32>()) {
            numbers.extend_from_slice(piece);
            self.release();
        }
        numbers
    }

    /// Tells the system that the numbers are not needed for a while. They do not count as memory of the program until
    /// they are used again.
    pub(crate) fn release(&self) {
        #[cfg(unix)]
        // SAFETY: the pages of a file that is mapped for reading come back with the same bytes. Advice that the system
        // does not follow changes nothing.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}

impl AsRef<[f32]> for Spilled {
    fn as_ref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_numbers_are_the_same_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: Vec<f32> = (0..5000).map(|x| x as f32 / 3.0).collect();
        let spilled = Spilled::new(&numbers, folder.path()).unwrap();
        for _ in 0..2 {
            assert!(spilled.as_ref() == numbers);
            spilled.release();
        }
        assert_eq!(spilled.to_vec(), numbers);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = Spilled::new(&numbers, &folder.path().join("nowhere")).err().unwrap();
        assert!(matches!(error, Error::Write { path, .. } if path.ends_with("nowhere")));
    }
}

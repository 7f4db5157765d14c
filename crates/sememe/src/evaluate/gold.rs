//! Gold dictionaries: the correct translations of a test set.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::lexicon::{self, Lexicon, LexiconReport};

/// A gold dictionary, source language first, with a report on reading its file.
///
/// ```
/// use sememe::evaluate::Gold;
///
/// # let folder = tempfile::tempdir().unwrap();
/// // Folders are searched for the names that MUSE, XLING and Dinu et al. use.
/// std::fs::write(folder.path().join("en-fr.5000-6500.txt"), "dog chien\n").unwrap();
/// let gold = Gold::read(folder.path(), "en", "fr")?;
/// assert_eq!(gold.lexicon.entries()[0].word(1), Some("chien"));
/// // A single file is read backwards for the other direction.
/// let gold = Gold::read_backwards(&folder.path().join("en-fr.5000-6500.txt"), "fr", "en")?;
/// assert_eq!(gold.lexicon.entries()[0].word(1), Some("dog"));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Gold {
    /// The entries.
    pub lexicon: Lexicon,
    /// Report on reading the file.
    pub report: LexiconReport,
}

impl Gold {
    /// Reads a file of pairs, words of `from` first, or finds the file of that direction in a folder.
    pub fn read(path: &Path, from: &str, to: &str) -> Result<Self> {
        let file = if path.is_dir() { gold_in(path, from, to)? } else { path.to_owned() };
        Self::of_columns(&file, [from, to], [from, to])
    }

    /// Reads a file of pairs, words of `to` first. In a folder, it finds the file of the direction, as [`Gold::read`]
    /// does.
    pub fn read_backwards(path: &Path, from: &str, to: &str) -> Result<Self> {
        match path.is_dir() {
            true => Self::read(path, from, to),
            false => Self::of_columns(path, [to, from], [from, to]),
        }
    }

    fn of_columns(file: &Path, columns: [&str; 2], views: [&str; 2]) -> Result<Self> {
        let read = lexicon::read_pairs(file, columns[0], columns[1], &Default::default())?;
        let report = LexiconReport::new(file, &read);
        Ok(Gold { lexicon: read.lexicon.restricted(&views)?, report })
    }
}

/// Finds the test dictionary in a folder by the file names of MUSE, XLING and Dinu et al.
fn gold_in(folder: &Path, from: &str, to: &str) -> Result<PathBuf> {
    let names = [
        format!("{from}-{to}.5000-6500.txt"),
        format!("{from}-{to}.test.freq.2k.tsv"),
        format!("OPUS_{from}_{to}_europarl_test.txt"),
    ];
    names.iter().map(|name| folder.join(name)).find(|file| file.is_file()).ok_or_else(|| {
        Error::Request(format!("the folder {} has none of {}; name the file", folder.display(), names.join(", ")))
    })
}

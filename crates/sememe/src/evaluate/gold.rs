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
/// // For the other direction, a single file is read backwards, unless the file of that direction is beside it.
/// let gold = Gold::read_backwards(&folder.path().join("en-fr.5000-6500.txt"), "fr", "en")?;
/// assert_eq!((gold.lexicon.entries()[0].word(1), gold.is_reversed), (Some("dog"), true));
/// std::fs::write(folder.path().join("fr-en.5000-6500.txt"), "chienne dog\n").unwrap();
/// let gold = Gold::read_backwards(&folder.path().join("en-fr.5000-6500.txt"), "fr", "en")?;
/// assert_eq!((gold.lexicon.entries()[0].word(0), gold.is_reversed), (Some("chienne"), false));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Gold {
    /// The entries.
    pub lexicon: Lexicon,
    /// Report on reading the file.
    pub report: LexiconReport,
    /// Whether the file is of the other direction, read backwards. Such a dictionary lacks translations that one of this
    /// direction has, so that precision is lower.
    pub is_reversed: bool,
}

impl Gold {
    /// Reads a file of pairs, words of `from` first, or finds the file of that direction in a folder.
    pub fn read(path: &Path, from: &str, to: &str) -> Result<Self> {
        let file = if path.is_dir() { gold_in(path, from, to)? } else { path.to_owned() };
        Self::of_columns(&file, [from, to], [from, to])
    }

    /// Reads the file of this direction beside `path`, a file of the other direction: `fr-en.5000-6500.txt` beside
    /// `en-fr.5000-6500.txt`. If there is none, it reads `path` backwards. In a folder, it finds the file of the
    /// direction, as [`Gold::read`] does.
    pub fn read_backwards(path: &Path, from: &str, to: &str) -> Result<Self> {
        if path.is_dir() {
            return Self::read(path, from, to);
        }
        match sibling(path, from, to) {
            Some(own) => Self::of_columns(&own, [from, to], [from, to]),
            None => Ok(Gold { is_reversed: true, ..Self::of_columns(path, [to, from], [from, to])? }),
        }
    }

    fn of_columns(file: &Path, columns: [&str; 2], views: [&str; 2]) -> Result<Self> {
        let read = lexicon::read_pairs(file, columns[0], columns[1], &Default::default())?;
        let report = LexiconReport::new(file, &read);
        Ok(Gold { lexicon: read.lexicon.restricted(&views)?, report, is_reversed: false })
    }
}

/// The file of the direction `from` to `to` beside a file of the other direction: the same name with the languages
/// swapped. The languages are the names of the views, or whatever the name begins with: `en-fr.` or `en_fr.`.
fn sibling(path: &Path, from: &str, to: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let by_views = ['-', '_'].map(|dash| {
        let (theirs, ours) = (format!("{to}{dash}{from}"), format!("{from}{dash}{to}"));
        name.contains(&theirs).then(|| name.replacen(&theirs, &ours, 1))
    });
    let by_beginning = ['-', '_'].map(|dash| {
        let (languages, rest) = name.split_once('.')?;
        let (first, second) = languages.split_once(dash).filter(|(_, second)| !second.contains(dash))?;
        Some(format!("{second}{dash}{first}.{rest}"))
    });
    let names = by_views.into_iter().chain(by_beginning).flatten().filter(|sibling| sibling != name);
    names.map(|sibling| path.with_file_name(sibling)).find(|sibling| sibling.is_file())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_other_direction_is_found_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["fr-en.5000-6500.txt", "test_fr_en.tsv", "ru_en.txt", "words.txt"] {
            std::fs::write(path(name), "x y\n").unwrap();
        }
        let found = |name: &str, from: &str, to: &str| {
            sibling(&path(name), from, to).map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(found("en-fr.5000-6500.txt", "fr", "en").as_deref(), Some("fr-en.5000-6500.txt"));
        assert_eq!(found("en-fr.5000-6500.txt", "french", "english").as_deref(), Some("fr-en.5000-6500.txt"));
        assert_eq!(found("test_en_fr.tsv", "fr", "en").as_deref(), Some("test_fr_en.tsv"));
        assert_eq!(found("en_ru.txt", "b", "a").as_deref(), Some("ru_en.txt"));
        for (name, from, to) in [("en-fr.0-5000.txt", "fr", "en"), ("words.txt", "fr", "en"), ("fr-fr.txt", "fr", "fr")]
        {
            assert_eq!(found(name, from, to), None, "{name}");
        }
    }
}

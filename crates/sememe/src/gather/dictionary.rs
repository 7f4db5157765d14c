//! Dictionaries and the views that they belong to.

use std::path::{Path, PathBuf};

use super::GatherOptions;
use crate::error::{Error, Result};
use crate::files::{Input, check_readable};
use crate::lexicon::{self, Lexicon, LexiconReport};

/// A dictionary and the views that it belongs to: a file of pairs or tuples, or entries in memory.
///
/// ```
/// use std::path::Path;
/// use sememe::gather::Dictionary;
///
/// // View names may contain hyphens and equals signs.
/// let views = ["dim=3-en", "dim=3-fr"];
/// let dictionary = Dictionary::parse("dim=3-en-dim=3-fr=pairs.txt", &views)?;
/// assert_eq!(dictionary.path(), Some(Path::new("pairs.txt")));
/// assert!(Dictionary::parse("en-ru=pairs.txt", &views).is_err());
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dictionary(Source);

#[derive(Debug, Clone)]
enum Source {
    Pairs {
        path: PathBuf,
        from: String,
        to: String,
    },
    /// The header of a file of tuples names the views. A file of pairs between just two views needs no header.
    Tuples(PathBuf),
    Entries(Lexicon),
}

impl From<Lexicon> for Dictionary {
    fn from(lexicon: Lexicon) -> Self {
        Dictionary(Source::Entries(lexicon))
    }
}

impl Dictionary {
    /// A file of pairs, words of the view `from` first.
    pub fn pairs(path: impl Into<PathBuf>, from: impl Into<String>, to: impl Into<String>) -> Self {
        Dictionary(Source::Pairs { path: path.into(), from: from.into(), to: to.into() })
    }

    /// A file of tuples with a header of view names or, if there are just two views, of pairs without a header.
    pub fn tuples(path: impl Into<PathBuf>) -> Self {
        Dictionary(Source::Tuples(path.into()))
    }

    /// Parses `A-B=FILE` (pairs of the views A and B) or `FILE`. View names may contain `-` and `=`, so every split is
    /// tried. If several splits name two of the views, the one whose file exists is used.
    pub fn parse(text: &str, views: &[&str]) -> Result<Self> {
        let mut same = None;
        let mut readings: Vec<(&Path, &str, &str)> = Vec::new();
        for (pair, path) in splits_at_equals(text).filter(|(_, path)| !path.is_empty()) {
            for (from, to) in pair.match_indices('-').map(|(at, _)| (&pair[..at], &pair[at + 1..])) {
                match views.contains(&from) && views.contains(&to) {
                    true if from == to => same = Some(from),
                    true => readings.push((Path::new(path), from, to)),
                    false => {}
                }
            }
        }
        if readings.iter().any(|(path, ..)| path.exists()) {
            readings.retain(|(path, ..)| path.exists());
        } else if !text.contains('=') || Path::new(text).exists() {
            return Ok(Self::tuples(text));
        }
        let problem = match (&readings[..], same) {
            ([(path, from, to)], _) => return Ok(Self::pairs(*path, *from, *to)),
            ([], Some(view)) => {
                format!("a dictionary needs two different views of {}, not {view:?} twice", views.join(", "))
            }
            ([], None) => {
                let pair = text.split('=').next().unwrap_or(text);
                format!("{pair:?} does not name two of the views {}", views.join(", "))
            }
            _ => "it can be read in several ways; rename the views".to_owned(),
        };
        Err(Error::Request(format!("dictionary {text}: {problem}")))
    }

    /// The file; `None` if the entries are in memory.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Source::Pairs { path, .. } | Source::Tuples(path) => Some(path),
            Source::Entries(_) => None,
        }
    }

    /// Whether its file is a table, as far as can be told before it is read: a pipe may be one.
    pub(super) fn is_table(&self) -> bool {
        let of_file = |path: &Path| Input::open_with(path, true).and_then(|input| lexicon::is_table(&input));
        self.path().is_some_and(|path| !path.is_file() || of_file(path).unwrap_or(false))
    }

    /// Whether it may contain words of a view. Files of tuples always may, as only reading them tells.
    pub fn may_have(&self, view: &str) -> bool {
        match &self.0 {
            Source::Pairs { from, to, .. } => from == view || to == view,
            Source::Tuples(_) => true,
            Source::Entries(lexicon) => lexicon.views().iter().any(|name| name == view),
        }
    }

    /// Checks that its file exists and that its views are among these. It is cheap, so call it before reading vectors.
    pub(super) fn check(&self, views: &[&str]) -> Result<()> {
        if let Some(path) = self.path() {
            check_readable(path)?;
        }
        let names: Vec<&str> = match &self.0 {
            Source::Pairs { from, to, .. } => vec![from, to],
            Source::Tuples(_) => Vec::new(),
            Source::Entries(lexicon) => lexicon.views().iter().map(String::as_str).collect(),
        };
        match names.into_iter().find(|name| !views.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let known = views.iter().map(|&view| view.to_owned()).collect();
                Err(Error::UnknownView { name: name.to_owned(), known })
            }
        }
    }

    /// The entries and, for a file, a report on reading it. Of tuples, only the columns of these views are read.
    pub(super) fn entries(&self, views: &[&str], options: &GatherOptions) -> Result<(Lexicon, Option<LexiconReport>)> {
        let (strict, columns) = (options.read.strict, options.lexicon_columns.clone());
        let options = lexicon::ReadOptions { strict, columns, ..Default::default() };
        let (path, read) = match &self.0 {
            Source::Pairs { path, from, to } => (path, lexicon::read_pairs(path, from, to, &options)?),
            Source::Tuples(path) => (path, lexicon::read(path, views, &options)?),
            Source::Entries(lexicon) => return Ok((lexicon.clone(), None)),
        };
        let report = LexiconReport::new(path, &read);
        Ok((read.lexicon, Some(report)))
    }
}

/// The text before and after each `=`.
pub fn splits_at_equals(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, views: &[&str]) -> std::result::Result<(PathBuf, bool), String> {
        let dictionary = Dictionary::parse(text, views).map_err(|error| error.to_string())?;
        Ok((dictionary.path().unwrap().to_owned(), matches!(dictionary.0, Source::Pairs { .. })))
    }

    #[test]
    fn every_split_into_two_names_and_a_file_is_tried() {
        let pairs = |path: &str| Ok((PathBuf::from(path), true));
        assert_eq!(parsed("a-b=f.txt", &["a", "b"]), pairs("f.txt"));
        assert_eq!(parsed("a-b=c-d=f.txt", &["a-b=c", "d"]), pairs("f.txt"));
        assert_eq!(parsed("a-b=k=v.txt", &["a", "b"]), pairs("k=v.txt"));
        assert_eq!(parsed("f.txt", &["a", "b"]), Ok((PathBuf::from("f.txt"), false)));
    }

    #[test]
    fn what_names_no_two_views_or_can_be_read_in_two_ways_is_refused() {
        for (text, views, said) in [
            ("a-c=f.txt", &["a", "b"][..], "\"a-c\" does not name two of the views a, b"),
            ("a-a=f.txt", &["a", "b"], "needs two different views of a, b, not \"a\" twice"),
            ("a-b-c=f.txt", &["a", "b", "a-b", "c", "b-c"], "it can be read in several ways"),
        ] {
            let message = parsed(text, views).unwrap_err();
            assert!(message.contains(said), "{message}");
        }
    }
}

//! Which words mean the same: tuples of words over any number of views, with holes; pairs are the case of two views.

mod parse;
mod pseudo;
mod tuples;

use std::collections::HashSet;
use std::path::Path;

pub use self::pseudo::{Shared, identical};
pub(crate) use self::tuples::find_word;
pub use self::tuples::{Matched, Tuples};
use crate::error::{Error, Result};
use crate::files::Input;
use crate::vectors::Skipped;

/// Entries of a dictionary as they are written: one word (or none) per view.
///
/// ```
/// use sememe::lexicon::Lexicon;
///
/// let mut lexicon = Lexicon::new(["en", "fr"].map(str::to_owned).to_vec());
/// lexicon.add(vec![Some("house".into()), Some("maison".into())]);
/// assert_eq!(lexicon.entries()[0][1].as_deref(), Some("maison"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexicon {
    views: Vec<String>,
    entries: Vec<Entry>,
    seen: HashSet<Entry>,
    duplicates: usize,
}

/// One word or hole per view.
pub type Entry = Vec<Option<String>>;

impl Lexicon {
    /// A dictionary without entries.
    pub fn new(views: Vec<String>) -> Self {
        Lexicon { views, entries: Vec::new(), seen: HashSet::new(), duplicates: 0 }
    }

    /// Adds an entry unless it is there already. Panics when it has not one cell per view.
    pub fn add(&mut self, entry: Entry) {
        assert_eq!(entry.len(), self.views.len(), "one cell per view");
        if self.seen.insert(entry.clone()) {
            self.entries.push(entry);
        } else {
            self.duplicates += 1;
        }
    }

    /// The views, in the order of the cells.
    pub fn views(&self) -> &[String] {
        &self.views
    }

    /// The distinct entries in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many repeated entries were dropped.
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Only the cells of the given views, in that order; entries left with fewer than two words are dropped.
    pub fn restricted(&self, views: &[&str]) -> Result<Self> {
        let place = |name: &&str| {
            let unknown = || Error::UnknownView { name: (*name).to_owned(), known: self.views.clone() };
            self.views.iter().position(|view| view == name).ok_or_else(unknown)
        };
        let places: Vec<usize> = views.iter().map(place).collect::<Result<_>>()?;
        let mut restricted = Lexicon::new(views.iter().map(|&name| name.to_owned()).collect());
        for entry in &self.entries {
            let cells: Entry = places.iter().map(|&place| entry[place].clone()).collect();
            if cells.iter().flatten().count() >= 2 {
                restricted.add(cells);
            }
        }
        Ok(restricted)
    }

    /// The same entries in lower case.
    pub fn lowercased(&self) -> Self {
        let mut lower = Lexicon::new(self.views.clone());
        for entry in &self.entries {
            lower.add(entry.iter().map(|word| word.as_deref().map(str::to_lowercase)).collect());
        }
        lower.duplicates += self.duplicates;
        lower
    }
}

/// What came out of a dictionary file.
#[derive(Debug)]
pub struct Read {
    /// The entries.
    pub lexicon: Lexicon,
    /// Lines that are no entries, and why.
    pub skipped: Skipped,
    /// Lines that begin with `#`.
    pub comments: usize,
}

/// Reads a dictionary of pairs: `a b`, or separated by tabs, commas or semicolons.
pub fn read_pairs(path: &Path, from: &str, to: &str) -> Result<Read> {
    read_pairs_input(&Input::open(path)?, from, to)
}

/// [`read_pairs`] on bytes that are already at hand.
pub fn read_pairs_input(input: &Input, from: &str, to: &str) -> Result<Read> {
    parse::pairs(input.path(), &input.text()?, from, to)
}

/// Reads tuples over several views: tab-separated with a header of view names; an empty cell is a hole.
pub fn read_tuples(path: &Path) -> Result<Read> {
    read_tuples_input(&Input::open(path)?)
}

/// [`read_tuples`] on bytes that are already at hand.
pub fn read_tuples_input(input: &Input) -> Result<Read> {
    parse::tuples(input.path(), &input.text()?)
}

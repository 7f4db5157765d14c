//! Dictionaries: tuples of words with the same meaning, over any number of views, with holes where a view has none.

mod complete;
mod entry;
mod parse;
mod pseudo;
mod report;
mod separator;
mod split;
#[cfg(feature = "parquet")]
mod table;
mod text;
mod trained;
mod trained_rows;
mod tuples;

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::entry::Entry;
pub(crate) use self::parse::{SCORE, is_passed_over, lines};
pub use self::pseudo::{Shared, identical};
pub use self::report::LexiconReport;
pub(crate) use self::separator::Separator;
pub(crate) use self::text::{is_table, text_of};
pub use self::trained::{TrainedPairs, WordPair};
pub use self::trained_rows::TrainedRows;
pub(crate) use self::tuples::{Cells, Group};
pub use self::tuples::{Matched, Tuples, find_word};
use crate::error::{Error, Result};
use crate::files::Input;
use crate::names::setters;
use crate::vectors::Skipped;

/// The entries of a dictionary as they are spelled: at most one word per view.
///
/// ```
/// use sememe::lexicon::Lexicon;
///
/// let mut lexicon = Lexicon::new(["en", "fr"].map(str::to_owned).to_vec());
/// lexicon.add([(0, "house"), (1, "maison")].into_iter().collect());
/// assert_eq!(lexicon.entries()[0].word(1), Some("maison"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexicon {
    views: Vec<String>,
    entries: Vec<Entry>,
    seen: HashSet<Entry>,
    duplicates: usize,
}

impl Lexicon {
    /// An empty dictionary.
    pub fn new(views: Vec<String>) -> Self {
        Lexicon { views, entries: Vec::new(), seen: HashSet::new(), duplicates: 0 }
    }

    /// Makes room for entries, so that adding them does not hash those before them again.
    fn reserve(&mut self, entries: usize) {
        self.entries.reserve(entries);
        self.seen.reserve(entries);
    }

    /// Adds an entry unless it is already there. Panics if the entry has a word of an unknown view.
    pub fn add(&mut self, entry: Entry) {
        assert!(entry.words().all(|(view, _)| view < self.views.len()), "every word is of one of the views");
        if self.seen.insert(entry.clone()) {
            self.entries.push(entry);
        } else {
            self.duplicates += 1;
        }
    }

    /// The names of the views; the words of entries refer to them by index.
    pub fn views(&self) -> &[String] {
        &self.views
    }

    /// The distinct entries in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of duplicate entries that were dropped.
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Keeps only the words of the given views, in that order. Entries left with fewer than two words are dropped.
    pub fn restricted(&self, views: &[&str]) -> Result<Self> {
        let place = |name: &&str| {
            let unknown = || Error::UnknownView { name: (*name).to_owned(), known: self.views.clone() };
            self.views.iter().position(|view| view == name).ok_or_else(unknown)
        };
        let places: Vec<usize> = views.iter().map(place).collect::<Result<_>>()?;
        let mut restricted = Lexicon::new(views.iter().map(|&name| name.to_owned()).collect());
        for entry in &self.entries {
            let word_of = |(view, &place): (usize, &usize)| entry.word(place).map(|word| (view, word));
            let entry: Entry = places.iter().enumerate().filter_map(word_of).collect();
            if entry.words().len() >= 2 {
                restricted.add(entry);
            }
        }
        Ok(restricted)
    }

    /// The same entries in lower case.
    pub fn lowercased(&self) -> Self {
        let mut lower = Lexicon::new(self.views.clone());
        for entry in &self.entries {
            lower.add(entry.lowercased());
        }
        lower.duplicates += self.duplicates;
        lower
    }
}

/// Options for reading a dictionary. By default all views are read and a few unusable lines are skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Treat any skipped line as an error.
    pub strict: bool,
    /// For tuples: read only these views, and ignore the others in the header.
    pub views: Option<Vec<String>>,
    /// For tables: the columns, in the order of the views, instead of those called like them.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
}

/// The result of reading a dictionary.
#[derive(Debug)]
#[non_exhaustive]
pub struct Read {
    /// The entries.
    pub lexicon: Lexicon,
    /// Skipped lines, and why.
    pub skipped: Skipped,
    /// Lines that begin with `#`.
    pub comments: usize,
    /// Rows of tuples with fewer than two words of the views that were read. They are valid but useless.
    pub single_cells: usize,
    /// Views in the header of tuples that were not requested.
    pub ignored_views: Vec<String>,
    /// Whether lines of pairs have further columns (a score, a note), which were ignored.
    pub ignored_columns: bool,
}

/// Reads a dictionary over these views. The format is tuples under a header of view names ([`read_tuples`]), pairs that
/// were induced, which name their views in a comment, or, for two views, pairs without a header, the first view's word
/// first ([`read_pairs`]). Tables (Parquet, Arrow) have a column for each view.
pub fn read(path: &Path, views: &[&str], options: &ReadOptions) -> Result<Read> {
    let input = Input::open(path)?;
    let options = ReadOptions { views: Some(views.iter().map(|&view| view.to_owned()).collect()), ..options.clone() };
    #[cfg(feature = "parquet")]
    if is_table(&input)? {
        return match *views {
            [from, to] if !table::has_views(&input, views)? => table::pairs(&input, [from, to], &options),
            _ => table::tuples(&input, &options),
        };
    }
    let text = text::text_of(&input)?;
    if let Some([from, to]) = parse::induced_between(&text, views) {
        return parse::pairs(path, &text, from, to, &options);
    }
    match *views {
        [from, to] if !parse::begins_with_names(&text, views) => parse::pairs(path, &text, from, to, &options),
        _ => parse::tuples(path, &text, &options),
    }
}

/// Reads a dictionary of pairs, one a line, separated by white space, tabs, commas or semicolons; or a table with a column
/// for each view.
pub fn read_pairs(path: &Path, from: &str, to: &str, options: &ReadOptions) -> Result<Read> {
    read_pairs_input(&Input::open(path)?, from, to, options)
}

/// [`read_pairs`] from bytes in memory.
pub fn read_pairs_input(input: &Input, from: &str, to: &str, options: &ReadOptions) -> Result<Read> {
    #[cfg(feature = "parquet")]
    if is_table(input)? {
        return table::pairs(input, [from, to], options);
    }
    parse::pairs(input.path(), &text::text_of(input)?, from, to, options)
}

/// Reads tuples over several views: tab-separated with a header of view names; an empty cell is a hole. In a table, the
/// columns have the names of the views.
pub fn read_tuples(path: &Path, options: &ReadOptions) -> Result<Read> {
    read_tuples_input(&Input::open(path)?, options)
}

/// [`read_tuples`] from bytes in memory.
pub fn read_tuples_input(input: &Input, options: &ReadOptions) -> Result<Read> {
    #[cfg(feature = "parquet")]
    if is_table(input)? {
        return table::tuples(input, options);
    }
    parse::tuples(input.path(), &text::text_of(input)?, options)
}

setters!(ReadOptions {
    /// Sets [`ReadOptions::strict`].
    with_strict: strict = bool,
    /// Sets [`ReadOptions::views`].
    with_views: views = Option<Vec<String>>,
    /// Sets [`ReadOptions::columns`].
    with_columns: columns = Option<Vec<String>>,
});

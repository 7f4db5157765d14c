//! A serialisable report on reading a dictionary.

use std::path::Path;

use serde::Serialize;

use super::Read;
use crate::error::Skipped;

/// Which lines and columns of a dictionary were not used, and why.
///
/// ```
/// use sememe::lexicon::{LexiconReport, read_pairs};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("en-fr.txt");
/// std::fs::write(&path, "# animals\ndog chien\ncat chat\n").unwrap();
/// let read = read_pairs(&path, "en", "fr", &Default::default())?;
/// let report = LexiconReport::new(&path, &read);
/// assert_eq!((report.comments, report.skipped.total()), (1, 0));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LexiconReport {
    /// The file.
    pub file: String,
    /// Skipped lines, and why.
    pub skipped: Skipped,
    /// Lines that begin with `#`.
    pub comments: usize,
    /// Rows of tuples with fewer than two words of the views that were read.
    pub single_cells: usize,
    /// Views in the header of tuples that were not requested.
    pub ignored_views: Vec<String>,
    /// Whether lines of pairs have further columns, which were ignored.
    pub ignored_columns: bool,
}

impl LexiconReport {
    /// A report on the dictionary read from `path`.
    pub fn new(path: &Path, read: &Read) -> Self {
        LexiconReport {
            file: path.display().to_string(),
            skipped: read.skipped.clone(),
            comments: read.comments,
            single_cells: read.single_cells,
            ignored_views: read.ignored_views.clone(),
            ignored_columns: read.ignored_columns,
        }
    }
}

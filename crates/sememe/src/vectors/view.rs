//! A view: a name, rows of numbers and optionally words.

use std::fmt;
use std::sync::Arc;

use super::{Embeddings, Matrix, Vocabulary};
use crate::files::little_endian;

/// A name, rows of numbers and optionally a word for each row.
///
/// Everything from moments to retrieval works on rows. Words matter to people: in dictionaries, translations and
/// spaces.
///
/// ```
/// use sememe::vectors::{Embeddings, Matrix, View};
///
/// let rows = Matrix::new(vec![1.0, 0.0, 0.6, 0.8], 2);
/// let embeddings = Embeddings::new(["house", "dog"].into_iter().collect(), rows.clone());
/// assert_eq!(View::from_embeddings("en", embeddings).label(1).as_ref(), "dog");
/// assert_eq!(View::new("model", rows).label(1).as_ref(), "1");
/// ```
#[derive(Clone)]
pub struct View {
    name: String,
    rows: Matrix,
    words: Option<Arc<Vocabulary>>,
}

impl View {
    /// A view without words.
    pub fn new(name: impl Into<String>, rows: Matrix) -> Self {
        View { name: name.into(), rows, words: None }
    }

    /// A view of words with their vectors.
    pub fn from_embeddings(name: impl Into<String>, embeddings: Embeddings) -> Self {
        let words = Some(embeddings.shared_vocabulary());
        View { name: name.into(), rows: embeddings.into_matrix(), words }
    }

    /// Its name, which can be any string.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rows.
    pub fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// Replaces the rows by as many others, computed from them.
    pub(crate) fn map_rows<E>(self, map: impl FnOnce(Matrix) -> Result<Matrix, E>) -> Result<Self, E> {
        let (len, rows) = (self.len(), map(self.rows)?);
        assert_eq!(len, rows.rows(), "one row for each row");
        Ok(View { name: self.name, rows, words: self.words })
    }

    pub(crate) fn rows_mut(&mut self) -> &mut Matrix {
        &mut self.rows
    }

    /// The words, if the view has any.
    pub fn words(&self) -> Option<&Vocabulary> {
        self.words.as_deref()
    }

    /// [`View::words`] that outlive a change of the rows.
    pub(crate) fn shared_words(&self) -> Option<Arc<Vocabulary>> {
        self.words.clone()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.rows()
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Dimension of the rows.
    pub fn dim(&self) -> usize {
        self.rows.cols()
    }

    /// The label of a row: its word, or its number in a view without words. Panics when `row` is out of range.
    pub fn label(&self, row: usize) -> Label<'_> {
        assert!(row < self.len(), "row {row} of {}", self.len());
        match &self.words {
            Some(words) => Label::Word(words.word(row)),
            None => Label::of_row(row),
        }
    }

    /// The same view with other rows. Words are kept. Panics when the numbers of rows differ.
    pub fn with_rows(&self, rows: Matrix) -> Self {
        assert_eq!(self.len(), rows.rows(), "one row for each row");
        View { name: self.name.clone(), rows, words: self.words.clone() }
    }

    /// The rows with their words; in a view without words, row numbers serve as words.
    pub fn named(&self) -> Embeddings {
        self.clone().into_named()
    }

    /// [`View::named`], without sharing the rows with the view.
    pub(crate) fn into_named(self) -> Embeddings {
        match self.words {
            Some(words) => Embeddings::of_shared(words, self.rows),
            None => {
                let mut words = Vocabulary::new();
                (0..self.rows.rows())
                    .for_each(|row| assert!(words.push(Label::of_row(row).as_ref()), "numbers differ"));
                Embeddings::new(words, self.rows)
            }
        }
    }

    /// A hash of labels and numbers, independent of the file format.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.dim() as u64).to_le_bytes());
        for row in 0..self.len() {
            hasher.update(self.label(row).as_ref().as_bytes()).update(b"\n");
        }
        self.rows.pieces().for_each(|rows| {
            hasher.update_rayon(&little_endian(rows));
        });
        hasher.finalize().to_hex().to_string()
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = if self.words.is_some() { "words" } else { "rows" };
        write!(f, "View({:?}: {} {words} x {})", self.name, self.len(), self.dim())
    }
}

/// The label of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label<'a> {
    /// Its word.
    Word(&'a str),
    /// Its number, in a view without words. The digits are stored in place, so that labels need no allocation.
    Row {
        /// The digits.
        digits: [u8; 20],
        /// Index of the first digit.
        start: usize,
    },
}

impl Label<'_> {
    pub(crate) fn of_row(row: usize) -> Self {
        let (mut digits, mut start, mut rest) = ([0; 20], 20, row);
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                return Label::Row { digits, start };
            }
        }
    }
}

impl AsRef<str> for Label<'_> {
    fn as_ref(&self) -> &str {
        match self {
            Label::Word(word) => word,
            Label::Row { digits, start } => std::str::from_utf8(&digits[*start..]).expect("digits are ASCII"),
        }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_words_are_called_by_their_numbers() {
        for row in [0, 7, 10, 4_294_967_295, usize::MAX] {
            assert_eq!(Label::of_row(row).as_ref(), row.to_string());
        }
        let rows = Matrix::new((0..24).map(|x| x as f32).collect(), 2);
        let (plain, named) = (View::new("a", rows.clone()), View::new("a", rows).named());
        assert_eq!(plain.fingerprint(), View::from_embeddings("a", named.clone()).fingerprint());
        assert_eq!(plain.fingerprint(), named.fingerprint());
        assert_eq!(named.word(11), "11");
    }
}

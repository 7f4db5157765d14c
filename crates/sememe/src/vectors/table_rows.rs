//! Rows of a table on their way into one matrix, with the words beside them.

use std::path::Path;

use super::intake::{Intake, check_dimension, check_vector, check_word};
use super::{Embeddings, Matrix, ReadOptions};
use crate::error::{Error, Place, Reason, Result, Skipped};
use crate::files::most_unpacked;
use crate::tables::{Batches, Levels, Lists, Texts, damaged};

/// What is known of a table before its rows are read.
pub(super) struct Frame<'a> {
    pub(super) path: &'a Path,
    pub(super) options: &'a ReadOptions,
    /// The name of the column of vectors.
    pub(super) column: &'a str,
    /// The words, one for each row, unless rows are read without them.
    pub(super) has_words: bool,
    /// Number of rows that the file declares, if it does.
    pub(super) declared_rows: Option<u64>,
    /// Size of the file, which bounds the memory for rows.
    pub(super) len: u64,
}

impl Frame<'_> {
    fn unusable(&self, place: Place, problem: &str) -> Error {
        Error::malformed(self.path, place, format!("the vector in the column {:?} {problem}", self.column))
    }

    /// The error for a vector that is not as long as the others.
    pub(super) fn other_length(&self, place: Place, len: usize, dim: usize) -> Error {
        self.unusable(place, &format!("has {len} numbers, those before it have {dim}"))
    }
}

/// Collects rows in order.
pub(super) struct Rows<'a> {
    frame: Frame<'a>,
    sink: Sink<'a>,
    /// Number of rows so far.
    seen: u64,
    /// A row that goes on in the next page: its numbers, and whether one of them is null.
    open: Option<(Vec<f32>, bool)>,
}

enum Sink<'a> {
    /// The dimension is that of the first vector, which has not come yet.
    Waiting,
    Words(Intake<'a>),
    Rows(Vec<f32>, usize),
}

impl<'a> Rows<'a> {
    pub(super) fn new(frame: Frame<'a>) -> Self {
        Rows { frame, sink: Sink::Waiting, seen: 0, open: None }
    }

    /// True when as many words were read as wanted.
    pub(super) fn is_full(&self) -> bool {
        match &self.sink {
            Sink::Waiting => false,
            Sink::Words(intake) => intake.is_full(),
            Sink::Rows(values, dim) => self.frame.options.max_words.is_some_and(|rows| values.len() / dim >= rows),
        }
    }

    /// Adds a row. `word` is the cell beside it, if words are read: `None` for null.
    fn take(&mut self, word: Option<&str>, vector: std::result::Result<&[f32], Reason>) -> Result<()> {
        self.seen += 1;
        let place = Place::Row(self.seen);
        if let Ok(vector) = vector {
            self.check_length(vector, place)?;
        }
        match &mut self.sink {
            Sink::Words(intake) => {
                let entry = match (word, vector) {
                    (None, _) => Err(Reason::NoWord),
                    (Some(word), Ok(vector)) => {
                        check_word(word.as_bytes()).and_then(|word| check_vector(vector).map(|()| (word, vector)))
                    }
                    (_, Err(reason)) => Err(reason),
                };
                intake.take(entry, place);
                Ok(())
            }
            Sink::Rows(values, _) => match vector {
                Ok(vector) if vector.iter().all(|x| x.is_finite()) => {
                    values.extend_from_slice(vector);
                    Ok(())
                }
                Ok(_) => Err(self.frame.unusable(place, "has NaN or infinity")),
                Err(_) => Err(self.frame.unusable(place, "is null or has nulls")),
            },
            // Nulls before the first vector are counted once its length is known.
            Sink::Waiting if self.frame.has_words => Ok(()),
            Sink::Waiting => Err(self.frame.unusable(place, "is null or has nulls")),
        }
    }

    /// Checks that all vectors are equally long, and that the rows are not absurdly many for the file.
    fn check_length(&mut self, vector: &[f32], place: Place) -> Result<()> {
        let Frame { path, options, has_words, declared_rows, len, .. } = self.frame;
        if let Sink::Waiting = self.sink {
            let dim = vector.len();
            check_dimension(path, dim, place)?;
            // As many as declared, if they are plausible: numbers may be of half the size, and compressed. More are allocated
            // as they come.
            let in_file = len / size_of_val(vector) as u64;
            let possible = declared_rows.map_or(in_file, |rows| rows.min(4 * in_file));
            let expected = usize::try_from(possible).unwrap_or(0);
            self.sink = match has_words {
                true => {
                    let mut intake = Intake::new(path, options, dim, expected)?;
                    (1..self.seen).for_each(|row| intake.take(Err(Reason::Null), Place::Row(row)));
                    Sink::Words(intake)
                }
                false => {
                    let rows = expected.min(options.max_words.unwrap_or(usize::MAX));
                    Sink::Rows(Vec::with_capacity(rows.saturating_mul(dim)), dim)
                }
            };
        }
        let dim = self.dim();
        if vector.len() != dim {
            return Err(self.frame.other_length(place, vector.len(), dim));
        }
        if self.seen.saturating_mul((size_of::<f32>() * dim) as u64) > most_unpacked(len) {
            let problem =
                format!("holds more than {} MiB when decompressed; is it the right file?", most_unpacked(len) >> 20);
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        Ok(())
    }

    fn dim(&self) -> usize {
        match &self.sink {
            Sink::Waiting => 0,
            Sink::Words(intake) => intake.dim,
            Sink::Rows(_, dim) => *dim,
        }
    }

    /// Adds the rows of a record batch.
    pub(super) fn batch(&mut self, words: Option<&Texts>, lists: &Lists) -> Result<()> {
        let mut converted = Vec::new();
        for row in 0..lists.len() {
            if self.is_full() {
                break;
            }
            self.take(words.and_then(|words| words.get(row)), lists.get(row, &mut converted))?;
        }
        Ok(())
    }

    /// Adds the rows of a page of a Parquet file. Rows may begin in one page and end in the next.
    pub(super) fn page(&mut self, page: &Levels, words: &mut Words) -> Result<()> {
        if page.starts_group {
            self.close(words)?;
        }
        let dim = self.dim();
        if dim > 0 && page.is_regular(dim) {
            let start = page.first_row().min(page.values.len());
            let (rest, rows) = page.values.split_at(start);
            match &mut self.open {
                Some((open, _)) => open.extend_from_slice(rest),
                None if rest.is_empty() => {}
                None => return Err(damaged(self.frame.path, "a list goes on that has not begun")),
            }
            let whole = rows.len() / dim * dim;
            if !rows.is_empty() {
                self.close(words)?;
            }
            for row in rows[..whole].chunks_exact(dim) {
                if self.is_full() {
                    return Ok(());
                }
                self.take(words.next()?, Ok(row))?;
            }
            if whole < rows.len() {
                self.open = Some((rows[whole..].to_vec(), false));
            }
            return Ok(());
        }
        let mut values = page.values.iter();
        for (&repetition, &definition) in page.repetition.iter().zip(&page.definition) {
            if repetition == 0 {
                self.close(words)?;
                self.open = Some((Vec::new(), false));
            }
            let Some((open, has_null)) = &mut self.open else {
                return Err(damaged(self.frame.path, "a list goes on that has not begun"));
            };
            match definition == page.present {
                true => open.extend(values.next()),
                false => *has_null = true,
            }
            if open.len() > super::MAX_DIMENSION {
                check_dimension(self.frame.path, open.len(), Place::Row(self.seen + 1))?;
            }
        }
        Ok(())
    }

    /// Ends the row that is open.
    fn close(&mut self, words: &mut Words) -> Result<()> {
        let Some((row, has_null)) = self.open.take() else { return Ok(()) };
        if self.is_full() {
            return Ok(());
        }
        let vector = if has_null || row.is_empty() { Err(Reason::Null) } else { Ok(&row[..]) };
        self.take(words.next()?, vector)
    }

    /// Ends the last row of a Parquet file.
    pub(super) fn end(&mut self, words: &mut Words) -> Result<()> {
        self.close(words)
    }

    pub(super) fn into_embeddings(self) -> Result<(Embeddings, Skipped)> {
        match self.sink {
            Sink::Words(intake) => intake.finish(),
            _ => Err(Self::no_vectors(&self.frame, self.seen)),
        }
    }

    pub(super) fn into_matrix(self) -> Result<Matrix> {
        match self.sink {
            Sink::Rows(values, dim) => Ok(Matrix::new(values, dim)),
            _ => Err(Self::no_vectors(&self.frame, self.seen)),
        }
    }

    /// The error for a table of `seen` rows none of which has a vector.
    pub(super) fn no_vectors(frame: &Frame, seen: u64) -> Error {
        let problem = match seen {
            0 => "is a table without rows".to_owned(),
            seen => format!("has no usable vector: all {seen} cells of the column {:?} are null", frame.column),
        };
        Error::malformed(frame.path, Place::Whole, problem)
    }
}

impl Levels {
    /// Where the first row of the page begins.
    fn first_row(&self) -> usize {
        self.repetition.iter().position(|&level| level == 0).unwrap_or(self.repetition.len())
    }

    /// Whether there are no nulls, and rows begin `dim` numbers apart.
    fn is_regular(&self, dim: usize) -> bool {
        let start = self.first_row();
        let has_all = self.values.len() == self.repetition.len();
        let is_row = |row: &[i16]| row[0] == 0 && row[1..].iter().all(|&level| level != 0);
        has_all && start <= dim && self.repetition[start..].chunks(dim).all(is_row)
    }
}

/// The words beside rows that are read by pages, in lockstep with them.
pub(super) struct Words<'a> {
    path: &'a Path,
    /// None if rows are read without words.
    batches: Option<Batches<'a>>,
    current: Option<Texts>,
    row: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(path: &'a Path, batches: Option<Batches<'a>>) -> Self {
        Words { path, batches, current: None, row: 0 }
    }

    /// The word of the next row; `None` for null.
    fn next(&mut self) -> Result<Option<&str>> {
        let Some(batches) = &mut self.batches else { return Ok(None) };
        while self.current.as_ref().is_none_or(|words| self.row >= words.len()) {
            let batch = batches.next().transpose()?;
            let batch = batch.ok_or_else(|| damaged(self.path, "it has more vectors than words"))?;
            self.current = Some(Texts::new(self.path, batch.column(0))?);
            self.row = 0;
        }
        self.row += 1;
        Ok(self.current.as_ref().and_then(|words| words.get(self.row - 1)))
    }
}

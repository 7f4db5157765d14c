//! Plain arrays of numbers (`.npy`, safetensors) with a word list beside them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use rayon::prelude::*;

use super::intake::{Intake, check_dimension, check_vector, check_word};
use super::{Embeddings, Matrix, ROWS_AT_A_TIME, ReadOptions, Skipped, Vocabulary, word_list_beside};
use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input};
use crate::observe::{Meter, Observer, Stage};

/// The type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    I8,
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    pub(crate) fn size(self) -> usize {
        match self {
            Element::I8 => 1,
            Element::F16 | Element::Bf16 => 2,
            Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    pub(crate) fn decode(self, b: &[u8]) -> f32 {
        match self {
            Element::I8 => f32::from(b[0] as i8),
            Element::F16 => f16::from_le_bytes([b[0], b[1]]).to_f32(),
            Element::Bf16 => bf16::from_le_bytes([b[0], b[1]]).to_f32(),
            Element::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            Element::F64 => f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32,
        }
    }
}

/// A two-dimensional array inside a file.
pub(crate) struct Array {
    bytes: Bytes,
    start: usize,
    rows: usize,
    cols: usize,
    element: Element,
    column_major: bool,
}

impl Array {
    /// Checks that the file contains as many numbers as its header declares.
    pub(crate) fn new(
        path: &Path,
        (bytes, start): (Bytes, usize),
        (rows, cols): (usize, usize),
        element: Element,
        column_major: bool,
    ) -> Result<Self> {
        check_dimension(path, cols, Place::Byte(0))?;
        if rows == 0 {
            return Err(Error::malformed(path, Place::Whole, "holds an array without rows"));
        }
        let needed = rows.checked_mul(cols).and_then(|n| n.checked_mul(element.size()));
        if needed.is_none_or(|needed| bytes.len().saturating_sub(start) < needed) {
            let problem = format!(
                "declares {rows} x {cols} numbers but ends before they do: the file is cut off, fetch it again"
            );
            return Err(Error::malformed(path, Place::Byte(bytes.len() as u64), problem));
        }
        Ok(Array { bytes, start, rows, cols, element, column_major })
    }

    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The type of its numbers.
    pub(crate) fn element(&self) -> Element {
        self.element
    }

    /// The numbers of some rows. Panics if there are not as many.
    pub(crate) fn decode_rows(&self, rows: Range<usize>) -> Vec<f32> {
        let mut values = Vec::with_capacity(rows.len() * self.cols);
        rows.for_each(|row| self.decode_row(row, &mut values));
        values
    }

    fn decode_row(&self, row: usize, out: &mut Vec<f32>) {
        let size = self.element.size();
        let (first, step) = if self.column_major { (row, self.rows) } else { (row * self.cols, 1) };
        out.extend((0..self.cols).map(|col| {
            let at = self.start + (first + col * step) * size;
            self.element.decode(&self.bytes[at..at + size])
        }));
    }

    /// The array without a copy, if the file has the layout of [`Matrix`].
    fn as_matrix(&self, rows: usize) -> Option<Matrix> {
        (self.element == Element::F32 && !self.column_major)
            .then(|| Matrix::from_bytes(self.bytes.clone(), self.start, rows, self.cols))
    }

    /// Reports the progress of reading `rows` rows.
    fn meter<'a>(&self, observer: &'a dyn Observer, rows: usize) -> Meter<'a> {
        Meter::new(observer, Stage::Reading, rows * self.row_len())
    }

    /// Bytes per row in the file.
    fn row_len(&self) -> usize {
        self.cols * self.element.size()
    }

    /// All rows, or the first `max_rows`, without checking their numbers.
    pub(crate) fn into_matrix(self, max_rows: Option<usize>, observer: &dyn Observer) -> Result<Matrix> {
        let rows = max_rows.unwrap_or(usize::MAX).min(self.rows);
        let meter = self.meter(observer, rows);
        meter.check()?;
        if let Some(matrix) = self.as_matrix(rows) {
            return Ok(matrix);
        }
        let mut values = vec![0.0; rows * self.cols];
        let decode = |(block, values): (usize, &mut [f32])| {
            let mut decoded = Vec::with_capacity(values.len());
            let first = block * ROWS_AT_A_TIME;
            let rows = first..first + values.len() / self.cols;
            rows.clone().for_each(|row| self.decode_row(row, &mut decoded));
            values.copy_from_slice(&decoded);
            meter.advance(rows.len() * self.row_len())
        };
        values.par_chunks_mut(ROWS_AT_A_TIME * self.cols).enumerate().try_for_each(decode)?;
        Ok(Matrix::new(values, self.cols))
    }

    /// Joins the rows with their words.
    pub(crate) fn with_words(
        self,
        path: &Path,
        words: &WordList,
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<(Embeddings, Skipped)> {
        let wanted = options.max_words.unwrap_or(usize::MAX).min(self.rows);
        let meter = self.meter(observer, wanted);
        meter.check()?;
        let words = words.lines(self.rows)?;
        if let Some(matrix) = self.as_matrix(wanted)
            && let Some(vocabulary) = distinct_words(&words[..wanted])
            && matrix.as_slice().par_chunks(self.cols).all(|row| check_vector(row).is_ok())
        {
            return Ok((Embeddings::new(vocabulary, matrix), Skipped::default()));
        }
        let mut intake = Intake::new(path, options, self.cols, self.rows)?;
        let rows: Vec<usize> = (0..self.rows).collect();
        for block in rows.chunks(64 * ROWS_AT_A_TIME) {
            let decoded: Vec<Vec<f32>> = block
                .par_chunks(ROWS_AT_A_TIME)
                .map(|rows| {
                    let mut values = Vec::with_capacity(rows.len() * self.cols);
                    rows.iter().for_each(|&row| self.decode_row(row, &mut values));
                    values
                })
                .collect();
            for (&row, vector) in block.iter().zip(decoded.iter().flat_map(|values| values.chunks_exact(self.cols))) {
                if intake.is_full() {
                    return intake.finish();
                }
                let entry = check_word(words[row]).and_then(|word| check_vector(vector).map(|()| (word, vector)));
                intake.take(entry, Place::Entry(row as u64 + 1));
            }
            meter.advance(block.len() * self.row_len())?;
        }
        intake.finish()
    }
}

fn distinct_words(words: &[&[u8]]) -> Option<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    words.iter().all(|word| check_word(word).is_ok_and(|word| vocabulary.push(word))).then_some(vocabulary)
}

/// The words, each ended by a newline.
pub(crate) fn word_lines(embeddings: &Embeddings) -> Vec<u8> {
    embeddings.vocabulary().iter().flat_map(|word| [word.as_bytes(), b"\n"].concat()).collect()
}

/// A file with one word per line.
pub(crate) struct WordList {
    path: PathBuf,
    text: Bytes,
}

impl WordList {
    /// The word list of an array: the given one, or the one that [`WordList::beside`] finds.
    pub(crate) fn of(array: &Path, given: Option<&Input>, options: &ReadOptions) -> Result<Self> {
        given.map_or_else(|| Self::beside(array, options), Self::read)
    }

    fn read(input: &Input) -> Result<Self> {
        Ok(WordList { path: input.path().to_owned(), text: input.text()? })
    }

    /// The word list inside a file written by sememe, where a byte order mark is part of a word.
    pub(crate) fn inside(path: &Path, text: &[u8]) -> Self {
        WordList { path: path.to_owned(), text: text.to_vec().into() }
    }

    /// The word list of an array: the one named in the options, or `stem.words.txt`, `stem.txt` or `words.txt` beside
    /// it.
    fn beside(array: &Path, options: &ReadOptions) -> Result<Self> {
        let candidates = match &options.words {
            Some(named) => vec![named.clone()],
            None => {
                let own = word_list_beside(array);
                vec![own.clone(), own.with_extension("").with_extension("txt"), array.with_file_name("words.txt")]
            }
        };
        match candidates.iter().find(|path| path.is_file()).or(options.words.as_ref()) {
            Some(path) => Self::read(&Input::open(path)?),
            None => {
                let names: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
                let problem = format!(
                    "holds numbers but no words, and there is no word list beside it (looked for {}); name one",
                    names.join(", ")
                );
                Err(Error::malformed(array, Place::Whole, problem))
            }
        }
    }

    /// The lines; an error unless there are `rows` of them.
    fn lines(&self, rows: usize) -> Result<Vec<&[u8]>> {
        let text: &[u8] = &self.text;
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let count = memchr::memchr_iter(b'\n', text).count() + 1;
        if count != rows {
            let problem = format!("has {count} words for an array of {rows} rows; one line per row is needed");
            return Err(Error::malformed(&self.path, Place::Whole, problem));
        }
        Ok(text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect())
    }
}

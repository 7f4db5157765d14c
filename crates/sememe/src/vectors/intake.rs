//! The part that all readers share: checks entries, counts skipped ones, and collects words and vectors.

use std::path::Path;

use super::{Embeddings, Matrix, ReadOptions, Vocabulary};
use crate::error::{Error, Place, Reason, Result, Skipped};

/// Reading fails if more than one in this many entries is unusable.
const TOLERATED_ONE_IN: u64 = 100;

/// Largest dimension accepted: far above any embedding in use, far below what a corrupt header claims.
pub const MAX_DIMENSION: usize = 32_768;

/// Longest word in bytes.
pub(crate) const LONGEST_WORD: usize = 1 << 16;

/// Collects the words and vectors of one file in order.
pub(crate) struct Intake<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
    pub(crate) dim: usize,
    pub(crate) vocabulary: Vocabulary,
    vectors: Vec<f32>,
    pub(crate) skipped: Skipped,
    pub(crate) seen: u64,
}

impl<'a> Intake<'a> {
    /// Allocates memory for `expected` rows, which must be derived from the size of the file, never from its header.
    pub(crate) fn new(path: &'a Path, options: &'a ReadOptions, dim: usize, expected: usize) -> Result<Self> {
        check_dimension(path, dim, Place::Whole)?;
        let rows = expected.min(options.max_words.unwrap_or(usize::MAX));
        let vectors = Vec::with_capacity(rows.saturating_mul(dim));
        Ok(Intake { path, options, dim, vocabulary: Vocabulary::new(), vectors, skipped: Skipped::default(), seen: 0 })
    }

    /// True when `max_words` words were read.
    pub(crate) fn is_full(&self) -> bool {
        self.options.max_words.is_some_and(|limit| self.vocabulary.len() >= limit)
    }

    /// Adds one entry, or counts why it could not be read.
    pub(crate) fn take(&mut self, entry: std::result::Result<(&str, &[f32]), Reason>, place: Place) {
        self.seen += 1;
        match entry {
            Ok((word, vector)) if self.vocabulary.push(word) => self.vectors.extend_from_slice(vector),
            Ok(_) => self.skipped.add(Reason::Duplicate, place),
            Err(reason) => self.skipped.add(reason, place),
        }
    }

    /// Returns the embeddings, or an error if too many entries were skipped.
    pub(crate) fn finish(self) -> Result<(Embeddings, Skipped)> {
        let Intake { path, options, dim, vocabulary, vectors, skipped, seen } = self;
        check_skipped(path, options, &skipped, seen)?;
        if vocabulary.is_empty() {
            return Err(Error::malformed(path, Place::Whole, format!("has no usable word vector ({skipped})")));
        }
        Ok((Embeddings::new(vocabulary, Matrix::new(vectors, dim)), skipped))
    }
}

/// How to mend a file of another encoding.
pub(crate) const NOT_UTF8: &str = "not valid UTF-8; convert the file from its encoding, which may be Latin-1, to UTF-8 \
                                   (iconv -f ISO-8859-1 -t UTF-8 FILE)";

/// Checks that few enough entries were skipped. A file of a web crawl has a few words of invalid UTF-8. More of them
/// mean another encoding, in which most words with accents would be lost.
pub(crate) fn check_skipped(path: &Path, options: &ReadOptions, skipped: &Skipped, seen: u64) -> Result<()> {
    let invalid = skipped.count(Reason::InvalidUtf8);
    if let (Some(first), true) = (skipped.first(Reason::InvalidUtf8), invalid > seen / TOLERATED_ONE_IN) {
        return Err(Error::malformed(path, first, format!("is one of {invalid} (of {seen}) that are {NOT_UTF8}")));
    }
    let (bad, tolerated, limit) = match options.strict {
        true => (skipped.total(), "none", 0),
        false => (skipped.bad(), "1 %", seen / TOLERATED_ONE_IN),
    };
    if bad > limit {
        return Err(Error::TooManySkipped { path: path.to_owned(), bad, seen, tolerated, skipped: skipped.clone() });
    }
    Ok(())
}

pub(crate) fn check_dimension(path: &Path, dim: usize, place: Place) -> Result<()> {
    if dim == 0 || dim > MAX_DIMENSION {
        let problem = format!("has vectors of dimension {dim}; 1 to {MAX_DIMENSION} can be read");
        return Err(Error::malformed(path, place, problem));
    }
    Ok(())
}

/// The word as text, or the reason why it is invalid.
pub(crate) fn check_word(word: &[u8]) -> std::result::Result<&str, Reason> {
    match std::str::from_utf8(word) {
        Err(_) => Err(Reason::InvalidUtf8),
        Ok(word) if word.is_empty() || word.len() > LONGEST_WORD => Err(Reason::NoWord),
        Ok(word) if word.contains(['\n', '\r']) => Err(Reason::NoWord),
        Ok(word) => Ok(word),
    }
}

/// The reason why a vector is invalid, if it is.
pub(crate) fn check_vector(vector: &[f32]) -> std::result::Result<(), Reason> {
    if !vector.iter().all(|x| x.is_finite()) {
        return Err(Reason::NotFinite);
    }
    if vector.iter().all(|&x| x == 0.0) {
        return Err(Reason::ZeroVector);
    }
    Ok(())
}

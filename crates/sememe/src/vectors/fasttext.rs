//! fastText's binary models: the word vectors, and the n-gram table for out-of-vocabulary words.

use std::path::Path;

use rayon::prelude::*;

use super::format::FASTTEXT_MAGIC;
use super::intake::{Intake, check_dimension, check_vector, check_word};
use super::{Format, ROWS_AT_A_TIME, Read, ReadOptions, Subwords};
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::observe::{Meter, Observer, Stage};

const VERSIONS: std::ops::RangeInclusive<i32> = 11..=12;
const SUPERVISED: i32 = 3;
/// Upper limit of n-gram lengths. Real models stay far below; a damaged header could otherwise exhaust memory.
const LONGEST_NGRAM: i32 = 64;

pub(crate) fn read(input: &Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Read> {
    let path = input.path();
    let bytes = input.bytes()?;
    let mut cursor = Cursor { path, bytes: &bytes, at: 0 };
    cursor.take(FASTTEXT_MAGIC.len())?;
    let version = cursor.i32()?;
    if !VERSIONS.contains(&version) {
        return Err(cursor.error(format!("is a fastText model of version {version}; 11 and 12 can be read")));
    }

    // dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate, then t as f64.
    let arguments: Vec<i32> = (0..12).map(|_| cursor.i32()).collect::<Result<_>>()?;
    cursor.take(8)?;
    let [dim, _, _, _, _, _, _, model, bucket, min_n, max_n, _] = arguments[..] else {
        unreachable!("twelve were read")
    };
    // Version 11 supervised models carry a `maxn` that they do not use.
    let max_n = if version == 11 && model == SUPERVISED { 0 } else { max_n };
    if max_n > LONGEST_NGRAM {
        return Err(cursor.error(format!("declares n-grams of up to {max_n} characters; the file is damaged")));
    }
    let dim = cursor.size(i64::from(dim), "dimension")?;
    check_dimension(path, dim, Place::Byte(8))?;

    let entries = cursor.i32()?;
    let words = cursor.i32()?;
    cursor.take(4 + 8)?; // labels, tokens
    let pruned = cursor.i64()?;
    let entries = cursor.size(i64::from(entries), "dictionary size")?;
    let words = cursor.size(i64::from(words), "number of words")?;
    if words > entries {
        return Err(cursor.error(format!("declares {words} words in a dictionary of {entries}")));
    }
    let mut spellings: Vec<&[u8]> = Vec::new();
    for entry in 0..entries {
        let spelling = cursor.until_nul()?;
        cursor.take(8 + 1)?; // count, type
        if entry < words {
            spellings.push(spelling);
        }
    }
    if cursor.bytes.get(cursor.at) == Some(&1) || pruned > 0 {
        return Err(cursor.error(
            "is a quantised fastText model (.ftz), which is not supported: use the full .bin model it was made from",
        ));
    }
    cursor.take(1)?;

    let (rows, cols) = (cursor.i64()?, cursor.i64()?);
    let (rows, cols) = (cursor.size(rows, "matrix rows")?, cursor.size(cols, "matrix columns")?);
    let bucket = cursor.size(i64::from(bucket), "number of buckets")?;
    let has_ngrams = pruned != 0 && max_n > 0 && bucket > 0;
    if cols != dim || rows < words + if has_ngrams { bucket } else { 0 } {
        return Err(cursor.error(format!(
            "has a matrix of {rows} x {cols} where {words} words, {bucket} buckets and dimension {dim} are declared"
        )));
    }
    let start = cursor.at;
    cursor.take_matrix(rows, cols)?;
    // The output matrix is not needed, but a file without all of it is truncated.
    cursor.take(1)?;
    let (output_rows, output_cols) = (cursor.i64()?, cursor.i64()?);
    let output_rows = cursor.size(output_rows, "output rows")?;
    cursor.take_matrix(output_rows, cursor.size(output_cols, "output columns")?)?;

    let n_range = has_ngrams.then(|| (min_n.max(1) as usize, max_n as usize));
    let mut subwords =
        Subwords { bytes: bytes.clone(), start, dim, words, bucket, n_range, unread: Default::default() };
    let mut intake = Intake::new(path, options, dim, words)?;
    let row_len = dim * size_of::<f32>();
    let meter = Meter::new(observer, Stage::Reading, words * row_len);
    meter.check()?;
    for (block_index, block) in spellings.chunks(64 * ROWS_AT_A_TIME).enumerate() {
        let first = block_index * 64 * ROWS_AT_A_TIME;
        let vectors: Vec<Vec<f32>> =
            block.par_iter().enumerate().map(|(i, word)| subwords.known_word(first + i, word)).collect();
        for (i, (word, vector)) in block.iter().zip(&vectors).enumerate() {
            if intake.is_full() {
                break;
            }
            let entry = check_word(word).and_then(|word| check_vector(vector).map(|()| (word, &vector[..])));
            intake.take(entry, Place::Entry((first + i) as u64 + 1));
        }
        meter.advance(block.len() * row_len)?;
        if intake.is_full() {
            break;
        }
    }
    for (row, word) in spellings.iter().enumerate().skip(intake.seen as usize) {
        if check_word(word).is_ok_and(|word| subwords.unread.0.push(word)) {
            subwords.unread.1.push(row);
        }
    }
    let (mut embeddings, skipped) = intake.finish()?;
    if has_ngrams {
        embeddings.set_subwords(subwords);
    }
    Ok(Read { embeddings, format: Format::FastText, skipped, warnings: Vec::new() })
}

/// Reads the fields of the file one after another.
struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let taken = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.error("the fastText model is cut off here: fetch the file again"))?;
        self.at += len;
        Ok(taken)
    }

    fn i32(&mut self) -> Result<i32> {
        self.take(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn i64(&mut self) -> Result<i64> {
        self.take(8).map(|b| i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
    }

    fn take_matrix(&mut self, rows: usize, cols: usize) -> Result<()> {
        let len = rows.checked_mul(cols).and_then(|n| n.checked_mul(4));
        self.take(len.ok_or_else(|| self.error("declares an impossible matrix"))?).map(drop)
    }

    fn until_nul(&mut self) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let len =
            memchr::memchr(0, rest).ok_or_else(|| self.error("the dictionary is cut off: fetch the file again"))?;
        self.at += len + 1;
        Ok(&rest[..len])
    }

    fn size(&self, value: i64, what: &str) -> Result<usize> {
        usize::try_from(value).map_err(|_| self.error(format!("declares a {what} of {value}; the file is damaged")))
    }

    fn error(&self, problem: impl Into<String>) -> Error {
        Error::malformed(self.path, Place::Byte(self.at as u64), problem)
    }
}

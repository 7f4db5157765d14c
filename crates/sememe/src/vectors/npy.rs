//! NumPy `.npy` arrays (format versions 1 to 3) with a word list beside them.
//!
//! The header is a Python dictionary literal with three known keys. It is parsed by hand, because a general literal
//! parser would recurse on malicious nesting.

use std::path::Path;

use super::array::{Array, Element, WordList, word_lines};
use super::text::protective_byte_order_mark;
use super::{Embeddings, Format, Matrix, ROWS_AT_A_TIME, Read, ReadOptions, word_list_beside};
use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input, Output, little_endian};
use crate::observe::Observer;

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

pub(crate) fn array(input: &Input) -> Result<Array> {
    let path = input.path();
    let bytes = input.bytes()?;
    let header = Header::parse(&bytes).map_err(|problem| Error::malformed(path, Place::Byte(0), problem))?;
    Array::new(path, (bytes, header.data_start), header.shape, header.element, header.column_major)
}

pub(crate) fn read(
    input: &Input,
    words: Option<&Input>,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Read> {
    let path = input.path();
    let array = array(input)?;
    let words = WordList::of(path, words, options)?;
    let (embeddings, skipped) = array.with_words(path, &words, options, observer)?;
    Ok(Read { embeddings, format: Format::Npy, skipped, warnings: Vec::new() })
}

struct Header {
    data_start: usize,
    shape: (usize, usize),
    element: Element,
    column_major: bool,
}

impl Header {
    fn parse(bytes: &Bytes) -> std::result::Result<Self, String> {
        let cut = || "the .npy header is cut off: fetch the file again".to_owned();
        let after_magic = bytes.strip_prefix(MAGIC).ok_or("does not begin like a .npy file")?;
        let (len, text_start) = match after_magic {
            [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            [version, ..] if *version > 3 => return Err(format!("is of .npy version {version}; 1 to 3 can be read")),
            _ => return Err(cut()),
        };
        let text = bytes.get(text_start..text_start + len).ok_or_else(cut)?;
        let text = std::str::from_utf8(text).map_err(|_| "the .npy header is not text".to_owned())?;

        let value = |key: &str| {
            let at = text.find(&format!("'{key}'")).ok_or(format!("the .npy header has no {key}"))?;
            let value = text[at + key.len() + 2..].trim_start();
            value.strip_prefix(':').map(str::trim_start).ok_or(format!("the .npy header has no value for {key}"))
        };
        let descr = value("descr")?;
        let element = match descr.get(..5).unwrap_or(descr) {
            "'<f4'" => Element::F32,
            "'<f8'" => Element::F64,
            "'<f2'" => Element::F16,
            "'|i1'" => Element::I8,
            _ => {
                let dtype: String = descr.chars().take_while(|&c| c != ',').take(20).collect();
                return Err(format!("holds numbers of type {dtype}; save it as float32 (also read: f8, f2, i1)"));
            }
        };
        let column_major = value("fortran_order")?.starts_with("True");
        let shape = value("shape")?;
        let inside = shape.strip_prefix('(').and_then(|s| s.split_once(')')).ok_or("the .npy header has no shape")?.0;
        let sizes: Vec<&str> = inside.split(',').map(str::trim).filter(|size| !size.is_empty()).collect();
        let &[rows, cols] = &sizes[..] else {
            let inside: String = inside.chars().take(40).collect();
            return Err(format!("holds an array of shape ({inside}); rows and columns are needed"));
        };
        let size = |text: &str| text.parse().map_err(|_| format!("has a size of {text:?} in its .npy header"));
        Ok(Header { data_start: text_start + len, shape: (size(rows)?, size(cols)?), element, column_major })
    }
}

/// Writes `path` (float32) and its word list `stem.words.txt` beside it.
pub(crate) fn write(embeddings: &Embeddings, path: &Path) -> Result<()> {
    let mut words = Output::create(&word_list_beside(path))?;
    words.write_all(protective_byte_order_mark(embeddings))?;
    words.write_all(&word_lines(embeddings))?;
    let matrix = embeddings.matrix();
    let mut output = Output::create(path)?;
    output.write_all(&header("<f4", (matrix.rows(), matrix.cols())))?;
    for rows in matrix.as_slice().chunks(ROWS_AT_A_TIME * matrix.cols()) {
        output.write_all(&little_endian(rows))?;
    }
    words.finish()?;
    output.finish()
}

/// Writes an array of a NumPy dtype, given as bytes.
pub(crate) fn write_array(path: &Path, dtype: &str, shape: (usize, usize), bytes: &[u8]) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(&header(dtype, shape))?;
    output.write_all(bytes)?;
    output.finish()
}

/// The bytes of an array of float32.
pub(crate) fn to_bytes(matrix: &Matrix) -> Vec<u8> {
    let mut bytes = header("<f4", (matrix.rows(), matrix.cols()));
    bytes.extend_from_slice(&little_endian(matrix.as_slice()));
    bytes
}

pub(crate) fn header(dtype: &str, shape: (usize, usize)) -> Vec<u8> {
    let dictionary = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape:?}, }}");
    // NumPy aligns the data to 64 bytes: magic, version, length and the newline take 11.
    let padding = (64 - (dictionary.len() + 11) % 64) % 64;
    let len = ((dictionary.len() + padding + 1) as u16).to_le_bytes();
    [MAGIC, &[1, 0], &len, format!("{dictionary}{:padding$}\n", "").as_bytes()].concat()
}

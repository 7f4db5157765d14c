//! Vectors in safetensors: an array with its words inside (as sememe writes it) or in a list beside it.

use std::path::Path;

use safetensors::Dtype;
use serde_json::json;

use super::array::{Array, Element, WordList, word_lines};
use super::{Embeddings, Format, Read, ReadOptions};
use crate::error::Result;
use crate::files::Input;
use crate::observe::Observer;
use crate::tensors::{Contents, Tensor, TensorFile};

pub(crate) const VECTORS: &str = "vectors";
pub(crate) const WORDS: &str = "words";
pub(crate) const KIND: &str = "vectors";
pub(crate) const VERSION: u64 = 1;

pub(crate) fn read(
    input: &Input,
    words: Option<&Input>,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Read> {
    let file = TensorFile::read(input)?;
    let array = array(&file)?;
    let is_named = words.is_some() || options.words.is_some();
    let words = match file.has(WORDS) && !is_named {
        true => WordList::inside(input.path(), file.bytes(WORDS)?),
        false => WordList::of(input.path(), words, options)?,
    };
    let (embeddings, skipped) = array.with_words(input.path(), &words, options, observer)?;
    Ok(Read { embeddings, format: Format::Safetensors, skipped, warnings: Vec::new() })
}

/// The array called `vectors`, or the only two-dimensional one.
pub(crate) fn array(file: &TensorFile) -> Result<Array> {
    let shapes = file.shapes();
    let candidates: Vec<&str> = shapes.iter().filter(|(_, shape)| shape.len() == 2).map(|(name, _)| *name).collect();
    let name = match candidates[..] {
        _ if candidates.contains(&VECTORS) => VECTORS,
        [only] => only,
        [] => return Err(file.error("has no array with rows and columns")),
        _ => {
            return Err(file.error(format!(
                "has several arrays with rows and columns ({}); name the one with the vectors `{VECTORS}`",
                candidates.join(", ")
            )));
        }
    };
    let (dtype, shape, bytes, start) = file.locate(name)?;
    let element = match dtype {
        Dtype::I8 => Element::I8,
        Dtype::F16 => Element::F16,
        Dtype::BF16 => Element::Bf16,
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
        other => return Err(file.error(format!("the array {name:?} is of type {other:?}; save it as F32"))),
    };
    Array::new(file.path(), (bytes, start), (shape[0], shape[1]), element, false)
}

/// Writes `vectors` (F32) and `words` (UTF-8 bytes, each word ended by a newline).
pub(crate) fn write(embeddings: &Embeddings, path: &Path) -> Result<()> {
    write_with(embeddings, Vec::new(), path)
}

/// Writes vectors and words, and further arrays.
pub(crate) fn write_with<'a>(
    embeddings: &'a Embeddings,
    further: Vec<(String, Tensor<'a>)>,
    path: &Path,
) -> Result<()> {
    let words = word_lines(embeddings);
    let matrix = embeddings.matrix();
    let mut tensors = vec![
        (VECTORS.to_owned(), Tensor::pieces(matrix.pieces(), matrix.rows(), matrix.cols())),
        (WORDS.to_owned(), Tensor::bytes(words)),
    ];
    tensors.extend(further);
    let metadata = json!({ "kind": KIND, "version": VERSION, "fingerprint": embeddings.fingerprint() });
    Contents { metadata, tensors }.write(path)
}

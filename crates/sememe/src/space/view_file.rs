//! The file of a view of a space: words and latent vectors as any safetensors file of vectors has them, and log-densities.

use std::path::Path;

use safetensors::Dtype;
use serde::Deserialize;

use crate::error::{Error, Place, Result};
use crate::model::LatentView;
use crate::tensors::{Tensor, TensorFile};
use crate::vectors::safetensors::{KIND, VECTORS, VERSION, WORDS, write_with};
use crate::vectors::{Embeddings, Matrix, Vocabulary, check_word};

const LOG_DENSITY: &str = "log_density";

/// What the metadata say of the content; files that were not written for a space say nothing.
#[derive(Deserialize)]
struct Metadata {
    fingerprint: Option<String>,
}

pub(super) fn write(latent: &LatentView, path: &Path) -> Result<()> {
    let log_density = latent.log_density.as_deref().map(|values| (LOG_DENSITY.to_owned(), Tensor::f64s(values)));
    write_with(&latent.view.named(), log_density.into_iter().collect(), path)
}

/// The [fingerprint](Embeddings::fingerprint) of what [`write()`] wrote, without reading it all; older files have none.
pub(super) fn fingerprint(path: &Path) -> Result<Option<String>> {
    let metadata: Metadata = TensorFile::open(path)?.metadata(KIND, VERSION)?;
    Ok(metadata.fingerprint)
}

/// Opens what [`write()`] wrote without looking at the numbers: the matrix stays in the file.
pub(super) fn open(path: &Path) -> Result<Embeddings> {
    let file = TensorFile::open(path)?;
    let (dtype, shape, bytes, start) = file.locate(VECTORS)?;
    let &[rows, cols] = shape else { return Err(file.error("its vectors have no rows and columns")) };
    if dtype != Dtype::F32 || cols == 0 {
        return Err(file.error("its vectors are not F32"));
    }
    let words = file.bytes(WORDS)?;
    // Not by what the header declares: a word takes a byte and the end of its line.
    let mut vocabulary = Vocabulary::with_room_for(rows.min(words.len() / 2 + 1), words.len());
    for (row, word) in words.strip_suffix(b"\n").unwrap_or(words).split(|&b| b == b'\n').enumerate() {
        if !check_word(word).is_ok_and(|word| vocabulary.push(word)) {
            let problem = format!("word {} is damaged or there twice", row + 1);
            return Err(Error::malformed(path, Place::Entry(row as u64 + 1), problem));
        }
    }
    if vocabulary.len() != rows {
        return Err(file.error(format!("has {} words for {rows} vectors", vocabulary.len())));
    }
    Ok(Embeddings::new(vocabulary, Matrix::from_bytes(bytes, start, rows, cols)))
}

/// The log-densities of the `len` words of a file, if it has any.
pub(super) fn log_density(path: &Path, len: usize) -> Result<Option<Vec<f64>>> {
    let file = TensorFile::open(path)?;
    if file.has(LOG_DENSITY) { file.f64s(LOG_DENSITY, len).map(Some) } else { Ok(None) }
}

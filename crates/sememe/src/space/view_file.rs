//! The file of a view of a space: words and latent vectors like any safetensors file of vectors, and log-densities.

use std::path::Path;

use safetensors::Dtype;
use serde::Deserialize;

use crate::error::{Error, Place, Result};
use crate::files::sampled_hash_of_file;
use crate::model::LatentView;
use crate::tensors::{Tensor, TensorFile};
use crate::vectors::safetensors::{KIND, VECTORS, VERSION, WORDS, write_with};
use crate::vectors::{Embeddings, Matrix, Vocabulary, check_word};

const LOG_DENSITY: &str = "log_density";

/// Metadata of the file; only files written for a space have a fingerprint.
#[derive(Deserialize)]
struct Metadata {
    fingerprint: Option<String>,
}

/// Writes the file and returns its [hash](crate::files::sampled_hash).
pub(super) fn write(latent: &LatentView, path: &Path) -> Result<String> {
    let log_density = latent.log_density.as_deref().map(|values| (LOG_DENSITY.to_owned(), Tensor::f64s(values)));
    write_with(&latent.view.named(), log_density.into_iter().collect(), path)?;
    sampled_hash_of_file(path)
}

/// Whether this is a file as [`write()`] writes it, for a model of so many latent dimensions.
pub(super) fn is_view(path: &Path, latent: usize, is_generative: bool) -> bool {
    let Ok(file) = TensorFile::map(path) else { return false };
    let is_latent = file.locate(VECTORS).is_ok_and(|(_, shape, ..)| shape.get(1) == Some(&latent));
    let has_densities = file.has(LOG_DENSITY);
    is_latent && has_densities == is_generative && fingerprint(&file).is_ok_and(|written| written.is_some())
}

/// The stored [fingerprint](Embeddings::fingerprint) of a file written by [`write()`]; older files have none.
pub(super) fn fingerprint(file: &TensorFile) -> Result<Option<String>> {
    let metadata: Metadata = file.metadata(KIND, VERSION)?;
    Ok(metadata.fingerprint)
}

/// The words and vectors of a file written by [`write()`]. Its numbers are not checked.
pub(super) fn read(file: &TensorFile) -> Result<Embeddings> {
    let (dtype, shape, bytes, start) = file.locate(VECTORS)?;
    let &[rows, cols] = shape else { return Err(file.error("its vectors have no rows and columns")) };
    if dtype != Dtype::F32 || cols == 0 {
        return Err(file.error("its vectors are not F32"));
    }
    let words = file.bytes(WORDS)?;
    // Allocates by the size of the file, not by its header: a word takes at least a byte and a newline.
    let mut vocabulary = Vocabulary::with_room_for(rows.min(words.len() / 2 + 1), words.len());
    for (row, word) in words.strip_suffix(b"\n").unwrap_or(words).split(|&b| b == b'\n').enumerate() {
        if !check_word(word).is_ok_and(|word| vocabulary.push(word)) {
            let problem = format!("word {} is damaged or there twice", row + 1);
            return Err(Error::malformed(file.path(), Place::Entry(row as u64 + 1), problem));
        }
    }
    if vocabulary.len() != rows {
        return Err(file.error(format!("has {} words for {rows} vectors", vocabulary.len())));
    }
    Ok(Embeddings::new(vocabulary, Matrix::from_bytes(bytes, start, rows, cols)))
}

/// The log-densities of the `len` words of a file, if it contains them.
pub(super) fn log_density(file: &TensorFile, len: usize) -> Result<Option<Vec<f64>>> {
    if file.has(LOG_DENSITY) { file.f64s(LOG_DENSITY, len).map(Some) } else { Ok(None) }
}

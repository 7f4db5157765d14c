//! A view of a space that was opened.

use std::sync::{Arc, OnceLock};

use super::view_file;
use crate::error::Result;
use crate::retrieve::{Side, get_or_compute};
use crate::tensors::TensorFile;
use crate::vectors::Embeddings;

/// The words and vectors of a view, with everything computed from them, shared by all searches.
pub(super) struct OpenView {
    file: TensorFile,
    embeddings: Embeddings,
    side: Arc<Side>,
    fingerprint: OnceLock<Option<String>>,
    log_density: OnceLock<Option<Arc<[f64]>>>,
}

impl OpenView {
    pub(super) fn new(file: TensorFile, embeddings: Embeddings) -> Self {
        let side = Side::new(embeddings.matrix().clone());
        OpenView { file, embeddings, side, fingerprint: OnceLock::new(), log_density: OnceLock::new() }
    }

    pub(super) fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// The vectors, with the data that searches prepare for them.
    pub(super) fn side(&self) -> &Arc<Side> {
        &self.side
    }

    /// The hash of words and vectors that is stored in the file; `None` for files that were not written for a space.
    pub(super) fn fingerprint(&self) -> Result<Option<&str>> {
        Ok(get_or_compute(&self.fingerprint, || view_file::fingerprint(&self.file))?.as_deref())
    }

    /// The log-densities of the words, if the file contains them.
    pub(super) fn log_density(&self) -> Result<Option<Arc<[f64]>>> {
        let read = || Ok(view_file::log_density(&self.file, self.embeddings.len())?.map(Arc::from));
        get_or_compute(&self.log_density, read).cloned()
    }
}

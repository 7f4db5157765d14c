//! A view of a space that was opened.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::view_file;
use crate::error::Result;
use crate::retrieve::{Side, get_or_compute};
use crate::vectors::Embeddings;

/// The words and vectors of a view, with everything computed from them, shared by all searches.
pub(super) struct OpenView {
    path: PathBuf,
    embeddings: Embeddings,
    side: Arc<Side>,
    fingerprint: OnceLock<Option<String>>,
}

impl OpenView {
    pub(super) fn new(path: PathBuf, embeddings: Embeddings) -> Self {
        let side = Side::new(embeddings.matrix().clone());
        OpenView { path, embeddings, side, fingerprint: OnceLock::new() }
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
        Ok(get_or_compute(&self.fingerprint, || view_file::fingerprint(&self.path))?.as_deref())
    }
}

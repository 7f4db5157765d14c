//! What a space keeps of a view once it was opened.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::view_file;
use crate::error::Result;
use crate::retrieve::{Side, get_or_compute};
use crate::vectors::Embeddings;

/// The words and vectors of a view, and what was computed of them. All of it is shared.
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

    /// The vectors, with what searches prepare of them.
    pub(super) fn side(&self) -> &Arc<Side> {
        &self.side
    }

    /// A hash of words and vectors, as the file tells it; files that were not written for a space do not.
    pub(super) fn fingerprint(&self) -> Result<Option<&str>> {
        Ok(get_or_compute(&self.fingerprint, || view_file::fingerprint(&self.path))?.as_deref())
    }
}

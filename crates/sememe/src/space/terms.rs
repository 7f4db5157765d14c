//! A cache of retrieval terms inside the space: computing them takes a comparison of all pairs of words.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::open_view::OpenView;
use super::{Space, TERMS_KIND};
use crate::error::Result;
use crate::retrieve::Criterion;
use crate::tensors::{Contents, Tensor, TensorFile};

const VERSION: u64 = 1;
const TERMS: &str = "terms";

/// The cache file of a criterion for two views, and the hash of the data that it must match.
pub(super) struct Cache {
    path: PathBuf,
    content: String,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    kind: String,
    version: u64,
    criterion: String,
    /// A hash of everything that the terms were computed from.
    content: String,
}

impl Cache {
    /// Returns `None` for criteria with cheap terms, and for spaces whose files have no fingerprint.
    pub(super) fn of(
        space: &Space,
        (from, source): (&str, &OpenView),
        (to, target): (&str, &OpenView),
        criterion: Criterion,
        depends_on_model: bool,
    ) -> Result<Option<Self>> {
        let criterion = match criterion {
            Criterion::Csls { .. } | Criterion::Isf { .. } => criterion,
            // Both have the same terms: `logp` adds the density of the target later.
            Criterion::Pmi | Criterion::Logp => Criterion::Pmi,
            Criterion::Nn | Criterion::Corrected { .. } | Criterion::Dot | Criterion::L2 => return Ok(None),
        };
        let (Some(source), Some(target)) = (source.fingerprint()?, target.fingerprint()?) else { return Ok(None) };
        let mut hasher = blake3::Hasher::new();
        for part in [&criterion.to_string(), source, target] {
            hasher.update(part.as_bytes()).update(b"\n");
        }
        if depends_on_model {
            hasher.update(space.fingerprint().as_bytes());
        }
        let content = hasher.finalize().to_hex().to_string();
        Ok(Some(Cache { path: space.terms_file(&criterion.to_string(), from, to), content }))
    }

    /// Reads the terms of `len` targets. Returns `None` if the cache is missing, unreadable or outdated.
    pub(super) fn read(&self, len: usize) -> Option<Vec<f64>> {
        let file = TensorFile::open(&self.path).ok()?;
        let metadata: Metadata = file.metadata(TERMS_KIND, VERSION).ok()?;
        if metadata.content == self.content { file.f64s(TERMS, len).ok() } else { None }
    }

    /// Writes the terms. Errors are ignored, so that a read-only space works without a cache.
    pub(super) fn write(&self, criterion: Criterion, terms: &[f64]) {
        let metadata = Metadata {
            kind: TERMS_KIND.to_owned(),
            version: VERSION,
            criterion: criterion.to_string(),
            content: self.content.clone(),
        };
        let tensors = vec![(TERMS.to_owned(), Tensor::f64s(terms))];
        let _ = Contents { metadata, tensors }.write(&self.path);
    }
}

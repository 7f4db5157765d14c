//! Retrieval in an aligned space.

use super::Space;
use super::terms::Cache;
use crate::error::Result;
use crate::observe::Observer;
use crate::retrieve::{Criterion, Generative, Pair, Retriever};
use crate::vectors::Embeddings;

/// Two views of an open space.
pub struct Views<'a> {
    space: &'a Space,
    from: &'a str,
    to: &'a str,
    /// The words that are translated.
    pub source: Embeddings,
    /// The words that are looked for.
    pub target: Embeddings,
    log_density: Option<Vec<f64>>,
}

impl<'a> Views<'a> {
    /// Opens two views of a space.
    pub fn open(space: &'a Space, from: &'a str, to: &'a str) -> Result<Self> {
        let (source, target) = rayon::join(|| space.view(from), || space.view(to));
        Self::of(space, (from, source?), (to, target?))
    }

    /// Two views of a space that were opened before.
    pub fn of(
        space: &'a Space,
        (from, source): (&'a str, Embeddings),
        (to, target): (&'a str, Embeddings),
    ) -> Result<Self> {
        Ok(Views { space, from, to, source, target, log_density: space.log_density(to)? })
    }

    /// What finds translations by a criterion. Terms that take long to compute are kept in the folder of the space.
    pub fn retriever<'b>(&'b self, criterion: Criterion, observer: &'b dyn Observer) -> Result<Retriever<'b>> {
        let model = &self.space.alignment().model;
        let (from, to) = (model.view_index(self.from)?, model.view_index(self.to)?);
        let generative = Some(Generative { model, from, to, log_density: self.log_density.as_deref() });
        let pair = Pair { generative, observer, ..Pair::new(self.source.matrix(), self.target.matrix()) };
        let Some(cache) = Cache::of(self.space, self.from, self.to, criterion)? else {
            return Retriever::new(pair, criterion);
        };
        if let Some(terms) = cache.read(self.target.len()) {
            return Retriever::with_terms(pair, criterion, terms);
        }
        let retriever = Retriever::new(pair, criterion)?;
        cache.write(criterion, retriever.terms());
        Ok(retriever)
    }
}

//! Retrieval in an aligned space.

use super::{Criterion, Generative, Pair, Retriever};
use crate::error::Result;
use crate::space::Space;
use crate::vectors::Embeddings;

/// Two views of an open space.
pub struct Views<'a> {
    space: &'a Space,
    from: usize,
    to: usize,
    /// The words that are translated.
    pub source: Embeddings,
    /// The words that are looked for.
    pub target: Embeddings,
    log_density: Option<Vec<f64>>,
}

impl<'a> Views<'a> {
    /// Opens two views of a space.
    pub fn open(space: &'a Space, from: &str, to: &str) -> Result<Self> {
        let model = &space.alignment().model;
        Ok(Views {
            space,
            from: model.view_index(from)?,
            to: model.view_index(to)?,
            source: space.view(from)?,
            target: space.view(to)?,
            log_density: space.log_density(to)?,
        })
    }

    fn pair(&self) -> Pair<'_> {
        let Views { space, from, to, .. } = *self;
        let model = &space.alignment().model;
        let generative = Generative { model, from, to, log_density: self.log_density.as_deref() };
        Pair { generative: Some(generative), ..Pair::new(self.source.matrix(), self.target.matrix()) }
    }

    /// What finds translations by a criterion.
    pub fn retriever(&self, criterion: Criterion) -> Result<Retriever<'_>> {
        Retriever::new(self.pair(), criterion)
    }
}

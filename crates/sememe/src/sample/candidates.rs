//! Candidate words for sampled vectors.

use std::sync::Arc;

use super::Vocabularies;
use crate::align::Alignment;
use crate::error::{Error, Result};
use crate::gather::{self, GatherOptions, ViewFile, ViewRead};
use crate::observe::Observer;
use crate::space::Space;
use crate::vectors::{ReadOptions, View, Vocabulary};

/// The words of every view that sampled vectors are matched with.
#[derive(Debug, Clone)]
pub struct Candidates {
    views: Vec<View>,
    /// `log p(x)` of every word. Present if the rows of `views` are latent vectors.
    log_densities: Option<Vec<Arc<[f64]>>>,
}

impl Candidates {
    /// The words of a space, matched by their latent vectors.
    pub fn of_space(space: &Space) -> Result<Self> {
        let names: Vec<&str> = space.alignment().model.views.iter().map(|view| view.name.as_str()).collect();
        let open = |name: &&str| Ok(View::from_embeddings(*name, space.view(name)?));
        let views = names.iter().map(open).collect::<Result<_>>()?;
        // Distinguishes a method without a density from a space without stored densities.
        space.alignment().model.density(&(0..names.len()).collect::<Vec<_>>())?;
        let mut log_densities = Vec::new();
        for name in names {
            let problem = "was written without densities; align again, or give the vectors themselves";
            let missing = || Error::Request(format!("the view {name:?} {problem}"));
            log_densities.push(space.log_density(name)?.ok_or_else(missing)?);
        }
        Ok(Candidates { views, log_densities: Some(log_densities) })
    }

    /// Words with their original vectors, for every view of a model. They are preprocessed like the training data.
    pub fn of_vectors(alignment: &Alignment, views: Vec<View>) -> Result<Self> {
        check(alignment, &views.iter().map(View::name).collect::<Vec<_>>())?;
        let mut prepared = Vec::new();
        for (index, model) in alignment.model.views.iter().enumerate() {
            let given = views.iter().find(|view| view.name() == model.name).expect("checked above").clone();
            let view = alignment.preparation.casing.of_view(given);
            prepared.push(view.with_rows(alignment.prepare(index, view.rows().clone())?));
        }
        Ok(Candidates { views: prepared, log_densities: None })
    }

    /// Reads files for [`Candidates::of_vectors`], and returns what was read. View names are checked first.
    pub fn read(
        alignment: &Alignment,
        files: &[ViewFile],
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<ViewRead>)> {
        check(alignment, &files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>())?;
        let options = GatherOptions { read: options.clone(), ..Default::default() };
        let (views, read) = gather::read_views(files, &options, observer)?;
        Ok((Self::of_vectors(alignment, views)?, read))
    }

    /// Whether sampled vectors are matched with latent vectors.
    pub(super) fn are_latent(&self) -> bool {
        self.log_densities.is_some()
    }

    pub(super) fn as_vocabularies(&self) -> Vocabularies<'_> {
        let rows = self.views.iter().map(View::rows);
        match &self.log_densities {
            Some(densities) => Vocabularies::Latent(rows.zip(densities).map(|(m, d)| (m, &d[..])).collect()),
            None => Vocabularies::Vectors(rows.collect()),
        }
    }

    /// The words of each view; an error if a view has no words.
    pub(super) fn words(&self) -> Result<Vec<&Vocabulary>> {
        let missing =
            |view: &View| Error::Request(format!("the view {:?} has no words that could be drawn", view.name()));
        self.views.iter().map(|view| view.words().ok_or_else(|| missing(view))).collect()
    }
}

/// Checks that exactly the views of the model are given.
fn check(alignment: &Alignment, given: &[&str]) -> Result<()> {
    given.iter().try_for_each(|name| alignment.model.view_index(name).map(drop))?;
    match alignment.model.views.iter().find(|view| !given.contains(&view.name.as_str())) {
        None => Ok(()),
        Some(view) => {
            let problem = "are missing; give those of every view, or none";
            Err(Error::Request(format!("the vectors of view {:?} {problem}", view.name)))
        }
    }
}

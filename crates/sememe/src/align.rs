//! The whole way from vectors and tuples to an aligned space, in one call.

use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{self, Alignment, Casing, FitWarning, Source, Sources};
use crate::moments::Moments;
use crate::normalize::{Normalizer, Step};
use crate::vectors::Embeddings;

/// How to align.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The policy for words; the vectors and tuples given must already follow it.
    pub casing: Casing,
    /// What to do to the vectors first.
    pub normalize: Vec<Step>,
    /// How to fit.
    pub fit: model::Options,
}

/// What came out.
#[derive(Debug)]
pub struct Aligned {
    /// The model and what belongs to it.
    pub alignment: Alignment,
    /// Each view's words with their latent vectors.
    pub latent: Vec<Embeddings>,
    /// What should be known about the fit.
    pub warnings: Vec<FitWarning>,
}

/// Prepares the views, fits a model to the tuples and projects every word.
pub fn align(views: Vec<(String, Embeddings)>, tuples: &Tuples, options: &Options) -> Result<Aligned> {
    let (names, mut embeddings): (Vec<String>, Vec<Embeddings>) = views.into_iter().unzip();
    if let Some(twice) = names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name)) {
        return Err(Error::argument("view", twice, "each view needs a name of its own"));
    }
    let sources = Sources {
        views: embeddings.iter().map(|view| Source { count: view.len(), fingerprint: view.fingerprint() }).collect(),
        lexicon: Source { count: tuples.len(), fingerprint: fingerprint(tuples, &embeddings) },
    };
    let normalizers = embeddings.iter_mut().map(|view| Normalizer::fit_apply(&options.normalize, view)).collect();
    let named: Vec<(&str, &Embeddings)> = names.iter().map(String::as_str).zip(&embeddings).collect();
    let (model, warnings) = model::fit(&Moments::of(&named, tuples), &options.fit)?;
    let project = |(i, view): (usize, &Embeddings)| {
        Ok(Embeddings::new(view.vocabulary().clone(), model.views[i].project(view.matrix())?))
    };
    let latent = embeddings.iter().enumerate().map(project).collect::<Result<_>>()?;
    Ok(Aligned { alignment: Alignment { model, casing: options.casing, normalizers, sources }, latent, warnings })
}

/// A hash of the words of all tuples in order.
fn fingerprint(tuples: &Tuples, views: &[Embeddings]) -> String {
    let mut hasher = blake3::Hasher::new();
    for tuple in tuples.iter() {
        for (index, view) in tuple.iter().zip(views) {
            hasher.update(index.map_or("", |index| view.word(index)).as_bytes()).update(b"\t");
        }
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

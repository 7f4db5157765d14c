//! A serialisable summary of a space.

use serde::Serialize;

use super::Space;
use crate::align::{FinishedPair, PairCalibration};
use crate::error::Result;
use crate::model::Method;
use crate::model::mbfa::Trace;
use crate::moments::Source;
use crate::names::serialize_count;
use crate::prepare::{Casing, Step};
use crate::retrieve::Criterion;
use crate::vectors::View;

/// Number of example words per view.
const FIRST_WORDS: usize = 8;

/// A summary of a space: its model, its sources and its views.
///
/// ```
/// use sememe::{align, lexicon::Tuples, space::Space, vectors::{Embeddings, Matrix, View}};
///
/// let view = |name: &str, turn: f32| {
///     let rows = Matrix::new((0..60).map(|x| (x as f32 * 1.7 + turn).sin()).collect(), 3);
///     let words: Vec<String> = (0..20).map(|i| format!("{name}{i}")).collect();
///     View::from_embeddings(name, Embeddings::new(words.iter().map(String::as_str).collect(), rows))
/// };
/// let mut tuples = Tuples::new(2);
/// (0..20).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
/// let aligned = align::align(vec![view("a", 0.0), view("b", 0.1)], &tuples, &Default::default(), &())?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("space");
/// Space::write(&path, &aligned.alignment, &aligned.latent)?;
/// let summary = Space::open(&path)?.summary()?;
/// assert_eq!((summary.views[0].words, summary.views[1].first_words[1].as_str()), (20, "b1"));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SpaceSummary {
    /// How the model was fitted.
    pub method: Method,
    /// Latent dimensions.
    pub latent: usize,
    /// Further columns of latent vectors, by which words are compared by their spelling.
    pub spelling_columns: usize,
    /// Whether words keep their case.
    pub casing: Casing,
    /// Preprocessing of vectors before projection.
    pub normalize: Vec<Step>,
    /// Number of tuples that the model was fitted to, or their total weight.
    #[serde(serialize_with = "serialize_count")]
    pub tuples: f64,
    /// The log-likelihood of all tuples in nats, for models that have one.
    pub log_likelihood: Option<f64>,
    /// Canonical correlations; empty for methods without them.
    pub canonical_correlations: Vec<f64>,
    /// Convergence of an iterative fit.
    pub trace: Option<Trace>,
    /// The views.
    pub views: Vec<SpaceView>,
    /// The source of the tuples.
    pub lexicon: Source,
    /// The finishes of pairs of views.
    pub finishes: Vec<FinishedPair>,
    /// The criterion that `auto` is in this space.
    pub criterion: Criterion,
    /// Calibrated confidences of translations.
    pub calibrations: Vec<PairCalibration>,
}

/// A view of a [`SpaceSummary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SpaceView {
    /// Its name.
    pub name: String,
    /// How many words it has.
    pub words: usize,
    /// Dimension of the vectors before projection.
    pub dimension: usize,
    /// Shrinkage of its covariance.
    pub shrinkage: f64,
    /// A hash of the vectors that the model was fitted to.
    pub fingerprint: String,
    /// The first few words.
    pub first_words: Vec<String>,
}

impl Space {
    /// Summarises the space.
    pub fn summary(&self) -> Result<SpaceSummary> {
        let alignment = self.alignment();
        let model = &alignment.model;
        let views = model.views.iter().zip(&alignment.sources.views).zip(&model.shrinkage).zip(self.latent_views()?);
        let views = views.map(|(((view, source), &shrinkage), latent)| {
            let words = latent.as_ref().and_then(View::words);
            let first_words = words.map(|words| words.iter().take(FIRST_WORDS).map(str::to_owned).collect());
            SpaceView {
                name: view.name.clone(),
                words: latent.as_ref().map_or(0, View::len),
                dimension: view.dim(),
                shrinkage,
                fingerprint: source.fingerprint.clone(),
                first_words: first_words.unwrap_or_default(),
            }
        });
        Ok(SpaceSummary {
            method: model.method,
            latent: model.factors(),
            spelling_columns: model.spelling_columns(),
            casing: alignment.preparation.casing,
            normalize: alignment.preparation.steps.clone(),
            tuples: model.tuples,
            log_likelihood: model.log_likelihood,
            canonical_correlations: model.rho.clone(),
            trace: model.trace.clone(),
            views: views.collect(),
            lexicon: alignment.sources.lexicon.clone(),
            finishes: FinishedPair::of(model),
            criterion: alignment.usual_criterion(),
            calibrations: alignment.calibrations.clone(),
        })
    }
}

//! What was fitted, in a form that serialises.

use serde::Serialize;

use super::Aligned;
use crate::model::Method;
use crate::names::serialize_count;

/// What was fitted to what, and how it went.
///
/// ```
/// use sememe::{align, lexicon::Tuples, vectors::{Matrix, View}};
///
/// let rows = |turn: f32| Matrix::new((0..60).map(|x| (x as f32 * 1.7 + turn).sin()).collect(), 3);
/// let mut tuples = Tuples::new(2);
/// (0..20).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
/// let views = vec![View::new("a", rows(0.0)), View::new("b", rows(0.1))];
/// let summary = align::align(views, &tuples, &Default::default(), &())?.summary();
/// assert_eq!((summary.tuples, summary.views[1].words), (20.0, 20));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlignSummary {
    /// How the model was fitted.
    pub method: Method,
    /// Latent dimensions.
    pub latent: usize,
    /// How many tuples it was fitted to, or what they weigh.
    #[serde(serialize_with = "serialize_count")]
    pub tuples: f64,
    /// The log-likelihood of all tuples in nats, where the model has one.
    pub log_likelihood: Option<f64>,
    /// The same per tuple.
    pub log_likelihood_per_tuple: Option<f64>,
    /// How many likelihoods an iterative fit computed.
    pub evaluations: Option<usize>,
    /// Whether an iterative fit stopped by itself.
    pub converged: Option<bool>,
    /// By which fraction its last step raised the likelihood.
    pub last_rise: Option<f64>,
    /// How far its covariances are from those of the data; see [`Trace`](crate::model::mbfa::Trace).
    pub certificate: Option<f64>,
    /// How much another step would change the noise.
    pub residual: Option<f64>,
    /// The views.
    pub views: Vec<AlignedView>,
    /// What should be known about the fit.
    pub warnings: Vec<String>,
}

/// A view of an [`AlignSummary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlignedView {
    /// Its name.
    pub name: String,
    /// How many words, or rows, were projected.
    pub words: usize,
    /// The length of its vectors.
    pub dimension: usize,
    /// How much its covariance was shrunk.
    pub shrinkage: f64,
}

impl Aligned {
    /// What was fitted to what, and how it went.
    pub fn summary(&self) -> AlignSummary {
        let model = &self.alignment.model;
        let trace = model.trace.as_ref();
        let views = (model.views.iter().zip(&self.latent).zip(&model.shrinkage))
            .map(|((view, latent), &shrinkage)| AlignedView {
                name: view.name.clone(),
                words: latent.as_ref().map_or(0, |latent| latent.view.len()),
                dimension: view.dim(),
                shrinkage,
            })
            .collect();
        AlignSummary {
            method: model.method,
            latent: model.latent(),
            tuples: model.tuples,
            log_likelihood: model.log_likelihood,
            log_likelihood_per_tuple: model.log_likelihood.map(|total| total / model.tuples),
            evaluations: trace.map(|trace| trace.evaluations),
            converged: trace.map(|trace| trace.converged),
            last_rise: trace.and_then(|trace| trace.rise),
            certificate: trace.and_then(|trace| trace.certificate),
            residual: trace.map(|trace| trace.residual),
            views,
            warnings: self.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

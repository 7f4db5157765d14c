//! A serialisable summary of a fit.

use std::fmt;

use serde::Serialize;

use super::{Aligned, Alignment, Fitted};
use crate::model::{Finish, FitWarning, Method, Model, Shrinkage};
use crate::names::serialize_count;
use crate::retrieve::Criterion;
use crate::vectors::View;

/// How the shrinkage of a fit was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ShrinkageRule {
    /// It was given, or the method has none.
    Given,
    /// By the retrieval of held-out entries.
    HeldOut,
    /// By the formula of oracle approximating shrinkage, as there were too few entries to hold some out.
    Formula,
    /// A value for pairs that were mostly learned.
    Learned,
}

impl ShrinkageRule {
    /// The rule by which automatic shrinkage became this one, the formula if none could be chosen.
    pub(super) fn of_choice(chosen: Shrinkage) -> Self {
        match chosen {
            Shrinkage::Auto => ShrinkageRule::Formula,
            _ => ShrinkageRule::HeldOut,
        }
    }
}

impl fmt::Display for ShrinkageRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ShrinkageRule::Given => "as given",
            ShrinkageRule::HeldOut => "chosen by retrieval of held-out entries",
            ShrinkageRule::Formula => "by formula (oracle approximating shrinkage), as few entries could be held out",
            ShrinkageRule::Learned => "a value for learned pairs",
        })
    }
}

/// A summary of a fit: its data, method and convergence.
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
    /// The method of the fit.
    pub method: Method,
    /// Latent dimensions.
    pub latent: usize,
    /// Further columns of latent vectors, by which words are compared by their spelling.
    pub spelling_columns: usize,
    /// Number of tuples, or the sum of their weights.
    #[serde(serialize_with = "serialize_count")]
    pub tuples: f64,
    /// The log-likelihood of all tuples in nats, where the model has one.
    pub log_likelihood: Option<f64>,
    /// The log-likelihood per tuple.
    pub log_likelihood_per_tuple: Option<f64>,
    /// Likelihood evaluations of an iterative fit.
    pub evaluations: Option<usize>,
    /// Whether an iterative fit converged.
    pub converged: Option<bool>,
    /// The fraction by which the last step raised the likelihood.
    pub last_rise: Option<f64>,
    /// Distance of the model's covariances from those of the data; see [`Trace`](crate::model::mbfa::Trace).
    pub certificate: Option<f64>,
    /// How much another EM step would change the noise.
    pub residual: Option<f64>,
    /// How the shrinkage of the views was chosen.
    pub shrinkage_rule: ShrinkageRule,
    /// The views.
    pub views: Vec<AlignedView>,
    /// The finishes of pairs of views.
    pub finishes: Vec<FinishedPair>,
    /// The criterion whose parameter held-out translations chose, if that was asked for.
    pub criterion: Option<Criterion>,
    /// Warnings about the fit.
    pub warnings: Vec<String>,
}

/// A pair of views whose comparison was tuned for retrieval.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FinishedPair {
    /// The names of the views.
    pub views: [String; 2],
    /// The number of gradient steps.
    pub steps: usize,
    /// The exponent of the canonical correlations that held-out translations chose; left out of JSON where it is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// The weight of the cosine of spellings; left out of JSON where they are not compared.
    #[serde(skip_serializing_if = "is_zero")]
    pub spelling: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(weight: &f64) -> bool {
    *weight == 0.0
}

impl FinishedPair {
    /// The finishes of a model.
    pub fn of(model: &Model) -> Vec<Self> {
        let of_finish = |finish: &Finish| FinishedPair {
            views: finish.views.map(|view| model.views[view].name.clone()),
            steps: finish.steps,
            exponent: finish.exponent,
            spelling: finish.spelling,
        };
        model.finishes.iter().map(of_finish).collect()
    }
}

impl fmt::Display for FinishedPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.views;
        let exponent = self.exponent.map(|exponent| format!("exponent {exponent}"));
        let spelling = (self.spelling > 0.0).then(|| format!("spelling {}", self.spelling));
        let has_others = exponent.is_some() || spelling.is_some();
        let steps = (self.steps > 0 || !has_others).then(|| format!("{} steps", self.steps));
        let parts: Vec<String> = [exponent, steps, spelling].into_iter().flatten().collect();
        write!(f, "{a}-{b} {}", parts.join(" and "))
    }
}

/// A view of an [`AlignSummary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlignedView {
    /// Its name.
    pub name: String,
    /// Number of projected words or rows.
    pub words: usize,
    /// The length of its vectors.
    pub dimension: usize,
    /// How much its covariance was shrunk.
    pub shrinkage: f64,
}

impl Aligned {
    /// A summary of the fit.
    pub fn summary(&self) -> AlignSummary {
        let words = self.latent.iter().map(|latent| latent.as_ref().map_or(0, |latent| latent.view.len()));
        AlignSummary::of(&self.alignment, words, self.shrinkage_rule, &self.warnings)
    }
}

impl Fitted {
    /// A summary of the fit, as after the projection.
    pub fn summary(&self) -> AlignSummary {
        let words = self.prepared.iter().map(View::len);
        AlignSummary::of(&self.alignment, words, self.shrinkage_rule, &self.warnings)
    }
}

impl AlignSummary {
    fn of(
        alignment: &Alignment,
        words: impl Iterator<Item = usize>,
        shrinkage_rule: ShrinkageRule,
        warnings: &[FitWarning],
    ) -> Self {
        let model = &alignment.model;
        let trace = model.trace.as_ref();
        let views = (model.views.iter().zip(words).zip(&model.shrinkage))
            .map(|((view, words), &shrinkage)| AlignedView {
                name: view.name.clone(),
                words,
                dimension: view.dim(),
                shrinkage,
            })
            .collect();
        AlignSummary {
            method: model.method,
            latent: model.factors(),
            spelling_columns: model.spelling_columns(),
            tuples: model.tuples,
            log_likelihood: model.log_likelihood,
            log_likelihood_per_tuple: model.log_likelihood.map(|total| total / model.tuples),
            evaluations: trace.map(|trace| trace.evaluations),
            converged: trace.map(|trace| trace.converged),
            last_rise: trace.and_then(|trace| trace.rise),
            certificate: trace.and_then(|trace| trace.certificate),
            residual: trace.map(|trace| trace.residual),
            shrinkage_rule,
            views,
            finishes: FinishedPair::of(model),
            criterion: alignment.criterion,
            warnings: warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

//! Warnings about a fit.

use std::fmt;

use crate::moments::Shape;

/// A warning about a fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FitWarning {
    /// A covariance was singular and had to be shrunk.
    Singular {
        /// The view.
        view: String,
        /// The shrinkage that was needed.
        by: f64,
    },
    /// There are no more tuples than dimensions.
    FewTuples {
        /// How many tuples.
        tuples: f64,
        /// The largest dimension.
        dim: usize,
        /// The largest shrinkage of a covariance.
        by: f64,
    },
    /// Some columns of a view are constant over the pairs.
    ConstantColumns {
        /// The view.
        view: String,
        /// How many.
        count: usize,
        /// The shrinkage of the covariance.
        by: f64,
    },
    /// Canonical correlations of 1 were capped: a direction is the same in both views without any noise.
    CappedCorrelations {
        /// How many.
        count: usize,
    },
    /// A view has directions without noise of its own (a Heywood case).
    Heywood {
        /// The view.
        view: String,
        /// How many directions.
        count: usize,
    },
    /// Three or more views with as many latent dimensions as a view has: noise can vanish, and the likelihood converges
    /// slowly.
    FullLatent {
        /// The latent size.
        latent: usize,
    },
    /// The iteration was stopped before it converged.
    NotConverged {
        /// Likelihood evaluations so far.
        evaluations: usize,
    },
    /// Held-out entries between two views are retrieved no better than chance, or self-learning from few entries ends no
    /// better than from wrong ones: the dictionary is worthless or too small.
    Chance {
        /// The views.
        views: [String; 2],
        /// How many entries say so.
        entries: usize,
    },
    /// Tuples with only one view carry no information for this method and were left out.
    UnusedTuples {
        /// How many.
        count: f64,
    },
}

impl FitWarning {
    /// A warning if there are no more tuples than dimensions, so that shrinkage has to regularise the fit.
    pub(super) fn few_tuples(tuples: f64, shapes: &[Shape], shrinkage: &[f64]) -> Option<Self> {
        let dim = shapes.iter().map(|shape| shape.dim + shape.outside).max().unwrap_or(0);
        let by = shrinkage.iter().copied().fold(0.0, f64::max);
        (tuples <= dim as f64).then_some(FitWarning::FewTuples { tuples, dim, by })
    }
}

impl fmt::Display for FitWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitWarning::Singular { view, by } => {
                write!(
                    f,
                    "the covariance of view {view:?} is singular (constant columns, or too few different pairs); \
                     shrunk by {by}"
                )
            }
            FitWarning::FewTuples { tuples, dim, by: 0.0 } => {
                write!(f, "only {tuples} pairs for {dim} dimensions; the pairs leave most of them open")
            }
            FitWarning::FewTuples { tuples, dim, by } => {
                write!(f, "only {tuples} pairs for {dim} dimensions; covariances were shrunk by up to {by:.3}")
            }
            FitWarning::ConstantColumns { view, count, by } => {
                write!(f, "{count} columns of view {view:?} are constant; its covariance was shrunk by {by:.3}")
            }
            FitWarning::CappedCorrelations { count } => {
                write!(
                    f,
                    "{count} canonical correlations of 1 were capped; too few pairs, or the same column in both views"
                )
            }
            FitWarning::Heywood { view, count } => write!(
                f,
                "view {view:?} has {count} directions with hardly any noise of their own (Heywood cases); \
                 a smaller latent size or more shrinkage avoids them"
            ),
            FitWarning::FullLatent { latent } => write!(
                f,
                "three or more views with as many latent dimensions as a view has ({latent}) are an unstable regime: some noise may \
                 vanish; a smaller latent size avoids it"
            ),
            FitWarning::NotConverged { evaluations } => {
                write!(f, "stopped after {evaluations} evaluations, before the likelihood had settled")
            }
            FitWarning::Chance { views: [a, b], entries } => write!(
                f,
                "NO BETTER THAN CHANCE between {a:?} and {b:?}: what was learned from {entries} entries finds translations \
                 no better than at random; check that the dictionary belongs to these views, that its \
                 columns are not shuffled, and that it is large enough"
            ),
            FitWarning::UnusedTuples { count } => write!(f, "{count} entries with a single view were left out"),
        }
    }
}

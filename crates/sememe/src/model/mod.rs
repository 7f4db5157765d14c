//! The fitted model: every view is a noisy linear picture of one hidden vector, `x_i = W_i z + mu_i + e_i`.

mod alignment;
pub mod ibfa;
mod shrinkage;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::alignment::{Alignment, Casing, Source, Sources};
pub use self::shrinkage::Shrinkage;
use crate::error::{Error, Result};
use crate::linalg::Mat;

/// How a model was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Inter-battery factor analysis: two views, closed form.
    Ibfa,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Ibfa => f.write_str("ibfa"),
        }
    }
}

/// One view of the model.
#[derive(Debug, Clone)]
pub struct View {
    /// Its name: any string.
    pub name: String,
    /// `mu`, the mean.
    pub mu: Vec<f64>,
    /// `W`, dimension x latent: how the hidden vector shows in this view.
    pub w: Mat,
    /// `Psi`, dimension x dimension: the covariance of what is this view's alone.
    pub psi: Mat,
    /// latent x dimension: `E[z|x] = projection (x - mu)`.
    pub projection: Mat,
}

impl View {
    /// Length of this view's vectors.
    pub fn dim(&self) -> usize {
        self.mu.len()
    }

    pub(crate) fn check_dimension(&self, given: usize) -> Result<()> {
        if given == self.dim() {
            return Ok(());
        }
        let expected = format!("the model was fitted on vectors of dimension {} for view {:?}", self.dim(), self.name);
        Err(Error::argument("dimension", given, expected))
    }
}

/// A fitted model over any number of views.
#[derive(Debug, Clone)]
pub struct Model {
    /// How it was fitted.
    pub method: Method,
    /// The views.
    pub views: Vec<View>,
    /// How many tuples it was fitted on.
    pub tuples: f64,
    /// Log-likelihood of these tuples, in nats.
    pub log_likelihood: f64,
    /// Canonical correlations between the two views, decreasing.
    pub rho: Vec<f64>,
    /// How much each view's covariance was shrunk.
    pub shrinkage: Vec<f64>,
}

impl Model {
    /// Length of the hidden vector.
    pub fn latent(&self) -> usize {
        self.views[0].w.ncols()
    }

    /// The place of a view by its name.
    pub fn view_index(&self, name: &str) -> Result<usize> {
        self.views.iter().position(|view| view.name == name).ok_or_else(|| Error::UnknownView {
            name: name.to_owned(),
            known: self.views.iter().map(|view| view.name.clone()).collect(),
        })
    }
}

/// Something about a fit that its user should know.
#[derive(Debug, Clone, PartialEq)]
pub enum FitWarning {
    /// A covariance was singular and had to be shrunk.
    Singular {
        /// The view.
        view: String,
        /// By how much it was shrunk.
        by: f64,
    },
    /// There are no more tuples than dimensions.
    FewTuples {
        /// How many tuples.
        tuples: f64,
        /// The largest dimension.
        dim: usize,
        /// The most that a covariance was shrunk by.
        by: f64,
    },
    /// Some columns of a view are constant over the pairs.
    ConstantColumns {
        /// The view.
        view: String,
        /// How many.
        count: usize,
        /// By how much the covariance was shrunk.
        by: f64,
    },
    /// Canonical correlations at 1 were capped: some direction is the same in both views without any noise.
    CappedCorrelations {
        /// How many.
        count: usize,
    },
    /// Tuples that have only one of the views teach this method nothing and were left out.
    UnusedTuples {
        /// How many.
        count: f64,
    },
}

impl fmt::Display for FitWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitWarning::Singular { view, by } => {
                write!(
                    f,
                    "the covariance of view {view:?} is singular (constant columns, or too few different pairs); shrunk by {by}"
                )
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
            FitWarning::UnusedTuples { count } => write!(f, "{count} entries with a single view were left out"),
        }
    }
}

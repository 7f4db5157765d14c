//! The discriminative finish of a fit: linear maps of latent vectors, tuned for retrieval.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{FitOptions, Method, Model, Shrinkage};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::names::serde_as_spelled;

/// Maps from the latent vectors of two views to coordinates in which translations are nearer by cosine. The generative
/// model, its latent vectors and its densities stay as they are. The maps also give its weight to the spelling of words.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finish {
    /// The views, in increasing order.
    pub views: [usize; 2],
    /// The map of each view's latent vectors.
    pub maps: [Arc<Mat>; 2],
    /// The number of gradient steps.
    pub steps: usize,
    /// The exponent of the canonical correlations of the coordinates that the steps began at, where it was
    /// [chosen](super::Exponent::Auto).
    pub exponent: Option<f64>,
    /// The weight of the cosine of spellings, added to the cosine of latent vectors; 0 where they are not compared.
    pub spelling: f64,
}

/// Number of gradient steps of the finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FinishSteps {
    /// Chosen by held-out retrieval, for IBFA and MBFA. None where covariances are not shrunk: that is the maximum
    /// likelihood estimate of the paper, nor for more than 512 latent dimensions, where it takes long.
    #[default]
    Auto,
    /// No finish.
    None,
    /// This number of steps, by any method.
    Of(usize),
}

serde_as_spelled!(FinishSteps);

impl FromStr for FinishSteps {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = "it must be auto, none or a number of steps";
        match text {
            "auto" => Ok(FinishSteps::Auto),
            "none" => Ok(FinishSteps::None),
            number => number.parse().map(FinishSteps::Of).map_err(|_| Error::argument("finish", text, expected)),
        }
    }
}

impl fmt::Display for FinishSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FinishSteps::Auto => f.write_str("auto"),
            FinishSteps::None => f.write_str("none"),
            FinishSteps::Of(steps) => write!(f, "{steps}"),
        }
    }
}

/// Larger latent vectors are finished on request only, as it takes long.
const MAX_LATENT: usize = 512;

impl FitOptions {
    /// The finish of a fit by this method: [`FinishSteps::Auto`] only where it applies.
    pub(crate) fn finish_for(&self, method: Method, latent: usize) -> FinishSteps {
        let is_tuned =
            matches!(method, Method::Ibfa | Method::Mbfa) && self.shrinkage != Shrinkage::None && latent <= MAX_LATENT;
        if self.finish == FinishSteps::Auto && !is_tuned { FinishSteps::None } else { self.finish }
    }
}

impl Model {
    /// The finish of two views, given in increasing order.
    pub fn finish(&self, views: [usize; 2]) -> Option<&Finish> {
        self.finishes.iter().find(|finish| finish.views == views)
    }

    /// Sets the finish of its views.
    pub(crate) fn set_finish(&mut self, finish: Finish) {
        self.finishes.retain(|other| other.views != finish.views);
        self.finishes.push(finish);
        self.finishes.sort_by_key(|finish| finish.views);
    }
}

//! The latent size: a given number, the maximum, or chosen by the Bayesian information criterion.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::moments::Shape;
use crate::names::serde_as_spelled;

/// Length of the latent vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LatentSize {
    /// The maximum: the smallest dimension of a view.
    #[default]
    Largest,
    /// This number of dimensions.
    Of(usize),
    /// By the Bayesian information criterion, `-2 log-likelihood + parameters log n`.
    Auto,
}

serde_as_spelled!(LatentSize);

impl FromStr for LatentSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(LatentSize::Auto),
            "largest" => Ok(LatentSize::Largest),
            number => number
                .parse()
                .map(LatentSize::Of)
                .map_err(|_| Error::argument("latent", text, "it must be largest, auto or a number of dimensions")),
        }
    }
}

impl fmt::Display for LatentSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LatentSize::Largest => f.write_str("largest"),
            LatentSize::Of(size) => write!(f, "{size}"),
            LatentSize::Auto => f.write_str("auto"),
        }
    }
}

impl LatentSize {
    /// The given size, or the maximum for the other choices.
    pub(crate) fn at_most(self, shapes: &[Shape]) -> Result<usize> {
        let largest = shapes.iter().map(|view| view.dim).min().unwrap_or(0);
        match self {
            LatentSize::Of(size) if !(1..=largest).contains(&size) => {
                let expected = format!("it must be from 1 to {largest}, the smallest dimension of a view");
                Err(Error::argument("latent", size, expected))
            }
            LatentSize::Of(size) => Ok(size),
            LatentSize::Largest | LatentSize::Auto => Ok(largest),
        }
    }
}

/// Number of free loadings. A rotation of the latent vector changes nothing, so its parameters do not count.
pub(super) fn free_loadings(dims: impl Iterator<Item = usize>, latent: usize) -> f64 {
    let loadings = dims.sum::<usize>() * latent;
    loadings as f64 - 0.5 * (latent * (latent - 1)) as f64
}

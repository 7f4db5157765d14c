//! The exponent of canonical correlations by which coordinates are weighted.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::names::serde_as_spelled;

/// How two views' coordinates are weighted by their canonical correlations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Exponent {
    /// By the power of 1/2: the posterior mean `E[z|x]`.
    #[default]
    PosteriorMean,
    /// By a power from 0 to 1 that held-out translations choose for each pair of views, for IBFA and MBFA; 1/2 unless another one
    /// is clearly better. Latent vectors stay posterior means: like a [finish](super::Finish), the weights are a map after them.
    Auto,
    /// By this power, for IBFA: latent vectors are weighted by it.
    Of(f64),
}

/// The exponent of posterior means.
pub(crate) const POSTERIOR_MEAN: f64 = 0.5;
/// The largest exponent that may be given.
const LARGEST: f64 = 4.0;

serde_as_spelled!(Exponent);

impl Exponent {
    /// The exponent of latent vectors.
    pub(super) fn of_latent_vectors(self) -> f64 {
        match self {
            Exponent::Of(exponent) => exponent,
            Exponent::PosteriorMean | Exponent::Auto => POSTERIOR_MEAN,
        }
    }

    pub(super) fn check(self) -> Result<()> {
        match self {
            Exponent::Of(exponent) if !(0.0..=LARGEST).contains(&exponent) => {
                Err(Error::argument("exponent", exponent, format!("it must be from 0 to {LARGEST}")))
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Exponent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Exponent::Auto),
            "posterior-mean" => Ok(Exponent::PosteriorMean),
            number => {
                let expected = || Error::argument("exponent", text, "it must be auto or a number");
                let exponent = Exponent::Of(number.parse().map_err(|_| expected())?);
                exponent.check().map(|()| exponent)
            }
        }
    }
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exponent::PosteriorMean => f.write_str("posterior-mean"),
            Exponent::Auto => f.write_str("auto"),
            Exponent::Of(exponent) => write!(f, "{exponent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_read_as_they_are_written_and_impossible_ones_refused() {
        for text in ["auto", "posterior-mean", "0", "0.75", "4"] {
            assert_eq!(text.parse::<Exponent>().unwrap().to_string(), text);
        }
        for text in ["half", "-1", "4.5", "nan", ""] {
            assert!(text.parse::<Exponent>().unwrap_err().to_string().contains("exponent"), "{text}");
        }
    }
}

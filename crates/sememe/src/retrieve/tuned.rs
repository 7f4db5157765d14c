//! A criterion whose parameter held-out translations choose.

use std::fmt;
use std::str::FromStr;

use super::Criterion;
use crate::error::{Error, Result};
use crate::names::{self, serde_as_spelled};

/// A criterion with a parameter that is chosen by held-out translations where a space is aligned.
///
/// ```
/// use sememe::retrieve::TunedCriterion;
///
/// assert_eq!("csls:k=auto".parse::<TunedCriterion>()?, TunedCriterion::Csls);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TunedCriterion {
    /// The number of neighbours of CSLS.
    Csls,
    /// The inverse temperature of inverted softmax.
    Isf,
}

serde_as_spelled!(TunedCriterion);

const SPELLED: [(&str, TunedCriterion); 2] =
    [("csls:k=auto", TunedCriterion::Csls), ("isf:beta=auto", TunedCriterion::Isf)];

impl TunedCriterion {
    /// The criterion with its usual parameter.
    pub fn usual(self) -> Criterion {
        match self {
            TunedCriterion::Csls => Criterion::CSLS,
            TunedCriterion::Isf => Criterion::ISF,
        }
    }

    /// The criteria to choose from, the usual one among them.
    pub fn candidates(self) -> Vec<Criterion> {
        match self {
            TunedCriterion::Csls => [2, 5, 10, 20, 40].map(|k| Criterion::Csls { k, words: None }).to_vec(),
            TunedCriterion::Isf => {
                [10.0, 20.0, 30.0, 45.0, 60.0].map(|beta| Criterion::Isf { beta, sample: None }).to_vec()
            }
        }
    }
}

impl FromStr for TunedCriterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        names::find("criterion", text.trim().to_ascii_lowercase().as_str(), &SPELLED)
    }
}

impl fmt::Display for TunedCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &SPELLED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_criterion_can_be_chosen() {
        for (text, tuned) in SPELLED {
            assert_eq!(text.parse::<TunedCriterion>().unwrap().to_string(), text);
            assert!(tuned.candidates().contains(&tuned.usual()), "{text}");
        }
        assert!("csls:k=5".parse::<TunedCriterion>().unwrap_err().to_string().contains("isf:beta=auto"));
    }
}

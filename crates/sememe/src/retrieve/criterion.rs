//! Retrieval criteria and their names.

use std::fmt;
use std::str::FromStr;

use super::csls::NEIGHBOURS;
use crate::error::{Error, Result};
use crate::names::serde_as_spelled;

/// How targets `t` are ranked for a query `q`. Every criterion is an inner product plus a term that depends on the
/// target only.
///
/// Spelled by name in any case, with parameters after a colon: `csls`, `csls:k=20`, `isf:beta=30,sample=10000`. `auto`
/// is [`Criterion::AUTO`].
///
/// ```
/// use sememe::retrieve::Criterion;
///
/// let criterion: Criterion = "csls:k=20,words=50000".parse()?;
/// assert_eq!(criterion, Criterion::Csls { k: 20, words: Some(50_000) });
/// assert_eq!("CSLS".parse::<Criterion>()?.to_string(), "csls");
/// assert_eq!(Criterion::parse_list("nn,csls:k=5,words=100")?.len(), 2);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Criterion {
    /// The cosine similarity. A zero vector has no direction: as a target it is never found, as a query it finds
    /// nothing. The same holds for every criterion based on cosines.
    #[default]
    Nn,
    /// Cross-domain similarity local scaling (Conneau et al. 2018): `2 cos(q, t) - r(q) - r(t)`, where `r` is the mean
    /// cosine to the nearest neighbours in the other language. It corrects for hubness.
    Csls {
        /// Number of nearest neighbours that `r` averages over.
        k: usize,
        /// Searches neighbours among the first `words` words of each side, the most frequent ones; all by default.
        words: Option<usize>,
    },
    /// Inverted softmax (Smith et al. 2017): `beta cos(q, t) - log Σ_x exp(beta cos(x, t))` over the words `x` of the
    /// source, the log-probability of the query given the target.
    Isf {
        /// Inverse temperature.
        beta: f64,
        /// Sums over a sample of this many source words, evenly spaced; over all by default.
        sample: Option<usize>,
    },
    /// Globally corrected retrieval (Dinu et al. 2015): ranks targets by the rank that the query has among all queries
    /// near the target, then by cosine. The score is `cos(q, t)` minus that rank.
    Corrected {
        /// Number of words from the beginning of the source that are ranked along with the queries.
        pool: usize,
    },
    /// The inner product.
    Dot,
    /// Euclidean distance; the score is `-|q - t|²`.
    L2,
    /// Pointwise mutual information `log p(x, y) / (p(x) p(y))` under the generative model, in nats.
    Pmi,
    /// `log p(y|x)` under the generative model, in nats.
    Logp,
}

/// The value that Smith et al. recommend.
const ISF_BETA: f64 = 30.0;

impl Criterion {
    /// CSLS with the usual ten neighbours among all words.
    pub const CSLS: Criterion = Criterion::Csls { k: NEIGHBOURS, words: None };
    /// Inverted softmax with the usual inverse temperature, over all words.
    pub const ISF: Criterion = Criterion::Isf { beta: ISF_BETA, sample: None };

    /// The criterion for those who do not choose one, `auto`: CSLS, as in MUSE and VecMap. It corrects for hubness.
    pub const AUTO: Criterion = Criterion::CSLS;

    /// Parses criteria that are separated by commas. A comma may also separate the parameters of a criterion.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        let mut spelled: Vec<String> = Vec::new();
        for part in text.split(',') {
            match spelled.last_mut() {
                // What begins with `NAME=` is another parameter of the criterion before it.
                Some(before) if part.contains('=') && !part.contains(':') => *before += &format!(",{part}"),
                _ => spelled.push(part.to_owned()),
            }
        }
        spelled.iter().map(|criterion| criterion.parse()).collect()
    }

    /// Whether the criterion needs a generative model.
    pub fn is_generative(&self) -> bool {
        matches!(self, Criterion::Pmi | Criterion::Logp)
    }

    /// Whether the criterion is made of cosines, which two views of several are compared by in [their own
    /// coordinates](super::PairCoordinates).
    pub fn uses_cosines(&self) -> bool {
        matches!(self, Criterion::Nn | Criterion::Corrected { .. } | Criterion::Csls { .. } | Criterion::Isf { .. })
    }
}

impl FromStr for Criterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let (name, parameters) = lower.split_once(':').unwrap_or((&lower, ""));
        let mut criterion = match name {
            "auto" => Criterion::AUTO,
            "nn" => Criterion::Nn,
            "csls" => Criterion::CSLS,
            "isf" => Criterion::ISF,
            "corrected" => Criterion::Corrected { pool: 0 },
            "dot" => Criterion::Dot,
            "l2" => Criterion::L2,
            "pmi" => Criterion::Pmi,
            "logp" => Criterion::Logp,
            _ => {
                let names = "it must be one of auto, nn, csls, isf, corrected, dot, l2, pmi, logp";
                return Err(Error::argument("criterion", text, names));
            }
        };
        for parameter in parameters.split(',').filter(|parameter| !parameter.is_empty()) {
            criterion.set(parameter).map_err(|expected| Error::argument("criterion", text, expected))?;
        }
        Ok(criterion)
    }
}

impl Criterion {
    fn set(&mut self, parameter: &str) -> std::result::Result<(), String> {
        let (name, value) = parameter.split_once('=').ok_or("a parameter is NAME=NUMBER, such as csls:k=10")?;
        if value == "auto" {
            let how = "align chooses it by held-out translations (align --criterion), and auto means what it chose";
            return Err(format!("{name} is a number; {how}"));
        }
        let count = || match value.parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!("{name} must be a whole number, at least 1")),
        };
        match (self, name) {
            (Criterion::Csls { k, .. }, "k") => *k = count()?,
            (Criterion::Csls { words, .. }, "words") => *words = Some(count()?),
            (Criterion::Isf { beta, .. }, "beta") => {
                let valid = |beta: &f64| *beta > 0.0 && *beta <= 1e4;
                *beta = value.parse().ok().filter(valid).ok_or("beta must be a number above 0, at most 10000")?;
            }
            (Criterion::Isf { sample, .. }, "sample") => *sample = Some(count()?),
            (Criterion::Corrected { pool }, "pool") => *pool = count()?,
            _ => {
                let known = "there are csls:k=,words= · isf:beta=,sample= · corrected:pool=";
                return Err(format!("there is no parameter {name:?}; {known}"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, parameters) = match *self {
            Criterion::Nn => ("nn", vec![]),
            Criterion::Csls { k, words } => {
                ("csls", vec![(k != NEIGHBOURS).then(|| format!("k={k}")), words.map(|words| format!("words={words}"))])
            }
            Criterion::Isf { beta, sample } => (
                "isf",
                vec![
                    (beta != ISF_BETA).then(|| format!("beta={beta}")),
                    sample.map(|sample| format!("sample={sample}")),
                ],
            ),
            Criterion::Corrected { pool } => ("corrected", vec![(pool > 0).then(|| format!("pool={pool}"))]),
            Criterion::Dot => ("dot", vec![]),
            Criterion::L2 => ("l2", vec![]),
            Criterion::Pmi => ("pmi", vec![]),
            Criterion::Logp => ("logp", vec![]),
        };
        let parameters: Vec<String> = parameters.into_iter().flatten().collect();
        let colon = if parameters.is_empty() { "" } else { ":" };
        write!(f, "{name}{colon}{}", parameters.join(","))
    }
}

serde_as_spelled!(Criterion);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read_as_it_is_written() {
        for text in [
            "nn",
            "csls",
            "csls:k=3",
            "csls:k=5,words=100",
            "isf",
            "isf:beta=12.5,sample=9",
            "corrected",
            "corrected:pool=7",
            "dot",
            "l2",
            "pmi",
            "logp",
        ] {
            assert_eq!(text.parse::<Criterion>().unwrap().to_string(), text);
        }
        for text in ["csls:k=10", "CSLS", "Csls:K=10", "auto"] {
            assert_eq!(text.parse::<Criterion>().unwrap(), Criterion::CSLS, "{text}");
        }
    }

    #[test]
    fn lists_are_separated_by_commas_as_parameters_are() {
        let list = |text: &str| Criterion::parse_list(text).map_err(|error| error.to_string());
        assert_eq!(list("nn,CSLS"), Ok(vec![Criterion::Nn, Criterion::CSLS]));
        let with_parameters = vec![Criterion::Csls { k: 5, words: Some(100) }, Criterion::Dot];
        assert_eq!(list("csls:k=5,words=100, dot"), Ok(with_parameters));
        assert!(list("nn,cosine").unwrap_err().contains("cosine") && list("nn,").is_err() && list("").is_err());
    }

    #[test]
    fn what_is_wrong_with_a_spelling_is_said() {
        for (text, said) in [
            ("cosine", "nn, csls"),
            ("csls:0", "NAME=NUMBER"),
            ("csls:k=0", "at least 1"),
            ("csls:k=-1", "at least 1"),
            ("nn:k=3", "no parameter \"k\""),
            ("isf:beta=nan", "above 0"),
            ("isf:beta=inf", "above 0"),
            ("corrected:pool=x", "whole number"),
        ] {
            let error = text.parse::<Criterion>().unwrap_err().to_string();
            assert!(error.contains(said) && error.contains(text), "{error}");
        }
    }
}

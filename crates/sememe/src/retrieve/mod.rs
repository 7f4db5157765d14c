//! Which targets are nearest to a query: a criterion, and one exact engine.

mod engine;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use self::engine::Targets;
use crate::error::{Error, Result};
use crate::vectors::Matrix;

/// What "near" means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The cosine of the angle between the two vectors.
    #[default]
    Nn,
}

impl FromStr for Criterion {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "nn" => Ok(Criterion::Nn),
            _ => Err(Error::argument("criterion", name, "it must be nn")),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Nn => f.write_str("nn"),
        }
    }
}

/// A target and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Row of the target.
    pub index: usize,
    /// The larger the nearer.
    pub score: f32,
}

/// For each query the `k` nearest targets, nearest first, equal scores by the lower row; fewer if there are not `k`.
///
/// ```
/// use sememe::{retrieve::{nearest, Criterion}, vectors::Matrix};
///
/// let targets = Matrix::new(vec![1.0, 0.0, 0.0, 2.0, 3.0, 3.0], 2);
/// let hits = nearest(&Matrix::new(vec![0.0, 1.0], 2), &targets, 2, Criterion::Nn)?;
/// assert_eq!(hits[0].iter().map(|hit| hit.index).collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn nearest(queries: &Matrix, targets: &Matrix, k: usize, criterion: Criterion) -> Result<Vec<Vec<Hit>>> {
    if queries.cols() != targets.cols() {
        let expected = format!("the targets have vectors of length {}", targets.cols());
        return Err(Error::argument("length of the queries", queries.cols(), expected));
    }
    if k == 0 {
        return Err(Error::argument("k", k, "at least one neighbour must be asked for"));
    }
    match criterion {
        Criterion::Nn => Ok(Targets::cosine(targets).nearest(&engine::unit_rows(queries), k)),
    }
}

//! Vectors for external indexes (FAISS and the like), which then rank as a criterion does.
//!
//! The term of a target becomes a coordinate, `<[q, c], [t, b(t) / c]> = <q, t> + b(t)`. For indexes that only support
//! distances or cosines, another coordinate gives all targets the same length `M`: with `[t, sqrt(M² - |t|²)]` and
//! `[q, 0]` the largest inner product is the smallest distance and the largest cosine.

use std::fmt;
use std::str::FromStr;

use super::form::Form;
use super::{Criterion, Retriever};
use crate::error::{Error, Result};
use crate::names;
use crate::vectors::Matrix;

/// Relative difference of squared lengths below which lengths count as equal.
const SAME_LENGTH: f64 = 1e-6;

/// The metric of a vector index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// The largest inner product.
    Ip,
    /// The smallest Euclidean distance.
    L2,
    /// The largest cosine.
    Cosine,
}

impl Metric {
    /// All metrics by name.
    pub const ALL: [(&'static str, Metric); 3] = [("ip", Metric::Ip), ("l2", Metric::L2), ("cosine", Metric::Cosine)];
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &Metric::ALL))
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("metric", name, &Metric::ALL)
    }
}

/// A criterion converted to vectors for an index.
pub struct Export {
    form: Form,
    /// Dimension of the original vectors.
    dim: usize,
    targets: Matrix,
    /// Coordinates appended to every query.
    extra: Vec<f32>,
}

impl Export {
    /// Converts a retriever for an index with this metric. `corrected` is an error, because it compares queries with
    /// each other. Zero rows are an error where the criterion uses cosines, because an index cannot exclude them.
    pub fn new(retriever: &Retriever, metric: Metric) -> Result<Self> {
        if let Criterion::Corrected { .. } = retriever.criterion() {
            let problem = "it ranks queries against each other, which no index of vectors does";
            return Err(Error::argument("criterion", retriever.criterion(), problem));
        }
        let targets = retriever.targets_with_directions()?;
        let length = |target: usize| targets.scaled(target).map(|x| f64::from(x) * f64::from(x)).sum::<f64>();
        let mut squares: Vec<f64> = (0..targets.len()).map(length).collect();
        let (mut columns, mut extra): (Vec<Vec<f32>>, Vec<f32>) = (Vec::new(), Vec::new());
        let terms = retriever.bias();
        let (least, most) = ends(terms);
        if least < most {
            // A constant added to all terms does not change the order. The rest is scaled to the length of the vectors
            // to keep precision.
            let longest = ends(&squares).1.sqrt();
            let (middle, half) = (least.midpoint(most), 0.5 * (most - least));
            let unit = if longest > 0.0 { half / longest } else { 1.0 };
            columns.push(terms.iter().map(|term| ((term - middle) / unit) as f32).collect());
            squares.iter_mut().zip(&columns[0]).for_each(|(square, &x)| *square += f64::from(x) * f64::from(x));
            extra.push(unit as f32);
        }
        let (least, most) = ends(&squares);
        if metric != Metric::Ip && most - least > SAME_LENGTH * most {
            columns.push(squares.iter().map(|square| (most - square).sqrt() as f32).collect());
            extra.push(0.0);
        }
        let dim = targets.dim() + extra.len();
        let mut rows = Vec::with_capacity(targets.len() * dim);
        for target in 0..targets.len() {
            rows.extend(targets.scaled(target).chain(columns.iter().map(|column| column[target])));
        }
        Ok(Export { form: retriever.form().clone(), dim: targets.dim(), targets: Matrix::new(rows, dim), extra })
    }

    /// The vectors to add to the index, one row per target.
    pub fn targets(&self) -> &Matrix {
        &self.targets
    }

    /// The vectors to query the index with, one row per query.
    pub fn queries(&self, queries: &Matrix) -> Result<Matrix> {
        if queries.cols() != self.dim {
            let expected = format!("the vectors of the space have length {}", self.dim);
            return Err(Error::argument("length of the queries", queries.cols(), expected));
        }
        let prepared = self.form.of_queries(queries)?;
        let rows = prepared.as_slice().chunks_exact(self.dim).flat_map(|row| row.iter().chain(&self.extra).copied());
        Ok(Matrix::new(rows.collect(), self.targets.cols()))
    }
}

/// The minimum and the maximum.
fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &value| (a.min(value), b.max(value)))
}

//! Whether fresh vectors are still like those of the fit.

use serde::Serialize;

use super::fit::residuals;
use super::geometry::Reference;
use super::{MigrationMap, Pairs};
use crate::error::{Error, Result};
use crate::vectors::Matrix;

/// One number of fresh vectors compared with what is usual.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// What is compared.
    pub name: String,
    /// The mean over the fresh rows.
    pub mean: f64,
    /// The mean over rows that were held out of the fit.
    pub usual: f64,
    /// How far the mean lies above the usual one, in standard errors.
    pub standard_errors: f64,
    /// Standard errors from which on the alarm rings.
    pub limit: f64,
    /// Whether it rings.
    pub rings: bool,
}

/// The result of [`MigrationMap::monitor`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MonitorReport {
    /// Whether any check rings.
    pub rings: bool,
    /// Number of fresh rows.
    pub rows: usize,
    /// The share of batches like the fit that ring, at most.
    pub false_alarms: f64,
    /// All checks.
    pub checks: Vec<Check>,
}

impl MonitorReport {
    /// The names of the checks that ring.
    pub fn rung(&self) -> Vec<&str> {
        self.checks.iter().filter(|check| check.rings).map(|check| check.name.as_str()).collect()
    }
}

/// Rows that a mean needs for its standard error to mean something.
const MIN_ROWS: usize = 20;

impl MigrationMap {
    /// Compares fresh vectors of the new model, and of the old one for the same texts, if they are at hand, with rows
    /// that were held out of the fit: the surprise of the vectors of each model, and the distance of mapped queries from
    /// old vectors. Of batches of the same kind as the fit at most the share `false_alarms` rings: it is divided among
    /// the checks, and only means above the usual ones ring.
    pub fn monitor(&self, new: &Matrix, old: Option<&Matrix>, false_alarms: f64) -> Result<MonitorReport> {
        if !(false_alarms > 0.0 && false_alarms < 0.5) {
            return Err(Error::argument("false-alarms", false_alarms, "it must be above 0 and below 0.5"));
        }
        if new.rows() < MIN_ROWS {
            let problem = format!("there are {} fresh rows; at least {MIN_ROWS} tell something", new.rows());
            return Err(Error::NotEnoughData(problem));
        }
        let mut measured = vec![(
            "surprise of new vectors".to_owned(),
            self.new.geometry.reference(),
            self.new.geometry.surprises(new)?,
        )];
        if let Some(old) = old {
            // Duplicates are no reason to refuse a batch, but they would count as independent rows.
            let pairs = Pairs::new(old.clone(), new.clone())?;
            let surprises = self.old.geometry.surprises(pairs.old())?;
            measured.push(("surprise of old vectors".to_owned(), self.old.geometry.reference(), surprises));
            let distances = residuals(&self.queries.map, &pairs)?;
            measured.push(("distance of mapped queries".to_owned(), self.residual, distances));
        }
        let limit = upper_quantile(false_alarms / measured.len() as f64);
        let check = |(name, usual, values): (String, Reference, Vec<f64>)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let standard_errors = usual.standard_errors(mean, values.len());
            Check { name, mean, usual: usual.mean, standard_errors, limit, rings: standard_errors > limit }
        };
        let checks: Vec<Check> = measured.into_iter().map(check).collect();
        let rings = checks.iter().any(|check| check.rings);
        Ok(MonitorReport { rings, rows: new.rows(), false_alarms, checks })
    }
}

/// The number that a standard normal variable exceeds with this probability, by bisection.
fn upper_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match upper_tail(middle) > probability {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}

/// The probability that a standard normal variable exceeds `x`, which is not negative, by a continued fraction for large
/// `x` and the series of the error function for small ones (Abramowitz & Stegun 26.2.14 and 26.2.10).
fn upper_tail(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x > 3.0 {
        let fraction = (1..=60).rev().fold(x, |rest, k| x + f64::from(k) / rest);
        return density / fraction;
    }
    let (mut term, mut sum) = (x, x);
    for k in 1..200 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 - density * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        // scipy.stats.norm.isf
        let known = [(0.25, 0.674_489_750_2), (0.01, 2.326_347_874), (0.001, 3.090_232_306), (1e-6, 4.753_424_309)];
        for (probability, expected) in known {
            assert!((upper_quantile(probability) - expected).abs() < 1e-8, "{probability}");
        }
    }
}

//! Logistic regression on a few numbers a row, with normal priors.

use crate::linalg::{Cholesky, Mat};
use crate::retrieve::logistic;

const NEWTON_STEPS: usize = 30;

/// Normal priors of the coefficients, and the least value of each.
pub(crate) struct Prior<const N: usize> {
    pub(crate) means: [f64; N],
    pub(crate) deviations: [f64; N],
    pub(crate) least: [f64; N],
}

/// The most probable coefficients.
pub(crate) struct Regression<const N: usize> {
    pub(crate) coefficients: [f64; N],
    /// The logarithm of their posterior probability, up to a constant.
    pub(crate) log_posterior: f64,
}

impl<const N: usize> Prior<N> {
    /// The coefficients with which rows most probably have these labels, from 0 to 1: by Newton's method, where a step is
    /// halved until it does not overshoot.
    pub(crate) fn most_likely(&self, rows: &[[f64; N]], labels: &[f64]) -> Regression<N> {
        let mut coefficients = self.means;
        let mut log_posterior = self.log_posterior(rows, labels, &coefficients);
        for _ in 0..NEWTON_STEPS {
            let step = self.newton_step(rows, labels, &coefficients);
            let tried = (0..NEWTON_STEPS).map(|halvings| {
                let factor = 0.5_f64.powi(halvings as i32);
                let next = std::array::from_fn(|i| (coefficients[i] + factor * step[i]).max(self.least[i]));
                (self.log_posterior(rows, labels, &next), next)
            });
            let Some((value, next)) = tried.into_iter().find(|(value, _)| *value > log_posterior) else { break };
            let is_settled = value - log_posterior < 1e-9 * log_posterior.abs();
            (log_posterior, coefficients) = (value, next);
            if is_settled {
                break;
            }
        }
        Regression { coefficients, log_posterior }
    }

    fn log_posterior(&self, rows: &[[f64; N]], labels: &[f64], coefficients: &[f64; N]) -> f64 {
        let of_row = |(row, label): (&[f64; N], &f64)| {
            let x = dot(row, coefficients);
            // log σ(x) = -log(1 + exp(-x)), without overflow.
            let log_sigmoid = |x: f64| -((-x.abs()).exp().ln_1p() + (-x).max(0.0));
            label * log_sigmoid(x) + (1.0 - label) * log_sigmoid(-x)
        };
        let prior = |i: usize| -0.5 * ((coefficients[i] - self.means[i]) / self.deviations[i]).powi(2);
        rows.iter().zip(labels).map(of_row).sum::<f64>() + (0..N).map(prior).sum::<f64>()
    }

    fn newton_step(&self, rows: &[[f64; N]], labels: &[f64], coefficients: &[f64; N]) -> [f64; N] {
        let mut gradient: [f64; N] =
            std::array::from_fn(|i| -(coefficients[i] - self.means[i]) / self.deviations[i].powi(2));
        let mut curvature = Mat::from_fn(N, N, |i, j| if i == j { self.deviations[i].powi(-2) } else { 0.0 });
        for (row, label) in rows.iter().zip(labels) {
            let p = logistic(dot(row, coefficients));
            for i in 0..N {
                gradient[i] += (label - p) * row[i];
                (0..N).for_each(|j| curvature[(i, j)] += p * (1.0 - p) * row[i] * row[j]);
            }
        }
        match Cholesky::new(&curvature, "the curvature of a logistic regression") {
            Ok(curvature) => {
                let step = curvature.solve(&Mat::from_fn(N, 1, |i, _| gradient[i]));
                std::array::from_fn(|i| step[(i, 0)])
            }
            // The prior keeps it positive definite, except where rounding does not.
            Err(_) => [0.0; N],
        }
    }
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

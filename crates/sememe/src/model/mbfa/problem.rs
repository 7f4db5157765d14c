//! Whitened moments: every view has mean zero and unit covariance, so that all numbers have the same scale.

use rayon::prelude::*;

use super::em::Parameters;
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, Mat, add_outer, block, scale_columns, symmetric, times_vector, transpose_times};
use crate::model::shrinkage::Shrunk;
use crate::model::{Emission, FitWarning, Model, Shrinkage, ViewModel};
use crate::moments::{Moments, PatternMoments, spans};

/// The moments of the tuples that have the same views.
#[derive(Clone)]
pub(super) struct Pattern {
    pub(super) views: Vec<usize>,
    /// Offset and dimension of each view.
    pub(super) spans: Vec<(usize, usize)>,
    pub(super) n: f64,
    /// Their share of all tuples.
    pub(super) weight: f64,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Mat,
}

impl Pattern {
    pub(super) fn span_of(&self, view: usize) -> (usize, usize) {
        let place = self.views.iter().position(|&other| other == view).expect("the pattern has the view");
        self.spans[place]
    }
}

/// Moments of one view over all patterns, weighted by their share of the tuples.
pub(super) struct Pooled {
    pub(super) weight: f64,
    sum: Vec<f64>,
    second: Mat,
}

impl Pooled {
    fn new(patterns: &[Pattern], view: usize, dim: usize) -> Self {
        let mut pooled = Pooled { weight: 0.0, sum: vec![0.0; dim], second: Mat::zeros(dim, dim) };
        for pattern in patterns.iter().filter(|pattern| pattern.views.contains(&view)) {
            let span @ (start, len) = pattern.span_of(view);
            let mean = &pattern.mean[start..start + len];
            pooled.weight += pattern.weight;
            pooled.sum.iter_mut().zip(mean).for_each(|(sum, mean)| *sum += pattern.weight * mean);
            pooled.second += scale_columns(&block(&pattern.covariance, span, span), &vec![pattern.weight; dim]);
            add_outer(&mut pooled.second, pattern.weight, mean, mean);
        }
        pooled
    }

    /// `Σ (x - mu)`.
    pub(super) fn sum_about(&self, mu: &[f64]) -> Vec<f64> {
        self.sum.iter().zip(mu).map(|(sum, mu)| sum - self.weight * mu).collect()
    }

    /// `Σ (x - mu)(x - mu)ᵀ`.
    pub(super) fn second_about(&self, mu: &[f64]) -> Mat {
        let mut second = self.second.clone();
        let half: Vec<f64> = self.sum.iter().zip(mu).map(|(sum, mu)| 0.5 * self.weight * mu - sum).collect();
        add_outer(&mut second, 1.0, mu, &half);
        add_outer(&mut second, 1.0, &half, mu);
        second
    }
}

/// Whitened moments, and the way back to the original coordinates.
pub(super) struct Problem {
    pub(super) names: Vec<String>,
    pub(super) dims: Vec<usize>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) pooled: Vec<Pooled>,
    pub(super) tuples: f64,
    /// Added to a negative log-likelihood per tuple in whitened coordinates: `Σ n log |L_i| / Σ n`.
    pub(super) log_determinant: f64,
    pub(super) shrinkage: Vec<f64>,
    /// Both are empty in other coordinates: see [`Problem::rescaled`].
    means: Vec<Vec<f64>>,
    whiteners: Vec<Shrunk>,
}

impl Problem {
    /// Whitens each view by the covariance of all its rows; adds to `warnings`.
    pub(super) fn new(moments: &Moments, shrinkage: Shrinkage, warnings: &mut Vec<FitWarning>) -> Result<Self> {
        let shapes = moments.views();
        let mut means = Vec::new();
        let mut whiteners = Vec::new();
        for (view, shape) in shapes.iter().enumerate() {
            let all = moments.marginal(&[view]).filter(|all| all.n >= 2.0).ok_or_else(|| {
                Error::NotEnoughData(format!("the lexicon has fewer than two words of view {:?}", shape.name))
            })?;
            let shrunk = shrinkage.apply(&all.covariance(), all.n, (&shape.name, shape.outside))?;
            warnings.extend(shrunk.warning(&shape.name));
            warnings.extend(FitWarning::few_tuples(all.n, std::slice::from_ref(shape), &[shrunk.by]));
            means.push(all.mean);
            whiteners.push(shrunk);
        }
        let mut problem = Problem {
            names: shapes.iter().map(|shape| shape.name.clone()).collect(),
            dims: shapes.iter().map(|shape| shape.dim).collect(),
            patterns: Vec::new(),
            pooled: Vec::new(),
            tuples: moments.count(),
            log_determinant: 0.0,
            shrinkage: whiteners.iter().map(|shrunk| shrunk.by).collect(),
            means,
            whiteners,
        };
        let of_pattern = |(views, of_pattern): (&Vec<usize>, &PatternMoments)| -> Result<Pattern> {
            let spans = spans(shapes, views);
            let mut covariance = of_pattern.covariance();
            problem.shrink(&mut covariance, of_pattern.n, views, &spans)?;
            let whiten = |view: usize, rows: &Mat| problem.whiteners[view].factor.solve_lower(rows);
            let covariance = map_both_sides(&covariance, views, &spans, whiten);
            let offset = |(&view, &(start, len)): (&usize, &(usize, usize))| {
                let offset = Mat::from_fn(len, 1, |i, _| of_pattern.mean[start + i] - problem.means[view][i]);
                problem.whiteners[view].factor.solve_lower(&offset).col_as_slice(0).to_vec()
            };
            let mean = views.iter().zip(&spans).flat_map(offset).collect();
            let (n, weight) = (of_pattern.n, of_pattern.n / problem.tuples);
            Ok(Pattern { views: views.clone(), spans, n, weight, mean, covariance })
        };
        let patterns: Vec<Pattern> = moments.patterns().par_iter().map(of_pattern).collect::<Result<_>>()?;
        problem.patterns = patterns;
        for pattern in &problem.patterns {
            let of_view = |&view: &usize| 0.5 * pattern.weight * problem.whiteners[view].factor.log_det();
            problem.log_determinant += pattern.views.iter().map(of_view).sum::<f64>();
        }
        problem.pool();
        Ok(problem)
    }

    fn pool(&mut self) {
        let of_view = |view: usize| Pooled::new(&self.patterns, view, self.dims[view]);
        self.pooled = (0..self.dims.len()).into_par_iter().map(of_view).collect();
    }

    /// The same moments in the coordinates `Rᵀ x`, with a factor `R` for each view. The result cannot be converted to
    /// original coordinates; convert through this problem.
    pub(super) fn rescaled(&self, factors: &[Cholesky]) -> Self {
        let mut rescaled = Problem {
            names: self.names.clone(),
            dims: self.dims.clone(),
            patterns: self.patterns.clone(),
            pooled: Vec::new(),
            tuples: self.tuples,
            log_determinant: self.log_determinant,
            shrinkage: self.shrinkage.clone(),
            means: Vec::new(),
            whiteners: Vec::new(),
        };
        rescaled.patterns.par_iter_mut().for_each(|pattern| {
            let scale = |view: usize, rows: &Mat| transpose_times(factors[view].l(), rows);
            pattern.covariance = map_both_sides(&pattern.covariance, &pattern.views, &pattern.spans, scale);
            for (&view, &(start, len)) in pattern.views.iter().zip(&pattern.spans) {
                let scaled = times_vector(&factors[view].l().transpose(), &pattern.mean[start..start + len]);
                pattern.mean[start..start + len].copy_from_slice(&scaled);
            }
        });
        for pattern in &self.patterns {
            for &view in &pattern.views {
                rescaled.log_determinant -= 0.5 * pattern.weight * factors[view].log_det();
            }
        }
        rescaled.pool();
        rescaled
    }

    /// Shrinks a stacked covariance of `n` tuples by the coefficients of its views.
    fn shrink(&self, covariance: &mut Mat, n: f64, views: &[usize], spans: &[(usize, usize)]) -> Result<()> {
        // A few tuples can have more variance in a direction than the whole view.
        let kept_of = |(&view, &span): (&usize, &(usize, usize))| match n < span.1 as f64 {
            true => self.whiteners[view].kept_of(&block(covariance, span, span)),
            false => Ok(self.whiteners[view].kept),
        };
        let kept_of: Vec<f64> = views.iter().zip(spans).map(kept_of).collect::<Result<_>>()?;
        for (at, (&a, &(row, rows))) in views.iter().zip(spans).enumerate() {
            for (other, &(col, cols)) in spans.iter().enumerate() {
                let kept = if at == other { 1.0 - self.shrinkage[a] } else { kept_of[at] * kept_of[other] };
                for j in col..col + cols {
                    (row..row + rows).for_each(|i| covariance[(i, j)] *= kept);
                }
            }
            let added = self.whiteners[a].by * self.whiteners[a].variance;
            (row..row + rows).for_each(|i| covariance[(i, i)] += added);
        }
        Ok(())
    }

    /// Whether all tuples have all views.
    pub(super) fn is_complete(&self) -> bool {
        matches!(&self.patterns[..], [only] if only.views.len() == self.dims.len())
    }

    /// The parameters of a fitted model in whitened coordinates.
    pub(super) fn parameters_of(&self, model: &Model, latent: usize) -> Result<Parameters> {
        let shapes = |view: &ViewModel| (view.name.clone(), view.dim());
        let theirs: Vec<(String, usize)> = model.views.iter().map(shapes).collect();
        let ours: Vec<(String, usize)> = self.names.iter().cloned().zip(self.dims.iter().copied()).collect();
        if theirs != ours || model.latent() != latent {
            let given = format!("a model of {theirs:?} with {} latent dimensions", model.latent());
            return Err(Error::argument("start", given, format!("it must be of {ours:?} with {latent}")));
        }
        let mut parameters = Parameters { w: Vec::new(), psi: Vec::new(), mu: Vec::new() };
        for (number, view) in model.views.iter().enumerate() {
            let Emission { w, psi } = model.emission(number)?;
            let factor = &self.whiteners[number].factor;
            let half = factor.solve_lower(psi).transpose().to_owned();
            let offset = Mat::from_fn(view.dim(), 1, |i, _| view.mu[i] - self.means[number][i]);
            parameters.w.push(factor.solve_lower(w));
            parameters.psi.push(symmetric(&factor.solve_lower(&half)));
            parameters.mu.push(factor.solve_lower(&offset).col_as_slice(0).to_vec());
        }
        Ok(parameters)
    }

    /// Converts a view's parameters to its original coordinates.
    pub(super) fn unwhiten(&self, parameters: &Parameters, view: usize) -> Result<ViewModel> {
        let Parameters { w, psi, mu } = parameters;
        self.whiteners[view].unwhiten(&self.names[view], &self.means[view], (&w[view], &psi[view], &mu[view]))
    }
}

/// `F A Fᵀ` of a symmetric `A`, for the block-diagonal `F` that `f` multiplies the rows of a view by.
fn map_both_sides(a: &Mat, views: &[usize], spans: &[(usize, usize)], f: impl Fn(usize, &Mat) -> Mat) -> Mat {
    let map_rows = |a: &Mat| {
        let mut mapped = Mat::zeros(a.ncols(), a.nrows());
        for (&view, &(start, len)) in views.iter().zip(spans) {
            let rows = f(view, &a.submatrix(start, 0, len, a.ncols()).to_owned());
            mapped.submatrix_mut(0, start, a.ncols(), len).copy_from(rows.transpose());
        }
        mapped
    };
    symmetric(&map_rows(&map_rows(a)))
}

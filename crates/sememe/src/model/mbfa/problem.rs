//! Moments in coordinates in which every view has mean zero and unit covariance, so that all numbers are of one size.

use super::em::Parameters;
use crate::error::{Error, Result};
use crate::linalg::{Mat, symmetric};
use crate::model::ibfa::few_tuples;
use crate::model::shrinkage::Shrunk;
use crate::model::{Emission, FitWarning, Model, Shrinkage, View};
use crate::moments::{Moments, spans};

/// The tuples that have the same views.
pub(super) struct Pattern {
    pub(super) views: Vec<usize>,
    /// Where each of the views begins, and its dimension.
    pub(super) spans: Vec<(usize, usize)>,
    pub(super) n: f64,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Mat,
}

impl Pattern {
    pub(super) fn span_of(&self, view: usize) -> (usize, usize) {
        let place = self.views.iter().position(|&other| other == view).expect("the pattern has the view");
        self.spans[place]
    }
}

/// Whitened moments, and how to go back.
pub(super) struct Problem {
    pub(super) names: Vec<String>,
    pub(super) dims: Vec<usize>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) tuples: f64,
    pub(super) shrinkage: Vec<f64>,
    means: Vec<Vec<f64>>,
    whiteners: Vec<Shrunk>,
}

impl Problem {
    /// Whitens each view by the covariance of all its rows; `warnings` gets what there is to say.
    pub(super) fn new(moments: &Moments, shrinkage: Shrinkage, warnings: &mut Vec<FitWarning>) -> Result<Self> {
        let shapes = moments.views();
        let mut means = Vec::new();
        let mut whiteners = Vec::new();
        for (view, shape) in shapes.iter().enumerate() {
            let all = moments.marginal(&[view]).filter(|all| all.n >= 2.0).ok_or_else(|| {
                Error::NotEnoughData(format!("the lexicon has fewer than two words of view {:?}", shape.name))
            })?;
            let shrunk = shrinkage.apply(&all.covariance(), all.n, &shape.name)?;
            warnings.extend(shrunk.warning(&shape.name));
            warnings.extend(few_tuples(all.n, std::slice::from_ref(shape), &[shrunk.by]));
            means.push(all.mean);
            whiteners.push(shrunk);
        }
        let mut problem = Problem {
            names: shapes.iter().map(|shape| shape.name.clone()).collect(),
            dims: shapes.iter().map(|shape| shape.dim).collect(),
            patterns: Vec::new(),
            tuples: moments.count(),
            shrinkage: whiteners.iter().map(|shrunk| shrunk.by).collect(),
            means,
            whiteners,
        };
        for (views, of_pattern) in moments.patterns() {
            let spans = spans(shapes, views);
            let mut covariance = of_pattern.covariance();
            problem.shrink(&mut covariance, views, &spans);
            let covariance =
                symmetric(&problem.whiten_rows(&problem.whiten_rows(&covariance, views, &spans), views, &spans));
            let offset = |(&view, &(start, len)): (&usize, &(usize, usize))| {
                let offset = Mat::from_fn(len, 1, |i, _| of_pattern.mean[start + i] - problem.means[view][i]);
                problem.whiteners[view].factor.solve_lower(&offset).col(0).iter().copied().collect::<Vec<f64>>()
            };
            let mean = views.iter().zip(&spans).flat_map(offset).collect();
            problem.patterns.push(Pattern { views: views.clone(), spans, n: of_pattern.n, mean, covariance });
        }
        Ok(problem)
    }

    /// Shrinks a stacked covariance as its views are shrunk.
    fn shrink(&self, covariance: &mut Mat, views: &[usize], spans: &[(usize, usize)]) {
        for (&a, &(row, rows)) in views.iter().zip(spans) {
            for (&b, &(col, cols)) in views.iter().zip(spans) {
                let kept = match a == b {
                    true => 1.0 - self.shrinkage[a],
                    false => self.whiteners[a].kept * self.whiteners[b].kept,
                };
                for j in col..col + cols {
                    (row..row + rows).for_each(|i| covariance[(i, j)] *= kept);
                }
            }
            let added = self.whiteners[a].by * self.whiteners[a].variance;
            (row..row + rows).for_each(|i| covariance[(i, i)] += added);
        }
    }

    /// `(L⁻¹ A)ᵀ` with the block-diagonal factor of the views: applied twice it whitens both sides.
    fn whiten_rows(&self, a: &Mat, views: &[usize], spans: &[(usize, usize)]) -> Mat {
        let mut whitened = Mat::zeros(a.ncols(), a.nrows());
        for (&view, &(start, len)) in views.iter().zip(spans) {
            let rows = self.whiteners[view].factor.solve_lower(&a.submatrix(start, 0, len, a.ncols()).to_owned());
            whitened.submatrix_mut(0, start, a.ncols(), len).copy_from(rows.transpose());
        }
        whitened
    }

    pub(super) fn patterns_with(&self, view: usize) -> Vec<usize> {
        (0..self.patterns.len()).filter(|&pattern| self.patterns[pattern].views.contains(&view)).collect()
    }

    /// All tuples have all views.
    pub(super) fn is_complete(&self) -> bool {
        matches!(&self.patterns[..], [only] if only.views.len() == self.dims.len())
    }

    /// What must be added to a negative log-likelihood in whitened coordinates: `Σ n log |L_i|`.
    pub(super) fn log_determinant(&self) -> f64 {
        let of_pattern = |pattern: &Pattern| {
            let half: f64 = pattern.views.iter().map(|&view| 0.5 * self.whiteners[view].factor.log_det()).sum();
            pattern.n * half
        };
        self.patterns.iter().map(of_pattern).sum()
    }

    /// The parameters of a fitted model in whitened coordinates.
    pub(super) fn parameters_of(&self, model: &Model, latent: usize) -> Result<Parameters> {
        let shapes = |view: &View| (view.name.clone(), view.dim());
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
            parameters.mu.push(factor.solve_lower(&offset).col(0).iter().copied().collect());
        }
        Ok(parameters)
    }

    /// A view in its own coordinates.
    pub(super) fn unwhiten(&self, parameters: &Parameters, view: usize) -> Result<View> {
        let Parameters { w, psi, mu } = parameters;
        self.whiteners[view].unwhiten(&self.names[view], &self.means[view], (&w[view], &psi[view], &mu[view]))
    }
}

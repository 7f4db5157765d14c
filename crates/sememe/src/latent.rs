//! What a fitted model says of the hidden vector: projections, posterior covariances, likelihoods.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::{Cholesky, Mat, block, inner};
use crate::model::{Model, View};
use crate::moments::{Moments, PatternMoments, Shape, spans};
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

impl View {
    /// `E[z|x]` for every row `x`.
    pub fn project(&self, rows: &Matrix) -> Result<Matrix> {
        let dim = self.dim();
        self.check_dimension(rows.cols())?;
        let latent = self.projection.nrows();
        let mut projected = vec![0.0_f32; rows.rows() * latent];
        projected
            .par_chunks_mut(ROWS_AT_A_TIME * latent)
            .zip(rows.as_slice().par_chunks(ROWS_AT_A_TIME * dim))
            .for_each(|(out, rows)| {
                let centred = Mat::from_fn(dim, rows.len() / dim, |i, j| f64::from(rows[j * dim + i]) - self.mu[i]);
                let z = &self.projection * centred;
                for (j, out) in out.chunks_exact_mut(latent).enumerate() {
                    out.iter_mut().enumerate().for_each(|(i, out)| *out = z[(i, j)] as f32);
                }
            });
        Ok(Matrix::new(projected, latent))
    }
}

impl Model {
    /// The covariance of `z` when the vectors of the given views are known:
    /// `(I + Σ W_iᵀ Psi_i⁻¹ W_i)⁻¹`. It does not depend on the vectors.
    pub fn posterior_covariance(&self, views: &[usize]) -> Result<Mat> {
        let noise = self.noise(views)?;
        Ok(Cholesky::new(&self.precision(views, &noise)?, "the posterior precision")?.inverse())
    }

    /// Log-likelihood, in nats, of all tuples that the moments sum up.
    pub fn log_likelihood_of(&self, moments: &Moments) -> Result<f64> {
        let ours = self.shapes();
        if moments.views() != ours {
            return Err(Error::argument(
                "moments",
                format!("{:?}", moments.views()),
                format!("the views must be {ours:?}"),
            ));
        }
        moments.patterns().iter().map(|(pattern, moments)| self.pattern_log_likelihood(pattern, moments)).sum()
    }

    /// The same for one group of tuples, without ever forming the stacked covariance `Sigma = W Wᵀ + Psi`:
    /// `log|Sigma| = Σ log|Psi_i| + log|A|` and `tr Sigma⁻¹ C = Σ tr Psi_i⁻¹ C_ii - tr A⁻¹ (Qᵀ C Q)`
    /// with `Q = Psi⁻¹ W`, `A = I + Wᵀ Q` and `C` the second moment about `mu`.
    pub(crate) fn pattern_log_likelihood(&self, pattern: &[usize], moments: &PatternMoments) -> Result<f64> {
        let at = spans(&self.shapes(), pattern);
        let noise = self.noise(pattern)?;
        let precision = Cholesky::new(&self.precision(pattern, &noise)?, "the posterior precision")?;

        let mu: Vec<f64> = pattern.iter().flat_map(|&view| self.views[view].mu.iter().copied()).collect();
        let offset: Vec<f64> = moments.mean.iter().zip(&mu).map(|(mean, mu)| mean - mu).collect();
        let dim = mu.len();
        let second = Mat::from_fn(dim, dim, |i, j| moments.scatter[(i, j)] / moments.n + offset[i] * offset[j]);

        let mut log_det = precision.log_det();
        let mut trace = 0.0;
        let mut q = Mat::zeros(dim, self.latent());
        for ((&view, &span), noise) in pattern.iter().zip(&at).zip(&noise) {
            log_det += noise.log_det();
            trace += inner(&noise.inverse(), &block(&second, span, span));
            let rows = noise.solve(&self.emission(view)?.w);
            q.submatrix_mut(span.0, 0, span.1, rows.ncols()).copy_from(&rows);
        }
        let explained = q.transpose() * (&second * &q);
        trace -= inner(&precision.inverse(), &explained);
        Ok(-0.5 * moments.n * (dim as f64 * (2.0 * std::f64::consts::PI).ln() + log_det + trace))
    }

    fn shapes(&self) -> Vec<Shape> {
        self.views.iter().map(|view| Shape { name: view.name.clone(), dim: view.dim() }).collect()
    }

    fn noise(&self, views: &[usize]) -> Result<Vec<Cholesky>> {
        let factor = |&view: &usize| {
            Cholesky::new(&self.emission(view)?.psi, &format!("the noise of view {:?}", self.views[view].name))
        };
        views.iter().map(factor).collect()
    }

    /// `A = I + Σ W_iᵀ Psi_i⁻¹ W_i`.
    fn precision(&self, views: &[usize], noise: &[Cholesky]) -> Result<Mat> {
        let mut precision = Mat::identity(self.latent(), self.latent());
        for (&view, noise) in views.iter().zip(noise) {
            let whitened = noise.solve_lower(&self.emission(view)?.w);
            precision += whitened.transpose() * &whitened;
        }
        Ok(precision)
    }
}

//! The densities of a generative model: the vectors of a set `O` of views have `x_O ~ N(mu_O, W_O W_Oᵀ + Psi_O)`.
//!
//! The stacked covariance is never formed. With `Q = Psi⁻¹ W` and `A = I + Wᵀ Q`,
//! `log |Sigma| = Σ log |Psi_i| + log |A|` and `Sigma⁻¹ = Psi⁻¹ - Q A⁻¹ Qᵀ`.

use rayon::prelude::*;

use super::{Emission, Model};
use crate::error::{Error, Result};
use crate::linalg::{
    Cholesky, Mat, add_outer, block, dot, inner, symmetric, times, times_transpose, times_vector, transpose_times,
};
use crate::moments::{Moments, PatternMoments, Shape, spans};
use crate::random::Random;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// The joint density of some views, factored once for many evaluations.
pub struct Density<'a> {
    model: &'a Model,
    views: Vec<usize>,
    emissions: Vec<&'a Emission>,
    noise: Vec<Cholesky>,
    /// `Psi⁻¹ W` of each view.
    pub(crate) q: Vec<Mat>,
    /// `A`, the posterior precision of `z` given the views.
    pub(crate) precision: Cholesky,
}

/// The conditional distribution of one view given another: `y | x ~ N(offset + map x, covariance)`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Conditional {
    /// The regression matrix, dimension of `y` x dimension of `x`.
    pub map: Mat,
    /// The intercept.
    pub offset: Vec<f64>,
    /// The conditional covariance of `y` given `x`.
    pub covariance: Mat,
}

/// The terms of `log p(x, y)` in the paper's equation (3).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Reconstruction {
    /// `-½ |y~ - W_y E[z|x]|²` in the metric of the conditional covariance of `y` given `x`.
    pub of_other: f64,
    /// `-½ |x~ - W_x E[z|x]|²` in the metric `Psi_x Sigma_x⁻¹ Psi_x`.
    pub of_own: f64,
    /// The constant term, which does not depend on the vectors.
    pub constant: f64,
}

impl Reconstruction {
    /// `log p(x, y)`.
    pub fn sum(&self) -> f64 {
        self.of_other + self.of_own + self.constant
    }
}

impl Model {
    /// The joint density of the given views. Methods without a noise model have none.
    ///
    /// ```
    /// # use sememe::{lexicon::Tuples, model::ibfa, moments::Moments, vectors::{Matrix, View}};
    /// # let x = View::new("x", Matrix::new(vec![1.0, 2.0, 3.0, 5.0], 1));
    /// # let y = View::new("y", Matrix::new(vec![2.0, 3.0, 7.0, 9.0], 1));
    /// # let mut tuples = Tuples::new(2);
    /// # (0..4).for_each(|i| assert!(tuples.add(&[Some(i), Some(i)])));
    /// # let moments = Moments::of(&[x, y], &tuples)?;
    /// # let (model, _) = ibfa::fit(&moments, &Default::default())?;
    /// let both = model.density(&[0, 1])?;
    /// assert!(both.log(&[&[2.0], &[3.0]])? > both.log(&[&[2.0], &[9.0]])?);
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn density(&self, views: &[usize]) -> Result<Density<'_>> {
        let (mut emissions, mut factors, mut qs) = (Vec::new(), Vec::new(), Vec::new());
        let mut precision = Mat::identity(self.latent(), self.latent());
        for &view in views {
            let emission = self.emission(view)?;
            let noise = Cholesky::new(&emission.psi, &format!("the noise of view {:?}", self.views[view].name))?;
            let q = noise.solve(&emission.w);
            precision += transpose_times(&emission.w, &q);
            emissions.push(emission);
            factors.push(noise);
            qs.push(q);
        }
        let precision = Cholesky::new(&symmetric(&precision), "the posterior precision")?;
        Ok(Density { model: self, views: views.to_vec(), emissions, noise: factors, q: qs, precision })
    }

    /// The posterior covariance of `z` given the vectors of these views. It does not depend on the vectors.
    pub fn posterior_covariance(&self, views: &[usize]) -> Result<Mat> {
        let nothing = Mat::identity(self.latent(), self.latent());
        let mut precision = nothing.clone();
        for &view in views {
            let (emission, projection) = (self.emission(view)?, &self.views[view].projection);
            if !self.projects_posterior_means(view)? {
                return Ok(self.density(views)?.precision.inverse());
            }
            // The posterior mean `P (x - mu)` leaves `I - P W` open, which takes no factorisation of the noise.
            let open = symmetric(&(&nothing - &times(projection, &emission.w)));
            if views.len() == 1 {
                return Ok(open);
            }
            precision += Cholesky::new(&open, "a posterior covariance")?.inverse() - &nothing;
        }
        Ok(Cholesky::new(&symmetric(&precision), "the posterior precision")?.inverse())
    }

    /// Whether the latent vectors of a view are the posterior means `E[z|x]`. Other exponents or de-whitening change
    /// them.
    pub fn projects_posterior_means(&self, view: usize) -> Result<bool> {
        let Emission { w, psi } = self.emission(view)?;
        // `P` is `Wᵀ Sigma⁻¹`, with the covariance `Sigma = W Wᵀ + Psi` of `x`.
        let projection = &self.views[view].projection;
        let of_covariance = times(projection, psi) + times_transpose(&times(projection, w), w);
        let expected = w.transpose().to_owned();
        Ok((of_covariance - &expected).norm_max() <= 1e-6 * expected.norm_max())
    }

    /// Pointwise mutual information `log p(x, y) / (p(x) p(y))` of a vector of one view and one of another.
    pub fn pmi(&self, (a, x): (usize, &[f32]), (b, y): (usize, &[f32])) -> Result<f64> {
        let joint = self.density(&[a, b])?.log(&[x, y])?;
        Ok(joint - self.density(&[a])?.log(&[x])? - self.density(&[b])?.log(&[y])?)
    }

    /// The conditional distribution of view `to` given view `from`.
    pub fn conditional(&self, from: usize, to: usize) -> Result<Conditional> {
        let (source, emission) = (&self.views[from], self.emission(to)?);
        let known = self.density(&[from])?;
        // E[z|x] = A⁻¹ Qᵀ (x - mu); the projection of the view may be weighted in another way.
        let map = times(&emission.w, &known.precision.solve(&known.q[0].transpose().to_owned()));
        let shift = times_vector(&map, &source.mu);
        let offset = self.views[to].mu.iter().zip(shift).map(|(mu, shift)| mu - shift).collect();
        let spread = times_transpose(&times(&emission.w, &known.precision.inverse()), &emission.w);
        Ok(Conditional { map, offset, covariance: symmetric(&(spread + &emission.psi)) })
    }

    /// The terms of `log p(x, y)`: how well `E[z|x]` reconstructs `y` and `x` itself.
    pub fn reconstruction(&self, (a, x): (usize, &[f32]), (b, y): (usize, &[f32])) -> Result<Reconstruction> {
        self.views[b].check_dimension(y.len())?;
        let conditional = self.conditional(a, b)?;
        let of_x = self.density(&[a])?;
        let x_offset = of_x.offsets(&[x])?.swap_remove(0);
        let open = Cholesky::new(&conditional.covariance, "what one view leaves open of another")?;
        let expected = times_vector(&conditional.map, &x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        let missed: Vec<f64> = (y.iter().zip(&conditional.offset).zip(&expected))
            .map(|((&y, offset), expected)| f64::from(y) - offset - expected)
            .collect();
        let two_pi = |dim: usize| dim as f64 * (2.0 * std::f64::consts::PI).ln();
        Ok(Reconstruction {
            of_other: -0.5 * squared_length(&open, &missed),
            of_own: -0.5 * of_x.squared_distance(&[x_offset]),
            constant: -0.5 * (two_pi(x.len()) + of_x.log_det() + two_pi(y.len()) + open.log_det()),
        })
    }

    /// Samples `n` tuples: first `z`, then every view's vector with its noise. The same seed gives the same numbers.
    pub fn sample(&self, n: usize, seed: u64) -> Result<Vec<Matrix>> {
        let views: Vec<usize> = (0..self.views.len()).collect();
        let density = self.density(&views)?;
        let mut random = Random::new(seed);
        let mut draw = |len: usize| -> Vec<f64> { (0..len).map(|_| random.normal()).collect() };
        let mut drawn: Vec<Vec<f32>> = vec![Vec::new(); views.len()];
        for _ in 0..n {
            let z = draw(self.latent());
            for (view, rows) in drawn.iter_mut().enumerate() {
                let signal = times_vector(&density.emissions[view].w, &z);
                let noise = times_vector(density.noise[view].l(), &draw(signal.len()));
                let mu = &self.views[view].mu;
                rows.extend(mu.iter().zip(signal).zip(noise).map(|((mu, signal), noise)| (mu + signal + noise) as f32));
            }
        }
        Ok(drawn.into_iter().zip(&self.views).map(|(rows, view)| Matrix::new(rows, view.dim())).collect())
    }

    /// Log-likelihood, in nats, of all tuples of the moments, which may be held-out tuples.
    pub fn log_likelihood_of(&self, moments: &Moments) -> Result<f64> {
        let ours = self.shapes();
        // A model of coordinates of a span knows nothing of what is outside.
        let inside = |shape: &Shape| Shape { outside: 0, ..shape.clone() };
        let theirs: Vec<Shape> = moments.views().iter().map(inside).collect();
        if theirs != ours {
            let expected = format!("the views must be {ours:?}");
            return Err(Error::argument("moments", format!("{theirs:?}"), expected));
        }
        moments.patterns().iter().map(|(pattern, moments)| Ok(self.density(pattern)?.log_of_moments(moments))).sum()
    }

    fn shapes(&self) -> Vec<Shape> {
        self.views.iter().map(|view| Shape { name: view.name.clone(), dim: view.dim(), outside: 0 }).collect()
    }
}

impl Density<'_> {
    /// `log p` of one vector per view.
    pub fn log(&self, vectors: &[&[f32]]) -> Result<f64> {
        let offsets = self.offsets(vectors)?;
        Ok(-0.5 * (self.constant() + self.log_det() + self.squared_distance(&offsets)))
    }

    /// `E[z|x_O]`: the posterior mean of the latent vector given all the vectors.
    pub fn posterior_mean(&self, vectors: &[&[f32]]) -> Result<Vec<f64>> {
        let evidence = self.evidence(&self.offsets(vectors)?);
        let mean = self.precision.solve(&Mat::from_fn(evidence.len(), 1, |i, _| evidence[i]));
        Ok((0..evidence.len()).map(|i| mean[(i, 0)]).collect())
    }

    /// `log p` of every tuple; row `i` of every view belongs to tuple `i`.
    pub fn logs(&self, rows: &[&Matrix]) -> Result<Vec<f64>> {
        let constant = self.constant() + self.log_det();
        let squares = |whitened: Mat| -> Vec<f64> {
            (0..whitened.ncols()).map(|column| whitened.col_as_slice(column).iter().map(|x| x * x).sum()).collect()
        };
        self.in_blocks(rows, |centred| {
            let explained = squares(self.precision.solve_lower(&self.evidence_of(centred)));
            let own: Vec<Vec<f64>> =
                self.noise.iter().zip(centred).map(|(noise, centred)| squares(noise.solve_lower(centred))).collect();
            let total = |column: usize| own.iter().map(|own| own[column]).sum::<f64>() - explained[column];
            (0..explained.len()).map(|column| -0.5 * (constant + total(column))).collect()
        })
    }

    /// `E[z|x_O]` of every tuple, as in [`Density::logs`].
    pub fn posterior_means(&self, rows: &[&Matrix]) -> Result<Matrix> {
        let means = self.in_blocks(rows, |centred| {
            Matrix::of_columns(&self.precision.solve(&self.evidence_of(centred))).into_vec()
        })?;
        Ok(Matrix::new(means, self.model.latent()))
    }

    /// Applies `of_block` to `x - mu` of every view, as columns, in blocks of rows.
    fn in_blocks<T: Send>(&self, rows: &[&Matrix], of_block: impl Fn(&[Mat]) -> Vec<T> + Sync) -> Result<Vec<T>> {
        self.check_count(rows.len())?;
        let count = rows.first().map_or(0, |rows| rows.rows());
        for (&view, rows) in self.views.iter().zip(rows) {
            self.model.views[view].check_dimension(rows.cols())?;
            if rows.rows() != count {
                let expected = format!("every view must have as many as the first one, {count}");
                return Err(Error::argument("number of rows", rows.rows(), expected));
            }
        }
        let firsts: Vec<usize> = (0..count).step_by(ROWS_AT_A_TIME).collect();
        let block = |&first: &usize| {
            let last = count.min(first + ROWS_AT_A_TIME);
            let centred = |(&view, rows): (&usize, &&Matrix)| {
                let of_block = &rows.as_slice()[first * rows.cols()..last * rows.cols()];
                self.model.views[view].centred(of_block)
            };
            of_block(&self.views.iter().zip(rows).map(centred).collect::<Vec<_>>())
        };
        Ok(firsts.par_iter().flat_map_iter(block).collect())
    }

    /// `Σ Wᵀ Psi⁻¹ (x - mu)` of columns.
    fn evidence_of(&self, centred: &[Mat]) -> Mat {
        let mut evidence = Mat::zeros(self.model.latent(), centred.first().map_or(0, Mat::ncols));
        self.q.iter().zip(centred).for_each(|(q, centred)| evidence += transpose_times(q, centred));
        evidence
    }

    fn check_count(&self, given: usize) -> Result<()> {
        match given == self.views.len() {
            true => Ok(()),
            false => {
                let expected = format!("one for each of the {} views is needed", self.views.len());
                Err(Error::argument("number of vectors", given, expected))
            }
        }
    }

    /// Log-likelihood of tuples that have exactly these views.
    pub(crate) fn log_of_moments(&self, moments: &PatternMoments) -> f64 {
        let at = spans(&self.model.shapes(), &self.views);
        let mu = self.views.iter().flat_map(|&view| &self.model.views[view].mu);
        let offset: Vec<f64> = moments.mean.iter().zip(mu).map(|(mean, mu)| mean - mu).collect();
        let mut second = moments.covariance();
        add_outer(&mut second, 1.0, &offset, &offset);

        let latent = self.model.latent();
        let mut q = Mat::zeros(offset.len(), latent);
        let mut trace = 0.0;
        for ((noise, rows), &span) in self.noise.iter().zip(&self.q).zip(&at) {
            trace += inner(&noise.inverse(), &block(&second, span, span));
            q.submatrix_mut(span.0, 0, span.1, latent).copy_from(rows);
        }
        let explained = transpose_times(&q, &times(&second, &q));
        trace -= inner(&self.precision.inverse(), &explained);
        -0.5 * moments.n * (self.constant() + self.log_det() + trace)
    }

    fn constant(&self) -> f64 {
        let dim: usize = self.emissions.iter().map(|emission| emission.w.nrows()).sum();
        dim as f64 * (2.0 * std::f64::consts::PI).ln()
    }

    fn log_det(&self) -> f64 {
        self.noise.iter().map(Cholesky::log_det).sum::<f64>() + self.precision.log_det()
    }

    /// `x - mu` of every view; checks the dimensions.
    fn offsets(&self, vectors: &[&[f32]]) -> Result<Vec<Vec<f64>>> {
        self.check_count(vectors.len())?;
        let offset = |(&view, vector): (&usize, &&[f32])| {
            let view = &self.model.views[view];
            view.check_dimension(vector.len())?;
            Ok(vector.iter().zip(&view.mu).map(|(&x, mu)| f64::from(x) - mu).collect())
        };
        self.views.iter().zip(vectors).map(offset).collect()
    }

    /// `Σ Wᵀ Psi⁻¹ (x - mu)`.
    fn evidence(&self, offsets: &[Vec<f64>]) -> Vec<f64> {
        let mut evidence = vec![0.0; self.model.latent()];
        for (q, offset) in self.q.iter().zip(offsets) {
            let of_view = times_vector(&q.transpose().to_owned(), offset);
            evidence.iter_mut().zip(of_view).for_each(|(sum, part)| *sum += part);
        }
        evidence
    }

    /// `(x - mu)ᵀ Sigma⁻¹ (x - mu)`.
    fn squared_distance(&self, offsets: &[Vec<f64>]) -> f64 {
        let own: f64 = self.noise.iter().zip(offsets).map(|(noise, offset)| squared_length(noise, offset)).sum();
        own - squared_length(&self.precision, &self.evidence(offsets))
    }
}

/// `vᵀ A⁻¹ v`.
fn squared_length(a: &Cholesky, v: &[f64]) -> f64 {
    let whitened = a.solve_lower(&Mat::from_fn(v.len(), 1, |i, _| v[i]));
    let whitened: Vec<f64> = (0..v.len()).map(|i| whitened[(i, 0)]).collect();
    dot(&whitened, &whitened)
}

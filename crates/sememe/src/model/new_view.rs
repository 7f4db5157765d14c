//! Fits one more view of a latent vector. The other views stay fixed; they determine `z ~ N(m, M)` in each tuple.
//!
//! `x = W z + mu + e` makes `x | m ~ N(W m + mu, Psi + W M Wᵀ)`. The moments of `[m; x]` are sufficient statistics for
//! EM: with `V = (M⁻¹ + Wᵀ Psi⁻¹ W)⁻¹`, `A = V M⁻¹` and `B = V Wᵀ Psi⁻¹`, the posterior mean of `z` is
//! `A m + B (x - mu)`.

use super::noise::floored;
use super::shrinkage::Shrunk;
use super::{FitOptions, FitWarning, ViewModel};
use crate::error::{Error, Result};
use crate::linalg::{
    Cholesky, Mat, add_outer, block, inner, symmetric, times, times_transpose, times_vector, transpose_times,
};
use crate::moments::{PatternMoments, Shape};
use crate::observe::{Event, Observer};

/// Tuples with the same known views.
pub(crate) struct Group {
    /// `M⁻¹`, the precision of `z` given the known views.
    pub(crate) precision: Mat,
    /// `M`.
    pub(crate) covariance: Mat,
    /// Moments of `m` and `x`, stacked.
    pub(crate) moments: PatternMoments,
}

/// The parameters, in coordinates in which `x` is white.
struct Parameters {
    w: Mat,
    psi: Mat,
    mu: Vec<f64>,
}

/// Sums over all tuples for the regression of `x` on `[z; 1]`.
struct Sums {
    /// Sum of `[z; 1] [z; 1]ᵀ`.
    regressors: Mat,
    /// Sum of `[z; 1] xᵀ`.
    cross: Mat,
    /// Sum of `x xᵀ`.
    second: Mat,
    count: f64,
}

/// A view that was fitted to a space.
pub(crate) struct NewView {
    pub(crate) model: ViewModel,
    pub(crate) shrinkage: f64,
    /// The variance that shrinkage adds in every direction.
    pub(crate) added: f64,
    pub(crate) warnings: Vec<FitWarning>,
}

/// Fits a view of this shape.
pub(crate) fn fit(shape: &Shape, groups: &[Group], options: &FitOptions, observer: &dyn Observer) -> Result<NewView> {
    let Shape { name, dim, outside } = shape;
    let latent = groups[0].precision.nrows();
    if latent < 1 || groups.iter().any(|group| group.moments.mean.len() != latent + dim) {
        return Err(Error::argument("dimension", dim, "the moments are of other vectors"));
    }
    let x = (latent, *dim);
    let mut all = of_x(&groups[0].moments, x);
    groups[1..].iter().for_each(|group| all.merge(&of_x(&group.moments, x)));
    let shrunk = options.shrinkage.apply(&all.covariance(), all.n, (name, *outside))?;
    let mut warnings: Vec<FitWarning> = shrunk.warning(name).into_iter().collect();
    warnings.extend(FitWarning::few_tuples(all.n, std::slice::from_ref(shape), &[shrunk.by]));

    let groups: Vec<Group> = groups.iter().map(|group| group.whitened(x, &all.mean, &shrunk)).collect::<Result<_>>()?;
    let (parameters, evaluations, converged) = maximize(&groups, x, options, observer)?;
    if !converged {
        warnings.push(FitWarning::NotConverged { evaluations });
    }
    let Parameters { w, psi, mu } = &parameters;
    let model = shrunk.unwhiten(name, &all.mean, (w, psi, mu))?;
    Ok(NewView { model, shrinkage: shrunk.by, added: shrunk.by * shrunk.variance, warnings })
}

fn of_x(moments: &PatternMoments, (start, len): (usize, usize)) -> PatternMoments {
    PatternMoments {
        n: moments.n,
        mean: moments.mean[start..start + len].to_vec(),
        scatter: block(&moments.scatter, (start, len), (start, len)),
    }
}

/// The fit has converged after this many small rises in a row: one may be an accident.
const PATIENCE: usize = 3;

/// Decides when the iteration ends, and tells the observer of every accepted point.
struct Convergence<'a> {
    options: &'a FitOptions,
    observer: &'a dyn Observer,
    tuples: f64,
    evaluations: usize,
    /// The last accepted negative log-likelihood.
    value: f64,
    small_rises: usize,
}

impl Convergence<'_> {
    /// Accepts a point with this value. True when it is the last.
    fn ends_at(&mut self, value: f64) -> bool {
        self.evaluations += 1;
        let is_small = self.value - value < self.options.mbfa.tolerance * value.abs().max(1.0);
        self.small_rises = if is_small { self.small_rises + 1 } else { 0 };
        self.value = value;
        let (evaluations, most) = (self.evaluations, self.options.mbfa.evaluations);
        let event = Event::Step { evaluations, most, negative_log_likelihood: value / self.tuples };
        let is_stopped = self.observer.observe(event).is_break() || evaluations >= most;
        is_stopped || self.has_converged()
    }

    fn has_converged(&self) -> bool {
        self.small_rises >= PATIENCE
    }
}

/// EM from the regression of `x` on `m`, accelerated by squared extrapolation (SQUAREM, Varadhan & Roland 2008), until
/// the likelihood converges. An extrapolated point that is less likely than the EM step before it is rejected. Returns
/// the parameters, the number of evaluations, and whether the fit converged.
fn maximize(
    groups: &[Group],
    (latent, dim): (usize, usize),
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<(Parameters, usize, bool)> {
    let mut sums = Sums::new(latent, dim);
    for group in groups {
        let t = Mat::from_fn(latent, latent + dim, |i, j| f64::from(u8::from(i == j)));
        sums.add(group, &vec![0.0; dim], &t, &group.covariance);
    }
    let tuples = groups.iter().map(|group| group.moments.n).sum();
    let mut convergence =
        Convergence { options, observer, tuples, evaluations: 0, value: f64::INFINITY, small_rises: 0 };
    let mut now = sums.regress(&vec![0.0; dim])?;
    let last = loop {
        let (first, value) = step(groups, &now)?;
        if convergence.ends_at(value) {
            break now;
        }
        let (second, value) = step(groups, &first)?;
        if convergence.ends_at(value) {
            break first;
        }
        let extrapolated = Parameters::extrapolated(&now, &first, &second)?;
        now = match step(groups, &extrapolated) {
            Ok((next, value)) if value <= convergence.value => {
                if convergence.ends_at(value) {
                    break extrapolated;
                }
                next
            }
            _ => {
                convergence.evaluations += 1;
                second
            }
        };
    };
    Ok((last, convergence.evaluations, convergence.has_converged()))
}

impl Parameters {
    /// `θ₀ - 2 a r + a² v` with `r = θ₁ - θ₀`, `v = θ₂ - 2 θ₁ + θ₀` and `a = -|r| / |v|`, at least as far as `θ₂`.
    fn extrapolated(zero: &Self, one: &Self, two: &Self) -> Result<Self> {
        let mut squares = [0.0; 2];
        for ((a, b), c) in zero.numbers().zip(one.numbers()).zip(two.numbers()) {
            squares[0] += (b - a).powi(2);
            squares[1] += (c - 2.0 * b + a).powi(2);
        }
        let [r, v] = squares.map(f64::sqrt);
        let length = if v > 0.0 { (r / v).max(1.0) } else { 1.0 };
        let at = |a: f64, b: f64, c: f64| a + 2.0 * length * (b - a) + length * length * (c - 2.0 * b + a);
        let mix =
            |x: &Mat, y: &Mat, z: &Mat| Mat::from_fn(x.nrows(), x.ncols(), |i, j| at(x[(i, j)], y[(i, j)], z[(i, j)]));
        Ok(Parameters {
            w: mix(&zero.w, &one.w, &two.w),
            psi: floored(symmetric(&mix(&zero.psi, &one.psi, &two.psi)))?,
            mu: (0..zero.mu.len()).map(|i| at(zero.mu[i], one.mu[i], two.mu[i])).collect(),
        })
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        let of =
            |matrix: &Mat| -> Vec<f64> { (0..matrix.ncols()).flat_map(|j| matrix.col_as_slice(j)).copied().collect() };
        of(&self.w).into_iter().chain(of(&self.psi)).chain(self.mu.clone())
    }
}

/// One EM step: the next parameters, and the negative log-likelihood of `x` given `m` at the present ones.
fn step(groups: &[Group], now: &Parameters) -> Result<(Parameters, f64)> {
    let (dim, latent) = (now.w.nrows(), now.w.ncols());
    let noise = Cholesky::unchecked(&now.psi, "the noise of the new view")?;
    let q = noise.solve(&now.w);
    let information = symmetric(&transpose_times(&now.w, &q));
    let mut sums = Sums::new(latent, dim);
    let mut value = 0.0;
    for group in groups {
        let posterior = Cholesky::unchecked(&symmetric(&(&group.precision + &information)), "a posterior precision")?;
        let v = posterior.inverse();
        let mut t = Mat::zeros(latent, latent + dim);
        t.submatrix_mut(0, 0, latent, latent).copy_from(times(&v, &group.precision));
        t.submatrix_mut(0, latent, latent, dim).copy_from(times_transpose(&v, &q));
        let second = sums.add(group, &now.mu, &t, &v);

        // The residual x - W m has the second moment R = [-W I] C [-W I]ᵀ.
        let residual = Mat::from_fn(dim, latent + dim, |i, j| {
            if j < latent { -now.w[(i, j)] } else { f64::from(u8::from(j - latent == i)) }
        });
        let r = times_transpose(&times(&residual, &second), &residual);
        let r_q = times(&r, &q);
        let trace = inner(&noise.inverse(), &r) - inner(&v, &transpose_times(&q, &r_q));
        let before = Cholesky::unchecked(&group.precision, "a precision")?.log_det();
        let log_det = noise.log_det() + posterior.log_det() - before;
        let constant = dim as f64 * (2.0 * std::f64::consts::PI).ln();
        value += 0.5 * group.moments.n * (constant + log_det + trace);
    }
    Ok((sums.regress(&now.mu)?, value))
}

impl Group {
    /// Centres and whitens `x`. Its covariance is shrunk like the whole view's, and its covariance with `m` as far as
    /// that requires.
    fn whitened(&self, (start, dim): (usize, usize), mean: &[f64], shrunk: &Shrunk) -> Result<Group> {
        let n = self.moments.n;
        let own = (start, dim);
        let mut of_x = block(&self.moments.scatter, own, own);
        // A few tuples can have more variance in a direction than the whole view.
        let kept = match n < dim as f64 {
            true => shrunk.kept_of(&Mat::from_fn(dim, dim, |i, j| of_x[(i, j)] / n))?,
            false => shrunk.kept,
        };
        for j in 0..dim {
            (0..dim).for_each(|i| of_x[(i, j)] *= 1.0 - shrunk.by);
            of_x[(j, j)] += n * shrunk.by * shrunk.variance;
        }
        let half = shrunk.factor.solve_lower(&of_x).transpose().to_owned();
        let white = symmetric(&shrunk.factor.solve_lower(&half));
        let cross = block(&self.moments.scatter, own, (0, start));
        let cross = shrunk.factor.solve_lower(&Mat::from_fn(dim, start, |i, j| kept * cross[(i, j)]));
        let offset = Mat::from_fn(dim, 1, |i, _| self.moments.mean[start + i] - mean[i]);
        let offset = shrunk.factor.solve_lower(&offset);
        let scatter = Mat::from_fn(start + dim, start + dim, |i, j| match (i < start, j < start) {
            (true, true) => self.moments.scatter[(i, j)],
            (false, true) => cross[(i - start, j)],
            (true, false) => cross[(j - start, i)],
            (false, false) => white[(i - start, j - start)],
        });
        let stacked =
            self.moments.mean[..start].iter().copied().chain(offset.col_as_slice(0).iter().copied()).collect();
        let moments = PatternMoments { n, mean: stacked, scatter };
        Ok(Group { precision: self.precision.clone(), covariance: self.covariance.clone(), moments })
    }

    /// The mean of `[m; x - mu]`.
    fn offset(&self, mu: &[f64]) -> Vec<f64> {
        let latent = self.precision.nrows();
        let mean = self.moments.mean.iter().enumerate();
        mean.map(|(i, mean)| if i < latent { *mean } else { mean - mu[i - latent] }).collect()
    }
}

impl Sums {
    fn new(latent: usize, dim: usize) -> Self {
        Sums {
            regressors: Mat::zeros(latent + 1, latent + 1),
            cross: Mat::zeros(latent + 1, dim),
            second: Mat::zeros(dim, dim),
            count: 0.0,
        }
    }

    /// Adds tuples in which `z` has the mean `t [m; x - mu]` and the covariance `v`.
    /// Returns the second moment of `[m; x - mu]`.
    fn add(&mut self, group: &Group, mu: &[f64], t: &Mat, v: &Mat) -> Mat {
        let offset = group.offset(mu);
        let mut second = group.moments.covariance();
        add_outer(&mut second, 1.0, &offset, &offset);
        let (latent, dim) = (v.nrows(), self.second.nrows());
        let n = group.moments.n;
        let z_all = times(t, &second);
        let z_z = v + times_transpose(&z_all, t);
        let z = times_vector(t, &offset);
        for j in 0..latent {
            (0..latent).for_each(|i| self.regressors[(i, j)] += n * z_z[(i, j)]);
            self.regressors[(latent, j)] += n * z[j];
            self.regressors[(j, latent)] += n * z[j];
        }
        self.regressors[(latent, latent)] += n;
        for j in 0..dim {
            (0..latent).for_each(|i| self.cross[(i, j)] += n * z_all[(i, latent + j)]);
            self.cross[(latent, j)] += n * offset[latent + j];
            (0..dim).for_each(|i| self.second[(i, j)] += n * second[(latent + i, latent + j)]);
        }
        self.count += n;
        second
    }

    /// Regression: `W`, the change of `mu`, and the residual covariance as noise.
    fn regress(&self, mu: &[f64]) -> Result<Parameters> {
        let (latent, dim) = (self.regressors.nrows() - 1, self.second.nrows());
        let factor = Cholesky::unchecked(&symmetric(&self.regressors), "the second moment of the latent vectors")?;
        let coefficients = factor.solve(&self.cross);
        let explained = transpose_times(&coefficients, &self.cross);
        let psi = symmetric(&Mat::from_fn(dim, dim, |i, j| (self.second[(i, j)] - explained[(i, j)]) / self.count));
        Ok(Parameters {
            w: Mat::from_fn(dim, latent, |i, j| coefficients[(j, i)]),
            psi: floored(psi)?,
            mu: (0..dim).map(|i| mu[i] + coefficients[(latent, i)]).collect(),
        })
    }
}

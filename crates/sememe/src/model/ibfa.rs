//! Inter-battery factor analysis: the maximum-likelihood model of two views in closed form (Browne 1979).
//!
//! Whiten each view with a Cholesky factor, `S_ii = L_i L_iᵀ`, and decompose the whitened cross-covariance,
//! `L_x⁻¹ S_xy L_y⁻ᵀ = V_x P V_yᵀ`. With `U_i = L_i⁻ᵀ V_i`:
//!
//! `W_i = S_ii U_i P^½`,  `Psi_i = S_ii - W_i W_iᵀ`,  `E[z|x_i] = P^½ U_iᵀ (x_i - mu_i)`.
//!
//! With few pairs the covariances are [shrunk](Shrinkage) first.

use super::shrinkage::Shrunk;
use super::{FitWarning, Method, Model, Shrinkage, View};
use crate::error::{Error, Result};
use crate::linalg::{Mat, Svd, block};
use crate::moments::{Moments, spans};

/// Correlations are kept below 1, where the noise of a direction would vanish and its density with it.
const LARGEST_RHO: f64 = 1.0 - 1e-6;

/// How to fit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Length of the hidden vector; by default the smaller dimension of the two views.
    pub latent: Option<usize>,
    /// How the views' covariances are shrunk.
    pub shrinkage: Shrinkage,
}

/// Fits the model to the tuples that have both views.
///
/// ```
/// use sememe::{lexicon::Tuples, model::ibfa, moments::Moments, vectors::{Embeddings, Matrix}};
///
/// let words = || ["a", "b", "c", "d"].into_iter().collect();
/// let x = Embeddings::new(words(), Matrix::new(vec![1.0, 2.0, 3.0, 5.0], 1));
/// let y = Embeddings::new(words(), Matrix::new(vec![2.0, 3.0, 7.0, 9.0], 1));
/// let mut tuples = Tuples::new(2);
/// for i in 0..4 {
///     tuples.add(&[Some(i), Some(i)]);
/// }
/// let moments = Moments::of(&[("x", &x), ("y", &y)], &tuples);
/// let options = ibfa::Options { shrinkage: sememe::model::Shrinkage::None, ..Default::default() };
/// let (model, _warnings) = ibfa::fit(&moments, &options)?;
/// assert!((model.rho[0] - 0.959_939_1).abs() < 1e-6); // Pearson's correlation of the two columns
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn fit(moments: &Moments, options: &Options) -> Result<(Model, Vec<FitWarning>)> {
    let [x, y] = moments.views() else {
        let given = moments.views().len();
        return Err(Error::argument("number of views", given, "this method takes exactly two"));
    };
    let pattern = [0, 1];
    let pairs = moments.patterns().get(&pattern[..]).filter(|pairs| pairs.n >= 2.0).ok_or_else(|| {
        Error::NotEnoughData(format!("the lexicon gives fewer than two pairs between {:?} and {:?}", x.name, y.name))
    })?;
    let largest = x.dim.min(y.dim);
    let latent = options.latent.unwrap_or(largest);
    if latent == 0 || latent > largest {
        let expected = format!("it must be from 1 to {largest}, the smallest dimension of a view");
        return Err(Error::argument("latent", latent, expected));
    }

    let mut warnings = Vec::new();
    let unused = moments.count() - pairs.n;
    if unused > 0.0 {
        warnings.push(FitWarning::UnusedTuples { count: unused });
    }
    let widest = x.dim.max(y.dim);

    let covariance = pairs.covariance();
    let at = spans(moments.views(), &pattern);
    let mut shrunk = Vec::new();
    for (view, &span) in moments.views().iter().zip(&at) {
        let of_view = options.shrinkage.apply(&block(&covariance, span, span), pairs.n, &view.name)?;
        warnings.extend(of_view.warning(&view.name));
        shrunk.push(of_view);
    }
    if pairs.n <= widest as f64 {
        let by = shrunk.iter().map(|shrunk| shrunk.by).fold(0.0, f64::max);
        warnings.push(FitWarning::FewTuples { tuples: pairs.n, dim: widest, by });
    }

    // A common factor does not turn the latent space, but without it correlations could exceed 1.
    let kept = shrunk[0].kept * shrunk[1].kept;
    let cross = Mat::from_fn(x.dim, y.dim, |i, j| kept * covariance[(i, at[1].0 + j)]);
    let half = shrunk[0].factor.solve_lower(&cross);
    let whitened = shrunk[1].factor.solve_lower(&half.transpose().to_owned()).transpose().to_owned();
    let mut svd = Svd::new(&whitened, "the whitened cross-covariance")?;
    fix_signs(&mut svd);

    let capped = svd.s.iter().filter(|&&rho| rho > LARGEST_RHO).count();
    if capped > 0 {
        warnings.push(FitWarning::CappedCorrelations { count: capped });
    }
    let rho: Vec<f64> = svd.s.iter().take(latent).map(|rho| rho.clamp(0.0, LARGEST_RHO)).collect();

    let views =
        moments.views().iter().zip(&at).zip(&shrunk).zip([&svd.u, &svd.v]).map(|(((shape, span), shrunk), v)| {
            let (w, psi, projection) = parameters(shrunk, v, &rho);
            View { name: shape.name.clone(), mu: pairs.mean[span.0..span.0 + span.1].to_vec(), w, psi, projection }
        });
    let mut model = Model {
        method: Method::Ibfa,
        views: views.collect(),
        tuples: pairs.n,
        log_likelihood: 0.0,
        rho,
        shrinkage: shrunk.iter().map(|shrunk| shrunk.by).collect(),
    };
    model.log_likelihood = model.pattern_log_likelihood(&pattern, pairs)?;
    Ok((model, warnings))
}

/// `W = L V P^½`, `Psi = S - W Wᵀ` and the projection `P^½ Vᵀ L⁻¹`.
fn parameters(shrunk: &Shrunk, v: &Mat, rho: &[f64]) -> (Mat, Mat, Mat) {
    let scaled = Mat::from_fn(v.nrows(), rho.len(), |i, j| v[(i, j)] * rho[j].sqrt());
    let w = shrunk.factor.l() * &scaled;
    let psi = &shrunk.covariance - &w * w.transpose();
    let projection = shrunk.factor.solve_upper(&scaled).transpose().to_owned();
    (w, psi, projection)
}

/// Singular vectors are determined up to their sign: let the largest entry of each left one be positive.
fn fix_signs(svd: &mut Svd) {
    for j in 0..svd.s.len() {
        let largest =
            (0..svd.u.nrows()).map(|i| svd.u[(i, j)]).fold(0.0_f64, |a, b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            (0..svd.u.nrows()).for_each(|i| svd.u[(i, j)] = -svd.u[(i, j)]);
            (0..svd.v.nrows()).for_each(|i| svd.v[(i, j)] = -svd.v[(i, j)]);
        }
    }
}

//! Direct methods: every view is mapped linearly into the space of one of them, the pivot, without a noise model.

use super::ibfa::two_views;
use super::{FitOptions, FitWarning, LatentSize, Method, Model, Shrinkage, ViewModel};
use crate::error::{Error, Result};
use crate::linalg::{
    Eigen, Mat, Svd, block, isometry, low_rank_factor, times, times_transpose, trace, transpose_times,
};
use crate::moments::Moments;

/// Orthogonal Procrustes: the rotation `Q` that maximises `tr Q Σ x yᵀ`, from the singular vectors of `Σ y xᵀ`.
/// Vectors are not centred. Between unequal dimensions `Q` is semi-orthogonal.
pub(super) fn fit_svd(moments: &Moments, options: &FitOptions, method: Method) -> Result<(Model, Vec<FitWarning>)> {
    map_to_pivot(moments, options, method, |second, source, pivot, _| Ok((rotation(second, source, pivot)?, 0.0, None)))
}

/// The rotation of the source onto the pivot. Few pairs say nothing of most dimensions, which any rotation takes to each other.
fn rotation(second: &Mat, source: Span, pivot: Span) -> Result<Mat> {
    const WHAT: &str = "the cross-product of the pairs";
    if let Some(factor) = low_rank_factor(second) {
        // The cross-product is `P Sᵀ` of the rows `P` and `S` of the factor, and it is decomposed in bases of their columns.
        let rows = [source, pivot].map(|span| block(&factor, span, (0, factor.ncols())));
        let bases = [Eigen::of_product(&rows[0], WHAT)?.vectors, Eigen::of_product(&rows[1], WHAT)?.vectors];
        // Rows that are all zero have none.
        if bases.iter().all(|basis| basis.ncols() > 0) {
            let [source, pivot] = [0, 1].map(|side| transpose_times(&bases[side], &rows[side]));
            let svd = Svd::new(&times_transpose(&pivot, &source), WHAT)?;
            return Ok(isometry(&times(&bases[0], &svd.v), &times(&bases[1], &svd.u)));
        }
    }
    let svd = Svd::new(&block(second, pivot, source), WHAT)?;
    Ok(times_transpose(&svd.u, &svd.v))
}

/// Least squares: `A = (Σ y xᵀ)(Σ x xᵀ + ridge)⁻¹`, not centred.
pub(super) fn fit_least_squares(moments: &Moments, options: &FitOptions) -> Result<(Model, Vec<FitWarning>)> {
    if !(options.ridge >= 0.0 && options.ridge.is_finite()) {
        return Err(Error::argument("ridge", options.ridge, "it must be zero or a positive number"));
    }
    map_to_pivot(moments, options, Method::LeastSquares, |second, source, pivot, (name, n)| {
        let mut of_source = block(second, source, source);
        let ridge = options.ridge * trace(&of_source) / source.1 as f64;
        (0..source.1).for_each(|i| of_source[(i, i)] += ridge);
        // The second moment includes the mean, so shrinking towards a sphere would shrink the mean away.
        let shrinkage = match options.shrinkage {
            Shrinkage::Auto => Shrinkage::None,
            chosen => chosen,
        };
        let shrunk = shrinkage.apply(&of_source, n, (name, 0))?;
        let map = shrunk.factor.solve(&block(second, source, pivot)).transpose().to_owned();
        Ok((map, shrunk.by, shrunk.warning(name)))
    })
}

type Span = (usize, usize);

/// Maps every view to the pivot by the pairs of the two. `fit` gets their stacked second moment, the spans of source
/// and pivot in it, and the name and number of pairs of the source. It returns the map, the shrinkage and a warning.
fn map_to_pivot(
    moments: &Moments,
    options: &FitOptions,
    method: Method,
    fit: impl Fn(&Mat, Span, Span, (&str, f64)) -> Result<(Mat, f64, Option<FitWarning>)>,
) -> Result<(Model, Vec<FitWarning>)> {
    if options.latent != LatentSize::Largest {
        let expected = format!("{method} maps to the pivot as it is and has no latent size");
        return Err(Error::argument("latent", options.latent, expected));
    }
    let shapes = moments.views();
    let names: Vec<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
    let pivot = options.pivot_of(&names);
    let mut warnings = if shapes.len() == 2 { two_views(moments)?.2 } else { Vec::new() };
    let mut views = Vec::new();
    let mut shrinkage = Vec::new();
    for (view, shape) in shapes.iter().enumerate() {
        let projection = if view == pivot {
            shrinkage.push(0.0);
            Mat::identity(shape.dim, shape.dim)
        } else {
            let pair = [view.min(pivot), view.max(pivot)];
            let pairs = moments.marginal(&pair).ok_or_else(|| {
                let (name, pivot) = (&shape.name, &shapes[pivot].name);
                Error::NotEnoughData(format!("no lexicon connects view {name:?} with the pivot {pivot:?}"))
            })?;
            let (low, high) = ((0, shapes[pair[0]].dim), (shapes[pair[0]].dim, shapes[pair[1]].dim));
            let (source, target) = if view < pivot { (low, high) } else { (high, low) };
            let (map, by, warning) = fit(&pairs.second_moment(), source, target, (&shape.name, pairs.n))?;
            warnings.extend(warning);
            warnings.extend(FitWarning::few_tuples(pairs.n, std::slice::from_ref(shape), &[by]));
            shrinkage.push(by);
            map
        };
        views.push(ViewModel { name: shape.name.clone(), mu: vec![0.0; shape.dim], projection, emission: None });
    }
    let model = Model {
        method,
        views,
        tuples: moments.count(),
        log_likelihood: None,
        rho: Vec::new(),
        shrinkage,
        trace: None,
        finishes: Vec::new(),
        spelling: None,
    };
    Ok((model, warnings))
}

impl FitOptions {
    /// The index of the pivot: the named view, by default the second of two or the first of more.
    pub(crate) fn pivot_of(&self, views: &[&str]) -> usize {
        let named = self.pivot.as_ref().and_then(|name| views.iter().position(|view| view == name));
        named.unwrap_or(usize::from(views.len() == 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The second moment of pairs of normally distributed rows.
    fn second_moment(pairs: usize, dims: [usize; 2]) -> Mat {
        let mut random = Random::new(3);
        let rows = Mat::from_fn(dims[0] + dims[1], pairs, |_, _| random.normal());
        times_transpose(&rows, &rows)
    }

    #[test]
    fn rows_without_a_direction_have_some_rotation() {
        let mut second = second_moment(6, [30, 30]);
        for (i, j) in (0..60).flat_map(|i| (30..60).map(move |j| (i, j))) {
            (second[(i, j)], second[(j, i)]) = (0.0, 0.0);
        }
        for second in [second, Mat::zeros(60, 60)] {
            let found = rotation(&second, (0, 30), (30, 30)).unwrap();
            assert!((transpose_times(&found, &found) - Mat::identity(30, 30)).norm_max() < 1e-9);
        }
    }

    #[test]
    fn rotations_of_few_pairs_are_as_good_as_those_of_all_dimensions() {
        for dims in [[40, 30], [30, 40], [30, 30]] {
            let second = second_moment(6, dims);
            assert!(low_rank_factor(&second).is_some());
            let (source, pivot) = ((0, dims[0]), (dims[0], dims[1]));
            let found = rotation(&second, source, pivot).unwrap();
            let gram =
                if dims[0] < dims[1] { transpose_times(&found, &found) } else { times_transpose(&found, &found) };
            let least = dims[0].min(dims[1]);
            assert!((gram - Mat::identity(least, least)).norm_max() < 1e-9);
            // The maximum of `tr Q Σ x yᵀ` is the sum of the singular values.
            let best: f64 = Svd::new(&block(&second, pivot, source), "a cross-product").unwrap().s.iter().sum();
            let reached = trace(&times(&found, &block(&second, source, pivot)));
            assert!((best - reached).abs() < 1e-9 * best, "{reached} of {best}");
        }
    }
}

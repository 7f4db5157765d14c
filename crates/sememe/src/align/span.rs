//! Fits in the span of the tuples' rows, where tuples are fewer than dimensions.
//!
//! The covariance of `n` rows of `d > n` dimensions is zero outside their span, and so are cross-covariances. Shrinkage
//! adds the same variance in all directions. Hence the canonical directions lie in the span, and outside of it there is
//! only noise of that variance. The fit takes place in orthonormal coordinates `Bᵀ (x - m)` of the span, and its
//! parameters are mapped back: `W = B W'`, `Psi = B Psi' Bᵀ + a v (I - B Bᵀ)` for shrinkage `a` of the mean variance `v`.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use super::AlignOptions;
use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::{Eigen, Mat, symmetric, times, times_transpose, times_vector, trace, transpose_times};
use crate::model::mbfa::Start;
use crate::model::{Emission, LatentSize, Method, Model, Shrinkage, ViewModel};
use crate::moments::{Moments, PatternMoments};
use crate::prepare::column_means;
use crate::vectors::{Matrix, ROWS_AT_A_TIME, View};

/// The spans of the views' rows.
pub(super) struct Spans(Vec<Option<Span>>);

/// Whether covariances are shrunk, so that directions outside of the span have the variance that this adds.
pub(super) fn is_shrunk(shrinkage: Shrinkage) -> bool {
    !matches!(shrinkage, Shrinkage::None | Shrinkage::By(0.0))
}

/// The span of a view's rows in the tuples.
pub(super) struct Span {
    mean: Vec<f64>,
    /// An orthonormal basis, as columns.
    basis: Mat,
}

impl Spans {
    /// The spans, if a fit in them is the same as one in all dimensions and takes less time.
    pub(super) fn of(views: &[View], tuples: &Tuples, options: &AlignOptions) -> Result<Option<Self>> {
        let fit = &options.fit;
        let method = fit.method_for(views.len());
        let is_alike = matches!(method, Method::Ibfa | Method::Cca)
            || method == Method::Mbfa && matches!(fit.mbfa.start, Start::Informed);
        let is_alike = is_alike
            && is_shrunk(fit.shrinkage)
            && !fit.dewhiten
            && options.resume.is_none()
            && options.evidence.monolingual.is_none();
        if !is_alike || views.iter().all(|view| view.dim() <= tuples.len()) {
            return Ok(None);
        }
        let mut found = Vec::new();
        for (place, view) in views.iter().enumerate() {
            found.push(Span::of_view(view, tuples.rows_of(place))?);
        }
        let largest = found.iter().flatten().map(|span| span.basis.ncols()).min().unwrap_or(0);
        let is_enough = largest > 0 && !matches!(fit.latent, LatentSize::Of(latent) if latent > largest);
        Ok(is_enough.then_some(Spans(found)))
    }

    /// The views in coordinates of their spans.
    pub(super) fn coordinates(&self, views: &[View]) -> Result<Vec<View>> {
        let of_view = |(view, span): (&View, &Option<Span>)| match span {
            Some(span) => span.coordinates_of(view),
            None => Ok(view.clone()),
        };
        views.iter().zip(&self.0).map(of_view).collect()
    }

    /// The number of dimensions of each view outside its span.
    pub(super) fn outside(&self) -> Vec<usize> {
        self.0.iter().map(|span| span.as_ref().map_or(0, Span::outside)).collect()
    }

    /// A model of all dimensions from one that was fitted to `moments` in the spans.
    pub(super) fn lifted(&self, mut model: Model, moments: &Moments) -> Model {
        for (view, span) in self.0.iter().enumerate() {
            let (Some(span), Some(rows)) = (span, moments.marginal(&[view])) else { continue };
            let noise = span.noise(&rows, model.shrinkage[view]);
            let lifted = span.lifted(&model.views[view], noise);
            model.views[view] = lifted;
            if let Some(total) = &mut model.log_likelihood {
                *total -= 0.5 * rows.n * span.outside() as f64 * (TAU * noise).ln();
            }
        }
        model
    }
}

impl Span {
    /// The span of these rows of a view, where they are fewer than its dimensions.
    pub(super) fn of_view(view: &View, rows: impl Iterator<Item = usize>) -> Result<Option<Self>> {
        let rows: BTreeSet<usize> = rows.collect();
        let is_short = rows.len() > 1 && rows.len() < view.dim();
        let span = is_short.then(|| Span::of(&view.rows().select(&rows.into_iter().collect::<Vec<_>>())));
        span.transpose()
    }

    fn of(rows: &Matrix) -> Result<Self> {
        let mean = column_means(rows);
        let centred = Mat::from_fn(rows.cols(), rows.rows(), |i, row| f64::from(rows.row(row)[i]) - mean[i]);
        Ok(Span { mean, basis: Eigen::of_product(&centred, "the inner products of rows")?.vectors })
    }

    /// The number of dimensions outside of the span.
    pub(super) fn outside(&self) -> usize {
        self.basis.nrows() - self.basis.ncols()
    }

    /// The variance outside of the span, of a fit to `rows` inside.
    pub(super) fn noise(&self, rows: &PatternMoments, shrinkage: f64) -> f64 {
        shrinkage * trace(&rows.covariance()) / self.mean.len() as f64
    }

    /// The view in coordinates of the span.
    pub(super) fn coordinates_of(&self, view: &View) -> Result<View> {
        view.clone().map_rows(|rows| Ok(self.coordinates(&rows)))
    }

    fn coordinates(&self, rows: &Matrix) -> Matrix {
        let mut coordinates = Vec::with_capacity(rows.rows() * self.basis.ncols());
        for block in rows.as_slice().chunks(ROWS_AT_A_TIME * rows.cols()) {
            let count = block.len() / rows.cols();
            let centred =
                Mat::from_fn(rows.cols(), count, |i, row| f64::from(block[row * rows.cols() + i]) - self.mean[i]);
            coordinates.extend(transpose_times(&self.basis, &centred).col_iter().flatten().map(|&x| x as f32));
        }
        Matrix::new(coordinates, self.basis.ncols())
    }

    /// A view of all dimensions from one that was fitted inside, with the noise outside.
    pub(super) fn lifted(&self, view: &ViewModel, noise: f64) -> ViewModel {
        let mu = times_vector(&self.basis, &view.mu);
        let emission = view.emission.as_ref().map(|Emission { w, psi }| {
            let dim = self.basis.nrows();
            // B (Psi' - noise I) Bᵀ + noise I.
            let inside = Mat::from_fn(psi.nrows(), psi.ncols(), |i, j| psi[(i, j)] - if i == j { noise } else { 0.0 });
            let mut lifted = symmetric(&times_transpose(&times(&self.basis, &inside), &self.basis));
            (0..dim).for_each(|i| lifted[(i, i)] += noise);
            Emission { w: times(&self.basis, w), psi: lifted }
        });
        ViewModel {
            name: view.name.clone(),
            mu: mu.iter().zip(&self.mean).map(|(shift, mean)| mean + shift).collect(),
            projection: times_transpose(&view.projection, &self.basis),
            emission,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::{AlignOptions, fit};
    use crate::model::{self, FitOptions};
    use crate::random::Random;

    const ROWS: usize = 25;

    /// Views with noise, and tuples that have views 0 to 1 and every other time the next one.
    fn views_and_tuples(dims: &[usize]) -> (Vec<View>, Tuples) {
        let mut random = Random::new(6);
        let hidden: Vec<f32> = (0..ROWS * 3).map(|_| random.normal() as f32).collect();
        let view = |&dim: &usize| {
            let values = (0..ROWS * dim).map(|at| hidden[at / dim * 3 + at % 3] + 0.5 * random.normal() as f32);
            View::new(dim.to_string(), Matrix::new(values.collect(), dim))
        };
        let views = dims.iter().map(view).collect();
        let mut tuples = Tuples::new(dims.len());
        for row in 0..20 {
            let tuple: Vec<_> = (0..dims.len()).map(|view| (view < 2 || row % 2 == 0).then_some(row)).collect();
            assert!(tuples.add(&tuple));
        }
        (views, tuples)
    }

    /// Fits in the span and in all dimensions, and compares what does not depend on the signs of latent variables.
    fn assert_alike(dims: &[usize], options: FitOptions, tolerance: f64) {
        let (views, tuples) = views_and_tuples(dims);
        let (expected, _) = model::fit(&Moments::of(&views, &tuples).unwrap(), &options, &()).unwrap();
        let options = AlignOptions::default().with_fit(options);
        assert!(Spans::of(&views, &tuples, &options).unwrap().is_some());
        let found = fit(views.clone(), &tuples, &options, &()).unwrap().alignment.model;
        let (expected_likelihood, likelihood) = (expected.log_likelihood.unwrap(), found.log_likelihood.unwrap());
        assert!((expected_likelihood - likelihood).abs() < tolerance * expected_likelihood.abs(), "{likelihood}");
        for (view, (found, expected)) in found.views.iter().zip(&expected.views).enumerate() {
            let near = |a: &Mat, b: &Mat| (a - b).norm_max() < tolerance * b.norm_max();
            let ([found_emission, emission], rows) =
                ([found, expected].map(|view| view.emission.as_ref().unwrap()), views[view].rows());
            let covariance = |emission: &Emission| times_transpose(&emission.w, &emission.w);
            assert!(near(&covariance(found_emission), &covariance(emission)), "view {view}");
            assert!(near(&found_emission.psi, &emission.psi), "view {view}");
            let products = |view: &ViewModel| {
                let latent = view.project(rows).unwrap();
                Mat::from_fn(ROWS, ROWS, |i, j| {
                    latent.row(i).iter().zip(latent.row(j)).map(|(a, b)| f64::from(a * b)).sum()
                })
            };
            assert!(near(&products(found), &products(expected)), "view {view}");
        }
    }

    #[test]
    fn a_fit_in_the_span_is_the_fit_in_all_dimensions() {
        let options = FitOptions::default().with_shrinkage(Shrinkage::By(0.3));
        assert_alike(&[40, 30], options.clone().with_latent(LatentSize::Of(5)), 1e-4);
        // An iteration ends a little before or after.
        assert_alike(&[40, 30, 35], options.with_latent(LatentSize::Of(3)), 1e-3);
    }
}

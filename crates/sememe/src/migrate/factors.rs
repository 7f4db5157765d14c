//! The latent space of both models: inter-battery factor analysis with shrinkage and the discriminative finish.

use super::{Affine, Pairs};
use crate::align::{self, AlignOptions, Confidences};
use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::{Cholesky, Mat, block, times, trace, transpose_times};
use crate::model::{FinishSteps, FitOptions, LatentSize, Model, Shrinkage};
use crate::moments::PatternMoments;
use crate::observe::Observer;
use crate::retrieve::PairCoordinates;
use crate::vectors::{Matrix, View};

/// What a fit of the latent space is given; by default it is chosen by held-out retrieval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FactorOptions {
    shrinkage: Shrinkage,
    finish: FinishSteps,
}

/// The projections of both models into the latent space: `z = A (x - mu)`.
pub(super) struct Factors {
    /// The old and the new model.
    projections: [Mat; 2],
    means: [Vec<f64>; 2],
    chosen: FactorOptions,
}

impl Factors {
    pub(super) fn fit(pairs: &Pairs, options: &FactorOptions, observer: &dyn Observer) -> Result<Self> {
        let views = vec![View::new("old", pairs.old().clone()), View::new("new", pairs.new_rows().clone())];
        let mut tuples = Tuples::new(2);
        (0..pairs.len()).for_each(|row| drop(tuples.add(&[Some(row), Some(row)])));
        let fit = FitOptions::default()
            .with_shrinkage(options.shrinkage)
            .with_finish(options.finish)
            .with_latent(LatentSize::Largest);
        let align = AlignOptions::default().with_fit(fit).with_confidences(Confidences::None);
        let model = align::fit(views, &tuples, &align, observer)?.alignment.model;
        Self::of(model)
    }

    fn of(model: Model) -> Result<Self> {
        let pair = PairCoordinates::of(&model, 0, 1)?;
        let projection = |view: usize| match &pair {
            Some(pair) => times(pair.maps()[view], &model.views[view].projection),
            None => model.views[view].projection.clone(),
        };
        let steps = model.finishes.first().map_or(FinishSteps::None, |finish| FinishSteps::Of(finish.steps));
        Ok(Factors {
            projections: [projection(0), projection(1)],
            means: [0, 1].map(|view| model.views[view].mu.clone()),
            chosen: FactorOptions { shrinkage: Shrinkage::By(model.shrinkage[0]), finish: steps },
        })
    }

    /// What was chosen for this fit.
    pub(super) fn chosen(&self) -> FactorOptions {
        self.chosen
    }

    /// The same space for the models in exchanged roles.
    pub(super) fn exchanged(&self) -> Self {
        let [old, new] = self.projections.clone();
        let [of_old, of_new] = self.means.clone();
        Factors { projections: [new, old], means: [of_new, of_old], chosen: self.chosen }
    }

    /// `A_oᵀ A_n (x - mu_n)`: the inner product with an old vector is that of both latent vectors.
    pub(super) fn queries(&self) -> Affine {
        let [old, new] = &self.projections;
        Affine::centred(&transpose_times(old, new), Some(&self.means[1]), None)
    }

    /// Old and new vectors → latent vectors.
    pub(super) fn latent(&self) -> [Affine; 2] {
        [0, 1].map(|side| Affine::centred(&self.projections[side], Some(&self.means[side]), None))
    }

    /// Latent vectors → old and new vectors: the linear regression on all pairs.
    pub(super) fn back(&self, pairs: &Pairs) -> Result<[Affine; 2]> {
        let of_side = |side: usize| -> Result<Affine> {
            let rows = if side == 0 { pairs.old() } else { pairs.new_rows() };
            let latent = self.latent()[side].apply(rows)?;
            regression(&latent, rows)
        };
        Ok([of_side(0)?, of_side(1)?])
    }
}

/// The linear map from rows to other rows with the least squares, with an intercept.
fn regression(from: &Matrix, to: &Matrix) -> Result<Affine> {
    let moments = PatternMoments::of_rows(from, to, &vec![1.0; from.rows()]);
    let covariance = moments.covariance();
    let (of_from, of_to) = ((0, from.cols()), (from.cols(), to.cols()));
    let mut own = block(&covariance, of_from, of_from);
    // Enough for directions without variance; the others hardly change.
    let added = 1e-6 * trace(&own) / from.cols() as f64;
    (0..from.cols()).for_each(|i| own[(i, i)] += added);
    let factor = Cholesky::new(&own, "the covariance of latent vectors")?;
    let map = factor.solve(&block(&covariance, of_from, of_to)).transpose().to_owned();
    let (of_from, of_to) = moments.mean.split_at(from.cols());
    Ok(Affine::centred(&map, Some(of_from), Some(of_to)))
}

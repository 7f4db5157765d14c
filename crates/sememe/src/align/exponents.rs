//! The exponent of canonical correlations that coordinates of a pair of views are weighted by, chosen by held-out retrieval.

use std::sync::Arc;

use super::finish_steps::{USUAL_STEPS, mean};
use super::folds::{Fold, Folds, projection};
use super::held_out::is_clearly_positive;
use crate::error::Result;
use crate::model::{Finish, FinishSteps, Model, POSTERIOR_MEAN};
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::PairCoordinates;

/// The exponents to choose from.
const EXPONENTS: [f64; 6] = [0.0, 0.25, POSTERIOR_MEAN, 0.6, 0.75, 1.0];
/// Standard errors by which an exponent must be better than the usual one.
const STANDARD_ERRORS: f64 = 2.0;

impl Folds<'_> {
    /// Chooses an exponent for each pair of views, and weights the models of all folds by it. A finish changes which one is
    /// best, so that they are compared after the finish that the pair is expected to have.
    pub(super) fn choose_exponents(
        &mut self,
        finish: FinishSteps,
        observer: &dyn Observer,
    ) -> Result<Vec<([usize; 2], f64)>> {
        let meter = Meter::new(observer, Stage::Finishing, self.pairs.len() * self.fits.len() * EXPONENTS.len());
        let mut all_chosen = Vec::new();
        for views in self.pairs.clone() {
            let steps = match finish {
                FinishSteps::Of(steps) => steps,
                FinishSteps::Auto if self.may_finish(views) => USUAL_STEPS,
                FinishSteps::Auto | FinishSteps::None => 0,
            };
            // Reciprocal ranks of held-out translations, for each exponent.
            let mut found = vec![Vec::new(); EXPONENTS.len()];
            for fold in &self.fits {
                for (&exponent, found) in EXPONENTS.iter().zip(&mut found) {
                    let Some(started) = weighted(&fold.model, views, exponent)? else { return Ok(Vec::new()) };
                    let finish = match steps {
                        0 => Some(started),
                        steps => {
                            let mut model = fold.model.clone();
                            model.set_finish(started);
                            let started = Fold { split: fold.split, project: projection(&model), model };
                            self.finishes(&started, views, &[steps], &meter)?.pop()
                        }
                    };
                    let Some(finish) = finish else { continue };
                    self.for_reciprocal_ranks((&fold.project, &finish), fold.split, &meter, |_, _, rank| {
                        found.push(rank);
                    })?;
                    meter.advance(1)?;
                }
            }
            if !found[0].is_empty() {
                all_chosen.push((views, EXPONENTS[chosen(&found)]));
            }
        }
        for fold in &mut self.fits {
            fold.model = weighted_by(&fold.model, &all_chosen)?;
        }
        Ok(all_chosen)
    }
}

/// The place of the best exponent if it is clearly better than the usual one, else of that.
fn chosen(found: &[Vec<f64>]) -> usize {
    let usual = EXPONENTS.iter().position(|&exponent| exponent == POSTERIOR_MEAN).expect("it can be chosen");
    let best = (0..found.len()).max_by(|&a, &b| mean(&found[a]).total_cmp(&mean(&found[b]))).unwrap_or(usual);
    let gains: Vec<f64> = found[best].iter().zip(&found[usual]).map(|(after, before)| after - before).collect();
    if is_clearly_positive(&gains, STANDARD_ERRORS) { best } else { usual }
}

/// A model whose pairs of views are compared in coordinates of these exponents.
pub(super) fn weighted_by(model: &Model, exponents: &[([usize; 2], f64)]) -> Result<Model> {
    let mut by = model.clone();
    for &(views, exponent) in exponents {
        weighted(model, views, exponent)?.into_iter().for_each(|finish| by.set_finish(finish));
    }
    Ok(by)
}

/// The canonical coordinates of two views, of which posterior means have the root of their correlations as weight, with another
/// power of them. `None` for latent vectors that are not posterior means.
fn weighted(model: &Model, views: [usize; 2], exponent: f64) -> Result<Option<Finish>> {
    let weight = |rho: f64| rho.powf(exponent - POSTERIOR_MEAN);
    let pair = PairCoordinates::weighted(model, views[0], views[1], weight)?;
    Ok(pair.map(|pair| Finish {
        views,
        maps: pair.maps().map(|map| Arc::new(map.clone())),
        steps: 0,
        exponent: Some(exponent),
        spelling: 0.0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_exponent_is_chosen_only_where_it_is_clearly_better() {
        let ranks = |mean: f64| (0..100).map(|word| mean + 0.1 * f64::from(word % 2)).collect::<Vec<f64>>();
        let noisy =
            |mean: f64| (0..100).map(|word| mean + if word % 2 == 0 { 0.4 } else { -0.3 }).collect::<Vec<f64>>();
        let exponent = |of_three_quarters: Vec<f64>| {
            let worse = || ranks(0.3);
            EXPONENTS[chosen(&[worse(), worse(), ranks(0.5), worse(), of_three_quarters, worse()])]
        };
        assert_eq!(exponent(ranks(0.6)), 0.75);
        assert_eq!(exponent(noisy(0.51)), POSTERIOR_MEAN);
        assert_eq!(exponent(ranks(0.4)), POSTERIOR_MEAN);
    }
}

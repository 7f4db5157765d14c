//! The exponent and the number of steps of the discriminative finish, chosen by held-out retrieval, and the finish of a
//! whole fit.

use super::finish::{Finisher, TrainingPair, row_major};
use super::folds::{Asked, Candidates, Fold, Folds, Project, Rows};
use super::held_out::is_clearly_positive;
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{Finish, FinishSteps, Model};
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Criterion, Retriever, Side};

/// The powers of correlations and the numbers of steps to choose from; the first ones are `E[z|x]` as it is.
const EXPONENTS: [f64; 3] = [Finish::POSTERIOR_MEAN, 0.75, 1.0];
const NUMBERS: [usize; 5] = [0, 2, 4, 6, 8];
/// Minimum number of pairs of two views, given and induced, that a fold is fitted to, for steps and for other exponents.
/// With fewer the steps overfit: a dictionary of 1,000 entries gains nothing by them.
const MIN_PAIRS: usize = 800;
const MIN_PAIRS_TO_WEIGHT: usize = 400;
/// Standard errors by which a finish must be better than none.
const STANDARD_ERRORS: f64 = 2.0;
/// One in this number of words is a neighbour for the terms of CSLS.
const SPACING: usize = 4;

/// Two views and their finish.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    views: [usize; 2],
    exponent: f64,
    steps: usize,
}

/// A finish of every fold, and how well held-out words are found with it.
struct Tried {
    chosen: Chosen,
    finishes: Vec<Option<Finish>>,
    reciprocal_ranks: Vec<f64>,
}

impl Folds<'_> {
    /// Chooses the finish of each pair of views and finishes the models of all folds by it.
    pub(super) fn choose_finish(&mut self, steps: FinishSteps, observer: &dyn Observer) -> Result<Vec<Chosen>> {
        let trials = EXPONENTS.len() + NUMBERS.len() - 1;
        let meter = Meter::new(observer, Stage::Finishing, self.pairs.len() * self.fits.len() * trials);
        let mut all_chosen = Vec::new();
        for views in self.pairs.clone() {
            let found = match steps {
                FinishSteps::Auto => self.best_finish(views, &meter)?,
                FinishSteps::None | FinishSteps::Of(0) => None,
                FinishSteps::Of(steps) => {
                    let sides = self.sides(views)?;
                    self.try_steps(views, &sides, Finish::POSTERIOR_MEAN, &[steps], &meter)?.pop()
                }
            };
            let Some(Tried { chosen, finishes, .. }) = found else { continue };
            self.fits.iter_mut().zip(finishes).for_each(|(fold, finish)| fold.model.finishes.extend(finish));
            all_chosen.push(chosen);
        }
        Ok(all_chosen)
    }

    /// The finish that finds most held-out words; `None` if it is not clearly better than none. The exponent is chosen
    /// first, then the steps.
    fn best_finish(&self, views: [usize; 2], meter: &Meter) -> Result<Option<Tried>> {
        let [a, b] = views;
        let pairs = self.fits.first().map_or(0, |fold| fold.split.seen().pairs_of(a, b).len());
        if pairs < MIN_PAIRS_TO_WEIGHT {
            return Ok(None);
        }
        let sides = self.sides(views)?;
        let mut tried = Vec::new();
        for exponent in EXPONENTS {
            tried.extend(self.try_steps(views, &sides, exponent, &NUMBERS[..1], meter)?);
        }
        let exponent = tried.get(best(&tried)).map_or(Finish::POSTERIOR_MEAN, |best| best.chosen.exponent);
        if pairs >= MIN_PAIRS {
            tried.extend(self.try_steps(views, &sides, exponent, &NUMBERS[1..], meter)?);
        }
        let best = best(&tried);
        Ok((best > 0).then(|| tried.swap_remove(best)))
    }

    /// The candidates of two views, for every fold.
    fn sides(&self, views: [usize; 2]) -> Result<Vec<Option<Sides>>> {
        self.fits.iter().map(|fold| Sides::of(&self.rows, self.given, views, &fold.project)).collect()
    }

    /// Finishes all folds by these numbers of steps, ascending, and looks for held-out words. Nothing if a fold cannot be
    /// finished.
    fn try_steps(
        &self,
        views: [usize; 2],
        sides: &[Option<Sides>],
        exponent: f64,
        numbers: &[usize],
        meter: &Meter,
    ) -> Result<Vec<Tried>> {
        let of_steps = |&steps: &usize| Tried {
            chosen: Chosen { views, exponent, steps },
            finishes: Vec::new(),
            reciprocal_ranks: Vec::new(),
        };
        let mut tried: Vec<Tried> = numbers.iter().map(of_steps).collect();
        for (fold, sides) in self.fits.iter().zip(sides) {
            let finisher = match sides {
                Some(sides) => sides.finisher(&fold.model, &fold.split.given, exponent, meter)?,
                None => None,
            };
            let finishes = finisher.map_or_else(Vec::new, |finisher| finisher.train(numbers, meter));
            meter.check()?;
            let mut finishes = finishes.into_iter();
            for tried in &mut tried {
                let finish = finishes.next();
                if let (Some(finish), Some(sides)) = (&finish, sides) {
                    tried.reciprocal_ranks.extend(self.reciprocal_ranks(fold, sides, finish, meter)?);
                }
                tried.finishes.push(finish);
                meter.advance(1)?;
            }
        }
        Ok(tried)
    }

    /// The reciprocal rank of the first right translation of every held-out word by CSLS, in both directions.
    fn reciprocal_ranks(&self, fold: &Fold, sides: &Sides, finish: &Finish, meter: &Meter) -> Result<Vec<f64>> {
        let mut ranks = Vec::new();
        let [a, b] = finish.views;
        let finished = sides.finished(finish);
        for (from, to) in [(a, b), (b, a)] {
            let asked = Asked::of(fold.split, self.given, (from, to));
            if asked.is_empty() {
                continue;
            }
            let [source, target] = if from < to { [0, 1] } else { [1, 0] }.map(|side| &finished[side]);
            // Some of the words are enough for the mean similarity of a target to its neighbours.
            let some: Vec<usize> = (0..source.side.matrix().rows()).step_by(SPACING).collect();
            let some = Side::new(source.side.matrix().select(&some));
            let retriever = Retriever::between(&some, &target.side, Criterion::CSLS).build(&meter.stopping())?;
            for answer in asked.retrieve(&retriever, source, target, &meter.stopping())? {
                let rank = (0..answer.hits.len()).find(|&rank| answer.is_right(rank));
                ranks.push(rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64));
            }
        }
        Ok(ranks)
    }
}

/// The index of what finds most held-out words, if it is clearly better than the first, else 0.
fn best(tried: &[Tried]) -> usize {
    let gains = |at: usize| -> Vec<f64> {
        let (after, before) = (&tried[at].reciprocal_ranks, &tried[0].reciprocal_ranks);
        // A fold without correlations has no other exponents, and nothing to compare.
        if after.len() == before.len() {
            after.iter().zip(before).map(|(after, before)| after - before).collect()
        } else {
            Vec::new()
        }
    };
    let sum = |at: &usize| gains(*at).iter().sum::<f64>();
    let best = (1..tried.len()).max_by(|a, b| sum(a).total_cmp(&sum(b)));
    best.filter(|&best| is_clearly_positive(&gains(best), STANDARD_ERRORS)).unwrap_or(0)
}

/// The finishes of a model that was fitted to all tuples. If the observer stops the work, there are those so far.
pub(super) fn finish_model(
    model: &Model,
    rows: &Rows,
    project: &Project,
    tuples: &Tuples,
    chosen: &[Chosen],
    observer: &dyn Observer,
) -> Result<Vec<Finish>> {
    let meter = Meter::new(observer, Stage::Finishing, chosen.iter().map(|chosen| chosen.steps).sum());
    let mut finishes = Vec::new();
    for &Chosen { views, exponent, steps } in chosen {
        let Some(sides) = Sides::of(rows, tuples, views, project)? else { continue };
        let finisher = match sides.finisher(model, tuples, exponent, &meter) {
            Err(Error::Stopped) => break,
            finisher => finisher?,
        };
        finishes.extend(finisher.and_then(|finisher| finisher.train(&[steps], &meter).pop()));
    }
    Ok(finishes)
}

/// The candidates of two views.
struct Sides {
    views: [usize; 2],
    candidates: [Candidates; 2],
}

impl Sides {
    /// `None` if one of the views has no rows.
    fn of(rows: &Rows, given: &Tuples, views: [usize; 2], project: &Project) -> Result<Option<Self>> {
        let [first, second] = views.map(|view| Candidates::of(rows, given, view, project));
        Ok(first?.zip(second?).map(|(first, second)| Sides { views, candidates: [first, second] }))
    }

    /// The candidates after a finish.
    fn finished(&self, finish: &Finish) -> [Candidates; 2] {
        [0, 1].map(|side| {
            let candidates = &self.candidates[side];
            candidates.with_vectors(candidates.side.matrix().mapped(&row_major(&finish.maps[side])))
        })
    }

    /// The training pairs of the views; `None` if there are none.
    fn finisher(&self, model: &Model, tuples: &Tuples, exponent: f64, meter: &Meter) -> Result<Option<Finisher>> {
        let Sides { views, candidates } = self;
        let of_tuple = |(tuple, weight): (Vec<Option<usize>>, f64)| {
            // Induced words can be rarer than all candidates.
            let place = |side: usize| candidates[side].place(tuple[views[side]]?);
            Some(TrainingPair { rows: [place(0)?, place(1)?], weight })
        };
        let pairs: Vec<TrainingPair> = tuples.iter_weighted().filter_map(of_tuple).collect();
        let latent = [0, 1].map(|side| candidates[side].side.matrix());
        Finisher::new(model, *views, latent, &pairs, exponent, &meter.stopping())
    }
}

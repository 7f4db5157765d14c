//! The number of steps of the discriminative finish, chosen by held-out retrieval, and the finish of a whole fit.

use std::collections::{BTreeMap, BTreeSet};

use super::few_entries;
use super::finish::{Finisher, TrainingPair};
use super::folds::{Answer, Asked, CHOOSING, Candidates, Fold, Folds, Project, Rows, Split};
use super::held_out::is_clearly_positive;
use super::row_products::row_major;
use crate::error::{Error, Result};
use crate::lexicon::{Cells, Tuples};
use crate::model::{Finish, FinishSteps, Model};
use crate::observe::{Meter, Observer, Stage};
use crate::prepare::scale_to_unit;
use crate::retrieve::{Criterion, Retriever, Side};
use crate::vectors::Matrix;

/// The numbers of steps to choose from. Those in between are tried only where the others leave open whether a finish helps.
const NUMBERS: [usize; 3] = [0, 4, 8];
const NUMBERS_IN_DOUBT: [usize; 5] = [0, 2, 4, 6, 8];
/// Steps of a finish, unless held-out entries clearly choose another number.
pub(crate) const USUAL_STEPS: usize = 4;
/// Minimum number of pairs of two views, given and induced, that a fold is fitted to. With fewer the finish overfits: a
/// dictionary of 1,000 entries gains nothing.
const MIN_PAIRS: usize = 800;
/// Standard errors by which a number of steps must be better than another one.
const STANDARD_ERRORS: f64 = 2.0;
/// One in this number of words is a neighbour for the terms of CSLS.
const SPACING: usize = 4;

/// Two views and the number of steps of their finish.
pub(super) struct Chosen {
    pub(super) views: [usize; 2],
    pub(super) steps: usize,
}

impl Folds<'_> {
    /// Chooses the steps for each pair of views and finishes the models of all folds by them. Very many pairs are not
    /// finished unless that is asked for: it would take longer than the fit.
    pub(super) fn choose_finish(&mut self, steps: FinishSteps, observer: &dyn Observer) -> Result<Vec<Chosen>> {
        let numbers: &[usize] = match &steps {
            FinishSteps::Auto if self.are_very_many() => return Ok(Vec::new()),
            FinishSteps::Auto => &NUMBERS_IN_DOUBT,
            FinishSteps::None => return Ok(Vec::new()),
            FinishSteps::Of(number) => std::slice::from_ref(number),
        };
        let meter = Meter::new(observer, Stage::Finishing, self.pairs.len() * self.fits.len() * numbers.len());
        let mut all_chosen = Vec::new();
        let few = few_entries::pairs_with_few(self.given);
        for views in self.pairs.clone() {
            if steps == FinishSteps::Auto && !self.may_finish(views) {
                continue;
            }
            if steps == FinishSteps::Auto && few.contains(&views) {
                // They choose nothing, and the models of folds are not asked for these views.
                all_chosen.push(Chosen { views, steps: USUAL_STEPS });
                continue;
            }
            let of_fold = |fold| self.finishes(fold, views, numbers, &meter);
            let finishes = self.fits.iter().map(of_fold).collect::<Result<Vec<_>>>()?;
            let place = match steps {
                FinishSteps::Auto => self.choose_among(&finishes, &meter)?,
                _ => 0,
            };
            if numbers[place] == 0 {
                continue;
            }
            for (fold, of_fold) in self.fits.iter_mut().zip(finishes) {
                of_fold.into_iter().nth(place).into_iter().for_each(|finish| fold.model.set_finish(finish));
            }
            all_chosen.push(Chosen { views, steps: numbers[place] });
        }
        Ok(all_chosen)
    }

    /// The place among [`NUMBERS_IN_DOUBT`] that held-out translations choose, given the finishes of each fold.
    fn choose_among(&self, finishes: &[Vec<Finish>], meter: &Meter) -> Result<usize> {
        // Reciprocal ranks of held-out translations, for each number of steps that was tried.
        let mut found: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for numbers in [&NUMBERS[..], &NUMBERS_IN_DOUBT] {
            for (place, number) in NUMBERS_IN_DOUBT.iter().enumerate() {
                if !numbers.contains(number) || found.contains_key(number) {
                    continue;
                }
                let ranks = found.entry(*number).or_default();
                for (fold, of_fold) in self.fits.iter().zip(finishes) {
                    let Some(finish) = of_fold.get(place) else { continue };
                    self.for_reciprocal_ranks((&fold.project, finish), fold.split, meter, |_, _, rank| {
                        ranks.push(rank);
                    })?;
                    meter.advance(1)?;
                }
            }
            if self.is_learned() || best_is_clearly_better_than(0, &found) {
                break;
            }
        }
        meter.advance((NUMBERS_IN_DOUBT.len() - found.len()) * self.fits.len())?;
        let number = chosen(&found, self.is_learned());
        Ok(NUMBERS_IN_DOUBT.iter().position(|&other| other == number).expect("it is one of them"))
    }

    /// Whether self-learning has added pairs.
    fn is_learned(&self) -> bool {
        self.fits.iter().any(|fold| !fold.split.induced.is_empty())
    }

    /// Whether the first fold is fitted to enough pairs of two views for an automatic finish.
    pub(super) fn may_finish(&self, [a, b]: [usize; 2]) -> bool {
        let of = |split: &Split| split.given.pairs_of(a, b).into_iter().chain(split.induced.pairs_of(a, b));
        self.fits.first().is_some_and(|fold| of(fold.split).collect::<BTreeSet<_>>().len() >= MIN_PAIRS)
    }

    /// The finishes of a fold after these numbers of steps; none without training pairs.
    pub(super) fn finishes(
        &self,
        fold: &Fold,
        views: [usize; 2],
        numbers: &[usize],
        meter: &Meter,
    ) -> Result<Vec<Finish>> {
        let finisher = match Sides::of(&self.rows, self.given, views, &fold.project)? {
            Some(sides) => sides.into_finisher(&fold.model, &fold.split.given, meter)?,
            None => None,
        };
        let finishes = finisher.map_or_else(Vec::new, |finisher| finisher.train(numbers, meter));
        meter.check()?;
        Ok(finishes)
    }

    /// Calls `handle` for every held-out word that has an answer by CSLS, in both directions, with the direction, the
    /// answer and the reciprocal rank of the first right translation.
    pub(super) fn for_reciprocal_ranks(
        &self,
        (project, finish): (&Project, &Finish),
        split: &Split,
        meter: &Meter,
        mut handle: impl FnMut((usize, usize), &Answer, f64),
    ) -> Result<()> {
        let [a, b] = finish.views;
        let maps = [0, 1].map(|side| row_major(&finish.maps[side]));
        // Projecting again takes little time; the vectors before the finish would take as much memory as those after it.
        let finished = |view: usize, rows: &Matrix, numbers: &[usize]| {
            Ok(project(view, rows, numbers)?.mapped(&maps[usize::from(view == b)]))
        };
        let Some(sides) = Sides::of(&self.rows, self.given, finish.views, &(Box::new(finished) as Project))? else {
            return Ok(());
        };
        let [first, second] = &sides.candidates;
        for ((from, to), source, target) in [((a, b), first, second), ((b, a), second, first)] {
            let asked = Asked::of(split, self.given, (from, to));
            if asked.is_empty() {
                continue;
            }
            // Some of the words are enough for the mean similarity of a target to its neighbours.
            let some: Vec<usize> = (0..source.side.matrix().rows()).step_by(SPACING).collect();
            let some = Side::new(source.side.matrix().select(&some));
            // What is prepared for a search is not kept for the other direction.
            let targets = Side::new(target.side.matrix().clone());
            let retriever = Retriever::between(&some, &targets, Criterion::CSLS).build(&meter.stopping())?;
            for answer in asked.retrieve(&retriever, source, target, &meter.stopping())? {
                let rank = (0..answer.hits.len()).find(|&rank| answer.is_right(rank));
                handle((from, to), &answer, rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64));
            }
        }
        Ok(())
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The number of steps that reciprocal ranks for each number choose. Without self-learning some number must be clearly better
/// than none. Then it is the usual number, unless the best one is clearly better than that: the best of several numbers is
/// often best by chance.
fn chosen(found: &BTreeMap<usize, Vec<f64>>, is_learned: bool) -> usize {
    match () {
        () if !is_learned && !best_is_clearly_better_than(0, found) => 0,
        () if best_is_clearly_better_than(USUAL_STEPS, found) => best(found),
        () => USUAL_STEPS,
    }
}

/// The number of steps with the best mean, the largest of equal ones.
fn best(found: &BTreeMap<usize, Vec<f64>>) -> usize {
    let best = found.iter().max_by(|a, b| mean(a.1).total_cmp(&mean(b.1)));
    best.map_or(0, |(number, _)| *number)
}

fn best_is_clearly_better_than(other: usize, found: &BTreeMap<usize, Vec<f64>>) -> bool {
    let (best, other) = (&found[&best(found)], &found[&other]);
    let gains: Vec<f64> = best.iter().zip(other).map(|(after, before)| after - before).collect();
    is_clearly_positive(&gains, STANDARD_ERRORS)
}

/// The finishes of a model that was fitted to all tuples, trained on some of them; on all where these are few. If the
/// observer stops the work, there are those so far.
pub(super) fn finish_model(
    model: &Model,
    rows: &Rows,
    project: &Project,
    (tuples, all): (&Tuples, &Tuples),
    chosen: &[Chosen],
    observer: &dyn Observer,
) -> Result<Vec<Finish>> {
    let meter = Meter::new(observer, Stage::Finishing, chosen.iter().map(|chosen| chosen.steps).sum());
    let mut finishes = Vec::new();
    let few = few_entries::pairs_with_few(tuples);
    for Chosen { views, steps } in chosen {
        let Some(sides) = Sides::of(rows, tuples, *views, project)? else { continue };
        let tuples = if few.contains(views) { all } else { tuples };
        let finisher = match sides.into_finisher(model, tuples, &meter) {
            Err(Error::Stopped) => break,
            finisher => finisher?,
        };
        finishes.extend(finisher.and_then(|finisher| finisher.train(&[*steps], &meter).pop()));
    }
    Ok(finishes)
}

/// Unit vectors of words of two views after a finish on these pairs of them; `None` without pairs.
pub(crate) fn finished(model: &Model, latent: [&Matrix; 2], pairs: &[[usize; 2]]) -> Result<Option<[Matrix; 2]>> {
    let pairs: Vec<TrainingPair> = pairs.iter().map(|&rows| TrainingPair { rows, weight: 1.0 }).collect();
    let meter = Meter::new(&(), Stage::Finishing, USUAL_STEPS);
    let finisher = Finisher::new(model, [0, 1], latent.map(Clone::clone), &pairs, &())?;
    let finish = finisher.and_then(|finisher| finisher.train(&[USUAL_STEPS], &meter).pop());
    let image = |finish: &Finish, side: usize| {
        let mut image = latent[side].mapped(&row_major(&finish.maps[side]));
        scale_to_unit(&mut image);
        image
    };
    Ok(finish.map(|finish| [0, 1].map(|side| image(&finish, side))))
}

/// The candidates of two views.
struct Sides {
    views: [usize; 2],
    candidates: [Candidates; 2],
}

impl Sides {
    /// `None` if one of the views has no rows.
    fn of(rows: &Rows, given: &Tuples, views: [usize; 2], project: &Project) -> Result<Option<Self>> {
        let of_view = |view: usize| Candidates::of(rows, (CHOOSING, given), view, project);
        let (first, second) = rayon::join(|| of_view(views[0]), || of_view(views[1]));
        Ok(first?.zip(second?).map(|(first, second)| Sides { views, candidates: [first, second] }))
    }

    /// The training pairs of the views; `None` if there are none. The memory of the candidates is used for their words.
    fn into_finisher(self, model: &Model, tuples: &Tuples, meter: &Meter) -> Result<Option<Finisher>> {
        let Sides { views, candidates } = self;
        let of_tuple = |cells: Cells| {
            // Induced words can be rarer than all candidates.
            let place = |side: usize| candidates[side].place(cells.row(views[side])?);
            Some(TrainingPair { rows: [place(0)?, place(1)?], weight: cells.weight })
        };
        let pairs: Vec<TrainingPair> = tuples.cells().filter_map(of_tuple).collect();
        let latent = candidates.map(Candidates::into_vectors);
        Finisher::new(model, views, latent, &pairs, &meter.stopping())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_steps_are_taken_where_a_finish_clearly_helps_and_no_other_number_is_clearly_better() {
        let ranks = |mean: f64| (0..100).map(|word| mean + 0.1 * f64::from(word % 2)).collect::<Vec<f64>>();
        // Gains that are better in the mean, but not clearly.
        let noisy =
            |mean: f64| (0..100).map(|word| mean + if word % 2 == 0 { 0.4 } else { -0.3 }).collect::<Vec<f64>>();
        let steps = |found: [Vec<f64>; 3], is_learned| chosen(&NUMBERS.into_iter().zip(found).collect(), is_learned);
        let worse = || ranks(0.3);
        assert_eq!(steps([ranks(0.5), worse(), worse()], false), 0);
        assert_eq!(steps([ranks(0.5), noisy(0.5), worse()], false), 0);
        assert_eq!(steps([ranks(0.5), ranks(0.6), noisy(0.62)], false), USUAL_STEPS);
        assert_eq!(steps([ranks(0.5), ranks(0.6), ranks(0.7)], false), 8);
        assert_eq!(steps([ranks(0.5), noisy(0.5), worse()], true), USUAL_STEPS);
        assert_eq!(steps([ranks(0.5), worse(), worse()], true), 0);
        assert_eq!(steps([worse(), ranks(0.5), ranks(0.6)], true), 8);
        let in_doubt = [ranks(0.5), ranks(0.7), noisy(0.5), worse(), worse()];
        assert_eq!(chosen(&NUMBERS_IN_DOUBT.into_iter().zip(in_doubt).collect(), false), 2);
    }
}

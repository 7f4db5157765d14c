//! The weight of spelling in comparisons, chosen by held-out retrieval, and the spelling of a whole fit.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::few_entries;
use super::finish_steps::mean;
use super::folds::{Answer, Fold, Folds, Project, Split};
use super::held_out::is_clearly_positive;
use super::spelling::learn;
use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::Mat;
use crate::model::{Finish, Model, Spelling};
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::PairCoordinates;
use crate::vectors::{Matrix, View};

/// The weights to choose from; the first one is that of comparisons without spelling.
const WEIGHTS: [f64; 3] = [0.0, 0.1, 0.2];
/// Standard errors by which a weight must be better than none.
const STANDARD_ERRORS: f64 = 2.0;

/// Two views and the weight of the cosine of their spellings.
pub(super) struct SpelledPair {
    pub(super) views: [usize; 2],
    pub(super) weight: f64,
}

impl<'a> Folds<'a> {
    /// Chooses a weight for each pair of views, and adds spelling to the models of all folds if any pair has one. Words
    /// that were held out of `further` fits choose, too.
    pub(super) fn choose_spelling(
        &mut self,
        views: &'a [View],
        (further, taught): (&[Fold], &Taught),
        observer: &dyn Observer,
    ) -> Result<Vec<SpelledPair>> {
        let spellings = taught.of(self.fits.iter().chain(further));
        if spellings.is_empty() {
            return Ok(Vec::new());
        }
        let fits = self.fits.len() + further.len();
        let meter = Meter::new(observer, Stage::Finishing, self.pairs.len() * fits * WEIGHTS.len());
        let mut all_chosen = Vec::new();
        let few = few_entries::pairs_with_few(self.given);
        for pair in self.pairs.iter().copied().filter(|pair| !few.contains(pair)) {
            // Reciprocal ranks of held-out translations, for each weight.
            let mut found = vec![Found::default(); WEIGHTS.len()];
            let medians = self.median_rows(pair);
            let is_spelled_alike = |from: usize, to: usize, word: usize, right: &[usize]| {
                right.iter().any(|&right| views[from].label(word) == views[to].label(right))
            };
            for (fold, spelling) in self.fits.iter().chain(further).zip(&spellings) {
                let project = remembered(projection(fold.model.clone().with_spelling(spelling.clone()), views));
                for (&weight, found) in WEIGHTS.iter().zip(&mut found) {
                    let mut finish = weighted(&fold.model, pair, weight)?;
                    finish.add_spelling(spelling.columns);
                    let handle = |(from, to), answer: &Answer, rank| {
                        // Words that people ask are rarer than those of dictionaries.
                        if answer.word < medians[usize::from(from == pair[1])] {
                            return;
                        }
                        let is_alike = is_spelled_alike(from, to, answer.word, answer.right);
                        if is_alike { &mut found.alike } else { &mut found.others }.push(rank);
                    };
                    self.for_reciprocal_ranks((&project, &finish), fold.split, &meter, handle)?;
                    meter.advance(1)?;
                }
            }
            let weight = WEIGHTS[chosen(&found)];
            if weight > 0.0 {
                all_chosen.push(SpelledPair { views: pair, weight });
            }
        }
        if let Some((fold, spelling)) = self.fits.first().zip(spellings.first()) {
            all_chosen.extend(few_entries::weights(few, &all_chosen, (views, spelling), fold.split));
        }
        if !all_chosen.is_empty() {
            for (fold, spelling) in self.fits.iter_mut().zip(spellings) {
                add_to_fold(fold, views, spelling, &all_chosen)?;
            }
        }
        Ok(all_chosen)
    }

    /// The median row of the given entries of two views, on both sides.
    fn median_rows(&self, [a, b]: [usize; 2]) -> [usize; 2] {
        let (first, second): (BTreeSet<usize>, BTreeSet<usize>) = self.given.pairs_of(a, b).into_iter().unzip();
        [first, second].map(|rows| rows.iter().nth(rows.len() / 2).copied().unwrap_or(0))
    }
}

/// Reciprocal ranks of held-out translations: of words that are spelled like one of them, and of the others.
#[derive(Debug, Clone, Default)]
struct Found {
    alike: Vec<f64>,
    others: Vec<f64>,
}

impl Found {
    fn all(&self) -> Vec<f64> {
        [&self.alike[..], &self.others].concat()
    }
}

/// The place of the weight that is chosen: the best one, if it is clearly better than none. The words that are not spelled
/// like their translations must not be found clearly worse with it; where there are none, as among identical strings, any weight
/// would seem right.
fn chosen(found: &[Found]) -> usize {
    let all: Vec<Vec<f64>> = found.iter().map(Found::all).collect();
    let differences = |after: &[f64], before: &[f64]| {
        after.iter().zip(before).map(|(after, before)| after - before).collect::<Vec<_>>()
    };
    let is_possible = |&at: &usize| {
        let losses = differences(&found[0].others, &found[at].others);
        !losses.is_empty() && !is_clearly_positive(&losses, STANDARD_ERRORS)
    };
    let possible = (0..found.len()).filter(is_possible);
    let Some(best) = possible.max_by(|&a, &b| mean(&all[a]).total_cmp(&mean(&all[b]))) else { return 0 };
    if is_clearly_positive(&differences(&all[best], &all[0]), STANDARD_ERRORS) { best } else { 0 }
}

/// The spellings that the pairs of splits teach.
pub(super) struct Taught<'a>(Vec<(&'a Split, Spelling)>);

impl<'a> Taught<'a> {
    /// The observer may stop the work.
    pub(super) fn by(splits: impl Iterator<Item = &'a Split>, views: &[View], observer: &dyn Observer) -> Result<Self> {
        let meter = Meter::new(observer, Stage::Finishing, 1);
        let mut spellings = Vec::new();
        for split in splits {
            if meter.check().is_err() {
                break;
            }
            spellings.extend(learn_of_split(views, split)?.map(|spelling| (split, spelling)));
        }
        Ok(Taught(spellings))
    }

    /// The spellings that these fits have learned; nothing if one of them has not.
    fn of<'b>(&self, fits: impl Iterator<Item = &'b Fold<'b>>) -> Vec<Spelling> {
        let of_fit = |fit: &Fold| self.0.iter().find(|(split, _)| std::ptr::eq(*split, fit.split));
        let spellings = fits.map(|fit| of_fit(fit).map(|(_, spelling)| spelling.clone()));
        spellings.collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// The spelling that these tuples teach, if any pair is compared by it.
pub(super) fn learn_chosen(views: &[View], tuples: &Tuples, chosen: &[SpelledPair]) -> Result<Option<Spelling>> {
    if chosen.is_empty() { Ok(None) } else { learn(views, tuples) }
}

fn learn_of_split(views: &[View], split: &Split) -> Result<Option<Spelling>> {
    learn(views, &few_entries::teaching(&split.given, &split.induced, |at| !few_entries::is_tested(at)))
}

/// Adds the spelling that the pairs of its split teach to the model of a fold, for the chosen pairs.
pub(super) fn spell<'a>(fold: &mut Fold<'a>, views: &'a [View], chosen: &[SpelledPair]) -> Result<()> {
    let spelling = if chosen.is_empty() { None } else { learn_of_split(views, fold.split)? };
    spelling.map_or(Ok(()), |spelling| add_to_fold(fold, views, spelling, chosen))
}

fn add_to_fold<'a>(fold: &mut Fold<'a>, views: &'a [View], spelling: Spelling, chosen: &[SpelledPair]) -> Result<()> {
    add_spelling(&mut fold.model, spelling, chosen)?;
    fold.project = projection(fold.model.clone(), views);
    Ok(())
}

/// Adds spelling to a model, for the chosen pairs.
pub(super) fn add_spelling(model: &mut Model, spelling: Spelling, chosen: &[SpelledPair]) -> Result<()> {
    for SpelledPair { views, weight } in chosen {
        let finish = weighted(model, *views, *weight)?;
        model.set_finish(finish);
    }
    *model = model.clone().with_spelling(spelling);
    Ok(())
}

/// The finish of two views of a model without columns of spelling, for these to be added with a weight. Without steps it is
/// that of the coordinates in which the views are compared anyway.
fn weighted(model: &Model, views: [usize; 2], spelling: f64) -> Result<Finish> {
    if let Some(finish) = model.finish(views) {
        return Ok(Finish { spelling, ..finish.clone() });
    }
    let maps = match PairCoordinates::of(model, views[0], views[1])? {
        Some(pair) => pair.maps().map(|map| Arc::new(map.clone())),
        None => [0, 1].map(|_| Arc::new(Mat::identity(model.latent(), model.latent()))),
    };
    Ok(Finish { views, maps, steps: 0, exponent: None, spelling })
}

/// The projection of a model, with the spelling of words.
fn projection(model: Model, views: &[View]) -> Project<'_> {
    Box::new(move |view, rows, numbers| {
        let mut latent = model.views[view].project(rows)?;
        if let Some(words) = views[view].words() {
            model.spell(view, &mut latent, |row| words.word(numbers[row]));
        }
        Ok(latent)
    })
}

/// A projection that does its work once for the same rows.
fn remembered(project: Project) -> Project {
    let known: Mutex<BTreeMap<(usize, Vec<usize>), Matrix>> = Mutex::default();
    Box::new(move |view, rows, numbers| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match known.entry((view, numbers.to_vec())) {
            Entry::Occupied(latent) => latent.get().clone(),
            Entry::Vacant(vacant) => vacant.insert(project(view, rows, numbers)?).clone(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(alike: Vec<f64>, others: Vec<f64>) -> Found {
        Found { alike, others }
    }

    #[test]
    fn spelling_counts_only_where_it_clearly_helps() {
        let ranks = |mean: f64| (0..100).map(|word| mean + 0.1 * f64::from(word % 2)).collect::<Vec<f64>>();
        let noisy =
            |mean: f64| (0..100).map(|word| mean + if word % 2 == 0 { 0.4 } else { -0.3 }).collect::<Vec<f64>>();
        let of_others = |others: [Vec<f64>; 3]| chosen(&others.map(|others| found(Vec::new(), others)));
        assert_eq!(of_others([ranks(0.5), ranks(0.6), ranks(0.55)]), 1);
        assert_eq!(of_others([ranks(0.5), noisy(0.51), ranks(0.4)]), 0);
        assert_eq!(chosen(&[Found::default(), Found::default()]), 0);
    }

    #[test]
    fn words_that_are_spelled_alike_count_where_the_others_lose_nothing() {
        let ranks = |mean: f64| (0..100).map(|word| mean + 0.1 * f64::from(word % 2)).collect::<Vec<f64>>();
        assert_eq!(chosen(&[found(ranks(0.5), ranks(0.3)), found(ranks(0.8), ranks(0.3))]), 1);
        assert_eq!(chosen(&[found(ranks(0.5), ranks(0.3)), found(ranks(0.8), ranks(0.29))]), 0);
        assert_eq!(chosen(&[found(ranks(0.5), Vec::new()), found(ranks(0.8), Vec::new())]), 0);
    }
}

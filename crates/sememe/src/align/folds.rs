//! Fits to parts of the tuples, and the retrieval of what was held out of them.
//!
//! A model is fitted to a part of the tuples, and words of the other tuples are queries among many candidates. Held-out
//! words choose the [finish](super::finish_steps) and calibrate [confidences](super::calibration).
//!
//! A dictionary lists the translations of its headwords. Read backwards it is incomplete, and right translations would
//! count as wrong. So each pair of views is asked from the headwords. With several translations a word these are the side
//! with more of them. With one translation a word they are the side on which no word is repeated: synonyms share a
//! translation.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::fit_model;
use super::held_out::short_fit;
use crate::error::Result;
use crate::lexicon::{Cells, Tuples};
use crate::model::{FitOptions, LatentSize, Model, ViewModel};
use crate::moments::Moments;
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Calibration, Criterion, Hit, Retriever, Side};
use crate::vectors::{Matrix, ROWS_AT_A_TIME, View};

/// Candidates of a query where options are chosen: this number of the most frequent words, and all words of tuples.
pub(super) const CHOOSING: usize = 20_000;
/// The same where confidences are calibrated. These depend on how near the rivals of a candidate are, so that they need as
/// many rivals as searches have.
pub(super) const CALIBRATING: usize = 40_000;
/// Candidates that are projected at a time, so that few of them are in memory twice. Whole blocks, so that the bits do not
/// depend on it.
const PROJECTED_AT_A_TIME: usize = 8 * ROWS_AT_A_TIME;
/// The nearest candidates of each held-out word by cosine, among which criteria made of cosines rank. The terms of all other
/// candidates would take most of the time of a calibration.
const SHORTLISTED: usize = 30;
/// Folds of a cross-validation, and the number of held-out tuples after which no further fold is tried.
const FOLDS: usize = 5;
pub(super) const ENOUGH: usize = 500;
/// The same for a view that is added to very many, which should take seconds.
const ENOUGH_OF_VERY_MANY: usize = 200;
/// The number of held-out words from which on no further fold calibrates.
const ENOUGH_TO_CALIBRATE: usize = 1400;
/// Pairs of views that are retrieved from. With more of them, some stand for all.
pub(super) const MOST_PAIRS: usize = 12;
/// Maximum number of queries between two views.
const MAX_QUERIES: usize = 2000;
/// Ratio of translations per word that tells the two sides of a dictionary apart.
const CLEARLY_MORE: f64 = 1.05;
/// Up to so many translations per word hardly any word is repeated.
const ONE: f64 = 1.005;
/// From so many translations per word on, a dictionary is one of several translations.
const SEVERAL: f64 = 1.5;

/// The tuples that a model is fitted to, and entries that were held out of everything that led to it.
pub(crate) struct Split {
    /// Given entries.
    pub(crate) given: Tuples,
    /// Pairs that self-learning induced.
    pub(crate) induced: Tuples,
    pub(crate) held_out: Tuples,
}

impl Split {
    /// All tuples that a model is fitted to.
    pub(super) fn seen(&self) -> Tuples {
        let mut seen = self.given.clone();
        seen.add_all(&self.induced);
        seen
    }
}

/// Splits by what their held-out entries are for.
#[derive(Default)]
pub(crate) struct Splits {
    /// They choose options, and calibrate.
    pub(crate) choosing: Vec<Split>,
    /// They calibrate only, with what the others chose. A fold of 1,000 words leaves a standard error of two points in what
    /// confidences claim.
    pub(crate) calibrating: Vec<Split>,
}

impl Splits {
    /// Those of a cross-validation, as many as are needed for enough held-out entries, and one more that calibrates if they
    /// hold few words out. Several pairs of views are calibrated by what chooses: a further fold would take as long for each.
    pub(crate) fn of(tuples: &Tuples) -> Self {
        let choosing = needed(tuples.len(), ENOUGH);
        let first_word = |cells: Cells| (cells.views[0], cells.row(cells.views[0]));
        let words = || tuples.cells().map(first_word).collect::<BTreeSet<_>>().len();
        let is_one_pair = tuples.connected_views().len() == 1;
        let has_another = is_one_pair && choosing < needed(words(), ENOUGH_TO_CALIBRATE);
        let all = choosing + usize::from(has_another);
        Splits { choosing: folds(tuples, 0..choosing), calibrating: folds(tuples, choosing..all) }
    }

    /// The same with few entries, for a view that is added to very many.
    pub(super) fn of_very_many(tuples: &Tuples) -> Self {
        Splits { choosing: folds(tuples, 0..needed(tuples.len(), ENOUGH_OF_VERY_MANY)), calibrating: Vec::new() }
    }
}

/// The splits of a cross-validation that hold enough entries out to choose by.
pub(super) fn splits(tuples: &Tuples) -> Vec<Split> {
    folds(tuples, 0..needed(tuples.len(), ENOUGH))
}

fn folds(tuples: &Tuples, numbers: Range<usize>) -> Vec<Split> {
    let split = |fold| {
        let [given, held_out] = tuples.fold(FOLDS, fold);
        Split { given, induced: Tuples::new(tuples.views()), held_out }
    };
    numbers.map(split).collect()
}

/// How many folds of `all` entries or words hold `enough` of them out together.
fn needed(all: usize, enough: usize) -> usize {
    (enough * FOLDS).div_ceil(all.max(1)).min(FOLDS)
}

/// Rows of each view before a model's projection; a view without rows has no candidates.
pub(super) type Rows<'a> = Vec<Option<&'a Matrix>>;

/// Projects rows of a view, which have these numbers in it.
pub(super) type Project<'a> = Box<dyn Fn(usize, &Matrix, &[usize]) -> Result<Matrix> + Send + Sync + 'a>;

/// The projection of a model.
pub(super) fn projection(model: &Model) -> Project<'static> {
    let views: Vec<ViewModel> = model.views.iter().map(ViewModel::without_emission).collect();
    Box::new(move |view, rows, _| views[view].project(rows))
}

/// The fits to all splits.
pub(super) struct Folds<'a> {
    pub(super) names: Vec<String>,
    pub(super) rows: Rows<'a>,
    /// The pairs of views to be retrieved, all of which given entries connect.
    pub(super) pairs: Vec<[usize; 2]>,
    /// All given entries: each of their translations counts as right.
    pub(super) given: &'a Tuples,
    pub(super) fits: Vec<Fold<'a>>,
}

/// The fit to one split.
pub(super) struct Fold<'a> {
    pub(super) split: &'a Split,
    pub(super) model: Model,
    pub(super) project: Project<'a>,
}

impl<'a> Folds<'a> {
    /// Fits a model to each split. A split may be too small for one, or its covariances singular: it is left out.
    pub(super) fn new(
        names: Vec<String>,
        (rows, pairs): (Rows<'a>, Vec<[usize; 2]>),
        (splits, given): (&'a [Split], &'a Tuples),
        observer: &dyn Observer,
        fit: impl Fn(&Split) -> Result<(Model, Project<'a>)>,
    ) -> Result<Self> {
        let meter = Meter::new(observer, Stage::Calibrating, splits.len());
        let mut fits = Vec::new();
        for split in splits {
            meter.check()?;
            fits.extend(fit(split).ok().map(|(model, project)| Fold { split, model, project }));
        }
        Ok(Folds { names, rows, pairs, given, fits })
    }

    /// The fits of all views, with the options of `model`.
    pub(super) fn of_model(
        model: &Model,
        views: &'a [View],
        (splits, given): (&'a [Split], &'a Tuples),
        monolingual: &Moments,
        options: &FitOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut options = short_fit(options);
        if model.method.shrinks() {
            options.latent = LatentSize::Of(model.latent());
        }
        let names = model.views.iter().map(|view| view.name.clone()).collect();
        let rows: Rows = views.iter().map(|view| Some(view.rows())).collect();
        Folds::new(names, (rows, given.connected_views()), (splits, given), observer, |split| {
            let seen = split.seen();
            let mut moments = monolingual.of_part(views, &seen)?;
            moments.merge(monolingual)?;
            let (fitted, _) = fit_model(&moments, views, &seen, &options, &())?;
            let project = projection(&fitted);
            Ok((fitted, project))
        })
    }

    /// Whether the model has more pairs of views than are looked at one by one. A view that is added has few, but so many
    /// views have more among each other.
    pub(super) fn are_very_many(&self) -> bool {
        are_very_many(self.pairs.len(), self.names.len())
    }

    /// The directions that a pair of views is asked in: from the headwords, or both if it is not clear which those are. Of
    /// very many pairs one direction is enough.
    pub(super) fn directions(&self, [a, b]: [usize; 2]) -> Vec<(usize, usize)> {
        let asked = sides_with_headwords(&self.given.pairs_of(a, b));
        let directions = [(a, b), (b, a)].into_iter().zip(asked);
        let directions = directions.filter_map(|(direction, is_asked)| is_asked.then_some(direction));
        directions.take(if self.are_very_many() { 1 } else { 2 }).collect()
    }
}

/// Whether so many pairs of so many views are more than are looked at one by one.
pub(super) fn are_very_many(pairs: usize, views: usize) -> bool {
    pairs > MOST_PAIRS || views > MOST_PAIRS + 1
}

/// Whether the words on each side of these pairs may be headwords.
fn sides_with_headwords(pairs: &[(usize, usize)]) -> [bool; 2] {
    let per_word = |side: fn(&(usize, usize)) -> usize| {
        pairs.len() as f64 / pairs.iter().map(side).collect::<BTreeSet<_>>().len().max(1) as f64
    };
    let (first, second) = (per_word(|pair| pair.0), per_word(|pair| pair.1));
    let (more, fewer) = (first.max(second), first.min(second));
    if more < CLEARLY_MORE * fewer {
        return [true; 2];
    }
    let have_one_translation = fewer < ONE && more < SEVERAL;
    let is_first = (first < second) == have_one_translation;
    [is_first, !is_first]
}

/// Candidate words of a view and their latent vectors.
pub(super) struct Candidates {
    rows: Vec<usize>,
    pub(super) side: Arc<Side>,
}

impl Candidates {
    /// The `most` most frequent words of a view and those of `given` entries; `None` for a view without rows.
    pub(super) fn of(
        rows: &Rows,
        (most, given): (usize, &Tuples),
        view: usize,
        project: &Project,
    ) -> Result<Option<Self>> {
        let Some(rows) = rows[view] else { return Ok(None) };
        let of_tuples = given.rows_of(view);
        let chosen: BTreeSet<usize> = (0..rows.rows().min(most)).chain(of_tuples).collect();
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let (first, others) = chosen.split_at(chosen.len().min(PROJECTED_AT_A_TIME));
        let first = project(view, &rows.select(first), first)?;
        let dim = first.cols();
        let mut latent = first.into_vec();
        latent.reserve_exact(others.len() * dim);
        for some in others.chunks(PROJECTED_AT_A_TIME) {
            latent.extend_from_slice(project(view, &rows.select(some), some)?.as_slice());
        }
        Ok(Some(Candidates { rows: chosen, side: Side::new(Matrix::new(latent, dim)) }))
    }

    /// The candidates that are nearest to some of these held-out words, by cosine.
    pub(super) fn nearest_to(&self, asked: &Asked, source: &Candidates, observer: &dyn Observer) -> Result<Self> {
        let retriever = Retriever::between(&source.side, &self.side, Criterion::Nn).build(observer)?;
        let hits = retriever.rank(&asked.queries(source), SHORTLISTED, observer)?;
        let near: BTreeSet<usize> = hits.iter().flatten().map(|hit| hit.index).collect();
        let near: Vec<usize> = near.into_iter().collect();
        let rows = near.iter().map(|&place| self.rows[place]).collect();
        Ok(Candidates { rows, side: Side::new(self.side.matrix().select(&near)) })
    }

    /// The vectors without the words.
    pub(super) fn into_vectors(self) -> Matrix {
        self.side.matrix().clone()
    }

    /// The place of a row among the candidates.
    pub(super) fn place(&self, row: usize) -> Option<usize> {
        self.rows.binary_search(&row).ok()
    }
}

/// Held-out words of one view, and their right translations in another.
pub(super) struct Asked {
    words: Vec<(usize, Vec<usize>)>,
}

/// A held-out word and what was found for it.
pub(super) struct Answer<'a> {
    pub(super) word: usize,
    pub(super) hits: Vec<Hit>,
    pub(super) right: &'a [usize],
    candidates: &'a Candidates,
}

impl Answer<'_> {
    /// Whether the candidate at this rank, from 0, is a right translation.
    pub(super) fn is_right(&self, rank: usize) -> bool {
        self.right.contains(&self.candidates.rows[self.hits[rank].index])
    }
}

impl Asked {
    /// Words of held-out entries that are in no other given entry. Self-learning may have induced pairs of them, as of all
    /// words without an entry. Every given translation of them is right.
    pub(super) fn of(split: &Split, given: &Tuples, (from, to): (usize, usize)) -> Self {
        let seen: BTreeSet<usize> = split.given.rows_of(from).collect();
        let held_out: BTreeSet<usize> = split.held_out.pairs_of(from, to).into_iter().map(|(word, _)| word).collect();
        let mut right: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (word, translation) in given.pairs_of(from, to) {
            if held_out.contains(&word) && !seen.contains(&word) {
                right.entry(word).or_default().push(translation);
            }
        }
        let spacing = right.len().div_ceil(MAX_QUERIES).max(1);
        Asked { words: right.into_iter().step_by(spacing).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The rows of the words.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.words.iter().map(|(word, _)| *word)
    }

    fn queries(&self, source: &Candidates) -> Matrix {
        let place = |word: usize| source.place(word).expect("all words of given entries are candidates");
        let places: Vec<usize> = self.rows().map(place).collect();
        source.side.matrix().select(&places)
    }

    /// The answers to all words that have any.
    pub(super) fn retrieve<'a>(
        &'a self,
        retriever: &Retriever,
        source: &Candidates,
        target: &'a Candidates,
        observer: &dyn Observer,
    ) -> Result<Vec<Answer<'a>>> {
        let hits = retriever.nearest(&self.queries(source), Calibration::CANDIDATES, observer)?;
        let answer = |((word, right), hits): (&'a (usize, Vec<usize>), Vec<Hit>)| Answer {
            word: *word,
            hits,
            right,
            candidates: target,
        };
        Ok(self.words.iter().zip(hits).map(answer).filter(|answer| !answer.hits.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_fold_calibrates_unless_those_that_choose_hold_enough_out() {
        let folds = |entries: usize| {
            // Every other word has two translations.
            let mut tuples = Tuples::new(2);
            (0..entries).for_each(|row| assert!(tuples.add(&[Some(row / 3 * 2 + row % 3 % 2), Some(row)])));
            let Splits { choosing, calibrating } = Splits::of(&tuples);
            let held_out = choosing.iter().chain(&calibrating).flat_map(|split| split.held_out.rows_of(1));
            let held_out: Vec<usize> = held_out.collect();
            assert_eq!(held_out.len(), held_out.iter().collect::<BTreeSet<_>>().len(), "folds are disjoint");
            [choosing.len(), calibrating.len()]
        };
        assert_eq!([999, 6000, 12_000].map(folds), [[3, 1], [1, 1], [1, 0]]);
        let mut of_three = Tuples::new(3);
        (0..6000).for_each(|row| assert!(of_three.add(&[Some(row), Some(row), Some(row)])));
        assert!(Splits::of(&of_three).calibrating.is_empty());
    }

    #[test]
    fn headwords_have_several_translations_or_are_not_repeated() {
        let sides = |translation: fn(usize) -> (usize, usize)| {
            let pairs: Vec<(usize, usize)> = (0..1000).map(translation).collect();
            let reversed: Vec<(usize, usize)> = pairs.iter().map(|&(a, b)| (b, a)).collect();
            let [first, second] = sides_with_headwords(&reversed);
            assert_eq!(sides_with_headwords(&pairs), [second, first]);
            sides_with_headwords(&pairs)
        };
        let several = |entry: usize| (entry / 2, entry * 9 / 10);
        let one_each = |entry: usize| (entry, entry * 9 / 10);
        let many_of_which_none_is_repeated = |entry: usize| (entry / 2, entry);
        assert_eq!(sides(several), [true, false]);
        assert_eq!(sides(one_each), [true, false]);
        assert_eq!(sides(many_of_which_none_is_repeated), [true, false]);
        assert_eq!(sides(|entry| (entry, entry)), [true, true]);
    }
}

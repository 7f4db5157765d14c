//! Calibration of confidences on held-out translations.
//!
//! A model is fitted to a part of the tuples, and words of the other tuples are queries among many candidates. The
//! parameters of a [`Calibration`] maximise the likelihood of right and wrong first candidates.
//!
//! A dictionary lists the translations of its headwords. Read backwards it is incomplete, and right translations would
//! count as wrong. So each pair of views is calibrated in the direction of more translations per word, and the other
//! direction shares the parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::PairCalibration;
use super::held_out::short_fit;
use super::logistic::{HeldOutQuery, most_likely};
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{self, FitOptions, LatentSize, Model};
use crate::moments::Moments;
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Calibration, Criterion, Generative, Hit, PairCoordinates, Retriever, Side, log_row};
use crate::vectors::{Matrix, View};

/// Criteria with calibrated confidences. The last needs a generative model.
const CRITERIA: [Criterion; 4] = [Criterion::Nn, Criterion::CSLS, Criterion::ISF, Criterion::Pmi];
/// Candidates of a query: the most frequent words, and all words of tuples.
const CANDIDATES: usize = 20_000;
/// Folds of a cross-validation, and the number of held-out tuples after which no further fold is tried.
const FOLDS: usize = 5;
const ENOUGH: usize = 500;
/// Maximum and minimum number of queries between two views.
const MAX_QUERIES: usize = 2000;
const MIN_QUERIES: usize = 20;
/// Ratio of translations per word that makes one direction the one of the headwords.
const CLEARLY_MORE: f64 = 1.05;

/// A part of the tuples that a model is fitted to, and entries that were held out of everything that led to it.
pub(crate) struct Split {
    pub(crate) seen: Tuples,
    pub(crate) held_out: Tuples,
}

/// The splits of a cross-validation, as many as are needed for enough held-out entries.
pub(crate) fn folds(tuples: &Tuples) -> Vec<Split> {
    let needed = (ENOUGH * FOLDS).div_ceil(tuples.len().max(1)).min(FOLDS);
    let split = |fold| {
        let [seen, held_out] = tuples.fold(FOLDS, fold);
        Split { seen, held_out }
    };
    (0..needed).map(split).collect()
}

/// The calibrations of all pairs of views with enough held-out entries, for models that are fitted anew to each part.
/// `given` are all given entries: each of their translations counts as right.
pub(super) fn of_model(
    model: &Model,
    views: &[View],
    (splits, given): (&[Split], &Tuples),
    monolingual: &Moments,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Vec<PairCalibration>> {
    let mut options = short_fit(options);
    if model.method.shrinks() {
        options.latent = LatentSize::Of(model.latent());
    }
    let names: Vec<&str> = model.views.iter().map(|view| view.name.as_str()).collect();
    let rows: Vec<Option<&Matrix>> = views.iter().map(|view| Some(view.rows())).collect();
    let pairs = pairs_of_views(views.len());
    of_fits(&names, &rows, &pairs, (splits, given), observer, |split| {
        let mut moments = monolingual.of_part(views, &split.seen)?;
        moments.merge(monolingual)?;
        let (fitted, _) = model::fit(&moments, &options, &())?;
        let latent = fitted.clone();
        let project = move |view: usize, rows: &Matrix| latent.views[view].project(rows);
        Ok((fitted, Box::new(project) as Project))
    })
}

/// Projects rows of a view.
pub(super) type Project<'a> = Box<dyn Fn(usize, &Matrix) -> Result<Matrix> + 'a>;

/// The calibrations of some pairs of views. `rows` are the rows of each view before `fit`'s projection; a view without
/// rows has no candidates.
pub(super) fn of_fits<'a>(
    names: &[&str],
    rows: &[Option<&Matrix>],
    pairs: &[[usize; 2]],
    (splits, given): (&[Split], &Tuples),
    observer: &dyn Observer,
    fit: impl Fn(&Split) -> Result<(Model, Project<'a>)>,
) -> Result<Vec<PairCalibration>> {
    let directions: Vec<(usize, usize)> = pairs.iter().flat_map(|&pair| directions(given, pair)).collect();
    let meter = Meter::new(observer, Stage::Calibrating, splits.len() * directions.len() * CRITERIA.len());
    let mut queries: BTreeMap<([usize; 2], usize), Vec<HeldOutQuery>> = BTreeMap::new();
    for split in splits {
        meter.check()?;
        let (model, project) = match fit(split) {
            Err(Error::Stopped) => return Err(Error::Stopped),
            // A part may be too small to fit a model, or its covariances singular.
            Err(_) => continue,
            Ok(fitted) => fitted,
        };
        let mut sides = BTreeMap::new();
        for &(from, to) in &directions {
            meter.check()?;
            let asked = Asked::of(split, given, (from, to));
            if asked.words.is_empty() {
                continue;
            }
            for view in [from, to] {
                if let (false, Some(rows)) = (sides.contains_key(&view), rows[view]) {
                    sides.insert(view, Candidates::of(rows, given, view, &project)?);
                }
            }
            let (Some(source), Some(target)) = (sides.get(&from), sides.get(&to)) else { continue };
            let pair = PairCoordinates::of(&model, from, to)?;
            for (number, criterion) in CRITERIA.into_iter().enumerate() {
                let mut builder = Retriever::between(&source.side, &target.side, criterion).pair(pair.clone());
                if criterion.is_generative() {
                    // Methods without a noise model have no such criteria.
                    let Ok(generative) = Generative::new(&model, from, to, None) else { continue };
                    builder = builder.generative(generative);
                }
                let retriever = builder.build(&meter.stopping())?;
                let found = asked.retrieve(&retriever, source, target, &meter.stopping())?;
                queries.entry(([from.min(to), from.max(to)], number)).or_default().extend(found);
                meter.advance(1)?;
            }
        }
    }
    let calibrated = queries.iter().filter(|(_, queries)| queries.len() >= MIN_QUERIES);
    let of_pair = |(&([a, b], number), queries): (&([usize; 2], usize), &Vec<HeldOutQuery>)| PairCalibration {
        views: [names[a].to_owned(), names[b].to_owned()],
        criterion: CRITERIA[number],
        calibration: most_likely(queries),
    };
    Ok(calibrated.map(of_pair).collect())
}

/// All pairs of views.
fn pairs_of_views(views: usize) -> Vec<[usize; 2]> {
    (0..views).flat_map(|a| (a + 1..views).map(move |b| [a, b])).collect()
}

/// The directions that a pair of views is calibrated in: from the headwords, or both if it is not clear which those are.
fn directions(given: &Tuples, [a, b]: [usize; 2]) -> Vec<(usize, usize)> {
    let pairs = given.pairs_of(a, b);
    let distinct = |side: fn(&(usize, usize)) -> usize| pairs.iter().map(side).collect::<BTreeSet<_>>().len() as f64;
    let (of_a, of_b) = (distinct(|pair| pair.0), distinct(|pair| pair.1));
    match () {
        () if of_b > CLEARLY_MORE * of_a => vec![(a, b)],
        () if of_a > CLEARLY_MORE * of_b => vec![(b, a)],
        () => vec![(a, b), (b, a)],
    }
}

/// Candidate words of a view and their latent vectors.
struct Candidates {
    rows: Vec<usize>,
    side: Arc<Side>,
}

impl Candidates {
    fn of(rows: &Matrix, given: &Tuples, view: usize, project: &Project) -> Result<Self> {
        let of_tuples = given.iter().filter_map(|tuple| tuple[view]);
        let chosen: BTreeSet<usize> = (0..rows.rows().min(CANDIDATES)).chain(of_tuples).collect();
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let latent = project(view, &rows.select(&chosen))?;
        Ok(Candidates { rows: chosen, side: Side::new(latent) })
    }

    fn place(&self, row: usize) -> usize {
        self.rows.binary_search(&row).expect("all words of tuples are candidates")
    }
}

/// Held-out words of one view, and their right translations in another.
struct Asked {
    words: Vec<(usize, Vec<usize>)>,
}

impl Asked {
    /// Words that are in no tuple that a model was fitted to. Every given translation of them is right.
    fn of(split: &Split, given: &Tuples, (from, to): (usize, usize)) -> Self {
        let seen: BTreeSet<usize> = split.seen.iter().filter_map(|tuple| tuple[from]).collect();
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

    fn retrieve(
        &self,
        retriever: &Retriever,
        source: &Candidates,
        target: &Candidates,
        observer: &dyn Observer,
    ) -> Result<Vec<HeldOutQuery>> {
        let places: Vec<usize> = self.words.iter().map(|(word, _)| source.place(*word)).collect();
        let queries = source.side.matrix().select(&places);
        let hits = retriever.rank(&queries, Calibration::CANDIDATES, observer)?;
        let result = |((word, right), hits): (&(usize, Vec<usize>), Vec<Hit>)| {
            let first = target.rows[hits.first()?.index];
            let scores = hits.iter().map(|hit| f64::from(hit.score)).collect();
            Some(HeldOutQuery { is_right: right.contains(&first), scores, log_row: log_row(*word) })
        };
        Ok(self.words.iter().zip(hits).filter_map(result).collect())
    }
}

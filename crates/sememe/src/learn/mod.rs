//! Self-learning: alignment with little or no dictionary.
//!
//! [`learn`] starts from a few pairs, such as identical strings, or from the vectors alone. Rounds alternate between
//! inducing a dictionary and fitting a model to it. The final model is fitted to given and induced pairs.

mod connect;
mod coupling;
mod cycles;
#[cfg(feature = "cuda")]
mod gpu;
mod judge;
mod last;
mod report;
mod rounds;
mod similarity;
mod start;
mod words;

use std::collections::HashSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::connect::Connected;
use self::judge::Wrong;
use self::last::{InducedPair, InducedPairs};
pub use self::report::{Doubtful, LearningReport, NamedDoubtful, NamedReport};
use self::rounds::{Learner, Pairs, Watch, pairs_of_views};
pub use self::start::Chance;
use self::words::FrequentWords;
use crate::align::{self, Fitted, ShrinkageRule, Split, Splits};
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{FinishSteps, FitWarning, Model, Shrinkage};
use crate::moments::Shape;
use crate::names::{self, setters};
use crate::observe::Observer;
pub use crate::observe::Round;
use crate::random::Random;
use crate::threads::side_by_side;
use crate::vectors::View;

/// Frequent words of each view that take part in the rounds, and in the induced lexicon. With 8,000 in the rounds
/// learning takes twice as long and finds less.
const WORDS: usize = 4000;
const LAST_WORDS: usize = 20_000;
/// The minimum number of words of a view for self-learning.
const MIN_WORDS: usize = 500;
/// From this number of given entries on, one in [`HELD_OUT`] is held out of the rounds. Fewer would be too noisy a
/// test.
const ENOUGH_TO_HOLD_OUT: usize = 200;
const HELD_OUT: usize = 5;
/// The minimum shrinkage of a fit to a mostly induced lexicon. Held-out pairs cannot choose it there: a shrunk model
/// induced them, and they agree with it.
const LAST_SHRINKAGE: f64 = 0.2;

/// Maximum number of likelihood evaluations of an iterative fit to induced pairs. They are not worth a converged one, which
/// takes hundreds.
const LAST_EVALUATIONS: usize = 40;

/// Factor of the weights of induced pairs beside so many given ones. Half to all of them are right; given ones are surer.
const BLEND: f64 = 0.5;

/// Whether self-learning may discard given entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// They count in every round and in the final fit.
    #[default]
    Keep,
    /// They start the first round only; later rounds may discard them.
    Doubt,
}

impl Trust {
    /// All choices by name.
    pub const ALL: [(&'static str, Trust); 2] = [("keep", Trust::Keep), ("doubt", Trust::Doubt)];
}

impl FromStr for Trust {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("trust", name, &Trust::ALL)
    }
}

/// Options of [`learn`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LearnOptions {
    /// How to align at the end; rounds use the same method.
    pub align: align::AlignOptions,
    /// Start from the vectors alone, without any pair.
    pub is_unsupervised: bool,
    /// Whether given entries may be discarded.
    pub trust: Trust,
    /// Seed of the random starts.
    pub seed: u64,
}

/// The result of [`learn`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Learned {
    /// The model, fitted to given and induced pairs.
    pub fitted: Fitted,
    /// A report on the rounds.
    pub report: LearningReport,
}

/// Learns which words belong together, and aligns.
///
/// With enough given entries, some are held out of the rounds. They calibrate confidences, and they decide whether
/// self-learning did harm. If it did, the fallback is a model of the given entries alone. If the observer stops it, the
/// result is a model of the pairs of the last round, without confidences.
pub fn learn(views: Vec<View>, given: &Tuples, options: &LearnOptions, observer: &dyn Observer) -> Result<Learned> {
    let shapes: Vec<Shape> = views.iter().map(Shape::of).collect();
    options.align.check(&views.iter().map(View::name).collect::<Vec<_>>(), &[])?;
    let latent = options.align.fit.latent.at_most(&shapes)?;
    let words = words_of(&views, &options.align)?;
    let Entries { trusted, seen, held_out } = Entries::of(given, options.trust);
    let mut watch = Watch { observer, rounds: Vec::new(), is_stopped: false };
    let (start, chances) = match options.is_unsupervised {
        true => search(&shapes, &words, options.seed, &mut watch)?,
        false => (None, Vec::new()),
    };
    let mut learner = Learner {
        shapes,
        words: words.iter().collect(),
        fit: align::short_fit(&options.align.fit),
        is_finished: options.align.fit.finish_for(options.align.fit.method_for(views.len()), latent)
            != FinishSteps::None,
        given: pairs_of(&seen, &words),
        watch: &mut watch,
    };
    let has_many = views.len() == 2 && learner.has_many([0, 1]);
    let trusted_pairs = pairs_of(&trusted, &words);
    let connected = match start {
        Some(Start { tuples, model }) => {
            let pairs = pairs_of(&tuples, &words);
            // The search has learned with the method of two views.
            let is_same = options.align.fit.method_for(views.len()) == model.method;
            let model = if is_same { model } else { learner.fit_learned(&pairs)? };
            Connected { model, pairs, at_chance: Vec::new() }
        }
        None if options.trust == Trust::Keep => learner.connect(&learner.given.clone())?,
        // Entries that are not trusted start the rounds all the same.
        None => learner.connect(&pairs_of(given, &words))?,
    };
    let connected_at_chance = connected.at_chance;
    let mut induced = match learner.watch.is_stopped {
        true => of_equal_weight(connected.pairs),
        false => learner.induce_lexicon(connected.model)?,
    };
    let blend = if has_many { BLEND } else { 1.0 };
    // Beside these pairs held-out words are in the position of words without an entry, for which confidences are.
    let induced_for_held_out = tuples_of(&induced, &words, blend)?;
    leave_out_given(&mut induced, &trusted_pairs);
    let induced_tuples = tuples_of(&induced, &words, blend)?;
    if learner.watch.is_stopped {
        let shrinkage = learner.shrinkage_of(trusted.weight() + induced_tuples.weight()).max(LAST_SHRINKAGE);
        return stopped(views, trusted, (given, &induced_tuples), shrinkage, options, watch, chances);
    }
    let is_mostly_induced = !has_many && trusted.weight() < induced_tuples.weight();
    let shrinkage = if is_mostly_induced { LAST_SHRINKAGE } else { learner.shrinkage_of_given() };
    let pairs: Vec<Pairs> = induced.iter().map(InducedPairs::as_pairs).collect();
    let (does_harm, wrong) = side_by_side(
        || judge::does_harm(&learner, (&induced, blend), &pairs_of(&held_out, &words), shrinkage),
        || judge::doubtful(&learner, &pairs, &pairs_of(given, &words), LAST_SHRINKAGE),
    );
    let (has_helped, wrong) = (!does_harm?, wrong?);
    let in_views = |&Wrong { views, rows, score }: &Wrong| Doubtful {
        views,
        rows: [0, 1].map(|side| words[views[side]].rows[rows[side]]),
        score,
    };
    let doubtful = wrong.iter().map(in_views).collect();

    let mut tuples = trusted.clone();
    if has_helped {
        tuples.add_all(&induced_tuples);
    }
    let mut last = options.align.clone();
    let has_value_for_learned = has_helped
        && is_mostly_induced
        && last.fit.shrinkage == Shrinkage::Auto
        && last.fit.method_for(views.len()).shrinks();
    if has_value_for_learned {
        last.fit.shrinkage = Shrinkage::By(learner.shrinkage_of(tuples.weight()).max(LAST_SHRINKAGE));
    }
    let is_chosen = last.fit.finish_for(last.fit.method_for(views.len()), latent) == FinishSteps::Auto;
    if held_out.is_empty() && is_chosen {
        last.fit.finish = FinishSteps::Of(align::USUAL_STEPS);
    }
    let splits = match (has_helped, held_out.is_empty()) {
        (true, false) => {
            let split = Split { given: seen, induced: induced_for_held_out, held_out };
            Splits { choosing: vec![split], calibrating: Vec::new() }
        }
        (true, true) => Splits::default(),
        (false, _) => Splits::of(&tuples),
    };
    let induced = tuples.len() - trusted.len();
    let is_cut_short = has_helped && last.fit.mbfa.evaluations > LAST_EVALUATIONS;
    if is_cut_short {
        last.fit.mbfa.evaluations = LAST_EVALUATIONS;
    }
    let mut fitted = align::fit_with(views, &tuples, given, &splits, &last, observer)?;
    if is_cut_short {
        fitted.warnings.retain(|warning| !matches!(warning, FitWarning::NotConverged { .. }));
    }
    if has_value_for_learned {
        fitted.shrinkage_rule = ShrinkageRule::Learned;
    }
    warn_of_chance(&mut fitted, connected_at_chance);
    let rounds = watch.rounds;
    Ok(Learned { fitted, report: LearningReport { rounds, induced, has_helped, chances, doubtful } })
}

/// Adds warnings of views that were connected no better than by chance, unless held-out entries told of them already.
fn warn_of_chance(fitted: &mut Fitted, at_chance: Vec<([usize; 2], usize)>) {
    for (views, entries) in at_chance {
        let views = views.map(|view| fitted.alignment.model.views[view].name.clone());
        let is_of_views =
            |warning: &FitWarning| matches!(warning, FitWarning::Chance { views: told, .. } if *told == views);
        if !fitted.warnings.iter().any(is_of_views) {
            fitted.warnings.push(FitWarning::Chance { views, entries });
        }
    }
}

/// Given entries by what they are used for.
struct Entries {
    /// Those that count in every round and in the final fit.
    trusted: Tuples,
    /// The trusted entries that the rounds see.
    seen: Tuples,
    /// The other trusted entries.
    held_out: Tuples,
}

impl Entries {
    fn of(given: &Tuples, trust: Trust) -> Self {
        let none = || Tuples::new(given.views());
        let trusted = if trust == Trust::Keep { given.clone() } else { none() };
        let [seen, held_out] = match trusted.len() >= ENOUGH_TO_HOLD_OUT {
            true => trusted.hold_out(HELD_OUT),
            false => [trusted.clone(), none()],
        };
        Entries { trusted, seen, held_out }
    }
}

/// The frequent words of all views; an error if a view has too few.
fn words_of(views: &[View], options: &align::AlignOptions) -> Result<Vec<FrequentWords>> {
    let of_view = |view: &View| {
        let words = FrequentWords::of(view.rows(), LAST_WORDS, &options.evidence.normalize);
        let (name, count) = (view.name(), words.rows.len());
        let too_few = || format!("view {name:?} has {count} words with a direction; learning pairs needs {MIN_WORDS}");
        if count < MIN_WORDS { Err(Error::NotEnoughData(too_few())) } else { Ok(words) }
    };
    views.iter().map(of_view).collect()
}

/// The start of unsupervised learning: a model of two views, and tuples of pairs of views that connect all of them.
struct Start {
    model: Model,
    tuples: Tuples,
}

fn search(
    shapes: &[Shape],
    words: &[FrequentWords],
    seed: u64,
    watch: &mut Watch,
) -> Result<(Option<Start>, Vec<Chance>)> {
    let mut random = Random::new(seed);
    let found = start::connected(words.len(), |views| {
        start::search(views.map(|view| &shapes[view]), views.map(|view| &words[view]), &mut random, watch)
    })?;
    let mut tuples = Tuples::new(words.len());
    let mut chances = Vec::new();
    let mut last = None;
    for (views, found) in found {
        for rows in found.rows {
            let mut tuple = vec![None; tuples.views()];
            (0..2).for_each(|side| tuple[views[side]] = Some(rows[side]));
            tuples.add(&tuple);
        }
        chances.push(found.chance);
        last = Some(found.model);
    }
    Ok((last.map(|model| Start { model, tuples }), chances))
}

/// Leaves out pairs of given words: another translation of a given word is a synonym at best.
fn leave_out_given(induced: &mut [InducedPairs], given: &[Pairs]) {
    for InducedPairs { views, pairs } in induced {
        let rows = given.iter().filter(|given| given.views == *views).flat_map(|given| &given.rows);
        let known: [HashSet<usize>; 2] = [0, 1].map(|side| rows.clone().map(|rows| rows[side]).collect());
        pairs.retain(|pair| (0..2).all(|side| !known[side].contains(&pair.rows[side])));
    }
}

/// Learned pairs that were not compared with each other.
fn of_equal_weight(learned: Vec<Pairs>) -> Vec<InducedPairs> {
    let induced = |Pairs { views, rows }: Pairs| InducedPairs {
        views,
        pairs: rows.into_iter().map(|rows| InducedPair { rows, weight: 1.0 }).collect(),
    };
    learned.into_iter().map(induced).collect()
}

/// What learning has when the observer stops it, within seconds: a model of the pairs of the last round. Nothing is
/// judged by held-out entries, so that there are no confidences and no doubtful entries.
fn stopped(
    views: Vec<View>,
    mut tuples: Tuples,
    (given, induced): (&Tuples, &Tuples),
    shrinkage: f64,
    options: &LearnOptions,
    watch: Watch,
    chances: Vec<Chance>,
) -> Result<Learned> {
    let trusted = tuples.len();
    tuples.add_all(induced);
    let mut last = options.align.clone();
    if last.fit.shrinkage == Shrinkage::Auto && last.fit.method_for(views.len()).shrinks() {
        last.fit.shrinkage = Shrinkage::By(shrinkage);
    }
    let fitted = align::fit_with(views, &tuples, given, &Splits::default(), &last, watch.observer)?;
    let (rounds, induced) = (watch.rounds, tuples.len() - trusted);
    Ok(Learned { fitted, report: LearningReport { rounds, induced, has_helped: true, chances, doubtful: Vec::new() } })
}

/// Induced pairs as tuples over all views, each with its weight times `blend`.
fn tuples_of(induced: &[InducedPairs], words: &[FrequentWords], blend: f64) -> Result<Tuples> {
    let mut tuples = Tuples::new(words.len());
    for InducedPairs { views, pairs } in induced {
        for InducedPair { rows, weight } in pairs {
            let mut tuple = vec![None; words.len()];
            (0..2).for_each(|side| tuple[views[side]] = Some(words[views[side]].rows[rows[side]]));
            tuples.add_weighted(&tuple, blend * weight)?;
        }
    }
    Ok(tuples)
}

/// The pairs of frequent words in every tuple, by pair of views.
fn pairs_of(tuples: &Tuples, words: &[FrequentWords]) -> Vec<Pairs> {
    let place = |view: usize, row: usize| words[view].rows.binary_search(&row).ok();
    let of_views = |(a, b): (usize, usize)| {
        let pairs = tuples.pairs_of(a, b).into_iter();
        let rows = pairs.filter_map(|(i, j)| Some([place(a, i)?, place(b, j)?])).collect();
        Pairs { views: [a, b], rows }
    };
    pairs_of_views(words.len()).map(of_views).filter(|pairs| !pairs.rows.is_empty()).collect()
}

setters!(LearnOptions {
    /// Sets [`LearnOptions::align`].
    with_align: align = align::AlignOptions,
    /// Sets [`LearnOptions::is_unsupervised`].
    with_unsupervised: is_unsupervised = bool,
    /// Sets [`LearnOptions::trust`].
    with_trust: trust = Trust,
    /// Sets [`LearnOptions::seed`].
    with_seed: seed = u64,
});

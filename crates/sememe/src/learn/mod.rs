//! Alignment with little or no dictionary: a model says which words are translations, and they say what the model is.
//!
//! [`learn`] begins with a few pairs, such as identical strings, or with nothing but the vectors, and ends with a fit to
//! the pairs that it found. See `ARCHITECTURE.md` for how well that works and why it is done like this.

mod coupling;
mod judge;
mod last;
mod rounds;
mod similarity;
mod start;
mod words;

use std::collections::HashSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::judge::{Wrong, judge};
use self::last::{Induced, Sure};
use self::rounds::{Learner, Pairs, Watch, pairs_of_views};
pub use self::start::Chance;
use self::words::Words;
use crate::align::{self, Fitted};
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{Model, Shrinkage};
use crate::moments::Shape;
use crate::names;
use crate::observe::Observer;
pub use crate::observe::Round;
use crate::random::Random;
use crate::vectors::{Label, View};

/// Words of each view that rounds learn from, of two views and of more, and that the last lexicon is made of.
const WORDS: usize = 8000;
const WORDS_OF_SEVERAL: usize = 4000;
const LAST_WORDS: usize = 20_000;
/// With fewer words than this there is nothing to learn from.
const FEWEST: usize = 500;
/// Shrinkage of a fit to a lexicon that is mostly induced, at least. Held-out pairs, which say it of given ones, cannot say
/// it there: they were found by a model that was shrunk itself, and agree with it.
const LAST_SHRINKAGE: f64 = 0.2;

/// Whether given entries may be doubted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// They count in every round and in the last fit.
    #[default]
    Keep,
    /// Learning begins with them and may leave them.
    Doubt,
}

impl Trust {
    /// Both by name.
    pub const ALL: [(&'static str, Trust); 2] = [("keep", Trust::Keep), ("doubt", Trust::Doubt)];
}

impl FromStr for Trust {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("trust", name, &Trust::ALL)
    }
}

/// How to learn.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LearnOptions {
    /// How to align at last; rounds use the same method.
    pub align: align::AlignOptions,
    /// Begin with the vectors alone.
    pub is_unsupervised: bool,
    /// What given entries are worth.
    pub trust: Trust,
    /// Of random starts.
    pub seed: u64,
}

/// What came out.
#[derive(Debug)]
pub struct Learned {
    /// The model, fitted to given and induced pairs.
    pub fitted: Fitted,
    /// How it went.
    pub report: LearningReport,
}

/// How learning went.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearningReport {
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Pairs that the last fit found itself.
    pub induced: usize,
    /// False when given entries are much harder to find than without learning, where the fit is to these alone.
    pub has_helped: bool,
    /// For views aligned without supervision to the first: how they compare with chance.
    pub chances: Vec<Chance>,
    /// Given entries that look wrong, the worst first.
    #[serde(skip)]
    pub doubtful: Vec<Doubtful>,
}

impl LearningReport {
    /// The same with the words of the views in place of rows.
    pub fn named<'a>(&'a self, views: &'a [View]) -> NamedReport<'a> {
        let doubtful = self.doubtful.iter().map(|entry| NamedDoubtful {
            views: entry.views,
            words: entry.labels(views).map(|label| label.to_string()),
            score: entry.score,
        });
        NamedReport { report: self, doubtful: doubtful.collect() }
    }
}

/// How learning went, for people and machines that know words rather than rows.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct NamedReport<'a> {
    #[serde(flatten)]
    report: &'a LearningReport,
    /// Given entries that look wrong, the worst first.
    pub doubtful: Vec<NamedDoubtful>,
}

/// A given entry that looks wrong, with its words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedDoubtful {
    /// Its views.
    pub views: [usize; 2],
    /// The words there.
    pub words: [String; 2],
    /// Their CSLS.
    pub score: f64,
}

/// A given entry that looks wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Doubtful {
    /// Its views.
    pub views: [usize; 2],
    /// The words' rows there.
    pub rows: [usize; 2],
    /// Their CSLS, less than half way from words put together at random to given entries.
    pub score: f64,
}

impl Doubtful {
    /// What its rows are called.
    pub fn labels<'a>(&self, views: &'a [View]) -> [Label<'a>; 2] {
        [0, 1].map(|side| views[self.views[side]].label(self.rows[side]))
    }
}

/// Learns which words belong together and aligns.
pub fn learn(views: Vec<View>, given: &Tuples, options: &LearnOptions, observer: &dyn Observer) -> Result<Learned> {
    let shapes: Vec<Shape> = views.iter().map(Shape::of).collect();
    options.align.fit.check_for(views.len())?;
    options.align.fit.latent.at_most(&shapes)?;
    let words = words_of(&views, &options.align)?;
    let pairs = pairs_of(given, &words);
    let kept = match options.trust {
        Trust::Keep => pairs.clone(),
        Trust::Doubt => Vec::new(),
    };
    let mut watch = Watch { observer, rounds: Vec::new(), is_stopped: false };
    let (found, chances) = match options.is_unsupervised {
        true => search(&shapes, &words, options.seed, &mut watch)?,
        false => (None, Vec::new()),
    };
    let fit = align::short_fit(&options.align.fit);
    let mut learner = Learner { shapes: shapes.clone(), words: words.iter().collect(), fit, kept, watch: &mut watch };
    let learned = match found {
        // A search for two views ends where learning would.
        Some(Found { model, .. }) if options.align.fit.method_for(views.len()) == model.method => model,
        Some(Found { tuples, .. }) => learner.learn_from_pairs(&pairs_of(&tuples, &words))?,
        None => learner.learn_from_pairs(&pairs)?,
    };
    let found = last_lexicon(&learner, learned)?;
    let verdict = judge(&learner, &found.iter().map(Induced::as_pairs).collect::<Vec<_>>(), &pairs, LAST_SHRINKAGE)?;
    let in_views = |&Wrong { views, rows, score }: &Wrong| Doubtful {
        views,
        rows: [0, 1].map(|side| words[views[side]].rows[rows[side]]),
        score,
    };
    let doubtful = verdict.wrong.iter().map(in_views).collect();
    let kept = match options.trust {
        Trust::Keep => given.clone(),
        Trust::Doubt => Tuples::new(given.views()),
    };
    let mut tuples = kept.clone();
    if verdict.has_helped {
        add_found(&mut tuples, &found, &words)?;
    }
    let induced = tuples.len() - kept.len();
    let mut last = options.align.clone();
    let is_mostly_induced = kept.weight() < 0.5 * tuples.weight();
    if is_mostly_induced && last.fit.shrinkage == Shrinkage::Auto && last.fit.method_for(views.len()).shrinks() {
        last.fit.shrinkage = Shrinkage::By(learner.shrinkage_of(tuples.weight()).max(LAST_SHRINKAGE));
    }
    let mut fitted = align::fit_with(views, &tuples, given, &last, observer)?;
    if options.trust == Trust::Doubt {
        // What may be wrong cannot say how sure the rest is.
        fitted.alignment.temperatures.clear();
    }
    let has_helped = verdict.has_helped;
    Ok(Learned { fitted, report: LearningReport { rounds: watch.rounds, induced, has_helped, chances, doubtful } })
}

/// The words that are learned from, if there are enough.
fn words_of(views: &[View], options: &align::AlignOptions) -> Result<Vec<Words>> {
    let of_view = |view: &View| {
        let words = Words::of(view.rows(), LAST_WORDS, &options.evidence.normalize);
        let (name, count) = (view.name(), words.rows.len());
        let too_few = || format!("view {name:?} has {count} words with a direction; learning pairs needs {FEWEST}");
        if count < FEWEST { Err(Error::NotEnoughData(too_few())) } else { Ok(words) }
    };
    views.iter().map(of_view).collect()
}

/// What was found without supervision: a model of two views, and tuples of the first view with each other one.
struct Found {
    model: Model,
    tuples: Tuples,
}

fn search(shapes: &[Shape], words: &[Words], seed: u64, watch: &mut Watch) -> Result<(Option<Found>, Vec<Chance>)> {
    let mut random = Random::new(seed);
    let mut tuples = Tuples::new(words.len());
    let mut chances = Vec::new();
    let mut last = None;
    for other in 1..words.len() {
        let (shapes, words) = ([&shapes[0], &shapes[other]], [&words[0], &words[other]]);
        let found = start::search(shapes, words, &mut random, watch)?;
        for rows in found.rows {
            let mut tuple = vec![None; tuples.views()];
            (tuple[0], tuple[other]) = (Some(rows[0]), Some(rows[1]));
            tuples.add(&tuple);
        }
        chances.push(found.chance);
        last = Some(found.model);
    }
    Ok((last.map(|model| Found { model, tuples }), chances))
}

/// What is sure among many words, twice: the first time makes the model that finds the second.
fn last_lexicon(learner: &Learner, model: Model) -> Result<Vec<Induced>> {
    let pairs: Vec<Pairs> = last::induce(&learner.words, &model)?.iter().map(Induced::as_pairs).collect();
    let model = learner.fit_pairs(pairs.iter().chain(&learner.kept), LAST_SHRINKAGE, Some(&model))?;
    let mut induced = last::induce(&learner.words, &model)?;
    for Induced { views, pairs } in &mut induced {
        let told = learner.kept.iter().filter(|kept| kept.views == *views).flat_map(|kept| &kept.rows);
        let told: [HashSet<usize>; 2] = [0, 1].map(|side| told.clone().map(|rows| rows[side]).collect());
        // Of a word with a given translation another one is a synonym at best.
        pairs.retain(|sure| (0..2).all(|side| !told[side].contains(&sure.rows[side])));
    }
    Ok(induced)
}

fn add_found(tuples: &mut Tuples, found: &[Induced], words: &[Words]) -> Result<()> {
    for Induced { views, pairs } in found {
        for Sure { rows, weight } in pairs {
            let mut tuple = vec![None; tuples.views()];
            (0..2).for_each(|side| tuple[views[side]] = Some(words[views[side]].rows[rows[side]]));
            tuples.add_weighted(&tuple, *weight)?;
        }
    }
    Ok(())
}

/// Every two words of tuples that are among the words that are learned from.
fn pairs_of(tuples: &Tuples, words: &[Words]) -> Vec<Pairs> {
    let place = |view: usize, row: usize| words[view].rows.binary_search(&row).ok();
    let of_views = |(a, b): (usize, usize)| {
        let pairs = tuples.pairs_of(a, b).into_iter();
        let rows = pairs.filter_map(|(i, j)| Some([place(a, i)?, place(b, j)?])).collect();
        Pairs { views: [a, b], rows }
    };
    pairs_of_views(words.len()).map(of_views).filter(|pairs| !pairs.rows.is_empty()).collect()
}

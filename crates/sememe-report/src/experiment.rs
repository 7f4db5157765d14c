//! Several methods on the same vectors and tuples, whose moments are computed once.

use std::collections::BTreeMap;

use sememe::align::{self, AlignOptions, Confidences, held_out_shrinkage};
use sememe::evaluate::{self, Bootstrap, Intervals, Translation};
use sememe::learn;
use sememe::lexicon::{Lexicon, Tuples};
use sememe::model::{self, Model, Shrinkage};
use sememe::moments::Moments;
use sememe::observe::Observer;
use sememe::prepare::{Normalizer, Step};
use sememe::retrieve::{Criterion, PairCoordinates, Retriever};
use sememe::vectors::{Embeddings, View};

use crate::plots::Bar;
use crate::report::Cell;
use crate::work::begin;

/// Prepared views and tuples over them.
pub struct Experiment {
    views: Vec<View>,
    /// The moments that every model is fitted to.
    pub tuples: Tuples,
    moments: Moments,
}

impl Experiment {
    /// Computes the moments.
    pub fn new(views: &[(&str, &Embeddings)], tuples: Tuples) -> sememe::Result<Self> {
        let views = named(views);
        let moments = Moments::of(&views, &tuples)?;
        Ok(Experiment { views, tuples, moments })
    }

    /// Fits as `sememe align` does: automatic shrinkage is chosen by held-out translations.
    pub fn fit(&self, options: &model::FitOptions, observer: &dyn Observer) -> sememe::Result<Model> {
        begin(observer)?;
        let mut options = options.clone();
        if options.shrinkage == Shrinkage::Auto {
            options.shrinkage = held_out_shrinkage(&self.moments, &self.views, &self.tuples, &options, observer)?;
        }
        Ok(align::fit_model(&self.moments, &self.views, &self.tuples, &options, observer)?.0)
    }

    /// Projects the words of a view with a model.
    pub fn latent(&self, model: &Model, view: usize) -> sememe::Result<Embeddings> {
        latent(model, view, &self.views[view].named())
    }
}

fn named(views: &[(&str, &Embeddings)]) -> Vec<View> {
    views.iter().map(|(name, words)| View::from_embeddings(*name, (*words).clone())).collect()
}

/// A fit to prepared views as `sememe align` does it, with automatic shrinkage and the discriminative finish.
pub(crate) fn aligned(
    views: &[(&str, &Embeddings)],
    tuples: &Tuples,
    fit: model::FitOptions,
    observer: &dyn Observer,
) -> sememe::Result<Model> {
    begin(observer)?;
    let options = AlignOptions::default().with_fit(fit).with_confidences(Confidences::None);
    Ok(align::fit(named(views), tuples, &options, observer)?.alignment.model)
}

/// Self-learning on prepared views, as `sememe align --refine` and `--unsupervised` do.
pub(crate) fn learned(
    views: &[(&str, &Embeddings)],
    given: &Tuples,
    options: learn::LearnOptions,
    observer: &dyn Observer,
) -> sememe::Result<Model> {
    begin(observer)?;
    let align = options.align.clone().with_confidences(Confidences::None);
    Ok(learn::learn(named(views), given, &options.with_align(align), observer)?.fitted.alignment.model)
}

/// Vectors after normalisation steps that are fitted to them.
pub(crate) fn prepared(steps: &[Step], embeddings: &Embeddings) -> Embeddings {
    let mut rows = embeddings.matrix().clone();
    Normalizer::fit_apply(steps, &mut rows);
    embeddings.with_matrix(rows)
}

/// Some of the words.
pub(crate) fn select(embeddings: &Embeddings, rows: &[usize]) -> Embeddings {
    let words = rows.iter().map(|&row| embeddings.word(row)).collect();
    Embeddings::new(words, embeddings.matrix().select(rows))
}

/// Projects the prepared words of a view with a model.
pub(crate) fn latent(model: &Model, view: usize, prepared: &Embeddings) -> sememe::Result<Embeddings> {
    let mut vectors = model.views[view].project(prepared.matrix())?;
    model.spell(view, &mut vectors, |row| prepared.word(row));
    Ok(Embeddings::new(prepared.vocabulary().clone(), vectors))
}

/// Latent vectors of two views in the coordinates in which `sememe align` compares them: those of the finish, or of the two
/// views of a model of more.
pub(crate) fn compared(model: &Model, views: [usize; 2], latent: [Embeddings; 2]) -> sememe::Result<[Embeddings; 2]> {
    let Some(pair) = PairCoordinates::of(model, views[0], views[1])? else { return Ok(latent) };
    let [source, target] = latent;
    Ok([source.with_matrix(pair.of_queries(source.matrix())), target.with_matrix(pair.of_targets(target.matrix()))])
}

/// Precision in per cent, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Precision {
    /// Per cent of the queries.
    pub value: f64,
    /// The 95 % bootstrap interval: the 2.5th and 97.5th percentile over resampled queries.
    pub interval: [f64; 2],
}

impl Precision {
    /// At 1, 5 and 10.
    pub(crate) fn at_ranks(values: &BTreeMap<usize, f64>, intervals: &Intervals) -> [Self; 3] {
        evaluate::RANKS.map(|rank| Precision { value: values[&rank], interval: intervals.precision[&rank] })
    }

    /// The cell of a table, beside the paper's figure; or why there is none.
    pub(crate) fn cell(found: Result<Self, String>, paper: Option<f64>) -> Cell {
        let interval = found.as_ref().ok().map(|precision| precision.interval);
        Cell::measured(found.map(|precision| precision.value), interval, paper)
    }

    /// A bar of a plot, beside the paper's figure.
    pub(crate) fn bar(found: Option<Self>, paper: Option<f64>) -> Bar {
        Bar {
            value: found.map(|precision| precision.value),
            interval: found.map(|precision| precision.interval),
            paper,
        }
    }
}

/// Precision at 1, 5 and 10.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scores {
    /// Among the first, the first 5 and the first 10 candidates.
    pub at: [Precision; 3],
    /// Number of words that were translated.
    pub queries: usize,
}

impl Scores {
    /// The precision of an evaluation; the seed is that of its bootstrap.
    pub fn of(result: &Translation, seed: u64) -> Self {
        let intervals = result.intervals(&Bootstrap { seed, ..Bootstrap::default() });
        Scores { at: Precision::at_ranks(&result.precision, &intervals), queries: result.queries }
    }
}

/// Translates the gold words between two views of a latent space.
pub fn translate(
    source: &Embeddings,
    target: &Embeddings,
    gold: &Lexicon,
    criterion: Criterion,
    seed: u64,
) -> sememe::Result<Scores> {
    let retriever = Retriever::new(source.matrix().clone(), target.matrix().clone(), criterion, &())?;
    Ok(Scores::of(&evaluate::translation(source, target, gold, &retriever, &())?, seed))
}

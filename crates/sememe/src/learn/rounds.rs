//! Rounds of self-learning: a model induces a soft dictionary, and the next model is fitted to it.
//!
//! A round computes soft couplings of all words at a temperature, and fits a model to the expected moments. [Cycles](super::cycles)
//! of such rounds lower the temperature when a round improves little.

use super::last::{self, Induced, InducedPairs, Near};
use super::similarity::Similarities;
use super::words::{FrequentWords, project};
use super::{LAST_SHRINKAGE, leave_out_given};
use crate::align;
use crate::error::{Error, Result};
use crate::model::{self, Model, Shrinkage};
use crate::moments::{Moments, PatternMoments, Shape};
use crate::observe::{Event, Observer, Round};
use crate::vectors::Matrix;

/// Shrinkage of a fit to pairs: this factor times dimensions per pair, up to a maximum. Fits to given pairs have a
/// minimum.
const SHRINKAGE_FACTOR: f64 = 0.6;
const MAX_SHRINKAGE: f64 = 0.9;
const MIN_GIVEN_SHRINKAGE: f64 = 0.3;
/// Shrinkage of fits to soft couplings.
pub const COUPLING_SHRINKAGE: f64 = 0.5;

/// From this number of given pairs on, a model of them is good enough to induce a lexicon from.
const MANY: usize = 500;
/// Rounds that induce a lexicon among all frequent words, each from a model of the one before. Several views correct each
/// other, and take longer: all but the last of their rounds are among fewer words.
const INDUCTIONS: usize = 4;
const INDUCTIONS_OF_SEVERAL: usize = 2;
const FIRST_WORDS_OF_SEVERAL: usize = 8000;

/// Pairs of words of two views, as indices of the frequent words.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// The views, in increasing order.
    pub views: [usize; 2],
    /// The indices of the words.
    pub rows: Vec<[usize; 2]>,
}

impl Pairs {
    /// Every second pair, starting with the first (`odd` = 0) or the second (`odd` = 1).
    pub fn half(&self, odd: usize) -> Pairs {
        Pairs { views: self.views, rows: self.rows.iter().skip(odd).step_by(2).copied().collect() }
    }
}

/// The data and settings of self-learning.
pub struct Learner<'a, 'b> {
    pub shapes: Vec<Shape>,
    pub words: Vec<&'a FrequentWords>,
    pub fit: model::FitOptions,
    /// Whether the final model may have a finish.
    pub is_finished: bool,
    /// Given pairs that count in every round.
    pub given: Vec<Pairs>,
    pub watch: &'a mut Watch<'b>,
}

/// The rounds so far, and the observer.
pub struct Watch<'a> {
    pub observer: &'a dyn Observer,
    pub rounds: Vec<Round>,
    /// The observer has stopped the work.
    pub is_stopped: bool,
}

impl Watch<'_> {
    fn note(&mut self, round: Round) {
        self.rounds.push(round);
        self.is_stopped |= self.observer.observe(Event::Round(round)).is_break();
    }

    /// Adds rounds that another one has told the observer of.
    pub fn append(&mut self, other: Watch) {
        for round in other.rounds {
            self.rounds.push(Round { number: self.rounds.len() + 1, ..round });
        }
        self.is_stopped |= other.is_stopped;
    }
}

/// Rounds of soft couplings, of two views.
impl Learner<'_, '_> {
    /// Couples all words and fits a model. Also returns the objective of the latent vectors it was given.
    pub fn round(&mut self, latent: &[Matrix], temperature: f32) -> Result<(Model, f64)> {
        let similarities = Similarities::of(&latent[0], &latent[1])?;
        let (objective, pairs) = (similarities.objective(), similarities.mutual().len());
        let [x, y] = [0, 1].map(|view: usize| self.words[view].first(latent[view].rows()));
        let expected = similarities.expected_moments(temperature, &x, &y);
        let mut moments = Moments::of_pairs(&self.shapes, [0, 1], expected);
        for pairs in &self.given {
            moments.merge(&self.moments_of(pairs))?;
        }
        let model = self.fit(&moments, COUPLING_SHRINKAGE)?;
        let number = self.watch.rounds.len() + 1;
        let words = latent.iter().map(Matrix::rows).max().unwrap_or(0);
        self.watch.note(Round { number, words, pairs, objective });
        Ok((model, objective))
    }
}

/// Fits to pairs, and induction from them, of any number of views.
impl Learner<'_, '_> {
    /// A model of given pairs; the fewer there are, the more it is shrunk.
    pub fn fit_given(&self, pairs: &[Pairs]) -> Result<Model> {
        self.fit_pairs(pairs.iter(), self.shrinkage_for(pairs))
    }

    /// The shrinkage of a model of the given pairs alone.
    pub fn shrinkage_of_given(&self) -> f64 {
        self.shrinkage_for(&self.given)
    }

    fn shrinkage_for(&self, pairs: &[Pairs]) -> f64 {
        let count: usize = pairs.iter().map(|pairs| pairs.rows.len()).sum();
        self.shrinkage_of(count as f64).max(MIN_GIVEN_SHRINKAGE)
    }

    /// The shrinkage of a model of `count` pairs.
    pub fn shrinkage_of(&self, count: f64) -> f64 {
        let dim = self.shapes.iter().map(|shape| shape.dim).max().unwrap_or(0);
        (SHRINKAGE_FACTOR * dim as f64 / count.max(1.0)).min(MAX_SHRINKAGE)
    }

    /// Whether a model of the given pairs of two views is good enough to induce a lexicon from.
    pub fn has_many(&self, views: [usize; 2]) -> bool {
        self.given.iter().any(|pairs| pairs.views == views && pairs.rows.len() >= MANY)
    }

    /// The lexicon that a good model induces: rounds induce pairs among all frequent words and fit the next model to them
    /// and to the given pairs. The pairs of the last round are the result; given words get none.
    pub fn induce_lexicon(&mut self, mut model: Model) -> Result<Vec<InducedPairs>> {
        let (rounds, first_words) = match self.words.len() {
            2 => (INDUCTIONS, usize::MAX),
            _ => (INDUCTIONS_OF_SEVERAL, FIRST_WORDS_OF_SEVERAL),
        };
        let mut near = Near::new();
        for _ in 1..rounds {
            let induced = self.induce(&model, first_words, &mut near)?;
            if self.watch.is_stopped {
                return Ok(induced);
            }
            model = self.fit_weighted(&induced, 1.0, LAST_SHRINKAGE)?;
        }
        self.induce(&model, usize::MAX, &mut near)
    }

    /// The pairs that a model induces among the first `count` words. What is near to them is remembered for the next model.
    fn induce(&mut self, model: &Model, count: usize, near: &mut Near) -> Result<Vec<InducedPairs>> {
        let compared = self.compared(model, count)?;
        let words = compared.iter().map(Matrix::rows).max().unwrap_or(0);
        let Induced { mut pairs, objective } = last::induce(&compared, near)?;
        leave_out_given(&mut pairs, &self.given);
        let number = self.watch.rounds.len() + 1;
        let count = pairs.iter().map(|induced| induced.pairs.len()).sum();
        self.watch.note(Round { number, words, pairs: count, objective });
        Ok(pairs)
    }

    /// Unit latent vectors of the first `count` words, as two views are compared: after a finish on many given pairs.
    fn compared(&self, model: &Model, count: usize) -> Result<Vec<Matrix>> {
        let latent = project(&self.words, model, count)?;
        match &self.given[..] {
            [given] if self.words.len() == 2 && self.is_finished && self.has_many(given.views) => {
                let finished = align::finished(model, [&latent[0], &latent[1]], &given.rows)?;
                Ok(finished.map_or(latent, Vec::from))
            }
            _ => Ok(latent),
        }
    }

    /// Fits a model to given pairs and induced ones, each with its weight times `blend`.
    pub fn fit_weighted(&self, induced: &[InducedPairs], blend: f64, shrinkage: f64) -> Result<Model> {
        let mut moments = None;
        for pairs in self.given.iter().filter(|pairs| !pairs.rows.is_empty()) {
            merge(&mut moments, self.moments_of(pairs))?;
        }
        for induced in induced.iter().filter(|induced| !induced.pairs.is_empty()) {
            let weights: Vec<f64> = induced.pairs.iter().map(|pair| blend * pair.weight).collect();
            merge(&mut moments, self.weighted_moments(&induced.as_pairs(), &weights))?;
        }
        self.fit(&moments.ok_or_else(no_pairs)?, shrinkage)
    }

    /// Fits a model to pairs.
    pub fn fit_pairs<'b>(&self, pairs: impl Iterator<Item = &'b Pairs>, shrinkage: f64) -> Result<Model> {
        let mut moments = None;
        for pairs in pairs.filter(|pairs| !pairs.rows.is_empty()) {
            merge(&mut moments, self.moments_of(pairs))?;
        }
        self.fit(&moments.ok_or_else(no_pairs)?, shrinkage)
    }

    fn moments_of(&self, pairs: &Pairs) -> Moments {
        self.weighted_moments(pairs, &vec![1.0; pairs.rows.len()])
    }

    fn weighted_moments(&self, pairs: &Pairs, weights: &[f64]) -> Moments {
        let side = |side: usize| {
            let rows: Vec<usize> = pairs.rows.iter().map(|rows| rows[side]).collect();
            self.words[pairs.views[side]].vectors.select(&rows)
        };
        Moments::of_pairs(&self.shapes, pairs.views, PatternMoments::of_rows(&side(0), &side(1), weights))
    }

    fn fit(&self, moments: &Moments, shrinkage: f64) -> Result<Model> {
        let options = model::FitOptions { shrinkage: Shrinkage::By(shrinkage), ..self.fit.clone() };
        model::fit_projections(moments, &options)
    }
}

fn no_pairs() -> Error {
    let problem = "none of the given pairs is of frequent words of both views, so that there is nothing to learn from; \
                   give a dictionary of common words, or learn without any pair (unsupervised)";
    Error::NotEnoughData(problem.to_owned())
}

fn merge(sum: &mut Option<Moments>, part: Moments) -> Result<()> {
    match sum {
        Some(sum) => sum.merge(&part),
        None => {
            *sum = Some(part);
            Ok(())
        }
    }
}

/// Every two of `views` views.
pub fn pairs_of_views(views: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..views).flat_map(move |a| (a + 1..views).map(move |b| (a, b)))
}

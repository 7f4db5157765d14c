//! Word translation: precision of the best candidates (bilingual lexicon induction).

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::details::{CANDIDATES, Detail};
use super::ranks::{DEPTH, Intervals, Ranks};
use super::{Bootstrap, is_zero};
use crate::error::{Error, Result};
use crate::lexicon::{Entry, Lexicon, TrainedPairs, find_word};
use crate::observe::Observer;
use crate::retrieve::{Calibration, Criterion, Hit, Retriever};
use crate::vectors::{Embeddings, Matrix};

/// The policy for out-of-vocabulary words: gold words without a vector, or without a translation that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Oov {
    /// They are left out, as in MUSE.
    #[default]
    Skip,
    /// They count as wrong, as in the evaluation of fastText.
    Wrong,
}

/// The result for a gold word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Rank of the first correct translation, counted from 1.
    Found(usize),
    /// No correct translation is among the first [`DEPTH`] candidates.
    Missed,
    /// The word or all its translations have no vector.
    Unknown,
}

/// A gold word and its result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The source word.
    pub word: String,
    /// How it was translated.
    pub answer: Answer,
    /// Mean of the precision at the rank of each gold translation that has a vector, from 0 to 1; translations beyond
    /// the first [`DEPTH`] candidates count 0.
    pub average_precision: f64,
    /// The row of the word, if it has a vector.
    pub row: Option<usize>,
    /// The scores of its best candidates, on which [confidences](crate::retrieve::Calibration) depend.
    pub best_scores: Vec<f32>,
}

/// Results of word translation.
///
/// As in MUSE, the denominator is the number of distinct source words of the gold dictionary that have a vector and at
/// least one gold translation with a vector. [`Translation::under`] converts to the protocol of fastText.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Translation {
    /// Number of source words that were translated.
    pub queries: usize,
    /// Number of distinct source words of the gold dictionary.
    pub gold_words: usize,
    /// Number of these without a vector.
    pub unknown_words: usize,
    /// Number of these with a vector but without a gold translation that has one.
    pub without_known_translation: usize,
    /// Coverage: per cent of the gold words that were translated.
    pub coverage: f64,
    /// The policy for out-of-vocabulary words.
    pub oov: Oov,
    /// Precision at 1, 5 and 10: per cent of queries with a gold translation among the first candidates.
    pub precision: BTreeMap<usize, f64>,
    /// Mean reciprocal rank of the first gold translation, times 100; translations beyond the first [`DEPTH`]
    /// candidates count 0.
    pub mrr: f64,
    /// Mean average precision over all gold translations of a word, times 100; see [`Outcome::average_precision`].
    pub map: f64,
    /// The criterion that ranked the candidates.
    pub criterion: Criterion,
    /// Number of queries that are zero vectors. Where the criterion uses cosines, they find nothing and count as wrong.
    #[serde(skip_serializing_if = "is_zero")]
    pub zero_queries: usize,
    /// Number of words of the target that are zero vectors. Where the criterion uses cosines, they are never found.
    #[serde(skip_serializing_if = "is_zero")]
    pub zero_targets: usize,
    /// The result for every gold word, sorted by word.
    #[serde(skip)]
    pub outcomes: Vec<Outcome>,
}

impl Translation {
    /// The same results under another policy for out-of-vocabulary words.
    pub fn under(self, oov: Oov) -> Self {
        let ranks = ranks(&self.outcomes, oov);
        let map = mean_average_precision(&self.outcomes, oov);
        Translation { oov, precision: ranks.precision(), mrr: ranks.mrr(), map, ..self }
    }

    /// 95 % confidence intervals of precision and mean reciprocal rank.
    pub fn intervals(&self, bootstrap: &Bootstrap) -> Intervals {
        ranks(&self.outcomes, self.oov).intervals(bootstrap)
    }

    /// Results on gold words without a pair in the training data; `None` if no query is left.
    pub fn unseen(&self, overlap: &Overlap) -> Option<Unseen> {
        let is_unseen = |outcome: &&Outcome| !overlap.word_list.contains(&outcome.word);
        let outcomes: Vec<Outcome> = self.outcomes.iter().filter(is_unseen).cloned().collect();
        let ranks = ranks(&outcomes, self.oov);
        let unseen = || Unseen { queries: ranks.0.len(), precision: ranks.precision(), mrr: ranks.mrr() };
        (!ranks.0.is_empty()).then(unseen)
    }
}

/// Results on gold words without a pair in the training data.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Unseen {
    /// Number of queries.
    pub queries: usize,
    /// Precision at 1, 5 and 10, in per cent.
    pub precision: BTreeMap<usize, f64>,
    /// Mean reciprocal rank, times 100.
    pub mrr: f64,
}

/// Whether an outcome counts under a policy for out-of-vocabulary words.
fn counts(outcome: &Outcome, oov: Oov) -> bool {
    oov == Oov::Wrong || outcome.answer != Answer::Unknown
}

fn mean_average_precision(outcomes: &[Outcome], oov: Oov) -> f64 {
    let counted = || outcomes.iter().filter(|outcome| counts(outcome, oov));
    100.0 * counted().map(|outcome| outcome.average_precision).sum::<f64>() / counted().count() as f64
}

fn ranks(outcomes: &[Outcome], oov: Oov) -> Ranks {
    let rank = |outcome: &Outcome| match outcome.answer {
        Answer::Found(rank) => Some(rank),
        Answer::Missed | Answer::Unknown => None,
    };
    Ranks(outcomes.iter().filter(|outcome| counts(outcome, oov)).map(rank).collect())
}

/// Translates the source words of `gold` (source language in its first column) and compares with its translations. The
/// retriever must be one from `source` to `target`.
pub fn translation(
    source: &Embeddings,
    target: &Embeddings,
    gold: &Lexicon,
    retriever: &Retriever,
    observer: &dyn Observer,
) -> Result<Translation> {
    translation_found(
        source,
        target,
        gold,
        retriever,
        |queries| retriever.nearest(queries, DEPTH, observer),
        |_, _, _| {},
    )
}

/// [`translation`] with the candidates of every gold word. Scores of CSLS cost a second ranking.
pub fn translation_in_detail(
    source: &Embeddings,
    target: &Embeddings,
    gold: &Lexicon,
    retriever: &Retriever,
    observer: &dyn Observer,
) -> Result<(Translation, Vec<Detail>)> {
    let mut details: Vec<Detail> = answers(gold).iter().map(|(word, answers)| Detail::new(word, answers)).collect();
    let search = |queries: &Matrix| retriever.nearest(queries, DEPTH, observer);
    let translation = translation_found(source, target, gold, retriever, search, |at, hits, outcome| {
        let best = &hits[..hits.len().min(CANDIDATES)];
        details[at].candidates = best.iter().map(|hit| target.word(hit.index).to_owned()).collect();
        details[at].scores = best.iter().map(|hit| hit.score).collect();
        details[at].set(outcome.answer, outcome.average_precision);
    })?;
    Ok((translation, details))
}

/// Word translation by a search, of whose hits a second function is told with the place and the outcome of the gold word.
fn translation_found(
    source: &Embeddings,
    target: &Embeddings,
    gold: &Lexicon,
    retriever: &Retriever,
    search: impl FnOnce(&Matrix) -> Result<Vec<Vec<Hit>>>,
    mut tell: impl FnMut(usize, &[Hit], &Outcome),
) -> Result<Translation> {
    let answers = answers(gold);
    let gold_words = answers.len();
    let mut unknown_words = 0;
    let mut queries = Vec::new();
    let mut outcomes = Vec::new();
    for (word, answers) in answers {
        let index = find_word(source.vocabulary(), word);
        unknown_words += usize::from(index.is_none());
        let answers: BTreeSet<usize> = answers.iter().filter_map(|word| find_word(target.vocabulary(), word)).collect();
        if let (Some(index), false) = (index, answers.is_empty()) {
            queries.push((outcomes.len(), index, answers));
        }
        let (answer, average_precision, best_scores) = (Answer::Unknown, 0.0, Vec::new());
        outcomes.push(Outcome { word: word.to_owned(), answer, average_precision, row: index, best_scores });
    }
    check_sides(source, target, gold)?;
    if queries.is_empty() {
        return Err(Error::NotEnoughData(format!(
            "none of the {gold_words} gold words has a vector and a translation with a vector; \
             check the direction, the casing and the views"
        )));
    }
    let indices: Vec<usize> = queries.iter().map(|(_, index, _)| *index).collect();
    let found = search(&source.matrix().select(&indices))?;
    for (hits, (at, _, answers)) in found.iter().zip(&queries) {
        let first = hits.iter().position(|hit| answers.contains(&hit.index));
        outcomes[*at].answer = first.map_or(Answer::Missed, |place| Answer::Found(place + 1));
        outcomes[*at].average_precision = average_precision(hits, answers);
        outcomes[*at].best_scores = hits.iter().take(Calibration::CANDIDATES).map(|hit| hit.score).collect();
        tell(*at, hits, &outcomes[*at]);
    }
    let ranks = ranks(&outcomes, Oov::Skip);
    Ok(Translation {
        queries: queries.len(),
        gold_words,
        unknown_words,
        without_known_translation: gold_words - unknown_words - queries.len(),
        coverage: 100.0 * queries.len() as f64 / gold_words as f64,
        oov: Oov::Skip,
        precision: ranks.precision(),
        mrr: ranks.mrr(),
        map: mean_average_precision(&outcomes, Oov::Skip),
        criterion: retriever.criterion(),
        // Every other query finds at least one of the targets.
        zero_queries: found.iter().filter(|hits| hits.is_empty()).count(),
        zero_targets: retriever.zero_targets(),
        outcomes,
    })
}

fn average_precision(hits: &[Hit], answers: &BTreeSet<usize>) -> f64 {
    let found = hits.iter().enumerate().filter(|(_, hit)| answers.contains(&hit.index));
    let precisions = found.enumerate().map(|(before, (place, _))| (before + 1) as f64 / (place + 1) as f64);
    precisions.sum::<f64>() / answers.len() as f64
}

/// Refuses a gold dictionary that matches far better with its sides swapped: the few words that both languages share, or
/// spell alike, would be evaluated.
fn check_sides(source: &Embeddings, target: &Embeddings, gold: &Lexicon) -> Result<()> {
    let are_known = |[first, second]: [&Embeddings; 2]| {
        let knows = |side: &Embeddings, word: Option<&str>| {
            word.is_some_and(|word| find_word(side.vocabulary(), word).is_some())
        };
        let is_known = |entry: &&Entry| knows(first, entry.word(0)) && knows(second, entry.word(1));
        gold.entries().par_iter().filter(is_known).count()
    };
    let known = are_known([source, target]);
    if 2 * known >= gold.entries().len() {
        return Ok(());
    }
    match are_known([target, source]) {
        if_swapped if if_swapped > 2 * known.max(1) => Err(Error::Request(format!(
            "the sides of the gold dictionary seem to be swapped: {known} of {} entries have words of the source first, \
             {if_swapped} words of the target; ask in the other direction, or give the dictionary of this one",
            gold.entries().len()
        ))),
        _ => Ok(()),
    }
}

/// The gold translations of every source word.
fn answers(gold: &Lexicon) -> BTreeMap<&str, Vec<&str>> {
    let mut answers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in gold.entries() {
        if let (Some(word), Some(answer)) = (entry.word(0), entry.word(1)) {
            answers.entry(word).or_default().push(answer);
        }
    }
    answers
}

/// Overlap of the gold dictionary with the training data. Results on these pairs do not generalise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Overlap {
    /// Number of gold pairs with vectors for both words.
    pub gold_pairs: usize,
    /// Number of these that the model was trained on.
    pub trained_pairs: usize,
    /// Number of source words with such a pair.
    pub words: usize,
    /// These source words.
    #[serde(skip)]
    pub word_list: BTreeSet<String>,
}

impl Overlap {
    /// Looks up the pairs of `gold` among the training pairs. The views must have the same names as in training.
    pub fn of(trained: &TrainedPairs, gold: &Lexicon, source: &Embeddings, target: &Embeddings) -> Self {
        let [from, to] = [0, 1].map(|view| gold.views()[view].as_str());
        let mut overlap = Overlap { gold_pairs: 0, trained_pairs: 0, words: 0, word_list: BTreeSet::new() };
        for (spelled, answers) in answers(gold) {
            let Some(word) = find_word(source.vocabulary(), spelled) else { continue };
            let answers = answers.iter().filter_map(|answer| find_word(target.vocabulary(), answer));
            let mut trained_of_word = 0;
            for answer in answers {
                overlap.gold_pairs += 1;
                let pair = [(from, source.word(word)), (to, target.word(answer))];
                trained_of_word += usize::from(trained.contains(pair));
            }
            overlap.trained_pairs += trained_of_word;
            if trained_of_word > 0 {
                overlap.word_list.insert(spelled.to_owned());
            }
        }
        overlap.words = overlap.word_list.len();
        overlap
    }
}

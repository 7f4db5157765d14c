//! Word translation: is a right translation among the first few?

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Bootstrap;
use super::ranks::{DEPTH, Intervals, Ranks};
use crate::error::{Error, Result};
use crate::lexicon::{Lexicon, TrainedPairs, find_word};
use crate::observe::Observer;
use crate::retrieve::{Criterion, Retriever};
use crate::vectors::Embeddings;

/// What becomes of gold words that cannot be translated, for want of a vector of their own or of a translation with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Oov {
    /// They are no queries, as in MUSE.
    #[default]
    Skip,
    /// They are queries that were answered wrongly, as in fastText's evaluation.
    Wrong,
}

/// What came of a gold word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first right translation is at this rank, from 1 on.
    Found(usize),
    /// None is among the first [`DEPTH`].
    Missed,
    /// It or all its translations have no vector.
    Unknown,
}

/// A gold word and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The source word.
    pub word: String,
    /// How it was translated.
    pub answer: Answer,
}

/// Precision of word translation.
///
/// As in MUSE, the denominator is the distinct source words of the gold dictionary that have a vector and at least one
/// gold translation with a vector; see [`Translation::under`] for fastText's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Translation {
    /// Source words that were translated.
    pub queries: usize,
    /// Distinct source words of the gold dictionary.
    pub gold_words: usize,
    /// Of these, without a vector.
    pub unknown_words: usize,
    /// Of these, with a vector but without any gold translation that has one.
    pub without_known_translation: usize,
    /// What becomes of words that were not translated.
    pub oov: Oov,
    /// Per cent of queries with a gold translation among the first 1, 5 and 10 candidates.
    pub precision: BTreeMap<usize, f64>,
    /// Mean reciprocal rank of the first gold translation, times 100; beyond the first [`DEPTH`] candidates it counts 0.
    pub mrr: f64,
    /// The criterion candidates were ranked by.
    pub criterion: Criterion,
    /// What came of every gold word, sorted by word.
    #[serde(skip)]
    pub outcomes: Vec<Outcome>,
}

impl Translation {
    /// The same under another policy for words that could not be translated.
    pub fn under(self, oov: Oov) -> Self {
        let ranks = ranks(&self.outcomes, oov);
        Translation { oov, precision: ranks.precision(), mrr: ranks.mrr(), ..self }
    }

    /// 95 % intervals of precision and mean reciprocal rank.
    pub fn intervals(&self, bootstrap: &Bootstrap) -> Intervals {
        ranks(&self.outcomes, self.oov).intervals(bootstrap)
    }

    /// What is measured on words of which the model was fitted to no gold pair; none where no query is left.
    pub fn unseen(&self, overlap: &Overlap) -> Option<Unseen> {
        let is_unseen = |outcome: &&Outcome| !overlap.word_list.contains(&outcome.word);
        let outcomes: Vec<Outcome> = self.outcomes.iter().filter(is_unseen).cloned().collect();
        let ranks = ranks(&outcomes, self.oov);
        let unseen = || Unseen { queries: ranks.0.len(), precision: ranks.precision(), mrr: ranks.mrr() };
        (!ranks.0.is_empty()).then(unseen)
    }
}

/// [`Translation`] of words of which the model was fitted to no gold pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Unseen {
    /// How many.
    pub queries: usize,
    /// Per cent of them with a gold translation among the first 1, 5 and 10 candidates.
    pub precision: BTreeMap<usize, f64>,
    /// Their mean reciprocal rank, times 100.
    pub mrr: f64,
}

fn ranks(outcomes: &[Outcome], oov: Oov) -> Ranks {
    let rank = |outcome: &Outcome| match outcome.answer {
        Answer::Found(rank) => Some(Some(rank)),
        Answer::Missed => Some(None),
        Answer::Unknown => (oov == Oov::Wrong).then_some(None),
    };
    Ranks(outcomes.iter().filter_map(rank).collect())
}

/// Translates the source words of `gold` (source in its first column) and compares. The retriever is one for `source` and
/// `target`.
pub fn translation(
    source: &Embeddings,
    target: &Embeddings,
    gold: &Lexicon,
    retriever: &Retriever,
    observer: &dyn Observer,
) -> Result<Translation> {
    let answers = answers(gold);
    let gold_words = answers.len();
    let mut unknown_words = 0;
    let mut queries = Vec::new();
    let mut outcomes = Vec::new();
    for (word, answers) in answers {
        let index = find_word(source.vocabulary(), word);
        unknown_words += usize::from(index.is_none());
        let answers: Vec<usize> = answers.iter().filter_map(|word| find_word(target.vocabulary(), word)).collect();
        if let (Some(index), false) = (index, answers.is_empty()) {
            queries.push((outcomes.len(), index, answers));
        }
        outcomes.push(Outcome { word: word.to_owned(), answer: Answer::Unknown });
    }
    if queries.is_empty() {
        return Err(Error::NotEnoughData(format!(
            "none of the {gold_words} gold words has a vector and a translation with a vector; \
             check the direction, the casing and the views"
        )));
    }
    let indices: Vec<usize> = queries.iter().map(|(_, index, _)| *index).collect();
    let found = retriever.rank(&source.matrix().select(&indices), DEPTH, observer)?;
    for (hits, (at, _, answers)) in found.iter().zip(&queries) {
        let first = hits.iter().position(|hit| answers.contains(&hit.index));
        outcomes[*at].answer = first.map_or(Answer::Missed, |place| Answer::Found(place + 1));
    }
    let ranks = ranks(&outcomes, Oov::Skip);
    Ok(Translation {
        queries: queries.len(),
        gold_words,
        unknown_words,
        without_known_translation: gold_words - unknown_words - queries.len(),
        oov: Oov::Skip,
        precision: ranks.precision(),
        mrr: ranks.mrr(),
        criterion: retriever.criterion(),
        outcomes,
    })
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

/// Gold pairs that a model was fitted to: what is measured on them says nothing of other words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Overlap {
    /// Gold pairs of words that both have vectors.
    pub gold_pairs: usize,
    /// Of these, those that the model was fitted to.
    pub trained_pairs: usize,
    /// Source words with such a pair.
    pub words: usize,
    /// Which ones.
    #[serde(skip)]
    pub word_list: BTreeSet<String>,
}

impl Overlap {
    /// Looks the pairs of `gold` up among those that were trained on; the views are named as they were then.
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

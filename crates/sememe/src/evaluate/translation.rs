//! Word translation: is a right translation among the first few?

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lexicon::{Lexicon, find_word};
use crate::retrieve::{Criterion, Retriever};
use crate::vectors::Embeddings;

/// How many candidates are looked at.
pub const RANKS: [usize; 3] = [1, 5, 10];

/// Precision of word translation.
///
/// As in MUSE, the denominator is the distinct source words of the gold dictionary that have a vector and at least one
/// gold translation with a vector.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Translation {
    /// Source words that were translated.
    pub queries: usize,
    /// Distinct source words of the gold dictionary.
    pub gold_words: usize,
    /// Of these, without a vector.
    pub unknown_words: usize,
    /// Of these, with a vector but without any gold translation that has one.
    pub without_known_translation: usize,
    /// Per cent of queries with a gold translation among the first 1, 5 and 10 candidates.
    pub precision: BTreeMap<usize, f64>,
    /// The criterion candidates were ranked by.
    pub criterion: Criterion,
}

/// Translates the source words of `gold` (source in its first column) and compares. The retriever is one for `source` and
/// `target`.
pub fn translation(
    source: &Embeddings,
    target: &Embeddings,
    gold: &Lexicon,
    retriever: &Retriever,
) -> Result<Translation> {
    let mut answers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in gold.entries() {
        if let (Some(word), Some(answer)) = (entry.word(0), entry.word(1)) {
            answers.entry(word).or_default().push(answer);
        }
    }
    let gold_words = answers.len();
    let mut unknown_words = 0;
    let mut queries = Vec::new();
    for (word, answers) in answers {
        let Some(index) = find_word(source.vocabulary(), word) else {
            unknown_words += 1;
            continue;
        };
        let answers: Vec<usize> = answers.iter().filter_map(|word| find_word(target.vocabulary(), word)).collect();
        if !answers.is_empty() {
            queries.push((index, answers));
        }
    }
    if queries.is_empty() {
        return Err(Error::NotEnoughData(format!(
            "none of the {gold_words} gold words has a vector and a translation with a vector; \
             check the direction, the casing and the views"
        )));
    }
    let indices: Vec<usize> = queries.iter().map(|(index, _)| *index).collect();
    let most = RANKS[RANKS.len() - 1];
    let found = retriever.nearest(&source.matrix().select(&indices), most)?;
    let precision = RANKS.map(|rank| {
        let is_hit = |(candidates, (_, answers)): &(&Vec<_>, &(usize, Vec<usize>))| {
            candidates.iter().take(rank).any(|hit: &crate::retrieve::Hit| answers.contains(&hit.index))
        };
        let hits = found.iter().zip(&queries).filter(is_hit).count();
        (rank, 100.0 * hits as f64 / queries.len() as f64)
    });
    Ok(Translation {
        queries: queries.len(),
        gold_words,
        unknown_words,
        without_known_translation: gold_words - unknown_words - queries.len(),
        precision: precision.into_iter().collect(),
        criterion: retriever.criterion(),
    })
}

//! A dictionary from a space: the best translation of every word.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::Confidence;
use crate::error::Result;
use crate::files::Output;
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Criterion, Hit, Retriever};
use crate::vectors::{Embeddings, Matrix};

/// Words translated between two reports to the observer.
const WORDS: usize = 16_384;
/// Candidates that show early that a first one is not sure enough.
const CANDIDATES: usize = 10;

/// What to induce from.
pub struct Induction<'a> {
    /// All words of the source; the first `words` of them are translated.
    pub source: &'a Matrix,
    /// How many.
    pub words: usize,
    /// Finds translations.
    pub forth: &'a Retriever<'a>,
    /// Finds the way back: given, only words that are each other's best translation are kept.
    pub back: Option<(&'a Matrix, &'a Retriever<'a>)>,
    /// Says how sure they are.
    pub confidence: Option<&'a Confidence<'a>>,
    /// Leave out what is less sure.
    pub min_confidence: f64,
}

/// A word and its best translation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Induced {
    /// Row of the word.
    pub from: usize,
    /// Row of the translation.
    pub to: usize,
    /// Its score.
    pub score: f32,
    /// How sure it is, where that is known.
    pub confidence: Option<f64>,
}

/// Translates every word, in the order of the source.
pub fn induce(induction: &Induction, observer: &dyn Observer) -> Result<Vec<Induced>> {
    let words = induction.words.min(induction.source.rows());
    let mut best = Vec::new();
    let meter = Meter::new(observer, Stage::Searching, 2 * words);
    // Corrected retrieval ranks queries: it must see all of them.
    let at_a_time = match induction.forth.criterion() {
        Criterion::Corrected { .. } => words.max(1),
        _ => WORDS,
    };
    for first in (0..words).step_by(at_a_time) {
        let last = words.min(first + at_a_time);
        best.extend(best_of(induction, first..last)?);
        // To find them is one half of the work, to say how sure they are the other.
        meter.advance(last - first)?;
    }
    if let Some((targets, back)) = induction.back {
        best = mutual(best, targets, back)?;
    }
    let mut induced = Vec::with_capacity(best.len());
    for block in best.chunks(WORDS) {
        induced.extend(with_confidence(induction, block));
        meter.advance(words * block.len() / best.len())?;
    }
    induced.retain(|pair| pair.confidence.is_none_or(|confidence| confidence >= induction.min_confidence));
    Ok(induced)
}

/// The best translations of some words, without those that cannot be sure enough.
fn best_of(induction: &Induction, words: Range<usize>) -> Result<Vec<Induced>> {
    let candidates = if induction.min_confidence > 0.0 { CANDIDATES } else { 1 };
    let rows: Vec<usize> = words.collect();
    let hits = induction.forth.nearest(&induction.source.select(&rows), candidates)?;
    let may_be_sure = |word: usize, hits: &[Hit]| {
        let confidence = induction.confidence.filter(|_| induction.min_confidence > 0.0);
        confidence.is_none_or(|of| of.at_most(induction.source.row(word), hits) >= induction.min_confidence)
    };
    let first = |(&from, hits): (&usize, &Vec<Hit>)| {
        let hit = hits.first().filter(|_| may_be_sure(from, hits))?;
        Some(Induced { from, to: hit.index, score: hit.score, confidence: None })
    };
    Ok(rows.par_iter().zip(&hits).filter_map(first).collect())
}

/// Those whose translation's best translation they are.
fn mutual(best: Vec<Induced>, targets: &Matrix, back: &Retriever) -> Result<Vec<Induced>> {
    let distinct: BTreeSet<usize> = best.iter().map(|pair| pair.to).collect();
    let distinct: Vec<usize> = distinct.into_iter().collect();
    let found = back.nearest(&targets.select(&distinct), 1)?;
    let of_targets: BTreeMap<usize, usize> =
        distinct.iter().zip(&found).filter_map(|(&target, hits)| Some((target, hits.first()?.index))).collect();
    Ok(best.into_iter().filter(|pair| of_targets.get(&pair.to) == Some(&pair.from)).collect())
}

/// The same, with how sure they are.
fn with_confidence(induction: &Induction, best: &[Induced]) -> Vec<Induced> {
    let Some(confidence) = induction.confidence else { return best.to_vec() };
    let rows: Vec<usize> = best.iter().map(|pair| pair.from).collect();
    let hits: Vec<Vec<Hit>> = best.iter().map(|pair| vec![Hit { index: pair.to, score: pair.score }]).collect();
    let sure = confidence.of_hits(&induction.source.select(&rows), &hits);
    best.iter().zip(sure.iter().flatten()).map(|(pair, &sure)| Induced { confidence: Some(sure), ..*pair }).collect()
}

/// Writes what was induced as a dictionary of pairs with a score and a confidence, which [`lexicon`](crate::lexicon) reads
/// again. Returns how many pairs are not written, as their words would not be read as they are: those with tabs or with
/// spaces around them, and those that begin as a comment does.
pub fn write_induced(
    induced: &[Induced],
    (from, source): (&str, &Embeddings),
    (to, target): (&str, &Embeddings),
    path: &Path,
) -> Result<usize> {
    let mut output = Output::create(path)?;
    let has_confidence = induced.iter().all(|pair| pair.confidence.is_some());
    let header = format!("# {from}\t{to}\tscore{}\n", if has_confidence { "\tconfidence" } else { "" });
    output.write_all(header.as_bytes())?;
    let is_plain = |word: &str| !word.contains('\t') && word.trim() == word && !word.is_empty();
    let mut left_out = 0;
    for pair in induced {
        let (word, translation) = (source.word(pair.from), target.word(pair.to));
        if !is_plain(word) || !is_plain(translation) || word.starts_with('#') {
            left_out += 1;
            continue;
        }
        let confidence =
            pair.confidence.filter(|_| has_confidence).map_or(String::new(), |sure| format!("\t{sure:.4}"));
        output.write_all(format!("{word}\t{translation}\t{:.4}{confidence}\n", pair.score).as_bytes())?;
    }
    output.finish()?;
    Ok(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon;
    use crate::retrieve::Pair;

    fn retriever<'a>(source: &'a Matrix, target: &'a Matrix) -> Retriever<'a> {
        Retriever::new(Pair::new(source, target), Criterion::Nn).unwrap()
    }

    #[test]
    fn mutual_pairs_are_best_both_ways() {
        // Both words of the source are nearest to the first target, which is nearest to the second of them.
        let source = Matrix::new(vec![1.0, 0.5, 1.0, 0.1, 0.5, -1.0], 2);
        let target = Matrix::new(vec![1.0, 0.0, -0.2, -1.0], 2);
        let (forth, back) = (retriever(&source, &target), retriever(&target, &source));
        let confidence = Confidence::new(&target, 0.1);
        let induction = Induction {
            source: &source,
            words: 3,
            forth: &forth,
            back: None,
            confidence: Some(&confidence),
            min_confidence: 0.0,
        };
        let pairs = |induction: &Induction| -> Vec<(usize, usize)> {
            induce(induction, &()).unwrap().iter().map(|pair| (pair.from, pair.to)).collect()
        };
        assert_eq!(pairs(&induction), [(0, 0), (1, 0), (2, 1)]);
        let mutual = Induction { back: Some((&target, &back)), ..induction };
        assert_eq!(pairs(&mutual), [(1, 0), (2, 1)]);
        let sure = Induction { min_confidence: 0.99, ..mutual };
        assert_eq!(pairs(&sure), [(1, 0)], "the last is between both");
        assert_eq!(pairs(&Induction { words: 1, back: None, min_confidence: 0.0, ..sure }), [(0, 0)]);
    }

    #[test]
    fn only_words_that_can_be_read_again_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("induced.tsv");
        let words = ["New York", "a\tb", "#", "x "];
        let source = Embeddings::new(words.into_iter().collect(), Matrix::new(vec![1.0; 4], 1));
        let target = Embeddings::new(["#1"].into_iter().collect(), Matrix::new(vec![1.0], 1));
        let induced: Vec<Induced> =
            (0..4).map(|from| Induced { from, to: 0, score: 1.0, confidence: Some(0.5) }).collect();
        assert_eq!(write_induced(&induced, ("a", &source), ("b", &target), &path).unwrap(), 3);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "# a\tb\tscore\tconfidence\nNew York\t#1\t1.0000\t0.5000\n"
        );
        let read = lexicon::read_pairs(&path, "a", "b", &Default::default()).unwrap();
        let entry = &read.lexicon.entries()[0];
        assert_eq!((entry.word(0), entry.word(1), read.ignored_columns), (Some("New York"), Some("#1"), true));
    }
}

//! A dictionary from a space: the best translation of every word.

use std::path::Path;

use super::Confidence;
use crate::error::Result;
use crate::files::Output;
use crate::progress::Progress;
use crate::retrieve::{Criterion, Hit, Retriever};
use crate::vectors::{Embeddings, Matrix};

/// Words translated between two reports of progress.
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
pub fn induce(induction: &Induction, progress: &dyn Progress) -> Result<Vec<Induced>> {
    let words = induction.words.min(induction.source.rows());
    let mut induced = Vec::new();
    // The way back for every target, looked for when it is met first.
    let mut best_back: Vec<Option<usize>> =
        induction.back.map_or_else(Vec::new, |(targets, _)| vec![None; targets.rows()]);
    // Corrected retrieval ranks queries: it must see all of them.
    let at_a_time = match induction.forth.criterion() {
        Criterion::Corrected { .. } => words.max(1),
        _ => WORDS,
    };
    for first in (0..words).step_by(at_a_time) {
        let block: Vec<usize> = (first..words.min(first + at_a_time)).collect();
        let count = if induction.min_confidence > 0.0 { CANDIDATES } else { 1 };
        let hits = induction.forth.nearest(&induction.source.select(&block), count)?;
        let mut found: Vec<(usize, Vec<Hit>)> =
            block.into_iter().zip(hits).filter(|(_, hits)| !hits.is_empty()).collect();
        if let Some((targets, back)) = induction.back {
            let mut unknown: Vec<usize> =
                found.iter().map(|(_, hits)| hits[0].index).filter(|&target| best_back[target].is_none()).collect();
            unknown.sort_unstable();
            unknown.dedup();
            for (target, hits) in unknown.iter().zip(back.nearest(&targets.select(&unknown), 1)?) {
                best_back[*target] = hits.first().map(|hit| hit.index);
            }
            found.retain(|(word, hits)| best_back[hits[0].index] == Some(*word));
        }
        induced.extend(with_confidence(induction, found));
        progress.advance((first + at_a_time).min(words) as u64, words as u64);
    }
    Ok(induced)
}

/// The first hits, those that are sure enough, with how sure they are.
fn with_confidence(induction: &Induction, mut found: Vec<(usize, Vec<Hit>)>) -> Vec<Induced> {
    let Some(confidence) = induction.confidence else {
        let induced = |(from, hits): (usize, Vec<Hit>)| Induced {
            from,
            to: hits[0].index,
            score: hits[0].score,
            confidence: None,
        };
        return found.into_iter().map(induced).collect();
    };
    found.retain(|(word, hits)| confidence.at_most(induction.source.row(*word), hits) >= induction.min_confidence);
    let rows: Vec<usize> = found.iter().map(|(word, _)| *word).collect();
    let firsts: Vec<Vec<Hit>> = found.iter().map(|(_, hits)| vec![hits[0]]).collect();
    let sure = confidence.of_hits(&induction.source.select(&rows), &firsts);
    let induced = |((from, hit), sure): ((usize, Hit), f64)| Induced {
        from,
        to: hit.index,
        score: hit.score,
        confidence: Some(sure),
    };
    let firsts = rows.into_iter().zip(firsts.into_iter().flatten());
    let induced = firsts.zip(sure.into_iter().flatten()).map(induced);
    induced.filter(|induced| induced.confidence >= Some(induction.min_confidence)).collect()
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

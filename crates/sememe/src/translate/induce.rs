//! Dictionary induction: the best translation of every word.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::Output;
use crate::lexicon::SCORE;
use crate::names::setters;
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Calibration, Criterion, Hit, Retriever, mutual_best};
use crate::space::Space;
#[cfg(feature = "parquet")]
use crate::tables::TableFormat;
use crate::vectors::Embeddings;

/// Words translated between two progress reports.
const WORDS: usize = 16_384;

/// Options of dictionary induction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InduceOptions {
    /// The criterion that ranks translations.
    pub criterion: Criterion,
    /// Keeps only mutual nearest neighbours: words that are each other's best translation.
    pub mutual: bool,
    /// Leaves out translations with a lower confidence.
    pub min_confidence: Option<f64>,
    /// Translates only the first `max_words` words.
    pub max_words: Option<usize>,
}

impl Default for InduceOptions {
    fn default() -> Self {
        InduceOptions { criterion: Criterion::AUTO, mutual: false, min_confidence: None, max_words: None }
    }
}

setters!(InduceOptions {
    /// Sets [`InduceOptions::criterion`].
    with_criterion: criterion = Criterion,
    /// Sets [`InduceOptions::mutual`].
    with_mutual: mutual = bool,
    /// Sets [`InduceOptions::min_confidence`].
    with_min_confidence: min_confidence = Option<f64>,
    /// Sets [`InduceOptions::max_words`].
    with_max_words: max_words = Option<usize>,
});

/// Induces a dictionary from one view of a space to another.
#[derive(Clone)]
pub struct Induction {
    views: [String; 2],
    source: Embeddings,
    target: Embeddings,
    /// How many words of the source are translated.
    words: usize,
    forth: Retriever,
    /// Searches in the other direction, if only mutual nearest neighbours are kept.
    back: Option<Retriever>,
    calibration: Option<Calibration>,
    min_confidence: f64,
}

/// A word and its best translation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Induced {
    /// Row of the word.
    pub from: usize,
    /// Row of the translation.
    pub to: usize,
    /// Its score.
    pub score: f32,
    /// Its confidence, if the space is calibrated.
    pub confidence: Option<f64>,
}

impl Induction {
    /// Prepares to translate all words of the view `from` to the view `to`.
    pub fn open(space: &Space, from: &str, to: &str, options: &InduceOptions, observer: &dyn Observer) -> Result<Self> {
        let alignment = space.alignment();
        let (source, target) = (space.view(from)?, space.view(to)?);
        let [a, b] = [from, to].map(|name| alignment.model.view_index(name));
        let calibration = alignment.calibration(a?, b?, options.criterion);
        if let (None, Some(least)) = (calibration, options.min_confidence) {
            let problem = "this space has no confidences for this criterion; leave it out, use nn or csls, or align again \
                           with vectors and dictionaries";
            return Err(Error::argument("the least confidence", least, problem));
        }
        let forth = space.retriever(from, to, options.criterion, observer)?;
        let back = options.mutual.then(|| space.retriever(to, from, options.criterion, observer)).transpose()?;
        Ok(Induction {
            views: [from.to_owned(), to.to_owned()],
            words: options.max_words.unwrap_or(usize::MAX).min(source.len()),
            forth,
            back,
            calibration,
            min_confidence: options.min_confidence.unwrap_or(0.0),
            source,
            target,
        })
    }

    /// Number of words to translate.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The words to translate, and the words to choose translations from.
    pub fn views(&self) -> [&Embeddings; 2] {
        [&self.source, &self.target]
    }

    /// Number of zero targets, which are never found where the criterion uses cosines.
    pub fn zero_targets(&self) -> usize {
        self.forth.zero_targets()
    }

    /// Whether pairs come with confidences: the space is calibrated for the criterion.
    pub fn has_confidences(&self) -> bool {
        self.calibration.is_some()
    }

    /// Translates every word, in the order of the source. Zero vectors have no translation where the criterion uses
    /// cosines.
    pub fn run(&self, observer: &dyn Observer) -> Result<Vec<Induced>> {
        let mut best = Vec::new();
        let meter = Meter::new(observer, Stage::Searching, self.words);
        // Corrected retrieval ranks queries against each other, so it needs all of them at once.
        let at_a_time = match self.forth.criterion() {
            Criterion::Corrected { .. } => self.words.max(1),
            _ => WORDS,
        };
        for first in (0..self.words).step_by(at_a_time) {
            let last = self.words.min(first + at_a_time);
            best.extend(self.best_of(first..last, &meter.stopping())?);
            meter.advance(last - first)?;
        }
        best.retain(|pair| pair.confidence.is_none_or(|confidence| confidence >= self.min_confidence));
        match &self.back {
            Some(back) => self.mutual(best, back, &meter.stopping()),
            None => Ok(best),
        }
    }

    /// The best translations of a range of words.
    fn best_of(&self, words: Range<usize>, observer: &dyn Observer) -> Result<Vec<Induced>> {
        let candidates = if self.has_confidences() { Calibration::CANDIDATES } else { 1 };
        let rows: Vec<usize> = words.collect();
        let hits = self.forth.nearest(&self.source.matrix().select(&rows), candidates, observer)?;
        let first = |(&from, hits): (&usize, &Vec<Hit>)| {
            let hit = hits.first()?;
            let scores: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
            let confidence = self.calibration.map(|calibration| calibration.confidences(&scores, Some(from))[0]);
            Some(Induced { from, to: hit.index, score: hit.score, confidence })
        };
        Ok(rows.par_iter().zip(&hits).filter_map(first).collect())
    }

    /// Keeps the pairs that are mutual nearest neighbours.
    fn mutual(&self, mut best: Vec<Induced>, back: &Retriever, observer: &dyn Observer) -> Result<Vec<Induced>> {
        let distinct: BTreeSet<usize> = best.iter().map(|pair| pair.to).collect();
        let distinct: Vec<usize> = distinct.into_iter().collect();
        let found = back.rank(&self.target.matrix().select(&distinct), 1, observer)?;
        let of_targets: BTreeMap<usize, usize> =
            distinct.iter().zip(&found).filter_map(|(&target, hits)| Some((target, hits.first()?.index))).collect();
        let forth = best.iter().map(|pair| (pair.from, pair.to));
        let mutual = mutual_best(forth, |target| of_targets.get(&target).copied());
        let mutual: BTreeSet<usize> = mutual.into_iter().map(|[from, _]| from).collect();
        best.retain(|pair| mutual.contains(&pair.from));
        Ok(best)
    }

    /// Writes a dictionary of pairs with a score and a confidence, which [`lexicon`](crate::lexicon) can read. Returns
    /// the number of pairs left out because they could not be read back: words with tabs or surrounding spaces, and
    /// words that look like a comment.
    ///
    /// A name that ends in `.parquet` or `.arrow` makes a table with a column for each view, `score` and `confidence`,
    /// which can hold all words.
    pub fn write(&self, induced: &[Induced], path: &Path) -> Result<usize> {
        let [from, to] = [0, 1].map(|side| self.views[side].as_str());
        #[cfg(feature = "parquet")]
        if let Some(format) = TableFormat::of_name(path) {
            let criterion = self.forth.criterion();
            super::table::write_induced(induced, [(from, &self.source), (to, &self.target)], criterion, path, format)?;
            return Ok(0);
        }
        write_induced(induced, (from, &self.source), (to, &self.target), path)
    }

    /// The columns of the table that [`Induction::write`] writes.
    #[cfg(feature = "parquet")]
    pub fn record_batch(&self, induced: &[Induced]) -> arrow_array::RecordBatch {
        let views = [(self.views[0].as_str(), &self.source), (self.views[1].as_str(), &self.target)];
        super::table::induced_batch(induced, views, self.forth.criterion())
    }
}

fn write_induced(
    induced: &[Induced],
    (from, source): (&str, &Embeddings),
    (to, target): (&str, &Embeddings),
    path: &Path,
) -> Result<usize> {
    let mut output = Output::create(path)?;
    let has_confidence = induced.iter().all(|pair| pair.confidence.is_some());
    let header = format!("# {from}\t{to}\t{SCORE}{}\n", if has_confidence { "\tconfidence" } else { "" });
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
    use crate::vectors::Matrix;

    fn rows(values: &[f32]) -> Embeddings {
        let words = (0..values.len() / 2).map(|row| row.to_string()).collect::<Vec<_>>();
        Embeddings::new(words.iter().map(String::as_str).collect(), Matrix::new(values.to_vec(), 2))
    }

    fn retriever(source: &Embeddings, target: &Embeddings) -> Retriever {
        Retriever::new(source.matrix().clone(), target.matrix().clone(), Criterion::Nn, &()).unwrap()
    }

    #[test]
    fn mutual_pairs_are_best_both_ways() {
        // Both words of the source are nearest to the first target, which is nearest to the second of them. The zero
        // vector has no translation.
        let source = rows(&[1.0, 0.5, 1.0, 0.1, 0.5, -1.0, 0.0, 0.0]);
        let target = rows(&[1.0, 0.0, -0.2, -1.0]);
        let back = retriever(&target, &source);
        let calibration = Calibration {
            temperature: 0.1,
            slope: 1.0,
            offset: 0.0,
            level: 0.0,
            rarity: 0.0,
            commonness: None,
            usual: 0.0,
            range: [0.0; 2],
        };
        let induction = Induction {
            views: ["a", "b"].map(str::to_owned),
            words: 4,
            forth: retriever(&source, &target),
            back: None,
            calibration: Some(calibration),
            min_confidence: 0.0,
            source,
            target,
        };
        let pairs = |induction: &Induction| -> Vec<(usize, usize)> {
            induction.run(&()).unwrap().iter().map(|pair| (pair.from, pair.to)).collect()
        };
        assert_eq!(pairs(&induction), [(0, 0), (1, 0), (2, 1)]);
        let mutual = Induction { back: Some(back), ..induction };
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
        // The file says of which views it is, so that it can be read without naming them, among any number of views.
        let read = lexicon::read(&path, &["b", "c", "a"], &Default::default()).unwrap();
        assert_eq!(read.lexicon.views(), ["a", "b"]);
    }
}

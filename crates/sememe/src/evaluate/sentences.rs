//! Sentence retrieval: finds the translation of a sentence among all sentences of the other language.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bags::Bags;
use super::ranks::{DEPTH, Intervals, Ranks};
use super::scored_pairs::utf8_line;
use super::weighting::{inverse_document_frequencies, mean_vector};
use super::{Bootstrap, Words};
use crate::error::{Error, Place, Result};
use crate::files::{BYTE_ORDER_MARK, Input};
use crate::lexicon::lines;
use crate::names::setters;
use crate::observe::{Meter, Observer, Stage};
use crate::random::Random;
use crate::retrieve::{Criterion, Retriever};
use crate::vectors::{Embeddings, Matrix, ROWS_AT_A_TIME};

/// Text is taken for another language where more than this fraction of its sentences has no known word.
const MAX_WITHOUT_WORDS: f64 = 0.9;

/// A parallel corpus of two languages as sentence vectors: means of word vectors, weighted by the inverse document
/// frequency `ln(n / df)`, where `df` of the `n` sentences of that language contain the word.
pub struct Corpus {
    lines: usize,
    sides: [Side; 2],
}

/// The sentences of one language with a nonzero vector: at least one word has a vector and a nonzero weight.
struct Side {
    vectors: Matrix,
    /// The line number of each sentence, ascending.
    lines: Vec<usize>,
}

impl Side {
    fn of(sentences: &Bags, embeddings: &Embeddings) -> Self {
        let vectors = vectors_of(sentences, embeddings);
        let has_direction = |line: &usize| vectors.row(*line).iter().any(|&x| x != 0.0);
        let lines: Vec<usize> = (0..vectors.rows()).filter(has_direction).collect();
        let vectors = if lines.len() == vectors.rows() { vectors } else { vectors.select(&lines) };
        Side { vectors, lines }
    }

    /// The rows of these lines; `None` for lines without a vector.
    fn rows_of(&self, lines: &[usize]) -> Vec<Option<usize>> {
        lines.iter().map(|line| self.lines.binary_search(line).ok()).collect()
    }
}

/// Number of sentences of each file that MUSE reads, and the default of the command and Python.
pub const MAX_SENTENCES: usize = 200_000;

impl Corpus {
    /// Reads two files with one sentence per line, plain or compressed, at most the first `most` lines of each (see
    /// [`MAX_SENTENCES`]). Besides the vectors, it needs memory for a block of text and four bytes per word.
    pub fn read(paths: [&Path; 2], views: [Words; 2], most: usize, observer: &dyn Observer) -> Result<Self> {
        let [source, target] = paths.map(Input::open);
        Self::read_inputs([&source?, &target?], views, most, observer)
    }

    /// [`Corpus::read`] on data in memory.
    pub fn read_inputs(inputs: [&Input; 2], views: [Words; 2], most: usize, observer: &dyn Observer) -> Result<Self> {
        let sentences = ParallelSentences::read_inputs(inputs, views, most, observer)?;
        sentences.with_vectors(views.map(|words| words.embeddings))
    }

    /// Number of sentences per language.
    pub fn len(&self) -> usize {
        self.lines
    }

    /// True if the corpus has no sentences.
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }
}

/// A parallel corpus as rows of two vocabularies, which several models of the same words share.
pub struct ParallelSentences {
    paths: [PathBuf; 2],
    words: [Bags; 2],
}

impl ParallelSentences {
    /// Reads two files as [`Corpus::read`] does.
    pub fn read(paths: [&Path; 2], views: [Words; 2], most: usize, observer: &dyn Observer) -> Result<Self> {
        let [source, target] = paths.map(Input::open);
        Self::read_inputs([&source?, &target?], views, most, observer)
    }

    fn read_inputs(inputs: [&Input; 2], views: [Words; 2], most: usize, observer: &dyn Observer) -> Result<Self> {
        let (first, first_lines) = read_bags(inputs[0], views[0], most, observer)?;
        let (second, second_lines) = read_bags(inputs[1], views[1], most, observer)?;
        if first_lines != second_lines {
            let problem = format!(
                "has {second_lines} lines, but {} has {first_lines}: line by line they must be translations of each other",
                inputs[0].path().display()
            );
            return Err(Error::malformed(inputs[1].path(), Place::Line(first_lines.min(second_lines) + 1), problem));
        }
        Ok(ParallelSentences { paths: inputs.map(|input| input.path().to_owned()), words: [first, second] })
    }

    /// The sentences as vectors, by vectors of the words that they were read with.
    pub fn with_vectors(&self, embeddings: [&Embeddings; 2]) -> Result<Corpus> {
        let lines = self.words[0].len();
        let sides = [0, 1].map(|side| Side::of(&self.words[side], embeddings[side]));
        for ((side, path), embeddings) in sides.iter().zip(&self.paths).zip(embeddings) {
            let without = lines - side.lines.len();
            let found = match side.lines.len() {
                0 => "none of its words has a vector".to_owned(),
                _ if without as f64 > MAX_WITHOUT_WORDS * lines as f64 => {
                    format!("{without} of its {lines} sentences have no word with a vector")
                }
                _ => continue,
            };
            let problem = format!(
                "{found} among {} words, or all are in every line; check the view, the language and the casing",
                embeddings.len()
            );
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        Ok(Corpus { lines, sides })
    }
}

/// The words of every sentence of a file, and its number of lines.
fn read_bags(input: &Input, words: Words, most: usize, observer: &dyn Observer) -> Result<(Bags, u64)> {
    let mut bags = Bags::default();
    let mut blocks = input.blocks()?;
    let mut lines_before = 0;
    let meter = Meter::new(observer, Stage::Reading, most);
    while let Some(block) = blocks.next()? {
        let block = if lines_before == 0 { block.strip_prefix(BYTE_ORDER_MARK).unwrap_or(block) } else { block };
        let block = block.strip_suffix(b"\n").unwrap_or(block);
        let in_block = memchr::memchr_iter(b'\n', block).count() as u64 + 1;
        let sentences: Vec<(u64, &[u8])> = lines(block).take(most - bags.len()).collect();
        let of_line =
            |&(number, line): &(u64, &[u8])| Ok(words.of_sentence(utf8_line(input, lines_before + number, line)?));
        let found: Vec<Vec<u32>> = sentences.par_iter().map(of_line).collect::<Result<_>>()?;
        found.iter().for_each(|sentence| bags.push(sentence));
        lines_before += in_block;
        meter.advance(sentences.len())?;
    }
    Ok((bags, lines_before))
}

fn vectors_of(sentences: &Bags, embeddings: &Embeddings) -> Matrix {
    let weights = inverse_document_frequencies(&[sentences], embeddings.len());
    let dim = embeddings.dim();
    let mut vectors = vec![0.0_f32; sentences.len() * dim];
    vectors.par_chunks_mut(ROWS_AT_A_TIME * dim).enumerate().for_each(|(chunk, rows)| {
        for (row, out) in rows.chunks_exact_mut(dim).enumerate() {
            let mean = mean_vector(embeddings, &weights, sentences.get(chunk * ROWS_AT_A_TIME + row));
            out.iter_mut().zip(mean).for_each(|(out, x)| *out = x as f32);
        }
    });
    Matrix::new(vectors, dim)
}

/// Where criteria such as CSLS search the neighbours of a target sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Neighbours {
    /// Among the queries, as MUSE does.
    #[default]
    Queries,
    /// Among all sentences of the source language.
    All,
}

/// Options of sentence retrieval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SentenceOptions {
    /// Number of queries, drawn at random; all sentences if there are fewer.
    pub queries: usize,
    /// The random seed that draws the queries.
    pub seed: u64,
    /// The criterion that ranks candidates.
    pub criterion: Criterion,
    /// Where neighbours of targets are searched.
    pub neighbours: Neighbours,
}

impl Default for SentenceOptions {
    /// The protocol of MUSE: 2,000 queries.
    fn default() -> Self {
        SentenceOptions { queries: 2000, seed: 0, criterion: Criterion::Nn, neighbours: Neighbours::Queries }
    }
}

impl SentenceOptions {
    /// Checks the options. Call it before reading the corpus.
    pub fn check(&self) -> Result<()> {
        if self.queries == 0 {
            return Err(Error::argument("queries", 0, "at least one sentence must be looked for"));
        }
        match self.criterion.is_generative() {
            true => {
                let problem = format!("{} is for words: the model says nothing of sentences", self.criterion);
                Err(Error::Request(problem))
            }
            false => Ok(()),
        }
    }
}

/// Results of sentence retrieval.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sentences {
    /// Number of queries.
    pub queries: usize,
    /// Number of candidates: all sentences of the target language with known words.
    pub candidates: usize,
    /// Sentences of the source language without known words; as queries they count as not found.
    pub source_without_words: usize,
    /// Sentences of the target language without known words. They are no candidates, and their translations count as
    /// not found.
    pub target_without_words: usize,
    /// Precision at 1, 5 and 10: per cent of queries whose translation is among the first candidates.
    pub precision: BTreeMap<usize, f64>,
    /// Mean reciprocal rank, times 100; translations beyond the first [`DEPTH`] candidates count 0.
    pub mrr: f64,
    /// The criterion that ranked the candidates.
    pub criterion: Criterion,
    /// Where neighbours of targets were searched.
    pub neighbours: Neighbours,
    #[serde(skip)]
    ranks: Ranks,
}

impl Sentences {
    /// 95 % confidence intervals of precision and mean reciprocal rank.
    pub fn intervals(&self, bootstrap: &Bootstrap) -> Intervals {
        self.ranks.intervals(bootstrap)
    }
}

/// Searches the translations of sentences of language `from` (0 or 1) of a corpus among all sentences of the other.
/// Both directions draw the same lines.
pub fn sentences(
    corpus: &Corpus,
    from: usize,
    options: &SentenceOptions,
    observer: &dyn Observer,
) -> Result<Sentences> {
    options.check()?;
    let (source, target) = (&corpus.sides[from], &corpus.sides[1 - from]);
    let drawn = draw(corpus.len(), options.queries, options.seed);
    // Zero vectors can be neither queries nor results.
    let rows: Vec<Option<(usize, usize)>> = source
        .rows_of(&drawn)
        .into_iter()
        .zip(target.rows_of(&drawn))
        .map(|(query, answer)| query.zip(answer))
        .collect();
    let queries = source.vectors.select(&rows.iter().flatten().map(|(query, _)| *query).collect::<Vec<_>>());
    if queries.rows() == 0 {
        let problem = format!("none of {} sentences drawn has known words, and its translation too", drawn.len());
        return Err(Error::NotEnoughData(problem));
    }
    let neighbours = match options.neighbours {
        Neighbours::Queries => &queries,
        Neighbours::All => &source.vectors,
    };
    let retriever = Retriever::new(neighbours.clone(), target.vectors.clone(), options.criterion, observer)?;
    let mut found = retriever.rank(&queries, DEPTH, observer)?.into_iter();
    let mut rank = |row: &Option<(usize, usize)>| -> Option<usize> {
        let (_, answer) = (*row)?;
        found.next()?.iter().position(|hit| hit.index == answer).map(|place| place + 1)
    };
    let ranks = Ranks(rows.iter().map(&mut rank).collect());
    Ok(Sentences {
        queries: drawn.len(),
        candidates: target.lines.len(),
        source_without_words: corpus.len() - source.lines.len(),
        target_without_words: corpus.len() - target.lines.len(),
        precision: ranks.precision(),
        mrr: ranks.mrr(),
        criterion: options.criterion,
        neighbours: options.neighbours,
        ranks,
    })
}

/// `count` distinct random numbers below `all`, ascending.
fn draw(all: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut numbers: Vec<usize> = (0..all).collect();
    let count = count.min(all);
    for at in 0..count {
        numbers.swap(at, at + random.below(all - at));
    }
    numbers.truncate(count);
    numbers.sort_unstable();
    numbers
}

setters!(SentenceOptions {
    /// Sets [`SentenceOptions::queries`].
    with_queries: queries = usize,
    /// Sets [`SentenceOptions::seed`].
    with_seed: seed = u64,
    /// Sets [`SentenceOptions::criterion`].
    with_criterion: criterion = Criterion,
    /// Sets [`SentenceOptions::neighbours`].
    with_neighbours: neighbours = Neighbours,
});

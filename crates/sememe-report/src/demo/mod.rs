//! The whole pipeline on real vectors and a dictionary that are part of the program.

mod learning;
mod report;

use std::path::PathBuf;

use sememe::align::{self, Aligned, align};
use sememe::evaluate::{self, Translation};
use sememe::files::Input;
use sememe::lexicon::{self, Lexicon, Tuples};
use sememe::moments;
use sememe::prepare::Casing;
use sememe::prepare::Step;
use sememe::retrieve::{Criterion, Retriever};
use sememe::vectors::{self, Embeddings, ReadOptions, View};

use crate::error::Result;

/// Words of the test split whose translations show what the space knows.
const SHOWN: [&str; 8] = ["kitchen", "dog", "seventeen", "nurse", "kingdom", "anger", "crazy", "imagine"];
const CANDIDATES: usize = 3;
/// Enough for retrieval: the precision converges long before the likelihood.
const EVALUATIONS: usize = 15;

/// A language of the demo.
#[non_exhaustive]
pub struct Language {
    /// Its code, which is the name of its view.
    pub code: &'static str,
    /// Its name in English.
    pub name: &'static str,
    vectors: &'static [u8],
    words: &'static str,
}

/// English first.
pub static LANGUAGES: [Language; 4] = [
    Language {
        code: "en",
        name: "English",
        vectors: include_bytes!("../../demo/en.npy.zst"),
        words: include_str!("../../demo/en.words.txt"),
    },
    Language {
        code: "fr",
        name: "French",
        vectors: include_bytes!("../../demo/fr.npy.zst"),
        words: include_str!("../../demo/fr.words.txt"),
    },
    Language {
        code: "ru",
        name: "Russian",
        vectors: include_bytes!("../../demo/ru.npy.zst"),
        words: include_str!("../../demo/ru.words.txt"),
    },
    Language {
        code: "fi",
        name: "Finnish",
        vectors: include_bytes!("../../demo/fi.npy.zst"),
        words: include_str!("../../demo/fi.words.txt"),
    },
];
const TRAIN: &str = include_str!("../../demo/concepts.train.tsv");
const TEST: &str = include_str!("../../demo/concepts.test.tsv");

impl Language {
    fn embeddings(&self) -> sememe::Result<Embeddings> {
        let file = |ending: &str| PathBuf::from(format!("{}{ending}", self.code));
        let vectors = Input::from_bytes(file(".npy.zst"), self.vectors.to_vec())?;
        let words = Input::from_bytes(file(".words.txt"), self.words.as_bytes().to_vec())?;
        Ok(vectors::read_input(&vectors, Some(&words), &ReadOptions::default(), &())?.embeddings)
    }
}

/// Four languages, aligned and evaluated.
#[non_exhaustive]
pub struct Demo {
    /// The model and the projected words.
    pub aligned: Aligned,
    /// The tuples that it was fitted to.
    pub tuples: Tuples,
    /// Precision from every language to every other on held-out words.
    pub directions: Vec<Direction>,
    /// Held-out English words and their translations.
    pub examples: Vec<Example>,
    /// The unprepared vectors, in the order of the languages.
    views: Vec<(String, Embeddings)>,
}

/// The precision of translation from one language to another.
#[non_exhaustive]
pub struct Direction {
    /// The index of the source language in [`LANGUAGES`].
    pub from: usize,
    /// The index of the target language.
    pub to: usize,
    /// By CSLS.
    pub result: Translation,
}

/// An English word and its candidates.
#[non_exhaustive]
pub struct Example {
    /// The word.
    pub word: String,
    /// The nearest words of every other language, nearest first.
    pub candidates: Vec<Vec<String>>,
}

impl Demo {
    /// Reads, aligns, evaluates and translates; it takes some seconds.
    pub fn run() -> Result<Self> {
        let views = read_languages()?;
        let (aligned, tuples) = align_languages(views.clone())?;
        let latent: Vec<Embeddings> = aligned.latent.iter().flatten().map(|latent| latent.view.named()).collect();
        let compared = |view: usize, other: usize| {
            let vectors = aligned.alignment.compared_with(view, other, latent[view].matrix().clone())?;
            Ok(latent[view].with_matrix(vectors))
        };
        let directions = evaluate_all(compared)?;
        let examples = translate_shown(compared)?;
        Ok(Demo { aligned, tuples, directions, examples, views })
    }

    /// The result from one language to another; `None` from a language to itself.
    pub fn direction(&self, from: usize, to: usize) -> Option<&Direction> {
        self.directions.iter().find(|direction| (direction.from, direction.to) == (from, to))
    }
}

fn read_languages() -> sememe::Result<Vec<(String, Embeddings)>> {
    LANGUAGES.iter().map(|language| Ok((language.code.to_owned(), language.embeddings()?))).collect()
}

fn align_languages(views: Vec<(String, Embeddings)>) -> Result<(Aligned, Tuples)> {
    let train = concepts("concepts.train.tsv", TRAIN)?;
    let mut tuples = Tuples::new(views.len());
    let vocabularies: Vec<_> = views.iter().map(|(name, view)| (name.as_str(), view.vocabulary())).collect();
    tuples.add_lexicon(&train, &vocabularies)?;
    let evidence = moments::EvidenceOptions::default().with_casing(Casing::Lower).with_normalize(vec![Step::Unit]);
    let mut options = align::AlignOptions::default().with_evidence(evidence);
    options.fit.mbfa.evaluations = EVALUATIONS;
    let views = views.into_iter().map(|(name, embeddings)| View::from_embeddings(name, embeddings)).collect();
    Ok((align(views, &tuples, &options, &())?, tuples))
}

fn concepts(name: &str, text: &str) -> sememe::Result<Lexicon> {
    let file = Input::from_bytes(name, text.as_bytes().to_vec())?;
    Ok(lexicon::read_tuples_input(&file, &Default::default())?.lexicon)
}

/// Every language to every other on the test words. `compared` are the words of a language in the coordinates in which
/// they are compared with another.
fn evaluate_all(compared: impl Fn(usize, usize) -> sememe::Result<Embeddings>) -> Result<Vec<Direction>> {
    let test = concepts("concepts.test.tsv", TEST)?;
    let mut directions = Vec::new();
    for (from, source) in LANGUAGES.iter().enumerate() {
        for (to, target) in LANGUAGES.iter().enumerate().filter(|&(to, _)| to != from) {
            let gold = test.restricted(&[source.code, target.code])?;
            let (source, target) = (compared(from, to)?, compared(to, from)?);
            let retriever = Retriever::new(source.matrix().clone(), target.matrix().clone(), Criterion::CSLS, &())?;
            let result = evaluate::translation(&source, &target, &gold, &retriever, &())?;
            directions.push(Direction { from, to, result });
        }
    }
    Ok(directions)
}

fn translate_shown(compared: impl Fn(usize, usize) -> sememe::Result<Embeddings>) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    for to in 1..LANGUAGES.len() {
        let (english, target) = (compared(0, to)?, compared(to, 0)?);
        let rows: Vec<usize> = SHOWN.iter().filter_map(|word| english.vocabulary().get(word)).collect();
        let retriever = Retriever::new(english.matrix().clone(), target.matrix().clone(), Criterion::CSLS, &())?;
        let hits = retriever.nearest(&english.matrix().select(&rows), CANDIDATES, &())?;
        if examples.is_empty() {
            let example = |&row: &usize| Example { word: english.word(row).to_owned(), candidates: Vec::new() };
            examples.extend(rows.iter().map(example));
        }
        for (example, hits) in examples.iter_mut().zip(hits) {
            example.candidates.push(hits.iter().map(|hit| target.word(hit.index).to_owned()).collect());
        }
    }
    Ok(examples)
}

//! Complete results of evaluations but that of [translation](super::translation_evaluation), which serialise to the JSON of
//! the command.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::{
    Analogies, Analogy, Bootstrap, Corpus, Intervals, ScoredPairs, SentenceOptions, SentencePairs, Sentences,
    Similarity, Sts, StsYear, Weighting, Words, analogy, sentences, similarity, sts, sts_years,
};
use crate::error::Result;
use crate::observe::Observer;
use crate::prepare::Casing;

/// Word similarity on several datasets.
///
/// ```
/// use sememe::evaluate::{ScoredPair, ScoredPairs, SimilarityEvaluation, Words};
/// use sememe::{prepare::Casing, vectors::{Embeddings, Matrix}};
///
/// let rows = Matrix::new(vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0], 2);
/// let embeddings = Embeddings::new(["dog", "cat", "car"].into_iter().collect(), rows);
/// let words = Words { embeddings: &embeddings, casing: Casing::Lower };
/// let pair = |a: &str, b: &str, score| ScoredPair { words: [a.to_owned(), b.to_owned()], score };
/// let pairs = vec![pair("dog", "cat", 9.0), pair("dog", "car", 1.0), pair("cat", "car", 1.5)];
/// let set = ScoredPairs { name: "set".to_owned(), pairs, header: None };
/// let evaluation = SimilarityEvaluation::new(&["en"], [words, words], &[("set.txt".into(), set)])?;
/// assert!((evaluation.sets[0].spearman - 1.0).abs() < 1e-9);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimilarityEvaluation {
    /// The names of the views, one or two, if they have names.
    pub views: Vec<String>,
    /// Whether words keep their case.
    pub casing: Casing,
    /// The results of all datasets that could be evaluated.
    pub sets: Vec<Similarity>,
    /// Error messages of the other datasets.
    pub failed: Vec<String>,
}

impl SimilarityEvaluation {
    /// Evaluates datasets, given with their files. Returns an error only if no dataset can be evaluated.
    pub fn new(views: &[&str], words: [Words; 2], sets: &[(PathBuf, ScoredPairs)]) -> Result<Self> {
        let (mut results, mut failed, mut first_error) = (Vec::new(), Vec::new(), None);
        for (file, set) in sets {
            match similarity(words, set) {
                Ok(result) => results.push(result),
                Err(error) => {
                    failed.push(format!("{}: {error}", file.display()));
                    first_error.get_or_insert(error.within(file.display().to_string()));
                }
            }
        }
        match first_error.filter(|_| results.is_empty()) {
            Some(error) => Err(error),
            None => {
                let views = views.iter().map(|&view| view.to_owned()).collect();
                Ok(SimilarityEvaluation { views, casing: words[0].casing, sets: results, failed })
            }
        }
    }
}

/// Word analogies within one view.
///
/// ```
/// use sememe::evaluate::{Analogies, AnalogyEvaluation, Words};
/// use sememe::{prepare::Casing, vectors::{Embeddings, Matrix}};
///
/// let rows = Matrix::new(vec![1., 0., 0., 0., 1., 0., 1., 0., 1., 0., 1., 1.], 3);
/// let embeddings = Embeddings::new(["man", "woman", "king", "queen"].into_iter().collect(), rows);
/// let words = Words { embeddings: &embeddings, casing: Casing::Lower };
/// let question = ["man", "woman", "king", "queen"].map(str::to_owned);
/// let questions = Analogies { sections: vec![("family".to_owned(), vec![question])] };
/// let evaluation = AnalogyEvaluation::new(Some("en"), words, &questions, &())?;
/// assert_eq!(evaluation.analogy.total.accuracy, Some(100.0));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnalogyEvaluation {
    /// The results of all sections and their totals.
    #[serde(flatten)]
    pub analogy: Analogy,
    /// The name of the view, if it has one.
    pub view: Option<String>,
    /// Whether words keep their case.
    pub casing: Casing,
}

impl AnalogyEvaluation {
    /// Answers all questions.
    pub fn new(view: Option<&str>, words: Words, questions: &Analogies, observer: &dyn Observer) -> Result<Self> {
        let analogy = analogy(words, questions, observer)?;
        Ok(AnalogyEvaluation { analogy, view: view.map(str::to_owned), casing: words.casing })
    }
}

/// Semantic textual similarity on several datasets with one weighting; see [`StsEvaluation`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsSets {
    /// The results of each dataset.
    pub sets: Vec<Sts>,
    /// The averages of each release.
    pub years: Vec<StsYear>,
}

impl StsSets {
    /// Evaluates all datasets.
    pub fn new(words: Words, sets: &[SentencePairs], weighting: &Weighting) -> Result<Self> {
        let sets = sets.iter().map(|set| sts(words, set, weighting)).collect::<Result<Vec<_>>>()?;
        Ok(StsSets { years: sts_years(&sets), sets })
    }
}

/// Semantic textual similarity on several datasets with several weightings.
///
/// ```
/// use sememe::evaluate::{SentencePair, SentencePairs, StsEvaluation, Weighting, Words};
/// use sememe::{prepare::Casing, vectors::{Embeddings, Matrix}};
///
/// let rows = Matrix::new(vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0], 2);
/// let embeddings = Embeddings::new(["dog", "cat", "car"].into_iter().collect(), rows);
/// let words = Words { embeddings: &embeddings, casing: Casing::Lower };
/// let pair = |a: &str, b: &str, score| SentencePair { sentences: [a.to_owned(), b.to_owned()], score };
/// let pairs = vec![pair("A dog.", "A cat.", 5.0), pair("A dog.", "A car.", 1.0), pair("A cat.", "A car.", 2.0)];
/// let set = SentencePairs { year: "STS12".to_owned(), name: "pets".to_owned(), pairs, without_score: 0 };
/// let evaluation = StsEvaluation::new(Some("en"), words, &[set], &[Weighting::TfIdf])?;
/// assert!((evaluation.weightings["tfidf"].years[0].spearman - 1.0).abs() < 1e-9);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StsEvaluation {
    /// The name of the view, if it has one.
    pub view: Option<String>,
    /// Whether words keep their case.
    pub casing: Casing,
    /// Number of sentence pairs left out because they have no score.
    pub pairs_without_score: usize,
    /// Results by [name of the weighting](Weighting::name).
    pub weightings: BTreeMap<&'static str, StsSets>,
}

impl StsEvaluation {
    /// Evaluates all datasets with all weightings.
    pub fn new(view: Option<&str>, words: Words, sets: &[SentencePairs], weightings: &[Weighting]) -> Result<Self> {
        let of_weighting = |weighting: &Weighting| Ok((weighting.name(), StsSets::new(words, sets, weighting)?));
        Ok(StsEvaluation {
            view: view.map(str::to_owned),
            casing: words.casing,
            pairs_without_score: sets.iter().map(|set| set.without_score).sum(),
            weightings: weightings.iter().map(of_weighting).collect::<Result<_>>()?,
        })
    }
}

/// Sentence retrieval in one direction with one criterion; see [`SentenceEvaluations`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SentenceEvaluation {
    /// Precision and mean reciprocal rank (MRR).
    #[serde(flatten)]
    pub sentences: Sentences,
    /// The name of the source language.
    pub from: String,
    /// The name of the target language.
    pub to: String,
    /// 95 % confidence intervals.
    pub intervals: Intervals,
}

impl SentenceEvaluation {
    /// Evaluates sentence retrieval from language `from` (0 or 1) of a corpus to the other. `names` are the names of
    /// its languages.
    pub fn new(
        corpus: &Corpus,
        names: [&str; 2],
        from: usize,
        options: &SentenceOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let sentences = sentences(corpus, from, options, observer)?;
        let intervals = sentences.intervals(&Bootstrap { seed: options.seed, ..Default::default() });
        let [from, to] = [names[from], names[1 - from]].map(str::to_owned);
        Ok(SentenceEvaluation { sentences, from, to, intervals })
    }
}

/// Sentence retrieval in one corpus, in several directions or with several criteria.
///
/// ```
/// use sememe::evaluate::{Corpus, SentenceEvaluation, SentenceEvaluations, Words};
/// use sememe::{files::Input, prepare::Casing, vectors::{Embeddings, Matrix}};
///
/// let rows = || Matrix::new(vec![1.0, 0.1, 0.0, 0.0, 1.0, 0.1, 0.1, 0.0, 1.0], 3);
/// let en = Embeddings::new(["dog", "cat", "bird"].into_iter().collect(), rows());
/// let fr = Embeddings::new(["chien", "chat", "oiseau"].into_iter().collect(), rows());
/// let words = [&en, &fr].map(|embeddings| Words { embeddings, casing: Casing::Lower });
/// let source = Input::from_bytes("en.txt", b"a dog\na cat\na bird\n".to_vec())?;
/// let target = Input::from_bytes("fr.txt", b"un chien\nun chat\nun oiseau\n".to_vec())?;
/// let corpus = Corpus::read_inputs([&source, &target], words, 1000, &())?;
/// let evaluation = SentenceEvaluation::new(&corpus, ["en", "fr"], 0, &Default::default(), &())?;
/// assert_eq!(evaluation.sentences.precision[&1], 100.0);
/// let all = SentenceEvaluations::new(&corpus, 0, Casing::Lower, vec![evaluation]);
/// assert_eq!((all.sentences, all.queries), (3, 3));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SentenceEvaluations {
    /// Number of sentences per language.
    pub sentences: usize,
    /// Number of queries.
    pub queries: usize,
    /// The random seed that the queries were drawn with.
    pub seed: u64,
    /// Whether words keep their case.
    pub casing: Casing,
    /// The results.
    pub evaluations: Vec<SentenceEvaluation>,
}

impl SentenceEvaluations {
    /// Combines results on one corpus.
    pub fn new(corpus: &Corpus, seed: u64, casing: Casing, evaluations: Vec<SentenceEvaluation>) -> Self {
        let queries = evaluations.first().map_or(0, |first| first.sentences.queries);
        SentenceEvaluations { sentences: corpus.len(), queries, seed, casing, evaluations }
    }
}

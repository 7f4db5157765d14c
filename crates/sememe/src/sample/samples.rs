//! Sampled tuples as text, without pairs of the training dictionary.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Candidates, Drawn, draw};
use crate::align::Alignment;
use crate::error::Result;
use crate::lexicon::TrainedPairs;
use crate::vectors::Vocabulary;

/// What sampled vectors were matched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum ComparedWith {
    /// Latent vectors of a space.
    #[serde(rename = "latent vectors")]
    Latent,
    /// Preprocessed vectors.
    #[serde(rename = "vectors")]
    Vectors,
}

/// One sampled word per view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sample {
    /// The word of each view, keyed by the name of the view.
    pub words: BTreeMap<String, String>,
    /// `log p(x_1, …, x_v)` of their vectors, in nats.
    pub log_density: f64,
}

/// The most probable tuples of words sampled from a model, without pairs of its training dictionary.
///
/// ```
/// use sememe::{align, lexicon::Tuples, sample::{Candidates, Samples}};
/// use sememe::vectors::{Embeddings, Matrix, View};
///
/// let view = |name: &str, turn: f32| {
///     let row = |i: usize| { let x = i as f32; [(x + turn).sin(), (2.0 * x).cos() + turn, (0.7 * x).sin()] };
///     let words: Vec<String> = (0..30).map(|i| format!("{name}{i}")).collect();
///     let rows = Matrix::new((0..30).flat_map(row).collect(), 3);
///     View::from_embeddings(name, Embeddings::new(words.iter().map(String::as_str).collect(), rows))
/// };
/// let views = vec![view("a", 0.0), view("b", 0.1)];
/// let mut tuples = Tuples::new(2);
/// (0..20).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
/// let aligned = align::align(views.clone(), &tuples, &Default::default(), &())?;
/// let candidates = Candidates::of_vectors(&aligned.alignment, views)?;
/// let samples = Samples::draw(&aligned.alignment, &candidates, 100, 5, 0)?;
/// assert!(samples.samples.len() <= 5 && samples.distinct <= 100);
/// assert!(samples.samples.is_sorted_by(|one, next| one.log_density >= next.log_density));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Samples {
    /// The views of the model.
    pub views: Vec<String>,
    /// Number of tuples sampled.
    pub drawn: usize,
    /// Number of distinct tuples.
    pub distinct: usize,
    /// Number of distinct tuples left out because they contain a pair of the training dictionary; `None` if that is
    /// unknown.
    pub in_lexicon: Option<usize>,
    /// What sampled vectors were matched with.
    pub compared_with: ComparedWith,
    /// The most probable remaining tuples, largest density first.
    pub samples: Vec<Sample>,
}

impl Samples {
    /// Samples `n` tuples and keeps the `top` most probable without a pair of the training dictionary.
    pub fn draw(alignment: &Alignment, candidates: &Candidates, n: usize, top: usize, seed: u64) -> Result<Self> {
        let names: Vec<&str> = alignment.model.views.iter().map(|view| view.name.as_str()).collect();
        let vocabularies = candidates.words()?;
        let drawn = draw(&alignment.model, &candidates.as_vocabularies(), n, seed)?;
        let distinct = drawn.len();
        let trained = alignment.trained.as_ref();
        let new = without_trained(drawn, trained, &names, &vocabularies);
        let sample = |drawn: &Drawn| {
            let words = names.iter().zip(drawn.spelled(&vocabularies));
            let words = words.map(|(&name, word)| (name.to_owned(), word.to_owned())).collect();
            Sample { words, log_density: drawn.log_density }
        };
        Ok(Samples {
            views: names.iter().map(|&name| name.to_owned()).collect(),
            drawn: n,
            distinct,
            in_lexicon: trained.map(|_| distinct - new.len()),
            compared_with: if candidates.are_latent() { ComparedWith::Latent } else { ComparedWith::Vectors },
            samples: new.iter().take(top).map(sample).collect(),
        })
    }
}

impl Drawn {
    /// The words of the tuple, given the vocabulary of each view.
    pub fn spelled<'a>(&self, vocabularies: &[&'a Vocabulary]) -> Vec<&'a str> {
        self.words.iter().zip(vocabularies).map(|(&row, vocabulary)| vocabulary.word(row)).collect()
    }
}

/// Removes tuples that contain a pair of the training dictionary. `names` and `vocabularies` are those of the views.
pub fn without_trained(
    drawn: Vec<Drawn>,
    trained: Option<&TrainedPairs>,
    names: &[&str],
    vocabularies: &[&Vocabulary],
) -> Vec<Drawn> {
    let Some(trained) = trained else { return drawn };
    let is_new = |drawn: &Drawn| {
        let words: Vec<(&str, &str)> = names.iter().copied().zip(drawn.spelled(vocabularies)).collect();
        let is_trained = |at: usize| words[at + 1..].iter().any(|&other| trained.contains([words[at], other]));
        !(0..words.len()).any(is_trained)
    };
    drawn.into_iter().filter(is_new).collect()
}

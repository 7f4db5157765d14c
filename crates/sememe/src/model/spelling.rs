//! Coordinates of spelling: names, cognates and loan words resemble their translations, in whatever script.
//!
//! A word is the bag of its character n-grams, weighted by their rarity. A linear map for each view, learned from
//! training entries, takes it to coordinates that the views share, in which words that are spelled alike, as far as the
//! entries teach what is alike, point in one direction. They are further columns of latent vectors, which the generative model knows
//! nothing of: it projects to zeros there. They are small, so that the vectors have the lengths and cosines that they
//! have without them; the [finish](super::Finish) of a pair of views gives them their weight.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Emission, Exponent, Finish, FitOptions, Method, Model, Shrinkage};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::names::serde_as_spelled;
use crate::tensors::{Tensor, TensorFile};
use crate::vectors::{Matrix, Vocabulary};

/// The length of the columns of spelling, relative to the others: a power of two, which costs no precision. Squared it is
/// beyond the precision of the numbers.
const SCALE: f64 = 1.0 / 8192.0;
/// Lengths of the n-grams.
const NGRAMS: std::ops::RangeInclusive<usize> = 1..=3;
/// What marks the beginning and the end of a word in its n-grams.
const ENDS: [char; 2] = ['<', '>'];

/// Whether words are compared by their spelling, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SpellingUse {
    /// Where held-out translations are clearly found better with it, for IBFA and MBFA. Never where covariances are not
    /// shrunk, which is the maximum likelihood estimate of the paper, and not for latent vectors that are weighted in another
    /// way than posterior means.
    #[default]
    Auto,
    /// By vectors alone.
    None,
}

serde_as_spelled!(SpellingUse);

impl FromStr for SpellingUse {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(SpellingUse::Auto),
            "none" => Ok(SpellingUse::None),
            _ => Err(Error::argument("spelling", text, "it must be auto or none")),
        }
    }
}

impl fmt::Display for SpellingUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SpellingUse::Auto => "auto",
            SpellingUse::None => "none",
        })
    }
}

impl FitOptions {
    /// Whether a fit by this method may compare words by their spelling.
    pub(crate) fn may_spell(&self, method: Method) -> bool {
        self.spelling == SpellingUse::Auto
            && matches!(method, Method::Ibfa | Method::Mbfa)
            && self.shrinkage != Shrinkage::None
            && !matches!(self.exponent, Exponent::Of(_))
            && !self.dewhiten
    }
}

/// How words of the views of a model are spelled: the last columns of latent vectors.
#[derive(Debug, Clone)]
pub struct Spelling {
    /// Number of columns.
    pub(crate) columns: usize,
    /// The maps; views without words, or without training entries, have none.
    pub(crate) views: Vec<Option<Arc<ViewSpelling>>>,
}

/// The coordinates of n-grams of one view.
#[derive(Debug)]
pub(crate) struct ViewSpelling {
    pub(crate) ngrams: Vocabulary,
    /// The logarithm of one over the share of words that have the n-gram.
    pub(crate) rarity: Vec<f64>,
    /// A column for each n-gram.
    pub(crate) map: Mat,
    /// The mean of words after the map.
    pub(crate) mean: Vec<f64>,
}

/// The n-grams of a word in any casing, each as often as it is there.
pub(crate) fn for_each_ngram(word: &str, mut handle: impl FnMut(&str)) {
    let mut marked = String::with_capacity(word.len() + 2);
    marked.push(ENDS[0]);
    word.chars().flat_map(char::to_lowercase).for_each(|letter| marked.push(letter));
    marked.push(ENDS[1]);
    let starts: Vec<usize> = marked.char_indices().map(|(at, _)| at).chain([marked.len()]).collect();
    for length in NGRAMS {
        for ends in starts.windows(length + 1) {
            handle(&marked[ends[0]..ends[length]]);
        }
    }
}

/// The n-grams of a word that are among the known ones, with their weights, as a vector of length 1. Empty without any.
pub(crate) fn features(word: &str, ngrams: &Vocabulary, rarity: &[f64]) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    for_each_ngram(word, |ngram| found.extend(ngrams.get(ngram)));
    found.sort_unstable();
    let weighted = |same: &[usize]| (same[0], same.len() as f64 * rarity[same[0]]);
    let mut features: Vec<(usize, f64)> = found.chunk_by(|a, b| a == b).map(weighted).collect();
    let length = features.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
    if length == 0.0 {
        return Vec::new();
    }
    features.iter_mut().for_each(|(_, x)| *x /= length);
    features
}

impl ViewSpelling {
    /// The direction of a word; zeros if none of its n-grams is known.
    pub(crate) fn direction(&self, word: &str) -> Vec<f64> {
        let features = features(word, &self.ngrams, &self.rarity);
        let mut sum = vec![0.0; self.map.nrows()];
        if features.is_empty() {
            return sum;
        }
        for (ngram, weight) in features {
            sum.iter_mut().zip(self.map.col_as_slice(ngram)).for_each(|(sum, x)| *sum += weight * x);
        }
        sum.iter_mut().zip(&self.mean).for_each(|(sum, mean)| *sum -= mean);
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        sum.iter_mut().for_each(|x| *x /= length.max(f64::MIN_POSITIVE));
        sum
    }
}

/// The name of an array of a view.
fn array(view: usize, what: &str) -> String {
    format!("spelling.{view}.{what}")
}

impl Spelling {
    pub(crate) fn tensors(&self) -> Vec<(String, Tensor<'static>)> {
        let mut tensors = Vec::new();
        for (view, of_view) in self.views.iter().enumerate() {
            let Some(ViewSpelling { ngrams, rarity, map, mean }) = of_view.as_deref() else { continue };
            let lines: String = ngrams.iter().flat_map(|ngram| [ngram, "\n"]).collect();
            tensors.push((array(view, "ngrams"), Tensor::bytes(lines.into_bytes())));
            tensors.push((array(view, "rarity"), Tensor::f64s(rarity)));
            tensors.push((array(view, "map"), Tensor::matrix(map)));
            tensors.push((array(view, "mean"), Tensor::f64s(mean)));
        }
        tensors
    }

    pub(crate) fn read(file: &TensorFile, columns: usize, views: usize) -> Result<Self> {
        let of_view = |view: usize| {
            let name = array(view, "ngrams");
            if !file.has(&name) {
                return Ok(None);
            }
            let damaged = || file.error(format!("the array {name:?} is damaged"));
            let lines = std::str::from_utf8(file.bytes(&name)?).map_err(|_| damaged())?;
            let mut ngrams = Vocabulary::new();
            if !lines.lines().all(|ngram| ngrams.push(ngram)) {
                return Err(damaged());
            }
            Ok(Some(Arc::new(ViewSpelling {
                rarity: file.f64s(&array(view, "rarity"), ngrams.len())?,
                map: file.matrix(&array(view, "map"), columns, ngrams.len())?,
                mean: file.f64s(&array(view, "mean"), columns)?,
                ngrams,
            })))
        };
        Ok(Spelling { columns, views: (0..views).map(of_view).collect::<Result<_>>()? })
    }
}

impl Model {
    /// Number of the columns of latent vectors that are of spelling; they are the last ones.
    pub fn spelling_columns(&self) -> usize {
        self.spelling.as_ref().map_or(0, |spelling| spelling.columns)
    }

    /// Fills the columns of spelling in, as long as the other columns of a row times a small factor. `word` is the word of
    /// a row.
    pub fn spell<'a>(&self, view: usize, latent: &mut Matrix, word: impl Fn(usize) -> &'a str + Sync) {
        self.spell_rows(view, latent.as_mut_slice(), word);
    }

    /// [`Model::spell`] for the numbers of consecutive rows.
    pub(super) fn spell_rows<'a>(&self, view: usize, latent: &mut [f32], word: impl Fn(usize) -> &'a str + Sync) {
        let Some(spelling) = &self.spelling else { return };
        let Some(of_view) = &spelling.views[view] else { return };
        let (size, first) = (self.latent(), self.latent() - spelling.columns);
        latent.par_chunks_exact_mut(size).enumerate().for_each(|(row, values)| {
            let (meaning, spelled) = values.split_at_mut(first);
            let length = meaning.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            let direction = of_view.direction(word(row));
            spelled.iter_mut().zip(direction).for_each(|(out, x)| *out = (SCALE * length * x) as f32);
        });
    }

    /// The model with columns of spelling, which count in the comparisons of pairs as their finishes say.
    pub(crate) fn with_spelling(mut self, spelling: Spelling) -> Self {
        let columns = spelling.columns;
        let size = self.latent() + columns;
        for view in &mut self.views {
            view.projection = padded(&view.projection, size, view.projection.ncols());
            if let Some(Emission { w, .. }) = &mut view.emission {
                *w = padded(w, w.nrows(), size);
            }
        }
        self.finishes.iter_mut().for_each(|finish| finish.add_spelling(columns));
        self.spelling = Some(spelling);
        self
    }

    /// The model without columns of spelling.
    pub(crate) fn without_spelling(mut self) -> Self {
        let size = self.factors();
        if self.spelling.take().is_none() {
            return self;
        }
        for view in &mut self.views {
            view.projection = padded(&view.projection, size, view.projection.ncols());
            if let Some(Emission { w, .. }) = &mut view.emission {
                *w = padded(w, w.nrows(), size);
            }
        }
        for finish in &mut self.finishes {
            finish.maps = finish.maps.each_ref().map(|map| Arc::new(padded(map, size, size)));
        }
        self
    }
}

impl Finish {
    /// Adds the columns of spelling to the maps, with the weight that they have for this pair.
    pub(crate) fn add_spelling(&mut self, columns: usize) {
        let factor = self.spelling.sqrt() / SCALE;
        self.maps = self.maps.each_ref().map(|map| {
            let size = map.nrows();
            let mut larger = padded(map, size + columns, size + columns);
            (size..size + columns).for_each(|at| larger[(at, at)] = factor);
            Arc::new(larger)
        });
    }
}

/// The matrix with zeros appended, or cut.
fn padded(matrix: &Mat, rows: usize, cols: usize) -> Mat {
    let is_inside = |i: usize, j: usize| i < matrix.nrows() && j < matrix.ncols();
    Mat::from_fn(rows, cols, |i, j| if is_inside(i, j) { matrix[(i, j)] } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ngrams_know_the_ends_of_words_and_letters_of_any_script() {
        let mut found = Vec::new();
        for_each_ngram("Дa", |ngram| found.push(ngram.to_owned()));
        assert_eq!(found, ["<", "д", "a", ">", "<д", "дa", "a>", "<дa", "дa>"]);
    }

    #[test]
    fn features_have_length_1_and_words_without_known_ngrams_have_none() {
        let ngrams: Vocabulary = ["a", "b"].into_iter().collect();
        assert_eq!(features("aab", &ngrams, &[1.5, 4.0]), [(0, 0.6), (1, 0.8)]);
        assert!(features("xyz", &ngrams, &[1.5, 4.0]).is_empty());
    }
}

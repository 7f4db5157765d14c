//! Words with their vectors.

use std::fmt;
use std::sync::Arc;

use super::{Matrix, Subwords, View, Vocabulary};

/// Words in file order, each with a vector of the same dimension.
///
/// ```
/// use sememe::vectors::{Embeddings, Matrix};
///
/// let words = ["house", "dog"].into_iter().collect();
/// let embeddings = Embeddings::new(words, Matrix::new(vec![1.0, 0.0, 0.6, 0.8], 2));
/// assert_eq!(embeddings.get("dog"), Some(&[0.6, 0.8][..]));
/// ```
#[derive(Clone)]
pub struct Embeddings {
    /// Clones share the words.
    vocabulary: Arc<Vocabulary>,
    matrix: Matrix,
    subwords: Option<Subwords>,
}

impl Embeddings {
    /// Combines words and rows. Panics when their numbers differ.
    pub fn new(vocabulary: Vocabulary, matrix: Matrix) -> Self {
        assert_eq!(vocabulary.len(), matrix.rows(), "one row a word");
        Embeddings { vocabulary: Arc::new(vocabulary), matrix, subwords: None }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// True when there are no words.
    pub fn is_empty(&self) -> bool {
        self.vocabulary.is_empty()
    }

    /// Dimension of the vectors.
    pub fn dim(&self) -> usize {
        self.matrix.cols()
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The vectors, one per row.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Converts into the vectors without their words.
    pub fn into_matrix(self) -> Matrix {
        self.matrix
    }

    pub(crate) fn matrix_mut(&mut self) -> &mut Matrix {
        &mut self.matrix
    }

    pub(super) fn shared_vocabulary(&self) -> Arc<Vocabulary> {
        self.vocabulary.clone()
    }

    pub(super) fn of_shared(vocabulary: Arc<Vocabulary>, matrix: Matrix) -> Self {
        Embeddings { vocabulary, matrix, subwords: None }
    }

    /// The same words with other vectors. Panics when their numbers differ.
    pub fn with_matrix(&self, matrix: Matrix) -> Self {
        assert_eq!(self.len(), matrix.rows(), "one row a word");
        Embeddings { vocabulary: self.vocabulary.clone(), matrix, subwords: None }
    }

    /// The word at `index`. Panics when `index` is out of range.
    pub fn word(&self, index: usize) -> &str {
        self.vocabulary.word(index)
    }

    /// The vector at `index`. Panics when `index` is out of range.
    pub fn vector(&self, index: usize) -> &[f32] {
        self.matrix.row(index)
    }

    /// The vector of a word of the vocabulary.
    pub fn get(&self, word: &str) -> Option<&[f32]> {
        self.vocabulary.get(word).map(|index| self.vector(index))
    }

    /// The n-gram table, if the vectors come from a fastText model with subwords.
    pub fn subwords(&self) -> Option<&Subwords> {
        self.subwords.as_ref()
    }

    #[cfg(feature = "fasttext")]
    pub(super) fn set_subwords(&mut self, subwords: Subwords) {
        self.subwords = Some(subwords);
    }

    /// The vectors of the given words and the list of words without a vector. Out-of-vocabulary words are composed from
    /// n-grams if the source has subwords.
    pub fn select<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> (Embeddings, Vec<&'a str>) {
        let mut vocabulary = Vocabulary::new();
        let mut data = Vec::new();
        let mut missing = Vec::new();
        for word in words {
            let known = self.get(word).map(<[f32]>::to_vec);
            let Some(vector) = known.or_else(|| self.subwords.as_ref()?.vector(word)) else {
                missing.push(word);
                continue;
            };
            if vocabulary.push(word) {
                data.extend(vector);
            }
        }
        (Embeddings::new(vocabulary, Matrix::new(data, self.dim())), missing)
    }

    /// Lower-cases the words. Of words that become equal, the first is kept.
    pub fn lowercased(mut self) -> Self {
        if self.vocabulary.iter().all(|word| word.to_lowercase() == word) {
            return self;
        }
        let mut vocabulary = Vocabulary::new();
        let mut kept = Vec::new();
        for (index, word) in self.vocabulary.iter().enumerate() {
            if vocabulary.push(&word.to_lowercase()) {
                kept.push(index);
            }
        }
        if kept.len() < self.len() {
            self.matrix.keep(&kept);
        }
        Embeddings { vocabulary: Arc::new(vocabulary), matrix: self.matrix, subwords: self.subwords }
    }

    /// A hash of words and numbers, independent of the file format.
    pub fn fingerprint(&self) -> String {
        View::from_embeddings("", self.clone()).fingerprint()
    }
}

impl fmt::Debug for Embeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embeddings({} words x {})", self.len(), self.dim())
    }
}

//! Subwords: the n-grams of fastText models, which give out-of-vocabulary words a vector.

use super::Vocabulary;
use super::array::Element;
use super::intake::{LONGEST_WORD, check_vector};
use crate::files::Bytes;

/// The end-of-sentence token; fastText gives it no n-grams.
const END_OF_SENTENCE: &[u8] = b"</s>";

/// The n-gram table of a fastText model. It stays in the file.
#[derive(Clone)]
pub struct Subwords {
    pub(super) bytes: Bytes,
    pub(super) start: usize,
    pub(super) dim: usize,
    pub(super) words: usize,
    pub(super) bucket: usize,
    /// Lengths of the shortest and the longest n-gram; `None` for models without subwords.
    pub(super) n_range: Option<(usize, usize)>,
    /// Words of the model beyond `max_words`, with their rows. They are not out-of-vocabulary.
    pub(super) unread: (Vocabulary, Vec<usize>),
}

impl Subwords {
    /// The mean of the vectors of the word's n-grams; `None` if it has no n-grams or their sum is zero. Words of the
    /// model beyond `max_words` have their own vectors.
    pub fn vector(&self, word: &str) -> Option<Vec<f32>> {
        if let Some(place) = self.unread.0.get(word) {
            return Some(self.known_word(self.unread.1[place], word.as_bytes()));
        }
        let rows = self.ngram_rows(word.as_bytes());
        let vector = self.mean(&rows);
        (!rows.is_empty() && check_vector(&vector).is_ok()).then_some(vector)
    }

    /// The vector of a word of the model: the mean of its own row and those of its n-grams.
    pub(super) fn known_word(&self, index: usize, word: &[u8]) -> Vec<f32> {
        let mut rows = vec![index];
        if word != END_OF_SENTENCE {
            rows.extend(self.ngram_rows(word));
        }
        self.mean(&rows)
    }

    fn mean(&self, rows: &[usize]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dim];
        for row in rows {
            let at = self.start + row * self.dim * 4;
            let values = self.bytes[at..at + self.dim * 4].chunks_exact(4).map(|b| Element::F32.decode(b));
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        let scale = 1.0 / rows.len().max(1) as f32;
        sum.iter_mut().for_each(|sum| *sum *= scale);
        sum
    }

    /// The rows of all n-grams of `<word>`, counted in UTF-8 characters; single `<` and `>` do not count.
    fn ngram_rows(&self, word: &[u8]) -> Vec<usize> {
        let Some((min_n, max_n)) = self.n_range.filter(|_| word.len() <= LONGEST_WORD) else { return Vec::new() };
        let marked = [b"<", word, b">"].concat();
        let is_start = |at: usize| marked[at] & 0xc0 != 0x80;
        let mut rows = Vec::new();
        for start in (0..marked.len()).filter(|&at| is_start(at)) {
            let mut end = start;
            for n in 1..=max_n {
                if end == marked.len() {
                    break;
                }
                end += 1;
                while end < marked.len() && !is_start(end) {
                    end += 1;
                }
                if n >= min_n && !(n == 1 && (start == 0 || end == marked.len())) {
                    rows.push(self.words + hash(&marked[start..end]) as usize % self.bucket);
                }
            }
        }
        rows
    }
}

/// FNV-1a as fastText computes it: each byte is taken as signed.
fn hash(ngram: &[u8]) -> u32 {
    ngram.iter().fold(2_166_136_261, |h: u32, &b| (h ^ i32::from(b as i8) as u32).wrapping_mul(16_777_619))
}

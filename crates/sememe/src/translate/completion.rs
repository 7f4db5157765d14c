//! Completion of words by their first letters.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::spelling::folded;
use crate::vectors::Vocabulary;

/// The words of a vocabulary in alphabetical order, ignoring case, for completion while somebody types.
///
/// ```
/// use sememe::{translate::Completions, vectors::Vocabulary};
///
/// let words: Vocabulary = ["house", "dog", "Houston", "household", "hose"].into_iter().collect();
/// let completions = Completions::of(&words);
/// assert_eq!(completions.rows(&words, "HOUS", 2), [0, 2]);
/// assert_eq!(completions.rows(&words, "house", 9), [0, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct Completions {
    order: Vec<u32>,
}

impl Completions {
    /// Sorts a vocabulary.
    pub fn of(words: &Vocabulary) -> Self {
        let mut spelled: Vec<(String, u32)> =
            (0..words.len()).into_par_iter().map(|row| (folded(words.word(row)).collect(), row as u32)).collect();
        spelled.par_sort_unstable();
        Completions { order: spelled.into_iter().map(|(_, row)| row).collect() }
    }

    /// The rows of the first `limit` words with this prefix, in the order of the vocabulary, which is usually by
    /// frequency. `words` must be the vocabulary that was sorted.
    pub fn rows(&self, words: &Vocabulary, prefix: &str, limit: usize) -> Vec<usize> {
        let prefix: Vec<char> = folded(prefix).collect();
        let compare = |row: u32| {
            let beginning = folded(words.word(row as usize)).take(prefix.len());
            beginning.cmp(prefix.iter().copied())
        };
        let first = self.order.partition_point(|&row| compare(row) == Ordering::Less);
        let after = self.order.partition_point(|&row| compare(row) != Ordering::Greater);
        let mut found: Vec<u32> = self.order[first..after].to_vec();
        if limit < found.len() {
            found.select_nth_unstable(limit);
            found.truncate(limit);
        }
        found.sort_unstable();
        found.into_iter().map(|row| row as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_are_what_looking_at_all_words_finds() {
        let words: Vocabulary = ["дом", "дома", "Дым", "кот", "东京", "东", "a", "aa", "A", ""].into_iter().collect();
        let completions = Completions::of(&words);
        for prefix in ["", "д", "ДО", "дома", "домашний", "东", "a", "z", "\u{10ffff}"] {
            let lower: String = folded(prefix).collect();
            let begins = |word: &str| folded(word).collect::<String>().starts_with(&lower);
            let all: Vec<usize> = (0..words.len()).filter(|&row| begins(words.word(row))).collect();
            for limit in [0, 1, 2, 99] {
                assert_eq!(completions.rows(&words, prefix, limit), all[..limit.min(all.len())], "{prefix:?}");
            }
        }
    }
}

//! Vocabularies: words in order, with lookup by word.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

/// Distinct words in a fixed order, looked up by index or by spelling.
///
/// All words share one string, so a vocabulary takes its text plus about 16 bytes per word.
#[derive(Clone, Default)]
pub struct Vocabulary {
    text: String,
    ends: Vec<usize>,
    places: HashTable<u32>,
    hasher: RandomState,
}

impl Vocabulary {
    /// An empty vocabulary.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty vocabulary with capacity for `words` words of `bytes` bytes in total.
    pub(crate) fn with_room_for(words: usize, bytes: usize) -> Self {
        Vocabulary {
            text: String::with_capacity(bytes),
            ends: Vec::with_capacity(words),
            places: HashTable::with_capacity(words),
            hasher: RandomState::new(),
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there are no words.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The word at `index`. Panics when `index` is out of range.
    pub fn word(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.word(index))
    }

    /// The index of a word.
    pub fn get(&self, word: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(word);
        self.places.find(hash, |&index| self.word(index as usize) == word).map(|&index| index as usize)
    }

    /// Appends a word. Returns false for a duplicate, or when all 2³² indices are taken.
    pub fn push(&mut self, word: &str) -> bool {
        let Ok(index) = u32::try_from(self.len()) else { return false };
        let hash = self.hasher.hash_one(word);
        if self.places.find(hash, |&known| self.word(known as usize) == word).is_some() {
            return false;
        }
        self.text.push_str(word);
        self.ends.push(self.text.len());
        let Vocabulary { text, ends, places, hasher } = self;
        let word_at = |index: u32| {
            let index = index as usize;
            &text[if index == 0 { 0 } else { ends[index - 1] }..ends[index]]
        };
        places.insert_unique(hash, index, |&index| hasher.hash_one(word_at(index)));
        true
    }
}

impl<'a> FromIterator<&'a str> for Vocabulary {
    /// Later duplicates are dropped.
    fn from_iter<I: IntoIterator<Item = &'a str>>(words: I) -> Self {
        let mut vocabulary = Vocabulary::new();
        for word in words {
            vocabulary.push(word);
        }
        vocabulary
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_of_two_equal_words_keeps_its_place() {
        let words: Vocabulary = ["a", "New York", "", "a", "b"].into_iter().collect();
        assert_eq!(words.iter().collect::<Vec<_>>(), ["a", "New York", "", "b"]);
        assert_eq!(words.get("b"), Some(3));
        assert_eq!(words.get("c"), None);
    }

    #[test]
    fn finds_every_word_after_growing() {
        let spelled: Vec<String> = (0..10_000).map(|i| format!("w{i}")).collect();
        let words: Vocabulary = spelled.iter().map(String::as_str).collect();
        assert!(spelled.iter().enumerate().all(|(i, word)| words.get(word) == Some(i)));
    }
}

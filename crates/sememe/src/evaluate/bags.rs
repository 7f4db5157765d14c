//! Sentences as bags of words.

/// Sentences, each a list of word indices with repetitions. A sentence may be empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Bags {
    words: Vec<u32>,
    ends: Vec<usize>,
}

impl Bags {
    pub(super) fn push(&mut self, sentence: &[u32]) {
        self.words.extend_from_slice(sentence);
        self.ends.push(self.words.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.words[start..self.ends[index]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Number of sentences without words.
    pub(super) fn empty(&self) -> usize {
        self.iter().filter(|sentence| sentence.is_empty()).count()
    }
}

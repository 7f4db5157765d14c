//! Looking up words of test files in a view, and tokenising sentences.

use unicode_segmentation::UnicodeSegmentation;

use crate::lexicon::find_word;
use crate::prepare::Casing;
use crate::vectors::Embeddings;

const APOSTROPHES: [char; 2] = ['\'', '’'];

/// The words of a view, with vectors from a file or from a space, and their casing.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// The words and their vectors.
    pub embeddings: &'a Embeddings,
    /// Whether words of the view keep their case.
    pub casing: Casing,
}

impl Words<'_> {
    /// The index of a word. Where case is kept, the lower case of an unknown word is the fallback: the word may begin a
    /// sentence.
    pub fn find(&self, word: &str) -> Option<usize> {
        let vocabulary = self.embeddings.vocabulary();
        let lower = || find_word(vocabulary, &word.to_lowercase());
        match self.casing {
            Casing::Lower => lower(),
            Casing::Kept => find_word(vocabulary, word).or_else(lower),
        }
    }

    /// The indices of the words of a sentence, in order. Out-of-vocabulary words are left out.
    ///
    /// The tokenisation follows Unicode's word boundaries (UAX #29) and keeps segments with letters or digits. These
    /// rules do not split at apostrophes, but most vocabularies do. An unknown word with an apostrophe is therefore
    /// split the way the vocabulary has it: `l' homme`, `it 's` or `do n't`.
    ///
    /// ```
    /// use sememe::{evaluate::Words, prepare::Casing, vectors::{Embeddings, Matrix}};
    ///
    /// let vocabulary = ["the", "dog", "does", "n't", "bark"].into_iter().collect();
    /// let embeddings = Embeddings::new(vocabulary, Matrix::new(vec![1.0; 5], 1));
    /// let words = Words { embeddings: &embeddings, casing: Casing::Lower };
    /// assert_eq!(words.of_sentence("The dog doesn't bark (loudly)!"), [0, 1, 2, 3, 4]);
    /// ```
    pub fn of_sentence(&self, sentence: &str) -> Vec<u32> {
        let mut found = Vec::new();
        sentence.unicode_words().for_each(|word| self.add_known(word, &mut found));
        found
    }

    fn add_known(&self, word: &str, found: &mut Vec<u32>) {
        let place = |word: &str| self.find_spelled(word).map(|index| index as u32);
        if let Some(index) = place(word) {
            return found.push(index);
        }
        let Some((at, apostrophe)) = word.char_indices().find(|(_, c)| APOSTROPHES.contains(c)) else { return };
        let after = at + apostrophe.len_utf8();
        let before_n = word[..at].strip_suffix(['n', 'N']).map(str::len);
        let cuts = [Some((after, after)), Some((at, at)), before_n.map(|n| (n, n)), Some((at, after))];
        for (end, start) in cuts.into_iter().flatten() {
            if let (Some(left), Some(right)) = (place(&word[..end]), place(&word[start..])) {
                return found.extend([left, right]);
            }
        }
        found.extend(place(&word[..after]).or_else(|| place(&word[..at])));
        self.add_known(&word[after..], found);
    }

    /// The index of a word, with a typographic or a plain apostrophe.
    fn find_spelled(&self, word: &str) -> Option<usize> {
        self.find(word).or_else(|| word.contains('’').then(|| self.find(&word.replace('’', "'"))).flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Matrix;

    fn found(vocabulary: &[&str], casing: Casing, sentence: &str) -> Vec<String> {
        let vocabulary = vocabulary.iter().copied().collect::<crate::vectors::Vocabulary>();
        let zeros = vec![0.0; vocabulary.len()];
        let embeddings = Embeddings::new(vocabulary, Matrix::new(zeros, 1));
        let words = Words { embeddings: &embeddings, casing };
        words.of_sentence(sentence).iter().map(|&index| embeddings.word(index as usize).to_owned()).collect()
    }

    #[test]
    fn apostrophes_are_cut_as_the_vocabulary_has_it() {
        let french = ["l'", "homme", "qu'", "aujourd'hui", "est", "s", "il"];
        assert_eq!(
            found(&french, Casing::Lower, "L’homme est qu'aujourd'hui s'il"),
            ["l'", "homme", "est", "qu'", "aujourd'hui", "s", "il"]
        );
        assert_eq!(found(&["it", "'s", "do", "n't"], Casing::Lower, "It's; don't."), ["it", "'s", "do", "n't"]);
        assert_eq!(found(&["d'"], Casing::Kept, "d'x'y '' '"), ["d'"]);
    }

    #[test]
    fn case_is_what_the_view_has() {
        assert_eq!(found(&["The", "the", "cat"], Casing::Kept, "The the Cat"), ["The", "the", "cat"]);
        assert_eq!(found(&["the", "cat"], Casing::Lower, "THE Cat"), ["the", "cat"]);
    }
}

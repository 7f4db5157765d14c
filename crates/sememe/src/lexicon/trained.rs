//! The training pairs of a model, as hashes, for testing whether a pair is among them.

use super::Tuples;

/// A pair of words, each with the name of its view.
pub type WordPair<'a> = [(&'a str, &'a str); 2];

/// Hashes of word pairs, 64 bits each. With a million pairs the probability of a false match is about 10⁻¹³.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainedPairs {
    /// Sorted and distinct.
    hashes: Vec<u64>,
}

impl TrainedPairs {
    /// All pairs of words within the tuples. `views` are the names of the views; `word` finds words by view and index.
    pub fn of<W: AsRef<str>>(tuples: &Tuples, views: &[&str], word: impl Fn(usize, usize) -> W) -> Self {
        let mut hashes = Vec::new();
        for cells in tuples.cells() {
            let words: Vec<(&str, W)> = cells.iter().map(|(view, row)| (views[view], word(view, row))).collect();
            for (place, (view, word)) in words.iter().enumerate() {
                let pair = |(other, second): &(&str, W)| hash([(view, word.as_ref()), (other, second.as_ref())]);
                hashes.extend(words[place + 1..].iter().map(pair));
            }
        }
        Self::sorted(hashes)
    }

    /// Restores stored hashes; `None` unless they are sorted and distinct.
    pub(crate) fn from_hashes(hashes: Vec<u64>) -> Option<Self> {
        hashes.is_sorted_by(|a, b| a < b).then_some(TrainedPairs { hashes })
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    fn sorted(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        TrainedPairs { hashes }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Whether a pair is among them, in either order.
    pub fn contains(&self, pair: WordPair) -> bool {
        self.hashes.binary_search(&hash(pair)).is_ok()
    }

    /// The union of both sets.
    pub fn merged(&self, others: &Self) -> Self {
        Self::sorted(self.hashes.iter().chain(&others.hashes).copied().collect())
    }
}

fn hash(mut pair: WordPair) -> u64 {
    pair.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for part in pair.iter().flat_map(|(view, word)| [view, word]) {
        // Lengths make the concatenation unambiguous.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    u64::from_le_bytes(*hasher.finalize().as_bytes().first_chunk().expect("a hash has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_words_of_a_tuple_are_a_pair_in_either_order() {
        let words = [["house"], ["maison"], ["дом"]];
        let mut tuples = Tuples::new(3);
        tuples.add(&[Some(0), Some(0), None]);
        tuples.add(&[Some(0), None, Some(0)]);
        tuples.add(&[Some(0), Some(0), None]);
        let trained = TrainedPairs::of(&tuples, &["en", "fr", "ru"], |view, index| words[view][index]);
        assert_eq!(trained.len(), 2);
        assert!(trained.contains([("en", "house"), ("fr", "maison")]));
        assert!(trained.contains([("ru", "дом"), ("en", "house")]));
        for other in [
            [("fr", "maison"), ("ru", "дом")],
            [("en", "maison"), ("fr", "house")],
            [("e", "nhouse"), ("fr", "maison")],
        ] {
            assert!(!trained.contains(other), "{other:?}");
        }
        assert_eq!(trained.merged(&trained), trained);
        assert_eq!(TrainedPairs::from_hashes(trained.hashes().to_vec()), Some(trained));
        assert_eq!(TrainedPairs::from_hashes(vec![2, 1]), None);
    }
}

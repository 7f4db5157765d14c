//! The words that a model was fitted to, as points: the words of all views, one view after the other.

use sememe::lexicon::TrainedRows;

/// The most pairs that are kept.
const MOST_PAIRS: usize = 500_000;

/// Pairs of words of the training tuples.
pub(crate) struct Trained {
    /// The points of both words, in the order of the dictionary.
    pairs: Vec<[u32; 2]>,
    /// The points of all words that are in a pair, sorted.
    points: Vec<u32>,
}

impl Trained {
    /// The pairs within the tuples. `words` is the number of words of each view.
    pub(crate) fn of(rows: &TrainedRows, words: &[usize]) -> Self {
        let offset = |view: usize| words[..view].iter().sum::<usize>();
        let offsets: Vec<usize> = (0..words.len()).map(offset).collect();
        let mut pairs = Vec::new();
        for tuple in rows.iter() {
            // Views without words have no points.
            let has_point = |&(view, row): &(usize, usize)| words.get(view).is_some_and(|&words| row < words);
            let points: Vec<u32> =
                tuple.iter().filter(|&cell| has_point(cell)).map(|&(view, row)| (offsets[view] + row) as u32).collect();
            for (place, &point) in points.iter().enumerate() {
                pairs.extend(points[place + 1..].iter().map(|&other| [point, other]));
            }
            if pairs.len() > MOST_PAIRS {
                pairs.truncate(MOST_PAIRS);
                break;
            }
        }
        let mut points: Vec<u32> = pairs.iter().flatten().copied().collect();
        points.sort_unstable();
        points.dedup();
        Trained { pairs, points }
    }

    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Whether the word at a point is in a pair.
    pub(crate) fn has(&self, point: usize) -> bool {
        self.points.binary_search(&(point as u32)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use sememe::lexicon::Tuples;

    use super::*;

    #[test]
    fn every_two_words_of_a_tuple_are_joined() {
        let mut tuples = Tuples::new(3);
        for tuple in [[Some(1), Some(0), Some(4)], [None, Some(2), Some(3)], [Some(0), None, Some(9)]] {
            tuples.add(&tuple);
        }
        // The last word of the last view is not there.
        let trained = Trained::of(&TrainedRows::of(&tuples), &[2, 3, 5]);
        assert_eq!(trained.pairs(), [[1, 2], [1, 9], [2, 9], [4, 8]]);
        let has: Vec<usize> = (0..12).filter(|&point| trained.has(point)).collect();
        assert_eq!(has, [1, 2, 4, 8, 9]);
    }
}

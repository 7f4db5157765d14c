//! The `k` best targets of a query.

use std::cmp::Ordering;

/// A target and its score in full precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) score: f64,
    pub(super) index: usize,
}

impl Scored {
    /// The order of results: larger scores first, ties by lower index. It does not depend on how the work is divided
    /// among threads.
    fn compare(&self, other: &Scored) -> Ordering {
        other.score.total_cmp(&self.score).then(self.index.cmp(&other.index))
    }
}

/// The best `k` so far, best first.
#[derive(Debug, Clone)]
pub(super) struct Best {
    k: usize,
    found: Vec<Scored>,
}

impl Best {
    pub(super) fn new(k: usize) -> Self {
        // `k` may exceed the number of targets, so the list grows as needed.
        Best { k, found: Vec::with_capacity(k.min(64)) }
    }

    /// Whether it already holds `k` targets.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() == self.k
    }

    /// The `k`-th best score so far. A target with a lower score cannot be among the best.
    pub(super) fn threshold(&self) -> f64 {
        self.found.get(self.k - 1).map_or(f64::NEG_INFINITY, |worst| worst.score)
    }

    /// Offers a target, each at most once. A score of minus infinity excludes the target.
    pub(super) fn offer(&mut self, scored: Scored) {
        if scored.score == f64::NEG_INFINITY {
            return;
        }
        if self.found.len() == self.k {
            if scored.compare(&self.found[self.k - 1]) == Ordering::Greater {
                return;
            }
            self.found.pop();
        }
        let at = self.found.partition_point(|better| better.compare(&scored) == Ordering::Less);
        self.found.insert(at, scored);
    }

    /// Merges the best targets of another part of the search.
    pub(super) fn merge(&mut self, other: &Best) {
        other.found.iter().for_each(|&scored| self.offer(scored));
    }

    pub(super) fn into_found(self) -> Vec<Scored> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_ties_do_not_depend_on_the_order_of_offers() {
        let scores = [0.5, 0.9, 0.5, -1.0, 0.9, 0.5];
        let expected = [1, 4, 0, 2];
        for shift in 0..scores.len() {
            let (mut left, mut right) = (Best::new(4), Best::new(4));
            for at in 0..scores.len() {
                let index = (at * 5 + shift) % scores.len();
                let side = if at % 2 == 0 { &mut left } else { &mut right };
                side.offer(Scored { score: scores[index], index });
            }
            left.merge(&right);
            assert_eq!(left.threshold(), 0.5);
            assert_eq!(left.into_found().iter().map(|scored| scored.index).collect::<Vec<_>>(), expected);
        }
    }
}

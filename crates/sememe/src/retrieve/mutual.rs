//! Mutual nearest neighbours: words that are each other's best translation.

/// Pairs of rows that are each other's best match, in the order of `forth`. `back` returns the best match of a row of
/// the other side.
pub(crate) fn mutual_best(
    forth: impl IntoIterator<Item = (usize, usize)>,
    back: impl Fn(usize) -> Option<usize>,
) -> Vec<[usize; 2]> {
    forth.into_iter().filter(|&(row, best)| back(best) == Some(row)).map(|(row, best)| [row, best]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pairs_that_are_best_both_ways_are_left() {
        let back = [Some(1), None, Some(2)];
        let forth = [(0, 0), (1, 0), (2, 2), (3, 1)];
        assert_eq!(mutual_best(forth, |best| back[best]), [[1, 0], [2, 2]]);
    }
}

//! Splits of tuples for cross-validation.

use std::collections::{BTreeMap, HashMap};

use super::Tuples;

/// A connected component with more than one in this number of all tuples is too large to stay together.
const TOO_LARGE: usize = 10;

/// A view and a row of it.
type Row = (usize, usize);

impl Tuples {
    /// Two halves for cross-validation, without a word in common.
    ///
    /// Tuples that share a row of any view stay in the same half, and so do all tuples that are connected through
    /// shared rows. The exception is a connected component with more than a tenth of all tuples, which would make the
    /// halves unequal. Its tuples stay together only if they have the same row in their first view.
    ///
    /// ```
    /// let mut tuples = sememe::lexicon::Tuples::new(2);
    /// for row in 0..100 {
    ///     tuples.add(&[Some(row), Some(row / 2)]);
    /// }
    /// let [first, second] = tuples.halves();
    /// assert_eq!((first.len(), second.len()), (50, 50));
    /// assert!(first.iter().all(|tuple| second.iter().all(|other| other[1] != tuple[1])));
    /// ```
    pub fn halves(&self) -> [Tuples; 2] {
        self.fold(2, 1)
    }

    /// A training part and a held-out part of about one in `nth` tuples. Tuples stay together as in
    /// [`Tuples::halves`].
    pub fn hold_out(&self, nth: usize) -> [Tuples; 2] {
        self.fold(nth, nth - 1)
    }

    /// A training part and the held-out part number `fold` of `folds`, for cross-validation. Tuples stay together as in
    /// [`Tuples::halves`].
    pub fn fold(&self, folds: usize, fold: usize) -> [Tuples; 2] {
        let first_rows: Vec<Row> = self.rows().map(|rows| rows[0]).collect();
        let mut fold_of = vec![0; self.len()];
        let mut counts = vec![0; folds];
        let mut assign = |tuples: &[usize], fold: usize, counts: &mut [usize]| {
            tuples.iter().for_each(|&tuple| fold_of[tuple] = fold);
            counts[fold] += tuples.len();
        };
        let groups = self.groups(&first_rows);
        // The row decides where a word shares its translations with no other.
        let (single, shared): (Vec<_>, Vec<_>) =
            groups.iter().partition(|(row, tuples)| tuples.iter().all(|&tuple| first_rows[tuple] == **row));
        for ((_, row), tuples) in single {
            assign(tuples, row % folds, &mut counts);
        }
        // The others fill up the fold that has the fewest.
        for (_, tuples) in shared {
            let fewest = (0..folds).min_by_key(|&fold| counts[fold]).unwrap_or(0);
            assign(tuples, fewest, &mut counts);
        }
        let mut parts = [Tuples::new(self.views()), Tuples::new(self.views())];
        for (cells, of_tuple) in self.cells().zip(fold_of) {
            parts[usize::from(of_tuple == fold)].insert_cells(cells);
        }
        parts
    }

    /// The rows of each tuple.
    fn rows(&self) -> impl Iterator<Item = Vec<Row>> {
        self.cells().map(|cells| cells.iter().collect())
    }

    /// The tuples that stay together, by the smallest row among them.
    fn groups(&self, first_rows: &[Row]) -> BTreeMap<Row, Vec<usize>> {
        let mut components: BTreeMap<Row, Vec<usize>> = BTreeMap::new();
        for (tuple, row) in self.smallest_connected_rows(first_rows).into_iter().enumerate() {
            components.entry(row).or_default().push(tuple);
        }
        let mut groups: BTreeMap<Row, Vec<usize>> = BTreeMap::new();
        for (row, component) in components {
            let is_too_large = component.len() * TOO_LARGE > self.len();
            for tuple in component {
                groups.entry(if is_too_large { first_rows[tuple] } else { row }).or_default().push(tuple);
            }
        }
        groups
    }

    /// For each tuple the smallest of the rows that it is connected with through shared rows (a union-find forest).
    fn smallest_connected_rows(&self, first_rows: &[Row]) -> Vec<Row> {
        let mut smaller: HashMap<Row, Row> = HashMap::new();
        fn smallest(smaller: &mut HashMap<Row, Row>, mut row: Row) -> Row {
            while let Some(&next) = smaller.get(&row) {
                // Halves the path for the next search.
                if let Some(&beyond) = smaller.get(&next) {
                    smaller.insert(row, beyond);
                }
                row = next;
            }
            row
        }
        for rows in self.rows() {
            for two in rows.windows(2) {
                let [a, b] = [two[0], two[1]].map(|row| smallest(&mut smaller, row));
                if a != b {
                    smaller.insert(a.max(b), a.min(b));
                }
            }
        }
        first_rows.iter().map(|&row| smallest(&mut smaller, row)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::random::Random;

    fn of(pairs: impl IntoIterator<Item = (usize, usize)>) -> Tuples {
        let mut tuples = Tuples::new(2);
        pairs.into_iter().for_each(|(x, y)| _ = tuples.add(&[Some(x), Some(y)]));
        tuples
    }

    fn rows(tuples: &Tuples) -> HashSet<Row> {
        tuples.rows().flatten().collect()
    }

    #[test]
    fn no_row_of_any_view_is_in_both_parts() {
        let mut random = Random::new(1);
        // Entries of three views with holes, many of which share a word.
        let mut tuples = Tuples::new(3);
        for row in 0..2000 {
            let mut tuple = [0; 3].map(|_| Some(4 * row + random.below(6)));
            tuple[random.below(3)] = None;
            if row % 20 != 19 {
                tuples.add(&tuple);
            }
        }
        for nth in [2, 5] {
            let [first, second] = tuples.hold_out(nth);
            assert!(rows(&first).is_disjoint(&rows(&second)));
            assert_eq!(first.len() + second.len(), tuples.len());
            let fraction = second.len() as f64 / tuples.len() as f64;
            assert!((fraction - 1.0 / nth as f64).abs() < 0.03, "{fraction} for one in {nth}");
        }
    }

    #[test]
    fn entries_that_share_no_word_are_split_by_their_row() {
        let [even, odd] = of((0..40).map(|row| (3 * row, row + 7))).halves();
        assert!(even.iter().all(|tuple| tuple[0].unwrap() % 2 == 0) && even.len() == 20 && odd.len() == 20);
        // The order of the entries does not matter.
        let pairs: Vec<(usize, usize)> = (0..90).map(|at| (at, at / 3 * 2)).collect();
        let (forth, back) = (of(pairs.iter().copied()).hold_out(5), of(pairs.into_iter().rev()).hold_out(5));
        assert_eq!(rows(&forth[1]), rows(&back[1]));
        assert_eq!(forth[1].len(), 18);
    }

    #[test]
    fn a_component_of_many_tuples_is_split_by_its_first_view() {
        // A chain: every word shares a translation with the next.
        let chain = of((0..100).flat_map(|row| [(row, row), (row, row + 1)]));
        let [first, second] = chain.halves();
        assert_eq!((first.len(), second.len()), (100, 100));
        let of_first_view = |tuples: &Tuples| tuples.iter().map(|tuple| tuple[0]).collect::<HashSet<_>>();
        assert!(of_first_view(&first).is_disjoint(&of_first_view(&second)));
    }
}

//! The tuples of a model as rows of its views, for showing what it was fitted to.

use super::Tuples;

/// Marks the first cell of a tuple.
const FIRST: u64 = 1 << 63;
/// Bits of a row; those above are of the view.
const ROW_BITS: u32 = 32;

/// The rows of the training tuples, eight bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainedRows {
    cells: Vec<u64>,
}

fn view_and_row(cell: u64) -> (usize, usize) {
    let cell = cell & !FIRST;
    ((cell >> ROW_BITS) as usize, (cell & u64::from(u32::MAX)) as usize)
}

impl TrainedRows {
    /// The rows of some tuples.
    pub fn of(tuples: &Tuples) -> Self {
        let tuple = |cells: super::Cells| -> Vec<u64> {
            let packed = cells.iter().enumerate().map(|(place, (view, row))| {
                let cell = ((view as u64) << ROW_BITS) | row as u64;
                if place == 0 { cell | FIRST } else { cell }
            });
            packed.collect()
        };
        TrainedRows { cells: tuples.cells().flat_map(tuple).collect() }
    }

    /// Restores stored cells; `None` unless they are tuples over so many views.
    pub(crate) fn from_cells(cells: Vec<u64>, views: usize) -> Option<Self> {
        let is_tuple = |tuple: &[u64]| {
            tuple[0] & FIRST != 0 && tuple.iter().map(|&cell| view_and_row(cell).0).is_sorted_by(|a, b| a < b)
        };
        let rows = TrainedRows { cells };
        let is_valid = rows.cells.iter().all(|&cell| view_and_row(cell).0 < views) && rows.chunks().all(is_tuple);
        is_valid.then_some(rows)
    }

    pub(crate) fn cells(&self) -> &[u64] {
        &self.cells
    }

    fn chunks(&self) -> impl Iterator<Item = &[u64]> {
        self.cells.chunk_by(|_, next| next & FIRST == 0)
    }

    /// The tuples in the order in which they were given, each as views with their rows.
    ///
    /// ```
    /// use sememe::lexicon::{TrainedRows, Tuples};
    ///
    /// let mut tuples = Tuples::new(3);
    /// tuples.add(&[Some(4), None, Some(2)]);
    /// assert_eq!(TrainedRows::of(&tuples).iter().collect::<Vec<_>>(), [[(0, 4), (2, 2)]]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Vec<(usize, usize)>> {
        self.chunks().map(|tuple| tuple.iter().map(|&cell| view_and_row(cell)).collect())
    }

    /// Those of both.
    pub fn merged(&self, others: &Self) -> Self {
        TrainedRows { cells: [&self.cells[..], &others.cells[..]].concat() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_and_nonsense_is_refused() {
        let mut tuples = Tuples::new(3);
        for tuple in [[Some(0), Some(7), None], [None, Some(1), Some(u32::MAX as usize)], [Some(3), Some(3), Some(3)]] {
            tuples.add(&tuple);
        }
        let rows = TrainedRows::of(&tuples);
        let expected = [vec![(0, 0), (1, 7)], vec![(1, 1), (2, u32::MAX as usize)], vec![(0, 3), (1, 3), (2, 3)]];
        assert_eq!(rows.iter().collect::<Vec<_>>(), expected);
        assert_eq!(rows.merged(&rows).iter().count(), 6);
        assert_eq!(TrainedRows::from_cells(Vec::new(), 3), Some(TrainedRows::default()));
        let cells = rows.cells().to_vec();
        assert_eq!(TrainedRows::from_cells(cells.clone(), 3), Some(rows));
        assert_eq!(TrainedRows::from_cells(cells.clone(), 2), None, "a view that is not there");
        assert_eq!(TrainedRows::from_cells(cells[1..].to_vec(), 3), None, "half a tuple");
        assert_eq!(TrainedRows::from_cells(vec![cells[0], cells[0] & !FIRST], 3), None, "two rows of one view");
    }
}

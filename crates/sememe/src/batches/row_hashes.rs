//! Fingerprints of rows without an order: the same for any division into parts and batches.

use rayon::prelude::*;

use super::column::Column;
use crate::files::little_endian;
use crate::moments::{HashSum, Source, Sources};
use crate::vectors::ROWS_AT_A_TIME;

/// Sums of the hashes of vectors and of rows so far.
pub(super) struct RowHashes {
    views: Vec<Total>,
    rows: Total,
}

#[derive(Clone, Copy, Default)]
struct Total {
    count: usize,
    hashes: HashSum,
}

impl Total {
    fn add(&mut self, other: &Total) {
        self.count += other.count;
        self.hashes.add(&other.hashes);
    }

    fn add_hash(&mut self, hash: blake3::Hash) {
        self.add(&Total { count: 1, hashes: HashSum::of(hash) });
    }

    fn source(&self) -> Source {
        Source { count: self.count, fingerprint: self.hashes.to_string() }
    }
}

impl RowHashes {
    pub(super) fn new(views: usize) -> Self {
        RowHashes { views: vec![Total::default(); views], rows: Total::default() }
    }

    /// Adds the vectors and rows of a column for each view. A view without any vector has no column.
    pub(super) fn add(&mut self, columns: &[Option<Column>], rows: usize) {
        let starts: Vec<usize> = (0..rows).step_by(ROWS_AT_A_TIME).collect();
        let of_piece = |&start: &usize| {
            let mut piece = RowHashes::new(columns.len());
            piece.add_rows(columns, start..rows.min(start + ROWS_AT_A_TIME));
            piece
        };
        let pieces: Vec<RowHashes> = starts.par_iter().map(of_piece).collect();
        for piece in pieces {
            self.views.iter_mut().zip(&piece.views).for_each(|(ours, theirs)| ours.add(theirs));
            self.rows.add(&piece.rows);
        }
    }

    fn add_rows(&mut self, columns: &[Option<Column>], rows: std::ops::Range<usize>) {
        // Of the vectors that are not null, the one of the first row.
        let before = |column: &Column| column.is_present[..rows.start].iter().filter(|is| **is).count();
        let mut next: Vec<usize> = columns.iter().map(|column| column.as_ref().map_or(0, before)).collect();
        for row in rows {
            let mut of_row = blake3::Hasher::new();
            let mut is_empty = true;
            for ((column, next), total) in columns.iter().zip(&mut next).zip(&mut self.views) {
                let Some(column) = column.as_ref().filter(|column| column.is_present[row]) else {
                    of_row.update(&[0]);
                    continue;
                };
                let hash = blake3::hash(&little_endian(column.vectors.row(*next)));
                *next += 1;
                total.add_hash(hash);
                of_row.update(&[1]).update(hash.as_bytes());
                is_empty = false;
            }
            if !is_empty {
                self.rows.add_hash(of_row.finalize());
            }
        }
    }

    /// The sources of some of the views.
    pub(super) fn sources(&self, views: &[usize]) -> Sources {
        Sources { views: views.iter().map(|&view| self.views[view].source()).collect(), lexicon: self.rows.source() }
    }
}

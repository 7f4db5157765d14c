//! What the known views of a space say of the tuples that a new view is fitted to.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::linalg::{Cholesky, Mat, symmetric};
use crate::model::new_view::Group;
use crate::moments::PatternMoments;
use crate::vectors::{Matrix, View};

/// Tuples with the same known views: the rows of these and of the new view, and the weight of each tuple.
#[derive(Default)]
pub(super) struct KnownRows {
    pub(super) tuples: Vec<Vec<usize>>,
    pub(super) weights: Vec<f64>,
}

/// The tuples that have the new view, grouped by their known views.
pub(super) fn known_rows(latent: &[Option<View>], tuples: &Tuples) -> Result<BTreeMap<Vec<usize>, KnownRows>> {
    let mut groups: BTreeMap<Vec<usize>, KnownRows> = BTreeMap::new();
    for cells in tuples.cells().filter(|cells| cells.weight > 0.0) {
        // The new view is the last one.
        let [known @ .., last] = cells.views else { continue };
        if *last == latent.len() && !known.is_empty() {
            let group = groups.entry(known.to_vec()).or_default();
            group.tuples.push(cells.iter().map(|(_, row)| row).collect());
            group.weights.push(cells.weight);
        }
    }
    if groups.values().map(|group| group.tuples.len()).sum::<usize>() < 2 {
        let problem = "the lexicon gives fewer than two pairs of the new view and the space".to_owned();
        return Err(Error::NotEnoughData(problem));
    }
    Ok(groups)
}

impl KnownRows {
    /// The latent vectors of the known view at position `place` of the tuples.
    pub(super) fn latent(&self, view: &Option<View>, place: usize) -> Matrix {
        let rows: Vec<usize> = self.tuples.iter().map(|tuple| tuple[place]).collect();
        view.as_ref().expect("tuples are over rows of the space").rows().select(&rows)
    }

    /// The vectors of the new view.
    pub(super) fn new_rows(&self, new: &Matrix) -> Matrix {
        new.select(&self.tuples.iter().map(|tuple| tuple[tuple.len() - 1]).collect::<Vec<_>>())
    }
}

/// Tuples with the same known views, and the posterior `N(m, M)` of `z` in each.
pub(super) struct Known {
    pub(super) covariance: Mat,
    pub(super) mean: Matrix,
    /// The first known row and the new one of each tuple.
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) weights: Vec<f64>,
}

impl Known {
    pub(super) fn new_rows(&self, new: &Matrix) -> Matrix {
        new.select(&self.pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())
    }

    pub(super) fn group(&self, new: &Matrix) -> Result<Group> {
        let precision = Cholesky::new(&self.covariance, "a posterior covariance")?.inverse();
        let moments = PatternMoments::of_rows(&self.mean, &self.new_rows(new), &self.weights);
        Ok(Group { precision: symmetric(&precision), covariance: self.covariance.clone(), moments })
    }
}

//! Merging the moments of different tuples.

use super::{Moments, PatternMoments, Shape, spans};
use crate::error::{Error, Result};
use crate::linalg::Mat;

impl PatternMoments {
    pub(crate) fn merge(&mut self, other: &Self) {
        let n = self.n + other.n;
        let difference: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(theirs, ours)| theirs - ours).collect();
        let weight = self.n * other.n / n;
        let (rows, cols) = (self.scatter.nrows(), self.scatter.ncols());
        self.scatter = Mat::from_fn(rows, cols, |i, j| {
            self.scatter[(i, j)] + other.scatter[(i, j)] + weight * difference[i] * difference[j]
        });
        self.mean.iter_mut().zip(&difference).for_each(|(mean, difference)| *mean += other.n / n * difference);
        self.n = n;
    }
}

impl Moments {
    /// Adds the moments of other tuples. Views are matched by name; new views are appended. Exact up to rounding, in
    /// any order.
    pub fn merge(&mut self, other: &Moments) -> Result<()> {
        let places = self.adopt(&other.views)?;
        for (pattern, theirs) in &other.patterns {
            let (pattern, theirs) = renumbered(theirs, pattern, &spans(&other.views, pattern), &places);
            match self.patterns.get_mut(&pattern) {
                Some(ours) => ours.merge(&theirs),
                None => drop(self.patterns.insert(pattern, theirs)),
            }
        }
        Ok(())
    }

    /// The moments with every tuple's weight multiplied by `weight`.
    pub fn weighted(mut self, weight: f64) -> Self {
        for moments in self.patterns.values_mut() {
            moments.n *= weight;
            moments.scatter.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x *= weight));
        }
        self
    }

    /// Reorders the views: view `places[i]` moves to index `i`.
    pub(crate) fn in_order(self, places: &[usize]) -> Self {
        let mut new_places = vec![0; places.len()];
        places.iter().enumerate().for_each(|(new, &old)| new_places[old] = new);
        let renumber = |(pattern, moments): (&Vec<usize>, &PatternMoments)| {
            renumbered(moments, pattern, &spans(&self.views, pattern), &new_places)
        };
        let patterns = self.patterns.iter().map(renumber).collect();
        Moments { views: places.iter().map(|&old| self.views[old].clone()).collect(), patterns }
    }

    /// The indices of `views` among ours, after appending those that are missing.
    fn adopt(&mut self, views: &[Shape]) -> Result<Vec<usize>> {
        let place = |view: &Shape| match self.views.iter().position(|ours| ours.name == view.name) {
            Some(place) if self.views[place].dim != view.dim => Err(Error::argument(
                "moments",
                format!("of vectors of dimension {} for the view {:?}", view.dim, view.name),
                format!("to be merged with others they must be of dimension {}", self.views[place].dim),
            )),
            Some(place) => Ok(place),
            None => {
                self.views.push(view.clone());
                Ok(self.views.len() - 1)
            }
        };
        views.iter().map(place).collect()
    }
}

/// The moments of a pattern after its views are renumbered, stacked in increasing order again.
fn renumbered(
    moments: &PatternMoments,
    pattern: &[usize],
    spans: &[(usize, usize)],
    places: &[usize],
) -> (Vec<usize>, PatternMoments) {
    let mut order: Vec<usize> = (0..pattern.len()).collect();
    order.sort_by_key(|&at| places[pattern[at]]);
    let kept: Vec<usize> = order.iter().flat_map(|&at| spans[at].0..spans[at].0 + spans[at].1).collect();
    (order.iter().map(|&at| places[pattern[at]]).collect(), moments.restricted(&kept))
}

//! How far the answer to a mapped query can be trusted, and which queries had better be asked of the new model's index.

use serde::{Deserialize, Serialize};

use super::{MigrationMap, Side};
use crate::error::Result;
use crate::observe::Observer;
use crate::regression::Prior;
use crate::retrieve::{Criterion, Retriever, logistic};
use crate::vectors::Matrix;

/// Nearest rows whose cosines are looked at.
pub(super) const NEAREST: usize = 10;
/// Wide priors: they matter for few pairs only, and where all of them are right or wrong.
const PRIOR: Prior<3> = Prior { means: [0.0; 3], deviations: [10.0; 3], least: [f64::NEG_INFINITY; 3] };

/// The probability that the first row that a mapped query finds in the old index is the one that the new model would find
/// first in an index of its own: a logistic regression on the cosine of the first row, and on how far it lies above the mean
/// of the next nine. It is fitted to pairs of held-out clusters of texts.
///
/// The old index is denser than the pairs are, and its texts may be of another kind: compare with
/// [`MigrationMap::evaluate`] where there are questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Confidence {
    /// The log-odds where both numbers are zero.
    pub offset: f64,
    /// The coefficient of the first cosine.
    pub first: f64,
    /// The coefficient of its distance from the mean of the next ones.
    pub gap: f64,
}

/// What a held-out query found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    numbers: [f64; 2],
    is_right: bool,
}

impl Evidence {
    /// Evidence by the largest cosines, largest first.
    pub(super) fn of(cosines: &[f32], is_right: bool) -> Self {
        Evidence { numbers: numbers(cosines), is_right }
    }
}

/// The first cosine, and its distance from the mean of the next ones.
fn numbers(cosines: &[f32]) -> [f64; 2] {
    let cosines = &cosines[..cosines.len().min(NEAREST)];
    let Some((&first, next)) = cosines.split_first() else {
        return [0.0; 2];
    };
    let mean = next.iter().map(|&cosine| f64::from(cosine)).sum::<f64>() / next.len().max(1) as f64;
    [f64::from(first), if next.is_empty() { 0.0 } else { f64::from(first) - mean }]
}

impl Confidence {
    /// The confidence in the first of some rows, by their cosines with the mapped query, nearest first. Ten are looked at.
    ///
    /// ```
    /// # use sememe::{migrate::{self, Pairs}, vectors::Matrix};
    /// # let new: Vec<f32> = (0..400).map(|x| ((x * x) as f32).sin()).collect();
    /// # let old: Vec<f32> = new.chunks(4).flat_map(|x| [x[1], -x[0], x[3], x[2]]).collect();
    /// # let pairs = Pairs::new(Matrix::new(old, 4), Matrix::new(new, 4))?;
    /// let map = migrate::fit(&pairs, None, &Default::default(), &())?;
    /// let p = map.confidence.of(&[0.9, 0.5, 0.4, 0.4, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2]);
    /// assert!((0.0..=1.0).contains(&p));
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn of(&self, cosines: &[f32]) -> f64 {
        let [first, gap] = numbers(cosines);
        logistic(self.offset + self.first * first + self.gap * gap)
    }

    /// The most probable coefficients, fitted to numbers of mean 0 and variance 1.
    pub(super) fn fit(evidence: &[Evidence]) -> Self {
        let n = evidence.len().max(1) as f64;
        let [first, gap] = [0, 1].map(|at| {
            let mean = evidence.iter().map(|one| one.numbers[at]).sum::<f64>() / n;
            let variance = evidence.iter().map(|one| (one.numbers[at] - mean).powi(2)).sum::<f64>() / n;
            (mean, variance.sqrt().max(1e-6))
        });
        let scaled = |one: &Evidence| [1.0, (one.numbers[0] - first.0) / first.1, (one.numbers[1] - gap.0) / gap.1];
        let rows: Vec<[f64; 3]> = evidence.iter().map(scaled).collect();
        let labels: Vec<f64> = evidence.iter().map(|one| f64::from(u8::from(one.is_right))).collect();
        let [offset, of_first, of_gap] = PRIOR.most_likely(&rows, &labels).coefficients;
        let (of_first, of_gap) = (of_first / first.1, of_gap / gap.1);
        Confidence { offset: offset - of_first * first.0 - of_gap * gap.0, first: of_first, gap: of_gap }
    }
}

/// What a mapped query found first, and how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Confident {
    /// The row of the index; `None` if the query has no direction.
    pub row: Option<usize>,
    /// The probability that the new model would find the same.
    pub confidence: f64,
}

impl MigrationMap {
    /// Asks the old index with queries of the new model, and says how far the first answers can be trusted. `own` are the rows of the
    /// queries in the index, if they are the vectors of such rows; they are left out.
    pub fn confidences(
        &self,
        index: &Matrix,
        queries: &Matrix,
        own: Option<&[usize]>,
        observer: &dyn Observer,
    ) -> Result<Vec<Confident>> {
        let mapped = self.apply(Side::New, Side::Old, queries)?;
        let retriever = Retriever::new(mapped.clone(), index.clone(), Criterion::Nn, observer)?;
        let hits = retriever.rank(&mapped, (NEAREST + 1).min(index.rows()), observer)?;
        let confident = |(query, hits): (usize, &Vec<crate::retrieve::Hit>)| {
            let own = own.map(|own| own[query]);
            let others: Vec<_> = hits.iter().filter(|hit| Some(hit.index) != own).take(NEAREST).collect();
            let cosines: Vec<f32> = others.iter().map(|hit| hit.score).collect();
            let row = others.first().map(|hit| hit.index);
            Confident { row, confidence: row.map_or(0.0, |_| self.confidence.of(&cosines)) }
        };
        Ok(hits.iter().enumerate().map(confident).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn coefficients_are_recovered() {
        let mut random = Random::new(4);
        let known = Confidence { offset: -1.0, first: 2.0, gap: 6.0 };
        let evidence: Vec<Evidence> = (0..20_000)
            .map(|_| {
                let (first, gap) = (0.5 + 0.2 * random.normal(), 0.3 * random.normal().abs());
                let p = logistic(known.offset + known.first * first + known.gap * gap);
                Evidence { numbers: [first, gap], is_right: random.uniform() < p }
            })
            .collect();
        let fitted = Confidence::fit(&evidence);
        for (fitted, known) in [(fitted.offset, known.offset), (fitted.first, known.first), (fitted.gap, known.gap)] {
            assert!((fitted - known).abs() < 0.4, "{fitted} {known}");
        }
        // Where everything is right, or nothing is known, numbers stay finite.
        let right: Vec<Evidence> = evidence.iter().map(|one| Evidence { is_right: true, ..*one }).collect();
        assert!(Confidence::fit(&right).of(&[0.5, 0.4]) > 0.9);
        assert_eq!(Confidence::fit(&[]).of(&[0.5, 0.4]), 0.5);
    }
}

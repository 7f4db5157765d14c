//! The full CSLS matrix of the frequent words of two views, and the nearest neighbours in it.

use rayon::prelude::*;

use super::coupling::Coupling;
#[cfg(feature = "cuda")]
use super::gpu;
use crate::error::Result;
use crate::linalg::product_of_rows;
use crate::moments::PatternMoments;
use crate::retrieve::csls::{Largest, csls};
use crate::retrieve::mutual_best;
use crate::vectors::Matrix;

/// Rows that one thread multiplies at a time, and columns that it scans.
const ROWS: usize = 512;
const COLUMNS: usize = 64;

/// The CSLS `2 cos(x, y) - r(x) - r(y)` of every two words; `r` is a word's mean cosine to its nearest neighbours in
/// the other view.
pub struct Similarities<'a> {
    latent: [&'a Matrix; 2],
    csls: Csls,
    /// The nearest neighbour of every row, and of every column.
    forth: Vec<Best>,
    back: Vec<Best>,
}

/// All CSLS, row by row, in the memory of the computer or of a GPU.
pub(super) enum Csls {
    OnCpu(Vec<f32>),
    #[cfg(feature = "cuda")]
    OnGpu(sememe_cuda::Similarities),
}

/// The nearest neighbour in the other view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub(super) index: usize,
    pub(super) score: f32,
}

/// Two words that are mutual nearest neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mutual {
    /// The indices of the words.
    pub rows: [usize; 2],
    /// Their CSLS.
    pub score: f32,
}

impl<'a> Similarities<'a> {
    /// Similarities of rows of unit length.
    pub fn of(x: &'a Matrix, y: &'a Matrix) -> Result<Self> {
        #[cfg(feature = "cuda")]
        if let Some((csls, [forth, back])) = gpu::similarities(x, y)? {
            return Ok(Similarities { latent: [x, y], csls, forth, back });
        }
        Ok(Self::on_cpu(x, y))
    }

    fn on_cpu(x: &'a Matrix, y: &'a Matrix) -> Self {
        let (rows, cols) = (x.rows(), y.rows());
        let mut scores = vec![0.0_f32; rows * cols];
        let of_rows: Vec<f32> = scores
            .par_chunks_mut(ROWS * cols)
            .zip(x.as_slice().par_chunks(ROWS * x.cols()))
            .flat_map_iter(|(cosines, x)| {
                product_of_rows(x, y.as_slice(), y.cols(), cosines);
                cosines.chunks_exact(cols).map(|row| Largest::of(row).mean()).collect::<Vec<_>>()
            })
            .collect();
        let of_columns: Vec<f32> =
            fold_columns(&scores, cols, Largest::default(), |largest, _, value| largest.add(value))
                .iter()
                .map(Largest::mean)
                .collect();
        let forth: Vec<Best> = scores
            .par_chunks_mut(cols)
            .zip(&of_rows)
            .map(|(row, own)| {
                row.iter_mut().zip(&of_columns).for_each(|(score, other)| *score = csls(*score, *own, *other));
                row.iter().enumerate().fold(Best::NONE, |best, (index, &score)| best.or(index, score))
            })
            .collect();
        let back = fold_columns(&scores, cols, Best::NONE, |best, row, score| *best = best.or(row, score));
        Similarities { latent: [x, y], csls: Csls::OnCpu(scores), forth, back }
    }

    /// The mean CSLS of all words with their nearest neighbours, in both directions: the objective of self-learning.
    pub fn objective(&self) -> f64 {
        0.5 * (mean(&self.forth) + mean(&self.back))
    }

    /// Mutual nearest neighbours, the most similar first.
    pub fn mutual(&self) -> Vec<Mutual> {
        let forth = self.forth.iter().map(|best| best.index).enumerate();
        let pairs = mutual_best(forth, |column| Some(self.back[column].index));
        let mutual = pairs.into_iter().map(|rows| Mutual { rows, score: self.forth[rows[0]].score });
        let mut mutual: Vec<Mutual> = mutual.collect();
        mutual.sort_by(|a, b| b.score.total_cmp(&a.score));
        mutual
    }

    /// The expected moments of other vectors of the same words, by the probability of every pair of words. It assumes that
    /// every word has a translation. The lower the temperature, the more the nearest neighbours stand out.
    pub fn expected_moments(self, temperature: f32, x: &Matrix, y: &Matrix) -> PatternMoments {
        match self.csls {
            Csls::OnCpu(csls) => Coupling::of_scores(csls, self.latent[1].rows(), temperature).moments(x, y),
            #[cfg(feature = "cuda")]
            Csls::OnGpu(csls) => match gpu::expected_moments(csls, temperature, x, y) {
                Some(moments) => moments,
                None => Self::on_cpu(self.latent[0], self.latent[1]).expected_moments(temperature, x, y),
            },
        }
    }
}

fn mean(best: &[Best]) -> f64 {
    best.iter().map(|best| f64::from(best.score)).sum::<f64>() / best.len() as f64
}

/// Folds every column. Strips of columns are read row by row, as they lie in memory.
fn fold_columns<T: Copy + Send + Sync>(
    values: &[f32],
    cols: usize,
    start: T,
    add: impl Fn(&mut T, usize, f32) + Sync,
) -> Vec<T> {
    let strips: Vec<usize> = (0..cols).step_by(COLUMNS).collect();
    let of_strip = |&first: &usize| {
        let last = cols.min(first + COLUMNS);
        let mut folded = vec![start; last - first];
        for (row, values) in values.chunks_exact(cols).enumerate() {
            folded.iter_mut().zip(&values[first..last]).for_each(|(folded, &value)| add(folded, row, value));
        }
        folded
    };
    strips.par_iter().flat_map_iter(of_strip).collect()
}

impl Best {
    const NONE: Best = Best { index: 0, score: f32::NEG_INFINITY };

    fn or(self, index: usize, score: f32) -> Self {
        if score > self.score { Best { index, score } } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_are_csls_and_the_best_ones_are_found_both_ways() {
        // On the unit circle. There are fewer words than neighbours, so all words are neighbours.
        let at = |degrees: &[f32]| {
            Matrix::new(degrees.iter().flat_map(|d| [d.to_radians().cos(), d.to_radians().sin()]).collect(), 2)
        };
        let (x, y) = (at(&[0.0, 50.0, 100.0]), at(&[5.0, 90.0]));
        let cos = |a: f32, b: f32| (a - b).to_radians().cos();
        let r_x = (cos(50.0, 5.0) + cos(50.0, 90.0)) / 2.0;
        let r_y = (cos(0.0, 5.0) + cos(50.0, 5.0) + cos(100.0, 5.0)) / 3.0;
        let found = Similarities::on_cpu(&x, &y);
        #[cfg_attr(
            not(feature = "cuda"),
            expect(irrefutable_let_patterns, reason = "there is no GPU without the feature")
        )]
        let Csls::OnCpu(csls) = &found.csls else { unreachable!("they were computed on the CPU") };
        assert!((csls[2] - (2.0 * cos(50.0, 5.0) - r_x - r_y)).abs() < 1e-6);
        assert_eq!(found.forth.iter().map(|best| best.index).collect::<Vec<_>>(), [0, 1, 1]);
        let mutual: Vec<[usize; 2]> = found.mutual().iter().map(|mutual| mutual.rows).collect();
        assert_eq!(mutual.len(), 2);
        assert!(mutual.contains(&[0, 0]) && mutual.contains(&[2, 1]));
    }
}

//! Similarity profiles: a word is described by the sorted similarities to the other words of its own language (Artetxe,
//! Labaka & Agirre 2018).

use rayon::prelude::*;

use super::super::words::centre;
use crate::error::Result;
use crate::linalg::{Eigen, outer_gram, product_of_rows, times};
use crate::vectors::Matrix;

/// Length of a profile: the sorted similarities are cut into this many parts, each summed up by its mean.
const PARTS: usize = 500;
/// Words whose similarities one thread sorts at a time.
const ROWS: usize = 64;

/// The sorted similarities of every word to all words. The square root of the similarity matrix is used, which makes
/// the few largest directions count less.
pub fn profiles(words: &Matrix) -> Result<Matrix> {
    let (n, dim) = (words.rows(), words.cols());
    let columns = words.columns(0..n);
    let eigen = Eigen::new(&outer_gram(&columns), "the covariance of frequent words")?;
    let largest = eigen.values[dim - 1];
    let flattened = times(&eigen.map(|value| value.max(1e-9 * largest).powf(-0.25)), &columns);
    let rows = Matrix::of_columns(&flattened).into_vec();
    let parts = PARTS.min(n);
    let mut out = vec![0.0_f32; n * parts];
    out.par_chunks_mut(ROWS * parts).zip(rows.par_chunks(ROWS * dim)).for_each(|(out, own)| {
        let mut similarities = vec![0.0_f32; own.len() / dim * n];
        product_of_rows(own, &rows, dim, &mut similarities);
        for (out, similarities) in out.chunks_exact_mut(parts).zip(similarities.chunks_exact_mut(n)) {
            similarities.sort_unstable_by(f32::total_cmp);
            for (part, out) in out.iter_mut().enumerate() {
                let values = &similarities[part * n / parts..(part + 1) * n / parts];
                *out = values.iter().sum::<f32>() / (values.len() as f32).sqrt();
            }
        }
    });
    let mut profiles = Matrix::new(out, parts);
    centre(&mut profiles);
    Ok(profiles)
}

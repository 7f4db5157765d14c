//! Similarity profiles: words that are alike in how similar they are to the other words of their own language
//! (Artetxe, Labaka & Agirre 2018).

use rayon::prelude::*;

use super::super::words::centre;
use crate::error::Result;
use crate::linalg::{Eigen, outer_gram, product_of_rows, times};
use crate::vectors::Matrix;

/// Numbers in a profile: means of so many parts of the sorted similarities.
const PARTS: usize = 500;
/// FrequentWords whose similarities one thread sorts at a time.
const ROWS: usize = 64;

/// The sorted similarities of every word to all, by the square root of the matrix of similarities, which makes the few
/// largest directions count less.
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

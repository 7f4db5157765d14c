//! The form that every map of vectors has: an affine map between unit vectors.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::{Mat, product_of_rows, times_vector};
use crate::prepare::norm;
use crate::retrieve::kernel::rows_times_vector;
use crate::vectors::{Matrix, ROWS_AT_A_TIME};

/// `x ↦ unit(unit(M unit(x) + b) + s)`, where `b` and `s` may be absent: vectors are compared by cosines, so that lengths
/// are of no importance before and after.
///
/// ```
/// use sememe::{migrate::Affine, vectors::Matrix};
///
/// let turn = Affine::new(Matrix::new(vec![0.0, -1.0, 1.0, 0.0], 2), None)?;
/// assert_eq!(turn.apply(&Matrix::new(vec![2.0, 0.0, 0.0, 0.0], 2))?.as_slice(), [0.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Affine {
    matrix: Matrix,
    offset: Option<Vec<f32>>,
    shift: Option<Vec<f32>>,
}

impl Affine {
    /// A map with the matrix `M`, whose rows are the coordinates of the result, and `b`, if it has one.
    pub fn new(matrix: Matrix, offset: Option<Vec<f32>>) -> Result<Self> {
        if let Some(offset) = offset.as_ref().filter(|offset| offset.len() != matrix.rows()) {
            let expected = format!("the map has {} rows", matrix.rows());
            return Err(Error::argument("length of the offset", offset.len(), expected));
        }
        Ok(Affine { matrix, offset, shift: None })
    }

    /// The same map with `s`, which is added to vectors of unit length.
    pub fn with_shift(self, shift: Option<Vec<f32>>) -> Result<Self> {
        if let Some(shift) = shift.as_ref().filter(|shift| shift.len() != self.to_dim()) {
            let expected = format!("the map has {} rows", self.to_dim());
            return Err(Error::argument("length of the shift", shift.len(), expected));
        }
        Ok(Affine { shift, ..self })
    }

    /// `x ↦ M (x - centre) + added`, each of which may be absent.
    pub(super) fn centred(map: &Mat, centre: Option<&[f64]>, added: Option<&[f64]>) -> Self {
        let values = (0..map.nrows()).flat_map(|i| (0..map.ncols()).map(move |j| map[(i, j)] as f32));
        let moved = centre.map(|centre| times_vector(map, centre));
        let offset = match (moved, added) {
            (None, None) => None,
            (moved, added) => {
                let of = |values: Option<&[f64]>, i: usize| values.map_or(0.0, |values| values[i]);
                Some((0..map.nrows()).map(|i| (of(added, i) - of(moved.as_deref(), i)) as f32).collect())
            }
        };
        Affine { matrix: Matrix::new(values.collect(), map.ncols()), offset, shift: None }
    }

    /// Length of the vectors that it maps.
    pub fn from_dim(&self) -> usize {
        self.matrix.cols()
    }

    /// Length of the vectors that it maps to.
    pub fn to_dim(&self) -> usize {
        self.matrix.rows()
    }

    /// The matrix; its rows are the coordinates of the result.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// What is added after the matrix.
    pub fn offset(&self) -> Option<&[f32]> {
        self.offset.as_deref()
    }

    /// What is added to the result of unit length.
    pub fn shift(&self) -> Option<&[f32]> {
        self.shift.as_deref()
    }

    /// Maps every row. Zero rows have no direction and stay zero. A row that is not finite is an error. The bits do not
    /// depend on the number of threads. One row alone is mapped by other sums than rows together: to 1e-6 alike.
    pub fn apply(&self, rows: &Matrix) -> Result<Matrix> {
        if rows.cols() != self.from_dim() {
            let expected = format!("the map is for vectors of length {}", self.from_dim());
            return Err(Error::argument("length of the vectors", rows.cols(), expected));
        }
        let (from, to) = (self.from_dim(), self.to_dim());
        let mut mapped = vec![0.0; rows.rows() * to];
        if rows.rows() <= ROWS_AT_A_TIME {
            // A query is answered sooner than another thread wakes up.
            self.apply_block(rows.as_slice(), &mut mapped).map_err(not_finite)?;
            return Ok(Matrix::new(mapped, to));
        }
        let blocks = mapped.par_chunks_mut(ROWS_AT_A_TIME * to);
        let blocks = blocks.zip(rows.as_slice().par_chunks(ROWS_AT_A_TIME * from)).enumerate();
        let wrong = blocks.filter_map(|(block, (mapped, rows))| {
            self.apply_block(rows, mapped).err().map(|row| block * ROWS_AT_A_TIME + row)
        });
        match wrong.min() {
            Some(row) => Err(not_finite(row)),
            None => Ok(Matrix::new(mapped, to)),
        }
    }

    /// Maps the rows of one block on this thread. The error is the first row that is not finite.
    pub(super) fn apply_block(&self, rows: &[f32], mapped: &mut [f32]) -> std::result::Result<(), usize> {
        let (from, to) = (self.from_dim(), self.to_dim());
        let mut unit = rows.to_vec();
        let mut zeros = Vec::new();
        for (row, values) in unit.chunks_exact_mut(from).enumerate() {
            match scale(values) {
                Length::Zero => zeros.push(row),
                Length::NotFinite => return Err(row),
                Length::Positive => {}
            }
        }
        if unit.len() == from {
            // A product of one row would pack the whole matrix first.
            rows_times_vector(self.matrix.as_slice(), &unit, mapped);
        } else {
            product_of_rows(&unit, self.matrix.as_slice(), from, mapped);
        }
        for row in mapped.chunks_exact_mut(to) {
            if let Some(offset) = &self.offset {
                row.iter_mut().zip(offset).for_each(|(x, b)| *x += b);
            }
            scale(row);
            if let Some(shift) = &self.shift {
                row.iter_mut().zip(shift).for_each(|(x, s)| *x += s);
                scale(row);
            }
        }
        zeros.into_iter().for_each(|row| mapped[row * to..(row + 1) * to].fill(0.0));
        Ok(())
    }
}

/// What is known of a vector after it was scaled.
enum Length {
    Zero,
    NotFinite,
    Positive,
}

/// Scales a vector to length 1.
fn scale(values: &mut [f32]) -> Length {
    let length = norm(values);
    match length {
        0.0 => return Length::Zero,
        length if !length.is_finite() => return Length::NotFinite,
        _ => {}
    }
    let factor = (1.0 / length) as f32;
    values.iter_mut().for_each(|x| *x *= factor);
    Length::Positive
}

/// The error for a row that holds NaN or infinity.
pub(super) fn not_finite(row: usize) -> Error {
    Error::Request(format!(
        "row {row} (counted from 0) contains NaN or infinity; embed that text again, or leave the row out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn sample(rows: usize, cols: usize) -> Matrix {
        let mut random = Random::new(3);
        Matrix::new((0..rows * cols).map(|_| random.normal() as f32).collect(), cols)
    }

    #[test]
    fn one_row_and_many_rows_are_mapped_alike() {
        let map = Affine::new(sample(5, 7), Some(vec![0.1, 0.2, 0.0, -0.3, 0.5])).unwrap();
        let rows = sample(1200, 7);
        let all = map.apply(&rows).unwrap();
        for row in [0, 511, 512, 1199] {
            let one = map.apply(&rows.select(&[row])).unwrap();
            let far = one.as_slice().iter().zip(all.row(row)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(far < 1e-6, "{far}");
            assert!((norm(one.row(0)) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn rows_without_a_direction_stay_zero_and_others_that_are_not_numbers_are_refused() {
        let map = Affine::new(sample(5, 7), Some(vec![1.0; 5])).unwrap();
        let mut rows = sample(1200, 7);
        rows.as_mut_slice()[7 * 600..7 * 601].fill(0.0);
        assert!(map.apply(&rows).unwrap().row(600).iter().all(|&x| x == 0.0));
        for wrong in [f32::NAN, f32::INFINITY] {
            rows.as_mut_slice()[7 * 1100] = wrong;
            rows.as_mut_slice()[7 * 1150] = wrong;
            let error = map.apply(&rows).unwrap_err().to_string();
            assert!(error.contains("row 1100"), "{error}");
        }
        assert!(map.apply(&sample(3, 6)).is_err());
    }
}

//! Vectors as bytes.

use sememe::vectors::Matrix;

/// The largest byte.
const LARGEST: f32 = 127.0;
/// Columns of a row that share a factor. One large element makes the steps of all that share its factor large.
const SHARED: usize = 32;

/// Rows of bytes: an element is its byte times the factor of its column times the one that it shares with others of its row.
/// Columns have factors because latent dimensions differ in size, and the small ones count as much when two views are
/// compared.
pub(super) struct Quantised {
    pub(super) bytes: Vec<u8>,
    /// The factors of the first row, then those of the second.
    pub(super) rows: Vec<f32>,
    pub(super) columns: Vec<f32>,
    /// Columns that share a factor in a row.
    pub(super) shared: usize,
}

impl Quantised {
    /// The first rows of a matrix.
    pub(super) fn of(matrix: &Matrix, rows: usize) -> Self {
        let dim = matrix.cols();
        let values = &matrix.as_slice()[..rows * dim];
        let mut squares = vec![0.0_f64; dim];
        for row in values.chunks_exact(dim) {
            squares.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x) * f64::from(x));
        }
        let factor = |sum: f64| (sum / rows.max(1) as f64).sqrt() as f32;
        let columns: Vec<f32> = squares.into_iter().map(factor).map(|c| if c > 0.0 { c } else { 1.0 }).collect();
        let (mut bytes, mut factors) = (Vec::with_capacity(values.len()), Vec::new());
        for row in values.chunks_exact(dim) {
            for (elements, columns) in row.chunks(SHARED).zip(columns.chunks(SHARED)) {
                let scaled = || elements.iter().zip(columns).map(|(x, column)| x / column);
                let largest = scaled().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                let factor = if largest > 0.0 { largest / LARGEST } else { 1.0 };
                bytes.extend(scaled().map(|x| (x / factor).round() as i8 as u8));
                factors.push(factor);
            }
        }
        Quantised { bytes, rows: factors, columns, shared: SHARED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_off_by_half_a_step_at_most() {
        let dim = SHARED + 3;
        let values: Vec<f32> =
            (0..20 * dim).map(|at| (at as f32 * 1.7).sin() * if at % dim == 0 { 40.0 } else { 0.1 }).collect();
        let matrix = Matrix::new(values.clone(), dim);
        let quantised = Quantised::of(&matrix, 20);
        for (at, value) in values.iter().enumerate() {
            let (row, column) = (at / dim, at % dim);
            let step = quantised.rows[2 * row + column / SHARED] * quantised.columns[column];
            let found = f32::from(quantised.bytes[at] as i8) * step;
            assert!((found - value).abs() <= 0.501 * step, "{at}: {found} {value}");
        }
        let zero = Quantised::of(&Matrix::new(vec![0.0; 6], 3), 1);
        assert_eq!((zero.bytes, zero.rows), (vec![0; 3], vec![1.0]));
    }
}

//! Second moments of few rows with many dimensions: symmetric positive semi-definite matrices of low rank.

use super::{Mat, Result, dot, eigen::Eigen, scale_columns, times, transpose_times};

/// What is left of a variance below this part of it is a rounding error.
const NO_VARIANCE: f64 = 1e-12;
/// A variance below this, relative to the largest, is that of a constant. Views may have very different scales.
const CONSTANT: f64 = 1e-24;
/// The same for eigenvalues of inner products, which lose half of the digits.
const NO_EIGENVALUE: f64 = 1e-10;
/// A rank is low below this part of the size.
const LOW: usize = 4;

/// `L` with few columns and `L Lᵀ = A`, by the Cholesky factorisation with pivots; `None` if the rank is not low, or zero.
pub fn low_rank_factor(a: &Mat) -> Option<Mat> {
    let n = a.nrows();
    let variances: Vec<f64> = (0..n).map(|i| a[(i, i)]).collect();
    let largest = variances.iter().fold(0.0_f64, |largest, &variance| largest.max(variance));
    let varying: Vec<usize> = (0..n).filter(|&i| variances[i] > CONSTANT * largest || variances[i].is_nan()).collect();
    let mut left = variances.clone();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    loop {
        let share = |i: usize| left[i] / variances[i];
        let Some(&pivot) = varying.iter().max_by(|&&i, &&j| share(i).total_cmp(&share(j))) else { break };
        if share(pivot) <= NO_VARIANCE {
            break;
        }
        if !share(pivot).is_finite() || columns.len() >= n / LOW {
            return None;
        }
        let mut column = a.col_as_slice(pivot).to_vec();
        for earlier in &columns {
            let factor = earlier[pivot];
            column.iter_mut().zip(earlier).for_each(|(x, earlier)| *x -= factor * earlier);
        }
        let scale = 1.0 / left[pivot].sqrt();
        column.iter_mut().for_each(|x| *x *= scale);
        left.iter_mut().zip(&column).for_each(|(left, x)| *left -= x * x);
        left[pivot] = 0.0;
        columns.push(column);
    }
    (!columns.is_empty()).then(|| Mat::from_fn(n, columns.len(), |i, j| columns[j][i]))
}

impl Eigen {
    /// The eigenvalues above zero of `L Lᵀ`, increasing, and their eigenvectors; `what` names the matrix in errors.
    pub fn of_product(l: &Mat, what: &str) -> Result<Self> {
        // The eigenvectors of the small matrix of inner products give those of the large one.
        let small = Eigen::new(&transpose_times(l, l), what)?;
        let largest = small.values.last().copied().unwrap_or(0.0);
        let none = small.values.partition_point(|&value| value <= NO_EIGENVALUE * largest);
        let values = small.values[none..].to_vec();
        let kept = small.vectors.submatrix(0, none, l.ncols(), values.len()).to_owned();
        let scales: Vec<f64> = values.iter().map(|value| 1.0 / value.sqrt()).collect();
        Ok(Eigen { values, vectors: times(l, &scale_columns(&kept, &scales)) })
    }
}

/// The map with orthonormal columns or rows that takes the orthonormal columns of `from` to those of `to`. Beside them it
/// takes as many dimensions to others as there are.
pub fn isometry(from: &Mat, to: &Mat) -> Mat {
    let [from, to] = [from, to].map(Reflections::of);
    let (rows, cols) = (to.vectors.nrows(), from.vectors.nrows());
    let sign = |i: usize| if i < to.signs.len() { from.signs[i] * to.signs[i] } else { 1.0 };
    let between = Mat::from_fn(rows, cols, |i, j| if i == j { sign(i) } else { 0.0 });
    let turned = to.reflect(&between);
    from.reflect(&turned.transpose().to_owned()).transpose().to_owned()
}

/// Householder reflections whose product `I - V T Vᵀ` has given orthonormal columns as its first ones, up to signs.
struct Reflections {
    vectors: Mat,
    factors: Mat,
    signs: Vec<f64>,
}

impl Reflections {
    fn of(columns: &Mat) -> Self {
        let (n, count) = (columns.nrows(), columns.ncols());
        let mut left = columns.clone();
        let (mut vectors, mut factors) = (Mat::zeros(n, count), Mat::zeros(count, count));
        let mut signs = Vec::with_capacity(count);
        for k in 0..count {
            let mut vector = left.col_as_slice(k).to_vec();
            vector[..k].fill(0.0);
            let sign = if vector[k] > 0.0 { -1.0 } else { 1.0 };
            vector[k] -= sign * dot(&vector, &vector).sqrt();
            let length = dot(&vector, &vector).sqrt();
            vector.iter_mut().for_each(|x| *x /= length);
            for j in k..count {
                let along = 2.0 * dot(&vector, left.col_as_slice(j));
                left.col_as_slice_mut(j).iter_mut().zip(&vector).for_each(|(x, v)| *x -= along * v);
            }
            // I - V T Vᵀ times I - 2 v vᵀ.
            let products: Vec<f64> = (0..k).map(|j| dot(vectors.col_as_slice(j), &vector)).collect();
            for i in 0..k {
                factors[(i, k)] = -2.0 * (i..k).map(|j| factors[(i, j)] * products[j]).sum::<f64>();
            }
            factors[(k, k)] = 2.0;
            vectors.col_as_slice_mut(k).copy_from_slice(&vector);
            signs.push(sign);
        }
        Reflections { vectors, factors, signs }
    }

    /// `(I - V T Vᵀ) A`.
    fn reflect(&self, a: &Mat) -> Mat {
        a - times(&self.vectors, &times(&self.factors, &transpose_times(&self.vectors, a)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outer_gram, sample, times_transpose};
    use super::*;

    fn assert_near(found: &Mat, expected: &Mat) {
        assert!((found - expected).norm_max() < 1e-9 * expected.norm_max().max(1.0));
    }

    #[test]
    fn a_low_rank_is_found_and_a_high_one_is_not() {
        let rows = sample(40, 6);
        let product = outer_gram(&rows);
        let factor = low_rank_factor(&product).unwrap();
        assert_eq!(factor.ncols(), 6);
        assert_near(&times_transpose(&factor, &factor), &product);
        assert!(low_rank_factor(&outer_gram(&sample(40, 50))).is_none());
        assert!(low_rank_factor(&Mat::zeros(9, 9)).is_none());
        // One view in other units, and a constant.
        let units = |i: usize| {
            if i == 39 {
                1e-17
            } else if i < 20 {
                1e6
            } else {
                1.0
            }
        };
        let scaled = Mat::from_fn(40, 40, |i, j| units(i) * product[(i, j)] * units(j));
        assert_eq!(low_rank_factor(&scaled).unwrap().ncols(), 6);
        let mut hostile = product;
        hostile[(3, 3)] = f64::NAN;
        assert!(low_rank_factor(&hostile).is_none());
    }

    #[test]
    fn eigenvectors_of_a_product_are_those_of_the_matrix() {
        let rows = sample(40, 6);
        let eigen = Eigen::of_product(&rows, "a sample").unwrap();
        assert_near(&transpose_times(&eigen.vectors, &eigen.vectors), &Mat::identity(6, 6));
        assert_near(&eigen.map(|value| value), &outer_gram(&rows));
    }

    #[test]
    fn isometries_keep_lengths_and_take_columns_to_columns() {
        let orthonormal = |rows, cols| Eigen::of_product(&sample(rows, cols), "a sample").unwrap().vectors;
        for (from, to) in [(9, 9), (12, 9), (9, 12), (4, 9), (4, 4)] {
            let (a, b) = (orthonormal(from, 4), orthonormal(to, 4));
            let map = isometry(&a, &b);
            assert_near(&times(&map, &a), &b);
            let is_wide = from > to;
            let gram = if is_wide { times_transpose(&map, &map) } else { transpose_times(&map, &map) };
            assert_near(&gram, &Mat::identity(from.min(to), from.min(to)));
        }
    }
}

//! The singular value decomposition by one-sided Jacobi rotations, and eigenvectors by two-sided ones.
//!
//! faer divides and conquers, which is fast. It fails for a few matrices of low rank: factors are NaN or far from
//! orthonormal. Jacobi's method rotates pairs of columns of `A V` until all are orthogonal, and cannot fail in these
//! ways. `V` starts with the eigenvectors of `AᵀA`, so that a few sweeps are enough.

use super::{Eigen, Mat, Svd, dot, symmetric, times, transpose_times};

/// Sweeps over all pairs of columns. Convergence is quadratic; ten are many.
const MAX_SWEEPS: usize = 40;

/// The thin decomposition of a matrix of finite numbers.
pub(crate) fn svd(a: &Mat) -> Svd {
    if a.nrows() < a.ncols() {
        let Svd { u, s, v } = svd(&Mat::from_fn(a.ncols(), a.nrows(), |i, j| a[(j, i)]));
        return Svd { u: v, s, v: u };
    }
    let largest = a.norm_max();
    if largest == 0.0 {
        let n = a.ncols();
        return Svd { u: Mat::identity(a.nrows(), n), s: vec![0.0; n], v: Mat::identity(n, n) };
    }
    // Squares of entries up to 1 neither overflow nor lose what matters.
    let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / largest);
    let start = Eigen::new(&symmetric(&transpose_times(&scaled, &scaled)), "a Gram matrix");
    let mut v = start.map_or_else(|_| Mat::identity(a.ncols(), a.ncols()), |eigen| eigen.vectors);
    let mut u = times(&scaled, &v);
    for _ in 0..MAX_SWEEPS {
        if !sweep(&mut u, &mut v) {
            break;
        }
    }
    sorted(&u, &v, largest)
}

/// Eigenvalues, increasing, and eigenvectors of a symmetric matrix of finite numbers.
pub(crate) fn eigen(a: &Mat) -> Eigen {
    let n = a.nrows();
    let (mut left, mut vectors) = (symmetric(a), Mat::identity(n, n));
    let negligible = f64::EPSILON * a.norm_max();
    for _ in 0..MAX_SWEEPS {
        let mut has_rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let beside = left[(p, q)];
                if beside.abs() <= negligible {
                    continue;
                }
                has_rotated = true;
                let rotation = rotation((left[(q, q)] - left[(p, p)]) / (2.0 * beside));
                rotate(&mut left, (p, q), rotation);
                // The same rotation of rows; entries beside the diagonal are those of the columns.
                let along = [p, q].map(|i| [left[(p, i)], left[(q, i)]]);
                for (i, [x, y]) in [p, q].into_iter().zip(along) {
                    left[(p, i)] = rotation.0 * x - rotation.1 * y;
                    left[(q, i)] = rotation.1 * x + rotation.0 * y;
                }
                for i in (0..n).filter(|&i| i != p && i != q) {
                    (left[(p, i)], left[(q, i)]) = (left[(i, p)], left[(i, q)]);
                }
                rotate(&mut vectors, (p, q), rotation);
            }
        }
        if !has_rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| left[(i, i)].total_cmp(&left[(j, j)]));
    Eigen {
        values: order.iter().map(|&i| left[(i, i)]).collect(),
        vectors: Mat::from_fn(n, n, |i, j| vectors[(i, order[j])]),
    }
}

/// The cosine and sine of the rotation that makes two columns orthogonal, with the difference of their squares over twice their
/// product.
fn rotation(ratio: f64) -> (f64, f64) {
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, cosine * tangent)
}

/// Makes every pair of columns of `u` orthogonal in turn, and turns `v` in the same way. Whether any was not.
fn sweep(u: &mut Mat, v: &mut Mat) -> bool {
    let n = u.ncols();
    let mut squares: Vec<f64> = u.col_iter().map(|column| dot(column, column)).collect();
    let negligible = negligible(&squares);
    let mut has_rotated = false;
    for p in 0..n {
        for q in p + 1..n {
            if squares[p].min(squares[q]) <= negligible {
                continue;
            }
            let along = dot(u.col_as_slice(p), u.col_as_slice(q));
            if along.abs() <= f64::EPSILON * (squares[p] * squares[q]).sqrt() * u.nrows() as f64 {
                continue;
            }
            has_rotated = true;
            let rotation = rotation((squares[q] - squares[p]) / (2.0 * along));
            for matrix in [&mut *u, &mut *v] {
                rotate(matrix, (p, q), rotation);
            }
            for column in [p, q] {
                squares[column] = dot(u.col_as_slice(column), u.col_as_slice(column));
            }
        }
    }
    has_rotated
}

/// Squared lengths up to this are rounding errors: such columns have no direction.
fn negligible(squares: &[f64]) -> f64 {
    let largest = squares.iter().copied().fold(0.0, f64::max);
    largest * (f64::EPSILON * squares.len() as f64).powi(2)
}

fn rotate(matrix: &mut Mat, (p, q): (usize, usize), (cosine, sine): (f64, f64)) {
    for i in 0..matrix.nrows() {
        let (x, y) = (matrix[(i, p)], matrix[(i, q)]);
        matrix[(i, p)] = cosine * x - sine * y;
        matrix[(i, q)] = sine * x + cosine * y;
    }
}

/// The decomposition from orthogonal columns, in decreasing order of their lengths.
fn sorted(u: &Mat, v: &Mat, scale: f64) -> Svd {
    let squares: Vec<f64> = u.col_iter().map(|column| dot(column, column)).collect();
    let negligible = negligible(&squares);
    let mut order: Vec<usize> = (0..squares.len()).collect();
    order.sort_by(|&a, &b| squares[b].total_cmp(&squares[a]));
    let mut directions: Vec<Vec<f64>> = Vec::with_capacity(order.len());
    for &column in &order {
        let direction = if squares[column] > negligible {
            let length = squares[column].sqrt();
            u.col_as_slice(column).iter().map(|x| x / length).collect()
        } else {
            another_direction(&directions, u.nrows())
        };
        directions.push(direction);
    }
    Svd {
        u: Mat::from_fn(u.nrows(), order.len(), |i, j| directions[j][i]),
        s: order.iter().map(|&column| scale * squares[column].sqrt()).collect(),
        v: Mat::from_fn(v.nrows(), order.len(), |i, j| v[(i, order[j])]),
    }
}

/// A unit vector that is orthogonal to fewer than `dim` orthonormal ones.
fn another_direction(others: &[Vec<f64>], dim: usize) -> Vec<f64> {
    // The axis that the others cover least: at least (dim - others) / dim of its square is left.
    let covered = |axis: usize| others.iter().map(|other| other[axis] * other[axis]).sum::<f64>();
    let axis = (0..dim).min_by(|&a, &b| covered(a).total_cmp(&covered(b))).unwrap_or(0);
    let mut direction = vec![0.0; dim];
    direction[axis] = 1.0;
    // Twice is enough for orthogonality to rounding.
    for _ in 0..2 {
        for other in others {
            let along = dot(&direction, other);
            direction.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let length = dot(&direction, &direction).sqrt();
        direction.iter_mut().for_each(|x| *x /= length);
    }
    direction
}

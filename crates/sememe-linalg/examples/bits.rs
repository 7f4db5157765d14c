//! Prints a hash of the bits that each public computation returns.
//!
//! The check in `faer-rayon` compares these hashes with those of a build in which faer's thread pool is compiled in.

// The crate `sememe` depends on this one, so that its generator is included by its path.
#[path = "../../sememe/src/random.rs"]
#[allow(dead_code, reason = "a part of the generator is used")]
mod random;

use std::hash::{DefaultHasher, Hash, Hasher};

use sememe_linalg::{
    Cholesky, Eigen, Mat, Svd, add_outer, add_product, add_scaled, block, dot, inner, outer_gram, product_of_rows,
    scale_columns, symmetric, symmetric_product, times, times_transpose, times_vector, trace, transpose_times,
};

use random::Random;

/// Enough rows and columns for faer to use its threads, and neither a multiple of the size of its blocks.
const ROWS: usize = 401;
const COLUMNS: usize = 523;

fn main() {
    for (computation, hash) in all() {
        println!("{computation} {hash:016x}");
    }
}

/// The names of all computations, each with the hash of its result.
pub fn all() -> Vec<(&'static str, u64)> {
    let (a, b) = (numbers(ROWS, COLUMNS, 1), numbers(COLUMNS, ROWS, 2));
    let square = numbers(ROWS, ROWS, 3);
    let vector = numbers(COLUMNS, 1, 4).col_as_slice(0).to_vec();
    let gram = outer_gram(&a);
    let cholesky = Cholesky::new(&gram, "the sample").unwrap();
    let svd = Svd::new(&a, "the sample").unwrap();
    let eigen = Eigen::new(&symmetric(&square), "the sample").unwrap();
    let mut sum = square.clone();
    add_product(sum.as_mut(), -0.5, a.as_ref(), b.as_ref());
    let mut scaled = square.clone();
    add_scaled(scaled.as_mut(), 0.3, gram.as_ref());
    let mut outer = a.clone();
    add_outer(&mut outer, 0.7, square.col_as_slice(0), &vector);
    vec![
        ("sum", of_matrix(&(&square + &gram))),
        ("difference", of_matrix(&(&square - gram.transpose()))),
        ("norm_max", of_numbers([a.norm_max()])),
        ("norm_l2", of_numbers([a.norm_l2()])),
        ("squared_norm_l2", of_numbers([a.squared_norm_l2()])),
        ("transpose", of_matrix(&a.transpose().to_owned())),
        ("block", of_matrix(&block(&a, (3, 300), (7, 400)))),
        ("times", of_matrix(&times(&a, &b))),
        ("times, row-major", of_matrix(&times(&b.transpose(), &a.transpose()))),
        ("transpose_times", of_matrix(&transpose_times(&a, &square))),
        ("times_transpose", of_matrix(&times_transpose(&a, &a))),
        ("symmetric_product", of_matrix(&symmetric_product(&a, &a.transpose()))),
        ("times_vector", of_numbers(times_vector(&a, &vector))),
        ("add_product", of_matrix(&sum)),
        ("outer_gram", of_matrix(&gram)),
        ("product_of_rows", of_product_of_rows(&a, &b)),
        ("Cholesky::l", of_matrix(cholesky.l())),
        ("Cholesky::unchecked", of_matrix(Cholesky::unchecked(&gram, "the sample").unwrap().l())),
        ("Cholesky::log_det", of_numbers([cholesky.log_det()])),
        ("Cholesky::solve_lower", of_matrix(&cholesky.solve_lower(&a))),
        ("Cholesky::solve_upper", of_matrix(&cholesky.solve_upper(&a))),
        ("Cholesky::solve", of_matrix(&cholesky.solve(&a))),
        ("Cholesky::after_solve_upper", of_matrix(&cholesky.after_solve_upper(b.clone()))),
        ("Cholesky::after_solve_lower", of_matrix(&cholesky.after_solve_lower(b.clone()))),
        ("Cholesky::inverse", of_matrix(&cholesky.inverse())),
        ("Svd::u", of_matrix(&svd.u)),
        ("Svd::s", of_numbers(svd.s.iter().copied())),
        ("Svd::v", of_matrix(&svd.v)),
        ("Eigen::values", of_numbers(eigen.values.iter().copied())),
        ("Eigen::vectors", of_matrix(&eigen.vectors)),
        ("Eigen::map", of_matrix(&eigen.map(f64::exp))),
        ("scale_columns", of_matrix(&scale_columns(&a, &vector))),
        ("symmetric", of_matrix(&symmetric(&square))),
        ("trace", of_numbers([trace(&square)])),
        ("inner", of_numbers([inner(&square, &gram)])),
        ("add_outer", of_matrix(&outer)),
        ("add_scaled", of_matrix(&scaled)),
        ("dot", of_numbers([dot(&vector, a.transpose().to_owned().col_as_slice(0))])),
    ]
}

/// Random numbers between -1 and 1.
fn numbers(rows: usize, cols: usize, seed: u64) -> Mat {
    let mut random = Random::new(seed);
    Mat::from_fn(rows, cols, |_, _| 2.0 * random.uniform() - 1.0)
}

fn of_matrix(a: &Mat) -> u64 {
    of_numbers(a.col_iter().flatten().copied())
}

fn of_numbers(numbers: impl IntoIterator<Item = f64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    numbers.into_iter().for_each(|number| number.to_bits().hash(&mut hasher));
    hasher.finish()
}

/// Reads the columns of both as rows of f32.
fn of_product_of_rows(a: &Mat, b: &Mat) -> u64 {
    const LENGTH: usize = 300;
    let rows = |a: &Mat| -> Vec<f32> { a.col_iter().flat_map(|column| &column[..LENGTH]).map(|&x| x as f32).collect() };
    let mut products = vec![0.0; a.ncols() * b.ncols()];
    product_of_rows(&rows(a), &rows(b), LENGTH, &mut products);
    of_numbers(products.into_iter().map(f64::from))
}

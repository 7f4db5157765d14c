//! Similarities and couplings on a GPU, against sums in double precision.

use sememe_cuda::{Cuda, Vectors};

use crate::exhaustive::Numbers;
use crate::gpu::gpus;

const NEIGHBOURS: usize = 10;
const TEMPERATURE: f64 = 0.1;

fn vectors(count: usize, dim: usize, numbers: &mut Numbers) -> Vec<f32> {
    (0..count * dim).map(|_| (numbers.uniform() - 0.5) as f32).collect()
}

fn to_unit(values: &mut [f32], dim: usize) {
    for row in values.chunks_exact_mut(dim) {
        let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
    }
}

/// A matrix of `f(i, j)`.
fn matrix(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    (0..rows).map(|i| (0..columns).map(|j| f(i, j)).collect()).collect()
}

fn mean_of_largest(mut values: Vec<f64>) -> f64 {
    values.sort_by(|a, b| b.total_cmp(a));
    values.truncate(NEIGHBOURS);
    values.iter().sum::<f64>() / values.len() as f64
}

fn check_coupling(card: &Cuda, [m, n]: [usize; 2]) {
    let (mut numbers, latent, dims) = (Numbers(5), 19, [37, 21]);
    let [x, y] = [m, n].map(|count| {
        let mut values = vectors(count, latent, &mut numbers);
        to_unit(&mut values, latent);
        values
    });
    let words = [vectors(m, dims[0], &mut numbers), vectors(n, dims[1], &mut numbers)];
    let number = |values: &[f32], dim: usize, row: usize, at: usize| f64::from(values[row * dim + at]);
    let cosine = |i: usize, j: usize| (0..latent).map(|p| number(&x, latent, i, p) * number(&y, latent, j, p)).sum();
    let cosines: Vec<Vec<f64>> = matrix(m, n, cosine);
    let of_x: Vec<f64> = cosines.iter().map(|row| mean_of_largest(row.clone())).collect();
    let column = |j: usize| cosines.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let of_y: Vec<f64> = (0..n).map(|j| mean_of_largest(column(j))).collect();
    let csls = matrix(m, n, |i, j| 2.0 * cosines[i][j] - of_x[i] - of_y[j]);

    let unit = |values| Vectors { values, dim: latent };
    let found = card.similarities(unit(&x), unit(&y), NEIGHBOURS).unwrap();
    for (i, nearest) in found.nearest[0].iter().enumerate() {
        let best = csls[i].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!((f64::from(nearest.score) - best).abs() < 1e-5 && (csls[i][nearest.index] - best).abs() < 1e-5);
    }
    for (j, nearest) in found.nearest[1].iter().enumerate() {
        let best = (0..m).map(|i| csls[i][j]).fold(f64::NEG_INFINITY, f64::max);
        assert!((f64::from(nearest.score) - best).abs() < 1e-5 && (csls[nearest.index][j] - best).abs() < 1e-5);
    }

    let exp = matrix(m, n, |i, j| (csls[i][j] / TEMPERATURE).exp());
    let rows: Vec<f64> = exp.iter().map(|row| row.iter().sum()).collect();
    let columns: Vec<f64> = (0..n).map(|j| exp.iter().map(|row| row[j]).sum()).collect();
    let probability = matrix(m, n, |i, j| 0.5 * exp[i][j] * (1.0 / rows[i] + 1.0 / columns[j]));
    let [a, b] = [0, 1].map(|side| Vectors { values: &words[side], dim: dims[side] });
    let coupled = found.couple(TEMPERATURE as f32, a, b).unwrap();
    let sum = |f: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| probability[i][j] * f(i, j)).sum()
    };
    let weight = sum(&|_, _| 1.0);
    let close = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-5 * weight, "{ours} and {theirs}");
    let (of_a, of_b) = (|i, p| number(&words[0], dims[0], i, p), |j, p| number(&words[1], dims[1], j, p));
    close(coupled.weight, weight);
    for p in [0, dims[0] - 1] {
        close(coupled.sums[0][p], sum(&|i, _| of_a(i, p)));
        close(coupled.products[0][p * dims[0] + 3], sum(&|i, _| of_a(i, p) * of_a(i, 3)));
        for q in [0, dims[1] - 1] {
            close(coupled.products[2][p * dims[1] + q], sum(&|i, j| of_a(i, p) * of_b(j, q)));
        }
    }
    for q in [0, dims[1] - 1] {
        close(coupled.sums[1][q], sum(&|_, j| of_b(j, q)));
        close(coupled.products[1][q * dims[1] + 3], sum(&|_, j| of_b(j, q) * of_b(j, 3)));
    }
}

#[test]
fn couplings_on_a_gpu_are_those_of_double_precision() {
    for card in gpus() {
        // Fewer vectors than neighbours, too.
        [[300, 410], [129, 7], [1, 1]].into_iter().for_each(|counts| check_coupling(&card, counts));
    }
}

#[test]
fn gpu_moments_of_components_are_those_of_double_precision() {
    gpus().iter().take(1).for_each(|card| {
        let (mut numbers, count, dim) = (Numbers(7), 1000, 33);
        let [words, directions] = [count, dim].map(|rows| vectors(rows, dim, &mut numbers));
        let found = card.whitened(Vectors { values: &words, dim }).unwrap().moments(&directions).unwrap();
        let number = |values: &[f32], row: usize, at: usize| f64::from(values[row * dim + at]);
        let value = |i: usize, row: usize| {
            (0..dim).map(|p| number(&directions, i, p) * number(&words, row, p)).sum::<f64>().powi(2)
        };
        for i in 0..dim {
            for j in 0..dim {
                let expected: f64 = (0..count).map(|row| value(i, row) * number(&words, row, j)).sum();
                assert!((found[i * dim + j] - expected).abs() < 1e-4 * count as f64, "{i} {j}");
            }
        }
    });
}

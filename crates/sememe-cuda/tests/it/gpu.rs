//! The kernels. Without a GPU these tests say that they were skipped; `scripts/test-gpu` demands one.

use sememe_cuda::{Card, Cuda, Fault, HostRows, Ranking, Wanted, means_of_both, nearest, nearest_of_host};

use crate::exhaustive::{Numbers, check, check_means, excluded, rows, unit_factors};

/// The first GPU, with its own instructions and with those that all have; none if there is none and nobody demands one.
pub fn gpus() -> Vec<Cuda> {
    match Cuda::new(0) {
        Ok(cuda) => vec![cuda, Cuda::portable(0).unwrap()],
        Err(error) if std::env::var_os("SEMEME_TEST_GPU").is_some() => panic!("a GPU is demanded: {error}"),
        Err(error) => {
            eprintln!("SKIPPED, no kernel was tested: {error}");
            Vec::new()
        }
    }
}

/// Rows that differ from each other, in clusters, as embeddings are.
fn clustered(count: usize, dim: usize, numbers: &mut Numbers) -> Vec<f32> {
    let centres: Vec<f32> = (0..50 * dim).map(|_| (numbers.uniform() - 0.5) as f32).collect();
    let mut values = Vec::with_capacity(count * dim);
    for row in 0..count {
        let centre = &centres[row % 50 * dim..][..dim];
        values.extend(centre.iter().map(|x| x + 1.5 * (numbers.uniform() - 0.5) as f32));
    }
    values
}

struct Side {
    values: Vec<f32>,
    factors: Vec<f64>,
    bias: Vec<f64>,
    dim: usize,
}

impl Side {
    fn directions(values: Vec<f32>, dim: usize) -> Self {
        let factors = unit_factors(&values, dim);
        Side { bias: excluded(&factors), values, factors, dim }
    }

    /// A ranking of these rows.
    fn by_cosine(&self, k: usize) -> Ranking<'_> {
        Ranking { scale: 1.0, bias: &self.bias, k, among: usize::MAX }
    }

    fn rows(&self) -> HostRows<'_> {
        HostRows { values: &self.values, dim: self.dim, factors: &self.factors }
    }
}

#[test]
fn clustered_rows_of_all_lengths_are_found_and_resolved() {
    gpus().iter().for_each(find_clustered_rows);
}

fn find_clustered_rows(card: &Cuda) {
    let mut numbers = Numbers(11);
    // 300 stays in shared memory, 768 and 1,536 are streamed; 17 and 64 are shorter than a step or exactly one.
    for (dim, queries, targets) in
        [(300, 3000, 20_000), (17, 700, 9001), (64, 256, 4096), (768, 513, 5000), (1536, 100, 3000)]
    {
        let [x, y] = [queries, targets].map(|count| Side::directions(clustered(count, dim, &mut numbers), dim));
        let [a, b] = [&x, &y].map(|side| card.upload(side.rows()).unwrap());
        for k in [1, 10, 100, 1000] {
            let bias: Vec<f64> = y.bias.iter().map(|bias| bias + 0.3 * numbers.uniform()).collect();
            for (scale, bias) in [(1.0, &y.bias), (2.0, &bias)] {
                let ranking = Ranking { scale, bias, k, among: usize::MAX };
                let found = nearest(card, &a, &b, &ranking, Wanted::Targets, &|_| true).unwrap();
                check(&found, x.rows(), y.rows(), &ranking, 101).unwrap();
                assert!(found.unresolved.len() < queries / 50, "{dim} {k}: {} unresolved", found.unresolved.len());
            }
        }
        let [forth, back] = means_of_both(card, [&a, &b], [&x.bias, &y.bias], 10, &|_| true).unwrap();
        check_means(&forth, x.rows(), y.rows(), &y.by_cosine(10), 97).unwrap();
        check_means(&back, y.rows(), x.rows(), &x.by_cosine(10), 301).unwrap();
        assert!(forth.unresolved.len() + back.unresolved.len() < targets / 50, "{dim}");
    }
}

#[test]
fn hard_rows_are_found_or_left_to_the_cpu() {
    gpus().iter().for_each(find_hard_rows);
}

fn find_hard_rows(card: &Cuda) {
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        // Kernels are compiled for each length.
        let dim = [3, 16, 31, 64, 90][seed as usize % 5];
        let counts = [300.0, 3000.0].map(|most| 1 + (numbers.uniform() * most) as usize);
        let magnitude = [1.0, 1e3, 1e9][seed as usize % 3];
        let [x, y] = counts.map(|count| rows(count, dim, &mut numbers, magnitude));
        let (k, among) = (1 + (numbers.uniform() * 60.0) as usize, 1 + (numbers.uniform() * 4000.0) as usize);
        let is_cosine = seed % 2 == 0;
        let side = |values: Vec<f32>| match is_cosine {
            true => Side::directions(values, dim),
            false => Side { factors: vec![1.5; values.len() / dim], bias: vec![0.0; values.len() / dim], values, dim },
        };
        let (x, mut y) = (side(x), side(y));
        if seed % 4 < 2 {
            y.bias.iter_mut().for_each(|bias| *bias += numbers.uniform() - 0.5);
        }
        let ranking = Ranking { scale: 2.0, bias: &y.bias, k, among };
        let [a, b] = [&x, &y].map(|side| card.upload(side.rows()).unwrap());
        match nearest(card, &a, &b, &ranking, Wanted::Targets, &|_| true) {
            Ok(found) => check(&found, x.rows(), y.rows(), &ranking, 1).unwrap(),
            Err(Fault::Unsuited(_)) => {}
            Err(fault) => panic!("{fault}"),
        }
        if is_cosine && seed % 4 >= 2 {
            let [forth, back] = means_of_both(card, [&a, &b], [&x.bias, &y.bias], k, &|_| true).unwrap();
            check_means(&forth, x.rows(), y.rows(), &y.by_cosine(k), 1).unwrap();
            check_means(&back, y.rows(), x.rows(), &x.by_cosine(k), 1).unwrap();
        }
        let found = nearest_of_host(card, x.rows(), y.rows(), &ranking, &|_| true);
        match found {
            Ok(found) => check(&found, x.rows(), y.rows(), &ranking, 1).unwrap(),
            Err(Fault::Unsuited(_)) => {}
            Err(fault) => panic!("{fault}"),
        }
    }
}

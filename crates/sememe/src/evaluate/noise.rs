//! Robustness experiments: noisy vectors, wrong dictionary entries, fewer dictionary entries.

use rayon::prelude::*;

use crate::lexicon::Tuples;
use crate::prepare::norm;
use crate::random::Random;
use crate::vectors::Embeddings;

/// Adds Gaussian noise to every vector: `x + level |x| e`, `e ~ N(0, I / dimension)`. At level 1 the noise is about as
/// long as the vector.
pub fn with_noise(embeddings: &Embeddings, level: f64, seed: u64) -> Embeddings {
    let mut noisy = embeddings.clone();
    let dim = noisy.dim();
    let mut seeds = Random::new(seed);
    // Each row has its own random stream, so that results do not depend on the number of threads.
    let seeds: Vec<Random> = (0..noisy.len()).map(|_| seeds.fork()).collect();
    let rows = noisy.matrix_mut().as_mut_slice().par_chunks_exact_mut(dim);
    rows.zip(seeds).for_each(|(row, mut random)| {
        let deviation = level * norm(row) / (dim as f64).sqrt();
        row.iter_mut().for_each(|x| *x = (f64::from(*x) + deviation * random.normal()) as f32);
    });
    noisy
}

/// Makes a fraction of the tuples wrong: in each view but the first, their words are rotated along a random order. The
/// wrong tuples of a smaller fraction are among those of a larger one.
pub fn shuffled(tuples: &Tuples, fraction: f64, seed: u64) -> Tuples {
    let mut random = Random::new(seed);
    let all: Vec<Vec<Option<usize>>> = tuples.iter().collect();
    let order = random_order(all.len(), &mut random);
    let count = ((fraction * all.len() as f64).round() as usize).min(all.len());
    let mut wrong = all.clone();
    for view in 1..tuples.views() {
        let chosen: Vec<usize> = order[..count].iter().copied().filter(|&tuple| all[tuple][view].is_some()).collect();
        for (&tuple, &next) in chosen.iter().zip(chosen.iter().cycle().skip(view)) {
            wrong[tuple][view] = all[next][view];
        }
    }
    collected(tuples.views(), wrong)
}

/// A random subset of `count` tuples. Subsets with the same seed are nested.
pub fn fewer(tuples: &Tuples, count: usize, seed: u64) -> Tuples {
    let all: Vec<Vec<Option<usize>>> = tuples.iter().collect();
    let mut kept = random_order(all.len(), &mut Random::new(seed));
    kept.truncate(count);
    // The original order, so that sums over all tuples keep their bits.
    kept.sort_unstable();
    collected(tuples.views(), kept.into_iter().map(|tuple| all[tuple].clone()))
}

fn random_order(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}

fn collected(views: usize, tuples: impl IntoIterator<Item = Vec<Option<usize>>>) -> Tuples {
    let mut collected = Tuples::new(views);
    for tuple in tuples {
        collected.add(&tuple);
    }
    collected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Matrix;

    fn pairs(count: usize) -> Tuples {
        collected(2, (0..count).map(|row| vec![Some(row), Some(row)]))
    }

    #[test]
    fn noise_is_as_long_as_its_level_says() {
        let words: Vec<String> = (0..50).map(|word| word.to_string()).collect();
        let vectors = (0..50 * 200).map(|at| ((at * 37 % 101) as f32 - 50.0) / 10.0).collect();
        let clean = Embeddings::new(words.iter().map(String::as_str).collect(), Matrix::new(vectors, 200));
        for level in [0.0, 0.5, 2.0] {
            let noisy = with_noise(&clean, level, 7);
            let ratio = |row: usize| {
                let noise: Vec<f32> = clean.vector(row).iter().zip(noisy.vector(row)).map(|(a, b)| a - b).collect();
                norm(&noise) / norm(clean.vector(row))
            };
            let mean = (0..50).map(ratio).sum::<f64>() / 50.0;
            assert!((mean - level).abs() <= 0.02 * level, "{level}: {mean}");
            assert_eq!(noisy.matrix().as_slice(), with_noise(&clean, level, 7).matrix().as_slice());
        }
        assert_ne!(with_noise(&clean, 1.0, 1).vector(3), with_noise(&clean, 1.0, 2).vector(3));
    }

    #[test]
    fn a_fraction_of_the_tuples_is_wrong_and_stays_wrong() {
        let tuples = pairs(1000);
        let wrong = |fraction: f64| -> Vec<usize> {
            let shuffled = shuffled(&tuples, fraction, 3);
            shuffled.pairs_of(0, 1).into_iter().filter(|(a, b)| a != b).map(|(a, _)| a).collect()
        };
        assert_eq!([0.0, 0.1, 0.5, 1.0].map(|fraction| wrong(fraction).len()), [0, 100, 500, 1000]);
        assert!(wrong(0.1).iter().all(|tuple| wrong(0.5).contains(tuple)));
        // Every word still occurs exactly once.
        let mut words: Vec<usize> = shuffled(&tuples, 0.5, 3).pairs_of(0, 1).iter().map(|pair| pair.1).collect();
        words.sort_unstable();
        assert_eq!(words, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn fewer_tuples_are_part_of_more() {
        let (few, more) = (fewer(&pairs(100), 10, 5), fewer(&pairs(100), 50, 5));
        assert_eq!((few.len(), more.len(), fewer(&pairs(100), 1000, 5).len()), (10, 50, 100));
        let more: Vec<_> = more.iter().collect();
        assert!(few.iter().all(|tuple| more.contains(&tuple)));
    }
}

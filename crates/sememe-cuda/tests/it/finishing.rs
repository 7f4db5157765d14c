//! The steps of the finish on a GPU, compared with their definition in double precision.

use sememe_cuda::Vectors;

use crate::exhaustive::Numbers;
use crate::gpu::gpus;

#[test]
fn gpu_steps_of_the_finish_are_cosines_and_gradients() {
    gpus().iter().take(1).for_each(|card| {
        let mut numbers = Numbers(5);
        let (dim, counts) = (70, [90, 60]);
        let mut values = |count: usize| (0..count).map(|_| (numbers.uniform() - 0.5) as f32).collect::<Vec<f32>>();
        let words = counts.map(|count| values(count * dim));
        let maps = [values(dim * dim), values(dim * dim)];
        let pairs: Vec<[u32; 2]> =
            (0..90_u32).flat_map(|word| (0..word % 5).map(move |step| [word, (word * 7 + step) % 60])).collect();
        let slopes = values(pairs.len());
        let image = |side: usize, word: u32| -> (Vec<f64>, f64) {
            let row = &words[side][word as usize * dim..][..dim];
            let entry = |i: usize| (0..dim).map(|j| f64::from(maps[side][i * dim + j]) * f64::from(row[j])).sum();
            let image: Vec<f64> = (0..dim).map(entry).collect();
            let length = image.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
            (image.iter().map(|x| x / length).collect(), length)
        };
        let vectors = [0, 1].map(|side: usize| Vectors { values: &words[side], dim });
        let mut finishing = card.finishing(vectors, &pairs).unwrap();
        let cosines = finishing.cosines([&maps[0], &maps[1]]).unwrap();
        for (found, pair) in cosines.iter().zip(&pairs) {
            let (a, b) = (image(0, pair[0]).0, image(1, pair[1]).0);
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
        let gradients = finishing.gradients(&slopes).unwrap();
        for side in 0..2 {
            let mut expected = vec![0.0; dim * dim];
            for word in 0..counts[side] as u32 {
                let (unit, length) = image(side, word);
                let mut sum = vec![0.0; dim];
                for (pair, slope) in pairs.iter().zip(&slopes).filter(|(pair, _)| pair[side] == word) {
                    let other = image(1 - side, pair[1 - side]).0;
                    sum.iter_mut().zip(&other).for_each(|(sum, x)| *sum += f64::from(*slope) * x);
                }
                let along: f64 = unit.iter().zip(&sum).map(|(a, b)| a * b).sum();
                for i in 0..dim {
                    let slope = (sum[i] - along * unit[i]) / length;
                    let row = &words[side][word as usize * dim..][..dim];
                    (0..dim).for_each(|j| expected[i * dim + j] += slope * f64::from(row[j]));
                }
            }
            let largest = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (found, expected) in gradients[side].iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-5 * largest, "{found} {expected}");
            }
        }
    });
}

//! Cross-domain similarity local scaling (Conneau et al. 2018): `2 cos(x, y) - r(x) - r(y)`, where `r` is the mean
//! cosine of a word to its nearest neighbours in the other language. Subtracting it penalises hubs.

use std::ops::{Add, Sub};

/// The default number of neighbours that `r` averages over.
pub(crate) const NEIGHBOURS: usize = 10;

/// `2 cos(x, y) - r(x) - r(y)`.
#[inline(always)]
pub(crate) fn csls<T: Copy + Sub<Output = T> + Add<Output = T>>(cosine: T, of_x: T, of_y: T) -> T {
    cosine + cosine - of_x - of_y
}

/// `r` of a word, given the cosines of its nearest neighbours.
pub(crate) fn mean(cosines: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = cosines.len().max(1) as f64;
    cosines.sum::<f64>() / count
}

/// The [`NEIGHBOURS`] largest values so far, in increasing order. Computes `r` where all cosines are in memory.
#[derive(Clone, Copy)]
pub(crate) struct Largest {
    values: [f32; NEIGHBOURS],
}

impl Default for Largest {
    fn default() -> Self {
        Largest { values: [f32::NEG_INFINITY; NEIGHBOURS] }
    }
}

impl Largest {
    pub(crate) fn of(values: &[f32]) -> Self {
        let mut largest = Largest::default();
        values.iter().for_each(|&value| largest.add(value));
        largest
    }

    pub(crate) fn add(&mut self, value: f32) {
        if value > self.values[0] {
            let place = self.values.partition_point(|&other| other < value) - 1;
            self.values.copy_within(1..=place, 0);
            self.values[place] = value;
        }
    }

    /// The mean of these values; of all values added if they are fewer than [`NEIGHBOURS`].
    pub(crate) fn mean(&self) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0);
        for &value in self.values.iter().filter(|value| value.is_finite()) {
            sum += value;
            count += 1.0;
        }
        sum / f32::max(count, 1.0)
    }
}

//! Bootstrap confidence intervals of a mean over queries.

use rayon::prelude::*;

use crate::random::Random;

/// Bootstrap resampling: draws queries with replacement (Efron 1979).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of resamples, each as large as the original sample.
    pub resamples: usize,
    /// The same seed gives the same intervals.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { resamples: 2000, seed: 0 }
    }
}

impl Bootstrap {
    /// The 95 % confidence interval of the mean: the 2.5th and the 97.5th percentile of the resampled means. Panics if
    /// `values` is empty.
    ///
    /// ```
    /// use sememe::evaluate::Bootstrap;
    ///
    /// let values: Vec<f64> = (0..1000).map(|i| f64::from(i % 4 == 0)).collect();
    /// let [low, high] = Bootstrap::default().interval(&values);
    /// assert!((0.22..0.24).contains(&low) && (0.26..0.28).contains(&high));
    /// ```
    pub fn interval(&self, values: &[f64]) -> [f64; 2] {
        assert!(!values.is_empty(), "an interval needs values");
        let mut random = Random::new(self.seed);
        let streams: Vec<Random> = (0..self.resamples.max(1)).map(|_| random.fork()).collect();
        let resampled_mean = |mut random: Random| {
            let sum: f64 = (0..values.len()).map(|_| values[random.below(values.len())]).sum();
            sum / values.len() as f64
        };
        let mut means: Vec<f64> = streams.into_par_iter().map(resampled_mean).collect();
        means.sort_by(f64::total_cmp);
        [0.025, 0.975].map(|share| {
            let at = share * (means.len() - 1) as f64;
            let (below, above) = (means[at.floor() as usize], means[at.ceil() as usize]);
            below + (above - below) * at.fract()
        })
    }
}

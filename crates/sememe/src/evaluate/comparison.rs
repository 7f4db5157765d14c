//! Significance tests: whether one space translates better than another or the difference is due to chance.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Answer, Bootstrap, Oov, Translation};
use crate::error::{Error, Result};

/// Precision at 1 of two spaces on the same queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Queries that both spaces translate; all gold words where out-of-vocabulary words count as wrong.
    pub queries: usize,
    /// Precision at 1 of the first space, in per cent.
    pub first: f64,
    /// Precision at 1 of the second space, in per cent.
    pub second: f64,
    /// First minus second.
    pub difference: f64,
    /// 95 % confidence interval of the difference, by paired bootstrap over queries.
    pub interval: [f64; 2],
    /// Queries that only the first gets right.
    pub only_first: usize,
    /// Queries that only the second gets right.
    pub only_second: usize,
    /// The p-value of McNemar's exact two-sided test, on the queries that only one of the spaces gets right.
    pub p_value: f64,
}

/// Compares two evaluations on the same gold dictionary, query by query.
pub fn compare(first: &Translation, second: &Translation, bootstrap: &Bootstrap) -> Result<Comparison> {
    let is_right = |translation: &Translation, answer: Answer| match (answer, translation.oov) {
        (Answer::Unknown, Oov::Skip) => None,
        (answer, _) => Some(answer == Answer::Found(1)),
    };
    let others: BTreeMap<&str, Option<bool>> =
        second.outcomes.iter().map(|other| (other.word.as_str(), is_right(second, other.answer))).collect();
    let both: Vec<(bool, bool)> = (first.outcomes.iter())
        .filter_map(|own| is_right(first, own.answer).zip(others.get(own.word.as_str()).copied().flatten()))
        .collect();
    if both.is_empty() {
        let problem = "the two spaces have no query in common that could be compared".to_owned();
        return Err(Error::NotEnoughData(problem));
    }
    let count = |which: (bool, bool)| both.iter().filter(|&&pair| pair == which).count();
    let (only_first, only_second, right) = (count((true, false)), count((false, true)), count((true, true)));
    let percent = |part: usize| 100.0 * part as f64 / both.len() as f64;
    let differences: Vec<f64> =
        both.iter().map(|&(first, second)| 100.0 * (f64::from(first) - f64::from(second))).collect();
    Ok(Comparison {
        queries: both.len(),
        first: percent(right + only_first),
        second: percent(right + only_second),
        difference: percent(right + only_first) - percent(right + only_second),
        interval: bootstrap.interval(&differences),
        only_first,
        only_second,
        p_value: fair_coin(only_first, only_second),
    })
}

/// The two-sided exact binomial test of a fair coin: `min(1, 2 P(X <= min(a, b)))` with `X ~ B(a + b, 1/2)`.
fn fair_coin(a: usize, b: usize) -> f64 {
    let tosses = a + b;
    // `log (C(n, k) / 2^n)`, updated from each `k` to the next.
    let mut log_probability = -(tosses as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=a.min(b) {
        tail += log_probability.exp();
        log_probability += ((tosses - k) as f64).ln() - ((k + 1) as f64).ln();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_test_is_the_binomial_one() {
        // scipy.stats.binomtest(a, a + b).pvalue
        for (a, b, expected) in [
            (0, 0, 1.0),
            (5, 5, 1.0),
            (1, 9, 0.021484375),
            (12, 30, 0.007_915_897_334_896_727),
            (310, 250, 0.012_590_475_149_380_293),
        ] {
            assert!((fair_coin(a, b) - expected).abs() < 1e-9, "{a} {b}: {}", fair_coin(a, b));
            assert_eq!(fair_coin(a, b), fair_coin(b, a));
        }
    }
}

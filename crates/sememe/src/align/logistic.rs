//! The maximum-likelihood parameters of a [`Calibration`].

use crate::regression::{Prior, Regression};
use crate::retrieve::{Calibration, log_odds};

/// The result of a held-out query.
pub(super) struct HeldOutQuery {
    /// Whether its first candidate is right.
    pub(super) is_right: bool,
    /// The scores of its candidates, best first.
    pub(super) scores: Vec<f64>,
    /// How common and how rare it is: the logarithm of its row, less that of the usual row, if it is below or above.
    pub(super) rarity: [f64; 2],
}

/// The priors of offset, slope, level (for a standard deviation of the best scores), commonness and rarity: plain softmax in
/// the mean. They matter for few queries only. The slope stays positive, so that confidences fall with the rank.
const PRIOR: Prior<5> = Prior {
    means: [0.0, 1.0, 0.0, 0.0, 0.0],
    deviations: [3.0, 1.0, 1.0, 0.5, 0.5],
    least: [f64::NEG_INFINITY, 0.05, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
};
/// The range of temperatures, relative to the median difference between the first and the last score.
const TEMPERATURES: [f64; 2] = [0.02, 20.0];
const GRID: usize = 32;
const REFINEMENTS: usize = 20;

/// The parameters that maximise the posterior probability of right and wrong first candidates. The temperature is
/// searched in one dimension; for each temperature the others are a logistic regression. Which rows are usual is for the
/// caller to add.
pub(super) fn most_likely(queries: &[HeldOutQuery]) -> Calibration {
    let scale = median_spread(queries);
    let [low, high] = TEMPERATURES.map(|ratio| (ratio * scale).ln());
    let best_scores = BestScores::of(queries);
    let fitted = |log_temperature: f64| regression(queries, &best_scores, log_temperature.exp());
    let log_temperature = maximum(|at| fitted(at).log_posterior, (low, high));
    let [offset, slope, standardised, commonness, rarity] = fitted(log_temperature).coefficients;
    let level = standardised / best_scores.deviation;
    Calibration {
        temperature: log_temperature.exp(),
        slope,
        offset: offset - level * best_scores.mean,
        level,
        rarity,
        commonness: Some(commonness),
        usual: 0.0,
        range: [0.0; 2],
    }
}

/// The distribution of the best scores of queries.
struct BestScores {
    mean: f64,
    /// Where all are equal any deviation will do.
    deviation: f64,
}

impl BestScores {
    fn of(queries: &[HeldOutQuery]) -> Self {
        let mean_of =
            |value: &dyn Fn(&HeldOutQuery) -> f64| queries.iter().map(value).sum::<f64>() / queries.len() as f64;
        let mean = mean_of(&|query| query.scores[0]);
        let deviation = mean_of(&|query| (query.scores[0] - mean).powi(2)).sqrt();
        BestScores { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
    }

    fn standardised(&self, query: &HeldOutQuery) -> f64 {
        (query.scores[0] - self.mean) / self.deviation
    }
}

fn median_spread(queries: &[HeldOutQuery]) -> f64 {
    let spread = |query: &HeldOutQuery| query.scores[0] - query.scores[query.scores.len() - 1];
    let mut spreads: Vec<f64> = queries.iter().map(spread).collect();
    spreads.sort_by(f64::total_cmp);
    // Where all scores are equal any scale will do.
    let median = spreads[spreads.len() / 2];
    if median > 0.0 { median } else { 1.0 }
}

/// Log-odds of a candidate without rivals are infinite; this is as good.
const LARGEST_LOG_ODDS: f64 = 40.0;

/// A logistic regression of right first candidates on the log-odds of their scores, on the scores and on the rarity of the
/// word.
///
/// Words rarer than the usual one are not easier to translate. Where they seem to be, by the chance of a sample, rarity does
/// not count: words without an entry are rarer than those held out, and their confidences would be too high.
fn regression(queries: &[HeldOutQuery], best_scores: &BestScores, temperature: f64) -> Regression<5> {
    let regression = regression_on(queries, best_scores, temperature, |query| query.rarity);
    match regression.coefficients[4] > 0.0 {
        true => regression_on(queries, best_scores, temperature, |query| [query.rarity[0], 0.0]),
        false => regression,
    }
}

fn regression_on(
    queries: &[HeldOutQuery],
    best_scores: &BestScores,
    temperature: f64,
    rarity: impl Fn(&HeldOutQuery) -> [f64; 2],
) -> Regression<5> {
    let features = |query: &HeldOutQuery| {
        let odds = log_odds(&query.scores, temperature).next().unwrap_or(0.0);
        let [common, rare] = rarity(query);
        [1.0, odds.clamp(-LARGEST_LOG_ODDS, LARGEST_LOG_ODDS), best_scores.standardised(query), common, rare]
    };
    let rows: Vec<[f64; 5]> = queries.iter().map(features).collect();
    let rights = queries.iter().filter(|query| query.is_right).count();
    // As in Platt scaling, one more query of each kind is imagined: a sample without errors does not prove certainty.
    let (sure, unsure) = ((rights + 1) as f64 / (rights + 2) as f64, 1.0 / (queries.len() - rights + 2) as f64);
    let labels: Vec<f64> = queries.iter().map(|query| if query.is_right { sure } else { unsure }).collect();
    PRIOR.most_likely(&rows, &labels)
}

/// Maximises a function of one variable: the best point of a grid, refined by golden-section search.
fn maximum(function: impl Fn(f64) -> f64, (low, high): (f64, f64)) -> f64 {
    let at = |step: usize| low + (high - low) * step as f64 / GRID as f64;
    let values: Vec<f64> = (0..=GRID).map(|step| function(at(step))).collect();
    let best = (0..=GRID).fold(0, |best, step| if values[step] > values[best] { step } else { best });
    let (mut a, mut b) = (at(best.saturating_sub(1)), at((best + 1).min(GRID)));
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..REFINEMENTS {
        let (left, right) = (b - golden * (b - a), a + golden * (b - a));
        if function(left) >= function(right) { b = right } else { a = left }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::retrieve::{UsualRows, log_row};

    #[test]
    fn finds_the_maximum_inside_and_at_the_ends() {
        for top in [-2.0, -0.3, 1.234, 5.0] {
            assert!((maximum(|x| -(x - top).powi(2), (-2.0, 5.0)) - top).abs() < 1e-3, "{top}");
        }
    }

    fn with_rarity(rarity: f64) -> Calibration {
        let (commonness, range) = (Some(0.0), [0.0, 8.6]);
        Calibration { temperature: 0.05, slope: 1.5, offset: 1.0, level: 2.0, rarity, commonness, usual: 7.5, range }
    }

    /// Queries whose first candidates are right with the probabilities of a calibration, and these.
    fn sample(calibration: &Calibration, count: usize) -> (Vec<HeldOutQuery>, Vec<f64>) {
        let mut random = Random::new(3);
        let queries = (0..count).map(|_| {
            let mut scores: Vec<f32> = (0..Calibration::CANDIDATES).map(|_| random.normal() as f32 * 0.1).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            let row = (random.uniform() * 5000.0) as usize;
            let p = calibration.confidences(&scores, Some(row))[0];
            let scores = scores.into_iter().map(f64::from).collect();
            let rarity = log_row(row).min(calibration.range[1]) - calibration.usual;
            let rarity = [rarity.min(0.0), rarity.max(0.0)];
            (HeldOutQuery { is_right: random.uniform() < p, scores, rarity }, p)
        });
        queries.unzip()
    }

    #[test]
    fn confidences_that_were_sampled_from_are_found_again() {
        let truth = Calibration { commonness: Some(0.2), ..with_rarity(-0.4) };
        let (queries, probabilities) = sample(&truth, 4000);
        let usual = UsualRows::of(vec![truth.range[0], truth.usual, truth.range[1]]).unwrap();
        let found = most_likely(&queries).with_usual_rows(usual);
        let error = |(query, p): (&HeldOutQuery, &f64)| {
            let scores: Vec<f32> = query.scores.iter().map(|&score| score as f32).collect();
            let row = ((query.rarity[0] + query.rarity[1] + truth.usual).exp() - 1.0).round() as usize;
            (found.confidences(&scores, Some(row))[0] - p).abs()
        };
        let mean = queries.iter().zip(&probabilities).map(error).sum::<f64>() / 4000.0;
        assert!(mean < 0.02, "{mean} {found:?}");
    }

    #[test]
    fn rarer_words_are_never_surer() {
        assert_eq!(most_likely(&sample(&with_rarity(0.4), 1000).0).rarity, 0.0);
    }

    #[test]
    fn a_sample_without_errors_or_of_equal_scores_gives_possible_parameters() {
        for (is_right, scores) in
            [(true, vec![0.9, 0.1]), (false, vec![0.9, 0.1]), (true, vec![0.5; 20]), (true, vec![0.5])]
        {
            let query = || HeldOutQuery { is_right, scores: scores.clone(), rarity: [0.0; 2] };
            let found = most_likely(&(0..20).map(|_| query()).collect::<Vec<_>>());
            assert!(found.is_valid(), "{found:?}");
            let scores: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
            let first = found.confidences(&scores, None)[0];
            assert!(if is_right { first > 0.8 } else { first < 0.2 }, "{first} {found:?}");
            assert!(scores.len() == 1 || (0.001..0.999).contains(&first), "{first}");
        }
    }
}

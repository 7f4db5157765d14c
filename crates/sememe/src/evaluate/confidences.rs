//! How well confidences agree with precision.

use serde::Serialize;

use super::translation::{Answer, Outcome};
use crate::retrieve::Calibration;

/// Bins of equal width that the calibration error is computed in.
const BINS: usize = 10;

/// Confidences of first candidates beside their precision, in per cent.
///
/// The expected calibration error is the mean difference, over queries, between confidence and precision within ten bins of
/// confidence (0–10 %, 10–20 %, …). Few queries have a large error by chance alone: about 3 points for 1,000 queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfidenceEvaluation {
    /// Mean confidence of the first candidates.
    pub mean: f64,
    /// Precision of the same candidates.
    pub precision: f64,
    /// Expected calibration error.
    pub calibration_error: f64,
    /// The calibration error that so many queries would have by chance if every confidence were the probability of being right.
    pub calibration_error_by_chance: f64,
}

#[derive(Default, Clone, Copy)]
struct Bin {
    confidence: f64,
    right: f64,
    /// Of the number of right candidates, if confidences are their probabilities.
    variance: f64,
}

impl Bin {
    /// The mean size of a normal deviation of this variance.
    fn deviation_by_chance(&self) -> f64 {
        (2.0 * self.variance / std::f64::consts::PI).sqrt()
    }
}

impl ConfidenceEvaluation {
    /// Compares the confidences of all queries that found something with whether they found the right thing; `None` if
    /// there are none.
    pub(super) fn of(outcomes: &[Outcome], calibration: &Calibration) -> Option<Self> {
        let mut bins = [Bin::default(); BINS];
        let mut queries = 0.0;
        for outcome in outcomes {
            let Some(&confidence) = calibration.confidences(&outcome.best_scores, outcome.row).first() else {
                continue;
            };
            let bin = &mut bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
            bin.confidence += confidence;
            bin.variance += confidence * (1.0 - confidence);
            bin.right += f64::from(outcome.answer == Answer::Found(1));
            queries += 1.0;
        }
        let mean = |of: &dyn Fn(&Bin) -> f64| 100.0 * bins.iter().map(of).sum::<f64>() / queries;
        (queries > 0.0).then(|| ConfidenceEvaluation {
            mean: mean(&|bin| bin.confidence),
            precision: mean(&|bin| bin.right),
            calibration_error: mean(&|bin| (bin.confidence - bin.right).abs()),
            calibration_error_by_chance: mean(&Bin::deviation_by_chance),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A query whose two candidates differ by this log-odds.
    fn outcome(log_odds: f32, is_right: bool) -> Outcome {
        let answer = if is_right { Answer::Found(1) } else { Answer::Missed };
        let (word, best_scores) = ("word".to_owned(), vec![log_odds, 0.0]);
        Outcome { word, answer, average_precision: 0.0, row: Some(0), best_scores }
    }

    #[test]
    fn calibration_errors_are_differences_within_bins() {
        let parameters = r#"{"temperature": 1, "slope": 1, "offset": 0, "rarity": 0, "usual": 0, "range": [0, 0]}"#;
        let calibration: Calibration = serde_json::from_str(parameters).unwrap();
        // Confidences of 75 % (odds of 3 to 1) and 25 %, of which one half is right in either case.
        let odds = 3.0_f32.ln();
        let outcomes = [outcome(odds, true), outcome(odds, false), outcome(-odds, true), outcome(-odds, false)];
        let ConfidenceEvaluation { mean, precision, calibration_error, .. } =
            ConfidenceEvaluation::of(&outcomes, &calibration).unwrap();
        assert!((mean - 50.0).abs() < 1e-4 && (precision - 50.0).abs() < 1e-4, "{mean} {precision}");
        assert!((calibration_error - 25.0).abs() < 1e-4, "{calibration_error}");
        let unknown = Outcome { answer: Answer::Unknown, best_scores: Vec::new(), ..outcome(0.0, false) };
        assert_eq!(ConfidenceEvaluation::of(&[unknown], &calibration), None);
    }
    #[test]
    fn errors_of_true_probabilities_are_those_by_chance() {
        let parameters = r#"{"temperature": 1, "slope": 1, "offset": 0, "rarity": 0, "usual": 0, "range": [0, 0]}"#;
        let calibration: Calibration = serde_json::from_str(parameters).unwrap();
        let mut random = Random::new(6);
        let mut errors = |queries: usize| {
            let outcomes: Vec<Outcome> = (0..queries)
                .map(|_| {
                    let p = 0.02 + 0.96 * random.uniform();
                    outcome((p / (1.0 - p)).ln() as f32, random.uniform() < p)
                })
                .collect();
            let found = ConfidenceEvaluation::of(&outcomes, &calibration).unwrap();
            [found.calibration_error, found.calibration_error_by_chance]
        };
        let all: Vec<[f64; 2]> = (0..50).map(|_| errors(1000)).collect();
        let [error, by_chance] = [0, 1].map(|which| all.iter().map(|errors| errors[which]).sum::<f64>() / 50.0);
        assert!((error - by_chance).abs() < 0.3 && (2.5..4.0).contains(&by_chance), "{error} {by_chance}");
        let [_, of_few] = errors(100);
        assert!(of_few > 2.0 * by_chance, "{of_few} {by_chance}");
    }
}

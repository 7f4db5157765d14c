//! How well confidences agree with precision.

use serde::Serialize;

use super::translation::{Answer, Outcome};
use crate::retrieve::Calibration;

/// Bins of equal width that the calibration error is computed in.
const BINS: usize = 10;

/// Confidences of first candidates beside their precision, in per cent.
///
/// The expected calibration error is the mean difference, over queries, between confidence and precision within ten bins of
/// confidence (0–10 %, 10–20 %, …).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfidenceEvaluation {
    /// Mean confidence of the first candidates.
    pub mean: f64,
    /// Precision of the same candidates.
    pub precision: f64,
    /// Expected calibration error.
    pub calibration_error: f64,
}

#[derive(Default, Clone, Copy)]
struct Bin {
    confidence: f64,
    right: f64,
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
            bin.right += f64::from(outcome.answer == Answer::Found(1));
            queries += 1.0;
        }
        let mean = |of: &dyn Fn(&Bin) -> f64| 100.0 * bins.iter().map(of).sum::<f64>() / queries;
        (queries > 0.0).then(|| ConfidenceEvaluation {
            mean: mean(&|bin| bin.confidence),
            precision: mean(&|bin| bin.right),
            calibration_error: mean(&|bin| (bin.confidence - bin.right).abs()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let ConfidenceEvaluation { mean, precision, calibration_error } =
            ConfidenceEvaluation::of(&outcomes, &calibration).unwrap();
        assert!((mean - 50.0).abs() < 1e-4 && (precision - 50.0).abs() < 1e-4, "{mean} {precision}");
        assert!((calibration_error - 25.0).abs() < 1e-4, "{calibration_error}");
        let unknown = Outcome { answer: Answer::Unknown, best_scores: Vec::new(), ..outcome(0.0, false) };
        assert_eq!(ConfidenceEvaluation::of(&[unknown], &calibration), None);
    }
}

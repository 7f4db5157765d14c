//! Calibrated confidences of retrieved targets.

use serde::{Deserialize, Serialize};

/// How the scores of a query's best targets become confidences: the probabilities that each target is right.
///
/// With `w_j = exp(score_j / temperature)` of the best [`Calibration::CANDIDATES`] targets, the confidence of target `k`
/// is the logistic function of
///
/// `offset + level score_1 + rarity (log(1 + row) - usual) + slope log(w_k / Σ_{j≠k} w_j)`,
///
/// where `score_1` is the best score: a query without any near target probably has no right one. `row` is the row of the
/// query: vectors of words are sorted by frequency, and rare words are harder to translate. Rows before the usual one have a factor of their own in place of `rarity`: the most frequent words, such as
/// articles and pronouns, are hard to translate, too. The confidence falls with the rank. Confidences of one query may add up to more than 1, as a word may have
/// several right translations.
///
/// The parameters are estimated on held-out translations, for each criterion and pair of views: about 80 % of the first
/// candidates with a confidence of 80 % are right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Calibration {
    /// The number that differences of scores are divided by.
    pub temperature: f64,
    /// Factor of the log-odds of the scores.
    pub slope: f64,
    /// Added to the log-odds.
    pub offset: f64,
    /// Added to the log-odds for each unit of the best score; 0 in files of earlier versions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub level: f64,
    /// Added to the log-odds for each unit of the logarithm of the query's row, above the usual one.
    pub rarity: f64,
    /// The same below the usual one; `None` if it is `rarity`, as in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commonness: Option<f64>,
    /// The median logarithm of the rows of held-out words of the view of queries; used for a query without a row.
    pub usual: f64,
    /// The smallest and the largest logarithm of these rows. Beyond them nothing was measured, and nothing changes.
    pub range: [f64; 2],
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The logarithms of the rows of some words: their median, the smallest and the largest.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsualRows {
    median: f64,
    range: [f64; 2],
}

impl UsualRows {
    /// `None` without rows.
    pub(crate) fn of(mut logs: Vec<f64>) -> Option<Self> {
        logs.sort_by(f64::total_cmp);
        let range = [*logs.first()?, *logs.last()?];
        Some(UsualRows { median: logs[logs.len() / 2], range })
    }

    /// How common and how rare a word with this logarithm of its row is: its distance from the median, if it is below or
    /// above.
    pub(crate) fn rarity(&self, log_row: f64) -> [f64; 2] {
        let distance = log_row.max(self.range[0]).min(self.range[1]) - self.median;
        [distance.min(0.0), distance.max(0.0)]
    }
}

/// The logarithm of a row's number, counted from 1.
pub(crate) fn log_row(row: usize) -> f64 {
    (row as f64).ln_1p()
}

/// For every score, best first, the log-odds of its target: `log(w_k / Σ_{j≠k} w_j)`.
pub(crate) fn log_odds(scores: &[f64], temperature: f64) -> impl Iterator<Item = f64> {
    let among = &scores[..scores.len().min(Calibration::CANDIDATES)];
    let log_weight = move |score: f64| (score - scores[0]) / temperature;
    let others = move |rank: usize| -> f64 {
        let others = among.iter().enumerate().filter(|(other, _)| *other != rank);
        others.map(|(_, &score)| log_weight(score).exp()).sum()
    };
    (0..scores.len()).map(move |rank| log_weight(scores[rank]) - others(rank).ln())
}

pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Calibration {
    /// Number of best targets that confidences depend on. A search must return at least this many, or all targets.
    pub const CANDIDATES: usize = 20;

    /// Whether all parameters are possible.
    pub fn is_valid(&self) -> bool {
        let all = [self.offset, self.level, self.rarity, self.commonness(), self.usual, self.range[0], self.range[1]];
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        is_positive(self.temperature) && is_positive(self.slope) && all.iter().all(|x| x.is_finite())
    }

    /// The confidence of every target of a query, given the scores of its best targets in descending order, as the criterion
    /// defines them, at least [`Calibration::CANDIDATES`] of them where there are as many targets. `row` is the row of the query in its view,
    /// if it has one.
    ///
    /// ```
    /// use sememe::retrieve::Calibration;
    ///
    /// let calibration: Calibration = serde_json::from_str(
    ///     r#"{"temperature": 0.1, "slope": 1, "offset": 0, "rarity": 0, "usual": 0, "range": [0, 0]}"#)?;
    /// let confidences = calibration.confidences(&[0.9, 0.7, 0.2], None);
    /// assert!((confidences[0] - 0.88).abs() < 0.01 && confidences.is_sorted_by(|a, b| a > b));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn confidences(&self, scores: &[f32], row: Option<usize>) -> Vec<f64> {
        let scores: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
        let usual = UsualRows { median: self.usual, range: self.range };
        let [common, rare] = row.map_or([0.0; 2], |row| usual.rarity(log_row(row)));
        let best = scores.first().copied().unwrap_or(0.0);
        let base = self.offset + self.level * best + self.commonness() * common + self.rarity * rare;
        log_odds(&scores, self.temperature).map(|odds| logistic(base + self.slope * odds)).collect()
    }

    fn commonness(&self) -> f64 {
        self.commonness.unwrap_or(self.rarity)
    }

    /// The same parameters for queries of which these rows are usual.
    pub(crate) fn with_usual_rows(self, UsualRows { median: usual, range }: UsualRows) -> Self {
        Calibration { usual, range, ..self }
    }

    /// The mean of several calibrations of one criterion, for a pair of views that has none of its own.
    pub(crate) fn mean(all: &[Calibration]) -> Option<Calibration> {
        let mean = |of: &dyn Fn(&Calibration) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| Calibration {
            temperature: mean(&|one| one.temperature.ln()).exp(),
            slope: mean(&|one| one.slope.ln()).exp(),
            offset: mean(&|one| one.offset),
            level: mean(&|one| one.level),
            rarity: mean(&|one| one.rarity),
            commonness: Some(mean(&Calibration::commonness)),
            usual: mean(&|one| one.usual),
            range: [0, 1].map(|end| mean(&|one| one.range[end])),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::seeds::cases;

    proptest! {
        #![proptest_config(cases(200))]

        #[test]
        fn confidences_are_probabilities_and_fall_with_the_rank(
            mut scores in prop::collection::vec(-50.0_f32..50.0, 1..30), temperature in 0.01_f64..30.0,
            slope in 0.1_f64..5.0, offset in -3.0_f64..3.0, level in -2.0_f64..5.0, rarity in -1.0_f64..1.0,
            commonness in prop::option::of(-1.0_f64..1.0), row: usize,
        ) {
            scores.sort_by(|a, b| b.total_cmp(a));
            let calibration =
                Calibration { temperature, slope, offset, level, rarity, commonness, usual: 5.0, range: [0.0, 10.0] };
            let confidences = calibration.confidences(&scores, Some(row));
            prop_assert!(confidences.iter().all(|p| (0.0..=1.0).contains(p)), "{confidences:?}");
            prop_assert!(confidences.is_sorted_by(|a, b| a >= b), "{confidences:?}");
        }
    }

    #[test]
    fn common_words_have_a_factor_of_their_own_or_that_of_rare_ones() {
        let confidence = |commonness: &str, row| {
            let json = format!(
                r#"{{"temperature": 1, "slope": 1, "offset": 0, "rarity": -0.5, {commonness} "usual": 4, "range": [0, 9]}}"#
            );
            serde_json::from_str::<Calibration>(&json).unwrap().confidences(&[1.0, 0.5], Some(row))[0]
        };
        assert_eq!(confidence("", 3), confidence(r#""commonness": -0.5,"#, 3));
        assert!(confidence(r#""commonness": 0.5,"#, 3) < confidence("", 3));
        assert_eq!(confidence(r#""commonness": 0.5,"#, 3000), confidence("", 3000));
    }

    #[test]
    fn the_only_target_is_certain_and_no_target_is_no_error() {
        let calibration = Calibration {
            temperature: 0.1,
            slope: 1.0,
            offset: 0.0,
            level: 0.0,
            rarity: 0.0,
            commonness: None,
            usual: 0.0,
            range: [0.0; 2],
        };
        assert_eq!(calibration.confidences(&[0.3], None), [1.0]);
        assert!(calibration.confidences(&[], None).is_empty());
    }
}

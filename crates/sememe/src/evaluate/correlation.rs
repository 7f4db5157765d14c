//! Correlation coefficients.

use crate::linalg::dot;

/// Pearson's correlation `Σ (x - x̄)(y - ȳ) / (|x - x̄| |y - ȳ|)`. Returns `None` for fewer than two values or a
/// constant series. Panics if the series differ in length.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "one value of each series for every pair");
    let is_constant = |values: &[f64]| values.iter().all(|value| *value == values[0]);
    if x.len() < 2 || is_constant(x) || is_constant(y) {
        return None;
    }
    let centred = |values: &[f64]| -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value - mean).collect()
    };
    let (x, y) = (centred(x), centred(y));
    let correlation = dot(&x, &y) / (dot(&x, &x).sqrt() * dot(&y, &y).sqrt());
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}

/// Spearman's rank correlation: Pearson's correlation of the ranks, with mean ranks for ties. Returns `None` where
/// [`pearson`] does.
///
/// ```
/// use sememe::evaluate::spearman;
///
/// assert!(spearman(&[1.0, 2.0, 3.0], &[0.1, 0.4, 99.0]).is_some_and(|rho| (rho - 1.0).abs() < 1e-12));
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
/// ```
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    pearson(&ranks(x), &ranks(y))
}

/// Ranks counted from 1; ties get their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let equal = order[first..].iter().take_while(|&&at| values[at] == values[order[first]]).count().max(1);
        let mean = first as f64 + (equal + 1) as f64 / 2.0;
        order[first..first + equal].iter().for_each(|&at| ranks[at] = mean);
        first += equal;
    }
    ranks
}

/// The cosine similarity of two vectors; 0 if one of them is zero. It is rounded to twelve digits, so that rounding
/// errors do not order ties, such as sentences of the same words.
pub(super) fn cosine(x: &[f64], y: &[f64]) -> f64 {
    const DIGITS: f64 = 1e12;
    let lengths = dot(x, x).sqrt() * dot(y, y).sqrt();
    if lengths > 0.0 { (dot(x, y) / lengths * DIGITS).round() / DIGITS } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[2.0, 1.0, 2.0, -0.0, 0.0]), [4.5, 3.0, 4.5, 1.5, 1.5]);
    }
}

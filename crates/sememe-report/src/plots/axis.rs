//! Axes: positions of numbers, and labels.

/// An axis from its low to its high end.
pub struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
    pub ticks: Vec<(f64, String)>,
}

/// Axes of a wider range are not drawn: such numbers come from damaged files.
const WIDEST: f64 = 1e12;
/// On a logarithmic axis, zero is drawn where the smallest positive number divided by this would be.
const BEFORE: f64 = 3.0;

impl Axis {
    /// An axis for numbers in a range, with a margin and at most this many labels. `None` if there is no range.
    pub fn around(values: impl Iterator<Item = f64>, labels: usize) -> Option<Self> {
        let (low, high) = range(values)?;
        let room = (0.04 * (high - low)).max(f64::EPSILON * high.abs()).max(1e-9);
        Some(Self::linear(low - room, high + room, labels))
    }

    /// An axis from one number to another, with at most this many labels.
    pub fn linear(low: f64, high: f64, labels: usize) -> Self {
        let step = nice_step((high - low) / labels.max(1) as f64);
        let decimals = (-step.log10().floor()).max(0.0) as usize + usize::from(is_two_and_a_half(step));
        let first = (low / step).ceil();
        // Numbers too close together for a step between them have no labels.
        let count = ((high / step).floor() - first + 1.0).clamp(0.0, 1.0 + labels as f64) as usize;
        let tick = |at: usize| {
            let value = (first + at as f64) * step;
            (value, format!("{:.decimals$}", if value == 0.0 { 0.0 } else { value }))
        };
        Axis { low, high, is_log: false, ticks: (0..count).map(tick).collect() }
    }

    /// A logarithmic axis for positive numbers, with zero at its low end. `None` if there is no positive number.
    pub fn logarithmic(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (zeros, others): (Vec<f64>, Vec<f64>) = values.partition(|&value| value == 0.0);
        let (low, high) = range(others.into_iter())?;
        let high = high.max(2.0 * low);
        if low <= 0.0 {
            return None;
        }
        let decades: Vec<i32> = (low.log10().floor() as i32..=high.log10().ceil() as i32).collect();
        let within = |factors: &[f64]| -> Vec<f64> {
            let all = decades.iter().flat_map(|&decade| factors.iter().map(move |factor| factor * 10_f64.powi(decade)));
            all.filter(|value| (low * 0.999..=high * 1.001).contains(value)).collect()
        };
        // Powers of ten, and more between them where these are few.
        let values = [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]].map(within);
        let values = values.iter().find(|values| values.len() >= 3).unwrap_or(&values[2]).clone();
        let label = |value: f64| match value >= 1.0 {
            true => crate::text::count(value.round() as usize),
            false => format!("{value}"),
        };
        let mut ticks: Vec<(f64, String)> = values.into_iter().map(|value| (value, label(value))).collect();
        if zeros.is_empty() {
            return Some(Axis { low, high, is_log: true, ticks });
        }
        ticks.insert(0, (0.0, "0".to_owned()));
        Some(Axis { low: low / BEFORE, high, is_log: true, ticks })
    }

    /// The position of a number: 0 at the low end, 1 at the high end.
    pub fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_log { value.ln() } else { value };
        let (low, high) = (scale(self.low), scale(self.high));
        ((scale(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    (0.0..WIDEST).contains(&(high - low)).then_some((low, high))
}

/// The next larger of 1, 2, 2.5, 5 and 10 times a power of ten.
fn nice_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|factor| factor * power).find(|&step| step >= rough).unwrap_or(10.0 * power)
}

fn is_two_and_a_half(step: f64) -> bool {
    let leading = step / 10_f64.powf(step.log10().floor());
    (leading - 2.5).abs() < 1e-6 && step < 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round_numbers_inside_the_range() {
        let labels = |axis: &Axis| axis.ticks.iter().map(|(_, label)| label.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&Axis::linear(0.0, 100.0, 5)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&Axis::linear(-0.3, 0.9, 5)), ["-0.25", "0.00", "0.25", "0.50", "0.75"]);
        assert_eq!(labels(&Axis::logarithmic([1.0, 1500.0].into_iter()).unwrap()), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&Axis::logarithmic([500.0, 4000.0].into_iter()).unwrap()), ["500", "1,000", "2,000"]);
        assert!(Axis::around([f64::NAN].into_iter(), 5).is_none() && Axis::around([].into_iter(), 5).is_none());
        assert!(Axis::around([1e308, -1e308].into_iter(), 5).is_none());
    }

    #[test]
    fn places_grow_with_numbers() {
        let axis = Axis::logarithmic([1.0, 100.0].into_iter()).unwrap();
        assert!((axis.place(10.0) - 0.5).abs() < 1e-12 && axis.place(1.0) == 0.0 && axis.place(1e9) == 1.0);
        let with_zero = Axis::logarithmic([0.0, 25.0, 500.0].into_iter()).unwrap();
        let places = [0.0, 25.0, 100.0, 500.0].map(|value| with_zero.place(value));
        assert!(places[0] == 0.0 && places[3] == 1.0 && places.is_sorted_by(|a, b| a + 0.1 < *b), "{places:?}");
        assert_eq!(with_zero.ticks[0], (0.0, "0".to_owned()));
        assert!(Axis::logarithmic([0.0].into_iter()).is_none());
        let flat = Axis::around([3.0, 3.0].into_iter(), 5).unwrap();
        assert!((flat.place(3.0) - 0.5).abs() < 1e-6);
    }
}

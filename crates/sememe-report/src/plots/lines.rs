//! Curves over a common axis.

use serde::Serialize;

use super::axis::Axis;
use super::frame::{Frame, Key, Swatch};
use super::svg::{Point, Svg};
use crate::error::{Error, Result};

/// Up to this number of points, curves have a dot at every point.
const DOTTED: usize = 30;

/// One curve. Its JSON has its name and its points.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// The index of its colour.
    #[serde(skip)]
    pub colour: usize,
    /// From left to right.
    pub points: Vec<Point>,
}

/// Curves to be drawn together.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The title.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The label of the vertical axis.
    pub y: String,
    /// Whether the horizontal axis is logarithmic, with zero at its left end.
    pub is_logarithmic: bool,
    /// Whether the vertical axis begins at zero.
    pub from_zero: bool,
    /// In the order of the legend.
    pub curves: Vec<Curve>,
}

impl Lines {
    /// Draws the curves; `None` if the numbers span no range that can be drawn.
    pub fn draw(&self, size: Point) -> Option<Svg> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let xs = points().map(|point| point.0);
        let horizontal = match self.is_logarithmic {
            true => Axis::logarithmic(xs)?,
            false => Axis::around(xs, 6)?,
        };
        let ys = points().map(|point| point.1);
        let vertical = match self.from_zero {
            true => Axis::linear(0.0, nice_end(ys.fold(0.0, f64::max)), 5),
            false => Axis::around(ys, 5)?,
        };
        let key = |curve: &Curve| Key { colour: curve.colour, swatch: Swatch::Line, name: curve.name.clone() };
        let legend: Vec<Key> = if self.curves.len() > 1 { self.curves.iter().map(key).collect() } else { Vec::new() };
        let mut frame = Frame::new(size, &self.title, &legend);
        frame.vertical(&vertical, &self.y);
        frame.horizontal(&horizontal, &self.x);
        for curve in &self.curves {
            let colour = curve.colour % super::COLOURS;
            let placed: Vec<Point> =
                curve.points.iter().map(|&(x, y)| (frame.x(&horizontal, x), frame.y(&vertical, y))).collect();
            frame.svg.path(&format!("curve k{colour}"), &placed);
            if curve.points.len() <= DOTTED {
                for (&at, (x, y)) in placed.iter().zip(&curve.points) {
                    frame.svg.dot(&format!("halo k{colour}"), at, 3.2, &format!("{}: {y:.1} at {x}", curve.name));
                }
            }
        }
        Some(frame.svg)
    }
}

/// A round number at or above the largest value.
fn nice_end(largest: f64) -> f64 {
    let step = if largest > 20.0 {
        10.0
    } else if largest > 1.0 {
        2.0
    } else {
        0.2
    };
    (largest / step).ceil().max(1.0) * step
}

/// Learning curves: the negative log-likelihood of every accepted point, over the number of the point on a logarithmic
/// scale. The given number of points at the beginning is left out.
pub fn learning_curve(fits: &[(&str, &[f64])], skipped: usize) -> Result<Svg> {
    let curve = |(colour, (name, values)): (usize, &(&str, &[f64]))| Curve {
        name: (*name).to_owned(),
        colour,
        points: values.iter().enumerate().skip(skipped).map(|(step, &value)| (step as f64 + 1.0, value)).collect(),
    };
    let lines = Lines {
        title: "Learning curve".to_owned(),
        x: "accepted steps".to_owned(),
        y: "negative log-likelihood, nats a tuple".to_owned(),
        is_logarithmic: true,
        from_zero: false,
        curves: fits.iter().enumerate().map(curve).collect(),
    };
    lines.draw(super::WIDE).ok_or(Error::NothingToDraw("the likelihoods of the fit span no range"))
}

#[cfg(test)]
mod tests {
    use super::learning_curve;

    #[test]
    fn what_is_no_curve_is_refused() {
        assert!(learning_curve(&[("EM", &[])], 0).is_err() && learning_curve(&[("EM", &[1e308, -1e308])], 0).is_err());
    }

    #[test]
    fn a_curve_is_drawn_also_of_one_point_or_a_flat_line() {
        for values in [&[3.0][..], &[3.0, 3.0, 3.0], &[5.0, 2.0, 1.5, 1.4]] {
            let svg = learning_curve(&[("EM", values)], 0).unwrap().document();
            assert!(svg.starts_with("<svg") && svg.contains("accepted steps") && !svg.contains("NaN"), "{svg}");
        }
    }
}

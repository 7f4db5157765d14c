//! How much each latent dimension is shared, as a figure.

use crate::plots::{self, Curve, Lines};
use crate::report::Figure;

/// The canonical correlations of a model, to be drawn beside those of others.
pub fn curve(name: String, colour: usize, rho: &[f64]) -> Curve {
    let points = rho.iter().enumerate().map(|(at, &rho)| (at as f64 + 1.0, rho)).collect();
    Curve { name, colour, points }
}

/// The figure; none where there is nothing to draw.
pub fn figure(curves: Vec<Curve>, caption: &str) -> Option<Figure> {
    let lines = Lines {
        title: "Canonical correlations".to_owned(),
        x: "latent dimension".to_owned(),
        y: "correlation".to_owned(),
        is_logarithmic: false,
        from_zero: true,
        curves,
    };
    let svg = lines.draw(plots::WIDE)?;
    Some(Figure::new("spectrum", caption, &lines.curves, svg))
}

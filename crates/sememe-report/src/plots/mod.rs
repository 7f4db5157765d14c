//! Plots as SVG, written directly: a few shapes with classes, so that one style sheet gives them the same colours and fonts
//! in files and in pages, in light and dark mode.

mod axis;
mod bars;
mod frame;
mod lines;
mod map;
mod svg;

use sememe::model::Method;

pub use self::bars::{Bar, Bars, Series};
pub use self::lines::{Curve, Lines, learning_curve};
pub use self::map::{Group, Map};
pub(crate) use self::svg::STYLE;
pub use self::svg::{Point, Svg};

/// Number of colours in the style sheet.
pub const COLOURS: usize = 8;

/// A plot as wide as a page.
pub const WIDE: (f64, f64) = (940.0, 400.0);
/// One of two or three beside each other.
pub const NARROW: (f64, f64) = (330.0, 310.0);

/// Views have colours that are easy to tell apart, also as letters.
pub fn colour_of_view(view: usize) -> usize {
    [0, 1, 2, 5, 4, 6, 7, 3][view % COLOURS]
}

/// A method has the same colour everywhere.
pub fn colour_of(method: Method) -> usize {
    match method {
        Method::Ibfa => 0,
        Method::Svd => 1,
        Method::Cca => 2,
        Method::LeastSquares => 3,
        Method::CcaNipals => 4,
        Method::Mbfa => 5,
        Method::Rcsls => 6,
        _ => 7,
    }
}

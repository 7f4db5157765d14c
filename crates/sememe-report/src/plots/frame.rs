//! The common parts of plots with two axes: frame, grid, labels of axes and legend.

use super::axis::Axis;
use super::svg::{Anchor, Point, Svg, width_of};

/// Room around the data.
const LEFT: f64 = 72.0;
const RIGHT: f64 = 18.0;
const BELOW: f64 = 50.0;
/// The lower margin of categories, which need no axis label.
const BELOW_CATEGORIES: f64 = 28.0;
const ABOVE: f64 = 14.0;
const LEGEND_LINE: f64 = 20.0;
const TITLE: f64 = 24.0;

/// How an entry of a legend is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Swatch {
    Line,
    Box,
    FaintBox,
    Diamond,
}

/// An entry of a legend: the index of a colour, and a name.
pub struct Key {
    pub colour: usize,
    pub swatch: Swatch,
    pub name: String,
}

/// A drawing with an area for data.
pub struct Frame {
    pub svg: Svg,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    /// An empty frame for categories under a title and a legend.
    pub fn for_categories(size: Point, title: &str, legend: &[Key]) -> Self {
        let frame = Self::new(size, title, legend);
        Frame { height: frame.height + BELOW - BELOW_CATEGORIES, ..frame }
    }

    /// An empty frame under a title and a legend.
    pub fn new((width, height): Point, title: &str, legend: &[Key]) -> Self {
        let mut svg = Svg::new(width, height, title);
        svg.text("strong", (LEFT, ABOVE + 4.0), Anchor::Start, title);
        let mut at = (LEFT, ABOVE + TITLE);
        for key in legend {
            let needed = 24.0 + width_of(&key.name, 12.0) + 18.0;
            if at.0 + needed > width - RIGHT + 18.0 && at.0 > LEFT {
                at = (LEFT, at.1 + LEGEND_LINE);
            }
            draw_key(&mut svg, key, at);
            at.0 += needed;
        }
        let top = if legend.is_empty() { ABOVE + TITLE - 4.0 } else { at.1 + LEGEND_LINE };
        let (width, height) = (width - LEFT - RIGHT, height - top - BELOW);
        Frame { svg, left: LEFT, top, width, height }
    }

    /// The lines and labels of the vertical axis.
    pub fn vertical(&mut self, axis: &Axis, name: &str) {
        for (value, label) in &axis.ticks {
            let y = self.y(axis, *value);
            self.svg.line("rule", (self.left, y), (self.left + self.width, y));
            self.svg.text("soft small", (self.left - 8.0, y + 4.0), Anchor::End, label);
        }
        self.svg.upright("soft small", (14.0, self.top + self.height / 2.0), name);
    }

    /// The line and labels of the horizontal axis.
    pub fn horizontal(&mut self, axis: &Axis, name: &str) {
        let bottom = self.base();
        self.svg.text("soft small", (self.left + self.width / 2.0, bottom + 37.0), Anchor::Middle, name);
        for (value, label) in &axis.ticks {
            let x = self.x(axis, *value);
            self.svg.line("axis", (x, bottom), (x, bottom + 4.0));
            self.svg.text("soft small", (x, bottom + 17.0), Anchor::Middle, label);
        }
    }

    /// The line below the data, with names at equal distances.
    pub fn categories(&mut self, labels: &[&str]) {
        let bottom = self.base();
        for (at, label) in labels.iter().enumerate() {
            let x = self.left + self.width * (at as f64 + 0.5) / labels.len() as f64;
            self.svg.text("small", (x, bottom + 17.0), Anchor::Middle, label);
        }
    }

    fn base(&mut self) -> f64 {
        let bottom = self.top + self.height;
        self.svg.line("axis", (self.left, bottom), (self.left + self.width, bottom));
        bottom
    }

    pub fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + self.width * axis.place(value)
    }

    pub fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.top + self.height * (1.0 - axis.place(value))
    }

    /// The start and width of one of several equal parts of the width.
    pub fn part(&self, at: usize, parts: usize) -> (f64, f64) {
        let width = self.width / parts as f64;
        (self.left + width * at as f64, width)
    }
}

fn draw_key(svg: &mut Svg, key: &Key, (x, y): Point) {
    let class = |looks: &str| format!("{looks} k{}", key.colour % super::COLOURS);
    match key.swatch {
        Swatch::Line => svg.path(&class("curve"), &[(x, y), (x + 18.0, y)]),
        Swatch::Box => svg.rectangle(&class("fill"), (x + 3.0, y - 5.0), (11.0, 11.0), &key.name),
        Swatch::FaintBox => svg.rectangle(&class("fill faint"), (x + 3.0, y - 5.0), (11.0, 11.0), &key.name),
        Swatch::Diamond => svg.diamond("mark", (x + 9.0, y), 4.0, &key.name),
    }
    svg.text("small", (x + 23.0, y + 4.0), Anchor::Start, &key.name);
}

//! SVG drawings: a few kinds of elements, styled by `style.css`.

use std::fmt::Write;

use crate::markup::escape;

/// The style sheet of drawings, for light and dark mode.
pub const STYLE: &str = include_str!("style.css");

/// A point, from the upper left corner; or a width and a height.
pub type Point = (f64, f64);

/// Which end of a text is at its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A drawing of a fixed aspect ratio, which scales with the page.
#[derive(Debug, Clone)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    body: String,
}

impl Svg {
    /// An empty drawing; the title is for screen readers.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        Svg { width, height, title: title.to_owned(), body: String::new() }
    }

    /// The drawing as part of a page that has the style sheet of figures.
    pub fn inline(&self) -> String {
        self.element("plot", "")
    }

    /// The drawing as a file.
    pub fn document(&self) -> String {
        self.element("plot alone", &format!("<style>{STYLE}</style>"))
    }

    fn element(&self, class: &str, style: &str) -> String {
        let Svg { width, height, title, body } = self;
        let title = escape(title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\">{style}{body}</svg>\n"
        )
    }

    /// Drawings side by side.
    pub fn beside(title: &str, drawings: &[Svg]) -> Svg {
        let height = drawings.iter().map(|drawing| drawing.height).fold(0.0, f64::max);
        let mut all = Svg::new(drawings.iter().map(|drawing| drawing.width).sum(), height, title);
        let mut left = 0.0;
        for drawing in drawings {
            all.put(format_args!("<g transform=\"translate({left:.1} 0)\">{}</g>", drawing.body));
            left += drawing.width;
        }
        all
    }

    fn put(&mut self, element: std::fmt::Arguments) {
        self.body.write_fmt(element).expect("a string takes all that is written");
    }

    pub(crate) fn line(&mut self, class: &str, (x1, y1): Point, (x2, y2): Point) {
        self.put(format_args!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"));
    }

    pub(crate) fn path(&mut self, class: &str, points: &[Point]) {
        let steps: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        self.put(format_args!("<path class=\"{class}\" d=\"M{}\"/>", steps.join("L")));
    }

    /// A rectangle with a tooltip.
    pub(crate) fn rectangle(&mut self, class: &str, (x, y): Point, (width, height): Point, says: &str) {
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"1.5\">\
             <title>{}</title></rect>",
            escape(says)
        ));
    }

    /// A dot with a tooltip.
    pub(crate) fn dot(&mut self, class: &str, (x, y): Point, radius: f64, says: &str) {
        self.put(format_args!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            escape(says)
        ));
    }

    /// A small diamond.
    pub(crate) fn diamond(&mut self, class: &str, (x, y): Point, radius: f64, says: &str) {
        let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
        let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.put(format_args!(
            "<polygon class=\"{class}\" points=\"{}\"><title>{}</title></polygon>",
            corners.join(" "),
            escape(says)
        ));
    }

    pub(crate) fn text(&mut self, class: &str, (x, y): Point, anchor: Anchor, text: &str) {
        let (anchor, text) = (anchor.name(), escape(text));
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// Text rotated by 90 degrees, read from below.
    pub(crate) fn upright(&mut self, class: &str, (x, y): Point, text: &str) {
        let text = escape(text);
        self.put(format_args!(
            "<text class=\"{class}\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{text}</text>"
        ));
    }
}

/// The approximate width of a text.
pub fn width_of(text: &str, size: f64) -> f64 {
    let of_character = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | '\'' | '|' | ' ' | 't' | 'f' | 'r' => 0.34,
        'm' | 'w' | 'M' | 'W' | 'ш' | 'щ' | 'ж' | 'ю' | 'м' => 0.86,
        c if (c as u32) >= 0x1100 => 1.0,
        c if c.is_uppercase() => 0.68,
        _ => 0.56,
    };
    size * text.chars().map(of_character).sum::<f64>()
}

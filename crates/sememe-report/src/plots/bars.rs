//! Grouped bars with intervals and the paper's figures.

use super::axis::Axis;
use super::frame::{Frame, Key, Swatch};
use super::svg::{Point, Svg};

/// One bar.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// The height; `None` draws nothing.
    pub value: Option<f64>,
    /// The ends of the whisker.
    pub interval: Option<[f64; 2]>,
    /// The paper's figure, which is marked.
    pub paper: Option<f64>,
}

/// A bar in every group.
#[derive(Debug, Clone)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The index of its colour.
    pub colour: usize,
    /// Whether it is drawn pale, in the background.
    pub is_faint: bool,
    /// One for each group.
    pub bars: Vec<Bar>,
}

/// Groups of bars.
#[derive(Debug, Clone)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// The label of the vertical axis.
    pub y: String,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The series that are compared within the groups.
    pub series: Vec<Series>,
}

impl Bars {
    /// Draws at this width and height.
    pub fn draw(&self, size: Point) -> Svg {
        let all = || self.series.iter().flat_map(|series| &series.bars);
        let highest = all().flat_map(|bar| [bar.value, bar.interval.map(|interval| interval[1]), bar.paper]).flatten();
        let vertical = Axis::linear(0.0, (highest.fold(10.0, f64::max) / 10.0).ceil() * 10.0, 6);
        let swatch = |series: &Series| if series.is_faint { Swatch::FaintBox } else { Swatch::Box };
        let key = |series: &Series| Key { colour: series.colour, swatch: swatch(series), name: series.name.clone() };
        let mut legend: Vec<Key> = self.series.iter().map(key).collect();
        if all().any(|bar| bar.paper.is_some()) {
            legend.push(Key { colour: 0, swatch: Swatch::Diamond, name: "the paper".to_owned() });
        }
        let mut frame = Frame::for_categories(size, &self.title, &legend);
        frame.vertical(&vertical, &self.y);
        frame.categories(&self.groups.iter().map(String::as_str).collect::<Vec<_>>());
        for group in 0..self.groups.len() {
            self.draw_group(&mut frame, &vertical, group);
        }
        frame.svg
    }

    fn draw_group(&self, frame: &mut Frame, vertical: &Axis, group: usize) {
        let (start, room) = frame.part(group, self.groups.len());
        let width = (0.78 * room / self.series.len() as f64).min(26.0);
        let left = start + (room - width * self.series.len() as f64) / 2.0;
        let bottom = frame.y(vertical, 0.0);
        for (at, series) in self.series.iter().enumerate() {
            let Bar { value, interval, paper } = series.bars[group];
            let (x, middle) = (left + width * at as f64, left + width * (at as f64 + 0.5));
            let says = format!("{}, {}", series.name, self.groups[group]);
            if let Some(value) = value {
                let top = frame.y(vertical, value);
                let class =
                    format!("fill k{}{}", series.colour % super::COLOURS, if series.is_faint { " faint" } else { "" });
                let says = format!("{says}: {value:.1}");
                frame.svg.rectangle(&class, (x + 0.5, top), (width - 1.0, bottom - top), &says);
            }
            if let Some([low, high]) = interval {
                let (low, high) = (frame.y(vertical, low), frame.y(vertical, high));
                frame.svg.line("whisker", (middle, low), (middle, high));
            }
            if let Some(paper) = paper {
                frame.svg.diamond(
                    "mark",
                    (middle, frame.y(vertical, paper)),
                    3.6,
                    &format!("{says}, in the paper: {paper:.1}"),
                );
            }
        }
    }
}

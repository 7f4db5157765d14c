//! A map: words of several views in a plane, with labels that do not overlap.

use super::colour_of_view;
use super::frame::{Frame, Key, Swatch};
use super::svg::{Anchor, Point, Svg, width_of};

const SIZE: f64 = 11.0;
const MARGIN: f64 = 40.0;
/// Room for the title and the legend.
const TOP: f64 = 64.0;

/// Words that mean the same, at most one of each view.
#[derive(Debug, Clone)]
pub struct Group {
    /// View, word and place.
    pub words: Vec<(usize, String, Point)>,
}

/// A map of groups of words.
#[derive(Debug, Clone)]
pub struct Map {
    /// The title.
    pub title: String,
    /// The names of the views.
    pub views: Vec<String>,
    /// Groups of words, which are joined by lines.
    pub groups: Vec<Group>,
}

impl Map {
    /// Draws at this width and height.
    pub fn draw(&self, (width, height): Point) -> Svg {
        let key = |(view, name): (usize, &String)| Key {
            colour: colour_of_view(view),
            swatch: Swatch::Box,
            name: name.clone(),
        };
        let legend: Vec<Key> = self.views.iter().enumerate().map(key).collect();
        let mut svg = Frame::new((width, height), &self.title, &legend).svg;
        let place = self.placement((width, height));
        let placed: Vec<Vec<Point>> =
            self.groups.iter().map(|group| group.words.iter().map(|word| place(word.2)).collect()).collect();
        for points in &placed {
            let centre = mean(points);
            points.iter().for_each(|&point| svg.line("link", centre, point));
        }
        let mut taken: Vec<Area> = placed.iter().flatten().map(|&at| Area::around(at, 4.0)).collect();
        for (group, points) in self.groups.iter().zip(&placed) {
            for ((view, word, _), &at) in group.words.iter().zip(points) {
                svg.dot(
                    &format!("halo k{}", colour_of_view(*view)),
                    at,
                    3.6,
                    &format!("{word} ({})", self.views[*view]),
                );
            }
        }
        // Words of the first view first: if room is scarce, its labels are shown.
        for shown in 0..self.views.len() {
            for (group, points) in self.groups.iter().zip(&placed) {
                for ((_, word, _), &at) in group.words.iter().zip(points).filter(|((view, ..), _)| *view == shown) {
                    if let Some((label, anchor, area)) = free_place(word, at, &taken, (width, height)) {
                        svg.text(&format!("word small k{}", colour_of_view(shown)), label, anchor, word);
                        taken.push(area);
                    }
                }
            }
        }
        svg
    }

    /// Maps positions of words to positions in the drawing: as large as fits, with one scale for both axes.
    fn placement(&self, (width, height): Point) -> impl Fn(Point) -> Point + use<> {
        let points = || self.groups.iter().flat_map(|group| group.words.iter().map(|word| word.2));
        let range = |of: fn(&Point) -> f64| {
            points().map(|point| of(&point)).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)))
        };
        let ((left, right), (low, high)) = (range(|point| point.0), range(|point| point.1));
        let scale_x = (width - 2.0 * MARGIN - 60.0) / (right - left).max(f64::MIN_POSITIVE);
        let scale_y = (height - TOP - MARGIN) / (high - low).max(f64::MIN_POSITIVE);
        let (scale_x, scale_y) = (scale_x.min(1.6 * scale_y), scale_y.min(1.6 * scale_x));
        let centre = ((left + right) / 2.0, (low + high) / 2.0);
        move |(x, y)| {
            let middle = (width / 2.0, TOP + (height - TOP - MARGIN / 2.0) / 2.0);
            (middle.0 + scale_x * (x - centre.0), middle.1 - scale_y * (y - centre.1))
        }
    }
}

fn mean(points: &[Point]) -> Point {
    let n = points.len().max(1) as f64;
    (points.iter().map(|point| point.0).sum::<f64>() / n, points.iter().map(|point| point.1).sum::<f64>() / n)
}

/// A rectangle that something is drawn in.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn around((x, y): Point, radius: f64) -> Self {
        Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// Positions for the label of a point: beside it, above or below, near ones first.
fn free_place(word: &str, (x, y): Point, taken: &[Area], (width, height): Point) -> Option<(Point, Anchor, Area)> {
    let long = width_of(word, SIZE);
    let candidate = |dx: f64, dy: f64| {
        let (anchor, left) = match dx {
            dx if dx > 0.0 => (Anchor::Start, x + dx),
            dx if dx < 0.0 => (Anchor::End, x + dx - long),
            _ => (Anchor::Middle, x - long / 2.0),
        };
        let base = y + dy;
        let area = Area { left, top: base - 0.8 * SIZE, right: left + long, bottom: base + 0.25 * SIZE };
        ((x + dx, base), anchor, area)
    };
    let places = [6.0, 10.0, 16.0, 24.0].into_iter().flat_map(|far| {
        let (below, above) = (far + 8.0, -far - 1.0);
        [(far, 4.0), (-far, 4.0), (0.0, above), (0.0, below), (far, above), (far, below), (-far, above), (-far, below)]
    });
    let is_free = |(_, _, area): &(Point, Anchor, Area)| {
        let inside =
            area.left >= 4.0 && area.right <= width - 4.0 && area.top >= TOP - 12.0 && area.bottom <= height - 4.0;
        inside && !taken.iter().any(|other| area.meets(other))
    };
    places.map(|(dx, dy)| candidate(dx, dy)).find(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_lie_on_each_other_and_every_word_has_a_dot() {
        let word = |view: usize, at: usize| (view, format!("word{view}{at}"), (at as f64 * 0.01, view as f64 * 0.01));
        let groups = (0..30).map(|at| Group { words: vec![word(0, at), word(1, at)] }).collect();
        let map = Map { title: "A <map>".to_owned(), views: vec!["a".to_owned(), "b".to_owned()], groups };
        let svg = map.draw((600.0, 400.0)).inline();
        assert_eq!(svg.matches("<circle").count(), 60);
        assert!(svg.contains(">word00<") && svg.contains("A &lt;map&gt;") && !svg.contains("NaN"));
        let mut taken = Vec::new();
        for at in 0..20 {
            if let Some((_, _, area)) = free_place("somewhere", (100.0 + f64::from(at), 200.0), &taken, (600.0, 400.0))
            {
                assert!(taken.iter().all(|other| !area.meets(other)));
                taken.push(area);
            }
        }
        assert!(taken.len() > 4);
    }
}

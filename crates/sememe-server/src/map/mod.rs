//! Layouts of all words in the plane: principal components at once, t-SNE when it is computed.

mod graph;
mod neighbours;
mod principal;
mod tree;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use sememe::observe::Observer;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::shortened;
use crate::http::Problem;
use crate::opened::Opened;

/// How words are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Layout {
    /// The first two principal components of their directions.
    Pca,
    /// Neighbours together (t-SNE).
    Tsne,
}

impl Layout {
    pub(crate) const ALL: [Layout; 2] = [Layout::Pca, Layout::Tsne];

    pub(crate) fn named(name: &str) -> Result<Self, Problem> {
        Self::ALL.into_iter().find(|layout| layout.name() == name).ok_or_else(|| {
            Problem::bad("bad_layout", format!("there is no layout {:?}; there are pca and tsne", shortened(name)))
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::Pca => "pca",
            Layout::Tsne => "tsne",
        }
    }
}

/// Words that take part in the layout by neighbours. Where there are more, the most frequent ones do, and the others are
/// placed among their neighbours.
const MOST_LAID: usize = 250_000;

/// The words of each view that take part in a layout: the first ones.
pub(crate) struct Laid {
    words: Vec<usize>,
    total: Vec<usize>,
}

impl Laid {
    fn of(opened: &Opened) -> Self {
        let total: Vec<usize> = opened.views.iter().map(|view| view.len()).collect();
        let all: usize = total.iter().sum();
        let share = |&words: &usize| if all <= MOST_LAID { words } else { words * MOST_LAID / all };
        Laid { words: total.iter().map(share).collect(), total }
    }

    /// Number of points.
    fn len(&self) -> usize {
        self.words.iter().sum()
    }

    /// Number of all words.
    fn total(&self) -> usize {
        self.total.iter().sum()
    }

    /// The point of a word.
    fn point(&self, view: usize, row: usize) -> usize {
        self.words[..view].iter().sum::<usize>() + row
    }

    /// The view and the row of every point.
    fn rows(&self) -> impl Iterator<Item = (usize, usize)> {
        self.words.iter().enumerate().flat_map(|(view, &words)| (0..words).map(move |row| (view, row)))
    }

    /// The place of a word among those of all words.
    fn place(&self, places: &[f32], view: usize, row: usize) -> [f32; 2] {
        let at = 2 * (self.total[..view].iter().sum::<usize>() + row);
        [places[at], places[at + 1]]
    }
}

/// `x, y` of every word, view after view.
pub(crate) struct Places(Vec<f32>);

impl Places {
    pub(crate) fn len(&self) -> usize {
        self.0.len() / 2
    }

    /// The rectangle that they are in.
    pub(crate) fn bounds(&self) -> [f32; 4] {
        let start = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let found = self.0.chunks_exact(2).fold(start, |[x0, y0, x1, y1], place| {
            [x0.min(place[0]), y0.min(place[1]), x1.max(place[0]), y1.max(place[1])]
        });
        if self.0.is_empty() { [0.0; 4] } else { found }
    }

    /// `x, y` of every word.
    pub(crate) fn values(&self) -> &[f32] {
        &self.0
    }

    /// Little-endian float32.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|x| x.to_le_bytes()).collect()
    }
}

/// The layouts of a space.
#[derive(Default)]
pub(crate) struct Layouts {
    principal: OnceLock<Arc<Places>>,
    neighbours: OnceLock<Arc<Places>>,
    /// How far the second one is, in thousandths.
    progress: AtomicU32,
}

impl Layouts {
    pub(crate) fn ready(&self, layout: Layout) -> Option<Arc<Places>> {
        match layout {
            Layout::Pca => self.principal.get().cloned(),
            Layout::Tsne => self.neighbours.get().cloned(),
        }
    }

    /// The best layout that is ready, or computed at once.
    pub(crate) fn best(&self) -> Layout {
        if self.neighbours.get().is_some() { Layout::Tsne } else { Layout::Pca }
    }

    pub(crate) fn describe(&self, layout: Layout) -> Value {
        let is_ready = layout == Layout::Pca || self.ready(layout).is_some();
        match is_ready {
            true => json!({ "name": layout, "ready": true }),
            false => {
                let progress = f64::from(self.progress.load(Ordering::Relaxed)) / 1000.0;
                json!({ "name": layout, "ready": false, "progress": progress })
            }
        }
    }

    /// Takes the layout that an earlier server kept in the space.
    pub(crate) fn take_kept(&self, opened: &Opened) -> bool {
        let kept = opened.space.kept_layout(Layout::Tsne.name());
        kept.is_some_and(|places| self.neighbours.set(Arc::new(Places(places))).is_ok())
    }

    /// Computes the layout by neighbours, which takes minutes, and keeps it in the space. Says whether that can be written to.
    pub(crate) fn compute(&self, opened: &Opened, observer: &dyn Observer) -> Result<bool, Problem> {
        let start = self.principal(opened)?;
        let progress = |share: f64| self.progress.store((1000.0 * share) as u32, Ordering::Relaxed);
        let places = neighbours::places(opened, &Laid::of(opened), &start.0, observer, &progress)?;
        let kept = opened.space.keep_layout(Layout::Tsne.name(), &places).is_ok();
        let _ = self.neighbours.set(Arc::new(Places(places)));
        Ok(kept)
    }

    /// The layout by principal components, computed on first use.
    pub(crate) fn principal(&self, opened: &Opened) -> Result<Arc<Places>, Problem> {
        if let Some(ready) = self.principal.get() {
            return Ok(ready.clone());
        }
        let computed = Arc::new(Places(principal::places(opened)?));
        Ok(self.principal.get_or_init(|| computed).clone())
    }
}

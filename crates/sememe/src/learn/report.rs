//! A report on self-learning.

use serde::Serialize;

use super::Chance;
use crate::observe::Round;
use crate::vectors::{Label, View};

/// A report on self-learning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearningReport {
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Number of induced pairs in the final fit.
    pub induced: usize,
    /// False if self-learning made held-out entries much harder to find. The model is then fitted to the given entries
    /// alone.
    pub has_helped: bool,
    /// For each pair of views that was aligned without supervision: the comparison with chance.
    pub chances: Vec<Chance>,
    /// Given entries that look wrong, the worst first.
    #[serde(skip)]
    pub doubtful: Vec<Doubtful>,
}

impl LearningReport {
    /// The report with words in place of row numbers.
    pub fn named<'a>(&'a self, views: &'a [View]) -> NamedReport<'a> {
        let doubtful = self.doubtful.iter().map(|entry| NamedDoubtful {
            views: entry.views,
            words: entry.labels(views).map(|label| label.to_string()),
            score: entry.score,
        });
        NamedReport { report: self, doubtful: doubtful.collect() }
    }
}

/// A [`LearningReport`] with words in place of row numbers.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct NamedReport<'a> {
    #[serde(flatten)]
    report: &'a LearningReport,
    /// Given entries that look wrong, the worst first.
    pub doubtful: Vec<NamedDoubtful>,
}

/// A given entry that looks wrong, with its words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamedDoubtful {
    /// Its views.
    pub views: [usize; 2],
    /// Its words.
    pub words: [String; 2],
    /// Their CSLS.
    pub score: f64,
}

/// A given entry that looks wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Doubtful {
    /// Its views.
    pub views: [usize; 2],
    /// The rows of its words.
    pub rows: [usize; 2],
    /// Their CSLS. It is nearer to that of random pairs than to that of given entries.
    pub score: f64,
}

impl Doubtful {
    /// The labels of its rows.
    pub fn labels<'a>(&self, views: &'a [View]) -> [Label<'a>; 2] {
        [0, 1].map(|side| views[self.views[side]].label(self.rows[side]))
    }
}

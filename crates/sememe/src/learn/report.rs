//! How learning went.

use serde::Serialize;

use super::Chance;
use crate::observe::Round;
use crate::vectors::{Label, View};

/// How learning went.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearningReport {
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Pairs that the last fit found itself.
    pub induced: usize,
    /// False when given entries are much harder to find than without learning, where the fit is to these alone.
    pub has_helped: bool,
    /// For views aligned without supervision to the first: how they compare with chance.
    pub chances: Vec<Chance>,
    /// Given entries that look wrong, the worst first.
    #[serde(skip)]
    pub doubtful: Vec<Doubtful>,
}

impl LearningReport {
    /// The same with the words of the views in place of rows.
    pub fn named<'a>(&'a self, views: &'a [View]) -> NamedReport<'a> {
        let doubtful = self.doubtful.iter().map(|entry| NamedDoubtful {
            views: entry.views,
            words: entry.labels(views).map(|label| label.to_string()),
            score: entry.score,
        });
        NamedReport { report: self, doubtful: doubtful.collect() }
    }
}

/// How learning went, for people and machines that know words rather than rows.
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
    /// The words there.
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
    /// The words' rows there.
    pub rows: [usize; 2],
    /// Their CSLS, less than half way from words put together at random to given entries.
    pub score: f64,
}

impl Doubtful {
    /// What its rows are called.
    pub fn labels<'a>(&self, views: &'a [View]) -> [Label<'a>; 2] {
        [0, 1].map(|side| views[self.views[side]].label(self.rows[side]))
    }
}

//! What a search needs of a card.

use std::ops::Range;

/// Why a search on a card failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The card has not enough free memory.
    #[error("not enough memory on the GPU")]
    OutOfMemory,
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped,
    /// The search is not one for a card.
    #[error("{0}")]
    Unsuited(&'static str),
    /// The driver reports an error.
    #[error("the driver of the GPU reports: {0}")]
    Driver(String),
}

/// Rows of a matrix, each with a factor that it is multiplied by.
#[derive(Debug, Clone, Copy)]
pub struct HostRows<'a> {
    /// The rows, one after the other.
    pub values: &'a [f32],
    /// Numbers in a row.
    pub dim: usize,
    /// A factor for each row.
    pub factors: &'a [f64],
}

impl<'a> HostRows<'a> {
    /// A range of the rows.
    pub fn slice(self, range: Range<usize>) -> HostRows<'a> {
        let values = &self.values[range.start * self.dim..range.end * self.dim];
        HostRows { values, dim: self.dim, factors: &self.factors[range] }
    }
}

/// Lengths that are estimated in single precision. With others, products could overflow or underflow.
const USUAL_LENGTHS: Range<f64> = 1e-12..1e12;

/// What is known of rows on a card.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Number of rows.
    pub count: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// The length of the largest residual of a unit vector that was rounded to half precision.
    pub largest_residual: f32,
    /// Rows without a direction: their length is zero.
    pub zeros: Vec<u32>,
    /// Rows that are so long or short that they are not estimated, and those with a negative factor.
    pub unusual: Vec<u32>,
}

impl Facts {
    /// From the lengths of the rows times their factors, and their residuals.
    pub(crate) fn new(dim: usize, lengths: &[f64], residuals: &[f32]) -> Self {
        let which = |is_wanted: &dyn Fn(f64) -> bool| {
            let rows = lengths.iter().zip(0_u32..);
            rows.filter(|&(&length, _)| is_wanted(length)).map(|(_, row)| row).collect()
        };
        Facts {
            count: lengths.len(),
            dim,
            largest_residual: residuals.iter().fold(0.0, |most, &residual| most.max(residual)),
            zeros: which(&|length| length == 0.0),
            unusual: which(&|length| length != 0.0 && !USUAL_LENGTHS.contains(&length)),
        }
    }
}

/// Which rows are queries.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Rows one after the other; the first is a multiple of 256.
    Range(Range<u32>),
    /// These rows.
    List(Vec<u32>),
}

impl Selection {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Selection::Range(range) => range.len(),
            Selection::List(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of a query.
    pub fn row(&self, query: usize) -> u32 {
        match self {
            Selection::Range(range) => range.start + query as u32,
            Selection::List(list) => list[query],
        }
    }
}

/// What became of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// This many targets were found.
    Found(u32),
    /// There were more candidates than a list holds.
    Lost,
    /// More targets than there is room for are too close to each other to be told apart by estimates.
    Crowded,
}

/// The best targets of a query.
#[derive(Debug, Clone, Copy)]
pub struct Best {
    /// Their number.
    pub k: usize,
    /// How many candidates may need exact scores.
    pub room: usize,
    /// What is wanted of them.
    pub wanted: Wanted,
}

/// What is wanted of the best targets of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Which they are, and their scores.
    Targets,
    /// The mean of their scores.
    Means,
}

/// The results of queries, in their order.
#[derive(Debug)]
pub struct Settled {
    /// What became of each query.
    pub states: Vec<State>,
    /// `k` scores a query, the best first, where targets are wanted; else the mean of each query.
    pub scores: Vec<f64>,
    /// The targets that have them; none where means are wanted.
    pub targets: Vec<u32>,
    /// The thresholds of the queries, raised where candidates were lost.
    pub thresholds: Vec<f32>,
}

/// The steps of a search, each on data that stay on the card.
///
/// The score of a target, divided by the length of the query, is estimated as `length e + bias inverse`, where `e` is the
/// estimate of the cosine, `length` that of the target, and `inverse` one by the length of the query.
pub trait Card {
    /// Rows and what was prepared of them. Clones share it.
    type Rows: Clone;
    /// Rows as targets, with bounds of their scores.
    type Targets;
    /// Rows as queries.
    type Queries;
    /// A number for each query.
    type Numbers;
    /// Candidates of each query.
    type Lists;

    /// Bytes that can be allocated.
    fn free_bytes(&self) -> Result<usize, Fault>;

    /// Copies rows to the card and rounds their directions to half precision.
    fn upload(&self, rows: HostRows) -> Result<Self::Rows, Fault>;

    /// What is known of rows.
    fn facts<'a>(&self, rows: &'a Self::Rows) -> &'a Facts;

    /// The first `count` rows as targets with these biases, where estimates and what is computed of them are wrong by at
    /// most `error`.
    fn targets(&self, rows: &Self::Rows, count: usize, bias: &[f64], error: f32) -> Result<Self::Targets, Fault>;

    /// Some rows as queries, whose products are multiplied by `scale`.
    fn queries(&self, rows: &Self::Rows, selection: &Selection, scale: f64) -> Result<Self::Queries, Fault>;

    /// A lower bound of the `k`-th best score of each query, from every `stride`-th target.
    fn sampled_thresholds(
        &self,
        queries: &Self::Queries,
        targets: &Self::Targets,
        stride: usize,
        k: usize,
    ) -> Result<Self::Numbers, Fault>;

    /// Copies numbers to the card.
    fn numbers(&self, numbers: &[f32]) -> Result<Self::Numbers, Fault>;

    /// Empty lists of this capacity.
    fn lists(&self, count: usize, capacity: usize) -> Result<Self::Lists, Fault>;

    /// Adds to the list of each query the targets of a part, which begins with a whole tile, whose upper bound reaches its
    /// threshold.
    fn screen(
        &self,
        queries: &Self::Queries,
        targets: &Self::Targets,
        part: Range<usize>,
        thresholds: &Self::Numbers,
        lists: &mut Self::Lists,
    ) -> Result<(), Fault>;

    /// The same for unit vectors without a bias: also adds queries to the lists of targets. Thresholds and lists are
    /// those of `[queries, targets]`.
    fn screen_both(
        &self,
        queries: &Self::Queries,
        targets: &Self::Targets,
        part: Range<usize>,
        thresholds: [&Self::Numbers; 2],
        lists: [&mut Self::Lists; 2],
    ) -> Result<(), Fault>;

    /// Raises the threshold of each query to the `k`-th largest lower bound of its candidates so far.
    fn raise(
        &self,
        thresholds: &mut Self::Numbers,
        lists: &Self::Lists,
        queries: &Self::Queries,
        targets: &Self::Targets,
        k: usize,
    ) -> Result<(), Fault>;

    /// The best candidates of each query by exact scores.
    fn settle(
        &self,
        lists: Self::Lists,
        queries: &Self::Queries,
        targets: &Self::Targets,
        thresholds: Self::Numbers,
        best: Best,
    ) -> Result<Settled, Fault>;
}

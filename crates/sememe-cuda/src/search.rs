//! Searches on any card: sizes, thresholds, rounds, pieces.

use std::ops::Range;

use crate::card::{Best, Card, Fault, HostRows, Selection, Settled, Wanted};
use crate::found::Found;
use crate::tiles::with_memory;
use crate::{COLUMNS_OF_GROUP, COLUMNS_OF_TILE, COORDINATES, ROUNDING, ROWS_OF_TILE};

/// A query whose candidates did not fit is searched again with a higher threshold, at most so often.
const ROUNDS: usize = 4;
/// Every so many targets one is looked at for a first threshold, or more if `k` is large.
pub(crate) const SAMPLE: usize = 16;
/// Lists hold this many times the number of candidates that the sample lets expect.
const SPARE: usize = 3;
const LEAST_CAPACITY: usize = 512;
const MOST_CAPACITY: usize = 16_384;
/// Targets beyond the `k` best that may need exact scores.
const LEAST_ROOM: usize = 64;
/// Larger `k` are left to the CPU.
const MOST_NEIGHBOURS: usize = 1024;
/// Biases beyond it, times one by the shortest usual length, could overflow.
const LARGEST_BIAS: f64 = 1e18;
/// The fractions of the targets after which thresholds are raised to what was found so far, for targets of this number at
/// least. So late thresholds, which most targets meet, let few candidates through.
const RAISES: [f64; 2] = [0.125, 0.5];
const LEAST_RAISED: usize = 8 * ROWS_OF_TILE;

/// Asks for the `k` best of the first `among` targets by `scale <q, t> + b(t)`.
#[derive(Debug, Clone, Copy)]
pub struct Ranking<'a> {
    /// What products are multiplied by, beside the factors of the rows. It is positive.
    pub scale: f64,
    /// `b(t)`; minus infinity excludes a target.
    pub bias: &'a [f64],
    /// Number of targets to find.
    pub k: usize,
    /// Only the first `among` targets are searched.
    pub among: usize,
}

/// Groups that share a maximum among every `stride`-th target. Tiles are complete.
pub(crate) fn groups_of(targets: usize, stride: usize) -> usize {
    targets.div_ceil(stride).div_ceil(COLUMNS_OF_TILE) * (COLUMNS_OF_TILE / COLUMNS_OF_GROUP)
}

/// The sizes of a search.
struct Plan {
    stride: usize,
    capacity: usize,
    bytes_per_query: usize,
}

impl Plan {
    fn new(targets: usize, k: usize) -> Self {
        let groups = |stride: usize| groups_of(targets, stride);
        // Several of the best may share a group, so that there must be more groups.
        let strides = std::iter::successors(Some(SAMPLE), |stride| Some(stride / 2)).take_while(|&stride| stride > 1);
        let stride = strides.into_iter().find(|&stride| groups(stride) >= 4 * k).unwrap_or(1);
        let capacity = (SPARE * k * stride).clamp(LEAST_CAPACITY, MOST_CAPACITY).min(targets.max(1));
        // A candidate has eight bytes, a result twelve.
        let bytes_per_query = 8 * capacity + 4 * groups(stride) + 12 * k + 16;
        Plan { stride, capacity, bytes_per_query }
    }

    /// Queries that are searched at a time with this much memory.
    fn piece(&self, bytes: usize) -> usize {
        (bytes / self.bytes_per_query / ROWS_OF_TILE).max(1) * ROWS_OF_TILE
    }
}

/// The largest error of the estimate of a cosine: what rounding to half precision leaves out, what sums of products in
/// single precision lose, and what bounds lose that are computed of it. A tensor core may truncate where it should
/// round.
fn largest_error(dim: usize, residuals: [f32; 2]) -> f32 {
    let [query, target] = residuals.map(f64::from);
    let products = (1.0 + query) * (1.0 + target);
    let accumulation = dim.next_multiple_of(COORDINATES) as f64 * f64::from(f32::EPSILON) * 2.0;
    ((query + (1.0 + query) * target + accumulation * products + ROUNDING) as f32).next_up()
}

/// One direction of a search.
struct Direction<'a, C: Card> {
    card: &'a C,
    queries: &'a C::Rows,
    targets: C::Targets,
    /// Parts of the targets, after each of which thresholds are raised.
    parts: Vec<Range<usize>>,
    plan: Plan,
    scale: f64,
    best: Best,
}

impl<'a, C: Card> Direction<'a, C> {
    fn new(
        card: &'a C,
        queries: &'a C::Rows,
        targets: &C::Rows,
        ranking: &Ranking,
        wanted: Wanted,
    ) -> Result<Self, Fault> {
        let [of_queries, of_targets] = [card.facts(queries), card.facts(targets)];
        let residuals = [of_queries.largest_residual, of_targets.largest_residual];
        let error = largest_error(of_queries.dim, residuals);
        let Ranking { scale, bias, k, among } = *ranking;
        let count = among.min(of_targets.count);
        let is_large = |bias: &f64| bias.is_finite() && bias.abs() > LARGEST_BIAS;
        if !of_targets.unusual.is_empty() || bias[..count].iter().any(is_large) {
            return Err(Fault::Unsuited("targets are too long, too short or have too large terms to be estimated"));
        }
        if k > MOST_NEIGHBOURS || !(scale > 0.0 && scale.is_finite()) || u32::try_from(of_targets.count).is_err() {
            return Err(Fault::Unsuited("too many neighbours or targets"));
        }
        let targets = card.targets(targets, count, bias, error)?;
        let best = Best { k, room: k + LEAST_ROOM.max(k / 2), wanted };
        Ok(Direction { card, queries, targets, parts: parts(count), plan: Plan::new(count, k), scale, best })
    }

    fn nothing(&self) -> Found {
        let count = self.card.facts(self.queries).count;
        match self.best.wanted {
            Wanted::Targets => Found::new(count, self.best.k),
            Wanted::Means => Found::of_means(count),
        }
    }

    fn thresholds(&self, queries: &C::Queries) -> Result<C::Numbers, Fault> {
        self.card.sampled_thresholds(queries, &self.targets, self.plan.stride, self.best.k)
    }

    fn raise(&self, thresholds: &mut C::Numbers, lists: &C::Lists, queries: &C::Queries) -> Result<(), Fault> {
        self.card.raise(thresholds, lists, queries, &self.targets, self.best.k)
    }

    fn settle(&self, lists: C::Lists, queries: &C::Queries, thresholds: C::Numbers) -> Result<Settled, Fault> {
        self.card.settle(lists, queries, &self.targets, thresholds, self.best)
    }

    /// Searches queries until all have a result or there is no hope of one. `thresholds` are known of earlier rounds.
    fn search(
        &self,
        mut selection: Selection,
        mut thresholds: Option<Vec<f32>>,
        found: &mut Found,
    ) -> Result<(), Fault> {
        for _ in 0..ROUNDS {
            if selection.is_empty() {
                return Ok(());
            }
            let queries = self.card.queries(self.queries, &selection, self.scale)?;
            let mut own = match &thresholds {
                Some(thresholds) => self.card.numbers(thresholds)?,
                None => self.thresholds(&queries)?,
            };
            let mut lists = self.card.lists(selection.len(), self.plan.capacity)?;
            for part in &self.parts {
                if part.start > 0 {
                    self.raise(&mut own, &lists, &queries)?;
                }
                self.card.screen(&queries, &self.targets, part.clone(), &own, &mut lists)?;
            }
            let settled = self.settle(lists, &queries, own)?;
            (selection, thresholds) = self.lost(&selection, settled, found);
        }
        found.unresolved.extend((0..selection.len()).map(|query| selection.row(query)));
        Ok(())
    }

    /// Takes results over. Returns queries whose candidates were lost, and their thresholds.
    fn lost(&self, selection: &Selection, mut settled: Settled, found: &mut Found) -> (Selection, Option<Vec<f32>>) {
        let lost = found.take(selection, &mut settled);
        let thresholds = lost.iter().map(|&query| settled.thresholds[query]).collect();
        (Selection::List(lost.iter().map(|&query| selection.row(query)).collect()), Some(thresholds))
    }

    /// Leaves out queries that have no direction or are not estimated.
    fn finish(&self, mut found: Found) -> Found {
        let facts = self.card.facts(self.queries);
        found.leave_out(facts.zeros.iter().chain(&facts.unusual).copied());
        found
    }
}

/// Parts of so many rows, of whole tiles, between which thresholds are raised.
fn parts(count: usize) -> Vec<Range<usize>> {
    let raises = RAISES.map(|part| (count as f64 * part) as usize / ROWS_OF_TILE * ROWS_OF_TILE);
    let mut ends: Vec<usize> = raises.into_iter().filter(|_| count >= LEAST_RAISED).collect();
    ends.push(count);
    let mut first = 0;
    ends.into_iter().map(|end| std::mem::replace(&mut first, end)..end).collect()
}

/// Ranges of queries that are searched at a time.
fn pieces(count: usize, piece: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(piece).map(move |first| first..count.min(first + piece))
}

/// The best targets of every query. `proceed` is told how many queries are done and says whether to go on.
pub fn nearest<C: Card>(
    card: &C,
    queries: &C::Rows,
    targets: &C::Rows,
    ranking: &Ranking,
    wanted: Wanted,
    proceed: &dyn Fn(usize) -> bool,
) -> Result<Found, Fault> {
    let count = card.facts(queries).count;
    with_memory(card, |bytes| {
        let direction = Direction::new(card, queries, targets, ranking, wanted)?;
        let mut found = direction.nothing();
        for piece in pieces(count, direction.plan.piece(bytes)) {
            let (first, last) = (piece.start as u32, piece.end as u32);
            direction.search(Selection::Range(first..last), None, &mut found)?;
            if !proceed(piece.end) {
                return Err(Fault::Stopped);
            }
        }
        Ok(direction.finish(found))
    })
}

/// The mean of the `k` largest cosines of every row with rows of the other side, in both directions from one product. All rows have a factor that makes them unit vectors. `bias` is minus infinity for rows that are not to be
/// found, else zero.
pub fn means_of_both<C: Card>(
    card: &C,
    sides: [&C::Rows; 2],
    bias: [&[f64]; 2],
    k: usize,
    proceed: &dyn Fn(usize) -> bool,
) -> Result<[Found; 2], Fault> {
    let ranking = |side: usize| Ranking { scale: 1.0, bias: bias[side], k, among: usize::MAX };
    let counts = sides.map(|side| card.facts(side).count);
    let joint = with_memory(card, |bytes| {
        let forth = Direction::new(card, sides[0], sides[1], &ranking(1), Wanted::Means)?;
        let back = Direction::new(card, sides[1], sides[0], &ranking(0), Wanted::Means)?;
        let of_columns = counts[1].next_multiple_of(ROWS_OF_TILE) * back.plan.bytes_per_query;
        if of_columns > bytes {
            return Err(Fault::OutOfMemory);
        }
        let all_columns = Selection::Range(0..counts[1] as u32);
        let columns = card.queries(sides[1], &all_columns, 1.0)?;
        let mut column_thresholds = back.thresholds(&columns)?;
        let mut column_lists = card.lists(counts[1], back.plan.capacity)?;

        let mut found = [forth.nothing(), back.nothing()];
        let mut lost = Vec::new();
        let most = forth.plan.piece(bytes);
        let of_part = |part: Range<usize>| {
            pieces(part.len(), most).map(move |piece| part.start + piece.start..part.start + piece.end)
        };
        for piece in back.parts.iter().cloned().flat_map(of_part) {
            if piece.start > 0 {
                back.raise(&mut column_thresholds, &column_lists, &columns)?;
            }
            let selection = Selection::Range(piece.start as u32..piece.end as u32);
            let rows = card.queries(sides[0], &selection, 1.0)?;
            let mut thresholds = forth.thresholds(&rows)?;
            let mut lists = card.lists(piece.len(), forth.plan.capacity)?;
            for part in &forth.parts {
                if part.start > 0 {
                    forth.raise(&mut thresholds, &lists, &rows)?;
                }
                let both = [&thresholds, &column_thresholds];
                card.screen_both(&rows, &forth.targets, part.clone(), both, [&mut lists, &mut column_lists])?;
            }
            let settled = forth.settle(lists, &rows, thresholds)?;
            lost.push(forth.lost(&selection, settled, &mut found[0]));
            if !proceed(piece.end) {
                return Err(Fault::Stopped);
            }
        }
        for (selection, thresholds) in lost {
            forth.search(selection, thresholds, &mut found[0])?;
        }
        let settled = back.settle(column_lists, &columns, column_thresholds)?;
        let (selection, thresholds) = back.lost(&all_columns, settled, &mut found[1]);
        back.search(selection, thresholds, &mut found[1])?;
        let [of_rows, of_columns] = found;
        Ok([forth.finish(of_rows), back.finish(of_columns)])
    });
    match joint {
        // The lists of all columns do not fit.
        Err(Fault::OutOfMemory) => Ok([
            nearest(card, sides[0], sides[1], &ranking(1), Wanted::Means, proceed)?,
            nearest(card, sides[1], sides[0], &ranking(0), Wanted::Means, proceed)?,
        ]),
        result => result,
    }
}

/// [`nearest`] for rows that need not fit on the card: they are copied piece by piece.
pub fn nearest_of_host<C: Card>(
    card: &C,
    queries: HostRows,
    targets: HostRows,
    ranking: &Ranking,
    proceed: &dyn Fn(usize) -> bool,
) -> Result<Found, Fault> {
    let counts = [queries.factors.len(), targets.factors.len().min(ranking.among)];
    // In single and in half precision, with lengths and bounds.
    let bytes_per_row = 6 * queries.dim.next_multiple_of(COORDINATES) + 64;
    with_memory(card, |bytes| {
        let rows = (bytes / 2 / bytes_per_row / ROWS_OF_TILE).max(1) * ROWS_OF_TILE;
        let mut found = Found::new(counts[0], ranking.k);
        let mut done = 0;
        for of_targets in pieces(counts[1], rows) {
            let resident = card.upload(targets.slice(of_targets.clone()))?;
            let bias = &ranking.bias[of_targets.clone()];
            let ranking = Ranking { bias, among: usize::MAX, ..*ranking };
            for of_queries in pieces(counts[0], rows) {
                let batch = card.upload(queries.slice(of_queries.clone()))?;
                let part = nearest(card, &batch, &resident, &ranking, Wanted::Targets, &|_| true)?;
                found.unresolved.extend(part.unresolved.iter().map(|&query| of_queries.start as u32 + query));
                found.merge(of_queries.clone(), of_targets.start, &part);
                done += of_queries.len() * of_targets.len();
                if !proceed(done / counts[1]) {
                    return Err(Fault::Stopped);
                }
            }
        }
        found.leave_out([]);
        Ok(found)
    })
}

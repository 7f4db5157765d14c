//! A card that is the CPU, for tests where there is no GPU: the same steps, one number after the other.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use half::f16;

use crate::card::{Best, Card, Facts, Fault, HostRows, Selection, Settled, State, Wanted};
use crate::resident::Resident;
use crate::search::groups_of;
use crate::{COLUMNS_OF_GROUP, ROUNDING};

/// Covers numbers that have fewer digits in single precision; also in `kernels/`.
const TINY: f64 = 1e-34;

/// A stand-in for a GPU with so many bytes of memory.
#[derive(Debug)]
pub struct StandIn {
    bytes: usize,
    used: Arc<AtomicUsize>,
}

/// Memory in use until it is dropped.
pub(crate) struct Allocation {
    bytes: usize,
    used: Arc<AtomicUsize>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

impl StandIn {
    /// A card with so many bytes of memory.
    pub fn new(bytes: usize) -> Self {
        StandIn { bytes, used: Arc::default() }
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<Allocation, Fault> {
        let used = self.used.fetch_add(bytes, Ordering::SeqCst) + bytes;
        let allocation = Allocation { bytes, used: self.used.clone() };
        if used > self.bytes { Err(Fault::OutOfMemory) } else { Ok(allocation) }
    }
}

/// Rows on the stand-in.
#[derive(Clone)]
pub struct Rows {
    prepared: Arc<Prepared>,
}

struct Prepared {
    facts: Facts,
    values: Vec<f32>,
    factors: Vec<f64>,
    /// Unit vectors in half precision.
    rounded: Vec<f32>,
    lengths: Vec<f64>,
    _allocation: Allocation,
}

impl Prepared {
    fn estimate(&self, row: u32, other: &Prepared, column: u32) -> f32 {
        let dim = self.facts.dim;
        let [a, b] = [(self, row), (other, column)].map(|(rows, row)| &rows.rounded[row as usize * dim..][..dim]);
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    /// The inner product in the order of the CPU's engine.
    fn product(&self, row: u32, other: &Prepared, column: u32) -> f64 {
        let dim = self.facts.dim;
        let [a, b] = [(self, row), (other, column)].map(|(rows, row)| &rows.values[row as usize * dim..][..dim]);
        product(a, b)
    }
}

/// The inner product in the order of the CPU's engine.
fn product(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 16];
    for (at, (&x, &y)) in a.iter().zip(b).enumerate() {
        sums[at % 16] += f64::from(x) * f64::from(y);
    }
    sums.iter().sum()
}

/// Targets on the stand-in.
pub struct Targets {
    rows: Rows,
    bias: Vec<f64>,
    error: f32,
    /// Length, lower and upper bound of the bias.
    bounds: Vec<[f32; 3]>,
}

/// Queries on the stand-in.
pub struct Queries {
    rows: Rows,
    selection: Selection,
    scale: f64,
    inverses: Vec<f32>,
}

/// Candidates on the stand-in: estimates and targets.
pub struct Lists {
    capacity: usize,
    of_queries: Vec<(usize, Vec<(f32, u32)>)>,
    _allocation: Allocation,
}

impl Lists {
    fn append(&mut self, query: usize, estimate: f32, index: u32) {
        let (count, list) = &mut self.of_queries[query];
        *count += 1;
        if list.len() < self.capacity {
            list.push((estimate, index));
        }
    }
}

impl Targets {
    fn lower(&self, target: u32, estimate: f32, inverse: f32) -> f32 {
        let [length, lower, _] = self.bounds[target as usize];
        lower.mul_add(inverse, (estimate - self.error) * length)
    }

    /// The `k`-th largest lower bound of candidates.
    fn threshold(&self, candidates: &[(f32, u32)], inverse: f32, k: usize) -> f32 {
        kth_largest(candidates.iter().map(|&(estimate, target)| self.lower(target, estimate, inverse)).collect(), k)
    }

    fn upper(&self, target: u32, estimate: f32, inverse: f32) -> f32 {
        let [length, _, upper] = self.bounds[target as usize];
        upper.mul_add(inverse, (estimate + self.error) * length)
    }
}

impl Queries {
    fn estimates<'a>(
        &'a self,
        targets: &'a Targets,
        part: Range<usize>,
    ) -> impl Iterator<Item = (usize, u32, f32)> + 'a {
        let all = (0..self.selection.len()).flat_map(move |query| part.clone().map(move |t| (query, t as u32)));
        all.map(|(query, target)| {
            let row = self.selection.row(query);
            (query, target, self.rows.prepared.estimate(row, &targets.rows.prepared, target))
        })
    }
}

fn kth_largest(mut values: Vec<f32>, k: usize) -> f32 {
    values.sort_by(|a, b| b.total_cmp(a));
    values.get(k - 1).copied().unwrap_or(f32::NEG_INFINITY)
}

impl Resident for StandIn {
    /// The numbers, and how many a row has.
    type Values = (Vec<f32>, usize);

    fn shape(&self, (values, dim): &Self::Values) -> (usize, usize) {
        (values.len() / dim, *dim)
    }

    fn squares(&self, (values, dim): &Self::Values) -> Result<Vec<f64>, Fault> {
        Ok(values.chunks_exact(*dim).map(|row| product(row, row)).collect())
    }

    fn prepared(&self, (values, dim): &Self::Values, factors: &[f64]) -> Result<Rows, Fault> {
        self.upload(HostRows { values, dim: *dim, factors })
    }
}

impl Card for StandIn {
    type Rows = Rows;
    type Targets = Targets;
    type Queries = Queries;
    type Numbers = Vec<f32>;
    type Lists = Lists;

    fn free_bytes(&self) -> Result<usize, Fault> {
        Ok(self.bytes.saturating_sub(self.used.load(Ordering::SeqCst)))
    }

    fn upload(&self, rows: HostRows) -> Result<Rows, Fault> {
        let allocation = self.allocate(rows.values.len() * 6)?;
        let (mut rounded, mut lengths, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
        for (row, factor) in rows.values.chunks_exact(rows.dim).zip(rows.factors) {
            let length = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
            let exact = row.iter().map(|&x| f64::from(x) * inverse);
            let halves: Vec<f32> = exact.clone().map(|x| f16::from_f32(x as f32).to_f32()).collect();
            let lost: f64 = exact.zip(&halves).map(|(x, &half)| (x - f64::from(half)).powi(2)).sum();
            lengths.push(length * factor);
            residuals.push(((lost.sqrt() * 1.000_001) as f32).next_up());
            rounded.extend(halves);
        }
        let facts = Facts::new(rows.dim, &lengths, &residuals);
        let (values, factors) = (rows.values.to_vec(), rows.factors.to_vec());
        Ok(Rows { prepared: Arc::new(Prepared { facts, values, factors, rounded, lengths, _allocation: allocation }) })
    }

    fn facts<'a>(&self, rows: &'a Rows) -> &'a Facts {
        &rows.prepared.facts
    }

    fn targets(&self, rows: &Rows, count: usize, bias: &[f64], error: f32) -> Result<Targets, Fault> {
        let bounds = rows.prepared.lengths[..count].iter().zip(bias).map(|(&length, &bias)| {
            let margin = ROUNDING * bias.abs() + TINY;
            match bias {
                f64::NEG_INFINITY => [length as f32, f32::NEG_INFINITY, f32::NEG_INFINITY],
                _ => [length as f32, ((bias - margin) as f32).next_down(), ((bias + margin) as f32).next_up()],
            }
        });
        Ok(Targets { rows: rows.clone(), bias: bias[..count].to_vec(), error, bounds: bounds.collect() })
    }

    fn queries(&self, rows: &Rows, selection: &Selection, scale: f64) -> Result<Queries, Fault> {
        let length = |query: usize| rows.prepared.lengths[selection.row(query) as usize];
        let inverses = (0..selection.len()).map(|query| (1.0 / (scale * length(query))) as f32).collect();
        Ok(Queries { rows: rows.clone(), selection: selection.clone(), scale, inverses })
    }

    fn sampled_thresholds(
        &self,
        queries: &Queries,
        targets: &Targets,
        stride: usize,
        k: usize,
    ) -> Result<Vec<f32>, Fault> {
        let groups = groups_of(targets.bounds.len(), stride);
        let _allocation = self.allocate(4 * groups * queries.selection.len())?;
        let mut maxima = vec![vec![f32::NEG_INFINITY; groups]; queries.selection.len()];
        for (query, target, estimate) in queries.estimates(targets, 0..targets.bounds.len()) {
            if (target as usize).is_multiple_of(stride) {
                let most = &mut maxima[query][target as usize / stride / COLUMNS_OF_GROUP];
                *most = most.max(targets.lower(target, estimate, queries.inverses[query]));
            }
        }
        let threshold = |(maxima, inverse): (Vec<f32>, &f32)| match *inverse > 0.0 && inverse.is_finite() {
            true => kth_largest(maxima, k),
            false => f32::INFINITY,
        };
        Ok(maxima.into_iter().zip(&queries.inverses).map(threshold).collect())
    }

    fn numbers(&self, numbers: &[f32]) -> Result<Vec<f32>, Fault> {
        Ok(numbers.to_vec())
    }

    fn lists(&self, count: usize, capacity: usize) -> Result<Lists, Fault> {
        let allocation = self.allocate(count * capacity * 8)?;
        Ok(Lists { capacity, of_queries: vec![(0, Vec::new()); count], _allocation: allocation })
    }

    fn screen(
        &self,
        queries: &Queries,
        targets: &Targets,
        part: Range<usize>,
        thresholds: &Vec<f32>,
        lists: &mut Lists,
    ) -> Result<(), Fault> {
        for (query, target, estimate) in queries.estimates(targets, part) {
            if targets.upper(target, estimate, queries.inverses[query]) >= thresholds[query] {
                lists.append(query, estimate, target);
            }
        }
        Ok(())
    }

    fn screen_both(
        &self,
        queries: &Queries,
        targets: &Targets,
        part: Range<usize>,
        thresholds: [&Vec<f32>; 2],
        lists: [&mut Lists; 2],
    ) -> Result<(), Fault> {
        let [of_queries, of_targets] = lists;
        for (query, target, estimate) in queries.estimates(targets, part) {
            if estimate >= thresholds[0][query] - targets.error {
                of_queries.append(query, estimate, target);
            }
            if estimate >= thresholds[1][target as usize] - targets.error {
                of_targets.append(target as usize, estimate, queries.selection.row(query));
            }
        }
        Ok(())
    }

    fn raise(
        &self,
        thresholds: &mut Vec<f32>,
        lists: &Lists,
        queries: &Queries,
        targets: &Targets,
        k: usize,
    ) -> Result<(), Fault> {
        for ((query, threshold), (_, candidates)) in thresholds.iter_mut().enumerate().zip(&lists.of_queries) {
            *threshold = threshold.max(targets.threshold(candidates, queries.inverses[query], k));
        }
        Ok(())
    }

    fn settle(
        &self,
        lists: Lists,
        queries: &Queries,
        targets: &Targets,
        mut thresholds: Vec<f32>,
        Best { k, room, wanted }: Best,
    ) -> Result<Settled, Fault> {
        let count = queries.selection.len();
        let each = if wanted == Wanted::Means { [1, 0] } else { [k, k] };
        let mut settled = Settled {
            states: Vec::new(),
            scores: vec![0.0; count * each[0]],
            targets: vec![0; count * each[1]],
            thresholds: Vec::new(),
        };
        for (query, (found, candidates)) in lists.of_queries.iter().enumerate() {
            let inverse = queries.inverses[query];
            let threshold = targets.threshold(candidates, inverse, k);
            if *found > lists.capacity {
                thresholds[query] = thresholds[query].max(threshold);
                settled.states.push(State::Lost);
                continue;
            }
            let survives = |&&(estimate, target): &&(f32, u32)| targets.upper(target, estimate, inverse) >= threshold;
            let survivors: Vec<u32> = candidates.iter().filter(survives).map(|&(_, target)| target).collect();
            if survivors.len() > room {
                settled.states.push(State::Crowded);
                continue;
            }
            let row = queries.selection.row(query);
            let [own, others] = [&queries.rows, &targets.rows].map(|rows| &*rows.prepared);
            let score = |target: u32| {
                let factor = queries.scale * own.factors[row as usize] * others.factors[target as usize];
                factor * own.product(row, others, target) + targets.bias[target as usize]
            };
            let mut best: Vec<(f64, u32)> = survivors.into_iter().map(|target| (score(target), target)).collect();
            best.retain(|&(score, _)| score > f64::NEG_INFINITY);
            best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            best.truncate(k);
            settled.states.push(State::Found(best.len() as u32));
            if wanted == Wanted::Means {
                settled.scores[query] = best.iter().map(|best| best.0).sum::<f64>() / best.len().max(1) as f64;
                continue;
            }
            for (at, (score, target)) in (query * k..).zip(best) {
                settled.scores[at] = score;
                settled.targets[at] = target;
            }
        }
        settled.thresholds = thresholds;
        Ok(settled)
    }
}

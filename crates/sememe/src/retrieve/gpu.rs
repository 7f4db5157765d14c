//! Searches on a GPU. They find what the engine of the CPU finds, to the bit; what a GPU cannot decide is left to that.

use std::cell::Cell;
use std::sync::OnceLock;

use rayon::prelude::*;
use sememe_cuda::{Card, Cuda, Exponentials, Fault, HostRows, Wanted, means_of_both, nearest, nearest_of_host};

use super::best::Scored;
use super::csls;
use super::engine::{Found, Ranking, Search};
use super::rows::{Rows, Scaled};
use super::side::Indexed;
use super::terms::{SOURCES, TARGETS};
use crate::device::{card, fell_back};
use crate::error::{Error, Result};
use crate::observe::{Meter, Observer, Stage};

/// A side may take this part of the free memory of a GPU.
const SHARE: usize = 3;
/// Bytes of a row on a GPU beside its numbers.
const BYTES_BESIDE: usize = 64;

/// Rows that stay on the GPU that they were needed on first; none if they do not fit.
#[derive(Default)]
pub(super) struct OnGpu {
    rows: OnceLock<(Cuda, Option<<Cuda as Card>::Rows>)>,
}

impl OnGpu {
    fn of(&self, card: &Cuda, rows: Rows) -> Option<&<Cuda as Card>::Rows> {
        let (own, rows) = self.rows.get_or_init(|| (card.clone(), place(card, rows)));
        rows.as_ref().filter(|_| own.is_same(card))
    }
}

fn host(rows: Rows<'_>) -> HostRows<'_> {
    let (values, factors) = rows.parts();
    HostRows { values, dim: rows.dim(), factors }
}

/// Copies rows to a card if they fit.
fn place<C: Card>(card: &C, rows: Rows) -> Option<C::Rows> {
    let bytes = rows.len() * (6 * rows.dim() + BYTES_BESIDE);
    let free = card.free_bytes().ok()?;
    if bytes > free / SHARE { None } else { card.upload(host(rows)).ok() }
}

/// Reports how far a search is.
pub(super) struct Progress<'a> {
    meter: Meter<'a>,
    done: Cell<usize>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(observer: &'a dyn Observer, stage: Stage, queries: usize) -> Self {
        Progress { meter: Meter::new(observer, stage, queries), done: Cell::new(0) }
    }

    /// Whether to go on after so many queries.
    pub(super) fn proceed(&self, done: usize) -> bool {
        let before = self.done.replace(done);
        self.meter.advance(done.saturating_sub(before)).is_ok()
    }
}

/// The result of a card; none if the CPU has to do the work.
pub(super) fn result<T>(result: std::result::Result<T, Fault>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Fault::Stopped) => Err(Error::Stopped),
        Err(Fault::Unsuited(_)) => Ok(None),
        Err(fault) => {
            fell_back(fault);
            Ok(None)
        }
    }
}

impl Search<'_> {
    /// The GPU to use, if any.
    fn card(&self) -> Result<Option<Cuda>> {
        let [queries, targets] = [self.queries.len(), self.among()].map(|count| count as u64);
        card(queries * targets * self.queries.dim() as u64 * self.rankings.len() as u64)
    }

    /// Runs on the GPU, if one is to be used.
    pub(super) fn run_on_gpu(&self) -> Result<Option<Vec<Found>>> {
        let Some(card) = self.card()? else { return Ok(None) };
        self.run_on(&card, self.targets.on_gpu().of(&card, self.targets.rows()))
    }

    /// Runs on a card, where the targets may be already.
    pub(super) fn run_on<C: Card>(&self, card: &C, targets: Option<&C::Rows>) -> Result<Option<Vec<Found>>> {
        let queries = targets.and_then(|_| place(card, self.queries));
        let mut all = Vec::new();
        for ranking in self.rankings {
            let progress = Progress::new(self.observer, self.stage, self.queries.len());
            let proceed = |done: usize| progress.proceed(done);
            let found = match (&queries, targets) {
                (Some(queries), Some(targets)) => {
                    nearest(card, queries, targets, &ranking.for_card(), Wanted::Targets, &proceed)
                }
                _ => {
                    let (queries, targets) = (host(self.queries), host(self.targets.rows()));
                    nearest_of_host(card, queries, targets, &ranking.for_card(), &proceed)
                }
            };
            let Some(found) = result(found)? else { return Ok(None) };
            all.push(self.completed(ranking, &found)?);
        }
        Ok(Some(all))
    }

    /// The result of a card, completed by the CPU.
    fn completed(&self, ranking: &Ranking, found: &sememe_cuda::Found) -> Result<Found> {
        let scored = |(index, score)| Scored { index, score };
        let mut all: Found = (0..self.queries.len()).map(|query| found.of(query).map(scored).collect()).collect();
        for (query, found) in found.unresolved.iter().zip(self.on_cpu(ranking, &found.unresolved)?) {
            all[*query as usize] = found;
        }
        Ok(all)
    }

    /// What the CPU finds for some of the queries.
    fn on_cpu(&self, ranking: &Ranking, queries: &[u32]) -> Result<Found> {
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        let queries = Scaled::selected(self.queries, queries);
        let search = Search { queries: queries.rows(), rankings: std::slice::from_ref(ranking), known: &[], ..*self };
        Ok(search.run_on_cpu()?.into_iter().flatten().collect())
    }

    /// The mean score of the best targets of each query by the only ranking, if a GPU computes it.
    pub(super) fn means_on_gpu(&self) -> Result<Option<Vec<f64>>> {
        let Some(card) = self.card()? else { return Ok(None) };
        let targets = self.targets.on_gpu().of(&card, self.targets.rows());
        let (Some(targets), Some(queries)) = (targets, place(&card, self.queries)) else { return Ok(None) };
        let progress = Progress::new(self.observer, self.stage, self.queries.len());
        let ranking = &self.rankings[0];
        let proceed = |done: usize| progress.proceed(done);
        let found = nearest(&card, &queries, targets, &ranking.for_card(), Wanted::Means, &proceed);
        result(found)?.map(|found| self.completed_means(&found)).transpose()
    }

    fn completed_means(&self, found: &sememe_cuda::Found) -> Result<Vec<f64>> {
        let mut means = found.means().to_vec();
        for (query, found) in found.unresolved.iter().zip(self.on_cpu(&self.rankings[0], &found.unresolved)?) {
            means[*query as usize] = csls::mean(found.iter().map(|scored| scored.score));
        }
        Ok(means)
    }
}

/// The mean of the `k` largest cosines of every vector with those of the other side, in both directions, if a GPU computes
/// them: then from one product.
pub(super) fn mean_cosines_of_both(
    sides: [&Indexed; 2],
    k: usize,
    observer: &dyn Observer,
) -> Result<Option<[Vec<f64>; 2]>> {
    let rankings = sides.map(|side| Ranking { scale: 1.0, bias: side.unbiased(), k, among: usize::MAX });
    let search = |from: usize| Search {
        queries: sides[from].rows(),
        targets: sides[1 - from],
        rankings: std::slice::from_ref(&rankings[1 - from]),
        known: &[],
        observer,
        stage: Stage::Preparing,
    };
    let Some(card) = search(0).card()? else { return Ok(None) };
    let [Some(x), Some(y)] = sides.map(|side| side.on_gpu().of(&card, side.rows())) else { return Ok(None) };
    let progress = Progress::new(observer, Stage::Preparing, sides[0].rows().len());
    let bias = sides.map(|side| side.unbiased().exact());
    let found = means_of_both(&card, [x, y], bias, k, &|done| progress.proceed(done));
    let Some([forth, back]) = result(found)? else { return Ok(None) };
    Ok(Some([search(0).completed_means(&forth)?, search(1).completed_means(&back)?]))
}

/// Dimensions up to which the CPU sums products one after the other.
const MOST_DIMENSIONS: usize = 512;
/// Blocks with so few products are summed in another order by the CPU.
const FEW_PRODUCTS: usize = 256;

/// `log Σ_x exp(cos(x, t))` of every target over these sources, if a GPU computes it.
pub(super) fn log_sums(
    targets: Rows,
    (sources, words): (Rows, &[usize]),
    observer: &dyn Observer,
) -> Result<Option<Vec<f64>>> {
    let sizes = [targets.len(), words.len(), targets.dim()].map(|size| size as u64);
    match card(sizes.iter().product())? {
        Some(card) => log_sums_on(&card, targets, (sources, words), observer),
        None => Ok(None),
    }
}

/// [`log_sums`] on a card, where it has the bits of the CPU.
pub(super) fn log_sums_on<C: Exponentials>(
    card: &C,
    targets: Rows,
    (sources, words): (Rows, &[usize]),
    observer: &dyn Observer,
) -> Result<Option<Vec<f64>>> {
    let blocks = |count: usize, most: usize| [count.min(most), (count + most - 1) % most + 1];
    let is_plain = |[x, y]: [usize; 2]| x > 1 && y > 1 && x * y > FEW_PRODUCTS;
    let (of_words, of_targets) = (blocks(words.len(), SOURCES), blocks(targets.len(), TARGETS));
    let are_plain = of_words.iter().all(|&x| of_targets.iter().all(|&y| is_plain([x, y])));
    if words.is_empty() || targets.len() == 0 || !are_plain || targets.dim() > MOST_DIMENSIONS {
        return Ok(None);
    }
    let scaled: Vec<f32> = words.par_iter().flat_map_iter(|&word| sources.scaled(word)).collect();
    let progress = Progress::new(observer, Stage::Preparing, targets.len());
    result(sememe_cuda::log_sums(card, host(targets), &scaled, &|done| progress.proceed(done)))
}

impl Ranking<'_> {
    fn for_card(&self) -> sememe_cuda::Ranking<'_> {
        sememe_cuda::Ranking { scale: self.scale, bias: self.bias.exact(), k: self.k, among: self.among }
    }
}

#[cfg(test)]
mod tests {
    use sememe_cuda::StandIn;

    use super::super::rows::Role;
    use super::super::terms::log_sums_on_cpu;
    use super::*;
    use crate::random::Random;
    use crate::vectors::Matrix;

    /// Whether products are added with one rounding, as on GPUs.
    fn has_fused_multiplication() -> bool {
        #[cfg(target_arch = "x86_64")]
        let has_it = std::arch::is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let has_it = cfg!(target_arch = "aarch64");
        has_it
    }

    #[test]
    fn sums_of_exponentials_on_a_card_have_the_bits_of_the_cpu_or_are_left_to_it() {
        if !has_fused_multiplication() {
            return eprintln!("SKIPPED, the processor rounds products before it adds them");
        }
        let mut random = Random::new(6);
        // Whole blocks and others, several of them, and what is left to the CPU: a last block of few products or of one row, and
        // many dimensions.
        for (dim, sources, targets, is_left) in [
            (37, 300, 1030, false),
            (300, 128, 20, false),
            (512, 50, 9, false),
            (5, 131, 1025, true),
            (5, 129, 1100, true),
            (5, 20, 12, true),
            (513, 50, 9, true),
        ] {
            let [sources, targets] = [sources, targets].map(|count: usize| {
                let values = (0..count * dim).map(|_| random.normal() as f32).collect();
                Scaled::directions(Matrix::new(values, dim), 30.0, Role::Sources).unwrap()
            });
            let (rows, words) = (targets.rows(), (0..sources.rows().len()).collect::<Vec<_>>());
            let expected = log_sums_on_cpu(rows, (sources.rows(), &words), &()).unwrap();
            for bytes in [1 << 30, 1 << 19] {
                match log_sums_on(&StandIn::new(bytes), rows, (sources.rows(), &words), &()).unwrap() {
                    Some(found) => assert!(!is_left && found == expected, "{dim} {} {bytes}", rows.len()),
                    None => assert!(is_left, "{dim} {} {bytes}", rows.len()),
                }
            }
        }
    }
}

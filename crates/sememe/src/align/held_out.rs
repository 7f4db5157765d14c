//! Shrinkage chosen by held-out retrieval: fit to one half of the tuples, retrieve the other half.
//!
//! Formulas such as oracle approximating shrinkage estimate a covariance well, but retrieval needs much more shrinkage.
//! With 2,000 English-Russian pairs of 300 dimensions the formula gives 0.03 and 0.07. Held-out retrieval gives 0.45
//! and finds a fifth more of the held-out translations.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::held_out_pair::{HeldOutPair, Rank, for_held_out_pairs};
use crate::error::Result;
use crate::lexicon::Tuples;
use crate::model::{FitOptions, LatentSize, Shrinkage};
use crate::moments::Moments;
use crate::observe::{Meter, Observer, Stage};
use crate::threads::are_many;
use crate::vectors::View;

/// Candidates for the shrinkage. The search begins at index `FIRST` and moves while the score improves.
pub(super) const CANDIDATES: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9];
const FIRST: usize = 4;
/// Maximum number of pairs of views, over all splits, by which the shrinkage is chosen. It is one for all views, and more
/// pairs would take longer without choosing better.
const SCORED: usize = 24;
/// Candidates of a pair of views that are tried at once, for each thread at most.
const MOST_AT_ONCE: usize = 2;
/// Likelihood evaluations of an iterative fit to a part of the data.
const EVALUATIONS: usize = 5;

/// The shrinkage with the best retrieval of held-out tuples, which [`align`](super::align()) fits with. The fallback for
/// too few tuples is [`Shrinkage::Auto`]. `moments` are those of all tuples; both halves keep its monolingual rows, which
/// are no translations.
pub fn shrinkage(
    moments: &Moments,
    views: &[View],
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Shrinkage> {
    let method = options.method_for(views.len());
    if !method.shrinks() {
        return Ok(Shrinkage::Auto);
    }
    HeldOut::new(moments, (views, tuples), options, false, observer)?.best_shrinkage(observer)
}

/// Held-out tuples of a two-fold cross-validation, prepared for retrieval at any shrinkage.
#[derive(Default)]
pub(super) struct HeldOut {
    /// All pairs of views, or some of very many: each takes megabytes.
    pairs: Vec<HeldOutPair>,
    at_chance: Vec<([usize; 2], usize)>,
}

impl HeldOut {
    /// Methods that need no shrinkage are content with a single split. `tells_chance` compares all pairs with chance.
    pub(super) fn new(
        moments: &Moments,
        (views, tuples): (&[View], &Tuples),
        options: &FitOptions,
        tells_chance: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let method = options.method_for(views.len());
        let latent = match options.latent {
            LatentSize::Of(latent) => latent.max(1),
            _ => usize::MAX,
        };
        let meter = Meter::new(observer, Stage::Shrinking, 1);
        meter.check()?;
        let monolingual = moments.of_single_views();
        let halves = tuples.halves();
        let splits = [(&halves[0], &halves[1]), (&halves[1], &halves[0])];
        let splits = if method.shrinks() { &splits[..] } else { &splits[..1] };
        // Evenly spaced, so that pairs of both splits are among them.
        let connected: Vec<usize> = splits.iter().map(|(_, held_out)| held_out.connected_views().len()).collect();
        let spacing = connected.iter().sum::<usize>().div_ceil(SCORED).max(1);
        let of_split = |(number, &(seen, held_out)): (usize, &(&Tuples, &Tuples))| -> Result<Vec<_>> {
            let mut moments = monolingual.of_part(views, seen)?;
            moments.merge(&monolingual)?;
            let before: usize = connected[..number].iter().sum();
            for_held_out_pairs(&moments, (method, latent), views, held_out, |place, pair| {
                let ranks = if tells_chance { pair.ranks(SHRINKAGE_FOR_CHANCE) } else { Vec::new() };
                let is_scored = (before + place).is_multiple_of(spacing);
                (pair.views, ranks, is_scored.then_some(pair))
            })
        };
        let of_pairs = splits.par_iter().enumerate().map(of_split).collect::<Result<Vec<_>>>()?;
        let mut gains = Gains::default();
        let mut pairs = Vec::new();
        for (views, ranks, scored) in of_pairs.into_iter().flatten() {
            gains.add(views, &ranks);
            pairs.extend(scored);
        }
        meter.advance(1)?;
        Ok(HeldOut { pairs, at_chance: gains.at_chance() })
    }

    /// The candidate with the lowest mean log-rank.
    pub(super) fn best_shrinkage(&self, observer: &dyn Observer) -> Result<Shrinkage> {
        let queries = self.pairs.iter().map(|pair| pair.queries.len()).sum::<usize>();
        if queries == 0 {
            return Ok(Shrinkage::Auto);
        }
        let meter = Meter::new(observer, Stage::Shrinking, CANDIDATES.len());
        let mean_log_rank = |by: f64| -> Result<f64> {
            meter.check()?;
            let ranks = self.pairs.par_iter().map(|pair| pair.ranks(by).iter().map(|rank| rank.log).sum::<f64>());
            let mean = ranks.collect::<Vec<f64>>().iter().sum::<f64>() / (2 * queries) as f64;
            meter.advance(1)?;
            Ok(mean)
        };
        // Threads that would have nothing to do find out what the search may ask for.
        let chosen = match self.pairs.len() * CANDIDATES.len() <= MOST_AT_ONCE * rayon::current_num_threads() {
            true if are_many() => {
                let all = CANDIDATES.par_iter().map(|&by| mean_log_rank(by)).collect::<Result<Vec<f64>>>()?;
                best(|by| Ok(all[CANDIDATES.iter().position(|&known| known == by).expect("one of the candidates")]))
            }
            _ => best(mean_log_rank),
        };
        Ok(chosen?.map_or(Shrinkage::Auto, Shrinkage::By))
    }

    /// The pairs of views whose held-out entries are retrieved no better than chance by a model of the others, and the
    /// number of these entries.
    pub(super) fn into_at_chance(self) -> Vec<([usize; 2], usize)> {
        self.at_chance
    }
}

/// The shrinkage of fits that are compared with chance: what matters is whether anything is found at all.
pub(super) const SHRINKAGE_FOR_CHANCE: f64 = 0.45;

/// How much better held-out entries are ranked than at random, for each pair of views.
#[derive(Default)]
pub(super) struct Gains(BTreeMap<[usize; 2], Vec<f64>>);

impl Gains {
    pub(super) fn add(&mut self, views: [usize; 2], ranks: &[Rank]) {
        self.0.entry(views).or_default().extend(ranks.iter().map(Rank::gain));
    }

    /// The pairs of views whose entries are ranked no better than chance, and the number of these entries.
    pub(super) fn at_chance(self) -> Vec<([usize; 2], usize)> {
        let is_chance = |gains: &Vec<f64>| gains.len() >= MIN_FOR_CHANCE && !is_clearly_positive(gains, CLEARLY);
        let at_chance = self.0.into_iter().filter(|(_, gains)| is_chance(gains));
        at_chance.map(|(views, gains)| (views, gains.len())).collect()
    }
}

/// Held-out entries that a test of chance needs.
const MIN_FOR_CHANCE: usize = 10;
/// Standard errors above chance that count as better than chance: one worthless dictionary in 700 passes.
const CLEARLY: f64 = 3.0;

/// Whether a mean is above zero by more than some standard errors. One value alone has none, and is never enough.
pub(crate) fn is_clearly_positive(values: &[f64], standard_errors: f64) -> bool {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    values.len() > 1 && mean > 0.0 && mean >= standard_errors * (variance / n).sqrt()
}

/// The same options with early stopping, enough for retrieval, and with the largest latent size: a part of the data
/// cannot choose the latent size of the whole.
pub(crate) fn short_fit(options: &FitOptions) -> FitOptions {
    let mut options = options.clone();
    if options.latent == LatentSize::Auto {
        options.latent = LatentSize::Largest;
    }
    options.mbfa.evaluations = options.mbfa.evaluations.min(EVALUATIONS);
    options
}

/// Hill climbing from the first candidate to the lowest score; `None` if there is no finite one.
pub(super) fn best(score: impl Fn(f64) -> Result<f64>) -> Result<Option<f64>> {
    let (mut at, mut lowest) = (FIRST, score(CANDIDATES[FIRST])?);
    let mut walk = |step: isize| -> Result<bool> {
        let start = at;
        while let Some(next) = at.checked_add_signed(step).filter(|&next| next < CANDIDATES.len()) {
            let value = score(CANDIDATES[next])?;
            // Equality is not enough: it may be rounding.
            if value >= lowest {
                break;
            }
            (at, lowest) = (next, value);
        }
        Ok(at != start)
    };
    // If more shrinkage was better, less is not tried.
    let _ = walk(1)? || walk(-1)?;
    Ok(lowest.is_finite().then_some(CANDIDATES[at]))
}

#[cfg(test)]
mod tests {
    use super::super::held_out_pair::tests::two_views;
    use super::*;
    use crate::error::Error;

    #[test]
    fn walks_to_the_lowest_score_and_gives_up_where_there_is_none() {
        for lowest in [0.001, 0.01, 0.03, 0.1, 0.2, 0.6, 0.9] {
            assert_eq!(best(|by| Ok((by - lowest).abs())).unwrap(), Some(lowest));
        }
        assert_eq!(best(|_| Ok(f64::INFINITY)).unwrap(), None);
        assert!(matches!(best(|_| Err(Error::Stopped)), Err(Error::Stopped)));
    }

    #[test]
    fn a_dictionary_of_random_pairs_is_noticed() {
        let views = two_views(400, 20);
        let at_chance = |partner: &dyn Fn(usize) -> usize| {
            let mut tuples = Tuples::new(2);
            (0..400).for_each(|row| assert!(tuples.add(&[Some(row), Some(partner(row))])));
            let moments = Moments::of(&views, &tuples).unwrap();
            HeldOut::new(&moments, (&views, &tuples), &FitOptions::default(), true, &()).unwrap().into_at_chance()
        };
        assert_eq!(at_chance(&|row| row), []);
        assert_eq!(at_chance(&|row| (row * 7 + 13) % 400), [([0, 1], 400)]);
    }

    #[test]
    fn many_tuples_are_held_out_as_well() {
        let views = two_views(3000, 4);
        let mut tuples = Tuples::new(2);
        (0..3000).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
        let moments = Moments::of(&views, &tuples).unwrap();
        let found = shrinkage(&moments, &views, &tuples, &FitOptions::default(), &()).unwrap();
        assert!(matches!(found, Shrinkage::By(_)), "{found}");
    }
}

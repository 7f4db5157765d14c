//! The parameter of a criterion, chosen by held-out retrieval.

use super::finish_steps::mean;
use super::folds::{Asked, CHOOSING, Candidates, Fold, Folds, Project};
use super::held_out::is_clearly_positive;
use crate::error::Result;
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Criterion, PairCoordinates, Retriever, TunedCriterion};

/// Standard errors by which a criterion must be better than the usual one.
const STANDARD_ERRORS: f64 = 2.0;

impl Folds<'_> {
    /// The candidate that finds held-out translations of all pairs of views best, if it is clearly better than the usual one.
    pub(super) fn choose_criterion(&self, tuned: TunedCriterion, observer: &dyn Observer) -> Result<Criterion> {
        let candidates = tuned.candidates();
        let meter = Meter::new(observer, Stage::Calibrating, self.fits.len() * self.pairs.len() * candidates.len());
        // Reciprocal ranks of held-out translations, for each candidate.
        let mut found = vec![Vec::new(); candidates.len()];
        for fold in &self.fits {
            for &[a, b] in &self.pairs {
                for (from, to) in self.directions([a, b]) {
                    self.add_ranks(fold, (from, to), &candidates, &mut found, &meter)?;
                }
                meter.advance(candidates.len())?;
            }
        }
        let usual = tuned.usual();
        let of_usual = candidates.iter().position(|&candidate| candidate == usual).expect("it can be chosen");
        let best = (0..found.len()).max_by(|&a, &b| mean(&found[a]).total_cmp(&mean(&found[b]))).unwrap_or(of_usual);
        let gains: Vec<f64> = found[best].iter().zip(&found[of_usual]).map(|(after, before)| after - before).collect();
        Ok(if is_clearly_positive(&gains, STANDARD_ERRORS) { candidates[best] } else { usual })
    }

    /// Adds the reciprocal ranks of words that are held out of a fold, for each candidate.
    fn add_ranks(
        &self,
        fold: &Fold,
        (from, to): (usize, usize),
        candidates: &[Criterion],
        found: &mut [Vec<f64>],
        meter: &Meter,
    ) -> Result<()> {
        let asked = Asked::of(fold.split, self.given, (from, to));
        if asked.is_empty() {
            return Ok(());
        }
        let pair = PairCoordinates::of(&fold.model, from, to)?;
        let project = compared(fold, pair.as_ref(), from);
        let words = |view| Candidates::of(&self.rows, (CHOOSING, self.given), view, &project);
        let (Some(source), Some(target)) = (words(from)?, words(to)?) else { return Ok(()) };
        for (&criterion, found) in candidates.iter().zip(found) {
            let retriever = Retriever::between(&source.side, &target.side, criterion).build(&meter.stopping())?;
            for answer in asked.retrieve(&retriever, &source, &target, &meter.stopping())? {
                let rank = (0..answer.hits.len()).find(|&rank| answer.is_right(rank));
                found.push(rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64));
            }
        }
        Ok(())
    }
}

/// The projection of a fold into the coordinates in which view `from` is compared with another one.
pub(super) fn compared<'a>(fold: &'a Fold, pair: Option<&'a PairCoordinates>, from: usize) -> Project<'a> {
    Box::new(move |view, rows, numbers| {
        let latent = (fold.project)(view, rows, numbers)?;
        Ok(match pair {
            Some(pair) if view == from => pair.of_queries(&latent),
            Some(pair) => pair.of_targets(&latent),
            None => latent,
        })
    })
}

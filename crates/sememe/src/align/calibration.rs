//! Calibration of confidences on held-out translations.
//!
//! The parameters of a [`Calibration`] maximise the likelihood of right and wrong first candidates of held-out words.
//! The other direction of a pair of views shares the parameters of the one that is asked, but for what rows are usual: how
//! rare a word is, is relative to the words of its own view that entries have.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::PairCalibration;
use super::few_entries::pairs_with_few;
use super::folds::{Answer, Asked, CALIBRATING, Candidates, Folds, MOST_PAIRS};
use super::logistic::{HeldOutQuery, most_likely};
use super::tuning::compared;
use crate::error::Result;
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::{Criterion, Generative, PairCoordinates, Retriever, UsualRows, log_row};

/// Criteria with calibrated confidences. The last needs a generative model.
const CRITERIA: [Criterion; 4] = [Criterion::Nn, Criterion::CSLS, Criterion::ISF, Criterion::Pmi];
/// Minimum number of queries between two views.
const MIN_QUERIES: usize = 20;

impl Folds<'_> {
    /// The calibrations of all pairs of views with enough held-out entries, or of some of very many pairs: the others have
    /// their mean. A further criterion is calibrated with the usual ones.
    pub(super) fn calibrations(
        &self,
        further: Option<Criterion>,
        observer: &dyn Observer,
    ) -> Result<Vec<PairCalibration>> {
        let all: Vec<Criterion> =
            CRITERIA.into_iter().chain(further.filter(|further| !CRITERIA.contains(further))).collect();
        let spacing = self.pairs.len().div_ceil(MOST_PAIRS).max(1);
        // The mean of the others is surer than what few words say.
        let few = pairs_with_few(self.given);
        let pairs = self.pairs.iter().filter(|pair| !few.contains(*pair)).step_by(spacing);
        let directions: Vec<(usize, usize)> = pairs.flat_map(|&pair| self.directions(pair)).collect();
        let meter = Meter::new(observer, Stage::Calibrating, self.fits.len() * directions.len() * all.len());
        let mut queries: BTreeMap<([usize; 2], usize), Vec<HeldOutQuery>> = BTreeMap::new();
        for fold in &self.fits {
            for &(from, to) in &directions {
                meter.check()?;
                let asked = Asked::of(fold.split, self.given, (from, to));
                let Some(usual) = self.usual_rows((from, to)).filter(|_| !asked.is_empty()) else { continue };
                let pair = PairCoordinates::of(&fold.model, from, to)?;
                // Methods without a noise model have no such criteria.
                let generative = Generative::new(&fold.model, from, to, None).ok();
                let criteria = all.iter().copied().enumerate();
                let possible = criteria.filter(|(_, criterion)| generative.is_some() || !criterion.is_generative());
                let (of_pair, of_latent): (Vec<_>, Vec<_>) =
                    possible.partition(|(_, criterion)| pair.is_some() && criterion.uses_cosines());
                // Candidates in the coordinates of the pair and latent vectors are not in memory at once.
                for (criteria, project) in [(of_pair, &compared(fold, pair.as_ref(), from)), (of_latent, &fold.project)]
                {
                    if criteria.is_empty() {
                        continue;
                    }
                    let candidates = |view: usize| Candidates::of(&self.rows, (CALIBRATING, self.given), view, project);
                    let (source, target) = rayon::join(|| candidates(from), || candidates(to));
                    let (Some(source), Some(target)) = (source?, target?) else { continue };
                    let uses_cosines = criteria.iter().any(|(_, criterion)| criterion.uses_cosines());
                    let near = uses_cosines.then(|| target.nearest_to(&asked, &source, &meter.stopping()));
                    let near = near.transpose()?;
                    for (number, criterion) in criteria {
                        let near = near.as_ref().filter(|_| criterion.uses_cosines());
                        let target = near.unwrap_or(&target);
                        let mut builder = Retriever::between(&source.side, &target.side, criterion);
                        if let (true, Some(generative)) = (criterion.is_generative(), &generative) {
                            builder = builder.generative(generative.clone());
                        }
                        let retriever = builder.build(&meter.stopping())?;
                        let answers = asked.retrieve(&retriever, &source, target, &meter.stopping())?;
                        let of_pair = queries.entry(([from.min(to), from.max(to)], number)).or_default();
                        of_pair.extend(answers.iter().map(|answer| held_out_query(answer, &usual)));
                        meter.advance(1)?;
                    }
                }
            }
        }
        let calibrated: Vec<_> = queries.into_iter().filter(|(_, queries)| queries.len() >= MIN_QUERIES).collect();
        let of_pair = |(([a, b], number), queries): (([usize; 2], usize), Vec<HeldOutQuery>)| {
            let shared = most_likely(&queries);
            [[a, b], [b, a]].map(|[from, to]| {
                let usual = self.usual_rows((from, to)).or_else(|| self.usual_rows((to, from))).unwrap_or_default();
                PairCalibration {
                    views: [from, to].map(|view| self.names[view].clone()),
                    criterion: all[number],
                    calibration: shared.with_usual_rows(usual),
                }
            })
        };
        Ok(calibrated.into_par_iter().flat_map_iter(of_pair).collect())
    }

    /// The rows of words that are held out of some fold; `None` without any.
    fn usual_rows(&self, direction: (usize, usize)) -> Option<UsualRows> {
        let asked = self.fits.iter().map(|fold| Asked::of(fold.split, self.given, direction));
        let logs: Vec<f64> = asked.flat_map(|asked| asked.rows().map(log_row).collect::<Vec<_>>()).collect();
        UsualRows::of(logs)
    }
}

fn held_out_query(answer: &Answer, usual: &UsualRows) -> HeldOutQuery {
    let scores = answer.hits.iter().map(|hit| f64::from(hit.score)).collect();
    HeldOutQuery { is_right: answer.is_right(0), scores, rarity: usual.rarity(log_row(answer.word)) }
}

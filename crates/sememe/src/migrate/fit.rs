//! Fitting: the candidates, the choice among them by held-out recall, and the fit of the chosen ones to all pairs.

use serde::{Deserialize, Serialize};

use super::asking::ranks;
use super::candidates::{PairMoments, RIDGES};
use super::evaluation::nearest_others;
use super::factors::{Factors, FactorOptions};
use super::geometry::{Geometry, Reference};
use super::map::{Chosen, HeldOutRecall, MigrationMap, ModelCard, Side};
use super::{Affine, MapMethod, Pairs, Question, Recall};
use crate::error::{Error, Result};
use crate::evaluate::Bootstrap;
use crate::names::setters;
use crate::observe::Observer;
use crate::random::Random;
use crate::retrieve::Criterion;
use crate::vectors::Matrix;

/// Options of [`fit`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MigrateOptions {
    /// The name of the old model.
    pub old_model: Option<String>,
    /// The name of the new model.
    pub new_model: Option<String>,
    /// Only this method, instead of the best by held-out recall.
    pub method: Option<MapMethod>,
    /// Seed of the choice of held-out pairs.
    pub seed: u64,
}

setters!(MigrateOptions {
    /// Sets [`MigrateOptions::old_model`].
    with_old_model: old_model = Option<String>,
    /// Sets [`MigrateOptions::new_model`].
    with_new_model: new_model = Option<String>,
    /// Sets [`MigrateOptions::method`].
    with_method: method = Option<MapMethod>,
    /// Sets [`MigrateOptions::seed`].
    with_seed: seed = u64,
});

/// Minimum number of pairs of a fit: with fewer nothing can be held out.
pub const MIN_PAIRS: usize = 20;
/// One in this number of pairs is held out, but at most so many.
const HELD_OUT_SHARE: usize = 5;
const MAX_HELD_OUT: usize = 1000;

/// Pairs that a fit sees and pairs that it does not.
struct Split {
    seen: Vec<usize>,
    held_out: Vec<usize>,
}

impl Split {
    fn new(pairs: usize, seed: u64) -> Self {
        let mut rows: Vec<usize> = (0..pairs).collect();
        let mut random = Random::new(seed);
        let count = (pairs / HELD_OUT_SHARE).min(MAX_HELD_OUT);
        for at in 0..count {
            let other = at + random.below(pairs - at);
            rows.swap(at, other);
        }
        let mut held_out = rows[..count].to_vec();
        let mut seen = rows[count..].to_vec();
        held_out.sort_unstable();
        seen.sort_unstable();
        Split { seen, held_out }
    }
}

/// A candidate with its parameters: how it is fitted to some pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Candidate {
    Procrustes,
    Ridge(f64),
    LowRank { ridge: f64, rank: usize },
    Ibfa,
}

impl Candidate {
    fn all(dim: usize, only: Option<MapMethod>) -> Vec<Self> {
        let mut all = vec![Candidate::Procrustes];
        all.extend(RIDGES.map(Candidate::Ridge));
        all.extend([dim / 4, dim / 2].map(|rank| Candidate::LowRank { ridge: RIDGES[1], rank: rank.max(1) }));
        all.push(Candidate::Ibfa);
        all.retain(|candidate| only.is_none_or(|only| candidate.method() == only));
        all
    }

    fn method(self) -> MapMethod {
        match self {
            Candidate::Procrustes => MapMethod::Procrustes,
            Candidate::Ridge(_) => MapMethod::Ridge,
            Candidate::LowRank { .. } => MapMethod::LowRank,
            Candidate::Ibfa => MapMethod::Ibfa,
        }
    }

    fn parameters(self) -> String {
        match self {
            Candidate::Procrustes | Candidate::Ibfa => String::new(),
            Candidate::Ridge(ridge) => format!("ridge {ridge}"),
            Candidate::LowRank { ridge, rank } => format!("ridge {ridge}, rank {rank}"),
        }
    }

    /// The map from the new model to the old one.
    fn fit(self, moments: &PairMoments, factors: &Factors) -> Result<Affine> {
        match self {
            Candidate::Procrustes => moments.procrustes(),
            Candidate::Ridge(ridge) => moments.ridge(ridge),
            Candidate::LowRank { ridge, rank } => moments.low_rank(ridge, rank),
            Candidate::Ibfa => Ok(factors.queries()),
        }
    }
}

/// Held-out questions in the old index: for a text that the fit has not seen, the answer is the nearest other text by
/// the old model alone.
struct HeldOutQuestions<'a> {
    index: &'a Matrix,
    queries: Matrix,
    questions: Vec<Question>,
}

impl<'a> HeldOutQuestions<'a> {
    fn new(pairs: &'a Pairs, held_out: &[usize], observer: &dyn Observer) -> Result<Self> {
        let questions = nearest_others(pairs.old(), held_out, observer)?;
        let rows: Vec<usize> = questions.iter().map(|question| question.query).collect();
        Ok(HeldOutQuestions { index: pairs.old(), queries: pairs.new_rows().select(&rows), questions })
    }

    fn recall(&self, index: &Matrix, queries: &Matrix, observer: &dyn Observer) -> Result<Recall> {
        let ranks = ranks(index, queries, Criterion::Nn, &self.questions, observer)?;
        Ok(Recall::of(ranks, &Bootstrap { resamples: 1, seed: 0 }))
    }

    /// The candidate with the best recall, and what all of them reached.
    fn best(
        &self,
        candidates: &[Candidate],
        (moments, factors): (&PairMoments, &Factors),
        to: Side,
        observer: &dyn Observer,
    ) -> Result<(Candidate, Affine, Vec<HeldOutRecall>)> {
        let mut best: Option<(f64, Candidate, Affine)> = None;
        let mut all = Vec::new();
        for &candidate in candidates {
            let map = candidate.fit(moments, factors)?;
            let recall = self.recall(self.index, &map.apply(&self.queries)?, observer)?;
            all.push(HeldOutRecall {
                to,
                method: candidate.method(),
                parameters: candidate.parameters(),
                recall: recall.recall.clone(),
                mrr: recall.mrr,
            });
            if best.as_ref().is_none_or(|(mrr, ..)| recall.mrr > *mrr) {
                best = Some((recall.mrr, candidate, map));
            }
        }
        let (_, candidate, map) = best.ok_or_else(|| Error::NotEnoughData("no candidate can be fitted".to_owned()))?;
        Ok((candidate, map, all))
    }
}

/// Fits a map between two models: the candidates are fitted to most of the pairs, the best one by the recall of the
/// others is fitted to all of them. So it is never worse than a baseline on held-out pairs.
///
/// ```
/// use sememe::{migrate::{self, Pairs, Side}, vectors::Matrix};
///
/// let new: Vec<f32> = (0..400).map(|x| ((x * x) as f32).sin()).collect();
/// let old: Vec<f32> = new.chunks(4).flat_map(|x| [x[1], -x[0], x[3], x[2]]).collect();
/// let pairs = Pairs::new(Matrix::new(old, 4), Matrix::new(new, 4))?;
/// let map = migrate::fit(&pairs, &Default::default(), &())?;
/// let queries = map.apply(Side::New, Side::Old, pairs.new_rows())?;
/// assert!((queries.row(7)[0] - pairs.old().row(7)[0]).abs() < 0.05);
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn fit(pairs: &Pairs, options: &MigrateOptions, observer: &dyn Observer) -> Result<MigrationMap> {
    if pairs.len() < MIN_PAIRS {
        return Err(Error::NotEnoughData(format!(
            "there are {} different pairs; at least {MIN_PAIRS} are needed, and thousands are better",
            pairs.len()
        )));
    }
    let split = Split::new(pairs.len(), options.seed);
    let (seen, held_out) = (pairs.select(&split.seen), pairs.select(&split.held_out));
    let chosen_factors = FactorOptions::default();
    let part = Factors::fit(&seen, &chosen_factors, observer)?;
    let whole = Factors::fit(pairs, &part.chosen(), observer)?;

    let questions = HeldOutQuestions::new(pairs, &split.held_out, observer)?;
    let moments = PairMoments::of(&seen);
    let candidates = Candidate::all(pairs.old().cols(), options.method);
    let (queries, held_out_map, mut recalls) =
        questions.best(&candidates, (&moments, &part), Side::Old, observer)?;
    let (best_ridge, ..) =
        questions.best(&Candidate::all(1, Some(MapMethod::Ridge)), (&moments, &part), Side::Old, observer)?;

    let exchanged = pairs.exchanged();
    let back_questions = HeldOutQuestions::new(&exchanged, &split.held_out, observer)?;
    let back_moments = PairMoments::of(&seen.exchanged());
    let candidates = Candidate::all(exchanged.old().cols(), options.method);
    let back_part = part.exchanged();
    let (index, _, back_recalls) =
        back_questions.best(&candidates, (&back_moments, &back_part), Side::New, observer)?;
    recalls.extend(back_recalls);

    let all = PairMoments::of(pairs);
    let residuals = residuals(&held_out_map, &held_out)?;
    let card = |name: &Option<String>, side: Side, seen: &Matrix, held_out: &Matrix| -> Result<ModelCard> {
        Ok(ModelCard { name: name.clone(), geometry: Geometry::fit(seen, held_out, &side.to_string())? })
    };
    Ok(MigrationMap {
        old: card(&options.old_model, Side::Old, seen.old(), held_out.old())?,
        new: card(&options.new_model, Side::New, seen.new_rows(), held_out.new_rows())?,
        queries: Chosen { map: queries.fit(&all, &whole)?, method: queries.method() },
        index: Chosen {
            map: index.fit(&PairMoments::of(&exchanged), &whole.exchanged())?,
            method: index.method(),
        },
        latent: whole.latent(),
        back: whole.back(pairs)?,
        baselines: [
            (MapMethod::Procrustes, all.procrustes()?),
            (MapMethod::Ridge, best_ridge.fit(&all, &whole)?),
        ]
        .into(),
        held_out: recalls,
        criterion: Criterion::CSLS,
        residual: Reference::of(&residuals),
        pairs: pairs.len(),
        fingerprint: fingerprint(pairs),
    })
}

/// One minus the cosine of every mapped new vector to the old vector of the same text.
pub(super) fn residuals(map: &Affine, pairs: &Pairs) -> Result<Vec<f64>> {
    let mapped = map.apply(pairs.new_rows())?;
    let cosine = |row: usize| crate::retrieve::kernel::dot(mapped.row(row), pairs.old().row(row));
    Ok((0..pairs.len()).map(|row| 1.0 - cosine(row)).collect())
}

fn fingerprint(pairs: &Pairs) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update_rayon(bytemuck::cast_slice(pairs.old().as_slice()));
    hasher.update_rayon(bytemuck::cast_slice(pairs.new_rows().as_slice()));
    hasher.finalize().to_hex().to_string()
}

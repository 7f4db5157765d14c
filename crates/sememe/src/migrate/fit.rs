//! Fitting: the candidates, the choice among them, and the fit of the chosen ones to all pairs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::candidates::Candidate;
use super::choice::{Choice, choose, units};
use super::geometry::{Geometry, Reference};
use super::map::{Chosen, MigrationMap, ModelCard, Side};
use super::pair_moments::{PairMoments, covariance_of};
use super::{Affine, MapMethod, Pairs};
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, Mat, symmetric, times, times_transpose, trace};
use crate::model::Shrinkage;
use crate::names::setters;
use crate::observe::{Meter, Observer, Stage};
use crate::prepare::scale_to_unit;
use crate::random::Random;
use crate::retrieve::kernel::dot;
use crate::vectors::Matrix;

/// Options of [`fit`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MigrateOptions {
    /// The name of the old model.
    pub old_model: Option<String>,
    /// The name of the new model.
    pub new_model: Option<String>,
    /// Only this method, instead of the best by held-out clusters.
    pub method: Option<MapMethod>,
    /// Seed of everything that is drawn.
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
pub const MIN_PAIRS: usize = 50;
/// Folds of the cross-validation that measures what is usual.
const FOLDS: usize = 5;

/// Fits a map between two models. `index` are old vectors without partners, such as the whole index, if they are at hand:
/// they tell of texts that the pairs lack. The candidates are compared on held-out clusters of texts; factor analysis is
/// fitted to all pairs, or another one that is clearly better.
///
/// ```
/// use sememe::{migrate::{self, Pairs, Side}, vectors::Matrix};
///
/// let new: Vec<f32> = (0..400).map(|x| ((x * x) as f32).sin()).collect();
/// let old: Vec<f32> = new.chunks(4).flat_map(|x| [x[1], -x[0], x[3], x[2]]).collect();
/// let pairs = Pairs::new(Matrix::new(old, 4), Matrix::new(new, 4))?;
/// let map = migrate::fit(&pairs, None, &Default::default(), &())?;
/// let queries = map.apply(Side::New, Side::Old, pairs.new_rows())?;
/// assert!((queries.row(7)[0] - pairs.old().row(7)[0]).abs() < 0.2);
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn fit(
    pairs: &Pairs,
    index: Option<&Matrix>,
    options: &MigrateOptions,
    observer: &dyn Observer,
) -> Result<MigrationMap> {
    if pairs.len() < MIN_PAIRS {
        return Err(Error::NotEnoughData(format!(
            "there are {} different pairs; at least {MIN_PAIRS} are needed, and thousands are better",
            pairs.len()
        )));
    }
    let mut index = index.unwrap_or(pairs.old()).clone();
    if index.cols() != pairs.old().cols() {
        let expected = format!("the old vectors of the pairs have {}", pairs.old().cols());
        return Err(Error::argument("length of the index's vectors", index.cols(), expected));
    }
    scale_to_unit(&mut index);
    let of_index = covariance_of(&index);
    let candidates = Candidate::all(options.method);
    // The other direction is content with one parameter of each method.
    let methods = candidates.iter().map(|candidate| candidate.method()).collect::<BTreeSet<_>>();
    let meter = Meter::new(observer, Stage::Fitting, units(candidates.len() + methods.len()) + 1);
    let Choice { candidate: for_queries, mut scores, at_chance, confidence } =
        choose(pairs, Some(&of_index), (&candidates, Side::Old), options.seed, &meter)?;
    let best = |method: MapMethod| best_of(&scores, &Candidate::all(Some(method)));
    let candidates: Vec<Candidate> = methods.into_iter().filter_map(best).collect();
    let best_ridge = best(MapMethod::Ridge).unwrap_or(Candidate::all(Some(MapMethod::Ridge))[0]);
    let for_index = choose(&pairs.exchanged(), None, (&candidates, Side::New), options.seed, &meter)?;
    scores.extend(for_index.scores);
    let for_index = for_index.candidate;

    let moments = PairMoments::of(pairs.old(), pairs.new_rows());
    let under = moments.under(&of_index)?;
    let back_moments = moments.exchanged();
    let index_map = for_index.fit(&back_moments, &back_moments)?;
    let shrinkage = moments.shrinkage(pairs.old().cols().max(pairs.new_rows().cols()));
    let latent = under.latent(shrinkage)?;
    let back = ways_back(&latent, &moments)?;

    let (of_old, by_old) = Geometry::fit(pairs.old(), Shrinkage::Oas, "old")?;
    let (of_new, by_new) = Geometry::fit(pairs.new_rows(), Shrinkage::Oas, "new")?;

    // What is usual is measured on pairs that a fit has not seen. These fits are shrunk like the whole one: shrinkage
    // makes vectors less surprising.
    let mut usual = Usual::default();
    for (seen, held_out) in folds(pairs, options.seed) {
        meter.check()?;
        let moments = PairMoments { n: moments.n, ..PairMoments::of(seen.old(), seen.new_rows()) };
        let map = for_queries.fit_queries(&seen, [&moments, &moments.under(&of_index)?], &index)?;
        usual.residuals.extend(residuals(&map, &held_out)?);
        let of_seen = |rows: &Matrix, by: f64, name: &str| Geometry::fit(rows, Shrinkage::By(by), name);
        usual.old.extend(of_seen(seen.old(), by_old, "old")?.0.surprises(held_out.old())?);
        usual.new.extend(of_seen(seen.new_rows(), by_new, "new")?.0.surprises(held_out.new_rows())?);
    }
    let card = |name: &Option<String>, geometry: Geometry, surprises: &[f64], rows: &Matrix| ModelCard {
        name: name.clone(),
        geometry: geometry.with_reference(surprises),
        fingerprint: fingerprint(&[rows]),
    };
    meter.advance(1)?;
    Ok(MigrationMap {
        old: card(&options.old_model, of_old, &usual.old, pairs.old()),
        new: card(&options.new_model, of_new, &usual.new, pairs.new_rows()),
        queries: Chosen {
            map: for_queries.fit_queries(pairs, [&moments, &under], &index)?,
            method: for_queries.method(),
        },
        index: Chosen { map: index_map, method: for_index.method() },
        latent,
        back,
        baselines: [
            (MapMethod::Procrustes, Candidate::Procrustes.fit(&moments, &under)?),
            (MapMethod::Ridge, best_ridge.fit(&moments, &under)?),
        ]
        .into(),
        held_out: scores,
        at_chance,
        confidence,
        shrinkage,
        moments,
        asked: None,
        residual: Reference::of(&usual.residuals),
        pairs: pairs.len(),
        fingerprint: fingerprint(&[pairs.old(), pairs.new_rows()]),
    })
}

/// The best of some candidates, by the scores of all.
fn best_of(scores: &[super::CandidateScore], among: &[Candidate]) -> Option<Candidate> {
    let score = |candidate: &Candidate| {
        let is_own = |score: &&super::CandidateScore| {
            score.method == candidate.method() && score.parameters == candidate.parameters()
        };
        scores.iter().find(is_own).map(|score| score.agreement)
    };
    let known = among.iter().filter_map(|candidate| Some((score(candidate)?, *candidate)));
    known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

/// What is measured on held-out pairs.
#[derive(Default)]
struct Usual {
    old: Vec<f64>,
    new: Vec<f64>,
    residuals: Vec<f64>,
}

/// For every fold of a cross-validation, the pairs that a fit sees and those that it does not.
fn folds(pairs: &Pairs, seed: u64) -> impl Iterator<Item = (Pairs, Pairs)> {
    let mut rows: Vec<usize> = (0..pairs.len()).collect();
    Random::new(seed).shuffle(&mut rows);
    (0..FOLDS).map(move |fold| {
        let part = |is_held_out: bool| -> Vec<usize> {
            let own = rows.iter().enumerate().filter(|(place, _)| (place % FOLDS == fold) == is_held_out);
            own.map(|(_, &row)| row).collect()
        };
        (pairs.select(&part(false)), pairs.select(&part(true)))
    })
}

/// One minus the cosine of every mapped new vector to the old vector of the same text.
pub(super) fn residuals(map: &Affine, pairs: &Pairs) -> Result<Vec<f64>> {
    let mapped = map.apply(pairs.new_rows())?;
    Ok((0..pairs.len()).map(|row| 1.0 - dot(mapped.row(row), pairs.old().row(row))).collect())
}

/// The maps from latent vectors back to the vectors of each model: linear regressions with an intercept. Latent vectors
/// of unit length are taken for latent vectors of the root mean square of all lengths.
pub(super) fn ways_back(latent: &[Affine; 2], moments: &PairMoments) -> Result<[Affine; 2]> {
    let back = |side: usize, covariance: &Mat| -> Result<Affine> {
        let projection = latent[side].matrix();
        let projection = Mat::from_fn(projection.rows(), projection.cols(), |i, j| f64::from(projection.row(i)[j]));
        let cross = times_transpose(covariance, &projection);
        let mut own = symmetric(&times(&projection, &cross));
        let mean_square = trace(&own);
        // Enough for directions without variance; the others hardly change.
        let added = 1e-6 * mean_square / own.nrows() as f64;
        (0..own.nrows()).for_each(|i| own[(i, i)] += added);
        let factor = Cholesky::new(&own, "the covariance of latent vectors")?;
        let map = factor.solve(&cross.transpose().to_owned()).transpose().to_owned();
        let length = mean_square.sqrt();
        let map = Mat::from_fn(map.nrows(), map.ncols(), |i, j| length * map[(i, j)]);
        Ok(Affine::centred(&map, None, Some(&moments.means[side])))
    };
    Ok([back(0, &moments.oo)?, back(1, &moments.nn)?])
}

fn fingerprint(rows: &[&Matrix]) -> String {
    let mut hasher = blake3::Hasher::new();
    rows.iter().for_each(|rows| {
        hasher.update_rayon(bytemuck::cast_slice(rows.as_slice()));
    });
    hasher.finalize().to_hex().to_string()
}

//! What to expect of a map before it is put to use: how many pairs are enough, which direction is best, and what it takes.

use std::collections::HashSet;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::asking::{query_rows, ranks};
use super::choice::clusters;
use super::evaluation::{check_questions, check_rows, nearest_others};
use super::hubs::evenly_spaced;
use super::pairs::check_directions;
use super::{
    MIN_PAIRS, MapMethod, MigrateOptions, MigrationEvaluation, MigrationMap, Pairs, Question, Recall, Side, fit,
};
use crate::align::is_clearly_positive;
use crate::error::{Error, Result};
use crate::evaluate::Bootstrap;
use crate::names::setters;
use crate::observe::{Meter, Observer, Stage};
use crate::random::Random;
use crate::retrieve::Criterion;
use crate::vectors::Matrix;

/// Numbers of pairs that are tried: all of them, and halves of that.
const SIZES: usize = 5;
/// The share of clusters that is held out, where there are no questions, and the rows that are asked for.
const FOLDS: usize = 5;
const ASKED: usize = 1000;
/// Twice as many pairs are worth it if they add more than this to recall at 10, in points.
const WORTH: f64 = 1.0;
/// Standard errors by which another way of asking must be better than leaving the index as it is.
const CLEARLY: f64 = 2.0;
/// Rows, and single queries, that the speed is measured with.
const TIMED: usize = 20_000;
const TIMED_QUERIES: usize = 500;

/// Options of [`plan`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The rows that both models may be compared by; all of them by default.
    pub rows: Option<Vec<usize>>,
    /// Number of rows of the whole index.
    pub rows_to_migrate: Option<usize>,
    /// Rows that the new model embeds a second, to compare with.
    pub rows_per_second: Option<f64>,
    /// What the new model costs for a million rows, to compare with.
    pub price_per_million: Option<f64>,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

setters!(PlanOptions {
    /// Sets [`PlanOptions::rows`].
    with_rows: rows = Option<Vec<usize>>,
    /// Sets [`PlanOptions::rows_to_migrate`].
    with_rows_to_migrate: rows_to_migrate = Option<usize>,
    /// Sets [`PlanOptions::rows_per_second`].
    with_rows_per_second: rows_per_second = Option<f64>,
    /// Sets [`PlanOptions::price_per_million`].
    with_price_per_million: price_per_million = Option<f64>,
    /// Sets [`PlanOptions::seed`].
    with_seed: seed = u64,
});

/// What comes of a number of pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanPoint {
    /// Number of pairs.
    pub pairs: usize,
    /// New queries mapped, the old index as it is.
    pub mapped: Recall,
    /// New queries and the old index in the latent space.
    pub latent: Recall,
}

/// What the migration of an index takes, on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanCosts {
    /// Number of rows of the index.
    pub rows: usize,
    /// Seconds of the fit.
    pub fit_seconds: f64,
    /// Microseconds to map one query.
    pub query_microseconds: f64,
    /// Seconds to map the whole index into the latent space, without reading and writing it.
    pub index_seconds: f64,
    /// Bytes of the mapped index in single precision.
    pub index_bytes: u64,
    /// Seconds to embed the whole index again, if the speed of the new model is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_seconds: Option<f64>,
    /// What embedding the whole index again costs, if the price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_price: Option<f64>,
}

/// The result of [`plan`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MigrationPlan {
    /// Recall by number of pairs, fewest first.
    pub curve: Vec<PlanPoint>,
    /// The fewest pairs from which on twice as many add no more than one point of recall at 10; `None` if more pairs than there are would
    /// help.
    pub enough: Option<usize>,
    /// Every way of asking, with all pairs.
    pub expected: MigrationEvaluation,
    /// The way of asking that is advised: the index as it is, unless another one is clearly better.
    pub advised: &'static str,
    /// Whether the questions are labelled; otherwise they ask for what the new model finds.
    pub is_labelled: bool,
    /// What it takes, if the number of rows of the index is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<PlanCosts>,
    /// That the map is no better than chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Plans a migration from a sample that both models have embedded, row by row. Labelled questions, if there are any, name
/// rows of the sample; nothing is fitted to these rows. Without questions whole clusters of texts are held out and asked
/// for, and the answer is what the new model finds.
pub fn plan(
    old: &Matrix,
    new: &Matrix,
    questions: Option<&[Question]>,
    options: &PlanOptions,
    observer: &dyn Observer,
) -> Result<MigrationPlan> {
    match questions {
        Some(questions) => check_questions(old, new, questions)?,
        None => check_rows(old, new)?,
    }
    if let Some(row) = options.rows.iter().flatten().find(|&&row| row >= old.rows()) {
        return Err(Error::argument("rows to fit to", row, format!("there are {} rows, from 0", old.rows())));
    }
    check_directions(old, "old")?;
    check_directions(new, "new")?;
    let meter = Meter::new(observer, Stage::Fitting, SIZES + 1);
    let inner = meter.stopping();
    let (rows, asked) = match questions {
        Some(questions) => (without(questions, old.rows(), options), questions.to_vec()),
        None => held_out(old, new, options, &inner)?,
    };
    let sizes: Vec<usize> =
        (0..SIZES).rev().map(|halving| rows.len() >> halving).filter(|&pairs| pairs >= MIN_PAIRS).collect();
    if sizes.is_empty() || asked.is_empty() {
        return Err(Error::NotEnoughData(format!(
            "{} pairs can be fitted and {} questions asked; a plan needs {MIN_PAIRS} pairs, and thousands are better",
            rows.len(),
            asked.len()
        )));
    }
    let bootstrap = Bootstrap { seed: options.seed, ..Bootstrap::default() };
    let queries = new.select(&query_rows(&asked));
    let mut curve = Vec::new();
    let mut last = None;
    for &size in &sizes {
        let mut some = rows[..size].to_vec();
        some.sort_unstable();
        let pairs = Pairs::new(old.select(&some), new.select(&some))?;
        // The curve is of one method; what is expected in the end is of the one that a fit chooses.
        let method = (size < rows.len()).then_some(MapMethod::Ibfa);
        let start = Instant::now();
        let map =
            fit(&pairs, Some(old), &MigrateOptions::default().with_method(method).with_seed(options.seed), &inner)?;
        let seconds = start.elapsed().as_secs_f64();
        let ask = |index: &Matrix, queries: &Matrix| -> Result<Recall> {
            Ok(Recall::of(ranks(index, queries, Criterion::Nn, &asked, &inner)?, &bootstrap))
        };
        curve.push(PlanPoint {
            pairs: pairs.len(),
            mapped: ask(old, &map.apply(Side::New, Side::Old, &queries)?)?,
            latent: ask(&map.apply(Side::Old, Side::Latent, old)?, &map.apply(Side::New, Side::Latent, &queries)?)?,
        });
        meter.advance(1)?;
        last = Some((map, seconds));
    }
    let (map, fit_seconds) = last.expect("there is a size");
    let expected = map.evaluate(old, new, &asked, &bootstrap, &inner)?;
    let costs = options.rows_to_migrate.map(|count| -> Result<PlanCosts> {
        let some = evenly_spaced(old, TIMED);
        let start = Instant::now();
        map.apply(Side::Old, Side::Latent, &some)?;
        let index_seconds = start.elapsed().as_secs_f64() / some.rows() as f64 * count as f64;
        Ok(PlanCosts {
            rows: count,
            fit_seconds,
            query_microseconds: query_microseconds(&map, new)?,
            index_seconds,
            index_bytes: 4 * (map.latent_dim() as u64) * count as u64,
            embedding_seconds: options.rows_per_second.map(|speed| count as f64 / speed),
            embedding_price: options.price_per_million.map(|price| price * count as f64 / 1e6),
        })
    });
    meter.advance(SIZES + 1 - sizes.len())?;
    Ok(MigrationPlan {
        enough: enough(&curve),
        advised: advised(&expected),
        is_labelled: questions.is_some(),
        costs: costs.transpose()?,
        warning: map.warning(),
        curve,
        expected,
    })
}

/// The median time of single queries: other work on the machine interrupts some of them.
fn query_microseconds(map: &MigrationMap, new: &Matrix) -> Result<f64> {
    let few = evenly_spaced(new, TIMED_QUERIES);
    let timed = |row: usize| -> Result<f64> {
        let query = few.select(&[row]);
        let start = Instant::now();
        map.apply(Side::New, Side::Old, &query)?;
        Ok(1e6 * start.elapsed().as_secs_f64())
    };
    let mut times = (0..few.rows()).map(timed).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(0.0))
}

/// Rows in random order.
fn shuffled(mut rows: Vec<usize>, seed: u64) -> Vec<usize> {
    Random::new(seed).shuffle(&mut rows);
    rows
}

/// Rows that occur in no question.
fn without(questions: &[Question], count: usize, options: &PlanOptions) -> Vec<usize> {
    let asked: HashSet<usize> = questions.iter().flat_map(|question| [question.query, question.answer]).collect();
    let rows = options.rows.clone().unwrap_or_else(|| (0..count).collect());
    shuffled(rows.into_iter().filter(|row| !asked.contains(row)).collect(), options.seed)
}

/// Rows to fit to, and questions about rows of other clusters, whose answers are what the new model finds.
fn held_out(
    old: &Matrix,
    new: &Matrix,
    options: &PlanOptions,
    observer: &dyn Observer,
) -> Result<(Vec<usize>, Vec<Question>)> {
    let rows = options.rows.clone().unwrap_or_else(|| (0..old.rows()).collect());
    let clusters = clusters(&old.select(&rows), options.seed);
    let (out, seen): (Vec<_>, Vec<_>) = rows.into_iter().zip(clusters).partition(|(_, cluster)| cluster % FOLDS == 0);
    let plain = |rows: Vec<(usize, usize)>| rows.into_iter().map(|(row, _)| row).collect::<Vec<usize>>();
    let mut asked = shuffled(plain(out), options.seed);
    asked.truncate(ASKED);
    asked.sort_unstable();
    Ok((shuffled(plain(seen), options.seed), nearest_others(new, &asked, observer)?))
}

/// The fewest pairs from which on every doubling adds too little.
fn enough(curve: &[PlanPoint]) -> Option<usize> {
    let gains: Vec<f64> = curve.windows(2).map(|two| two[1].mapped.at(10) - two[0].mapped.at(10)).collect();
    let flat = gains.iter().rev().take_while(|&&gain| gain <= WORTH).count();
    (flat > 0).then(|| curve[gains.len() - flat].pairs)
}

/// The way of asking with the best reciprocal ranks among those that are clearly better than the index as it is.
fn advised(expected: &MigrationEvaluation) -> &'static str {
    let reciprocal = |recall: &Recall| -> Vec<f64> {
        recall.ranks.iter().map(|rank| rank.map_or(0.0, |rank| 1.0 / rank as f64)).collect()
    };
    let usual = reciprocal(&expected.mapped);
    let is_better = |recall: &Recall| {
        let gains: Vec<f64> = reciprocal(recall).iter().zip(&usual).map(|(own, usual)| own - usual).collect();
        is_clearly_positive(&gains, CLEARLY)
    };
    let ways = [("bulk", &expected.bulk), ("latent", &expected.latent), ("indexed", &expected.indexed)];
    let better = ways.into_iter().filter(|(_, recall)| is_better(recall));
    better.max_by(|a, b| a.1.mrr.total_cmp(&b.1.mrr)).map_or("mapped", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_enough_where_the_curve_is_flat_up_to_its_end() {
        let recall = |at: usize| {
            let ranks = (0..100).map(|question| (question < at).then_some(1)).collect();
            Recall::of(ranks, &Bootstrap { resamples: 10, ..Bootstrap::default() })
        };
        let curve = |recalls: &[usize]| -> Vec<PlanPoint> {
            let point = |(at, &found): (usize, &usize)| PlanPoint {
                pairs: 100 << at,
                mapped: recall(found),
                latent: recall(found),
            };
            recalls.iter().enumerate().map(point).collect()
        };
        assert_eq!(enough(&curve(&[40, 50, 60, 60, 61])), Some(400));
        assert_eq!(enough(&curve(&[40, 40, 50, 60, 65])), None);
        assert_eq!(enough(&curve(&[60, 60, 60])), Some(100));
        assert_eq!(enough(&curve(&[60])), None);
    }
}

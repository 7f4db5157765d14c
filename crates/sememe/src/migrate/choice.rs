//! The choice among candidates by what they find for held-out clusters of texts.
//!
//! Held-out cosine and the retrieval of a row's own twin mislead: both are nearly perfect in the domain of the fit for
//! maps that fail in another. So whole clusters of texts are held out, and asked for among all texts, of which those that
//! the fit has seen attract. The questions are those that both models answer alike by themselves: where the nearest other
//! row is the same for both, it is most likely right.
//!
//! The default is left only for a candidate that is clearly better over the clusters. Best of several by a little is
//! often best by accident, and agreement within one domain favours maps that keep all distances.

use rayon::prelude::*;

use super::candidates::Candidate;
use super::confidence::{Confidence, Evidence, NEAREST};
use super::evaluation::nearest_others;
use super::hubs::evenly_spaced;
use super::map::{CandidateScore, Side};
use super::pair_moments::PairMoments;
use super::{Pairs, Question};
use crate::align::is_clearly_positive;
use crate::error::{Error, Result};
use crate::linalg::{Mat, product_of_rows};
use crate::observe::Meter;
use crate::random::Random;
use crate::retrieve::kernel::dot;
use crate::vectors::Matrix;

/// Pairs that the choice looks at, and the number of their clusters and folds.
const SAMPLE: usize = 5000;
const CLUSTERS: usize = 10;
const FOLDS: usize = 5;
/// Rounds of k-means.
const ROUNDS: usize = 10;
/// Standard errors, over the clusters, that count as clearly better.
const CLEARLY: f64 = 3.0;
/// Held-out queries that are compared with all rows at a time.
const QUERIES_AT_A_TIME: usize = 64;

/// What was chosen.
pub(super) struct Choice {
    pub(super) candidate: Candidate,
    /// What all candidates reached.
    pub(super) scores: Vec<CandidateScore>,
    /// Number of held-out pairs, if the default finds the rows of their own texts no better than at random.
    pub(super) at_chance: Option<usize>,
    /// How far the answers of the candidate can be trusted.
    pub(super) confidence: Confidence,
}

/// What a candidate found for held-out rows.
#[derive(Default)]
struct Found {
    /// The cluster of every question, and the reciprocal of the rank of its answer.
    answers: Vec<(usize, f64)>,
    /// By how much the logarithm of the rank of every row's own twin is smaller than at random.
    gains: Vec<f64>,
    /// Whether the first row is that of the model whose queries are asked.
    evidence: Vec<Evidence>,
}

/// The candidate for a map to the space of `to`, which is the first side of the pairs. Queries are mapped to the old
/// space, and the index to the new one.
pub(super) fn choose(
    pairs: &Pairs,
    index: Option<&Mat>,
    (candidates, to): (&[Candidate], Side),
    seed: u64,
    meter: &Meter,
) -> Result<Choice> {
    let sample = Pairs::of_unit(evenly_spaced(pairs.old(), SAMPLE), evenly_spaced(pairs.new_rows(), SAMPLE));
    let clusters = clusters(sample.old(), seed);
    let all: Vec<usize> = (0..sample.len()).collect();
    let of_new = nearest_others(sample.new_rows(), &all, &meter.stopping())?;
    let of_new = answers_of(&of_new, sample.len());
    let of_old = answers_of(&nearest_others(sample.old(), &all, &meter.stopping())?, sample.len());
    let is_shared = |(old, new): (&Option<usize>, &Option<usize>)| if old == new { *old } else { None };
    let answers: Vec<Option<usize>> = of_old.iter().zip(&of_new).map(is_shared).collect();
    let mut found: Vec<Found> = candidates.iter().map(|_| Found::default()).collect();
    let at_random = log_rank_at_random(sample.len());
    for fold in 0..FOLDS {
        let is_held_out = |row: &usize| clusters[*row] % FOLDS == fold;
        let (held_out, seen): (Vec<usize>, Vec<usize>) = all.iter().partition(|row| is_held_out(row));
        if held_out.is_empty() || seen.len() < 2 {
            continue;
        }
        let seen = sample.select(&seen);
        let moments = PairMoments::of(seen.old(), seen.new_rows());
        let under = index.map_or_else(|| Ok(moments.clone()), |index| moments.under(index))?;
        for (candidate, found) in candidates.iter().zip(&mut found) {
            meter.advance(1)?;
            let (rows, queries) = if to == Side::Old {
                let map = candidate.fit_queries(&seen, [&moments, &under], sample.old())?;
                (sample.old().clone(), map.apply(&sample.new_rows().select(&held_out))?)
            } else {
                let map = candidate.fit(&moments, &under)?;
                (map.apply(sample.new_rows())?, sample.old().select(&held_out))
            };
            for (&row, ranks) in held_out.iter().zip(ranks(&rows, &queries, &held_out, &answers)) {
                found.answers.extend(ranks.answer.map(|rank| (clusters[row], 1.0 / rank as f64)));
                found.gains.push(at_random - (ranks.twin as f64).ln());
                found.evidence.push(Evidence::of(&ranks.cosines, ranks.first == of_new[row]));
            }
        }
    }
    let default = candidates.iter().position(|candidate| *candidate == Candidate::Ibfa).unwrap_or(0);
    let usual = found.get(default).ok_or_else(|| Error::NotEnoughData("no candidate can be fitted".to_owned()))?;
    let score = |found: &Found| {
        let sum: f64 = found.answers.iter().map(|(_, reciprocal)| reciprocal).sum();
        100.0 * sum / found.answers.len().max(1) as f64
    };
    let better = (0..candidates.len()).filter(|&at| is_clearly_better(&found[at], usual));
    let best = better.max_by(|&a, &b| score(&found[a]).total_cmp(&score(&found[b])).then(b.cmp(&a)));
    let scores = candidates.iter().zip(&found).map(|(candidate, found)| CandidateScore {
        to,
        method: candidate.method(),
        parameters: candidate.parameters(),
        agreement: score(found),
    });
    let chosen = best.unwrap_or(default);
    Ok(Choice {
        candidate: candidates[chosen],
        scores: scores.collect(),
        confidence: Confidence::fit(&found[chosen].evidence),
        at_chance: (!is_clearly_positive(&usual.gains, CLEARLY)).then_some(usual.gains.len()),
    })
}

/// The units of work of [`choose`].
pub(super) fn units(candidates: usize) -> usize {
    FOLDS * candidates
}

/// The answer to the question of every row, if it has one.
fn answers_of(questions: &[Question], rows: usize) -> Vec<Option<usize>> {
    let mut answers = vec![None; rows];
    questions.iter().for_each(|question| answers[question.query] = Some(question.answer));
    answers
}

/// Ranks from 1 in an index.
struct Ranks {
    /// Of the row of the same text.
    twin: usize,
    /// Of the answer, without that row.
    answer: Option<usize>,
    /// The first row, without that row, and the largest cosines.
    first: Option<usize>,
    cosines: Vec<f32>,
}

/// The ranks of the twins and of the answers of queries.
fn ranks(index: &Matrix, queries: &Matrix, own: &[usize], answers: &[Option<usize>]) -> Vec<Ranks> {
    let of_block = |(block, own): (&[f32], &[usize])| -> Vec<Ranks> {
        let mut cosines = vec![0.0; own.len() * index.rows()];
        product_of_rows(block, index.as_slice(), index.cols(), &mut cosines);
        let rank = |(cosines, &own): (&[f32], &usize)| {
            let above = |row: usize| cosines.iter().filter(|&&cosine| cosine > cosines[row]).count();
            let answer = answers[own].map(|row| 1 + above(row) - usize::from(cosines[own] > cosines[row]));
            let mut others = cosines.to_vec();
            others[own] = f32::NEG_INFINITY;
            let first = (0..others.len()).max_by(|&a, &b| others[a].total_cmp(&others[b]).then(b.cmp(&a)));
            let k = NEAREST.min(others.len() - 1);
            others.select_nth_unstable_by(k, |a, b| b.total_cmp(a));
            others.truncate(k);
            others.sort_unstable_by(|a, b| b.total_cmp(a));
            Ranks { twin: 1 + above(own), answer, first, cosines: others }
        };
        cosines.chunks_exact(index.rows()).zip(own).map(rank).collect()
    };
    let blocks = queries.as_slice().par_chunks(QUERIES_AT_A_TIME * queries.cols());
    blocks.zip(own.par_chunks(QUERIES_AT_A_TIME)).flat_map_iter(of_block).collect()
}

/// The mean logarithm of a rank that is drawn at random.
fn log_rank_at_random(count: usize) -> f64 {
    (1..=count).map(|rank| (rank as f64).ln()).sum::<f64>() / count.max(1) as f64
}

/// Whether a candidate is better than the usual one by several standard errors over clusters. Texts of one cluster are no
/// independent evidence for texts of another domain.
fn is_clearly_better(found: &Found, usual: &Found) -> bool {
    let differences = found.answers.iter().zip(&usual.answers).map(|(own, usual)| (own.0, own.1 - usual.1));
    let mut of_clusters = [(0.0, 0_usize); CLUSTERS];
    for (cluster, difference) in differences {
        of_clusters[cluster].0 += difference;
        of_clusters[cluster].1 += 1;
    }
    let asked: Vec<(f64, f64)> =
        of_clusters.into_iter().filter(|(_, count)| *count > 0).map(|(sum, count)| (sum, count as f64)).collect();
    let (sum, count) = asked.iter().fold((0.0, 0.0), |(sum, count), of| (sum + of.0, count + of.1));
    if asked.len() < 2 || sum <= 0.0 {
        return false;
    }
    let mean = sum / count;
    let squares: f64 = asked.iter().map(|(sum, count)| (sum - count * mean).powi(2)).sum();
    let n = asked.len() as f64;
    mean >= CLEARLY * (squares * n / (n - 1.0)).sqrt() / count
}

/// The cluster of every row, by k-means of directions.
pub(super) fn clusters(rows: &Matrix, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let starts: Vec<usize> = (0..CLUSTERS).map(|_| random.below(rows.rows())).collect();
    let mut centres = rows.select(&starts);
    let mut assigned = vec![0; rows.rows()];
    for _ in 0..ROUNDS {
        for (row, cluster) in assigned.iter_mut().enumerate() {
            let near = |centre: usize| dot(rows.row(row), centres.row(centre));
            *cluster = (0..CLUSTERS).max_by(|&a, &b| near(a).total_cmp(&near(b)).then(b.cmp(&a))).unwrap_or(0);
        }
        let mut sums = vec![0.0_f32; CLUSTERS * rows.cols()];
        for (row, &cluster) in assigned.iter().enumerate() {
            let sum = &mut sums[cluster * rows.cols()..(cluster + 1) * rows.cols()];
            sum.iter_mut().zip(rows.row(row)).for_each(|(sum, x)| *sum += x);
        }
        centres = Matrix::new(sums, rows.cols());
        crate::prepare::scale_to_unit(&mut centres);
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_better_only_over_many_clusters() {
        let found = |better: &dyn Fn(usize) -> f64| Found {
            answers: (0..200).map(|question| (question % CLUSTERS, better(question % CLUSTERS))).collect(),
            ..Found::default()
        };
        let usual = found(&|_| 0.5);
        assert!(is_clearly_better(&found(&|cluster| 0.6 + 0.01 * cluster as f64), &usual));
        // One cluster alone, or nothing, or a loss.
        assert!(!is_clearly_better(&found(&|cluster| if cluster == 3 { 1.0 } else { 0.5 }), &usual));
        assert!(!is_clearly_better(&usual, &usual));
        assert!(!is_clearly_better(&found(&|_| 0.4), &usual));
    }

    #[test]
    fn ranks_are_those_of_the_twin_and_of_the_answer_without_it() {
        let index = Matrix::new(vec![1.0, 0.0, 0.9, 0.1, 0.8, 0.3, 0.0, 1.0], 2);
        let queries = Matrix::new(vec![1.0, 0.0, 0.0, 1.0], 2);
        let ranks = ranks(&index, &queries, &[0, 1], &[Some(2), Some(3), None, None]);
        let ranks: Vec<_> = ranks.iter().map(|ranks| (ranks.twin, ranks.answer)).collect();
        assert_eq!(ranks, [(1, Some(2)), (3, Some(1))]);
    }

    #[test]
    fn clusters_that_are_far_apart_are_told_apart() {
        let mut random = Random::new(5);
        let rows = (0..600).flat_map(|row| {
            let mut vector: Vec<f32> = (0..8).map(|_| 0.05 * random.normal() as f32).collect();
            vector[row % 4] += 1.0;
            vector
        });
        let clusters = clusters(&Matrix::new(rows.collect(), 8), 1);
        // Rows of different directions are never in one cluster.
        for row in 4..600 {
            let other = (row + 1) % 4;
            assert_ne!(clusters[row], clusters[other], "{row}");
        }
    }
}

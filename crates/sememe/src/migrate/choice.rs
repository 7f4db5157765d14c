//! The choice among candidates by the neighbours that they find for held-out clusters.
//!
//! Held-out cosine and the retrieval of a row's own twin mislead: both are nearly perfect in the domain of the fit for
//! maps that fail in another. So whole clusters of texts are held out, and asked for among all texts, of which those that
//! the fit has seen attract. The score is the share of the ten nearest rows that both models find by themselves.

use super::candidates::Candidate;
use super::hubs::evenly_spaced;
use super::map::{CandidateScore, Side};
use super::pair_moments::PairMoments;
use super::{Pairs, hubs};
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::observe::{Meter, Observer};
use crate::random::Random;
use crate::retrieve::{Criterion, Retriever, kernel::dot};
use crate::vectors::Matrix;

/// Pairs that the choice looks at, and the number of their clusters and folds.
const SAMPLE: usize = 2500;
const CLUSTERS: usize = 10;
const FOLDS: usize = 5;
/// Rounds of k-means.
const ROUNDS: usize = 10;
/// Nearest rows that are compared.
const NEAREST: usize = 10;

/// The candidate with the best score for queries of the new model in the old index, and the scores of all.
pub(super) fn choose(
    pairs: &Pairs,
    index: Option<&Mat>,
    (candidates, to): (&[Candidate], Side),
    seed: u64,
    meter: &Meter,
) -> Result<(Candidate, Vec<CandidateScore>)> {
    let sample = Pairs::of_unit(evenly_spaced(pairs.old(), SAMPLE), evenly_spaced(pairs.new_rows(), SAMPLE));
    let observer = &meter.stopping();
    let clusters = clusters(sample.old(), seed);
    let all: Vec<usize> = (0..sample.len()).collect();
    let truths = [
        neighbours(sample.old(), sample.old(), &all, observer)?,
        neighbours(sample.new_rows(), sample.new_rows(), &all, observer)?,
    ];
    let mut agreements = vec![(0_usize, 0_usize); candidates.len()];
    for fold in 0..FOLDS {
        let is_held_out = |row: &usize| clusters[*row] % FOLDS == fold;
        let (held_out, seen): (Vec<usize>, Vec<usize>) = all.iter().partition(|row| is_held_out(row));
        if held_out.is_empty() || seen.len() < 2 {
            continue;
        }
        let seen = sample.select(&seen);
        let moments = PairMoments::of(seen.old(), seen.new_rows());
        let under = index.map_or_else(|| Ok(moments.clone()), |index| moments.under(index))?;
        for (candidate, (found, asked)) in candidates.iter().zip(&mut agreements) {
            meter.advance(1)?;
            let mut map = candidate.fit(&moments, &under)?;
            if matches!(candidate, Candidate::Ibfa(_)) {
                map = hubs::shifted(map, seen.new_rows(), sample.old())?;
            }
            let queries = map.apply(&sample.new_rows().select(&held_out))?;
            let near = neighbours(sample.old(), &queries, &held_out, observer)?;
            for (row, near) in held_out.iter().zip(&near) {
                let both = truths.iter().map(|truth| near.iter().filter(|hit| truth[*row].contains(hit)).count());
                *found += both.sum::<usize>();
                *asked += 2 * near.len();
            }
        }
    }
    let scores: Vec<CandidateScore> = candidates
        .iter()
        .zip(&agreements)
        .map(|(candidate, &(found, asked))| CandidateScore {
            to,
            method: candidate.method(),
            parameters: candidate.parameters(),
            agreement: 100.0 * found as f64 / asked.max(1) as f64,
        })
        .collect();
    let best =
        (0..candidates.len()).max_by(|&a, &b| scores[a].agreement.total_cmp(&scores[b].agreement).then(b.cmp(&a)));
    let best = best.ok_or_else(|| Error::NotEnoughData("no candidate can be fitted".to_owned()))?;
    Ok((candidates[best], scores))
}

/// The units of work of [`choose`].
pub(super) fn units(candidates: usize) -> usize {
    FOLDS * candidates
}

/// The nearest rows of each query, without its own row.
fn neighbours(index: &Matrix, queries: &Matrix, own: &[usize], observer: &dyn Observer) -> Result<Vec<Vec<usize>>> {
    let queries = if queries.rows() == own.len() { queries.clone() } else { queries.select(own) };
    let retriever = Retriever::new(queries.clone(), index.clone(), Criterion::Nn, observer)?;
    let hits = retriever.rank(&queries, (NEAREST + 1).min(index.rows()), observer)?;
    let others = |(hits, own): (&Vec<crate::retrieve::Hit>, &usize)| {
        hits.iter().map(|hit| hit.index).filter(|index| index != own).take(NEAREST).collect()
    };
    Ok(hits.iter().zip(own).map(others).collect())
}

/// The cluster of every row, by k-means of directions.
fn clusters(rows: &Matrix, seed: u64) -> Vec<usize> {
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

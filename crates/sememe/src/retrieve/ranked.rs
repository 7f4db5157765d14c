//! What a retriever finds, in full precision: alone, or as a part of all targets.

use std::collections::HashSet;

use super::best::Scored;
use super::engine::{Found, Ranking, Search};
use super::form::Form;
use super::retriever::{Prepared, check_dimensions, negated, neighbours, only};
use super::rows::{Role, Scaled, squares};
use super::{Criterion, Hit, Retriever, corrected, csls};
use crate::error::{Error, Result};
use crate::observe::{Observer, Stage};
use crate::vectors::Matrix;

/// What a part of the targets says about a query.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PartialHits {
    /// Rows of the best targets of the part and their scores, the best first. Scores of CSLS lack `r(q)`, the mean of the
    /// largest [`PartialHits::near`] of all parts.
    pub hits: Vec<(usize, f64)>,
    /// For CSLS, the largest cosines of the query with targets of the part; empty otherwise.
    pub near: Vec<f64>,
}

/// The best targets of a query.
#[derive(Clone, Default)]
pub(super) struct Ranked {
    found: Vec<Scored>,
    /// The term of the query that does not come from its neighbours.
    own: f64,
    /// The neighbours that `r(q)` of CSLS averages over.
    near: Vec<Scored>,
}

impl Ranked {
    /// `r(q)` of CSLS; 0 for a query without neighbours.
    pub(super) fn mean_of_near(&self) -> f64 {
        csls::mean(self.near.iter().map(|near| near.score))
    }

    pub(super) fn into_hits(self) -> Vec<Hit> {
        let own = if self.near.is_empty() { self.own } else { -self.mean_of_near() };
        self.found.into_iter().map(|Scored { index, score }| Hit { index, score: (score + own) as f32 }).collect()
    }
}

/// Which scores to compute.
#[derive(Clone, Copy)]
pub(super) enum Scores {
    AsDefined,
    /// Without the terms that depend on the query only, which do not change the order.
    WithoutQueryTerm,
}

impl Retriever {
    /// What these targets say about each query where they are a part of all targets: the `k` best, with what is needed to
    /// merge them with those of other parts.
    ///
    /// ```
    /// use sememe::{retrieve::{Criterion, PartialHits, Retriever}, vectors::Matrix};
    ///
    /// let (query, targets) = (Matrix::new(vec![1.0, 0.0], 2), Matrix::new(vec![0.6, 0.8, 0.8, 0.6, 0.0, 1.0], 2));
    /// let part = |rows: &[usize]| Retriever::new(query.clone(), targets.select(rows), Criterion::Nn, &());
    /// let [first, second] = [part(&[0])?, part(&[1, 2])?];
    /// let best = |hits: Vec<PartialHits>| hits[0].hits[0].1;
    /// assert!(best(first.nearest_of_part(&query, 1, &())?) < best(second.nearest_of_part(&query, 1, &())?));
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn nearest_of_part(&self, queries: &Matrix, k: usize, observer: &dyn Observer) -> Result<Vec<PartialHits>> {
        if matches!(self.prepared.criterion, Criterion::Corrected { .. }) {
            let problem = "it ranks all queries together, so that parts of the targets cannot be merged";
            return Err(Error::argument("criterion", self.prepared.criterion, problem));
        }
        let ranked = self.ranked(queries, k, (Scores::AsDefined, &[]), observer)?;
        let partial = |Ranked { found, own, near }: Ranked| PartialHits {
            hits: found.into_iter().map(|Scored { index, score }| (index, score + own)).collect(),
            near: near.into_iter().map(|near| near.score).collect(),
        };
        Ok(ranked.into_iter().map(partial).collect())
    }

    pub(super) fn find(
        &self,
        queries: &Matrix,
        k: usize,
        scores: Scores,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<Hit>>> {
        Ok(self.ranked(queries, k, (scores, &[]), observer)?.into_iter().map(Ranked::into_hits).collect())
    }

    /// The best targets of each query, in full precision. A zero query has none where the criterion uses cosines. The search
    /// is quicker if it is known what is probably near.
    pub(super) fn ranked(
        &self,
        queries: &Matrix,
        k: usize,
        (scores, known): (Scores, &[Vec<usize>]),
        observer: &dyn Observer,
    ) -> Result<Vec<Ranked>> {
        check_dimensions(queries, self.prepared.targets.scaled().matrix())?;
        if k == 0 {
            return Err(Error::argument("k", k, "at least one neighbour must be asked for"));
        }
        let scaled = self.prepared.form.scaled(queries)?;
        if scaled.zeros() == 0 {
            return self.ranked_scaled((queries, &scaled), k, (scores, known), observer);
        }
        let has_direction: Vec<usize> = (0..queries.rows()).filter(|&query| !scaled.is_zero(query)).collect();
        let mut ranked = vec![Ranked::default(); queries.rows()];
        let known: Vec<Vec<usize>> = has_direction.iter().filter_map(|&query| known.get(query).cloned()).collect();
        let found = self.ranked(&queries.select(&has_direction), k, (scores, &known), observer)?;
        has_direction.into_iter().zip(found).for_each(|(query, found)| ranked[query] = found);
        Ok(ranked)
    }

    /// [`Retriever::ranked`] of scaled queries, none of them zero where the criterion uses cosines.
    fn ranked_scaled(
        &self,
        (queries, scaled): (&Matrix, &Scaled),
        k: usize,
        (scores, known): (Scores, &[Vec<usize>]),
        observer: &dyn Observer,
    ) -> Result<Vec<Ranked>> {
        let Prepared { criterion, form, source, targets, bias, .. } = &*self.prepared;
        let ranking = Ranking { scale: 1.0, bias, k, among: usize::MAX };
        let search = |rankings: &[Ranking]| {
            Search { queries: scaled.rows(), targets, rankings, known, observer, stage: Stage::Searching }.run()
        };
        let with = |found: Found, own: Vec<f64>| {
            let ranked = found.into_iter().zip(own).map(|(found, own)| Ranked { found, own, near: Vec::new() });
            ranked.collect::<Vec<_>>()
        };
        let without_own = |found: Found| {
            let own = vec![0.0; found.len()];
            with(found, own)
        };
        Ok(match (form, *criterion, scores) {
            (_, Criterion::Corrected { pool }, _) => {
                // Scaled queries have the same rows as the source, which are perhaps in the coordinates of the pair.
                let source = source.as_ref().expect("kept for this criterion");
                let pool = without(source.matrix(), pool, scaled.matrix());
                let pool = Scaled::directions(pool, 1.0, Role::Sources)?;
                without_own(corrected::nearest(scaled.rows(), pool.rows(), targets.scaled(), k, observer)?)
            }
            (Form::Cosine { length, .. }, Criterion::Csls { k, words }, Scores::AsDefined) => {
                let [found, near] = both(search(&[ranking, neighbours(*length, targets, k, words)])?);
                let ranked = found.into_iter().zip(near).map(|(found, near)| Ranked { found, own: 0.0, near });
                ranked.collect()
            }
            (Form::Pmi(pmi), _, Scores::AsDefined) => with(only(search(&[ranking])?), pmi.of_queries(queries)),
            (_, Criterion::L2, Scores::AsDefined) => {
                with(only(search(&[ranking])?), negated(squares(queries, Role::Queries)?.into_iter()))
            }
            _ => without_own(only(search(&[ranking])?)),
        })
    }
}

fn both(found: Vec<Found>) -> [Found; 2] {
    found.try_into().expect("what two rankings found")
}

/// The first `count` rows, without zero rows and without rows that are among the queries.
fn without(matrix: &Matrix, count: usize, queries: &Matrix) -> Matrix {
    let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let known: HashSet<Vec<u32>> = (0..queries.rows()).map(|row| bits(queries.row(row))).collect();
    let is_new = |row: &usize| {
        let row = matrix.row(*row);
        row.iter().any(|&x| x != 0.0) && !known.contains(&bits(row))
    };
    matrix.select(&(0..count.min(matrix.rows())).filter(is_new).collect::<Vec<_>>())
}

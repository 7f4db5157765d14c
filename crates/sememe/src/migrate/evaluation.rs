//! How well each way of asking an index answers questions with known answers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::asking::{place, query_rows, ranks};
use super::{Confident, MapMethod, MigrationMap, Question, RECALL_AT, Recall, Side};
use crate::error::{Error, Result};
use crate::evaluate::Bootstrap;
use crate::observe::Observer;
use crate::retrieve::Criterion;
use crate::vectors::Matrix;

/// Recall and mean reciprocal rank of every way of asking.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MigrationEvaluation {
    /// Old queries, the old index.
    pub old: Recall,
    /// New queries, an index of all texts by the new model: what computing everything again would give.
    pub new: Recall,
    /// New queries mapped, the old index as it is.
    pub mapped: Recall,
    /// New queries as they are, the old index mapped to the new model's space.
    pub bulk: Recall,
    /// New queries and the old index in the latent space, by cosine.
    pub latent: Recall,
    /// New queries, the old index mapped once: the latent space adapted to the queries, which need no labels, and CSLS
    /// as one more coordinate.
    pub indexed: Recall,
    /// New queries mapped by orthogonal Procrustes.
    pub procrustes: Recall,
    /// New queries mapped by ridge regression.
    pub ridge: Recall,
    /// New queries as they are, as a control; only where both models have vectors of the same length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmapped: Option<Recall>,
    /// How far the answers to mapped queries can be trusted.
    pub confidence: Trust,
    /// Number of questions.
    pub questions: usize,
}

/// The least confidences that an evaluation looks at.
const LEVELS: [f64; 3] = [0.25, 0.5, 0.75];

/// Confidences of mapped queries beside what they found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trust {
    /// The mean confidence in the first answer, in per cent.
    pub expected: f64,
    /// Queries whose first answer is the one of the new model, in per cent.
    pub agreement: f64,
    /// What comes of asking the new index instead, below several confidences.
    pub levels: Vec<TrustLevel>,
}

/// What comes of asking the new model's index instead of the old one where the confidence is too small.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TrustLevel {
    /// The least confidence.
    pub min_confidence: f64,
    /// Questions that are asked of the old index, in per cent.
    pub kept: f64,
    /// Recall of these alone.
    pub of_kept: BTreeMap<usize, f64>,
    /// Recall of all questions, of which the others are asked of the new index.
    pub of_all: BTreeMap<usize, f64>,
}

impl Trust {
    /// `trusted` are the queries of the questions, `answers` what the new model finds first for them.
    fn of(trusted: &[(Confident, Option<usize>)], of_questions: &[f64], mapped: &Recall, new: &Recall) -> Self {
        let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        let expected = trusted.iter().map(|(own, _)| 100.0 * own.confidence).sum::<f64>() / trusted.len().max(1) as f64;
        let agreed = trusted.iter().filter(|(own, answer)| own.row.is_some() && own.row == *answer).count();
        let level = |min_confidence: f64| {
            let kept: Vec<bool> = of_questions.iter().map(|&confidence| confidence >= min_confidence).collect();
            let count = kept.iter().filter(|kept| **kept).count();
            let is_found = |rank: &Option<usize>, at: usize| rank.is_some_and(|rank| rank <= at);
            let of_kept = |at: usize| {
                let found = kept.iter().zip(&mapped.ranks).filter(|(kept, rank)| **kept && is_found(rank, at));
                (at, share(found.count(), count))
            };
            let of_all = |at: usize| {
                let both = mapped.ranks.iter().zip(&new.ranks).zip(&kept);
                let found = both.filter(|((old, new), kept)| is_found(if **kept { old } else { new }, at));
                (at, share(found.count(), kept.len()))
            };
            TrustLevel {
                min_confidence,
                kept: share(count, kept.len()),
                of_kept: RECALL_AT.into_iter().map(of_kept).collect(),
                of_all: RECALL_AT.into_iter().map(of_all).collect(),
            }
        };
        Trust { expected, agreement: share(agreed, trusted.len()), levels: LEVELS.into_iter().map(level).collect() }
    }
}

impl MigrationEvaluation {
    /// All ways of asking by name, in the order of the fields.
    pub fn ways(&self) -> Vec<(&'static str, &Recall)> {
        let MigrationEvaluation { old, new, mapped, bulk, latent, indexed, procrustes, ridge, unmapped, .. } = self;
        let always = [
            ("old", old),
            ("new", new),
            ("mapped", mapped),
            ("bulk", bulk),
            ("latent", latent),
            ("indexed", indexed),
            ("procrustes", procrustes),
            ("ridge", ridge),
        ];
        always.into_iter().chain(unmapped.as_ref().map(|unmapped| ("unmapped", unmapped))).collect()
    }
}

impl MigrationMap {
    /// Asks questions in every way. `old` and `new` are the vectors of the same texts by both models; of the new ones
    /// only the queries are used, but for [`MigrationEvaluation::new`].
    pub fn evaluate(
        &self,
        old: &Matrix,
        new: &Matrix,
        questions: &[Question],
        bootstrap: &Bootstrap,
        observer: &dyn Observer,
    ) -> Result<MigrationEvaluation> {
        check_questions(old, new, questions)?;
        let rows = query_rows(questions);
        let (old_queries, new_queries) = (old.select(&rows), new.select(&rows));
        let ask = |index: &Matrix, queries: &Matrix, criterion: Criterion| -> Result<Recall> {
            Ok(Recall::of(ranks(index, queries, criterion, questions, observer)?, bootstrap))
        };
        let mapped = |method: MapMethod| ask(old, &self.baseline(method)?.apply(&new_queries)?, Criterion::Nn);
        let (latent_index, latent_queries) =
            (self.apply(Side::Old, Side::Latent, old)?, self.apply(Side::New, Side::Latent, &new_queries)?);
        let adapted = self.adapt(old, &new_queries, Some(&rows), observer)?;
        let is_comparable = old.cols() == new.cols();
        let by_new = ask(new, &new_queries, Criterion::Nn)?;
        let by_map = ask(old, &self.apply(Side::New, Side::Old, &new_queries)?, Criterion::Nn)?;
        let answers = nearest_others(new, &rows, observer)?;
        let answer = |row: &usize| {
            let found = answers.binary_search_by_key(row, |question| question.query).ok()?;
            Some(answers[found].answer)
        };
        let confident = self.confidences(old, &new_queries, Some(&rows), observer)?;
        let trusted: Vec<_> = confident.into_iter().zip(rows.iter().map(answer)).collect();
        let of_question = |question: &Question| trusted[place(&rows, question.query)].0.confidence;
        let of_questions: Vec<f64> = questions.iter().map(of_question).collect();
        Ok(MigrationEvaluation {
            confidence: Trust::of(&trusted, &of_questions, &by_map, &by_new),
            old: ask(old, &old_queries, Criterion::Nn)?,
            new: by_new,
            mapped: by_map,
            bulk: ask(&self.apply(Side::Old, Side::New, old)?, &new_queries, Criterion::Nn)?,
            latent: ask(&latent_index, &latent_queries, Criterion::Nn)?,
            indexed: ask(&adapted.index(old)?, &adapted.queries(&new_queries)?, Criterion::Dot)?,
            procrustes: mapped(MapMethod::Procrustes)?,
            ridge: mapped(MapMethod::Ridge)?,
            unmapped: is_comparable.then(|| ask(old, &new_queries, Criterion::Nn)).transpose()?,
            questions: questions.len(),
        })
    }

    /// Agreement with computing everything again, where there are no labelled questions: for so many rows, evenly
    /// spaced, the answer is the nearest other row by the new model alone.
    pub fn agreement_questions(new: &Matrix, count: usize, observer: &dyn Observer) -> Result<Vec<Question>> {
        let count = count.min(new.rows());
        let queries: Vec<usize> = (0..count).map(|at| at * new.rows() / count.max(1)).collect();
        nearest_others(new, &queries, observer)
    }
}

/// Questions whose answers are the nearest other rows of the same index. Rows that have none ask nothing.
pub(super) fn nearest_others(index: &Matrix, rows: &[usize], observer: &dyn Observer) -> Result<Vec<Question>> {
    let retriever = crate::retrieve::Retriever::new(index.clone(), index.clone(), Criterion::Nn, observer)?;
    let hits = retriever.rank(&index.select(rows), 2.min(index.rows()), observer)?;
    let question = |(&query, hits): (&usize, &Vec<crate::retrieve::Hit>)| {
        hits.iter().find(|hit| hit.index != query).map(|hit| Question { query, answer: hit.index })
    };
    Ok(rows.iter().zip(&hits).filter_map(question).collect())
}

/// Returns an error unless both models have as many rows.
pub(super) fn check_rows(old: &Matrix, new: &Matrix) -> Result<()> {
    if old.rows() != new.rows() {
        let problem = format!("the old vectors have {} rows, the new ones {}", old.rows(), new.rows());
        return Err(Error::Request(format!("{problem}: row by row they must be of the same texts")));
    }
    Ok(())
}

/// Returns an error unless there are questions, all of them about rows of both models.
pub(super) fn check_questions(old: &Matrix, new: &Matrix, questions: &[Question]) -> Result<()> {
    check_rows(old, new)?;
    let outside =
        questions.iter().flat_map(|question| [question.query, question.answer]).find(|&row| row >= old.rows());
    match (outside, questions.is_empty()) {
        (Some(row), _) => Err(Error::argument("row of a question", row, format!("there are {} rows", old.rows()))),
        (None, true) => Err(Error::NotEnoughData("there are no questions to ask".to_owned())),
        (None, false) => Ok(()),
    }
}

//! How well each way of asking an index answers questions with known answers.

use serde::Serialize;

use super::asking::{query_rows, ranks};
use super::{MapMethod, MigrationMap, Question, Recall, Side};
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
    /// Number of questions.
    pub questions: usize,
}

impl MigrationEvaluation {
    /// All ways of asking by name, in the order of the fields.
    pub fn ways(&self) -> Vec<(&'static str, &Recall)> {
        let MigrationEvaluation { old, new, mapped, latent, indexed, procrustes, ridge, unmapped, .. } = self;
        let always = [
            ("old", old),
            ("new", new),
            ("mapped", mapped),
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
        Ok(MigrationEvaluation {
            old: ask(old, &old_queries, Criterion::Nn)?,
            new: ask(new, &new_queries, Criterion::Nn)?,
            mapped: ask(old, &self.apply(Side::New, Side::Old, &new_queries)?, Criterion::Nn)?,
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

fn check_questions(old: &Matrix, new: &Matrix, questions: &[Question]) -> Result<()> {
    if old.rows() != new.rows() {
        let problem = format!("the old vectors have {} rows, the new ones {}", old.rows(), new.rows());
        return Err(Error::Request(format!("{problem}: row by row they must be of the same texts")));
    }
    let outside =
        questions.iter().flat_map(|question| [question.query, question.answer]).find(|&row| row >= old.rows());
    match (outside, questions.is_empty()) {
        (Some(row), _) => Err(Error::argument("row of a question", row, format!("there are {} rows", old.rows()))),
        (None, true) => Err(Error::NotEnoughData("there are no questions to ask".to_owned())),
        (None, false) => Ok(()),
    }
}

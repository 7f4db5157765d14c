//! Questions with known answers, and how well an index answers them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::pairs::{numbered_lines, parse_row};
use crate::error::{Error, Place, Result};
use crate::evaluate::Bootstrap;
use crate::observe::Observer;
use crate::retrieve::{Criterion, Retriever};
use crate::vectors::Matrix;

/// A query and its answer, as rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The row of the query.
    pub query: usize,
    /// The row of the right answer.
    pub answer: usize,
}

/// The ranks `k` of recall at `k`.
pub const RECALL_AT: [usize; 2] = [1, 10];
/// Candidates that are looked at: an answer below them counts as not found.
const DEPTH: usize = 10;

/// How well questions are answered, in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recall {
    /// Questions whose answer is among the first 1 and the first 10.
    pub recall: BTreeMap<usize, f64>,
    /// The mean of `100 / rank` over all questions, where an answer below the first 10 counts as 0.
    pub mrr: f64,
    /// 95 % bootstrap intervals of the recall.
    pub intervals: BTreeMap<usize, [f64; 2]>,
    /// The rank of every answer, from 1; `None` below the first 10.
    #[serde(skip)]
    pub ranks: Vec<Option<usize>>,
}

impl Recall {
    /// Sums up the ranks of answers.
    pub fn of(ranks: Vec<Option<usize>>, bootstrap: &Bootstrap) -> Self {
        let hits = |at: usize| -> Vec<f64> {
            ranks.iter().map(|rank| if rank.is_some_and(|rank| rank <= at) { 100.0 } else { 0.0 }).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let reciprocal: Vec<f64> = ranks.iter().map(|rank| rank.map_or(0.0, |rank| 100.0 / rank as f64)).collect();
        let interval = |at: usize| if ranks.is_empty() { [0.0; 2] } else { bootstrap.interval(&hits(at)) };
        Recall {
            recall: RECALL_AT.into_iter().map(|at| (at, mean(&hits(at)))).collect(),
            mrr: mean(&reciprocal),
            intervals: RECALL_AT.into_iter().map(|at| (at, interval(at))).collect(),
            ranks,
        }
    }

    /// Recall at `k`, in per cent.
    pub fn at(&self, k: usize) -> f64 {
        self.recall.get(&k).copied().unwrap_or(0.0)
    }
}

/// Reads questions: a row of a query and the row of its answer a line, separated by a tab or spaces. Every line is one
/// question. `count` is the number of rows that there are.
pub fn read_questions(path: &Path, count: usize) -> Result<Vec<Question>> {
    let mut questions = Vec::new();
    numbered_lines(path, |number, line| {
        let wrong = |problem: String| Error::malformed(path, Place::Line(number), problem);
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[query, answer] = &fields[..] else {
            let problem = "needs two numbers, the row of a query and the row of its answer, with a tab between them";
            return Err(wrong(problem.to_owned()));
        };
        let (query, answer) = (parse_row(query, count).map_err(wrong)?, parse_row(answer, count).map_err(wrong)?);
        if query == answer {
            return Err(wrong(format!("the row {query} is its own answer; a query's own row is never found")));
        }
        questions.push(Question { query, answer });
        Ok(())
    })?;
    match questions.is_empty() {
        true => Err(Error::malformed(path, Place::Whole, "holds no questions")),
        false => Ok(questions),
    }
}

/// The rows of all queries, each once, in order.
pub(super) fn query_rows(questions: &[Question]) -> Vec<usize> {
    let mut rows: Vec<usize> = questions.iter().map(|question| question.query).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The place of a query's row among [`query_rows`].
pub(super) fn place(rows: &[usize], query: usize) -> usize {
    rows.binary_search(&query).expect("all queries are listed")
}

/// The rank of every answer in an index from which the query's own row is left out. `queries` are the vectors of
/// [`query_rows`], in the coordinates of the index.
pub(super) fn ranks(
    index: &Matrix,
    queries: &Matrix,
    criterion: Criterion,
    questions: &[Question],
    observer: &dyn Observer,
) -> Result<Vec<Option<usize>>> {
    let rows = query_rows(questions);
    let retriever = Retriever::new(queries.clone(), index.clone(), criterion, observer)?;
    // One more, as the own row of the query is among them.
    let hits = retriever.rank(queries, (DEPTH + 1).min(index.rows()), observer)?;
    let rank = |&Question { query, answer }: &Question| {
        let hits = &hits[place(&rows, query)];
        let others = hits.iter().filter(|hit| hit.index != query).take(DEPTH);
        others.zip(1..).find(|(hit, _)| hit.index == answer).map(|(_, rank)| rank)
    };
    Ok(questions.iter().map(rank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_row_of_a_query_is_left_out_and_every_line_counts() {
        let index = Matrix::new(vec![1.0, 0.0, 0.9, 0.1, 0.8, 0.3, 0.0, 1.0], 2);
        let question = |query, answer| Question { query, answer };
        let questions = [question(0, 1), question(0, 2), question(3, 2), question(0, 1)];
        let queries = index.select(&query_rows(&questions));
        let ranks = ranks(&index, &queries, Criterion::Nn, &questions, &()).unwrap();
        assert_eq!(ranks, [Some(1), Some(2), Some(1), Some(1)]);
        let recall = Recall::of(ranks, &Bootstrap::default());
        assert_eq!((recall.at(1), recall.at(10), recall.mrr), (75.0, 100.0, 87.5));
    }

    #[test]
    fn files_of_questions_are_checked_line_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queries.tsv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_questions(&path, 4).map_err(|error| error.to_string())
        };
        assert_eq!(read("0\t3\n2 1\n").unwrap().len(), 2);
        for (text, place) in [("0\t4\n", "line 1"), ("0\t1\n2\n", "line 2"), ("1\t1", "line 1"), ("a\tb", "line 1")] {
            let error = read(text).unwrap_err();
            assert!(error.contains(place), "{error}");
        }
        assert!(read("\n").is_err());
    }
}

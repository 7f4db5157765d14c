//! Exact nearest neighbours of rows on many machines.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, Int32Array, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::column::{BATCHES, Column, ColumnNames, ids};
use crate::error::{Error, Result};
use crate::observe::Observer;
use crate::retrieve::{Criterion, Hit, PartialHits, Retriever};
use crate::tables::damaged;
use crate::vectors::Matrix;

/// The names of the columns of results.
const QUERY: &str = "query";
const RANK: &str = "rank";
const TARGET: &str = "target";
const SCORE: &str = "score";
const NEAR: &str = "near";
const COSINES: &str = "cosines";

/// Rows of record batches with their ids. A row without a vector is left out.
struct IdRows {
    ids: ArrayRef,
    vectors: Matrix,
}

impl IdRows {
    /// Reads a column of ids and one of vectors; `None` if there is no vector.
    fn read(batches: &[RecordBatch], id: &str, vector: &str) -> Result<Option<Self>> {
        let column = Column::read(batches, ColumnNames { vector, id: Some(id) }, None, 1)?;
        let Some(column) = column.filter(|column| column.vectors.rows() > 0) else { return Ok(None) };
        let parts = batches.iter().map(|batch| ids(batch, id)).collect::<Result<Vec<_>>>()?;
        let all = concat(&parts.iter().map(|part| &**part).collect::<Vec<_>>()).map_err(failed)?;
        let present: UInt64Array =
            (0_u64..).zip(&column.is_present).filter(|(_, is)| **is).map(|(row, _)| Some(row)).collect();
        let ids = match present.len() == all.len() {
            true => all,
            false => take(&all, &present, None).map_err(failed)?,
        };
        if let Some(row) = (0..ids.len()).find(|&row| ids.is_null(row)) {
            let problem = format!("null in the row of vector {}", row + 1);
            return Err(Error::argument("id", problem, format!("the column {id:?} must name every row")));
        }
        Ok(Some(IdRows { ids, vectors: column.vectors }))
    }

    /// The ids of some rows.
    fn take(&self, rows: impl Iterator<Item = usize>) -> Result<ArrayRef> {
        let rows: UInt64Array = rows.map(|row| Some(row as u64)).collect();
        take(&self.ids, &rows, None).map_err(failed)
    }
}

fn failed(error: ArrowError) -> Error {
    damaged(Path::new(BATCHES), error)
}

/// Targets of a search, prepared once for any number of batches of queries. Equal scores are in the order of the targets.
pub struct Targets {
    rows: IdRows,
    retriever: Retriever,
    id: String,
    vector: String,
}

/// Which targets are at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// All of them, so that scores are final: columns `query`, `rank`, `target`, `score` (float32).
    OfAll,
    /// A part, whose results are merged with those of other parts: the best `score` (float64) wins, and equal scores go to
    /// the lower target. For CSLS a further column, `near`, has the largest cosines of the query with targets of this part, in the
    /// row of its first rank. The mean of the largest ones of all parts is subtracted from all scores in the end.
    OfPart,
}

/// Targets that were found for a query.
type Rows = Vec<usize>;
/// The largest cosines of a query.
type Cosines = Vec<f64>;

impl Targets {
    /// Prepares targets, which have ids in one column and vectors in another; `None` if there are none. For CSLS either
    /// all `queries` must be given, or `terms`: minus the mean of the [`largest_cosines`] of each target with all queries.
    pub fn new(
        batches: &[RecordBatch],
        [id, vector]: [&str; 2],
        criterion: Criterion,
        queries: Option<&[RecordBatch]>,
        terms: Option<Vec<f64>>,
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        check(criterion)?;
        let is_csls = matches!(criterion, Criterion::Csls { .. });
        if is_csls != (queries.is_some() || terms.is_some()) {
            let expected = if is_csls { "it needs all queries, or terms of the targets" } else { "it uses no queries" };
            return Err(Error::argument("criterion", criterion, expected));
        }
        let Some(rows) = IdRows::read(batches, id, vector)? else { return Ok(None) };
        let source = match queries {
            None => rows.vectors.clone(),
            Some(queries) => match IdRows::read(queries, id, vector)? {
                Some(queries) => queries.vectors,
                None => return Ok(None),
            },
        };
        let builder = Retriever::builder(source, rows.vectors.clone(), criterion);
        let builder = match terms {
            Some(terms) => builder.terms(terms),
            None => builder,
        };
        let retriever = builder.build(observer)?;
        Ok(Some(Targets { rows, retriever, id: id.to_owned(), vector: vector.to_owned() }))
    }

    /// The `k` nearest targets of each query, which is a row of a batch with the same columns.
    pub fn top_k(
        &self,
        batches: &[RecordBatch],
        k: usize,
        found: Found,
        observer: &dyn Observer,
    ) -> Result<Option<RecordBatch>> {
        let Some(queries) = IdRows::read(batches, &self.id, &self.vector)? else { return Ok(None) };
        let (hits, near, scores): (Vec<Rows>, Option<Vec<Cosines>>, ArrayRef) = match found {
            Found::OfAll => {
                let hits = self.retriever.nearest(&queries.vectors, k, observer)?;
                let scores: Float32Array = hits.iter().flatten().map(|hit| Some(hit.score)).collect();
                let rows = |hits: &Vec<Hit>| hits.iter().map(|hit| hit.index).collect();
                (hits.iter().map(rows).collect(), None, Arc::new(scores))
            }
            Found::OfPart => {
                let hits = self.retriever.nearest_of_part(&queries.vectors, k, observer)?;
                let scores: Float64Array =
                    hits.iter().flat_map(|found| &found.hits).map(|(_, score)| Some(*score)).collect();
                let rows = |found: &PartialHits| found.hits.iter().map(|(row, _)| *row).collect();
                let is_csls = matches!(self.retriever.criterion(), Criterion::Csls { .. });
                let near = is_csls.then(|| hits.iter().map(|found| found.near.clone()).collect());
                (hits.iter().map(rows).collect(), near, Arc::new(scores))
            }
        };
        let of_queries = hits.iter().enumerate().flat_map(|(query, rows)| rows.iter().map(move |_| query));
        let ranks: Int32Array = hits.iter().flat_map(|rows| 1..=rows.len() as i32).map(Some).collect();
        let mut columns = vec![
            (QUERY, queries.take(of_queries)?),
            (RANK, Arc::new(ranks) as ArrayRef),
            (TARGET, self.rows.take(hits.iter().flatten().copied())?),
            (SCORE, scores),
        ];
        if let Some(near) = near {
            let lists = near.iter().zip(&hits).flat_map(|(near, hits)| {
                let first = (!hits.is_empty()).then_some(Some(near));
                first.into_iter().chain(std::iter::repeat_n(None, hits.len().saturating_sub(1)))
            });
            columns.push((NEAR, lists_of(lists.map(|near| near.map(Vec::as_slice)))));
        }
        batch(columns).map(Some)
    }

    /// Number of zero targets, which are never found where the criterion uses cosines.
    pub fn zero_targets(&self) -> usize {
        self.retriever.zero_targets()
    }
}

/// The `n` largest cosines of each row with the rows of `among`, largest first: the columns are that of ids, and `cosines`.
/// The columns of ids and vectors have the same names in both. `None` if either has no vectors.
pub fn largest_cosines(
    batches: &[RecordBatch],
    among: &[RecordBatch],
    [id, vector]: [&str; 2],
    n: usize,
    observer: &dyn Observer,
) -> Result<Option<RecordBatch>> {
    let (rows, among) = (IdRows::read(batches, id, vector)?, IdRows::read(among, id, vector)?);
    let (Some(rows), Some(among)) = (rows, among) else { return Ok(None) };
    let retriever = Retriever::new(rows.vectors.clone(), among.vectors, Criterion::Nn, observer)?;
    let found = retriever.nearest_of_part(&rows.vectors, n, observer)?;
    let cosines: Vec<Vec<f64>> =
        found.into_iter().map(|found| found.hits.into_iter().map(|(_, score)| score).collect()).collect();
    batch(vec![(id, rows.ids), (COSINES, lists_of(cosines.iter().map(|cosines| Some(&cosines[..]))))]).map(Some)
}

/// Refuses criteria that need an order of the rows, or cannot be merged.
fn check(criterion: Criterion) -> Result<()> {
    let problem = match criterion {
        Criterion::Nn | Criterion::Dot | Criterion::L2 | Criterion::Csls { words: None, .. } => return Ok(()),
        Criterion::Csls { .. } => "rows have no order here, so that there are no first words; use all",
        _ => "on record batches there are nn, csls, dot and l2",
    };
    Err(Error::argument("criterion", criterion, problem))
}

fn lists_of<'a>(lists: impl Iterator<Item = Option<&'a [f64]>>) -> ArrayRef {
    let mut builder = ListBuilder::new(Float64Builder::new());
    for list in lists {
        match list {
            Some(numbers) => builder.append_value(numbers.iter().copied().map(Some)),
            None => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(failed)
}

//! Search results as a table.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field};

use super::{TableFormat, batch, table};
use crate::error::Result;

/// Writes the rows that were found for each query, `k` of them, nearest first: `query` and `target` (row numbers from 0),
/// `rank` from 1, and `score`. A negative target is none, and left out.
///
/// ```
/// use sememe::tables::{TableFormat, write_neighbors};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("nearest.parquet");
/// write_neighbors(&[4, 1, 7, -1], &[0.9, 0.8, 0.7, f32::NAN], 2, "nn", &path, TableFormat::Parquet)?;
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn write_neighbors(
    targets: &[i64],
    scores: &[f32],
    k: usize,
    criterion: &str,
    path: &Path,
    format: TableFormat,
) -> Result<()> {
    table(path, format, columns(targets, scores, k), &metadata(criterion))
}

/// The columns that [`write_neighbors`] writes.
pub fn neighbors_batch(targets: &[i64], scores: &[f32], k: usize, criterion: &str) -> RecordBatch {
    batch(columns(targets, scores, k), &metadata(criterion))
}

fn metadata(criterion: &str) -> [(&'static str, String); 1] {
    [("sememe.criterion", criterion.to_owned())]
}

fn columns(targets: &[i64], scores: &[f32], k: usize) -> Vec<(Field, ArrayRef)> {
    let found: Vec<usize> = (0..targets.len()).filter(|&place| targets[place] >= 0).collect();
    let queries: Int64Array = found.iter().map(|place| Some((place / k) as i64)).collect();
    let ranks: Int32Array = found.iter().map(|place| Some((place % k) as i32 + 1)).collect();
    let rows: Int64Array = found.iter().map(|&place| Some(targets[place])).collect();
    let scores: Float32Array = found.iter().map(|&place| Some(scores[place])).collect();
    vec![
        (Field::new("query", DataType::Int64, false), Arc::new(queries)),
        (Field::new("rank", DataType::Int32, false), Arc::new(ranks)),
        (Field::new("target", DataType::Int64, false), Arc::new(rows)),
        (Field::new("score", DataType::Float32, false), Arc::new(scores)),
    ]
}

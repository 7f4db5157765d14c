//! Vectors in a column of several record batches.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};

use crate::error::{Error, Place, Result};
use crate::tables::{Lists, damaged, find_column, find_vector_column};
use crate::vectors::{MAX_DIMENSION, Matrix};

/// What record batches are called in errors.
pub(super) const BATCHES: &str = "the record batches";

/// A column of vectors, and the column of ids by which errors name rows.
#[derive(Clone, Copy)]
pub(super) struct ColumnNames<'a> {
    pub(super) vector: &'a str,
    pub(super) id: Option<&'a str>,
}

/// The vectors of a column.
pub(super) struct Column {
    /// Those that are not null.
    pub(super) vectors: Matrix,
    /// Whether each row has one.
    pub(super) is_present: Vec<bool>,
}

impl Column {
    /// Reads a column. The dimension is that of the first vector unless it is known; without both there is no vector at all,
    /// and the result is `None`. Rows are counted from `first_row`.
    pub(super) fn read(
        batches: &[RecordBatch],
        names: ColumnNames<'_>,
        dim: Option<usize>,
        first_row: u64,
    ) -> Result<Option<Self>> {
        let mut values = Vec::new();
        let mut is_present = Vec::new();
        let (mut dim, mut converted) = (dim, Vec::new());
        for batch in batches {
            let cells = Cells::of(batch, names.vector)?;
            for row in 0..batch.num_rows() {
                if cells.is_missing(row) {
                    is_present.push(false);
                    continue;
                }
                let number = first_row + is_present.len() as u64;
                let failed = |problem: String| unusable(batch, names, row, number, &problem);
                let vector = cells.get(row, &mut converted).map_err(&failed)?;
                let expected = *dim.get_or_insert(vector.len());
                if vector.len() != expected {
                    return Err(failed(format!("has {} numbers, and others have {expected}", vector.len())));
                }
                if expected > MAX_DIMENSION {
                    return Err(failed(format!("has {expected} numbers; there may be {MAX_DIMENSION}")));
                }
                if !vector.iter().all(|x| x.is_finite()) {
                    return Err(failed("has NaN or infinity; null says that a vector is missing".to_owned()));
                }
                if values.is_empty() {
                    values.reserve_exact(batches.iter().map(RecordBatch::num_rows).sum::<usize>() * expected);
                }
                values.extend_from_slice(vector);
                is_present.push(true);
            }
        }
        Ok(dim.map(|dim| Column { vectors: Matrix::new(values, dim), is_present }))
    }
}

/// The error for a vector that cannot be used.
fn unusable(batch: &RecordBatch, names: ColumnNames<'_>, row: usize, number: u64, problem: &str) -> Error {
    let id = names.id.and_then(|id| id_text(batch, id, row).ok()).map_or(String::new(), |id| format!(" (id {id})"));
    let problem = format!("the vector in the column {:?}{id} {problem}", names.vector);
    Error::malformed(Path::new(BATCHES), Place::Row(number), problem)
}

/// The id of a row, for messages.
fn id_text(batch: &RecordBatch, id: &str, row: usize) -> Result<String> {
    let ids = ids(batch, id)?.slice(row, 1);
    let text = crate::tables::Texts::new(Path::new(BATCHES), &ids)?;
    Ok(text.get(0).unwrap_or("null").to_owned())
}

/// The column of ids.
pub(super) fn ids(batch: &RecordBatch, id: &str) -> Result<ArrayRef> {
    find_column(Path::new(BATCHES), &batch.schema(), id).map(|place| batch.column(place).clone())
}

/// The cells of a column of vectors.
enum Cells {
    Lists(Lists),
    Spark(StructArray),
}

impl Cells {
    fn of(batch: &RecordBatch, name: &str) -> Result<Self> {
        let path = Path::new(BATCHES);
        let column = batch.column(find_vector_column(path, &batch.schema(), name)?);
        let Some(vectors) = column.as_struct_opt() else { return Lists::new(path, column).map(Cells::Lists) };
        let [kinds, sizes, indices, values] = vectors.columns() else {
            return Err(damaged(path, "a vector of Spark has four fields"));
        };
        let is_sound = kinds.as_primitive_opt::<Int8Type>().is_some()
            && sizes.as_primitive_opt::<Int32Type>().is_some()
            && indices.as_list_opt::<i32>().is_some_and(|list| list.values().as_primitive_opt::<Int32Type>().is_some())
            && values
                .as_list_opt::<i32>()
                .is_some_and(|list| list.values().as_primitive_opt::<Float64Type>().is_some());
        match is_sound {
            true => Ok(Cells::Spark(vectors.clone())),
            false => Err(damaged(path, format_args!("vectors of type {}", column.data_type()))),
        }
    }

    fn is_missing(&self, row: usize) -> bool {
        match self {
            Cells::Lists(lists) => lists.is_missing(row),
            Cells::Spark(vectors) => vectors.is_null(row),
        }
    }

    /// The vector of a row that is not null.
    fn get<'a>(&'a self, row: usize, converted: &'a mut Vec<f32>) -> std::result::Result<&'a [f32], String> {
        match self {
            Cells::Lists(lists) => lists.get(row, converted).map_err(|_| "is empty or has nulls".to_owned()),
            Cells::Spark(vectors) => spark_vector(vectors, row, converted),
        }
    }
}

/// A dense or sparse vector of Spark.
fn spark_vector<'a>(
    vectors: &StructArray,
    row: usize,
    converted: &'a mut Vec<f32>,
) -> std::result::Result<&'a [f32], String> {
    let values = vectors.column(3).as_list::<i32>().value(row);
    let values = values.as_primitive::<Float64Type>().values();
    converted.clear();
    if vectors.column(0).as_primitive::<Int8Type>().value(row) == 1 {
        converted.extend(values.iter().map(|&x| x as f32));
    } else {
        let size = usize::try_from(vectors.column(1).as_primitive::<Int32Type>().value(row)).unwrap_or(0);
        if size > MAX_DIMENSION {
            return Err(format!("has {size} numbers; there may be {MAX_DIMENSION}"));
        }
        converted.resize(size, 0.0);
        let indices = vectors.column(2).as_list::<i32>().value(row);
        for (&index, &value) in indices.as_primitive::<Int32Type>().values().iter().zip(values) {
            let place = usize::try_from(index).ok().and_then(|index| converted.get_mut(index));
            *place.ok_or_else(|| format!("is sparse with the index {index}, but {size} numbers"))? = value as f32;
        }
    }
    match converted.is_empty() {
        true => Err("is empty".to_owned()),
        false => Ok(converted),
    }
}

//! Projection of record batches to the latent space.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, ListArray, RecordBatch};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema};

use super::column::{BATCHES, Column, ColumnNames};
use crate::align::Alignment;
use crate::error::{Error, Result};
use crate::tables::damaged;

/// A column of vectors, the view of the model that it is of, and the column of their latent vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The index of the view.
    pub view: usize,
    /// The column of vectors.
    pub column: String,
    /// The name of the column of latent vectors.
    pub output: String,
}

/// The latent vectors of columns, and no other columns: lists of float32, null where a vector is null. Errors name rows by the
/// column `id`, if there is one.
pub fn project(
    batch: &RecordBatch,
    alignment: &Alignment,
    projections: &[Projection],
    id: Option<&str>,
) -> Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for Projection { view, column, output } in projections {
        let model = alignment.model.views.get(*view);
        let model = model.ok_or_else(|| {
            Error::argument("view", view, format!("the model has {}, counted from 0", alignment.model.views.len()))
        })?;
        let names = ColumnNames { vector: column, id };
        let batches = std::slice::from_ref(batch);
        let read = Column::read(batches, names, Some(model.dim()), 1)?.expect("the dimension is known");
        let latent = match read.vectors.rows() {
            0 => Vec::new(),
            _ => model.project(&alignment.prepare(*view, read.vectors)?)?.into_vec(),
        };
        let latent = lists(latent, alignment.model.latent(), &read.is_present)?;
        fields.push(Field::new(output, list_type(), true));
        columns.push(latent);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| damaged(BATCHES.as_ref(), error))
}

/// Lists of variable size, which every engine has.
fn list_type() -> DataType {
    DataType::List(item())
}

fn item() -> Arc<Field> {
    Arc::new(Field::new(crate::tables::ITEM, DataType::Float32, true))
}

/// Vectors of equal length as lists, and nulls between them.
fn lists(values: Vec<f32>, dim: usize, is_present: &[bool]) -> Result<ArrayRef> {
    let too_long = || Error::argument("record batch", format!("of {} rows", is_present.len()), "give smaller ones");
    if i32::try_from(values.len()).is_err() {
        return Err(too_long());
    }
    let offsets = OffsetBuffer::from_lengths(is_present.iter().map(|&is| if is { dim } else { 0 }));
    let nulls = NullBuffer::from(is_present.to_vec());
    let numbers = Arc::new(Float32Array::from(values));
    let lists = ListArray::try_new(item(), offsets, numbers, Some(nulls));
    Ok(Arc::new(lists.map_err(|error| damaged(BATCHES.as_ref(), error))?))
}

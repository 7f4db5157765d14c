//! Vectors in a column of an Arrow record batch.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use half::slice::HalfFloatSliceExt;

use super::damaged;
use crate::error::{Reason, Result};

/// The vectors of a column in one record batch.
pub(crate) struct Lists {
    numbers: Numbers,
    /// Where a number is null.
    nulls: Option<NullBuffer>,
    shape: Shape,
    /// Where a vector is null.
    null_rows: Option<NullBuffer>,
    rows: usize,
}

enum Numbers {
    F16(ScalarBuffer<half::f16>),
    F32(ScalarBuffer<f32>),
    F64(ScalarBuffer<f64>),
}

/// Where vectors begin and end.
enum Shape {
    Fixed(usize),
    Small(ScalarBuffer<i32>),
    Large(ScalarBuffer<i64>),
}

/// Numbers that a matrix can borrow.
pub(crate) type SharedNumbers = Arc<dyn AsRef<[f32]> + Send + Sync>;

/// Numbers that an Arrow array owns.
struct Owned(ScalarBuffer<f32>);

impl AsRef<[f32]> for Owned {
    fn as_ref(&self) -> &[f32] {
        &self.0
    }
}

impl Lists {
    pub(crate) fn new(path: &Path, array: &ArrayRef) -> Result<Self> {
        let (values, shape) = match array.data_type() {
            DataType::FixedSizeList(_, size) => {
                let size = usize::try_from(*size).map_err(|_| damaged(path, "vectors of a negative length"))?;
                (array.as_fixed_size_list().values(), Shape::Fixed(size))
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                (list.values(), Shape::Small(list.offsets().inner().clone()))
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                (list.values(), Shape::Large(list.offsets().inner().clone()))
            }
            other => return Err(damaged(path, format_args!("vectors of type {other}"))),
        };
        let numbers = match values.data_type() {
            DataType::Float16 => Numbers::F16(values.as_primitive::<Float16Type>().values().clone()),
            DataType::Float32 => Numbers::F32(values.as_primitive::<Float32Type>().values().clone()),
            DataType::Float64 => Numbers::F64(values.as_primitive::<Float64Type>().values().clone()),
            other => return Err(damaged(path, format_args!("vectors of {other}"))),
        };
        let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        let null_rows = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        Ok(Lists { numbers, nulls, shape, null_rows, rows: array.len() })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no vector in a row: null, unlike an empty list or one with nulls inside.
    pub(crate) fn is_missing(&self, row: usize) -> bool {
        self.null_rows.as_ref().is_some_and(|rows| rows.is_null(row))
    }

    fn range(&self, row: usize) -> (usize, usize) {
        match &self.shape {
            Shape::Fixed(size) => (row * size, (row + 1) * size),
            Shape::Small(offsets) => (offsets[row] as usize, offsets[row + 1] as usize),
            Shape::Large(offsets) => (offsets[row] as usize, offsets[row + 1] as usize),
        }
    }

    /// The vector of a row, converted into `converted` if it is not float32.
    pub(crate) fn get<'a>(&'a self, row: usize, converted: &'a mut Vec<f32>) -> std::result::Result<&'a [f32], Reason> {
        let (start, end) = self.range(row);
        let has_null = |nulls: &NullBuffer| (start..end).any(|at| nulls.is_null(at));
        if self.is_missing(row) || start == end || self.nulls.as_ref().is_some_and(has_null) {
            return Err(Reason::Null);
        }
        converted.clear();
        match &self.numbers {
            Numbers::F32(numbers) => return Ok(&numbers[start..end]),
            Numbers::F16(numbers) => {
                converted.resize(end - start, 0.0);
                numbers[start..end].convert_to_f32_slice(converted);
            }
            Numbers::F64(numbers) => converted.extend(numbers[start..end].iter().map(|&x| x as f32)),
        }
        Ok(converted)
    }

    /// All vectors without a copy and their dimension, if they are float32, equally long and contiguous.
    pub(crate) fn contiguous(&self) -> Option<(SharedNumbers, usize)> {
        let (Numbers::F32(numbers), None, None, 1..) = (&self.numbers, &self.nulls, &self.null_rows, self.rows) else {
            return None;
        };
        let (start, end) = self.range(0);
        let dim = end - start;
        let is_regular = |row: usize| self.range(row) == (start + row * dim, start + (row + 1) * dim);
        (dim > 0 && (0..self.rows).all(is_regular)).then(|| {
            let numbers = numbers.slice(start, self.rows * dim);
            (Arc::new(Owned(numbers)) as SharedNumbers, dim)
        })
    }
}

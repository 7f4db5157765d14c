//! The rows of a file of any size, read segment by segment.

use std::path::{Path, PathBuf};

use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;

use super::Precision;
use super::segments::{Form, Segment};
use crate::error::{Error, Place, Result};
use crate::files::{Input, Output, little_endian};
use crate::migrate::Route;
use crate::migrate::affine::not_finite;
use crate::observe::Meter;
#[cfg(feature = "parquet")]
use crate::tables::{Lists, Table, VectorColumns, mapped_schema, mapped_vectors, part_writer};
use crate::tensors::TensorFile;
use crate::vectors::array::{Array, Element};
use crate::vectors::{Format, Matrix, ROWS_AT_A_TIME, npy, safetensors};

/// Rows that are mapped at a time.
const ROWS: usize = 8192;
/// Rows of a table that are decoded and mapped at a time. Buffers of more are given back to the system and asked for again
/// every time.
const TABLE_ROWS: usize = 1024;
/// Rows that are looked at to tell the model.
const SAMPLE: usize = 1000;

/// An open file of vectors.
pub(super) struct Source {
    path: PathBuf,
    rows: Rows,
}

enum Rows {
    Array(Array),
    #[cfg(feature = "parquet")]
    Table(TableRows),
}

#[cfg(feature = "parquet")]
struct TableRows {
    table: Table,
    vector: usize,
    dim: usize,
    precision: Precision,
    rows: usize,
}

impl Source {
    pub(super) fn open(path: &Path, columns: Option<&[String]>) -> Result<Self> {
        let input = Input::open_with(path, true)?;
        let format = Format::detect(&input)?;
        if columns.is_some() && !matches!(format, Format::Parquet | Format::Arrow) {
            return Err(Error::argument("columns", columns.unwrap_or_default().join(","), "this file is no table"));
        }
        let rows = match format {
            Format::Npy => Rows::Array(npy::array(&input)?),
            Format::Safetensors => Rows::Array(safetensors::array(&TensorFile::read(&input)?)?),
            #[cfg(feature = "parquet")]
            Format::Parquet | Format::Arrow => Rows::Table(TableRows::open(Table::open(&input)?, columns)?),
            other => {
                let problem = format!(
                    "is of format {other}, which is read as a whole; convert it to .npy, .safetensors, .parquet or .arrow"
                );
                return Err(Error::malformed(path, Place::Whole, problem));
            }
        };
        Ok(Source { path: path.to_owned(), rows })
    }

    pub(super) fn dim(&self) -> usize {
        match &self.rows {
            Rows::Array(array) => array.shape().1,
            #[cfg(feature = "parquet")]
            Rows::Table(table) => table.dim,
        }
    }

    /// The precision of the file, where it can be written.
    pub(super) fn precision(&self) -> Precision {
        match &self.rows {
            Rows::Array(array) if array.element() == Element::F16 => Precision::F16,
            Rows::Array(_) => Precision::F32,
            #[cfg(feature = "parquet")]
            Rows::Table(table) => table.precision,
        }
    }

    /// Some rows, by which the model is told.
    pub(super) fn sample(&self) -> Result<Matrix> {
        match &self.rows {
            Rows::Array(array) => {
                let (rows, dim) = array.shape();
                let count = SAMPLE.min(rows);
                let values = (0..count).flat_map(|at| {
                    let row = at * rows / count;
                    array.decode_rows(row..row + 1)
                });
                Ok(Matrix::new(values.collect(), dim))
            }
            #[cfg(feature = "parquet")]
            Rows::Table(table) => {
                let Some(batch) = table.table.batches(&[table.vector])?.next() else {
                    return Err(Error::malformed(&self.path, Place::Whole, "has no rows"));
                };
                let lists = Lists::new(&self.path, batch?.column(0))?;
                self.vectors(&lists, 0, lists.len().min(SAMPLE))
            }
        }
    }

    /// The segments, for rows of so many bytes in the output.
    pub(super) fn segments(&self, row_bytes: usize) -> Vec<Segment> {
        match &self.rows {
            Rows::Array(array) => Segment::of_rows(array.shape().0, row_bytes),
            #[cfg(feature = "parquet")]
            Rows::Table(table) => match table.table.group_rows() {
                Some(groups) => Segment::of_groups(&groups, row_bytes),
                None => vec![Segment { number: 0, first: 0, rows: table.rows, groups: Vec::new() }],
            },
        }
    }

    /// Maps the rows of a segment and writes them to a file.
    pub(super) fn map_segment(
        &self,
        segment: &Segment,
        map: &Route,
        (form, precision): (Form, Precision),
        path: &Path,
        meter: &Meter,
    ) -> Result<()> {
        let mut writer = SegmentWriter::create(path, self, map.to_dim(), (form, precision))?;
        match &self.rows {
            Rows::Array(array) => {
                let end = segment.first + segment.rows;
                for first in (segment.first..end).step_by(ROWS) {
                    let last = end.min(first + ROWS);
                    let mapped = self.mapped(Matrix::new(array.decode_rows(first..last), self.dim()), map, first)?;
                    writer.write(&mapped, precision, None)?;
                    meter.advance(last - first)?;
                }
            }
            #[cfg(feature = "parquet")]
            Rows::Table(table) => {
                let columns: Vec<usize> = (0..table.table.schema().fields().len()).collect();
                let mut first = segment.first;
                for batch in table.table.batches_of_groups(&columns, segment.groups.clone(), TABLE_ROWS)? {
                    let batch = batch?;
                    let lists = Lists::new(&self.path, batch.column(table.vector))?;
                    let mapped = self.mapped(self.vectors(&lists, first, lists.len())?, map, first)?;
                    writer.write(&mapped, precision, Some((&batch, table.vector)))?;
                    meter.advance(batch.num_rows())?;
                    first += batch.num_rows();
                }
                if first != segment.first + segment.rows {
                    let problem = "has other numbers of rows than it declares: fetch or write it again";
                    return Err(Error::malformed(&self.path, Place::Whole, problem));
                }
            }
        }
        writer.finish()
    }

    fn mapped(&self, rows: Matrix, map: &Route, first: usize) -> Result<Matrix> {
        let mut mapped = vec![0.0; rows.rows() * map.to_dim()];
        let blocks = mapped.par_chunks_mut(ROWS_AT_A_TIME * map.to_dim());
        let blocks = blocks.zip(rows.as_slice().par_chunks(ROWS_AT_A_TIME * map.from_dim())).enumerate();
        let wrong = blocks.filter_map(|(number, (mapped, rows))| {
            map.apply_block(rows, mapped).err().map(|row| first + number * ROWS_AT_A_TIME + row)
        });
        match wrong.min() {
            Some(row) => Err(self.wrong_row(row)),
            None => Ok(Matrix::new(mapped, map.to_dim())),
        }
    }

    fn wrong_row(&self, row: usize) -> Error {
        not_finite(row).within(self.path.display().to_string())
    }

    /// The first `count` vectors of a record batch, whose first row has the number `first`.
    #[cfg(feature = "parquet")]
    fn vectors(&self, lists: &Lists, first: usize, count: usize) -> Result<Matrix> {
        let dim = self.dim();
        let mut values = Vec::with_capacity(count * dim);
        let mut converted = Vec::new();
        for row in 0..count {
            let wrong = |problem: String| Error::malformed(&self.path, Place::Row((first + row + 1) as u64), problem);
            let vector = lists
                .get(row, &mut converted)
                .map_err(|_| wrong("has no vector, or one with nulls; leave such rows out".to_owned()))?;
            if vector.len() != dim {
                return Err(wrong(format!("has a vector of length {}; the first one has {dim}", vector.len())));
            }
            values.extend_from_slice(vector);
        }
        Ok(Matrix::new(values, dim))
    }
}

#[cfg(feature = "parquet")]
impl TableRows {
    fn open(table: Table, columns: Option<&[String]>) -> Result<Self> {
        use arrow_schema::DataType;
        let path = table.path().to_owned();
        let vector = match columns {
            None => VectorColumns::only_vectors(&path, table.schema())?.vector,
            names => VectorColumns::find(&path, table.schema(), names)?.vector,
        };
        let item = match table.schema().field(vector).data_type() {
            DataType::FixedSizeList(item, _) | DataType::List(item) | DataType::LargeList(item) => {
                item.data_type().clone()
            }
            _ => DataType::Float32,
        };
        let precision = if item == DataType::Float16 { Precision::F16 } else { Precision::F32 };
        let (mut dim, mut rows) = (0, 0);
        for batch in table.batches(&[vector])? {
            let lists = Lists::new(&path, batch?.column(0))?;
            if dim == 0 && lists.len() > 0 {
                dim = lists.get(0, &mut Vec::new()).map_or(0, <[f32]>::len);
            }
            rows += lists.len();
            // Only a file that does not declare its rows is counted.
            if let Some(declared) = table.declared_rows().filter(|_| dim > 0) {
                rows = usize::try_from(declared).unwrap_or(usize::MAX);
                break;
            }
        }
        match dim {
            0 => Err(Error::malformed(&path, Place::Whole, "has no vector in its first row")),
            _ => Ok(TableRows { table, vector, dim, precision, rows }),
        }
    }
}

/// Writes the rows of a segment.
enum SegmentWriter {
    Bytes(Output),
    #[cfg(feature = "parquet")]
    Table(Box<crate::tables::TableWriter>),
}

impl SegmentWriter {
    fn create(path: &Path, source: &Source, dim: usize, (form, precision): (Form, Precision)) -> Result<Self> {
        match form {
            Form::Npy | Form::Safetensors => Ok(SegmentWriter::Bytes(Output::create(path)?)),
            #[cfg(feature = "parquet")]
            Form::Table(format) => {
                let is_half = precision == Precision::F16;
                let schema = match &source.rows {
                    Rows::Array(_) => mapped_schema(None, dim, is_half),
                    Rows::Table(table) => mapped_schema(Some((table.table.schema(), table.vector)), dim, is_half),
                };
                Ok(SegmentWriter::Table(Box::new(part_writer(path, format, schema)?)))
            }
        }
    }

    /// Writes mapped rows, and the other columns of the record batch that they are from.
    fn write(&mut self, mapped: &Matrix, precision: Precision, batch: Batch) -> Result<()> {
        match self {
            SegmentWriter::Bytes(output) => match precision {
                Precision::F32 => output.write_all(&little_endian(mapped.as_slice())),
                Precision::F16 => {
                    let mut half = vec![f16::ZERO; mapped.as_slice().len()];
                    half.convert_from_f32_slice(mapped.as_slice());
                    output.write_all(&half.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
                }
            },
            #[cfg(feature = "parquet")]
            SegmentWriter::Table(writer) => {
                let vectors = mapped_vectors(mapped.as_slice(), mapped.cols(), precision == Precision::F16);
                let columns = match batch {
                    None => vec![vectors],
                    Some((batch, vector)) => {
                        let mut columns = batch.columns().to_vec();
                        columns[vector] = vectors;
                        columns
                    }
                };
                writer.write(columns)
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            SegmentWriter::Bytes(output) => output.finish_in_cache(),
            #[cfg(feature = "parquet")]
            SegmentWriter::Table(writer) => writer.finish_in_cache(),
        }
    }
}

/// The record batch of some rows and its column of vectors, if they are from a table.
#[cfg(feature = "parquet")]
type Batch<'a> = Option<(&'a arrow_array::RecordBatch, usize)>;
#[cfg(not(feature = "parquet"))]
type Batch<'a> = Option<&'a ()>;

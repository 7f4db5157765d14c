//! Tables written in parts and joined without decoding them, and columns of mapped vectors.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Float16Array, Float32Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use half::f16;
use half::slice::HalfFloatSliceExt;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::parquet::ParquetFile;
use super::write::{ITEM, failed};
use super::{Table, TableFormat, TableWriter, VECTOR, parquet::parquet_error};
use crate::error::Result;
use crate::files::Input;

/// The type of a column of mapped vectors.
fn mapped_type(dim: usize, is_half: bool) -> DataType {
    let number = if is_half { DataType::Float16 } else { DataType::Float32 };
    DataType::FixedSizeList(Arc::new(Field::new(ITEM, number, false)), dim as i32)
}

/// The schema of a table whose column of vectors is mapped, or of a new one of vectors alone.
pub(crate) fn mapped_schema(read: Option<(&SchemaRef, usize)>, dim: usize, is_half: bool) -> SchemaRef {
    let Some((schema, vector)) = read else {
        return Arc::new(Schema::new(vec![Field::new(VECTOR, mapped_type(dim, is_half), false)]));
    };
    let field = |(column, field): (usize, &Arc<Field>)| match column == vector {
        true => Arc::new(Field::new(field.name(), mapped_type(dim, is_half), false)),
        false => field.clone(),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().enumerate().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A column of mapped vectors of this length, one after the other.
pub(crate) fn mapped_vectors(rows: &[f32], dim: usize, is_half: bool) -> ArrayRef {
    let numbers: ArrayRef = match is_half {
        true => {
            let mut half = vec![f16::ZERO; rows.len()];
            half.convert_from_f32_slice(rows);
            Arc::new(Float16Array::from(half))
        }
        false => Arc::new(Float32Array::from_iter_values(rows.iter().copied())),
    };
    let DataType::FixedSizeList(item, size) = mapped_type(dim, is_half) else { unreachable!("it is a list") };
    Arc::new(FixedSizeListArray::new(item, size, numbers, None))
}

/// A writer of a part of a table.
pub(crate) fn part_writer(path: &Path, format: TableFormat, schema: SchemaRef) -> Result<TableWriter> {
    TableWriter::of_schema(path, format, schema)
}

/// Joins parts of the same schema. Row groups of Parquet are copied as they are.
pub(crate) fn join<W: Write + Send>(parts: &[PathBuf], path: &Path, format: TableFormat, output: W) -> Result<W> {
    match format {
        TableFormat::Parquet => join_parquet(parts, path, output),
        TableFormat::Arrow => {
            let tables = parts.iter().map(|part| Table::open(&Input::open_with(part, true)?));
            let tables = tables.collect::<Result<Vec<_>>>()?;
            let schema = tables.first().map_or_else(|| Arc::new(Schema::empty()), |table| table.schema().clone());
            let columns: Vec<usize> = (0..schema.fields().len()).collect();
            let mut writer = FileWriter::try_new(output, &schema).map_err(|error| failed(path, error))?;
            for table in &tables {
                for batch in table.batches(&columns)? {
                    writer.write(&batch?).map_err(|error| failed(path, error))?;
                }
            }
            writer.into_inner().map_err(|error| failed(path, error))
        }
    }
}

fn join_parquet<W: Write + Send>(parts: &[PathBuf], path: &Path, output: W) -> Result<W> {
    let open = |part: &PathBuf| ParquetFile::open(part, Input::open(part)?.pieces(false)?);
    let first = open(&parts[0])?;
    let about = first.metadata().file_metadata();
    let properties = WriterProperties::builder().set_key_value_metadata(about.key_value_metadata().cloned()).build();
    let wrong = |error: parquet::errors::ParquetError| failed(path, error);
    let schema = Arc::new(about.schema().clone());
    let mut writer = SerializedFileWriter::new(output, schema, Arc::new(properties)).map_err(wrong)?;
    for part in parts {
        let file = open(part)?;
        for group in file.metadata().row_groups() {
            let mut joined = writer.next_row_group().map_err(wrong)?;
            for column in group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: group.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                joined.append_column(file.pieces(), close).map_err(|error| parquet_error(part, &error))?;
            }
            joined.close().map_err(wrong)?;
        }
    }
    writer.into_inner().map_err(wrong)
}

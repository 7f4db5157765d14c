//! Tables as files, which appear under their names when they are complete.

use std::collections::HashMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, LargeStringArray, RecordBatch, StringArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, Result};
use crate::files::Output;

/// The name under which lists hold their items, by convention of Arrow.
pub(crate) const ITEM: &str = "item";
/// The key of the version of sememe in the metadata of a table.
const VERSION_KEY: &str = "sememe.version";
/// Bytes of a row group: enough to be read quickly, and several of them can be decoded in parallel.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Numbers of half precision that are handed to the writer of Parquet at a time. It makes an object of 32 bytes of each: few
/// of them stay in the cache, and their memory is not given back to the system and asked for again every time.
const HALF_NUMBERS_AT_A_TIME: usize = 1 << 14;

/// The file formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// Parquet.
    Parquet,
    /// An Arrow IPC file, also known as Feather.
    Arrow,
}

impl TableFormat {
    /// The format of a table to write, by the extension of the file name; `None` if it is no table.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" => Some(TableFormat::Parquet),
            "arrow" | "feather" | "ipc" => Some(TableFormat::Arrow),
            _ => None,
        }
    }
}

/// Writes record batches to a file. Dropped before [`TableWriter::finish`], it leaves nothing behind.
pub(crate) struct TableWriter {
    path: PathBuf,
    schema: SchemaRef,
    writer: Writer,
    /// Rows that are handed to the writer of Parquet at a time, if not all.
    rows_at_a_time: Option<usize>,
}

enum Writer {
    Parquet(Box<ArrowWriter<Output>>),
    Arrow(Box<FileWriter<Output>>),
}

impl TableWriter {
    /// Creates a table of these columns. The metadata are written together with the version of sememe.
    pub(crate) fn create(path: &Path, format: TableFormat, fields: Vec<Field>, metadata: &Metadata) -> Result<Self> {
        Self::of_schema(path, format, Arc::new(schema(fields, metadata)))
    }

    /// Creates a table of a schema that was read from another one.
    pub(crate) fn of_schema(path: &Path, format: TableFormat, schema: SchemaRef) -> Result<Self> {
        let output = Output::create(path)?;
        let writer = match format {
            TableFormat::Parquet => {
                let writer = ArrowWriter::try_new(output, schema.clone(), Some(properties(&schema)));
                Writer::Parquet(Box::new(writer.map_err(|error| failed(path, error))?))
            }
            TableFormat::Arrow => {
                let writer = FileWriter::try_new(output, &schema);
                Writer::Arrow(Box::new(writer.map_err(|error| failed(path, error))?))
            }
        };
        let rows_at_a_time = half_numbers_of_a_row(&schema).map(|count| (HALF_NUMBERS_AT_A_TIME / count).max(1));
        Ok(TableWriter { path: path.to_owned(), schema, writer, rows_at_a_time })
    }

    /// Appends rows. Their columns must be those that the table was created with.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        let path = &self.path;
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(|error| failed(path, error))?;
        match &mut self.writer {
            Writer::Parquet(writer) => {
                let count = self.rows_at_a_time.unwrap_or(usize::MAX).min(batch.num_rows()).max(1);
                let mut parts = (0..batch.num_rows()).step_by(count);
                parts.try_for_each(|first| {
                    let part = batch.slice(first, count.min(batch.num_rows() - first));
                    writer.write(&part).map_err(|error| failed(path, error))
                })
            }
            Writer::Arrow(writer) => writer.write(&batch).map_err(|error| failed(path, error)),
        }
    }

    /// Completes the file, which appears under its name.
    pub(crate) fn finish(self) -> Result<()> {
        self.into_output()?.finish()
    }

    /// Completes a file that can be made again; see [`Output::finish_in_cache`].
    pub(crate) fn finish_in_cache(self) -> Result<()> {
        self.into_output()?.finish_in_cache()
    }

    fn into_output(self) -> Result<Output> {
        let path = &self.path;
        match self.writer {
            Writer::Parquet(writer) => writer.into_inner().map_err(|error| failed(path, error)),
            Writer::Arrow(writer) => writer.into_inner().map_err(|error| failed(path, error)),
        }
    }
}

/// Keys and values that describe a table.
pub(crate) type Metadata = [(&'static str, String)];

/// Writes a table whose columns are at hand.
pub(crate) fn table(
    path: &Path,
    format: TableFormat,
    columns: Vec<(Field, ArrayRef)>,
    metadata: &Metadata,
) -> Result<()> {
    let (fields, columns) = columns.into_iter().unzip();
    let mut writer = TableWriter::create(path, format, fields, metadata)?;
    writer.write(columns)?;
    writer.finish()
}

/// The columns of a table in memory. Panics unless they are equally long.
pub(crate) fn batch(columns: Vec<(Field, ArrayRef)>, metadata: &Metadata) -> RecordBatch {
    let (fields, columns) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(schema(fields, metadata)), columns).expect("columns of the same length")
}

/// The schema of a table of these columns.
pub(crate) fn schema(fields: Vec<Field>, metadata: &Metadata) -> Schema {
    let version = (VERSION_KEY, env!("CARGO_PKG_VERSION").to_owned());
    let metadata = metadata.iter().cloned().chain([version]);
    Schema::new_with_metadata(fields, metadata.map(|(key, value)| (key.to_owned(), value)).collect::<HashMap<_, _>>())
}

/// The length of the longest vectors of half precision among the columns, if there are any.
fn half_numbers_of_a_row(schema: &Schema) -> Option<usize> {
    let of_field = |field: &Arc<Field>| match field.data_type() {
        DataType::FixedSizeList(item, size) if item.data_type() == &DataType::Float16 => usize::try_from(*size).ok(),
        _ => None,
    };
    schema.fields().iter().filter_map(of_field).filter(|&count| count > 0).max()
}

pub(super) fn properties(schema: &Schema) -> WriterProperties {
    let row_bytes = |field: &Field| match field.data_type() {
        DataType::FixedSizeList(_, size) => size_of::<f32>() * usize::try_from(*size).unwrap_or(0),
        _ => 16,
    };
    let bytes: usize = schema.fields().iter().map(|field| row_bytes(field)).sum();
    let mut properties = WriterProperties::builder()
        .set_compression(compression())
        .set_max_row_group_row_count(Some((ROW_GROUP_BYTES / bytes.max(1)).max(1)));
    for field in schema.fields() {
        let DataType::FixedSizeList(item, _) = field.data_type() else { continue };
        // Numbers that hardly repeat: a dictionary of them, or the least of them, is of no use.
        let path = ColumnPath::new(vec![field.name().clone(), "list".to_owned(), ITEM.to_owned()]);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path.clone(), EnabledStatistics::None);
        if item.data_type() == &DataType::Float16 {
            // A tenth of the size is not worth the time: these are written where there are very many.
            properties = properties.set_column_compression(path, Compression::UNCOMPRESSED);
        }
    }
    properties.build()
}

/// What tables are compressed with. Every reader of Parquet knows both.
fn compression() -> Compression {
    match cfg!(feature = "zstd") {
        true => Compression::ZSTD(Default::default()),
        false => Compression::SNAPPY,
    }
}

pub(super) fn failed(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::write(path, io::Error::other(error))
}

/// A column of words.
pub(crate) fn words_column<'a>(words: impl Iterator<Item = &'a str> + Clone) -> ArrayRef {
    let is_small = words.clone().map(str::len).sum::<usize>() < i32::MAX as usize;
    match is_small {
        true => Arc::new(StringArray::from_iter_values(words)),
        false => Arc::new(LargeStringArray::from_iter_values(words)),
    }
}

/// The type of a column of vectors.
pub(crate) fn vector_type(dim: usize) -> DataType {
    DataType::FixedSizeList(Arc::new(Field::new(ITEM, DataType::Float32, false)), dim as i32)
}

/// A column of vectors that shares numbers with `owner`, which keeps them in place. Panics when they are not whole rows.
pub(crate) fn vectors_column<O: Send + Sync + 'static>(owner: O, numbers: fn(&O) -> &[f32], dim: usize) -> ArrayRef {
    let owner = Arc::new(AssertUnwindSafe(owner));
    let slice = numbers(&owner);
    let (start, len) = (NonNull::from(slice).cast::<u8>(), size_of_val(slice));
    // SAFETY: the numbers are in memory of the owner, which the buffer keeps and which nobody changes while it is shared.
    let buffer = unsafe { Buffer::from_custom_allocation(start, len, owner) };
    let numbers = Float32Array::new(ScalarBuffer::from(buffer), None);
    let DataType::FixedSizeList(item, size) = vector_type(dim) else { unreachable!("it is a list") };
    Arc::new(FixedSizeListArray::new(item, size, Arc::new(numbers), None))
}

//! Tables: Parquet and Arrow IPC files, read column by column and written as record batches of Arrow.
//!
//! Vectors, dictionaries and results are tables of some columns. This module knows files and columns; what the columns
//! mean is said where they are used. It needs the Cargo feature `parquet`.

mod columns;
mod ipc;
mod joined;
mod lists;
mod neighbors;
mod page_headers;
mod pages;
mod parquet;
mod texts;
mod write;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, SchemaRef};

pub(crate) use self::columns::{
    VECTOR, VectorColumns, WORD, find_column, find_text_columns, find_vector_column, is_text, is_vector, listed,
};
use self::ipc::{ArrowBatches, ArrowFile};
pub(crate) use self::joined::{join, mapped_schema, mapped_vectors, part_writer};
pub(crate) use self::lists::Lists;
pub use self::neighbors::{neighbors_batch, write_neighbors};
pub(crate) use self::pages::{Levels, ListPages, PageDecoder};
use self::parquet::{ParquetBatches, ParquetFile};
pub(crate) use self::texts::Texts;
pub use self::write::TableFormat;
pub(crate) use self::write::{
    ITEM, Metadata, TableWriter, batch, schema, table, vector_type, vectors_column, words_column,
};
use crate::error::{Error, Place, Result};
use crate::files::Input;

/// Rows of a record batch that is decoded from Parquet.
const BATCH_ROWS: usize = 8192;

/// The beginning of a Parquet file.
pub(crate) const PARQUET_MAGIC: &[u8] = b"PAR1";

/// An open table.
pub(crate) struct Table {
    path: PathBuf,
    file: File,
}

enum File {
    Parquet(ParquetFile),
    Arrow(ArrowFile),
}

impl Table {
    /// Opens a Parquet file or an Arrow IPC file or stream, and reads its schema.
    pub(crate) fn open(input: &Input) -> Result<Self> {
        let path = input.path();
        let is_parquet = input.head(PARQUET_MAGIC.len())? == PARQUET_MAGIC;
        // The numbers of a Parquet file are decoded in any case: pages of a map would only take memory beside them.
        let pieces = input.pieces(!is_parquet)?;
        let file = guarded(path, || match is_parquet {
            true => ParquetFile::open(path, pieces).map(File::Parquet),
            false => ArrowFile::open(path, pieces).map(File::Arrow),
        })?;
        Ok(Table { path: path.to_owned(), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        match &self.file {
            File::Parquet(file) => file.schema(),
            File::Arrow(file) => file.schema(),
        }
    }

    /// Number of rows that the file declares, if it does.
    pub(crate) fn declared_rows(&self) -> Option<u64> {
        match &self.file {
            File::Parquet(file) => Some(file.rows()),
            File::Arrow(_) => None,
        }
    }

    /// Size of the file after decompression of the file as a whole. Its parts may be compressed by themselves.
    pub(crate) fn len(&self) -> u64 {
        match &self.file {
            File::Parquet(file) => file.len(),
            File::Arrow(file) => file.len(),
        }
    }

    /// The pages of a column of lists, if the file is Parquet.
    pub(crate) fn list_pages(&self, column: usize) -> Option<Result<(ListPages<'_>, PageDecoder<'_>)>> {
        match &self.file {
            File::Parquet(file) => Some(guarded(&self.path, || file.list_pages(column))),
            File::Arrow(_) => None,
        }
    }

    /// Number of rows of every part that can be read by itself: the row groups of Parquet. `None` for other files.
    pub(crate) fn group_rows(&self) -> Option<Vec<usize>> {
        match &self.file {
            File::Parquet(file) => Some(file.group_rows()),
            File::Arrow(_) => None,
        }
    }

    /// [`Table::batches`] of some row groups of a Parquet file, or of the whole of another one.
    pub(crate) fn batches_of_groups(&self, columns: &[usize], groups: Vec<usize>, rows: usize) -> Result<Batches<'_>> {
        let batches = guarded(&self.path, || match &self.file {
            File::Parquet(file) => file.batches_of_groups(columns, groups, rows).map(Source::Parquet),
            File::Arrow(file) => Ok(Source::Arrow(file.batches(columns))),
        })?;
        Ok(Batches { path: &self.path, source: batches })
    }

    /// The rows of some columns, in the order in which these are given.
    pub(crate) fn batches(&self, columns: &[usize]) -> Result<Batches<'_>> {
        let batches = guarded(&self.path, || match &self.file {
            File::Parquet(file) => file.batches(columns).map(Source::Parquet),
            File::Arrow(file) => Ok(Source::Arrow(file.batches(columns))),
        })?;
        Ok(Batches { path: &self.path, source: batches })
    }
}

/// Record batches of a file.
pub(crate) struct Batches<'a> {
    path: &'a Path,
    source: Source<'a>,
}

enum Source<'a> {
    Parquet(ParquetBatches),
    Arrow(ArrowBatches<'a>),
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let (path, source) = (self.path, &mut self.source);
        guarded(path, || match source {
            Source::Parquet(batches) => batches.next(path),
            Source::Arrow(batches) => batches.next(path),
        })
        .transpose()
    }
}

thread_local! {
    /// Whether this thread runs a decoder, whose panics are errors of the file.
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder of files. Should it panic on a damaged one in spite of its own checks, that is an error of the file, and
/// nothing is printed.
pub(crate) fn guarded<T>(path: &Path, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !DECODES.get() {
                before(panic)
            }
        }));
    });
    let is_within = DECODES.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODES.set(is_within);
    decoded.unwrap_or_else(|_| Err(damaged(path, "its content contradicts itself")))
}

/// The error for a file that cannot be decoded.
pub(crate) fn damaged(path: &Path, problem: impl std::fmt::Display) -> Error {
    let problem = format!("cannot be read as a table ({problem}); it is damaged or cut off: fetch or write it again");
    Error::malformed(path, Place::Whole, problem)
}

fn arrow_error(path: &Path, error: &ArrowError) -> Error {
    match error {
        ArrowError::NotYetImplemented(problem) => unsupported(path, problem),
        ArrowError::InvalidArgumentError(problem) if problem.contains("feature") => unsupported(path, problem),
        _ => damaged(path, error),
    }
}

/// The error for a valid file that uses something that this build cannot read.
fn unsupported(path: &Path, problem: &str) -> Error {
    let problem =
        format!("cannot be read: {problem}; write it without that, for instance compressed with zstd or snappy");
    Error::malformed(path, Place::Whole, problem)
}

/// Whether numbers of this type make vectors.
fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

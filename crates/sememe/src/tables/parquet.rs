//! Parquet files: the footer, and columns as record batches.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::pages::{ListPages, PageDecoder};
use super::{BATCH_ROWS, arrow_error, damaged, page_headers, unsupported};
use crate::error::{Error, Result};
use crate::files::{PieceReader, Pieces};

impl Length for Pieces {
    fn len(&self) -> u64 {
        Pieces::len(self)
    }
}

impl ChunkReader for Pieces {
    type T = BufReader<PieceReader>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(self.reader(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.at(start, length).map_err(|error| ParquetError::EOF(error.to_string()))
    }
}

/// An open Parquet file.
pub(super) struct ParquetFile {
    path: PathBuf,
    pieces: Pieces,
    metadata: ArrowReaderMetadata,
}

impl ParquetFile {
    pub(super) fn open(path: &Path, pieces: Pieces) -> Result<Self> {
        let options = ArrowReaderOptions::new();
        let metadata = ArrowReaderMetadata::load(&pieces, options).map_err(|error| parquet_error(path, &error))?;
        Ok(ParquetFile { path: path.to_owned(), pieces, metadata })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// The footer.
    pub(super) fn metadata(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    /// The content of the file.
    pub(super) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Number of rows that the footer declares.
    pub(super) fn rows(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    pub(super) fn len(&self) -> u64 {
        self.pieces.len()
    }

    /// Number of rows of each row group.
    pub(super) fn group_rows(&self) -> Vec<usize> {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    pub(super) fn batches(&self, columns: &[usize]) -> Result<ParquetBatches> {
        self.batches_of_groups(columns, (0..self.group_rows().len()).collect(), BATCH_ROWS)
    }

    /// The rows of some row groups.
    pub(super) fn batches_of_groups(
        &self,
        columns: &[usize],
        groups: Vec<usize>,
        rows: usize,
    ) -> Result<ParquetBatches> {
        let schema = self.metadata.parquet_schema();
        let leaves = (0..schema.num_columns()).filter(|&leaf| columns.contains(&schema.get_column_root_idx(leaf)));
        for (leaf, &group) in leaves.flat_map(|leaf| groups.iter().map(move |group| (leaf, group))) {
            page_headers::check(&self.path, &self.pieces, self.metadata.metadata().row_group(group).column(leaf))?;
        }
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.pieces.clone(), self.metadata.clone())
            .with_projection(mask)
            .with_batch_size(rows)
            .with_row_groups(groups)
            .build()
            .map_err(|error| parquet_error(&self.path, &error))?;
        // A projection keeps the order of the file.
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let order = columns.iter().filter_map(|column| sorted.binary_search(column).ok()).collect();
        Ok(ParquetBatches { reader, order })
    }

    pub(super) fn list_pages(&self, column: usize) -> Result<(ListPages<'_>, PageDecoder<'_>)> {
        ListPages::new(&self.path, &self.pieces, self.metadata.metadata(), column)
    }
}

pub(super) struct ParquetBatches {
    reader: ParquetRecordBatchReader,
    order: Vec<usize>,
}

impl ParquetBatches {
    pub(super) fn next(&mut self, path: &Path) -> Result<Option<RecordBatch>> {
        let batch = self.reader.next().transpose().map_err(|error| arrow_error(path, &error))?;
        batch.map(|batch| batch.project(&self.order).map_err(|error| damaged(path, error))).transpose()
    }
}

pub(super) fn parquet_error(path: &Path, error: &ParquetError) -> Error {
    match error {
        ParquetError::NYI(problem) => unsupported(path, problem),
        ParquetError::General(problem) if problem.contains("feature") => unsupported(path, problem),
        _ => damaged(path, error),
    }
}

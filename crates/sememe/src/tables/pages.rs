//! The pages of a column of lists in a Parquet file.
//!
//! A column of lists is one run of numbers with two levels each: the repetition level says where a list begins, the
//! definition level what is null. Pages are decoded in parallel, whatever the size of the row groups, and without
//! building arrays of lists: the numbers go from a page to the rows of one matrix.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use half::f16;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, DoubleType, FixedLenByteArrayType, FloatType};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;

use super::parquet::parquet_error;
use super::{damaged, guarded, page_headers};
use crate::error::Result;
use crate::files::{Pieces, most_unpacked};

/// Numbers that are decoded at a time, by all threads together.
const BLOCK_VALUES: usize = 4 << 20;

/// The pages of one column of lists, in order.
pub(crate) struct ListPages<'a> {
    path: &'a Path,
    pieces: Arc<Pieces>,
    metadata: &'a ParquetMetaData,
    leaf: usize,
    /// The next row group.
    group: usize,
    /// What is left of the current one.
    pages: Option<SerializedPageReader<Pieces>>,
    dictionary: Option<Page>,
    starts_group: bool,
}

/// Decodes pages of one column.
pub(crate) struct PageDecoder<'a> {
    path: &'a Path,
    column: ColumnDescPtr,
}

/// A page that is not decoded yet.
pub(crate) struct LoadedPage {
    dictionary: Option<Page>,
    page: Page,
    starts_group: bool,
}

impl LoadedPage {
    /// Its size, decompressed.
    pub(crate) fn len(&self) -> usize {
        self.page.buffer().len()
    }
}

/// The content of a page.
pub(crate) struct Levels {
    /// Whether it is the first of a row group, where a list begins in any case.
    pub(crate) starts_group: bool,
    /// Zero where a list begins.
    pub(crate) repetition: Vec<i16>,
    /// [`Levels::present`] where there is a number, less for a null and for an empty list.
    pub(crate) definition: Vec<i16>,
    pub(crate) present: i16,
    /// The numbers that are not null.
    pub(crate) values: Vec<f32>,
}

impl<'a> ListPages<'a> {
    pub(super) fn new(
        path: &'a Path,
        pieces: &Pieces,
        metadata: &'a ParquetMetaData,
        root: usize,
    ) -> Result<(Self, PageDecoder<'a>)> {
        let schema = metadata.file_metadata().schema_descr();
        let leaves: Vec<usize> =
            (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == root).collect();
        let &[leaf] = &leaves[..] else {
            return Err(damaged(path, "a column of vectors has several columns inside"));
        };
        let column = schema.column(leaf);
        if column.max_rep_level() != 1 {
            return Err(damaged(path, "a column of vectors is not one of plain lists"));
        }
        let pages = ListPages {
            path,
            pieces: Arc::new(pieces.clone()),
            metadata,
            leaf,
            group: 0,
            pages: None,
            dictionary: None,
            starts_group: false,
        };
        Ok((pages, PageDecoder { path, column }))
    }

    /// The next pages, decompressed: enough to keep all threads busy. None at the end.
    pub(crate) fn load(&mut self) -> Result<Vec<LoadedPage>> {
        let mut loaded = Vec::new();
        let mut values = 0;
        while values < BLOCK_VALUES {
            let path = self.path;
            let Some(page) = guarded(path, || self.next_page())? else { break };
            values += page.page.num_values() as usize;
            loaded.push(page);
        }
        Ok(loaded)
    }

    fn next_page(&mut self) -> Result<Option<LoadedPage>> {
        let failed = |error| parquet_error(self.path, &error);
        loop {
            let Some(pages) = &mut self.pages else {
                if self.group == self.metadata.num_row_groups() {
                    return Ok(None);
                }
                let group = self.metadata.row_group(self.group);
                let rows =
                    usize::try_from(group.num_rows()).map_err(|_| damaged(self.path, "a row group has no size"))?;
                page_headers::check(self.path, &self.pieces, group.column(self.leaf))?;
                let pages = SerializedPageReader::new(self.pieces.clone(), group.column(self.leaf), rows, None);
                self.pages = Some(pages.map_err(failed)?);
                self.group += 1;
                self.dictionary = None;
                self.starts_group = true;
                continue;
            };
            match pages.get_next_page().map_err(failed)? {
                None => self.pages = None,
                Some(page) if page.is_dictionary_page() => self.dictionary = Some(page),
                Some(page) => {
                    let bytes = u64::from(page.num_values()) * size_of::<f32>() as u64;
                    if bytes > most_unpacked(self.pieces.len()) {
                        return Err(damaged(self.path, format_args!("a page declares {} values", page.num_values())));
                    }
                    let needs_dictionary =
                        matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
                    let dictionary = self.dictionary.clone().filter(|_| needs_dictionary);
                    return Ok(Some(LoadedPage {
                        dictionary,
                        page,
                        starts_group: std::mem::take(&mut self.starts_group),
                    }));
                }
            }
        }
    }
}

impl PageDecoder<'_> {
    /// Decodes pages in parallel.
    pub(crate) fn decode(&self, pages: Vec<LoadedPage>) -> Result<Vec<Levels>> {
        let decode = |page: LoadedPage| guarded(self.path, || self.decode_page(page));
        pages.into_par_iter().map(decode).collect()
    }

    fn decode_page(&self, page: LoadedPage) -> Result<Levels> {
        let starts_group = page.starts_group;
        let ([repetition, definition], values) = match self.column.physical_type() {
            Type::FLOAT => self.levels::<FloatType, _>(page, |values| values)?,
            Type::DOUBLE => {
                self.levels::<DoubleType, _>(page, |values| values.into_iter().map(|x| x as f32).collect())?
            }
            Type::FIXED_LEN_BYTE_ARRAY => self.levels::<FixedLenByteArrayType, _>(page, |values| {
                values
                    .iter()
                    .map(|x| x.data().try_into().map_or(f32::NAN, |x| f16::from_le_bytes(x).to_f32()))
                    .collect()
            })?,
            other => return Err(damaged(self.path, format_args!("vectors of physical type {other}"))),
        };
        let (present, expected) = (self.column.max_def_level(), repetition.len());
        let count = definition.iter().filter(|&&level| level == present).count();
        if definition.len() != expected || values.len() != count {
            return Err(damaged(self.path, "a page has fewer numbers than it declares"));
        }
        Ok(Levels { starts_group, repetition, definition, present, values })
    }

    fn levels<T: DataType, F: FnOnce(Vec<T::T>) -> Vec<f32>>(
        &self,
        page: LoadedPage,
        convert: F,
    ) -> Result<([Vec<i16>; 2], Vec<f32>)> {
        let pages = OnePage(page.dictionary.into_iter().chain([page.page]).collect());
        let mut reader = ColumnReaderImpl::<T>::new(self.column.clone(), Box::new(pages));
        let (mut definition, mut repetition, mut values) = (Vec::new(), Vec::new(), Vec::new());
        reader
            .read_records(usize::MAX, Some(&mut definition), Some(&mut repetition), &mut values)
            .map_err(|error| parquet_error(self.path, &error))?;
        Ok(([repetition, definition], convert(values)))
    }
}

/// A page and its dictionary, for a decoder of whole columns.
struct OnePage(VecDeque<Page>);

impl Iterator for OnePage {
    type Item = parquet::errors::Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.pop_front().map(Ok)
    }
}

impl PageReader for OnePage {
    fn get_next_page(&mut self) -> parquet::errors::Result<Option<Page>> {
        Ok(self.0.pop_front())
    }

    fn peek_next_page(&mut self) -> parquet::errors::Result<Option<PageMetadata>> {
        Ok(self.0.front().map(|page| PageMetadata {
            num_rows: None,
            num_levels: page.is_data_page().then_some(page.num_values() as usize),
            is_dict: page.is_dictionary_page(),
        }))
    }

    fn skip_next_page(&mut self) -> parquet::errors::Result<()> {
        self.0.pop_front();
        Ok(())
    }
}

//! Vectors in tables, Parquet and Arrow: a column of words or ids and a column of vectors.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use rayon::prelude::*;

use super::intake::{check_dimension, check_vector, check_word};
use super::table_rows::{Frame, Rows, Words};
use super::{Embeddings, Format, Matrix, ROWS_AT_A_TIME, Read, ReadOptions, Skipped, Vocabulary};
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::observe::{Meter, Observer, Stage};
use crate::tables::{
    self, Lists, Metadata, Table, TableFormat, TableWriter, Texts, VECTOR, VectorColumns, WORD, guarded, vector_type,
    vectors_column, words_column,
};

/// Rows that are written at a time, so that their words fit a column with offsets of 32 bits.
const ROWS_WRITTEN: usize = 32 * ROWS_AT_A_TIME;

pub(super) fn read(input: &Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Read> {
    read_words(input, options, true, observer)
}

/// [`read`] for vectors that will be changed, which are never borrowed from the file.
pub(super) fn read_to_change(input: &Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Read> {
    read_words(input, options, false, observer)
}

fn read_words(input: &Input, options: &ReadOptions, may_borrow: bool, observer: &dyn Observer) -> Result<Read> {
    let table = Table::open(input)?;
    let columns = VectorColumns::find(table.path(), table.schema(), options.columns.as_deref())?;
    let word = columns.word.ok_or_else(|| VectorColumns::no_words(table.path(), table.schema()))?;
    let columns = VectorColumns { word: Some(word), ..columns };
    let (embeddings, skipped) = match borrowed(&table, columns, options, may_borrow)? {
        Some(embeddings) => (embeddings, Skipped::default()),
        None => rows(&table, columns, options, observer)?.into_embeddings()?,
    };
    let format = options.format.unwrap_or(Format::Parquet);
    Ok(Read { embeddings, format, skipped, warnings: Vec::new() })
}

/// Rows without words. Words of a table that has some are ignored.
pub(super) fn read_matrix(input: &Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Matrix> {
    let table = Table::open(input)?;
    // A table without words, or with several columns of them, is none the worse for it.
    let columns = match options.columns.as_deref() {
        None => VectorColumns::only_vectors(table.path(), table.schema())?,
        names => VectorColumns { word: None, ..VectorColumns::find(table.path(), table.schema(), names)? },
    };
    rows(&table, columns, options, observer)?.into_matrix()
}

fn rows<'a>(
    table: &'a Table,
    columns: VectorColumns,
    options: &'a ReadOptions,
    observer: &dyn Observer,
) -> Result<Rows<'a>> {
    let path = table.path();
    let frame = Frame {
        path,
        options,
        column: table.schema().field(columns.vector).name(),
        has_words: columns.word.is_some(),
        declared_rows: table.declared_rows(),
        len: table.len(),
    };
    let mut rows = Rows::new(frame);
    let meter = Meter::new(observer, Stage::Reading, usize::try_from(table.len()).unwrap_or(usize::MAX));
    meter.check()?;
    match table.list_pages(columns.vector) {
        Some(pages) => {
            let (mut pages, decoder) = pages?;
            let batches = columns.word.map(|word| table.batches(&[word])).transpose()?;
            let mut words = Words::new(path, batches);
            let mut decoded = Vec::new();
            loop {
                let loaded = if rows.is_full() { Vec::new() } else { pages.load()? };
                let bytes = loaded.iter().map(|page| page.len()).sum();
                // The rows of some pages are taken in while the next pages are decoded.
                let pour = || decoded.iter().try_for_each(|page| rows.page(page, &mut words));
                let (poured, next) = guarded(path, || Ok(rayon::join(pour, || decoder.decode(loaded))))?;
                poured?;
                decoded = next?;
                if decoded.is_empty() {
                    break;
                }
                meter.advance(bytes)?;
            }
            rows.end(&mut words)?;
        }
        None => {
            let wanted: Vec<usize> = columns.word.into_iter().chain([columns.vector]).collect();
            for batch in table.batches(&wanted)? {
                let batch = batch?;
                let (words, lists) = parts(path, &batch, columns.word.is_some())?;
                rows.batch(words.as_ref(), &lists)?;
                meter.advance(batch.get_array_memory_size())?;
                if rows.is_full() {
                    break;
                }
            }
        }
    }
    Ok(rows)
}

/// The words, if they are wanted, and the vectors of a record batch of those columns.
fn parts(path: &Path, batch: &RecordBatch, has_words: bool) -> Result<(Option<Texts>, Lists)> {
    let words = has_words.then(|| Texts::new(path, batch.column(0))).transpose()?;
    Ok((words, Lists::new(path, batch.column(batch.num_columns() - 1))?))
}

/// The vectors of an Arrow file without a copy, if it is one record batch and nothing in it has to be skipped.
fn borrowed(
    table: &Table,
    columns: VectorColumns,
    options: &ReadOptions,
    may_borrow: bool,
) -> Result<Option<Embeddings>> {
    let (true, None, Some(word)) = (may_borrow && options.mmap, table.declared_rows(), columns.word) else {
        return Ok(None);
    };
    let mut batches = table.batches(&[word, columns.vector])?;
    let (Some(batch), None) = (batches.next().transpose()?, batches.next()) else { return Ok(None) };
    of_one_batch(table.path(), &batch, options)
}

/// The words and vectors of a record batch without a copy of the vectors, if nothing has to be skipped.
fn of_one_batch(path: &Path, batch: &RecordBatch, options: &ReadOptions) -> Result<Option<Embeddings>> {
    let (Some(words), lists) = parts(path, batch, true)? else { return Ok(None) };
    let Some((numbers, dim)) = lists.contiguous() else { return Ok(None) };
    if dim > super::MAX_DIMENSION || options.max_words.is_some_and(|most| most < words.len()) {
        return Ok(None);
    }
    let mut vocabulary = Vocabulary::new();
    let is_new = |row| words.get(row).is_some_and(|word| check_word(word.as_bytes()).is_ok() && vocabulary.push(word));
    let are_distinct = (0..words.len()).all(is_new);
    let matrix = Matrix::borrowed(numbers, dim);
    let are_usable = || matrix.as_slice().par_chunks(dim).all(|row| check_vector(row).is_ok());
    Ok((are_distinct && are_usable()).then(|| Embeddings::new(vocabulary, matrix)))
}

/// Reads word vectors out of record batches of Arrow, for instance from another library. Vectors are not copied if they
/// are float32 in one batch and no row has to be skipped. The name is for messages.
///
/// ```
/// use std::{path::Path, sync::Arc};
/// use sememe::vectors::{self, Embeddings, Matrix};
///
/// let embeddings = Embeddings::new(["dog", "cat"].into_iter().collect(), Matrix::new(vec![1.0, 2.0, 3.0, 4.0], 2));
/// let batch = vectors::record_batch(&embeddings);
/// let read = vectors::read_batches(Path::new("animals"), &[batch], &Default::default())?;
/// assert_eq!(read.embeddings.get("cat"), Some(&[3.0, 4.0][..]));
/// # Ok::<(), sememe::Error>(())
/// ```
pub fn read_batches(name: &Path, batches: &[RecordBatch], options: &ReadOptions) -> Result<Read> {
    let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    let columns = VectorColumns::find(name, &schema, options.columns.as_deref())?;
    let word = columns.word.ok_or_else(|| VectorColumns::no_words(name, &schema))?;
    let project = |batch: &RecordBatch| batch.project(&[word, columns.vector]).map_err(|e| tables::damaged(name, e));
    let batches = batches.iter().filter(|batch| batch.num_rows() > 0).map(project).collect::<Result<Vec<_>>>()?;
    let whole = match &batches[..] {
        [batch] => of_one_batch(name, batch, options)?,
        _ => None,
    };
    let read = |(embeddings, skipped)| Read { embeddings, format: Format::Arrow, skipped, warnings: Vec::new() };
    if let Some(embeddings) = whole {
        return Ok(read((embeddings, Skipped::default())));
    }
    let mut rows = Rows::new(in_memory(name, schema.field(columns.vector).name(), &batches, true, options));
    for batch in &batches {
        let (words, lists) = parts(name, batch, true)?;
        rows.batch(words.as_ref(), &lists)?;
    }
    rows.into_embeddings().map(read)
}

/// Reads the vectors of record batches without words. They are not copied if they are float32 in one batch. Nulls are
/// rows of NaN if they are `holes`, and errors otherwise.
pub fn read_batch_rows(name: &Path, batches: &[RecordBatch], options: &ReadOptions, holes: bool) -> Result<Matrix> {
    let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    let column = match options.columns.as_deref() {
        None => VectorColumns::only_vectors(name, &schema)?.vector,
        names => VectorColumns::find(name, &schema, names)?.vector,
    };
    let lists = batches.iter().filter(|batch| batch.num_rows() > 0).map(|batch| Lists::new(name, batch.column(column)));
    let lists = lists.collect::<Result<Vec<_>>>()?;
    if let [only] = &lists[..]
        && options.max_words.is_none()
        && let Some((numbers, dim)) = only.contiguous()
        && (*numbers).as_ref().iter().all(|x| x.is_finite())
        && dim <= super::MAX_DIMENSION
    {
        return Ok(Matrix::borrowed(numbers, dim));
    }
    let frame = in_memory(name, schema.field(column).name(), batches, false, options);
    if holes {
        return with_holes(&frame, &lists);
    }
    let mut rows = Rows::new(frame);
    lists.iter().try_for_each(|lists| rows.batch(None, lists))?;
    rows.into_matrix()
}

/// Rows of equal length, with NaN for nulls.
fn with_holes(frame: &Frame, lists: &[Lists]) -> Result<Matrix> {
    let mut converted = Vec::new();
    let rows = || lists.iter().flat_map(|lists| (0..lists.len()).map(move |row| (lists, row)));
    let dim = rows().find_map(|(lists, row)| lists.get(row, &mut Vec::new()).ok().map(<[f32]>::len));
    let dim = dim.ok_or_else(|| Rows::no_vectors(frame, rows().count() as u64))?;
    check_dimension(frame.path, dim, Place::Whole)?;
    let mut values = Vec::with_capacity(rows().count() * dim);
    for (number, (lists, row)) in (1..).zip(rows()) {
        match lists.get(row, &mut converted) {
            Ok(vector) if vector.len() == dim => values.extend_from_slice(vector),
            Ok(vector) => return Err(frame.other_length(Place::Row(number), vector.len(), dim)),
            Err(_) => values.extend(std::iter::repeat_n(f32::NAN, dim)),
        }
    }
    Ok(Matrix::new(values, dim))
}

/// Whether a record batch has a column of vectors.
pub fn has_vectors(batch: &RecordBatch) -> bool {
    batch.schema().fields().iter().any(|field| tables::is_vector(field.data_type()))
}

/// The frame of rows that are in memory already, so that their number is known and no size is absurd.
fn in_memory<'a>(
    path: &'a Path,
    column: &'a str,
    batches: &[RecordBatch],
    has_words: bool,
    options: &'a ReadOptions,
) -> Frame<'a> {
    let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    Frame { path, options, column, has_words, declared_rows: Some(rows), len: u64::MAX / 64 }
}

/// Words and vectors as a record batch of two columns, `word` and `vector` (a list of fixed size), which shares the
/// vectors.
pub fn record_batch(embeddings: &Embeddings) -> RecordBatch {
    let words = words_column((0..embeddings.len()).map(|row| embeddings.word(row)));
    let vectors = vectors_column(embeddings.matrix().clone(), Matrix::as_slice, embeddings.dim());
    let schema = tables::schema(fields(words.data_type(), embeddings.dim()), &[]);
    RecordBatch::try_new(Arc::new(schema), vec![words, vectors]).expect("one word a vector")
}

fn fields(words: &DataType, dim: usize) -> Vec<Field> {
    vec![Field::new(WORD, words.clone(), false), Field::new(VECTOR, vector_type(dim), false)]
}

/// Writes word vectors to a table with further metadata.
pub fn write_table(embeddings: &Embeddings, path: &Path, format: Format, metadata: &Metadata) -> Result<()> {
    let format = match format {
        Format::Parquet => TableFormat::Parquet,
        Format::Arrow => TableFormat::Arrow,
        other => return Err(Error::argument("format", other, "tables are parquet or arrow")),
    };
    let all = vectors_column(embeddings.matrix().clone(), Matrix::as_slice, embeddings.dim());
    let mut writer = TableWriter::create(path, format, fields(&DataType::Utf8, embeddings.dim()), metadata)?;
    for start in (0..embeddings.len()).step_by(ROWS_WRITTEN) {
        let rows = ROWS_WRITTEN.min(embeddings.len() - start);
        let words = words_column((start..start + rows).map(|row| embeddings.word(row)));
        writer.write(vec![words, all.slice(start, rows)])?;
    }
    writer.finish()
}

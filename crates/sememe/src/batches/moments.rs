//! Moments of rows on many machines: a row for each part, merged in any order.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, ListArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::column::{BATCHES, Column, ColumnNames};
use super::row_hashes::RowHashes;
use crate::error::{Error, Result};
use crate::files::Input;
use crate::lexicon::Tuples;
use crate::moments::{Evidence, Moments};
use crate::prepare::{Casing, Preparation, Step};
use crate::tables::{damaged, find_column};
use crate::vectors::View;

/// Rows that are summed at a time, so that small batches do not cost more than large ones.
const ROWS_SUMMED: usize = 8192;

/// The names of the columns of moments.
const COLUMNS: &str = "columns";
const ROWS: &str = "rows";
const MOMENTS: &str = "moments";

/// Sums up rows of record batches: one column of vectors for each view, in which a null is a missing view. A row in which all
/// views are missing counts for nothing.
///
/// ```
/// use sememe::batches::{PartialMoments, merge, moments_batch};
/// use sememe::vectors::{self, Embeddings, Matrix};
///
/// let rows = Embeddings::new(["a", "b"].into_iter().collect(), Matrix::new(vec![1.0, 2.0, 3.0, 5.0], 2));
/// let batch = vectors::record_batch(&rows);
/// let columns = ["vector".to_owned()];
/// let part = |batch| -> sememe::Result<_> {
///     let mut moments = PartialMoments::new(&columns, None, &[])?;
///     moments.add(batch)?;
///     moments.finish()
/// };
/// let parts = [part(batch.slice(0, 1))?, part(batch.slice(1, 1))?].map(|part| moments_batch(&columns, part.as_ref()));
/// let (_, merged) = merge(&parts)?.expect("two rows");
/// assert_eq!(merged.sources, part(batch)?.expect("two rows").sources);
/// assert_eq!(merged.moments.count(), 2.0);
/// # Ok::<(), sememe::Error>(())
/// ```
pub struct PartialMoments {
    columns: Vec<String>,
    id: Option<String>,
    steps: Vec<Step>,
    /// The dimension of each view, once it is known.
    dims: Vec<Option<usize>>,
    waiting: Vec<RecordBatch>,
    rows: u64,
    hashes: RowHashes,
    sums: Option<(Moments, Preparation)>,
}

impl PartialMoments {
    /// No rows yet. Errors name rows by the column `id`, if there is one. Steps that learn from all vectors are errors.
    pub fn new(columns: &[String], id: Option<&str>, steps: &[Step]) -> Result<Self> {
        if let Some(step) = steps.iter().find(|step| **step != Step::Unit) {
            let problem = "it learns from all vectors, and a part has only some; unit, or no step, works in parts";
            return Err(Error::argument("normalize step", step, problem));
        }
        if let Some(twice) = columns.iter().enumerate().find(|(place, name)| columns[..*place].contains(name)) {
            return Err(Error::argument("column", twice.1, "each view needs a column of its own"));
        }
        Ok(PartialMoments {
            columns: columns.to_vec(),
            id: id.map(str::to_owned),
            steps: steps.to_vec(),
            dims: vec![None; columns.len()],
            waiting: Vec::new(),
            rows: 0,
            hashes: RowHashes::new(columns.len()),
            sums: None,
        })
    }

    /// Expects these lengths of vectors, where they are known before the first one comes.
    pub fn with_dims(self, dims: Vec<Option<usize>>) -> Result<Self> {
        match dims.len() == self.columns.len() {
            true => Ok(PartialMoments { dims, ..self }),
            false => Err(Error::argument("number of dimensions", dims.len(), "there must be one for each column")),
        }
    }

    /// Adds rows.
    pub fn add(&mut self, batch: RecordBatch) -> Result<()> {
        self.waiting.push(batch);
        match self.waiting.iter().map(RecordBatch::num_rows).sum::<usize>() >= ROWS_SUMMED {
            true => self.sum_up(),
            false => Ok(()),
        }
    }

    /// The moments of all rows; `None` if there was no vector. Views without any vector are left out.
    pub fn finish(mut self) -> Result<Option<Evidence>> {
        self.sum_up()?;
        let PartialMoments { columns, hashes, sums, .. } = self;
        Ok(sums.map(|(moments, preparation)| {
            // A later batch may be the first to have a view, which was appended then.
            let place = |name: &str| columns.iter().position(|column| column == name);
            let order: Vec<usize> = moments.views().iter().filter_map(|view| place(&view.name)).collect();
            Evidence { moments, preparation, sources: hashes.sources(&order) }.in_order(&columns)
        }))
    }

    fn sum_up(&mut self) -> Result<()> {
        let batches = std::mem::take(&mut self.waiting);
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let read = |(vector, dim): (&String, &Option<usize>)| {
            let names = ColumnNames { vector, id: self.id.as_deref() };
            Column::read(&batches, names, *dim, self.rows + 1)
        };
        let columns = self.columns.iter().zip(&self.dims).map(read).collect::<Result<Vec<_>>>()?;
        self.rows += rows as u64;
        self.hashes.add(&columns, rows);
        for (dim, column) in self.dims.iter_mut().zip(&columns) {
            *dim = dim.or(column.as_ref().map(|column| column.vectors.cols()));
        }
        let known: Vec<(&String, Column)> = (self.columns.iter().zip(columns))
            .filter_map(|(name, column)| Some((name, column.filter(|column| column.vectors.rows() > 0)?)))
            .collect();
        let tuples = tuples(&known, rows);
        if tuples.is_empty() {
            return Ok(());
        }
        let mut views: Vec<View> =
            known.into_iter().map(|(name, column)| View::new(name.as_str(), column.vectors)).collect();
        let mut preparation = Preparation::new(Casing::Kept, &self.steps);
        views.iter_mut().try_for_each(|view| preparation.fit_apply(view.rows_mut()))?;
        let moments = Moments::of(&views, &tuples)?;
        match &mut self.sums {
            None => self.sums = Some((moments, preparation)),
            Some((sum, known)) => {
                sum.merge(&moments)?;
                // The steps learn nothing, so that they are the same for every view.
                let normalizer = preparation.normalizers[0].clone();
                known.normalizers.resize(sum.views().len(), normalizer);
            }
        }
        Ok(())
    }
}

/// The vectors of each row, by their places among those that are not null.
fn tuples(columns: &[(&String, Column)], rows: usize) -> Tuples {
    let mut tuples = Tuples::new(columns.len());
    let mut next = vec![0; columns.len()];
    let mut tuple = vec![None; columns.len()];
    for row in 0..rows {
        for ((place, next), (_, column)) in tuple.iter_mut().zip(&mut next).zip(columns) {
            *place = column.is_present[row].then_some(*next);
            *next += usize::from(column.is_present[row]);
        }
        tuples.add(&tuple);
    }
    tuples
}

/// Moments as a row: `columns` (the views in order, also those without any vector), `rows`, and `moments` (the content of a
/// file of moments). No row for no moments.
pub fn moments_batch(columns: &[String], moments: Option<&Evidence>) -> RecordBatch {
    let mut names = ListBuilder::new(StringBuilder::new());
    if moments.is_some() {
        names.append_value(columns.iter().map(Some));
    }
    let rows: Int64Array = moments.iter().map(|part| Some(part.sources.lexicon.count as i64)).collect();
    let bytes = moments.map(Evidence::to_bytes);
    let bytes: BinaryArray = bytes.iter().map(|bytes| Some(&bytes[..])).collect();
    let columns: [ArrayRef; 3] = [Arc::new(names.finish()), Arc::new(rows), Arc::new(bytes)];
    let fields = [COLUMNS, ROWS, MOMENTS].into_iter().zip(&columns);
    let fields: Vec<Field> = fields.map(|(name, column)| Field::new(name, column.data_type().clone(), false)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into()).expect("columns of the same length")
}

/// Merges the rows of [`moments_batch`]. The result does not depend on their order; its fingerprints do not depend on the
/// nesting of merges either. Returns the names of the columns as well, and `None` for no rows.
pub fn merge(batches: &[RecordBatch]) -> Result<Option<(Vec<String>, Evidence)>> {
    let mut parts = Vec::new();
    let mut order: Option<Vec<String>> = None;
    for batch in batches {
        for row in 0..batch.num_rows() {
            let (columns, part) = read_row(batch, row)?;
            if order.as_ref().is_some_and(|known| *known != columns) {
                return Err(Error::argument("columns", columns.join(", "), "other moments are of other columns"));
            }
            order = Some(columns);
            parts.push(part);
        }
    }
    let Some(order) = order else { return Ok(None) };
    let merged = Evidence::merged(parts)?.in_order(&order);
    Ok(Some((order, merged)))
}

/// The columns and moments of a row.
fn read_row(batch: &RecordBatch, row: usize) -> Result<(Vec<String>, Evidence)> {
    let path = Path::new(BATCHES);
    let column = |name: &str| find_column(path, &batch.schema(), name).map(|place| batch.column(place));
    let wrong = |name: &str, kind: &DataType| {
        damaged(path, format_args!("the column {name:?} of moments is {kind}, or null in row {}", row + 1))
    };
    let (columns, moments) = (column(COLUMNS)?, column(MOMENTS)?);
    let bytes = match (moments.as_binary_opt::<i32>(), moments.as_binary_opt::<i64>()) {
        (Some(bytes), _) if bytes.is_valid(row) => bytes.value(row).to_vec(),
        (_, Some(bytes)) if bytes.is_valid(row) => bytes.value(row).to_vec(),
        _ => return Err(wrong(MOMENTS, moments.data_type())),
    };
    let names = columns.as_list_opt::<i32>().filter(|names: &&ListArray| names.is_valid(row));
    let names = names.map(|names| names.value(row)).ok_or_else(|| wrong(COLUMNS, columns.data_type()))?;
    let texts = crate::tables::Texts::new(path, &names)?;
    let names: Option<Vec<String>> = (0..texts.len()).map(|at| texts.get(at).map(str::to_owned)).collect();
    let names = names.ok_or_else(|| wrong(COLUMNS, columns.data_type()))?;
    Ok((names, Evidence::read_input(&Input::from_bytes("moments", bytes)?)?))
}

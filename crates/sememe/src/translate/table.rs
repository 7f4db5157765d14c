//! Translations and induced dictionaries as tables.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};

use super::{Candidate, Induced, Translations};
use crate::error::Result;
use crate::retrieve::Criterion;
use crate::tables::{TableFormat, batch, table, words_column};
use crate::vectors::Embeddings;

/// Writes pairs as a table with a column for each view.
pub(super) fn write_induced(
    induced: &[Induced],
    [(from, source), (to, target)]: [(&str, &Embeddings); 2],
    criterion: Criterion,
    path: &Path,
    format: TableFormat,
) -> Result<()> {
    let metadata = induced_metadata(from, to, criterion);
    table(path, format, induced_columns(induced, [(from, source), (to, target)]), &metadata)
}

/// The columns that [`write_induced`] writes.
pub(super) fn induced_batch(
    induced: &[Induced],
    [(from, source), (to, target)]: [(&str, &Embeddings); 2],
    criterion: Criterion,
) -> RecordBatch {
    let metadata = induced_metadata(from, to, criterion);
    batch(induced_columns(induced, [(from, source), (to, target)]), &metadata)
}

fn induced_metadata(from: &str, to: &str, criterion: Criterion) -> [(&'static str, String); 3] {
    [("sememe.from", from.to_owned()), ("sememe.to", to.to_owned()), criterion_of(criterion)]
}

fn induced_columns(
    induced: &[Induced],
    [(from, source), (to, target)]: [(&str, &Embeddings); 2],
) -> Vec<(Field, ArrayRef)> {
    let words = words_column(induced.iter().map(|pair| source.word(pair.from)));
    let translations = words_column(induced.iter().map(|pair| target.word(pair.to)));
    let scores: Float32Array = induced.iter().map(|pair| Some(pair.score)).collect();
    let confidences: Float64Array = induced.iter().map(|pair| pair.confidence).collect();
    vec![
        (Field::new(from, words.data_type().clone(), false), words),
        (Field::new(to, translations.data_type().clone(), false), translations),
        (Field::new("score", DataType::Float32, false), Arc::new(scores)),
        (Field::new("confidence", DataType::Float64, true), Arc::new(confidences)),
    ]
}

fn criterion_of(criterion: Criterion) -> (&'static str, String) {
    ("sememe.criterion", criterion.to_string())
}

impl Translations {
    /// Writes a table with a row for each candidate, best first: `word`, `to` (its view), `rank` from 1, `translation`,
    /// `score`, `confidence`, and `known`. Words without a candidate have a row of nulls.
    ///
    /// ```
    /// # fn main() -> sememe::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = |name: &str| folder.path().join(name);
    /// use sememe::{align, lexicon::Tuples, space::Space, tables::TableFormat, translate::Translator};
    /// use sememe::vectors::{Embeddings, Matrix, View};
    ///
    /// let view = |name: &str, shift: f32| {
    ///     let words: Vec<String> = (0..40).map(|i| format!("{name}{i}")).collect();
    ///     let rows = Matrix::new((0..160).map(|x| (x as f32 * 0.7 + shift).sin()).collect(), 4);
    ///     View::from_embeddings(name, Embeddings::new(words.iter().map(String::as_str).collect(), rows))
    /// };
    /// let mut tuples = Tuples::new(2);
    /// (0..40).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
    /// let aligned = align::align(vec![view("en", 0.0), view("fr", 0.1)], &tuples, &Default::default(), &())?;
    /// Space::write(&path("space"), &aligned.alignment, &aligned.latent)?;
    /// let space = Space::open(&path("space"))?;
    /// let translator = Translator::open(&space, "en", &["fr".to_owned()], &Default::default(), &())?;
    /// translator.translate(&["en3"], &())?.write_table(&path("translations.parquet"), TableFormat::Parquet)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_table(&self, path: &Path, format: TableFormat) -> Result<()> {
        table(path, format, self.columns(), &self.metadata())
    }

    /// The columns that [`Translations::write_table`] writes.
    pub fn record_batch(&self) -> RecordBatch {
        batch(self.columns(), &self.metadata())
    }

    fn metadata(&self) -> [(&'static str, String); 2] {
        [("sememe.from", self.from.clone()), criterion_of(self.criterion)]
    }

    fn columns(&self) -> Vec<(Field, ArrayRef)> {
        let unknown = self.unknown.iter().flat_map(|word| self.to.iter().map(move |to| (word, to, false, None)));
        let rows = self.translations.iter().flat_map(|translation| {
            let candidates = translation.candidates.iter().enumerate().map(Some);
            let none = translation.candidates.is_empty().then_some(None);
            candidates
                .chain(none)
                .map(move |candidate| (&translation.word, &translation.to, translation.known, candidate))
        });
        let rows: Vec<Row> = rows.chain(unknown).collect();
        let words: StringArray = rows.iter().map(|row| Some(row.0)).collect();
        let views: StringArray = rows.iter().map(|row| Some(row.1)).collect();
        let ranks: Int32Array = rows.iter().map(|row| row.3.map(|(rank, _)| rank as i32 + 1)).collect();
        let translations: StringArray = rows.iter().map(|row| row.3.map(|(_, it)| &it.word)).collect();
        let scores: Float32Array = rows.iter().map(|row| row.3.map(|(_, it)| it.score)).collect();
        let confidences: Float64Array = rows.iter().map(|row| row.3?.1.confidence).collect();
        let known: BooleanArray = rows.iter().map(|row| Some(row.2)).collect();
        vec![
            (Field::new("word", DataType::Utf8, false), Arc::new(words)),
            (Field::new("to", DataType::Utf8, false), Arc::new(views)),
            (Field::new("rank", DataType::Int32, true), Arc::new(ranks)),
            (Field::new("translation", DataType::Utf8, true), Arc::new(translations)),
            (Field::new("score", DataType::Float32, true), Arc::new(scores)),
            (Field::new("confidence", DataType::Float64, true), Arc::new(confidences)),
            (Field::new("known", DataType::Boolean, false), Arc::new(known)),
        ]
    }
}

/// A word, the view of its translations, whether it is known, and a candidate with its place.
type Row<'a> = (&'a String, &'a String, bool, Option<(usize, &'a Candidate)>);

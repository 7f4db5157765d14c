//! Words with their vectors.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sememe::translate::closest_spellings;
use sememe::vectors::{self, Format, ReadOptions, Vocabulary};

use crate::arrays::{finite_rows, vector, view_of};
use crate::arrow;
use crate::errors::{exception, refused};
use crate::work::{briefly, run};

/// Words with their vectors; immutable.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Embeddings(pub vectors::Embeddings);

/// The vectors of a file, its format, and warnings.
type ReadFile = (Embeddings, &'static str, Vec<String>);

#[pymethods]
impl Embeddings {
    #[new]
    fn new(words: Vec<String>, vectors: &Bound<'_, PyAny>) -> PyResult<Self> {
        let matrix = finite_rows(vectors, "vectors")?;
        if words.len() != matrix.rows() {
            let problem = format!("{} words for {} vectors; one vector a word is needed", words.len(), matrix.rows());
            return Err(refused(problem));
        }
        Ok(Embeddings(vectors::Embeddings::new(vocabulary(&words)?, matrix)))
    }

    /// Reads a file of any format.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        max_words: Option<usize>,
        format: Option<&str>,
        words: Option<PathBuf>,
        columns: Option<Vec<String>>,
        strict: bool,
        mmap: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<ReadFile> {
        let format = format.map(str::parse).transpose().map_err(exception)?;
        let read = run(py, progress, move |monitor| {
            let options = ReadOptions::default()
                .with_max_words(max_words)
                .with_format(format)
                .with_words(words)
                .with_columns(columns)
                .with_strict(strict)
                .with_mmap(mmap);
            vectors::read(&path, &options, &**monitor)
        })?;
        Ok(described(read))
    }

    /// Reads a table through the Arrow C stream interface.
    #[staticmethod]
    fn from_arrow(
        table: &Bound<'_, PyAny>,
        columns: Option<Vec<String>>,
        max_words: Option<usize>,
        strict: bool,
    ) -> PyResult<ReadFile> {
        let options = ReadOptions::default().with_columns(columns).with_max_words(max_words).with_strict(strict);
        arrow::read(table.py(), table, options).map(described)
    }

    /// Words and vectors as an Arrow stream, which shares the vectors. Every consumer can convert its types.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _none_other_is_offered = requested_schema;
        arrow::stream(py, vectors::record_batch(&self.0))
    }

    /// Writes a file. Its extension decides the format unless one is given.
    fn write(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        let format = format.map_or_else(|| Format::of_name(&path), str::parse).map_err(exception)?;
        let embeddings = self.0.clone();
        run(py, None, move |_| vectors::write(&embeddings, &path, format))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn words(&self) -> Vec<&str> {
        self.0.vocabulary().iter().collect()
    }

    /// The vectors, without a copy.
    fn vectors<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray2<f32>> {
        view_of(this.get().0.matrix(), this.clone().into_any())
    }

    fn index(&self, word: &str) -> Option<usize> {
        self.0.vocabulary().get(word)
    }

    fn word(&self, index: usize) -> PyResult<&str> {
        match index < self.0.len() {
            true => Ok(self.0.word(index)),
            false => Err(refused(format!("there is no word {index} among {}", self.0.len()))),
        }
    }

    #[getter]
    fn has_subwords(&self) -> bool {
        self.0.subwords().is_some()
    }

    /// Composes the vector of an out-of-vocabulary word from its n-grams.
    fn compose<'py>(&self, py: Python<'py>, word: &str) -> Option<Bound<'py, PyArray1<f32>>> {
        self.0.subwords()?.vector(word).map(|values| vector(py, values))
    }

    fn lowercased(&self, py: Python<'_>) -> Self {
        Embeddings(py.detach(|| self.0.clone().lowercased()))
    }

    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        briefly(py, || self.0.fingerprint())
    }

    /// Closest spellings of an out-of-vocabulary word.
    fn spellings(&self, py: Python<'_>, word: &str, limit: usize) -> PyResult<Vec<String>> {
        briefly(py, || closest_spellings(self.0.vocabulary(), word, limit).into_iter().map(str::to_owned).collect())
    }
}

/// What was read, with the name of its format and warnings.
fn described(read: vectors::Read) -> ReadFile {
    let mut notes: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    if read.skipped.total() > 0 {
        notes.push(format!("skipped {}", read.skipped));
    }
    let names = Format::ALL.iter().find(|(_, format)| *format == read.format);
    (Embeddings(read.embeddings), names.map_or("", |(name, _)| name), notes)
}

/// Checks that words are distinct and that any file format can hold them.
fn vocabulary(words: &[String]) -> PyResult<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (index, word) in words.iter().enumerate() {
        if word.is_empty() || word.contains(['\n', '\r']) {
            return Err(refused(format!("word {index} is {word:?}: a word has a character, and no line break")));
        }
        if !vocabulary.push(word) {
            return Err(refused(format!("word {index}, {word:?}, is there already; every word must be another one")));
        }
    }
    Ok(vocabulary)
}

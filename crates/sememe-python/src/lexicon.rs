//! Which words, or rows, belong together.

use std::path::PathBuf;

use pyo3::prelude::*;
use sememe::gather::{self, Dictionary, GatherOptions};
use sememe::lexicon::{self, Entry, ReadOptions, Shared};
use sememe::prepare::Casing;
use sememe::vectors::{View, Vocabulary};

use crate::arrays::{finite_rows, observed_rows};
use crate::embeddings::{Embeddings, numbered};
use crate::errors::{exception, refused};

/// Words that mean the same, as `sememe.read_lexicon` reads them: entries with a word or None for each view.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Lexicon(pub lexicon::Lexicon);

#[pymethods]
impl Lexicon {
    /// Entries with a word or None for each view.
    #[new]
    fn new(views: Vec<String>, entries: Vec<Vec<Option<String>>>) -> PyResult<Self> {
        let mut lexicon = lexicon::Lexicon::new(views);
        for (number, words) in entries.into_iter().enumerate() {
            if words.len() != lexicon.views().len() {
                let views = lexicon.views().len();
                let problem = format!("entry {number} of the lexicon has {} words for {views} views", words.len());
                return Err(refused(problem));
            }
            let known = words.into_iter().enumerate().filter_map(|(view, word)| Some((view, word?)));
            lexicon.add(known.filter(|(_, word)| !word.is_empty()).collect::<Entry>());
        }
        Ok(Lexicon(lexicon))
    }

    /// Reads pairs; also says what should be known.
    #[staticmethod]
    fn read_pairs(path: PathBuf, from: &str, to: &str, strict: bool) -> PyResult<(Self, Vec<String>)> {
        let options = ReadOptions::default().with_strict(strict).with_views(None);
        lexicon::read_pairs(&path, from, to, &options).map(Self::from_file).map_err(exception)
    }

    /// Reads the columns of these views of a file of tuples.
    #[staticmethod]
    fn read_tuples(path: PathBuf, views: Option<Vec<String>>, strict: bool) -> PyResult<(Self, Vec<String>)> {
        let options = ReadOptions::default().with_strict(strict).with_views(views);
        lexicon::read_tuples(&path, &options).map(Self::from_file).map_err(exception)
    }

    fn __len__(&self) -> usize {
        self.0.entries().len()
    }

    /// The names of the views that it has words of.
    #[getter]
    fn views(&self) -> Vec<String> {
        self.0.views().to_vec()
    }

    /// The entries, each with a word or None for every view.
    fn entries(&self) -> Vec<Vec<Option<&str>>> {
        self.0.entries().iter().map(|entry| (0..self.0.views().len()).map(|view| entry.word(view)).collect()).collect()
    }

    /// Only the words of some views; entries with fewer than two words are dropped.
    fn restricted(&self, views: Vec<String>) -> PyResult<Self> {
        let views: Vec<&str> = views.iter().map(String::as_str).collect();
        self.0.restricted(&views).map(Lexicon).map_err(exception)
    }
}

impl Lexicon {
    fn from_file(read: lexicon::Read) -> (Self, Vec<String>) {
        let notes = if read.skipped.total() > 0 { vec![format!("skipped {}", read.skipped)] } else { Vec::new() };
        (Lexicon(read.lexicon), notes)
    }
}

/// Rows that belong together, with holes.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Tuples(pub lexicon::Tuples);

/// Views of the library.
pub fn named_views(views: NamedViews<'_>) -> Vec<View> {
    views.into_iter().map(|(name, embeddings)| View::from_embeddings(name, embeddings.0.clone())).collect()
}

/// Named vectors, as Python gives them.
pub type NamedViews<'py> = Vec<(String, PyRef<'py, Embeddings>)>;

#[pymethods]
impl Tuples {
    /// Looks the words of dictionaries up, and those that several views share.
    #[new]
    fn new(
        views: NamedViews<'_>,
        lexicons: Vec<PyRef<'_, Lexicon>>,
        lower: bool,
        identical: Option<&str>,
        complete: bool,
    ) -> PyResult<Self> {
        let vocabularies: Vec<(&str, &Vocabulary)> =
            views.iter().map(|(name, embeddings)| (name.as_str(), embeddings.0.vocabulary())).collect();
        let casing = if lower { Casing::Lower } else { Casing::Kept };
        let tuples = gather(&vocabularies, &lexicons, casing, identical)?;
        Ok(Tuples(if complete { tuples.complete() } else { tuples }))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn tuples(&self) -> Vec<Vec<Option<usize>>> {
        self.0.iter().collect()
    }
}

/// Looks words up, as the command does.
pub fn gather(
    vocabularies: &[(&str, &Vocabulary)],
    lexicons: &[PyRef<'_, Lexicon>],
    casing: Casing,
    identical: Option<&str>,
) -> PyResult<lexicon::Tuples> {
    let dictionaries: Vec<Dictionary> = lexicons.iter().map(|lexicon| lexicon.0.clone().into()).collect();
    let mut options = GatherOptions::default();
    options.casing = casing;
    options.identical = identical.map(shared).transpose()?;
    gather::tuples(vocabularies, &dictionaries, &options).map(|(tuples, _)| tuples).map_err(exception)
}

fn shared(which: &str) -> PyResult<Shared> {
    match which {
        "strings" => Ok(Shared::Strings),
        "numerals" => Ok(Shared::Numerals),
        _ => Err(refused(format!("identical is {which:?}: it must be \"strings\" or \"numerals\""))),
    }
}

/// The rows of arrays that belong together, by their numbers: what is missing is a row of NaN. An array given with a
/// dimension only has no rows at all.
#[pyfunction]
pub fn paired_rows(names: Vec<String>, views: Vec<Bound<'_, PyAny>>) -> PyResult<(Vec<Embeddings>, Tuples)> {
    let mut observed = Vec::new();
    for (name, view) in names.iter().zip(&views) {
        observed.push(observed_rows(view, &format!("view {name:?}"))?);
    }
    let count = observed.iter().map(|(matrix, _)| matrix.rows()).max().unwrap_or(0);
    let mut embeddings = Vec::new();
    let mut places: Vec<Vec<Option<usize>>> = Vec::new();
    for ((matrix, is_observed), name) in observed.into_iter().zip(&names) {
        if matrix.rows() != count && matrix.rows() != 0 {
            let problem = "row i of every view must belong together";
            return Err(refused(format!("view {name:?} has {} rows and others {count}: {problem}", matrix.rows())));
        }
        let rows: Vec<usize> = (0..matrix.rows()).filter(|&row| is_observed[row]).collect();
        let mut next = 0..;
        places.push(
            (0..count).map(|row| is_observed.get(row).is_some_and(|&is| is).then(|| next.next()).flatten()).collect(),
        );
        let matrix = if rows.len() == matrix.rows() { matrix } else { matrix.select(&rows) };
        embeddings.push(Embeddings(numbered(matrix, rows.into_iter())));
    }
    let mut tuples = lexicon::Tuples::new(names.len());
    for row in 0..count {
        let tuple: Vec<Option<usize>> = places.iter().map(|places| places[row]).collect();
        if tuple.iter().any(Option::is_some) {
            tuples.add(&tuple);
        }
    }
    Ok((embeddings, Tuples(tuples)))
}

/// All rows of arrays of any lengths, of which those belong together whose numbers are in one tuple.
#[pyfunction]
pub fn numbered_rows(
    names: Vec<String>,
    views: Vec<Bound<'_, PyAny>>,
    numbers: Vec<Vec<Option<i64>>>,
    complete: bool,
) -> PyResult<(Vec<Embeddings>, Tuples)> {
    let mut embeddings = Vec::new();
    for (name, view) in names.iter().zip(&views) {
        let matrix = finite_rows(view, &format!("view {name:?}"))?;
        let rows = 0..matrix.rows();
        embeddings.push(Embeddings(numbered(matrix, rows)));
    }
    let mut tuples = lexicon::Tuples::new(names.len());
    for (entry, numbers) in numbers.iter().enumerate() {
        if numbers.len() != names.len() || numbers.iter().flatten().count() < 2 {
            let problem = "it must have a row number or None for every view, and two numbers at least";
            return Err(refused(format!("entry {entry} of the lexicon is {numbers:?}: {problem}")));
        }
        let find = |((number, name), view): ((&Option<i64>, &String), &Embeddings)| match *number {
            None => Ok(None),
            Some(number) => match usize::try_from(number) {
                Ok(row) if row < view.0.len() => Ok(Some(row)),
                _ => {
                    let problem = format!("view {name:?} has {} rows, and none is row {number}", view.0.len());
                    Err(refused(format!("entry {entry} of the lexicon: {problem}")))
                }
            },
        };
        let tuple = numbers.iter().zip(&names).zip(&embeddings).map(find).collect::<PyResult<Vec<_>>>()?;
        tuples.add(&tuple);
    }
    Ok((embeddings, Tuples(if complete { tuples.complete() } else { tuples })))
}

//! Which words, or rows, belong together.

use std::path::PathBuf;

use pyo3::prelude::*;
use sememe::gather::{self, Dictionary, GatherOptions};
use sememe::lexicon::{self, Entry, ReadOptions, Shared};
use sememe::prepare::Casing;
use sememe::vectors::Vocabulary;

use crate::embeddings::Embeddings;
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

    /// Reads pairs; also returns warnings.
    #[staticmethod]
    fn read_pairs(path: PathBuf, from: &str, to: &str, strict: bool) -> PyResult<(Self, Vec<String>)> {
        let options = ReadOptions::default().with_strict(strict).with_views(None);
        lexicon::read_pairs(&path, from, to, &options).map(Self::from_file).map_err(exception)
    }

    /// Reads a dictionary over these views: tuples under a header, induced pairs, or pairs of just two views.
    #[staticmethod]
    fn read(path: PathBuf, views: Vec<String>, strict: bool) -> PyResult<(Self, Vec<String>)> {
        let options = ReadOptions::default().with_strict(strict);
        let views: Vec<&str> = views.iter().map(String::as_str).collect();
        lexicon::read(&path, &views, &options).map(Self::from_file).map_err(exception)
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

    /// The names of its views.
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

/// Named vectors, as Python gives them.
pub type NamedViews<'py> = Vec<(String, PyRef<'py, Embeddings>)>;

#[pymethods]
impl Tuples {
    /// Looks up the words of dictionaries, and the strings that views share.
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

//! Training data: views and the tuples over them, from files or from memory.

mod dictionary;
mod read;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::dictionary::{Dictionary, splits_at_equals};
pub use self::read::{DictionaryRead, LexiconRead, ViewRead};
use crate::error::{Error, Result};
use crate::files::{Input, check_readable};
use crate::lexicon::{self, Shared, Tuples};
use crate::observe::Observer;
use crate::prepare::Casing;
use crate::vectors::{self, ReadOptions, View, Vocabulary};

/// Numbers of a view from which on it is spilled: 16 MiB. A file for fewer saves little memory.
const SPILLED_FROM: usize = 4 << 20;

/// A file of vectors and the name of its view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ViewFile {
    /// The name of the view: any string.
    pub name: String,
    /// The vectors.
    pub path: PathBuf,
    /// The word list of an array, if it is not beside the array.
    pub words: Option<PathBuf>,
}

impl ViewFile {
    /// A file that contains its words or has a word list beside it.
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        ViewFile { name: name.into(), path: path.into(), words: None }
    }
}

/// Options for gathering training data. The default keeps case, uses dictionaries only and allows incomplete tuples.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GatherOptions {
    /// Options for reading vectors. Each [`ViewFile`] names its own word list. Strict reading also applies to
    /// dictionaries.
    pub read: ReadOptions,
    /// Whether words keep their case.
    pub casing: Casing,
    /// Uses identical strings of views as a dictionary.
    pub identical: Option<Shared>,
    /// Keeps only [complete tuples](Tuples::complete).
    pub complete: bool,
    /// The columns of dictionaries that are tables, in the order of their views, instead of those called like them.
    #[serde(default)]
    pub lexicon_columns: Option<Vec<String>>,
    /// Moves the vectors of each view to a file without a name in this folder once they are read, and again once they
    /// are prepared. One view at a time is in memory; a fit reads the rows that it needs. For more vectors than fit into
    /// memory; few vectors stay there.
    #[serde(default)]
    pub spill: Option<PathBuf>,
}

/// Views and the tuples over them, with reports on reading them.
///
/// It serialises to the reports: `lexicons` and `read`.
///
/// ```
/// use sememe::gather::{Dictionary, Gathering, ViewFile};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = |name: &str| folder.path().join(name);
/// std::fs::write(path("en.vec"), "dog 1 2\ncat 3 4\n").unwrap();
/// std::fs::write(path("fr.vec"), "chat 3 1\nchien 1 3\n").unwrap();
/// std::fs::write(path("en-fr.txt"), "dog chien\nbird oiseau\n").unwrap();
/// let files = [ViewFile::new("en", path("en.vec")), ViewFile::new("fr", path("fr.vec"))];
/// let dictionary = Dictionary::pairs(path("en-fr.txt"), "en", "fr");
/// let gathering = Gathering::read(&files, &[dictionary], &Default::default(), &())?;
/// assert_eq!(gathering.tuples.iter().collect::<Vec<_>>(), [[Some(0), Some(1)]]);
/// assert_eq!(gathering.views_read[0].words, 2);
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Gathering {
    /// The views.
    #[serde(skip)]
    pub views: Vec<View>,
    /// The tuples over them.
    #[serde(skip)]
    pub tuples: Tuples,
    /// Reports on identical strings and on every dictionary.
    #[serde(rename = "lexicons")]
    pub lexicons_read: Vec<LexiconRead>,
    /// Reports on every file of vectors; empty if the views were in memory.
    #[serde(rename = "read")]
    pub views_read: Vec<ViewRead>,
}

impl Gathering {
    /// Reads vectors and dictionaries. Checks that need no vectors come first, because reading takes long.
    pub fn read(
        files: &[ViewFile],
        dictionaries: &[Dictionary],
        options: &GatherOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        check(&files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), dictionaries, options)?;
        let (views, views_read) = read_views(files, options, observer)?;
        Ok(Gathering { views_read, ..Self::of(views, dictionaries, options)? })
    }

    /// Looks up the words of dictionaries in views that are in memory. Views without words match nothing.
    pub fn of(views: Vec<View>, dictionaries: &[Dictionary], options: &GatherOptions) -> Result<Self> {
        check(&views.iter().map(View::name).collect::<Vec<_>>(), dictionaries, options)?;
        let views: Vec<View> = views.into_iter().map(|view| options.casing.of_view(view)).collect();
        let none = Vocabulary::new();
        let vocabularies: Vec<(&str, &Vocabulary)> =
            views.iter().map(|view| (view.name(), view.words().unwrap_or(&none))).collect();
        let (tuples, lexicons_read) = tuples(&vocabularies, dictionaries, options)?;
        Ok(Gathering { views, tuples, lexicons_read, views_read: Vec::new() })
    }
}

/// Checks a request before anything is read.
fn check(names: &[&str], dictionaries: &[Dictionary], options: &GatherOptions) -> Result<()> {
    if names.len() < 2 {
        return Err(Error::TooFewViews);
    }
    check_distinct(names)?;
    dictionaries.iter().try_for_each(|dictionary| dictionary.check(names))?;
    match &options.lexicon_columns {
        Some(columns) if !dictionaries.iter().any(Dictionary::is_table) => {
            let expected = "no dictionary is a table (Parquet, Arrow); leave it out";
            Err(Error::argument("lexicon-columns", columns.join(","), expected))
        }
        _ => Ok(()),
    }
}

fn check_distinct(names: &[&str]) -> Result<()> {
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, twice)) => Err(Error::DuplicateView((*twice).to_owned())),
        None => Ok(()),
    }
}

/// Reads the vectors of any number of views, and returns reports on reading them.
pub fn read_views(
    files: &[ViewFile],
    options: &GatherOptions,
    observer: &dyn Observer,
) -> Result<(Vec<View>, Vec<ViewRead>)> {
    check_distinct(&files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>())?;
    // A missing word list is an error even if the vectors have words of their own.
    files.iter().filter_map(|file| file.words.as_deref()).try_for_each(check_readable)?;
    let each = options.read.for_each(&files.iter().map(|file| file.path.as_path()).collect::<Vec<_>>())?;
    let read_one = |(file, read): (&ViewFile, ReadOptions)| {
        let read = ReadOptions { words: file.words.clone(), ..read };
        let read = Input::open_with(&file.path, read.mmap)
            .and_then(|input| vectors::read_to_change(input, &read, observer))
            .map_err(|error| error.within(format!("view {:?}", file.name)))?;
        let report = ViewRead::new(&read);
        let mut view = View::from_embeddings(&*file.name, options.casing.of_embeddings(read.embeddings));
        if let (Some(folder), true) = (&options.spill, view.rows().as_slice().len() >= SPILLED_FROM) {
            view.rows_mut().spill(folder)?;
        }
        Ok((view, report))
    };
    files.iter().zip(each).map(read_one).collect::<Result<Vec<_>>>().map(|read| read.into_iter().unzip())
}

fn nothing_shared(which: Shared) -> Error {
    let shared = match which {
        Shared::Strings => "strings",
        Shared::Numerals => "numerals",
    };
    let problem =
        format!("the views share no {shared}; give a dictionary, or align from the vectors alone (unsupervised)");
    Error::NotEnoughData(problem)
}

/// Looks up the words of all dictionaries in the given views, and returns reports.
pub fn tuples(
    views: &[(&str, &Vocabulary)],
    dictionaries: &[Dictionary],
    options: &GatherOptions,
) -> Result<(Tuples, Vec<LexiconRead>)> {
    let names: Vec<&str> = views.iter().map(|(name, _)| *name).collect();
    let mut tuples = Tuples::new(views.len());
    let mut read = Vec::new();
    if let Some(which) = options.identical {
        tuples = lexicon::identical(&views.iter().map(|(_, words)| *words).collect::<Vec<_>>(), which);
        if tuples.is_empty() && dictionaries.is_empty() {
            return Err(nothing_shared(which));
        }
        read.push(LexiconRead::Identical { identical: tuples.len() });
    }
    for dictionary in dictionaries {
        let (lexicon, file) = dictionary.entries(&names, options)?;
        let lexicon = options.casing.of_lexicon(lexicon);
        let matched = tuples.add_lexicon(&lexicon, views)?;
        let dictionary = DictionaryRead::new(file, &lexicon, matched);
        match dictionary.swapped() {
            Some(problem) if is_clear(&dictionary) => return Err(Error::Request(problem)),
            _ => read.push(LexiconRead::Dictionary(dictionary)),
        }
    }
    if options.complete {
        tuples = tuples.complete();
        if tuples.is_empty() {
            let problem = "the dictionaries make no tuple that has all views; allow tuples with holes";
            return Err(Error::NotEnoughData(problem.to_owned()));
        }
    }
    Ok((tuples, read))
}

/// Whether the sides of a dictionary are swapped beyond doubt. Where most words are the same in both languages, a few
/// more matches mean little.
fn is_clear(dictionary: &DictionaryRead) -> bool {
    dictionary.if_swapped.is_some_and(|if_swapped| if_swapped > 2 * dictionary.matched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Lexicon;
    use crate::vectors::{Embeddings, Matrix};

    fn view(name: &str, words: &[&str]) -> View {
        let rows = Matrix::new((0..2 * words.len()).map(|x| x as f32 + 1.0).collect(), 2);
        View::from_embeddings(name, Embeddings::new(words.iter().copied().collect(), rows))
    }

    fn lexicon(entries: &[(&str, &str)]) -> Dictionary {
        let mut lexicon = Lexicon::new(vec!["en".to_owned(), "fr".to_owned()]);
        entries.iter().for_each(|&(en, fr)| lexicon.add([(0, en), (1, fr)].into_iter().collect()));
        lexicon.into()
    }

    #[test]
    fn what_is_at_hand_is_gathered_under_one_casing_and_described() {
        let views = || vec![view("en", &["Dog", "dog", "OK"]), view("fr", &["chien", "ok"])];
        let dictionaries = [lexicon(&[("DOG", "Chien"), ("cat", "chat")])];
        let mut options = GatherOptions { casing: Casing::Lower, ..Default::default() };
        let gathering = Gathering::of(views(), &dictionaries, &options).unwrap();
        assert_eq!(gathering.tuples.iter().collect::<Vec<_>>(), [[Some(0), Some(0)]]);
        assert_eq!(gathering.views[0].len(), 2);
        let json = serde_json::to_string(&gathering).unwrap();
        assert_eq!(
            json,
            r#"{"lexicons":[{"entries":2,"matched":1,"duplicates":0,"unknown_words":{"en":1,"fr":1}}],"read":[]}"#
        );
        options.identical = Some(Shared::Strings);
        assert_eq!(Gathering::of(views(), &dictionaries, &options).unwrap().tuples.len(), 2);
        options.casing = Casing::Kept;
        assert!(Gathering::of(views(), &dictionaries, &options).unwrap().tuples.is_empty());
        options.complete = true;
        assert!(matches!(Gathering::of(views(), &dictionaries, &options), Err(Error::NotEnoughData(_))));
    }

    #[test]
    fn views_that_share_nothing_have_to_be_connected_in_another_way() {
        let views = || vec![view("en", &["dog", "1945"]), view("ru", &["собака", "1946"])];
        for (shared, name) in [(Shared::Strings, "strings"), (Shared::Numerals, "numerals")] {
            let options = GatherOptions { identical: Some(shared), ..Default::default() };
            let error = Gathering::of(views(), &[], &options).unwrap_err().to_string();
            assert!(error.contains(&format!("share no {name}; give a dictionary")), "{error}");
        }
    }

    #[test]
    fn a_dictionary_whose_sides_are_swapped_is_noticed() {
        let views = || vec![view("en", &["dog", "cat", "ok", "no"]), view("fr", &["chien", "chat", "ok", "no"])];
        let gather = |entries: &[(&str, &str)]| Gathering::of(views(), &[lexicon(entries)], &Default::default());
        let error = gather(&[("chien", "dog"), ("chat", "cat"), ("ok", "ok")]).unwrap_err().to_string();
        assert!(error.contains("1 of 3 entries match") && error.contains("fr-en=FILE"), "{error}");
        // A few more matches are only reported.
        let gathering = gather(&[("chien", "dog"), ("no", "no"), ("ok", "ok"), ("x", "y"), ("y", "x")]).unwrap();
        let LexiconRead::Dictionary(read) = &gathering.lexicons_read[0] else { panic!("it is a dictionary") };
        assert_eq!((read.matched, read.if_swapped), (2, Some(3)));
        assert!(read.swapped().is_some());
        let gathering = gather(&[("dog", "chien"), ("no", "no")]).unwrap();
        let LexiconRead::Dictionary(read) = &gathering.lexicons_read[0] else { panic!("it is a dictionary") };
        assert_eq!((read.if_swapped, read.swapped()), (None, None));
    }

    #[test]
    fn a_request_that_makes_no_sense_is_refused_before_vectors_are_read() {
        let refused = |names: &[&str], dictionary: Dictionary| {
            let files: Vec<ViewFile> = names.iter().map(|name| ViewFile::new(*name, "nowhere.vec")).collect();
            Gathering::read(&files, &[dictionary], &Default::default(), &()).unwrap_err()
        };
        assert!(matches!(refused(&["en"], lexicon(&[])), Error::TooFewViews));
        assert!(matches!(refused(&["en", "fr", "en"], lexicon(&[])), Error::DuplicateView(name) if name == "en"));
        assert!(matches!(refused(&["en", "ru"], lexicon(&[])), Error::UnknownView { name, .. } if name == "fr"));
        let missing = Dictionary::pairs("nothing.txt", "en", "fr");
        assert!(matches!(refused(&["en", "fr"], missing), Error::Read { path, .. } if path.ends_with("nothing.txt")));
        let error = refused(&["en", "fr"], lexicon(&[]));
        assert!(error.is_bad_input() && error.to_string() == "view \"en\"", "{error}");
    }
}

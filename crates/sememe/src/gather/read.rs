//! Serialisable reports on the files that were read.

use serde::{Serialize, Serializer};

use crate::error::Skipped;
use crate::lexicon::{Lexicon, LexiconReport, Matched};
use crate::vectors::{Format, Read, Warning};

/// Report on reading a file of vectors.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("en.vec");
/// std::fs::write(&path, "dog 1 2\ncat 3 4\n").unwrap();
/// let read = sememe::vectors::read(&path, &Default::default(), &())?;
/// let report = sememe::gather::ViewRead::new(&read);
/// assert_eq!((report.words, report.dimension), (2, 2));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ViewRead {
    /// Its format.
    pub format: Format,
    /// Number of words, before the casing is applied.
    pub words: usize,
    /// Dimension of the vectors.
    pub dimension: usize,
    /// Entries that were skipped.
    pub skipped: Skipped,
    /// Warnings about the file.
    pub warnings: Vec<Warning>,
}

impl ViewRead {
    /// Creates the report.
    pub fn new(read: &Read) -> Self {
        ViewRead {
            format: read.format,
            words: read.embeddings.len(),
            dimension: read.embeddings.dim(),
            skipped: read.skipped.clone(),
            warnings: read.warnings.clone(),
        }
    }
}

/// Report on one source of tuples.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LexiconRead {
    /// Identical strings of the views.
    Identical {
        /// Number of tuples.
        identical: usize,
    },
    /// A dictionary.
    Dictionary(DictionaryRead),
}

/// Report on a dictionary.
///
/// ```
/// use sememe::gather::{LexiconRead, tuples};
/// use sememe::{lexicon::Lexicon, vectors::Vocabulary};
///
/// let mut lexicon = Lexicon::new(vec!["en".to_owned(), "fr".to_owned()]);
/// lexicon.add([(0, "dog"), (1, "chien")].into_iter().collect());
/// lexicon.add([(0, "dog"), (1, "chienne")].into_iter().collect());
/// let (en, fr): (Vocabulary, Vocabulary) = (["dog"].into_iter().collect(), ["chien"].into_iter().collect());
/// let (_, read) = tuples(&[("en", &en), ("fr", &fr)], &[lexicon.into()], &Default::default())?;
/// let LexiconRead::Dictionary(read) = &read[0] else { panic!("it is a dictionary") };
/// assert_eq!((read.matched, read.unknown[1].1[0].as_str()), (1, "chienne"));
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DictionaryRead {
    /// Report on reading its file; `None` if the entries were in memory.
    #[serde(flatten)]
    pub file: Option<LexiconReport>,
    /// Number of distinct entries.
    pub entries: usize,
    /// Number of these with vectors for at least two words.
    pub matched: usize,
    /// Number of repeated entries, which were dropped.
    pub duplicates: usize,
    /// Distinct out-of-vocabulary words, for each view of the dictionary. JSON only has their numbers.
    #[serde(rename = "unknown_words", serialize_with = "numbers")]
    pub unknown: Vec<(String, Vec<String>)>,
    /// Number of entries that would match if the two views of the dictionary were swapped, where these are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_swapped: Option<usize>,
}

/// Fewer entries that match the other way round may be chance.
const MIN_IF_SWAPPED: usize = 3;

impl DictionaryRead {
    pub(super) fn new(file: Option<LexiconReport>, lexicon: &Lexicon, matched: Matched) -> Self {
        let is_swapped = matched.if_swapped > matched.entries && matched.if_swapped >= MIN_IF_SWAPPED;
        DictionaryRead {
            file,
            entries: lexicon.entries().len(),
            matched: matched.entries,
            duplicates: lexicon.duplicates(),
            unknown: lexicon.views().iter().cloned().zip(matched.unknown).collect(),
            if_swapped: is_swapped.then_some(matched.if_swapped),
        }
    }

    /// What to say where the sides of the dictionary seem to be swapped.
    pub fn swapped(&self) -> Option<String> {
        let if_swapped = self.if_swapped?;
        let [(first, _), (second, _)] = &self.unknown[..] else { return None };
        let name = self.file.as_ref().map_or("a dictionary", |file| file.file.as_str());
        Some(format!(
            "{name}: the sides seem to be swapped: {} of {} entries match with words of {first:?} first, {if_swapped} with \
             words of {second:?} first; if so, name the views the other way round ({second}-{first}=FILE)",
            self.matched, self.entries
        ))
    }
}

fn numbers<S: Serializer>(unknown: &[(String, Vec<String>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(unknown.iter().map(|(view, words)| (view, words.len())))
}

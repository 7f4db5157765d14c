//! Word vectors: one file per format, one [`Embeddings`] out of all of them.

mod array;
mod fasttext;
mod intake;
mod matrix;
mod npy;
pub(crate) mod safetensors;
mod skipped;
mod text;
mod vocabulary;
mod word2vec;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;

pub use self::fasttext::Subwords;
pub(crate) use self::intake::check_skipped;
pub use self::matrix::Matrix;
pub use self::skipped::{Reason, Skipped};
pub use self::vocabulary::Vocabulary;
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::progress::Progress;

/// Rows that one thread handles at a time. Fixed, so that nothing depends on the number of threads.
pub(crate) const ROWS_AT_A_TIME: usize = 512;

/// Words in file order, each with a vector of the same dimension.
///
/// ```
/// use sememe::vectors::{Embeddings, Matrix};
///
/// let words = ["house", "dog"].into_iter().collect();
/// let embeddings = Embeddings::new(words, Matrix::new(vec![1.0, 0.0, 0.6, 0.8], 2));
/// assert_eq!(embeddings.get("dog"), Some(&[0.6, 0.8][..]));
/// ```
#[derive(Clone)]
pub struct Embeddings {
    vocabulary: Vocabulary,
    matrix: Matrix,
    subwords: Option<Subwords>,
}

impl Embeddings {
    /// Joins words and rows. Panics when their numbers differ.
    pub fn new(vocabulary: Vocabulary, matrix: Matrix) -> Self {
        assert_eq!(vocabulary.len(), matrix.rows(), "one row a word");
        Embeddings { vocabulary, matrix, subwords: None }
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// True when there is no word.
    pub fn is_empty(&self) -> bool {
        self.vocabulary.is_empty()
    }

    /// Length of each vector.
    pub fn dim(&self) -> usize {
        self.matrix.cols()
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The vectors, one a row.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    pub(crate) fn matrix_mut(&mut self) -> &mut Matrix {
        &mut self.matrix
    }

    /// The word at `index`. Panics when there is none.
    pub fn word(&self, index: usize) -> &str {
        self.vocabulary.word(index)
    }

    /// The vector at `index`. Panics when there is none.
    pub fn vector(&self, index: usize) -> &[f32] {
        self.matrix.row(index)
    }

    /// The vector of a word of the vocabulary.
    pub fn get(&self, word: &str) -> Option<&[f32]> {
        self.vocabulary.get(word).map(|index| self.vector(index))
    }

    /// The n-gram table, where the vectors came from a fastText model that has one.
    pub fn subwords(&self) -> Option<&Subwords> {
        self.subwords.as_ref()
    }

    fn set_subwords(&mut self, subwords: Subwords) {
        self.subwords = Some(subwords);
    }

    /// The vectors of the given words, composed from n-grams where a word is unknown and the source allows it;
    /// and the words for which there is none.
    pub fn select<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> (Embeddings, Vec<&'a str>) {
        let mut vocabulary = Vocabulary::new();
        let mut data = Vec::new();
        let mut missing = Vec::new();
        for word in words {
            let known = self.get(word).map(<[f32]>::to_vec);
            let Some(vector) = known.or_else(|| self.subwords.as_ref()?.vector(word)) else {
                missing.push(word);
                continue;
            };
            if vocabulary.push(word) {
                data.extend(vector);
            }
        }
        (Embeddings::new(vocabulary, Matrix::new(data, self.dim())), missing)
    }

    /// Lower-cases the words; of those that become equal the first is kept.
    pub fn lowercased(self) -> Self {
        let mut vocabulary = Vocabulary::new();
        let mut kept = Vec::new();
        for (index, word) in self.vocabulary.iter().enumerate() {
            if vocabulary.push(&word.to_lowercase()) {
                kept.push(index);
            }
        }
        let matrix = if kept.len() == self.len() { self.matrix } else { self.matrix.select(&kept) };
        Embeddings { vocabulary, matrix, subwords: self.subwords }
    }

    /// A hash of words and numbers, whatever file format they came from.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.dim() as u64).to_le_bytes());
        for word in self.vocabulary.iter() {
            hasher.update(word.as_bytes()).update(b"\n");
        }
        for rows in self.matrix.as_slice().chunks(64 * ROWS_AT_A_TIME * self.dim()) {
            hasher.update_rayon(&npy::little_endian(rows));
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl fmt::Debug for Embeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embeddings({} words x {})", self.len(), self.dim())
    }
}

/// The file formats of word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// word2vec and fastText text, `.vec`, with a header; plain, gzip, xz or zstd.
    Text,
    /// The same without a header.
    Glove,
    /// word2vec binary.
    Word2vec,
    /// A fastText model with its n-grams.
    FastText,
    /// A NumPy array with a word list beside it.
    Npy,
    /// safetensors, with its words inside or beside it.
    Safetensors,
}

impl Format {
    /// All formats, with the names that [`FromStr`] takes.
    pub const ALL: [(&'static str, Format); 6] = [
        ("text", Format::Text),
        ("glove", Format::Glove),
        ("word2vec", Format::Word2vec),
        ("fasttext", Format::FastText),
        ("npy", Format::Npy),
        ("safetensors", Format::Safetensors),
    ];

    /// The format that a file to be written should have, by its name.
    pub fn of_name(path: &Path) -> Result<Format> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        Ok(match extension {
            "vec" => Format::Text,
            "txt" => Format::Glove,
            "bin" => Format::Word2vec,
            "npy" => Format::Npy,
            "safetensors" => Format::Safetensors,
            _ => {
                let problem = "cannot tell the format to write from this name; \
                     end it in .vec, .txt (no header), .bin (word2vec), .npy or .safetensors, or name the format";
                return Err(Error::malformed(path, Place::Whole, problem));
            }
        })
    }

    /// The format of a file to be read, by its content.
    fn detect(input: &Input) -> Result<Format> {
        let head = input.head(text::HEAD)?;
        if head.is_empty() {
            return Err(Error::malformed(input.path(), Place::Whole, "is empty after decompression"));
        }
        if head.starts_with(npy::MAGIC) {
            return Ok(Format::Npy);
        }
        if head.starts_with(&fasttext::MAGIC) {
            return Ok(Format::FastText);
        }
        if let [a, b, c, d, e, f, g, h, b'{', ..] = head[..]
            && u64::from_le_bytes([a, b, c, d, e, f, g, h]) < 1 << 40
        {
            return Ok(Format::Safetensors);
        }
        refuse_other_files(input, &head)?;
        let newline = memchr::memchr(b'\n', &head).unwrap_or(head.len());
        if text::parse_header(&head[..newline]).is_some() {
            let sample = &head[(newline + 1).min(head.len())..];
            let has_text_row = text::look_at_beginning(sample, false, head.len() < text::HEAD).dim > 0;
            return Ok(if is_text(sample) || has_text_row { Format::Text } else { Format::Word2vec });
        }
        Ok(Format::Text)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Format::ALL.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Format::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
            Error::argument("format", name, format!("it must be one of {}", names.join(", ")))
        })
    }
}

/// Whether the beginning is valid UTF-8 without control characters, as rows of floats hardly ever are.
fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    let is_utf8 = std::str::from_utf8(start).map_or_else(|e| e.error_len().is_none(), |_| true);
    is_utf8 && start.iter().all(|&b| b >= b' ' || b.is_ascii_whitespace())
}

/// Files that people hand over by mistake.
fn refuse_other_files(input: &Input, head: &[u8]) -> Result<()> {
    let start = head.trim_ascii_start();
    let begins_with = |prefix: &[u8]| start.get(..prefix.len()).is_some_and(|s| s.eq_ignore_ascii_case(prefix));
    let problem = if begins_with(b"<!doctype") || begins_with(b"<html") || begins_with(b"<?xml") {
        "is an HTML or XML page, not word vectors: the download went wrong, fetch the file again"
    } else if head.starts_with(b"PK\x03\x04") {
        "is a zip archive: unpack it first"
    } else if head.starts_with(b"BZh") {
        "is compressed with bzip2: unpack it first (gzip, xz and zstd are read as they are)"
    } else if head.starts_with(b"\x80") && head.get(1).is_some_and(|&version| version <= 5) {
        "is a Python pickle: save the vectors as .vec, .npy or .safetensors instead"
    } else {
        return Ok(());
    };
    Err(Error::malformed(input.path(), Place::Byte(0), problem))
}

/// How to read word vectors. The default reads everything in the file, whatever format it has.
#[derive(Clone)]
pub struct ReadOptions {
    /// Read only as many words, from the beginning of the file.
    pub max_words: Option<usize>,
    /// Take the file to be of this format instead of looking.
    pub format: Option<Format>,
    /// The word list of an array.
    pub words: Option<PathBuf>,
    /// Anything skipped is an error.
    pub strict: bool,
    /// Told how far reading is.
    pub progress: Arc<dyn Progress>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { max_words: None, format: None, words: None, strict: false, progress: Arc::new(()) }
    }
}

/// Something about a file that should be known but did not keep it from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The header declares another number of words than there are lines.
    CountMismatch {
        /// What the header says.
        declared: u64,
        /// What there is.
        found: u64,
    },
    /// There is something after the last declared entry.
    TrailingBytes {
        /// Where it begins.
        at: u64,
        /// How long it is.
        len: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::CountMismatch { declared, found } => {
                write!(f, "the header declares {declared} words, the file has {found} lines")
            }
            Warning::TrailingBytes { at, len } => {
                write!(f, "{len} bytes after the last declared word (from byte {at}) were left alone")
            }
        }
    }
}

/// What came out of a file of word vectors.
#[derive(Debug)]
pub struct Read {
    /// The words and vectors.
    pub embeddings: Embeddings,
    /// The format that the file has.
    pub format: Format,
    /// What was passed over.
    pub skipped: Skipped,
    /// What should be known.
    pub warnings: Vec<Warning>,
}

/// Reads word vectors of any format.
///
/// ```
/// # fn main() -> sememe::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("en.vec");
/// std::fs::write(&path, "2 3\nhouse 0.1 0.2 0.3\nNew York 1 2 3\n").unwrap();
/// let read = sememe::vectors::read(&path, &Default::default())?;
/// assert_eq!(read.embeddings.get("New York"), Some(&[1.0, 2.0, 3.0][..]));
/// # Ok(())
/// # }
/// ```
pub fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    read_input(&Input::open(path)?, None, options)
}

/// [`read`] on bytes that are already at hand, and the word list of an array where it is at hand too.
pub fn read_input(input: &Input, words: Option<&Input>, options: &ReadOptions) -> Result<Read> {
    if options.max_words == Some(0) {
        return Err(Error::argument("max-words", 0, "at least one word must be read"));
    }
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(input)?,
    };
    match format {
        Format::Text | Format::Glove => text::read(input, options, format),
        Format::Word2vec => word2vec::read(input, options),
        Format::FastText => fasttext::read(input, options),
        Format::Npy => npy::read(input, words, options),
        Format::Safetensors => safetensors::read(input, words, options),
    }
}

/// Writes word vectors; the file appears under its name when it is complete.
pub fn write(embeddings: &Embeddings, path: &Path, format: Format) -> Result<()> {
    match format {
        Format::Text | Format::Glove => text::write(embeddings, path, format),
        Format::Word2vec => word2vec::write(embeddings, path),
        Format::Npy => npy::write(embeddings, path),
        Format::Safetensors => safetensors::write(embeddings, path),
        Format::FastText => Err(Error::argument("format", format, "fastText models can be read, not written")),
    }
}

/// The files that [`write()`] makes for a name: the array formats keep their words in a second one.
pub fn files_written(path: &Path, format: Format) -> Vec<PathBuf> {
    match format {
        Format::Npy => vec![path.to_owned(), word_list_beside(path)],
        _ => vec![path.to_owned()],
    }
}

fn word_list_beside(array: &Path) -> PathBuf {
    array.with_extension("words.txt")
}

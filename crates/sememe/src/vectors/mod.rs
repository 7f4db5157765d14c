//! Word vectors: readers and writers for all file formats, with [`Embeddings`] in common.

pub(crate) mod array;
mod embeddings;
#[cfg(feature = "fasttext")]
mod fasttext;
mod format;
mod intake;
mod matrix;
pub(crate) mod npy;
pub(crate) mod safetensors;
mod subwords;
#[cfg(feature = "parquet")]
mod table;
#[cfg(feature = "parquet")]
mod table_rows;
mod text;
mod view;
mod vocabulary;
mod word2vec;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::embeddings::Embeddings;
pub use self::format::Format;
pub use self::intake::MAX_DIMENSION;
pub(crate) use self::intake::{NOT_UTF8, check_skipped, check_word};
pub use self::matrix::Matrix;
pub(crate) use self::matrix::ROWS_AT_ONCE;
pub use self::subwords::Subwords;
#[cfg(feature = "parquet")]
pub use self::table::{has_vectors, read_batch_rows, read_batches, record_batch, write_table};
pub use self::view::{Label, View};
pub use self::vocabulary::Vocabulary;
use crate::error::{Error, Place, Result};
pub use crate::error::{Reason, Skipped};
use crate::files::Input;
use crate::names::setters;
use crate::observe::Observer;
use crate::tensors::TensorFile;

/// Rows that one thread processes at a time. Fixed, so that results do not depend on the number of threads.
pub(crate) const ROWS_AT_A_TIME: usize = 512;

/// Options for reading word vectors. The default reads the whole file and detects its format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Reads only the first `max_words` words.
    pub max_words: Option<usize>,
    /// The format of the file, instead of detecting it.
    pub format: Option<Format>,
    /// The word list of an array, if it is not beside the array.
    pub words: Option<PathBuf>,
    /// The columns of a table, `[word, vector]` or `[vector]`, instead of the only ones of suitable types.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// Returns an error if any entry is skipped.
    pub strict: bool,
    /// Memory-maps binary files instead of reading them. Arrays of float32 are not copied then, and only the parts of a
    /// fastText model that are used are read. The file must not change while the vectors are in use: they would change
    /// with it, and if it is truncated, the operating system ends the program.
    #[serde(default)]
    pub mmap: bool,
}

/// A problem of a file that did not prevent reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The number of words in the header differs from the number of lines.
    CountMismatch {
        /// The number in the header.
        declared: u64,
        /// The number of lines.
        found: u64,
    },
    /// Many words end with a number, so the dimension may be too small.
    NumbersInWords {
        /// Number of such words.
        count: u64,
        /// The line of the first one.
        first: u64,
    },
    /// There are bytes after the last declared entry.
    TrailingBytes {
        /// Byte offset of the first one.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
}

impl Serialize for Warning {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::CountMismatch { declared, found } => {
                write!(f, "the header declares {declared} words, the file has {found} lines")
            }
            Warning::NumbersInWords { count, first } => {
                write!(f, "{count} words end in a number (first: line {first}): do these lines have more numbers?")
            }
            Warning::TrailingBytes { at, len } => {
                write!(f, "{len} bytes after the last declared word (from byte {at}) were left alone")
            }
        }
    }
}

/// The result of reading a file of word vectors.
#[derive(Debug)]
#[non_exhaustive]
pub struct Read {
    /// The words and vectors.
    pub embeddings: Embeddings,
    /// The format of the file.
    pub format: Format,
    /// Entries that were skipped.
    pub skipped: Skipped,
    /// Warnings about the file.
    pub warnings: Vec<Warning>,
}

/// Reads word vectors of any format.
///
/// ```
/// # fn main() -> sememe::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("en.vec");
/// std::fs::write(&path, "2 3\nhouse 0.1 0.2 0.3\nNew York 1 2 3\n").unwrap();
/// let read = sememe::vectors::read(&path, &Default::default(), &())?;
/// assert_eq!(read.embeddings.get("New York"), Some(&[1.0, 2.0, 3.0][..]));
/// # Ok(())
/// # }
/// ```
pub fn read(path: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<Read> {
    read_input(&Input::open_with(path, options.mmap)?, None, options, observer)
}

/// [`read_input`] for vectors that will be changed, such as normalised ones. Whole arrays are read even if the input is to be
/// mapped, as a changed copy beside the mapped file would take memory twice. The first words of an array are copied from
/// the map, as reading would take memory for all of them.
pub fn read_to_change(input: Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Read> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(&input)?,
    };
    #[cfg(feature = "parquet")]
    if matches!(format, Format::Parquet | Format::Arrow) {
        return table::read_to_change(&input, &checked(&input, format, options)?, observer);
    }
    let is_array = matches!(format, Format::Npy | Format::Safetensors);
    let input = if is_array && options.max_words.is_none() { input.copied() } else { input };
    read_input(&input, None, &ReadOptions { format: Some(format), ..options.clone() }, observer)
}

/// [`read`] on data in memory; `words` is the word list of an array.
pub fn read_input(
    input: &Input,
    words: Option<&Input>,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Read> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(input)?,
    };
    let options = &checked(input, format, options)?;
    match format {
        Format::Text | Format::Glove => text::read(input, options, format, observer),
        Format::Word2vec => word2vec::read(input, options, observer),
        #[cfg(feature = "fasttext")]
        Format::FastText => fasttext::read(input, options, observer),
        #[cfg(not(feature = "fasttext"))]
        Format::FastText => Err(Error::missing_feature(input.path(), "a fastText model", "fasttext")),
        Format::Npy => npy::read(input, words, options, observer),
        Format::Safetensors => safetensors::read(input, words, options, observer),
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => table::read(input, options, observer),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => Err(Error::missing_feature(input.path(), "a table", "parquet")),
    }
}

/// The options, if they make sense for a file of this format.
fn checked(input: &Input, format: Format, options: &ReadOptions) -> Result<ReadOptions> {
    if options.max_words == Some(0) {
        return Err(Error::argument("max-words", 0, "at least one word must be read"));
    }
    if let (Some(list), false) = (&options.words, matches!(format, Format::Npy | Format::Safetensors)) {
        let expected = format!("{} has words of its own; a word list is for arrays", input.path().display());
        return Err(Error::argument("words", list.display(), expected));
    }
    check_columns(input, format, options)?;
    Ok(ReadOptions { format: Some(format), ..options.clone() })
}

/// Columns are those of tables.
fn check_columns(input: &Input, format: Format, options: &ReadOptions) -> Result<()> {
    match &options.columns {
        Some(columns) if !format.is_table() => {
            let expected = format!("{} is no table; leave it out", input.path().display());
            Err(Error::argument("columns", columns.join(","), expected))
        }
        _ => Ok(()),
    }
}

impl ReadOptions {
    /// These options for each of several files: columns are those of the tables among them, of which there must be one.
    pub(crate) fn for_each(&self, files: &[&Path]) -> Result<Vec<ReadOptions>> {
        if self.columns.is_none() || files.len() < 2 {
            return Ok(vec![self.clone(); files.len()]);
        }
        let is_table = |path: &&Path| match self.format {
            Some(format) => Ok(format.is_table()),
            // A pipe cannot be opened twice.
            None if !path.is_file() => Ok(true),
            None => Ok(Format::detect(&Input::open_with(path, true)?)?.is_table()),
        };
        let are_tables = files.iter().map(is_table).collect::<Result<Vec<bool>>>()?;
        let any_is_table = are_tables.contains(&true);
        let without = ReadOptions { columns: None, ..self.clone() };
        let of_file = |is_table: bool| if any_is_table && !is_table { without.clone() } else { self.clone() };
        Ok(are_tables.into_iter().map(of_file).collect())
    }
}

/// Reads rows of numbers: an array, even without words, or the vectors of any other format. Rows are identified by
/// their numbers, so nothing is skipped: an unusable row is an error.
pub fn read_matrix(path: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<Matrix> {
    read_matrix_input(&Input::open_with(path, options.mmap)?, options, observer)
}

/// [`read_matrix`] on data in memory.
pub fn read_matrix_input(input: &Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Matrix> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(input)?,
    };
    check_columns(input, format, options)?;
    match format {
        Format::Npy => npy::array(input)?.into_matrix(options.max_words, observer),
        Format::Safetensors => safetensors::array(&TensorFile::read(input)?)?.into_matrix(options.max_words, observer),
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => table::read_matrix(input, &checked(input, format, options)?, observer),
        _ => {
            let strictly = ReadOptions { strict: true, format: Some(format), ..options.clone() };
            Ok(read_input(input, None, &strictly, observer)?.embeddings.into_matrix())
        }
    }
}

/// The bytes of a `.npy` file of float32, which [`read_matrix_input`] reads.
pub fn matrix_to_npy(matrix: &Matrix) -> Vec<u8> {
    npy::to_bytes(matrix)
}

/// Writes word vectors. The file appears under its name only when it is complete.
pub fn write(embeddings: &Embeddings, path: &Path, format: Format) -> Result<()> {
    match format {
        Format::Text | Format::Glove => text::write(embeddings, path, format),
        Format::Word2vec => word2vec::write(embeddings, path),
        Format::Npy => npy::write(embeddings, path),
        Format::Safetensors => safetensors::write(embeddings, path),
        Format::FastText => Err(Error::argument("format", format, "fastText models can be read, not written")),
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => table::write_table(embeddings, path, format, &[]),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => {
            Err(Error::argument("format", format, "this build writes no tables: build it with the feature `parquet`"))
        }
    }
}

/// The files that [`write()`] creates. A NumPy array has its words in a second file.
pub fn files_written(path: &Path, format: Format) -> Vec<PathBuf> {
    match format {
        Format::Npy => vec![path.to_owned(), word_list_beside(path)],
        _ => vec![path.to_owned()],
    }
}

/// The word list of an array: `fr.words.txt` for `fr.npy` and for `fr.npy.zst`.
fn word_list_beside(array: &Path) -> PathBuf {
    let is_compressed = array.extension().is_some_and(|e| e == "gz" || e == "xz" || e == "zst");
    let plain = if is_compressed { array.with_extension("") } else { array.to_owned() };
    plain.with_extension("words.txt")
}

/// Reads a list of words, one per line; empty lines are ignored.
pub fn read_word_list(path: &Path) -> Result<Vec<String>> {
    let text = Input::open(path)?.text()?;
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.split(|&b| b == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let word = std::str::from_utf8(line)
            .map_err(|_| Error::malformed(path, Place::Line(number), "is not valid UTF-8: convert the file first"))?;
        if !word.is_empty() {
            words.push(word.to_owned());
        }
    }
    Ok(words)
}

setters!(ReadOptions {
    /// Sets [`ReadOptions::max_words`].
    with_max_words: max_words = Option<usize>,
    /// Sets [`ReadOptions::format`].
    with_format: format = Option<Format>,
    /// Sets [`ReadOptions::words`].
    with_words: words = Option<PathBuf>,
    /// Sets [`ReadOptions::columns`].
    with_columns: columns = Option<Vec<String>>,
    /// Sets [`ReadOptions::strict`].
    with_strict: strict = bool,
    /// Sets [`ReadOptions::mmap`].
    with_mmap: mmap = bool,
});

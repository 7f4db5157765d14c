//! File formats and their detection.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{npy, text};
use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::names;

/// The magic number of fastText models.
pub(super) const FASTTEXT_MAGIC: [u8; 4] = 793_712_314_i32.to_le_bytes();

/// The file formats of word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// word2vec and fastText text, `.vec`, with a header.
    Text,
    /// GloVe text: the same without a header.
    Glove,
    /// word2vec binary.
    Word2vec,
    /// A fastText model with its n-grams. Reading it needs the Cargo feature `fasttext`.
    FastText,
    /// A NumPy array with a word list beside it.
    Npy,
    /// safetensors, with a word list inside or beside it.
    Safetensors,
    /// A Parquet table with a column of words and one of vectors. It needs the Cargo feature `parquet`.
    Parquet,
    /// An Arrow IPC file (Feather) or stream, as a table of the same columns. It needs the same feature.
    Arrow,
}

impl Format {
    /// All formats with their names, as [`FromStr`] parses them.
    pub const ALL: [(&'static str, Format); 8] = [
        ("text", Format::Text),
        ("glove", Format::Glove),
        ("word2vec", Format::Word2vec),
        ("fasttext", Format::FastText),
        ("npy", Format::Npy),
        ("safetensors", Format::Safetensors),
        ("parquet", Format::Parquet),
        ("arrow", Format::Arrow),
    ];

    /// The format to write, by the extension of the file name.
    pub fn of_name(path: &Path) -> Result<Format> {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        Ok(match extension {
            "vec" => Format::Text,
            "txt" => Format::Glove,
            "bin" => Format::Word2vec,
            "npy" => Format::Npy,
            "safetensors" => Format::Safetensors,
            "parquet" => Format::Parquet,
            "arrow" | "feather" | "ipc" => Format::Arrow,
            _ => {
                let problem = "cannot tell the format to write from this name; \
                     end it in .vec, .txt (no header), .bin (word2vec), .npy, .safetensors, .parquet or .arrow, or name the format";
                return Err(Error::malformed(path, Place::Whole, problem));
            }
        })
    }

    /// The extension of files of this format, with which [`Format::of_name`] finds it again.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Text => "vec",
            Format::Glove => "txt",
            Format::Word2vec | Format::FastText => "bin",
            Format::Npy => "npy",
            Format::Safetensors => "safetensors",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// The format of a table, by its beginning.
    pub(crate) fn of_table(head: &[u8]) -> Option<Format> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Format::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Format::Arrow),
            // A stream: a marker, and the length of a schema.
            [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..] => Some(Format::Arrow),
            _ => None,
        }
    }

    /// Whether files of this format have named columns.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }

    /// Detects the format of a file by its content.
    pub(crate) fn detect(input: &Input) -> Result<Format> {
        let head = input.head(text::HEAD)?;
        if head.is_empty() {
            return Err(Error::malformed(input.path(), Place::Whole, "is empty after decompression"));
        }
        if head.starts_with(npy::MAGIC) {
            return Ok(Format::Npy);
        }
        if head.starts_with(&FASTTEXT_MAGIC) {
            return Ok(Format::FastText);
        }
        if let [a, b, c, d, e, f, g, h, b'{', ..] = head[..]
            && u64::from_le_bytes([a, b, c, d, e, f, g, h]) < 1 << 40
        {
            return Ok(Format::Safetensors);
        }
        if let Some(format) = Format::of_table(&head) {
            return Ok(format);
        }
        refuse_other_files(input, &head)?;
        let newline = memchr::memchr(b'\n', &head).unwrap_or(head.len());
        if let Some((_, declared)) = text::parse_header(&head[..newline]) {
            let sample = &head[(newline + 1).min(head.len())..];
            // Binary floats may look like a row of one number by accident, but not like one of the declared dimension.
            let has_text_row = text::look_at_beginning(sample, false, head.len() < text::HEAD).dim == declared;
            return Ok(if is_text(sample) || has_text_row { Format::Text } else { Format::Word2vec });
        }
        Ok(Format::Text)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &Format::ALL))
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("format", name, &Format::ALL)
    }
}

/// Whether the beginning is valid UTF-8 without control characters, which binary floats hardly ever are.
fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    let is_utf8 = std::str::from_utf8(start).map_or_else(|e| e.error_len().is_none(), |_| true);
    is_utf8 && start.iter().all(|&b| b >= b' ' || b.is_ascii_whitespace())
}

/// Returns an error for files that are often given by mistake, such as web pages.
fn refuse_other_files(input: &Input, head: &[u8]) -> Result<()> {
    let start = head.trim_ascii_start();
    let begins_with = |prefix: &[u8]| start.get(..prefix.len()).is_some_and(|s| s.eq_ignore_ascii_case(prefix));
    let problem = if begins_with(b"<!doctype") || begins_with(b"<html") || begins_with(b"<?xml") {
        "is an HTML or XML page, not word vectors: the download went wrong, fetch the file again"
    } else if head.starts_with(b"PK\x03\x04") {
        "is a zip archive: unpack it first"
    } else if head.starts_with(b"BZh") {
        "is compressed with bzip2: unpack it first (gzip, xz and zstd are read as they are)"
    } else if head.starts_with(b"PARE") {
        "is an encrypted Parquet file: decrypt it first"
    } else if head.starts_with(b"FEA1") {
        "is a Feather file of version 1: write it as version 2 (Arrow IPC) or Parquet"
    } else if head.starts_with(b"\x80") && head.get(1).is_some_and(|&version| version <= 5) {
        "is a Python pickle: save the vectors as .vec, .npy or .safetensors instead"
    } else {
        return Ok(());
    };
    Err(Error::malformed(input.path(), Place::Byte(0), problem))
}

//! The text of a dictionary or similar file, with an error for encodings other than UTF-8.

use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input};
use crate::vectors::Format;

/// Number of bytes from which the encoding is guessed.
const HEAD_BYTES: usize = 64;

/// Whether a dictionary is a table: Parquet or Arrow.
pub(crate) fn is_table(input: &Input) -> Result<bool> {
    Ok(Format::of_table(&input.head(HEAD_BYTES)?).is_some())
}

/// The text of a file. Other encodings than UTF-8 are errors.
pub(crate) fn text_of(input: &Input) -> Result<Bytes> {
    let head = input.head(HEAD_BYTES)?;
    if Format::of_table(&head).is_some() {
        #[cfg(not(feature = "parquet"))]
        return Err(Error::missing_feature(input.path(), "a table", "parquet"));
        #[cfg(feature = "parquet")]
        return Err(Error::malformed(input.path(), Place::Whole, "is a table; this is read from text files only"));
    }
    let encoding = match head.as_slice() {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some(("is UTF-32 text", "UTF-32")),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(("is UTF-16 text", "UTF-16")),
        head if head.contains(&0) => Some(("contains NUL bytes, as UTF-16 text or a binary file does", "UTF-16")),
        _ => None,
    };
    if let Some((finding, encoding)) = encoding {
        let problem = format!("{finding}; it must be UTF-8 text: convert it (iconv -f {encoding} -t UTF-8 FILE)");
        return Err(Error::malformed(input.path(), Place::Whole, problem));
    }
    input.text()
}

//! The text of a dictionary file or the like, or why it is none.

use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input};

/// How many bytes are looked at to learn the encoding.
const LOOKED_AT: usize = 64;

pub(crate) fn text_of(input: &Input) -> Result<Bytes> {
    let encoding = match input.head(LOOKED_AT)?.as_slice() {
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

//! word2vec's binary format: a text header `count dimension`, then for each word its bytes, a space and little-endian
//! f32.

use std::path::Path;

use super::intake::{Intake, LONGEST_WORD, MAX_DIMENSION, check_dimension, check_vector, check_word};
use super::{Embeddings, Format, Read, ReadOptions, Warning, text};
use crate::error::{Error, Place, Result};
use crate::files::{Input, Output, little_endian};
use crate::observe::{Meter, Observer, Stage};

pub(crate) fn read(input: &Input, options: &ReadOptions, observer: &dyn Observer) -> Result<Read> {
    let path = input.path();
    let bytes = input.bytes()?;
    let newline = memchr::memchr(b'\n', &bytes[..bytes.len().min(100)]).unwrap_or(0);
    let Some((count, dim)) = text::parse_header(&bytes[..newline]) else {
        return Err(Error::malformed(
            path,
            Place::Byte(0),
            "does not begin with `count dimension` as word2vec binaries do",
        ));
    };
    check_dimension(path, dim, Place::Line(1))?;
    let mut at = newline + 1;
    // An entry takes at least a word of one byte, a space and the numbers.
    let row_len = dim.min(MAX_DIMENSION + 1) * 4;
    let possible = (bytes.len() - at) / (row_len + 2) + 1;
    let mut intake = Intake::new(path, options, dim, possible.min(count as usize))?;
    let mut vector = Vec::with_capacity(dim);
    let (meter, mut reported) = (Meter::new(observer, Stage::Reading, bytes.len()), 0);
    meter.check()?;
    for entry in 1..=count {
        if intake.is_full() {
            break;
        }
        // The original tool ends each vector with a newline; others do not.
        while bytes.get(at) == Some(&b'\n') {
            at += 1;
        }
        let ahead = &bytes[at..bytes.len().min(at + LONGEST_WORD + 1)];
        let space = memchr::memchr(b' ', ahead).map(|len| at + len);
        let Some((space, numbers)) = space.and_then(|at| Some((at, bytes.get(at + 1..at + 1 + row_len)?))) else {
            let problem = format!("entry {entry} of {count} is cut off or damaged: fetch the file again");
            return Err(Error::malformed(path, Place::Byte(at as u64), problem));
        };
        vector.clear();
        vector.extend(numbers.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        let checked =
            check_word(&bytes[at..space]).and_then(|word| check_vector(&vector).map(|()| (word, &vector[..])));
        intake.take(checked, Place::Entry(entry));
        at = space + 1 + row_len;
        if entry % 4096 == 0 {
            meter.advance(at - reported)?;
            reported = at;
        }
    }
    let mut warnings = Vec::new();
    if !intake.is_full() && bytes[at..].iter().any(|&b| b != b'\n') {
        warnings.push(Warning::TrailingBytes { at: at as u64, len: (bytes.len() - at) as u64 });
    }
    let (embeddings, skipped) = intake.finish()?;
    Ok(Read { embeddings, format: Format::Word2vec, skipped, warnings })
}

pub(crate) fn write(embeddings: &Embeddings, path: &Path) -> Result<()> {
    // A space ends the word in this format, so a word with a space could not be read back.
    if let Some(entry) = embeddings.vocabulary().iter().position(|word| word.contains(' ')) {
        let word = embeddings.word(entry);
        let problem = format!("the word {word:?} has a space, which word2vec .bin cannot hold; write another format");
        return Err(Error::malformed(path, Place::Entry(entry as u64 + 1), problem));
    }
    let mut output = Output::create(path)?;
    output.write_all(format!("{} {}\n", embeddings.len(), embeddings.dim()).as_bytes())?;
    for (row, word) in embeddings.vocabulary().iter().enumerate() {
        output.write_all(word.as_bytes())?;
        output.write_all(b" ")?;
        output.write_all(&little_endian(embeddings.vector(row)))?;
        output.write_all(b"\n")?;
    }
    output.finish()
}

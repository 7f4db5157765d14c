//! Text vectors: word2vec and fastText `.vec` (with a `count dimension` header) and GloVe (without).
//!
//! The separator is U+0020 only, and the last `dimension` fields of a line are the numbers. Words with no-break spaces,
//! thin spaces or even plain spaces are therefore preserved.

use std::path::Path;

use rayon::prelude::*;

use super::intake::{Intake, check_dimension, check_vector, check_word};
use super::{Embeddings, Format, ROWS_AT_A_TIME, Read, ReadOptions, Warning};
use crate::error::{Error, Place, Reason, Result};
use crate::files::{BYTE_ORDER_MARK, Input, Output};
use crate::observe::{Meter, Observer, Stage};

/// Bytes of text that one thread parses at a time. Fixed, so that results do not depend on the number of threads.
const CHUNK: usize = 256 << 10;
/// Number of lines from which the dimension is detected.
const SAMPLE: usize = 100;
/// Number of bytes from which format and dimension are detected.
pub(crate) const HEAD: usize = 1 << 20;

/// Header and dimension, detected from the beginning of a text file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// Number of words and dimension, if the first line declares them.
    pub(crate) header: Option<(u64, usize)>,
    /// The dimension of most of the first lines; zero when no line has a number.
    pub(crate) dim: usize,
}

/// Parses the header line `count dimension`.
pub(crate) fn parse_header(line: &[u8]) -> Option<(u64, usize)> {
    let line = std::str::from_utf8(line).ok()?.trim_ascii();
    let (count, dim) = line.split_once(' ')?;
    Some((count.parse().ok()?, dim.trim_start().parse().ok()?))
}

/// Detects header and dimension from the first lines. `complete` says that `head` is the whole file.
pub(crate) fn look_at_beginning(head: &[u8], with_header: bool, complete: bool) -> Beginning {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n').take(SAMPLE + 2).collect();
    if lines.len() > 1 && (!complete && lines.len() < SAMPLE + 2 || lines.last().is_some_and(|line| line.is_empty())) {
        lines.pop();
    }
    let header = with_header.then(|| parse_header(lines[0])).flatten();
    let rows = &lines[usize::from(header.is_some()).min(lines.len())..];
    Beginning { header, dim: most_common_dimension(rows) }
}

/// The most common number of trailing numeric fields; the smaller one on ties. One field is always left for the word,
/// so that numeric words do not count.
fn most_common_dimension(lines: &[&[u8]]) -> usize {
    let mut counts = std::collections::BTreeMap::new();
    for line in lines {
        let fields: Vec<&[u8]> = trim_line(line).split(|&b| b == b' ').filter(|field| !field.is_empty()).collect();
        let numeric = fields.iter().rev().take_while(|field| fast_float2::parse::<f32, _>(field).is_ok()).count();
        let dim = numeric.min(fields.len().saturating_sub(1));
        if dim > 0 {
            *counts.entry(dim).or_insert(0) += 1;
        }
    }
    counts.into_iter().rev().max_by_key(|&(_, count)| count).map_or(0, |(dim, _)| dim)
}

pub(crate) fn read(input: &Input, options: &ReadOptions, format: Format, observer: &dyn Observer) -> Result<Read> {
    let path = input.path();
    let head = input.head(HEAD)?;
    let Beginning { header, dim } = look_at_beginning(&head, format == Format::Text, head.len() < HEAD);
    if let Some((_, declared)) = header {
        check_dimension(path, declared, Place::Line(1))?;
        if dim != 0 && declared != dim {
            let problem = format!(
                "declares vectors of dimension {declared}, but the lines below have {dim} numbers; \
                 correct the header, or remove it"
            );
            return Err(Error::malformed(path, Place::Line(1), problem));
        }
    }
    if dim == 0 {
        return Err(no_vectors(path, &head, header.is_some()));
    }

    let expected = expected_rows(input, dim, header.map(|(count, _)| count));
    let mut intake = Intake::new(path, options, dim, expected)?;
    let mut blocks = input.blocks()?;
    let meter = Meter::new(observer, Stage::Reading, input.stored_len() as usize);
    meter.check()?;
    let mut first_line = 1;
    let mut parsed: Vec<Chunk> = Vec::new();
    let mut numbers_in_words = (0, 0);
    let mut bytes = 0;
    loop {
        let mut block = if intake.is_full() { None } else { blocks.next()? };
        if bytes == 0 {
            block = block.map(|block| block.strip_prefix(BYTE_ORDER_MARK).unwrap_or(block));
            if header.is_some() {
                block = block.map(|block| &block[memchr::memchr(b'\n', block).map_or(block.len(), |end| end + 1)..]);
                first_line += 1;
            }
        }
        let in_block = block.map_or(0, <[u8]>::len);
        bytes += in_block;
        // One block is copied into the matrix while the next one is parsed.
        let pour = || {
            for chunk in parsed {
                chunk.pour_into(&mut intake, first_line);
                if let (0, Some(line)) = (numbers_in_words.0, chunk.first_number_in_word) {
                    numbers_in_words.1 = first_line + line;
                }
                numbers_in_words.0 += chunk.numbers_in_words;
                first_line += chunk.lines;
            }
        };
        let parse = || block.map(|block| Chunk::parse_all(block, dim));
        match rayon::join(pour, parse).1 {
            Some(chunks) => parsed = chunks,
            None => break,
        }
        meter.advance(in_block)?;
    }

    let mut warnings = Vec::new();
    if let Some((declared, _)) = header
        && declared != intake.seen
        && !intake.is_full()
    {
        warnings.push(Warning::CountMismatch { declared, found: intake.seen });
    }
    let (count, first) = numbers_in_words;
    if 100 * count > intake.seen {
        warnings.push(Warning::NumbersInWords { count, first });
    }
    let (embeddings, skipped) = intake.finish()?;
    let format = if header.is_some() { Format::Text } else { Format::Glove };
    Ok(Read { embeddings, format, skipped, warnings })
}

/// Explains why none of the first lines has a word and a number.
fn no_vectors(path: &Path, head: &[u8], has_header: bool) -> Error {
    let line = 1 + u64::from(has_header);
    let first = head.split(|&b| b == b'\n').nth(usize::from(has_header)).unwrap_or_default();
    let problem = match first {
        [] if has_header => "has a header and nothing after it".to_owned(),
        _ if first.contains(&b'\t') => {
            "has no `word number number …` line; it seems to be separated by tabs, which word vectors are not"
                .to_owned()
        }
        _ => "is not `word number number …`: this is not a text file of word vectors".to_owned(),
    };
    Error::malformed(path, Place::Line(line), problem)
}

/// Number of rows to allocate: as the header declares, but never more than the file can contain.
fn expected_rows(input: &Input, dim: usize, declared: Option<u64>) -> usize {
    // A line has a word, and for each number a space and a digit. Compression rarely exceeds a factor of four.
    let text_len = input.stored_len() * if input.is_compressed() { 4 } else { 1 };
    let possible = text_len / (2 * dim as u64 + 1) + 1;
    // Without a header, a number with its space is assumed to take 8 bytes.
    declared.unwrap_or(text_len / (8 * dim as u64)).min(possible) as usize
}

fn split_at_lines(mut block: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::with_capacity(block.len() / CHUNK + 1);
    while let Some(later) = block.get(CHUNK..) {
        let Some(newline) = memchr::memchr(b'\n', later) else { break };
        let (chunk, rest) = block.split_at(CHUNK + newline + 1);
        chunks.push(chunk);
        block = rest;
    }
    if !block.is_empty() {
        chunks.push(block);
    }
    chunks
}

/// The parsed lines of one piece of text. Words are copied, because the text may be in a buffer that is reused.
struct Chunk {
    dim: usize,
    words: String,
    /// For each non-empty line: its number, and the end of its word in `words` or the reason why it is invalid.
    entries: Vec<(u64, std::result::Result<usize, Reason>)>,
    vectors: Vec<f32>,
    lines: u64,
    /// Number of words that end with a number, such as `New York 0.1`. The lines may have more numbers than the
    /// dimension.
    numbers_in_words: u64,
    first_number_in_word: Option<u64>,
}

impl Chunk {
    fn parse_all(block: &[u8], dim: usize) -> Vec<Self> {
        split_at_lines(block).into_par_iter().map(|text| Chunk::parse(text, dim)).collect()
    }

    fn parse(mut text: &[u8], dim: usize) -> Self {
        let vectors = Vec::with_capacity(text.len() / 8);
        let mut chunk = Chunk {
            dim,
            words: String::new(),
            entries: Vec::new(),
            vectors,
            lines: 0,
            numbers_in_words: 0,
            first_number_in_word: None,
        };
        while !text.is_empty() {
            let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
            let line = trim_line(&text[..end]);
            if !line.is_empty() {
                let entry = chunk.parse_line(line);
                chunk.entries.push((chunk.lines, entry));
            }
            text = text.get(end + 1..).unwrap_or_default();
            chunk.lines += 1;
        }
        chunk
    }

    fn parse_line(&mut self, line: &[u8]) -> std::result::Result<usize, Reason> {
        let start = self.vectors.len();
        let word = parse_line(line, self.dim, &mut self.vectors).and_then(|word| {
            check_vector(&self.vectors[start..])?;
            check_word(word)
        });
        match word {
            Ok(word) => {
                self.words.push_str(word);
                let last_field = word.rsplit_once(' ').map(|(_, field)| field);
                if last_field.is_some_and(|field| fast_float2::parse::<f32, _>(field).is_ok()) {
                    self.numbers_in_words += 1;
                    self.first_number_in_word.get_or_insert(self.lines);
                }
            }
            Err(_) => self.vectors.truncate(start),
        }
        word.map(|_| self.words.len())
    }

    fn pour_into(&self, intake: &mut Intake, first_line: u64) {
        let mut vectors = self.vectors.chunks_exact(self.dim);
        let mut word_start = 0;
        for &(line, word_end) in &self.entries {
            if intake.is_full() {
                return;
            }
            let entry = word_end.map(|end| {
                let word = &self.words[word_start..end];
                word_start = end;
                (word, vectors.next().expect("a vector for every good word"))
            });
            intake.take(entry, Place::Line(first_line + line));
        }
    }
}

fn trim_line(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&b| b != b' ' && b != b'\r').map_or(0, |last| last + 1);
    &line[..end]
}

/// Appends the numbers of a line to `vectors` and returns its word.
fn parse_line<'a>(line: &'a [u8], dim: usize, vectors: &mut Vec<f32>) -> std::result::Result<&'a [u8], Reason> {
    let start = vectors.len();
    if let Some(word) = parse_plain_line(line, dim, vectors) {
        return Ok(word);
    }
    vectors.truncate(start);
    parse_odd_line(line, dim, vectors)
}

/// The common case, in one pass: a word without spaces, then numbers with one space before each.
fn parse_plain_line<'a>(line: &'a [u8], dim: usize, vectors: &mut Vec<f32>) -> Option<&'a [u8]> {
    let word_end = memchr::memchr(b' ', line)?;
    let mut rest = &line[word_end..];
    for _ in 0..dim {
        let number = rest.strip_prefix(b" ")?;
        let (value, len) = fast_float2::parse_partial::<f32, _>(number).ok()?;
        vectors.push(value);
        rest = &number[len..];
    }
    rest.is_empty().then_some(&line[..word_end])
}

/// The general case: the last `dim` fields are the numbers, everything before them is the word.
fn parse_odd_line<'a>(line: &'a [u8], dim: usize, vectors: &mut Vec<f32>) -> std::result::Result<&'a [u8], Reason> {
    let start = vectors.len();
    let mut word = line;
    let mut spaces_are_runs = false;
    for _ in 0..dim {
        if word.ends_with(b" ") {
            spaces_are_runs = true;
            word = trim_line(word);
        }
        let space = memchr::memrchr(b' ', word).ok_or(Reason::WrongFieldCount)?;
        vectors.push(fast_float2::parse(&word[space + 1..]).map_err(|_| Reason::NotANumber)?);
        word = &word[..space];
    }
    vectors[start..].reverse();
    Ok(if spaces_are_runs { trim_line(word) } else { word })
}

/// Readers drop a byte order mark at the beginning of a file. A first word that begins with one needs another before
/// it.
pub(crate) fn protective_byte_order_mark(embeddings: &Embeddings) -> &'static [u8] {
    let first = embeddings.vocabulary().iter().next().unwrap_or_default();
    if first.as_bytes().starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { b"" }
}

/// Writes `.vec` (or GloVe, without a header) with the fewest digits that round-trip exactly.
pub(crate) fn write(embeddings: &Embeddings, path: &Path, format: Format) -> Result<()> {
    let mut output = Output::create(path)?;
    if format == Format::Text {
        output.write_all(format!("{} {}\n", embeddings.len(), embeddings.dim()).as_bytes())?;
    } else {
        output.write_all(protective_byte_order_mark(embeddings))?;
    }
    let rows: Vec<usize> = (0..embeddings.len()).collect();
    for block in rows.chunks(64 * ROWS_AT_A_TIME) {
        let texts: Vec<Vec<u8>> = block.par_chunks(ROWS_AT_A_TIME).map(|rows| format_rows(embeddings, rows)).collect();
        for text in texts {
            output.write_all(&text)?;
        }
    }
    output.finish()
}

fn format_rows(embeddings: &Embeddings, rows: &[usize]) -> Vec<u8> {
    let mut text = Vec::with_capacity(rows.len() * (12 * embeddings.dim() + 16));
    let mut number = zmij::Buffer::new();
    for &row in rows {
        text.extend_from_slice(embeddings.word(row).as_bytes());
        for &value in embeddings.vector(row) {
            text.push(b' ');
            text.extend_from_slice(number.format_finite(value).as_bytes());
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str, dim: usize) -> std::result::Result<(String, Vec<f32>), Reason> {
        let mut vector = Vec::new();
        let word = parse_line(trim_line(line.as_bytes()), dim, &mut vector)?;
        Ok((String::from_utf8(word.to_vec()).unwrap(), vector))
    }

    #[test]
    fn words_may_contain_spaces_of_any_kind() {
        for word in ["a", "New York", "a\u{a0}b", "x\u{2009}", ". . .", "1 2", " lead", "trail "] {
            assert_eq!(parse(&format!("{word} 1 -2.5e-3"), 2), Ok((word.to_owned(), vec![1.0, -2.5e-3])), "{word:?}");
        }
    }

    #[test]
    fn several_spaces_between_numbers_are_one_separator() {
        assert_eq!(parse("a  1   2 \r", 2), Ok(("a".to_owned(), vec![1.0, 2.0])));
    }

    #[test]
    fn unusable_lines_say_why() {
        assert_eq!(parse("a 1", 2), Err(Reason::WrongFieldCount));
        assert_eq!(parse("a 1 b", 2), Err(Reason::NotANumber));
        assert_eq!(parse("1 2", 2), Err(Reason::WrongFieldCount));
    }

    #[test]
    fn dimension_is_what_most_lines_have() {
        let head = b"a 1 2 3\nNew York 1 2 3\n1984 1 2 3\ncut 1 2\n. . 1 2 3\n";
        assert_eq!(look_at_beginning(head, true, true), Beginning { header: None, dim: 3 });
        let head = b"4 3\n10 1 2 3\n11 1 2 3\n";
        assert_eq!(look_at_beginning(head, true, true), Beginning { header: Some((4, 3)), dim: 3 });
    }
}

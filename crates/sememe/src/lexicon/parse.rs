//! Dictionary files as people have them.

use std::path::Path;

use super::{Entry, Lexicon, Read};
use crate::error::{Error, Place, Result};
use crate::vectors::{ReadOptions, Reason, Skipped, check_skipped};

/// How many lines are looked at to learn the separator.
const SAMPLE: usize = 100;
/// Every entry has a cell for every view: a line of names that are none would make a small file fill the memory.
const MOST_VIEWS: usize = 1000;
/// How much of a line that is no header is shown.
const SHOWN: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Tab,
    Semicolon,
    Comma,
    White,
}

impl Separator {
    /// The first separator that nine of ten lines have.
    fn of(text: &[u8]) -> Self {
        let sample: Vec<&[u8]> =
            lines(text).map(|(_, line)| line).filter(|line| !is_passed_over(line)).take(SAMPLE).collect();
        let common = |byte: u8| sample.iter().filter(|line| line.contains(&byte)).count() * 10 >= sample.len() * 9;
        [(b'\t', Separator::Tab), (b';', Separator::Semicolon), (b',', Separator::Comma)]
            .into_iter()
            .find(|&(byte, _)| common(byte))
            .map_or(Separator::White, |(_, separator)| separator)
    }

    fn split(self, line: &str) -> Vec<String> {
        match self {
            Separator::Tab => line.split('\t').map(|field| field.trim().to_owned()).collect(),
            Separator::White => line.split_ascii_whitespace().map(str::to_owned).collect(),
            Separator::Comma => split_quoted(line, ','),
            Separator::Semicolon => split_quoted(line, ';'),
        }
    }
}

/// Fields that may stand in double quotes, inside which the separator is a character like any other.
fn split_quoted(line: &str, separator: char) -> Vec<String> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let start = rest.trim_start();
        let closed = start.strip_prefix('"').and_then(closing_quote);
        let (field, after) = match closed {
            Some((field, after)) if after.trim_start().is_empty() || after.trim_start().starts_with(separator) => {
                (field.replace("\"\"", "\""), after.trim_start())
            }
            _ => {
                let end = rest.find(separator).unwrap_or(rest.len());
                (rest[..end].trim().to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(separator) {
            Some(next) => rest = next,
            None => return fields,
        }
    }
}

/// Splits at the quote that ends a quoted field; a doubled quote stands for itself.
fn closing_quote(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some((&text[..at], &text[at + 1..]));
        }
        from = at + 2;
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
}

fn is_passed_over(line: &[u8]) -> bool {
    line.first() == Some(&b'#') || line.iter().all(u8::is_ascii_whitespace)
}

pub(super) fn pairs(path: &Path, text: &[u8], from: &str, to: &str) -> Result<Read> {
    let separator = Separator::of(text);
    let lexicon = Lexicon::new(vec![from.to_owned(), to.to_owned()]);
    read_lines(path, lines(text), lexicon, |line| {
        let fields = separator.split(line);
        match <[String; 2]>::try_from(fields) {
            Ok(pair) if pair.iter().all(|word| !word.is_empty()) => Ok(pair.into_iter().map(Some).collect()),
            _ => Err(Reason::WrongFieldCount),
        }
    })
}

pub(super) fn tuples(path: &Path, text: &[u8]) -> Result<Read> {
    let mut lines = lines(text).filter(|(_, line)| !line.is_empty());
    let (number, header) = lines.next().unwrap_or((1, &[]));
    let malformed = |problem: String| Error::malformed(path, Place::Line(number), problem);
    let header = std::str::from_utf8(header).map_err(|_| malformed("is not valid UTF-8".to_owned()))?;
    let views: Vec<String> = header.split('\t').map(|name| name.trim().to_owned()).collect();
    if views.len() > MOST_VIEWS {
        return Err(malformed(format!("names {} views; at most {MOST_VIEWS} can be read", views.len())));
    }
    if views.len() < 2 || views.iter().any(String::is_empty) {
        let shown: String = header.chars().take(SHOWN).collect();
        return Err(malformed(format!(
            "{shown:?} is no header of at least two view names separated by tabs; \
             for a dictionary of pairs say which views it is for"
        )));
    }
    if let Some(name) = views.iter().enumerate().find_map(|(i, name)| views[..i].contains(name).then_some(name)) {
        return Err(malformed(format!("names the view {name:?} twice")));
    }
    let width = views.len();
    read_lines(path, lines, Lexicon::new(views), |line| {
        let mut entry: Entry =
            line.split('\t').map(str::trim).map(|word| (!word.is_empty()).then(|| word.to_owned())).collect();
        if entry.len() > width || entry.iter().flatten().count() < 2 {
            return Err(Reason::WrongFieldCount);
        }
        // Editors drop trailing tabs: missing cells at the end are holes.
        entry.resize(width, None);
        Ok(entry)
    })
}

fn read_lines<'a>(
    path: &Path,
    lines: impl Iterator<Item = (u64, &'a [u8])>,
    mut lexicon: Lexicon,
    parse: impl Fn(&str) -> std::result::Result<Entry, Reason>,
) -> Result<Read> {
    let mut skipped = Skipped::default();
    let (mut comments, mut seen) = (0, 0);
    for (number, line) in lines {
        if is_passed_over(line) {
            comments += usize::from(!line.is_empty());
            continue;
        }
        seen += 1;
        match std::str::from_utf8(line).map_err(|_| Reason::InvalidUtf8).and_then(&parse) {
            Ok(entry) => lexicon.add(entry),
            Err(reason) => skipped.add(reason, Place::Line(number)),
        }
    }
    check_skipped(path, &ReadOptions::default(), &skipped, seen)?;
    if lexicon.entries().is_empty() {
        return Err(Error::malformed(path, Place::Whole, "has no entries"));
    }
    Ok(Read { lexicon, skipped, comments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of(text: &str) -> Vec<(String, String)> {
        let read = pairs(Path::new("test"), text.as_bytes(), "a", "b").unwrap();
        let word = |word: &Option<String>| word.clone().unwrap();
        read.lexicon.entries().iter().map(|entry| (word(&entry[0]), word(&entry[1]))).collect()
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_owned(), b.to_owned())
    }

    #[test]
    fn separators_are_recognised() {
        for text in [
            "dog chien\ncat chat\n",
            "dog\tchien\r\ncat\tchat",
            "dog, chien\ncat,chat\n",
            "dog;chien\n\n#x\ncat ; chat",
        ] {
            assert_eq!(pairs_of(text), [pair("dog", "chien"), pair("cat", "chat")], "{text:?}");
        }
    }

    #[test]
    fn a_comma_as_a_word_does_not_make_a_comma_separated_file() {
        assert_eq!(pairs_of("a b\n, ,\nc d\n")[1], pair(",", ","));
    }

    #[test]
    fn quotes_protect_separators_but_may_stand_alone() {
        assert_eq!(pairs_of("\"a, b\",\"say \"\"c\"\"\"\n5\",x\n"), [pair("a, b", "say \"c\""), pair("5\"", "x")]);
    }

    #[test]
    fn several_words_and_several_translations_are_kept_once() {
        let text = "New York\tNew York\nbank\tbanque\nbank\trive\nbank\tbanque\n";
        let read = pairs(Path::new("test"), text.as_bytes(), "a", "b").unwrap();
        assert_eq!(read.lexicon.entries().len(), 3);
        assert_eq!(read.lexicon.duplicates(), 1);
    }

    #[test]
    fn tuples_have_holes() {
        let read =
            tuples(Path::new("t"), b"en\tfr\tru\nhouse\tmaison\t\ncat\t\t\xd0\xba\xd0\xbe\xd1\x82\ndog\tchien\n")
                .unwrap();
        let holes: Vec<usize> =
            read.lexicon.entries().iter().map(|e| e.iter().position(Option::is_none).unwrap()).collect();
        assert_eq!(holes, [2, 1, 2]);
    }

    #[test]
    fn bad_dictionaries_are_refused_with_their_lines() {
        let message = |text: &str| pairs(Path::new("d.txt"), text.as_bytes(), "a", "b").unwrap_err().to_string();
        assert!(message("a b\nc\n").contains("line 2"), "{}", message("a b\nc\n"));
        assert!(message("# nothing\n").contains("no entries"));
        let message = tuples(Path::new("t"), b"en\tfr\ten\n").unwrap_err().to_string();
        assert!(message.contains("twice"), "{message}");
    }
}

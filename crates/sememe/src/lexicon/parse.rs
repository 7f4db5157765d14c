//! Parsers of dictionary files.

use std::collections::HashSet;
use std::path::Path;

use super::separator::Separator;
use super::{Entry, Lexicon, Read, ReadOptions};
use crate::error::{Error, Place, Result};
use crate::vectors::{self, NOT_UTF8, Reason, Skipped, check_skipped};

/// The third column of an induced dictionary.
pub(crate) const SCORE: &str = "score";
/// Maximum number of entries that memory is allocated for before they are read: a file may have a lot of empty lines.
const MAX_ROOM: usize = 1 << 20;
/// Maximum number of views in a header.
const MAX_VIEWS: usize = 1000;
/// Maximum number of characters of an invalid header in an error message.
const MAX_SHOWN_CHARS: usize = 80;
/// Maximum number of views listed in an error message.
const MAX_NAMED_VIEWS: usize = 10;

/// The lines of a text with their numbers, from 1.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
}

fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#')
}

/// Whether a line is a comment or blank.
pub(crate) fn is_passed_over(line: &[u8]) -> bool {
    is_comment(line) || line.iter().all(u8::is_ascii_whitespace)
}

pub(super) fn pairs(path: &Path, text: &[u8], from: &str, to: &str, options: &ReadOptions) -> Result<Read> {
    let separator = Separator::of(text);
    let ignored_columns = separator.makes_extra_columns(text);
    let mut lexicon = Lexicon::new(vec![from.to_owned(), to.to_owned()]);
    lexicon.reserve(memchr::memchr_iter(b'\n', text).count().min(MAX_ROOM));
    let read = read_lines(path, lines(text), lexicon, options, |line| match separator.pair_of(line) {
        Some(pair) if ignored_columns || !pair.has_more => Ok([pair.from, pair.to].into_iter().enumerate().collect()),
        _ => Err(Reason::WrongFieldCount),
    })?;
    Ok(Read { ignored_columns, ..read })
}

pub(super) fn tuples(path: &Path, text: &[u8], options: &ReadOptions) -> Result<Read> {
    let mut lines = lines(text);
    let mut comments = 0;
    let header = lines.by_ref().find(|(_, line)| {
        comments += usize::from(is_comment(line));
        !is_passed_over(line)
    });
    let (number, header) = header.ok_or_else(|| Error::malformed(path, Place::Whole, "has no entries"))?;
    let header =
        Header::parse(header, options).map_err(|problem| Error::malformed(path, Place::Line(number), problem))?;
    let Header { views, places, ignored_views } = header;
    let mut read = read_lines(path, lines, Lexicon::new(views), options, |line| {
        let mut words = Vec::new();
        let filled = line.split('\t').map(str::trim).enumerate().filter(|(_, word)| !word.is_empty());
        for (column, word) in filled {
            // Editors drop trailing tabs and spreadsheets add some. Only a word without a view is an error.
            match places.get(column) {
                Some(Some(view)) => words.push((*view, word)),
                Some(None) => {}
                None => return Err(Reason::WrongFieldCount),
            }
        }
        Ok(words.into_iter().collect())
    })?;
    read.comments += comments;
    Ok(Read { ignored_views, ..read })
}

/// Whether the first line is a header of tuples: a cell is the name of a view. A pair of equal words is no header, even
/// if they are the name of a view.
pub(super) fn begins_with_names(text: &[u8], views: &[&str]) -> bool {
    let first = lines(text).map(|(_, line)| line).find(|line| !is_passed_over(line)).unwrap_or_default();
    let mut distinct = HashSet::new();
    let is_name = |cell: &[u8]| views.iter().any(|view| view.as_bytes() == cell);
    let mut cells = first.split(|&b| b == b'\t').map(<[u8]>::trim_ascii);
    cells.clone().any(is_name) && (cells.clone().count() > 2 || cells.all(|cell| distinct.insert(cell)))
}

/// The two views that the first line of an induced dictionary names, `# A TAB B TAB score`, if they are among `views`.
pub(super) fn induced_between<'a>(text: &[u8], views: &[&'a str]) -> Option<[&'a str; 2]> {
    let (_, first) = lines(text).next()?;
    let mut cells = std::str::from_utf8(first).ok()?.strip_prefix("# ")?.split('\t');
    let mut view = || cells.next().and_then(|cell| views.iter().copied().find(|&view| view == cell));
    let [from, to] = [view()?, view()?];
    (cells.next() == Some(SCORE) && from != to).then_some([from, to])
}

/// The views of a table of tuples.
struct Header {
    /// The views that are read.
    views: Vec<String>,
    /// For every column, its index in `views`.
    places: Vec<Option<usize>>,
    ignored_views: Vec<String>,
}

impl Header {
    /// Parses the first line of tuples; the error says what is wrong with it.
    fn parse(line: &[u8], options: &ReadOptions) -> std::result::Result<Self, String> {
        let line = std::str::from_utf8(line).map_err(|_| format!("is {NOT_UTF8}"))?;
        let names = || line.trim_end().split('\t').map(str::trim);
        let count = names().count();
        if count > MAX_VIEWS {
            return Err(format!("names {count} views; at most {MAX_VIEWS} can be read"));
        }
        let is_wanted = |name: &str| options.views.as_ref().is_none_or(|wanted| wanted.iter().any(|view| view == name));
        let distinct: HashSet<&str> = names().filter(|name| is_wanted(name)).collect();
        // A pair of equal words, say, is no header that names a view twice.
        let is_no_header = distinct.len() < 2 && names().collect::<HashSet<_>>().len() < count;
        if count < 2 || is_no_header || names().any(str::is_empty) {
            let shown: String = line.chars().take(MAX_SHOWN_CHARS).collect();
            return Err(format!(
                "{shown:?} is no header of at least two view names separated by tabs; {SAY_WHICH_VIEWS}"
            ));
        }
        let mut distinct = HashSet::new();
        if let Some(name) = names().find(|name| !distinct.insert(*name)) {
            return Err(format!("names the view {name:?} twice"));
        }
        let mut header = Header { views: Vec::new(), places: Vec::new(), ignored_views: Vec::new() };
        for name in names() {
            header.places.push(is_wanted(name).then_some(header.views.len()));
            let kind = if is_wanted(name) { &mut header.views } else { &mut header.ignored_views };
            kind.push(name.to_owned());
        }
        if header.views.len() < 2 {
            let named: Vec<&str> = names().collect();
            let wanted: Vec<&str> = options.views.iter().flatten().map(String::as_str).collect();
            return Err(format!(
                "the header names {}, but the views are {}: at least two must be the same; {SAY_WHICH_VIEWS}",
                listed(&named),
                listed(&wanted)
            ));
        }
        Ok(header)
    }
}

const SAY_WHICH_VIEWS: &str = "for a dictionary of pairs say which views it is for (A-B=FILE)";

/// Names for an error message, shortened if there are many.
fn listed(names: &[&str]) -> String {
    let mut listed = names.iter().take(MAX_NAMED_VIEWS).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMED_VIEWS {
        listed += &format!(" and {} more", names.len() - MAX_NAMED_VIEWS);
    }
    listed
}

/// Reads the entries that `parse` finds on lines. Entries with fewer than two words are only counted.
fn read_lines<'a>(
    path: &Path,
    lines: impl Iterator<Item = (u64, &'a [u8])>,
    mut lexicon: Lexicon,
    options: &ReadOptions,
    parse: impl Fn(&str) -> std::result::Result<Entry, Reason>,
) -> Result<Read> {
    let mut skipped = Skipped::default();
    let (mut comments, mut single_cells, mut seen) = (0, 0, 0);
    for (number, line) in lines {
        if is_passed_over(line) {
            comments += usize::from(is_comment(line));
            continue;
        }
        seen += 1;
        match std::str::from_utf8(line).map_err(|_| Reason::InvalidUtf8).and_then(&parse) {
            Ok(entry) if entry.words().len() < 2 => single_cells += 1,
            Ok(entry) => lexicon.add(entry),
            Err(reason) => skipped.add(reason, Place::Line(number)),
        }
    }
    check_skipped(path, &vectors::ReadOptions { strict: options.strict, ..Default::default() }, &skipped, seen)?;
    if lexicon.entries().is_empty() {
        let problem = match single_cells {
            0 => "has no entries".to_owned(),
            rows => format!("has no entries: all {rows} rows have fewer than two words of the views"),
        };
        return Err(Error::malformed(path, Place::Whole, problem));
    }
    Ok(Read { lexicon, skipped, comments, single_cells, ignored_views: Vec::new(), ignored_columns: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of(text: &str) -> Vec<(String, String)> {
        let read = pairs(Path::new("test"), text.as_bytes(), "a", "b", &Default::default()).unwrap();
        let word = |entry: &Entry, view| entry.word(view).unwrap().to_owned();
        read.lexicon.entries().iter().map(|entry| (word(entry, 0), word(entry, 1))).collect()
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
        let read = pairs(Path::new("test"), text.as_bytes(), "a", "b", &Default::default()).unwrap();
        assert_eq!(read.lexicon.entries().len(), 3);
        assert_eq!(read.lexicon.duplicates(), 1);
    }

    #[test]
    fn a_header_is_a_line_with_the_name_of_a_view_between_tabs() {
        let is_header = |text: &str| begins_with_names(text.as_bytes(), &["en", "it"]);
        assert!(["en\tit\nthe\til\n", "# words\n\n fr \t it \n", "it\tesso\n"].iter().all(|text| is_header(text)));
        assert!(!["it esso\n", "the\til\nen\tit\n", "", "# en\tit\nthe\til\n"].iter().any(|text| is_header(text)));
        // A pair of equal words.
        assert!(!is_header("en\ten\nthe\til\n"));
        let message = |text: &str| {
            let options = ReadOptions::default().with_views(Some(["en", "it", "fr"].map(str::to_owned).to_vec()));
            tuples(Path::new("t"), text.as_bytes(), &options).unwrap_err().to_string()
        };
        for text in ["paris\tparis\nthe\til\n", "en\ten\nthe\til\n"] {
            assert!(message(text).contains("is no header") && message(text).contains("A-B=FILE"), "{}", message(text));
        }
        assert!(message("en\tit\ten\n").contains("names the view \"en\" twice"));
    }

    #[test]
    fn an_induced_dictionary_names_its_views_in_a_comment() {
        let between = |text: &str| induced_between(text.as_bytes(), &["en", "it", "fr"]);
        assert_eq!(between("# it\ten\tscore\tconfidence\nil\tthe\t1\t1\n"), Some(["it", "en"]));
        assert_eq!(between("# it\ten\tscore\n"), Some(["it", "en"]));
        for other in ["# it\ten\n", "# it\tru\tscore\n", "# it\tit\tscore\n", "it\ten\tscore\n", "# it", ""] {
            assert_eq!(between(other), None, "{other}");
        }
    }

    #[test]
    fn tuples_have_holes() {
        let text = "en\tfr\tru\nhouse\tmaison\t\ncat\t\tкот\ndog\tchien\n";
        let read = tuples(Path::new("t"), text.as_bytes(), &Default::default()).unwrap();
        let holes: Vec<usize> =
            read.lexicon.entries().iter().map(|e| (0..3).find(|&view| e.word(view).is_none()).unwrap()).collect();
        assert_eq!(holes, [2, 1, 2]);
    }

    #[test]
    fn bad_dictionaries_are_refused_with_their_lines() {
        let message = |text: &str| {
            pairs(Path::new("d.txt"), text.as_bytes(), "a", "b", &Default::default()).unwrap_err().to_string()
        };
        assert!(message("a b\nc\n").contains("line 2"), "{}", message("a b\nc\n"));
        assert!(message("# nothing\n").contains("no entries"));
        let message = tuples(Path::new("t"), b"en\tfr\ten\n", &Default::default()).unwrap_err().to_string();
        assert!(message.contains("twice"), "{message}");
    }
}

//! Word similarity datasets: files of `word word score` lines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::files::Input;
use crate::lexicon::{Separator, is_passed_over, lines, text_of};

/// Two words and the human rating of their similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPair {
    /// The words.
    pub words: [String; 2],
    /// The rating; larger is more similar.
    pub score: f64,
}

/// A word similarity dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPairs {
    /// Its name: the file name without extension.
    pub name: String,
    /// The pairs in file order.
    pub pairs: Vec<ScoredPair>,
    /// The first line, where it is a header.
    pub header: Option<String>,
}

impl ScoredPairs {
    /// Reads lines of two words and a score, separated by tabs, semicolons, commas or white space. Further columns,
    /// empty lines and lines that begin with `#` are ignored. The first line may be a header.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_input(&Input::open(path)?)
    }

    /// [`ScoredPairs::read`] on data in memory.
    pub fn read_input(input: &Input) -> Result<Self> {
        const FORM: &str = "WORD WORD SCORE";
        let mut set = ScoredPairs { name: set_name(input.path()), pairs: Vec::new(), header: None };
        for (number, (line, fields)) in fields_of_lines(input, 3, FORM)?.into_iter().enumerate() {
            let [first, second, score] = [0, 1, 2].map(|field| fields[field].as_str());
            match number_in(score) {
                Some(score) => set.pairs.push(ScoredPair { words: [first.to_owned(), second.to_owned()], score }),
                // A first line without a score is a header.
                None if number == 0 => set.header = Some(fields.join(" ")),
                None => {
                    let problem = format!("{score:?} is no score; lines must be {FORM}, and only the first a header");
                    return Err(Error::malformed(input.path(), Place::Line(line), problem));
                }
            }
        }
        match set.pairs.is_empty() {
            true => Err(Error::malformed(input.path(), Place::Whole, format!("has no pairs; lines must be {FORM}"))),
            false => Ok(set),
        }
    }
}

/// The file name without folders and without the extensions of text files.
pub(super) fn set_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut name: &str = &name;
    for ending in [".gz", ".xz", ".zst", ".txt", ".tsv", ".csv"] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    name.to_owned()
}

/// Parses a finite number.
pub(super) fn number_in(field: &str) -> Option<f64> {
    field.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// The fields and number of every non-empty line. A line with fewer than `least` fields is an error; `form` describes
/// the expected line. Several tabs in a row count as one where a line has as many filled fields as other lines have:
/// files that were aligned by hand have them.
pub(super) fn fields_of_lines(input: &Input, least: usize, form: &str) -> Result<Vec<(u64, Vec<String>)>> {
    let text = text_of(input)?;
    let separator = Separator::of(&text);
    let lines = || lines(&text).filter(|(_, line)| !is_passed_over(line));
    let usual = usual_columns(separator, lines().filter_map(|(_, line)| std::str::from_utf8(line).ok()));
    let mut all = Vec::new();
    for (number, line) in lines() {
        let line = utf8_line(input, number, line)?;
        let is_filled = |field: &Cow<str>| !field.is_empty();
        let is_padded =
            separator == Separator::Tab && usual == Some(separator.fields_of(line).filter(is_filled).count());
        let fields = separator.fields_of(line).filter(|field| !is_padded || is_filled(field));
        let fields: Vec<String> = fields.take(least).map(Cow::into_owned).collect();
        if fields.len() < least || fields.iter().any(String::is_empty) {
            let filled = fields.iter().filter(|field| !field.is_empty()).count();
            let problem = format!("has {filled} of {least} columns; lines must be {form}");
            return Err(Error::malformed(input.path(), Place::Line(number), problem));
        }
        all.push((number, fields));
    }
    Ok(all)
}

/// The commonest number of fields of lines that have no empty one, or, if there are none, of filled fields.
fn usual_columns<'a>(separator: Separator, lines: impl Iterator<Item = &'a str>) -> Option<usize> {
    let (mut of_full, mut of_all) = (BTreeMap::new(), BTreeMap::new());
    for line in lines {
        let (mut filled, mut all) = (0, 0);
        for field in separator.fields_of(line) {
            all += 1;
            filled += usize::from(!field.is_empty());
        }
        *of_all.entry(filled).or_insert(0) += 1;
        if filled == all {
            *of_full.entry(filled).or_insert(0) += 1;
        }
    }
    let counts = if of_full.is_empty() { of_all } else { of_full };
    counts.into_iter().max_by_key(|&(_, lines): &(usize, usize)| lines).map(|(columns, _)| columns)
}

/// A line as UTF-8 text.
pub(super) fn utf8_line<'a>(input: &Input, number: u64, line: &'a [u8]) -> Result<&'a str> {
    let problem = "is not valid UTF-8; convert the file from its encoding first";
    std::str::from_utf8(line).map_err(|_| Error::malformed(input.path(), Place::Line(number), problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ScoredPairs> {
        ScoredPairs::read_input(&Input::from_bytes("folder/EN_set.txt", text.as_bytes().to_vec())?)
    }

    #[test]
    fn separators_and_headers_are_recognised() {
        for text in [
            "tiger cat 7.35\nNew_York city 10\n",
            "tiger\tcat\t7.35\tnote\nNew_York\tcity\t10\tnote\n",
            "Word 1,Word 2,Human (mean)\ntiger,cat,7.35\nNew_York,city,10\n",
            "# scores\n\ntiger;cat;7.35\r\nNew_York;city;10\r\n",
            // Tabs that align columns, as in the French RG-65 of MUSE.
            "tiger\tcat\t\t7.35\nNew_York\tcity\t10\n",
            "tiger\t\tcat\t7.35\nNew_York\tcity\t\t10\n",
        ] {
            let set = read(text).unwrap();
            assert_eq!((set.name.as_str(), set.pairs.len()), ("EN_set", 2), "{text}");
            assert_eq!((set.pairs[0].words[1].as_str(), set.pairs[0].score), ("cat", 7.35));
            assert_eq!(set.header.is_some(), text.starts_with("Word"));
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        for (text, said) in [
            ("a b 1\nc d\n", "line 2: has 2 of 3 columns"),
            ("a b\nc d\n", "line 1: has 2 of 3 columns"),
            // A word is missing, and the fourth column is no score.
            ("a\tb\t1\t9\nc\t\t2\t9\n", "line 2: has 2 of 3 columns"),
            ("a b 1\nc d nan\n", "line 2: \"nan\" is no score"),
            ("word1 word2 POS\nold new A\n", "line 2: \"A\" is no score"),
            ("# nothing\n", "has no pairs"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}

//! The separator of a dictionary of pairs, and splitting lines into fields.

use std::borrow::Cow;

use super::parse::{is_passed_over, lines};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Tab,
    Semicolon,
    Comma,
    White,
}

impl Separator {
    /// Detects the separator: the first that enough lines have. Words contain no tabs, so half of the lines are enough;
    /// the others are split at white space. Commas and semicolons may be words, so they need nine lines of ten.
    pub(crate) fn of(text: &[u8]) -> Self {
        const CANDIDATES: [(Separator, usize); 3] =
            [(Separator::Tab, 5), (Separator::Semicolon, 9), (Separator::Comma, 9)];
        let mut all = 0;
        let mut with = [0; CANDIDATES.len()];
        for (_, line) in lines(text).filter(|(_, line)| !is_passed_over(line)) {
            all += 1;
            for (count, (separator, _)) in with.iter_mut().zip(CANDIDATES) {
                *count += usize::from(separator.is_in(line));
            }
        }
        let mut counted = CANDIDATES.into_iter().zip(with);
        let common = counted.find(|&((_, needed_of_ten), count)| count * 10 >= all * needed_of_ten);
        common.map_or(Separator::White, |((separator, _), _)| separator)
    }

    /// Whether nine lines of ten have a third column.
    pub(super) fn makes_extra_columns(self, text: &[u8]) -> bool {
        if self == Separator::White {
            return false;
        }
        let has_extra = |line| self.pair_of(line).is_some_and(|pair| pair.has_more);
        let (mut all, mut with) = (0, 0);
        for (_, line) in lines(text).filter(|(_, line)| !is_passed_over(line)) {
            all += 1;
            with += usize::from(std::str::from_utf8(line).is_ok_and(has_extra));
        }
        with * 10 >= all * 9
    }

    /// The fields of a line, split at this separator or, if the line does not have it, at white space.
    pub(crate) fn fields_of(self, line: &str) -> impl Iterator<Item = Cow<'_, str>> {
        let has_separator = self.is_in(line.as_bytes());
        Fields { separator: if has_separator { self } else { Separator::White }, rest: Some(line) }
    }

    /// The first two fields of a line. A line without the separator must be two words with white space between them.
    pub(super) fn pair_of(self, line: &str) -> Option<Pair<'_>> {
        let has_separator = self.is_in(line.as_bytes());
        let mut fields = self.fields_of(line);
        let mut word = || fields.next().filter(|field| !field.is_empty());
        let (from, to) = (word()?, word()?);
        // Spreadsheets leave empty fields at the end.
        let has_more = fields.any(|field| !field.is_empty());
        (has_separator || !has_more).then_some(Pair { from, to, has_more })
    }

    fn is_in(self, line: &[u8]) -> bool {
        self.byte().is_none_or(|byte| memchr::memchr(byte, line).is_some())
    }

    fn byte(self) -> Option<u8> {
        match self {
            Separator::Tab => Some(b'\t'),
            Separator::Semicolon => Some(b';'),
            Separator::Comma => Some(b','),
            Separator::White => None,
        }
    }
}

/// The two words of a line.
pub(super) struct Pair<'a> {
    pub(super) from: Cow<'a, str>,
    pub(super) to: Cow<'a, str>,
    /// Whether there are further columns.
    pub(super) has_more: bool,
}

/// The fields of a line, one at a time, as a line may be a huge row of separators.
struct Fields<'a> {
    separator: Separator,
    rest: Option<&'a str>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let rest = self.rest?;
        let (field, after) = match self.separator {
            Separator::White => {
                let rest = rest.trim_ascii_start();
                let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
                (Cow::from(&rest[..end]), Some(&rest[end..]).filter(|after| !after.trim_ascii().is_empty()))
            }
            Separator::Tab => until_separator(rest, '\t'),
            Separator::Comma => quoted(rest, ',').unwrap_or_else(|| until_separator(rest, ',')),
            Separator::Semicolon => quoted(rest, ';').unwrap_or_else(|| until_separator(rest, ';')),
        };
        self.rest = after;
        Some(field)
    }
}

/// A field, and the rest of the line after its separator.
type Cut<'a> = (Cow<'a, str>, Option<&'a str>);

fn until_separator(rest: &str, separator: char) -> Cut<'_> {
    match rest.split_once(separator) {
        Some((field, after)) => (field.trim().into(), Some(after)),
        None => (rest.trim().into(), None),
    }
}

/// A field in double quotes, which may contain the separator. `None` if the quotes do not enclose the whole field.
fn quoted(rest: &str, separator: char) -> Option<Cut<'_>> {
    let (field, after) = closing_quote(rest.trim_start().strip_prefix('"')?)?;
    let field = if field.contains('"') { field.replace("\"\"", "\"").into() } else { field.into() };
    match after.trim_start() {
        "" => Some((field, None)),
        after => after.strip_prefix(separator).map(|after| (field, Some(after))),
    }
}

/// Splits at the quote that ends a quoted field; a doubled quote is an escaped one.
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

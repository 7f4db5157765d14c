//! What a reader passed over, and why.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Place;

/// Why an entry of a file was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The word is not valid UTF-8.
    InvalidUtf8,
    /// The word was there before; the first one is kept.
    Duplicate,
    /// There is no word, or it contains a line break.
    NoWord,
    /// Too few fields on the line.
    WrongFieldCount,
    /// A field that should be a number is none.
    NotANumber,
    /// A number is NaN or infinite.
    NotFinite,
    /// All numbers are zero: the vector points nowhere.
    ZeroVector,
}

impl Reason {
    /// Whether the entry is a fault of the file; invalid UTF-8 and duplicates are ordinary in real files.
    fn is_bad(self) -> bool {
        !matches!(self, Reason::InvalidUtf8 | Reason::Duplicate)
    }

    fn describe(self) -> &'static str {
        match self {
            Reason::InvalidUtf8 => "not valid UTF-8",
            Reason::Duplicate => "duplicate",
            Reason::NoWord => "without a usable word",
            Reason::WrongFieldCount => "with too few or wrong fields",
            Reason::NotANumber => "with a field that is no number",
            Reason::NotFinite => "with NaN or infinity",
            Reason::ZeroVector => "all zero",
        }
    }
}

/// Counts of passed-over entries by reason, with the place of the first of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    tallies: BTreeMap<Reason, (u64, Place)>,
}

impl Skipped {
    /// Counts one more entry.
    pub(crate) fn add(&mut self, reason: Reason, place: Place) {
        self.tallies.entry(reason).or_insert((0, place)).0 += 1;
    }

    /// How many were passed over for one reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.tallies.get(&reason).map_or(0, |(count, _)| *count)
    }

    /// Where the first one of a reason was.
    pub fn first(&self, reason: Reason) -> Option<Place> {
        self.tallies.get(&reason).map(|(_, place)| *place)
    }

    /// How many were passed over in all.
    pub fn total(&self) -> u64 {
        self.tallies.values().map(|(count, _)| count).sum()
    }

    /// How many of them were faults of the file.
    pub fn bad(&self) -> u64 {
        self.tallies.iter().filter(|(reason, _)| reason.is_bad()).map(|(_, (count, _))| count).sum()
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (reason, (count, place))) in self.tallies.iter().enumerate() {
            let separator = if i == 0 { "" } else { "; " };
            let first = place.to_string();
            write!(f, "{separator}{count} {} (first:{})", reason.describe(), first.trim_start_matches(','))?;
        }
        Ok(())
    }
}

impl Serialize for Skipped {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.tallies.iter().map(|(reason, (count, place))| {
            (reason, serde_json::json!({ "count": count, "first": place.to_string().trim_start_matches(", ") }))
        }))
    }
}

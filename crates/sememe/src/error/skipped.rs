//! Counts of entries that a reader skipped, by reason.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Place;

/// The reason why an entry of a file was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The word is not valid UTF-8.
    InvalidUtf8,
    /// The word is a duplicate; its first occurrence is kept.
    Duplicate,
    /// The word is missing, too long or contains a line break.
    NoWord,
    /// The line has too few fields.
    WrongFieldCount,
    /// A field is not a number.
    NotANumber,
    /// A number is NaN or infinite.
    NotFinite,
    /// The vector of a table is null or empty, or a number in it is null.
    Null,
    /// All numbers are zero, so the vector has no direction.
    ZeroVector,
}

impl Reason {
    /// Whether the entry counts as an error of the file. Duplicates are common in real files and do not.
    fn is_bad(self) -> bool {
        self != Reason::Duplicate
    }

    fn describe(self) -> &'static str {
        match self {
            Reason::InvalidUtf8 => "not valid UTF-8",
            Reason::Duplicate => "duplicate",
            Reason::NoWord => "without a usable word",
            Reason::WrongFieldCount => "with too few or wrong fields",
            Reason::NotANumber => "with a field that is no number",
            Reason::NotFinite => "with NaN or infinity",
            Reason::Null => "whose vector is null or has nulls",
            Reason::ZeroVector => "all zero",
        }
    }
}

/// Counts of skipped entries by reason, with the place of the first one for each reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    tallies: BTreeMap<Reason, (u64, Place)>,
}

impl Skipped {
    /// Counts a skipped entry.
    pub(crate) fn add(&mut self, reason: Reason, place: Place) {
        self.tallies.entry(reason).or_insert((0, place)).0 += 1;
    }

    /// Number of entries skipped for one reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.tallies.get(&reason).map_or(0, |(count, _)| *count)
    }

    /// The place of the first entry skipped for one reason.
    pub fn first(&self, reason: Reason) -> Option<Place> {
        self.tallies.get(&reason).map(|(_, place)| *place)
    }

    /// Number of all skipped entries.
    pub fn total(&self) -> u64 {
        self.tallies.values().map(|(count, _)| count).sum()
    }

    /// Number of skipped entries that count as errors of the file.
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

//! The error type: every variant says what went wrong, where, and what to do about it.

mod skipped;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use self::skipped::{Reason, Skipped};
use crate::linalg::Failure;

/// A `Result` whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in this library.
///
/// The message of the operating system is the [source](std::error::Error::source) of an error and not part of its own
/// message. Printing the whole chain, as `{error:#}` of the crate anyhow does, shows it once.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened or read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file could not be written. No incomplete file is left under its name.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is malformed.
    #[error("{}{at}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The place in the file.
        at: Place,
        /// What is wrong and how to fix it.
        problem: String,
    },
    /// The file needs an optional feature that this build lacks.
    #[error(
        "{}: is {kind}, which this build of sememe cannot read: build it with the Cargo feature `{feature}`",
        path.display()
    )]
    MissingFeature {
        /// The file.
        path: PathBuf,
        /// The kind of file.
        kind: &'static str,
        /// The Cargo feature that reads it.
        feature: &'static str,
    },
    /// Too many lines or entries of a file were skipped.
    #[error("{}: too many unusable entries ({bad} of {seen}; at most {tolerated} can be skipped): {skipped}", path.display())]
    TooManySkipped {
        /// The file.
        path: PathBuf,
        /// Number of unusable entries.
        bad: u64,
        /// Number of all entries read.
        seen: u64,
        /// "1 %", or "none" under strict reading.
        tolerated: &'static str,
        /// Numbers of skipped entries by reason.
        skipped: Skipped,
    },
    /// A parameter is outside its range.
    #[error("{name} is {given}: {expected}")]
    Argument {
        /// The name of the parameter.
        name: &'static str,
        /// The given value.
        given: String,
        /// The valid values.
        expected: String,
    },
    /// An invalid request. The message says what is wrong and what to do instead.
    #[error("{0}")]
    Request(String),
    /// Fewer than two views were given.
    #[error("one view cannot be aligned with itself: give at least two, NAME=FILE each")]
    TooFewViews,
    /// Two views have the same name.
    #[error("two views are named {0:?}; each needs a name of its own")]
    DuplicateView(String),
    /// No view has this name.
    #[error("there is no view named {name:?}; there {}", list(known))]
    UnknownView {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The request needs a generative model.
    #[error("{method} has no density: only ibfa and mbfa model how vectors come about")]
    NoDensity {
        /// The method that the model was fitted by.
        method: &'static str,
    },
    /// The data are insufficient to fit the requested model.
    #[error("not enough data: {0}")]
    NotEnoughData(String),
    /// Unsupervised alignment failed: its result is no better than chance.
    #[error(
        "{:?} and {:?} could not be aligned without pairs: the best attempt scores {objective:.3}, random ones \
         {chance:.3}, so it is no better than chance; give pairs, such as a dictionary or identical strings",
        views[0], views[1]
    )]
    NoBetterThanChance {
        /// The names of the views.
        views: [String; 2],
        /// The mean CSLS of words with their best translations.
        objective: f64,
        /// The mean of the same score after random initialisations.
        chance: f64,
    },
    /// Unsupervised learning was stopped before its success could be judged.
    #[error("stopped before it was known whether {:?} and {:?} can be aligned without a dictionary", .0[0], .0[1])]
    StoppedEarly([String; 2]),
    /// The observer stopped the work before it had a result.
    #[error("stopped before it was done")]
    Stopped,
    /// Adds context to an error, which is the source.
    #[error("{place}")]
    Within {
        /// The view or the file where it happened.
        place: String,
        /// The error.
        source: Box<Error>,
    },
    /// A matrix computation failed its residual check.
    #[error(transparent)]
    Numerical(#[from] Failure),
}

impl Error {
    /// True if the input or the request is invalid, false if the computation or writing failed.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Error::Within { source, .. } => source.is_bad_input(),
            Error::Write { .. }
            | Error::NoBetterThanChance { .. }
            | Error::StoppedEarly(_)
            | Error::Stopped
            | Error::Numerical(_) => false,
            _ => true,
        }
    }

    /// Adds the place where the error happened.
    pub(crate) fn within(self, place: impl Into<String>) -> Self {
        Error::Within { place: place.into(), source: Box::new(self) }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Error::Write { path: path.to_owned(), source }
    }

    pub(crate) fn malformed(path: &Path, at: Place, problem: impl Into<String>) -> Self {
        Error::Malformed { path: path.to_owned(), at, problem: problem.into() }
    }

    #[cfg(not(all(feature = "zstd", feature = "xz", feature = "fasttext", feature = "parquet")))]
    pub(crate) fn missing_feature(path: &Path, kind: &'static str, feature: &'static str) -> Self {
        Error::MissingFeature { path: path.to_owned(), kind, feature }
    }

    pub(crate) fn argument(name: &'static str, given: impl fmt::Display, expected: impl Into<String>) -> Self {
        Error::Argument { name, given: given.to_string(), expected: expected.into() }
    }
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// An entry of a binary file or an array, counted from 1.
    Entry(u64),
    /// A row of a table, counted from 1.
    Row(u64),
    /// A byte offset, counted from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(n) => write!(f, ", line {n}"),
            Place::Entry(n) => write!(f, ", entry {n}"),
            Place::Row(n) => write!(f, ", row {n}"),
            Place::Byte(n) => write!(f, ", byte {n}"),
        }
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "are none".to_owned(),
        [one] => format!("is only {one:?}"),
        many => format!("are {}", many.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")),
    }
}

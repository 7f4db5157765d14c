//! One error type: every variant says what went wrong, where, and what to do about it.

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
/// What the operating system said is the [source](std::error::Error::source) of an error and no part of its message, so
/// that what prints the whole chain, as `{error:#}` of the crate anyhow does, says it once.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened or read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file could not be written; nothing is left at its final name.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}{at}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        at: Place,
        /// What is wrong there and what can be done.
        problem: String,
    },
    /// A file is of a kind that this build of the library leaves out.
    #[error(
        "{}: is {kind}, which this build of sememe cannot read: build it with the Cargo feature `{feature}`",
        path.display()
    )]
    MissingFeature {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
        /// The feature that reads it.
        feature: &'static str,
    },
    /// More lines or entries of a file had to be skipped than is tolerable.
    #[error("{}: too many unusable entries ({bad} of {seen}; at most {tolerated} can be skipped): {skipped}", path.display())]
    TooManySkipped {
        /// The file.
        path: PathBuf,
        /// Unusable entries met.
        bad: u64,
        /// All entries met.
        seen: u64,
        /// "1 %", or "none" under strict reading.
        tolerated: &'static str,
        /// Which ones and why.
        skipped: Skipped,
    },
    /// A parameter is outside its range.
    #[error("{name} is {given}: {expected}")]
    Argument {
        /// The parameter.
        name: &'static str,
        /// What was given.
        given: String,
        /// What it must be.
        expected: String,
    },
    /// Something was asked that makes no sense; the message says what, and what to ask instead.
    #[error("{0}")]
    Request(String),
    /// There is nothing to align a view with.
    #[error("one view cannot be aligned with itself: give at least two, NAME=FILE each")]
    TooFewViews,
    /// Two views have the same name.
    #[error("two views are named {0:?}; each needs a name of its own")]
    DuplicateView(String),
    /// A view was named that does not exist.
    #[error("there is no view named {name:?}; there {}", list(known))]
    UnknownView {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Something was asked that only a generative model can answer.
    #[error("{method} has no density: only ibfa and mbfa model how vectors come about")]
    NoDensity {
        /// How the model was fitted.
        method: &'static str,
    },
    /// The data do not determine the model that was asked for.
    #[error("not enough data: {0}")]
    NotEnoughData(String),
    /// Views were aligned without any supervision, and not found to be alike.
    #[error(
        "{:?} and {:?} could not be aligned without a dictionary: the best attempt scores {objective:.3}, random ones \
         {chance:.3}, so it is no better than chance; give a dictionary, or take identical strings as one",
        views[0], views[1]
    )]
    NoBetterThanChance {
        /// Their names.
        views: [String; 2],
        /// The mean CSLS of words with their best translations.
        objective: f64,
        /// The mean of the same after random starts.
        chance: f64,
    },
    /// Learning was ended before anybody could know whether it had found something.
    #[error("stopped before it was known whether {:?} and {:?} can be aligned without a dictionary", .0[0], .0[1])]
    StoppedEarly([String; 2]),
    /// The observer asked the work to stop before it had a result.
    #[error("stopped before it was done")]
    Stopped,
    /// What went wrong is the source; this says where.
    #[error("{place}")]
    Within {
        /// The view or the file.
        place: String,
        /// What went wrong there.
        source: Box<Error>,
    },
    /// A matrix computation failed its residual check.
    #[error(transparent)]
    Numerical(#[from] Failure),
}

impl Error {
    /// True when the input or the request is at fault, false when the work itself failed.
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

    /// The same error, with where it happened.
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

    #[cfg(not(all(feature = "zstd", feature = "xz", feature = "fasttext")))]
    pub(crate) fn missing_feature(path: &Path, kind: &'static str, feature: &'static str) -> Self {
        Error::MissingFeature { path: path.to_owned(), kind, feature }
    }

    pub(crate) fn argument(name: &'static str, given: impl fmt::Display, expected: impl Into<String>) -> Self {
        Error::Argument { name, given: given.to_string(), expected: expected.into() }
    }
}

/// Where in a file something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// An entry of a binary file or an array, counted from 1.
    Entry(u64),
    /// A byte offset, counted from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(n) => write!(f, ", line {n}"),
            Place::Entry(n) => write!(f, ", entry {n}"),
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

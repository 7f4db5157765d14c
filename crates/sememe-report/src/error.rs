//! What can go wrong with a report.

use std::path::PathBuf;

/// A `Result` whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library.
    #[error(transparent)]
    Sememe(#[from] sememe::Error),
    /// The target of a report exists and is not a report.
    #[error("{} is there already and is not replaced: {why}; name another folder", folder.display())]
    NotReplaced {
        /// The folder of the report.
        folder: PathBuf,
        /// What is there.
        why: String,
    },
    /// A report could not be written; no part of it remains.
    #[error("cannot write the report {}", folder.display())]
    Write {
        /// The folder of the report.
        folder: PathBuf,
        /// Why.
        source: sememe::Error,
    },
    /// A folder of data has no vectors of any language.
    #[error(
        "{} has no vectors: there must be XX/vectors.npy (with XX/words.txt), XX.vec or wiki.XX.vec for languages XX; \
         name another folder of vectors", folder.display()
    )]
    NoVectors {
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// Numbers span no range that a plot could show.
    #[error("there is nothing to draw: {0}")]
    NothingToDraw(&'static str),
}

impl Error {
    /// True when the input or the request is at fault, false when the work itself failed.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Error::Sememe(error) => error.is_bad_input(),
            Error::Write { source, .. } => source.is_bad_input(),
            Error::NotReplaced { .. } | Error::NoVectors { .. } => true,
            Error::NothingToDraw(_) => false,
        }
    }
}

//! What can go wrong before a server answers.

use std::io;
use std::net::SocketAddr;

/// A `Result` whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong before a server answers, and while it ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A space cannot be opened.
    #[error(transparent)]
    Space(#[from] sememe::Error),
    /// The options contradict each other.
    #[error("{0}")]
    Options(String),
    /// The page cannot be made into one file.
    #[error("the page cannot be made: {0}")]
    Page(&'static str),
    /// Nothing can listen at the address.
    #[error("cannot listen at {address}; name another --port or --bind")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The threads that answer requests cannot be started.
    #[error("cannot start the threads that answer requests")]
    Threads(#[source] io::Error),
}

impl Error {
    /// True if the input or the options are invalid, false if something failed while working.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Error::Space(error) => error.is_bad_input(),
            Error::Options(_) => true,
            Error::Page(_) | Error::Bind { .. } | Error::Threads(_) => false,
        }
    }
}

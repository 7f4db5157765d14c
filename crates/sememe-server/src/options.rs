//! The options of a server.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};

/// The longest word in bytes that is looked up.
pub(crate) const LONGEST_WORD: usize = 512;
/// The most candidates or neighbours of a word.
pub(crate) const MOST_CANDIDATES: usize = 1000;
/// Unknown words of a request that get spelling suggestions: each takes a look at all words of a view.
pub(crate) const MOST_SUGGESTED: usize = 16;
/// Entries of a gold dictionary in a request.
pub(crate) const MOST_ENTRIES: usize = 50_000;
/// The most pairs, factors or changed words in an answer.
pub(crate) const MOST_LISTED: usize = 10_000;

/// How a server is reached, and how much it does for whom.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The address to listen at; only this machine by default.
    pub bind: IpAddr,
    /// The port; 0 for any free one.
    pub port: u16,
    /// Every request but that for the page needs this token.
    pub token: Option<String>,
    /// Allows to listen at an address that others can reach without a token.
    pub insecure: bool,
    /// The most words in one request and in one search.
    pub max_batch: usize,
    /// A request that takes longer than this is given up.
    pub timeout: Duration,
    /// Searches that run at the same time, each on all threads.
    pub workers: usize,
    /// The most bytes of a request's body.
    pub max_body: usize,
    /// The most connections at a time; more wait.
    pub max_connections: usize,
    /// How long a client may take for the head of a request, or be idle.
    pub header_timeout: Duration,
    /// Lets pages of this machine show the page in a frame, as notebooks do.
    pub framed: bool,
    /// Serves the page from this folder instead of the one in the program, for those who change it.
    pub page: Option<PathBuf>,
    /// Whether layouts of the map that take long are computed and kept in the spaces.
    pub layouts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8080,
            token: None,
            insecure: false,
            max_batch: 512,
            timeout: Duration::from_secs(30),
            workers: 1,
            max_body: 8 << 20,
            max_connections: 1024,
            header_timeout: Duration::from_secs(10),
            framed: false,
            page: None,
            layouts: true,
        }
    }
}

impl Options {
    /// Whether only this machine can reach the server.
    pub(crate) fn is_local(&self) -> bool {
        self.bind.is_loopback()
    }

    pub(crate) fn check(&self) -> Result<()> {
        let problem = match self {
            _ if !self.is_local() && self.token.is_none() && !self.insecure => {
                format!("others can reach {}: set --token, or allow everybody everything with --insecure", self.bind)
            }
            Options { token: Some(token), .. }
                if token.len() < 8 || !token.bytes().all(|byte| byte.is_ascii_graphic()) =>
            {
                "the token must have at least 8 characters, which are letters, digits or signs of ASCII".to_owned()
            }
            Options { max_batch: 0, .. } => "--max-batch must be at least 1".to_owned(),
            Options { workers: 0, .. } => "--workers must be at least 1".to_owned(),
            Options { timeout, .. } if timeout.is_zero() => "--timeout must be above 0".to_owned(),
            _ => return Ok(()),
        };
        Err(Error::Options(problem))
    }
}

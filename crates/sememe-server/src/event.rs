//! What a server tells its owner: a line for each request, and what happens to its spaces.

use serde::Serialize;

/// Something that happened.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A request was answered.
    Access(Access),
    /// Something about a space or the server that a person may want to know.
    Notice {
        /// A sentence.
        message: String,
    },
}

impl Event {
    pub(crate) fn notice(message: impl Into<String>) -> Self {
        Event::Notice { message: message.into() }
    }
}

/// An answered request. Neither words nor tokens are in it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Access {
    /// Seconds since 1970.
    pub time: f64,
    /// The address of the client.
    pub client: String,
    /// The method, such as GET.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The status of the answer.
    pub status: u16,
    /// How long it took, in milliseconds.
    pub milliseconds: f64,
}

/// Receives events, from any thread.
pub(crate) type Log = Box<dyn Fn(Event) + Send + Sync>;

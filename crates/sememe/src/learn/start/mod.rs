//! The start of unsupervised learning.

mod bridges;
mod components;
mod matching;
mod profiles;
mod search;

pub(super) use self::bridges::connected;
pub use self::search::Chance;
pub(super) use self::search::search;

//! The start of unsupervised learning.

mod components;
mod matching;
mod profiles;
mod search;

pub use self::search::Chance;
pub(super) use self::search::search;

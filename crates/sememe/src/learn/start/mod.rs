//! Where to begin without any pair.

mod components;
mod matching;
mod profiles;
mod search;

pub use self::search::Chance;
pub(super) use self::search::search;

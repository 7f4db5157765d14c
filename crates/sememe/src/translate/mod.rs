//! Translations that a person can use: how sure they are, what to do about words that are not there, and whole dictionaries.

mod confidence;
mod induce;
mod spelling;

pub use self::confidence::Confidence;
pub use self::induce::{Induced, Induction, induce, write_induced};
pub use self::spelling::closest_spellings;

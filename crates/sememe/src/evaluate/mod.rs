//! How good an alignment is, measured on tasks with known answers.

mod translation;

pub use self::translation::{Translation, translation};

//! How good an alignment is, measured on tasks with known answers.

pub mod noise;
mod translation;

pub use self::translation::{Translation, translation};

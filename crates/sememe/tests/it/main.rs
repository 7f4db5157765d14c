//! The library's integration tests, in one binary.

mod densities;
mod drawing;
mod evaluation;
mod evidence;
mod extension;
mod formats;
mod golden;
// The hostile files are of all formats.
#[cfg(all(feature = "zstd", feature = "xz", feature = "fasttext"))]
mod hostile;
mod learning;
mod lexicons;
mod models;
mod properties;
mod retrieval;
mod samples;
mod spaces;
mod translating;

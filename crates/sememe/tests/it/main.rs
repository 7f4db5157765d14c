//! The library's integration tests, in one binary.

mod arrows;
mod calibrating;
mod densities;
mod drawing;
mod evaluation;
mod evidence;
mod extension;
mod finishing;
mod formats;
mod gold;
mod golden;
// The hostile files are of all formats.
#[cfg(all(feature = "zstd", feature = "xz", feature = "fasttext"))]
mod hostile;
mod learning;
mod lexicons;
mod many_views;
#[cfg(feature = "parquet")]
mod mapped_files;
#[cfg(feature = "parquet")]
mod migrating;
mod models;
mod properties;
#[path = "../../src/random.rs"]
#[allow(dead_code, reason = "the library's own generator, of which tests use a part")]
mod random;
mod regressions;
mod retrieval;
mod samples;
mod seeds;
mod spaces;
mod spelling;
mod stopping;
mod tables;
mod translating;
mod weighting;

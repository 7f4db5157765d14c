//! The library's integration tests, in one binary.

mod densities;
mod drawing;
mod evaluation;
mod evidence;
mod extension;
mod formats;
mod golden;
mod hostile;
mod learning;
mod lexicons;
mod models;
mod properties;
mod retrieval;
mod samples;
mod spaces;

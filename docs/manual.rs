//! The documents whose Rust code is compiled and run as doc tests; there is nothing to use here.

/// README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// docs/rust.md.
#[cfg(doctest)]
#[doc = include_str!("rust.md")]
pub struct Rust;

/// crates/sememe/README.md.
#[cfg(doctest)]
#[doc = include_str!("../crates/sememe/README.md")]
pub struct Library;

/// crates/sememe-report/README.md.
#[cfg(doctest)]
#[doc = include_str!("../crates/sememe-report/README.md")]
pub struct Report;

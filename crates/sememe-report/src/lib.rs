//! Reports about aligned vector spaces: what they are made of, how they are written, and the studies that fill them.
//!
//! | what | where |
//! |---|---|
//! | sections, tables and figures; a page, Markdown and JSON of them | [`Report`] |
//! | curves, bars and maps as SVG | [`plots`] |
//! | words of several views in a plane | [`map`] |
//! | several methods on the same tuples, and their precision | [`experiment`] |
//! | robustness: precision on degraded input | [`noise`] |
//! | the paper's tables and figures on data at hand | [`reproduce`] |
//! | the plan of a migration to another embedding model | [`migration`] |
//! | four bundled languages, aligned and evaluated | [`demo`] |
//!
//! Nothing here prints or reads arguments. Long work reports its progress to an [`Observer`](sememe::observe::Observer).

pub mod demo;
mod error;
pub mod experiment;
pub mod map;
mod markup;
pub mod migration;
pub mod noise;
pub mod plots;
mod report;
pub mod reproduce;
mod spectrum;
pub mod text;
mod work;

pub use self::error::{Error, Result};
pub use self::report::{Block, Cell, Column, Figure, Measured, Report, Row, Section, Table, check_writable};

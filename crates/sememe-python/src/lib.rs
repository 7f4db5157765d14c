//! The native part of the Python package `sememe`: thin classes over the library, which `python/sememe` wraps.
//!
//! Rows are contiguous numpy arrays of float32; the Python side converts them. They are borrowed if nothing can change
//! them, and copied otherwise.

mod alignment;
mod arrays;
mod arrow;
mod batches;
mod data;
mod device;
mod embeddings;
mod errors;
mod evaluate;
mod learning;
mod lending;
mod lexicon;
mod migrate;
mod moments;
mod observed;
#[cfg(target_os = "linux")]
mod on_device;
mod options;
mod retrieve;
mod serve;
mod space;
mod work;

use pyo3::prelude::*;

/// The native part of sememe.
#[pymodule]
mod _sememe {
    #[pymodule_export]
    use crate::alignment::Alignment;
    #[pymodule_export]
    use crate::arrow::{ArrowRows, arrow_rows};
    #[pymodule_export]
    use crate::batches::{
        Batch, PartialMoments, Targets, largest_cosines, merge_moments, neighbors_batch, project_batch,
    };
    #[pymodule_export]
    use crate::device::{device_name, devices, set_device};
    #[pymodule_export]
    use crate::embeddings::Embeddings;
    #[pymodule_export]
    use crate::evaluate::{
        evaluate_analogy, evaluate_sentences, evaluate_similarity, evaluate_sts, evaluate_translation,
    };
    #[pymodule_export]
    use crate::learning::learn;
    #[pymodule_export]
    use crate::lending::{Lent, lend};
    #[pymodule_export]
    use crate::lexicon::{Lexicon, Tuples};
    #[pymodule_export]
    use crate::migrate::{AdaptedIndex, MigrationMap, plan_migration};
    #[pymodule_export]
    use crate::moments::Evidence;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::on_device::{DeviceRows, dlpack_tensor};
    #[pymodule_export]
    use crate::options::defaults;
    #[pymodule_export]
    use crate::retrieve::{Index, confidence, neighbors};
    #[pymodule_export]
    use crate::serve::Server;
    #[pymodule_export]
    use crate::space::Space;
    #[pymodule_export]
    use crate::work::{set_threads, threads};
}

//! `sememe evaluate`: how good a space is, or vectors as they are. One file per task.

mod analogy;
mod noise;
mod sentences;
mod similarity;
mod sts;
mod subject;
mod translation;

use std::path::{Path, PathBuf};

use sememe::evaluate::Intervals;
use sememe::prepare::Casing;

use crate::arguments::{BadUsage, Evaluate, Global};

pub fn run(task: &Evaluate, global: &Global) -> anyhow::Result<()> {
    match task {
        Evaluate::Translation(arguments) => translation::run(arguments, global),
        Evaluate::Similarity(arguments) => similarity::run(arguments, global),
        Evaluate::Analogy(arguments) => analogy::run(arguments, global),
        Evaluate::Sts(arguments) => sts::run(arguments, global),
        Evaluate::Sentences(arguments) => sentences::run(arguments, global),
        Evaluate::Noise(arguments) => noise::run(arguments, global),
    }
}

/// The files that are given, and those that `pick` finds in folders that are given.
fn files_of(
    given: &[PathBuf],
    pick: impl Fn(&Path) -> anyhow::Result<Vec<PathBuf>>,
    wanted: &str,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = pick(path)?;
        if found.is_empty() {
            return Err(BadUsage(format!("the folder {} has no file {wanted}", path.display())).into());
        }
        files.extend(found);
    }
    Ok(files)
}

fn case(casing: Casing) -> &'static str {
    match casing {
        Casing::Kept => "case kept",
        Casing::Lower => "lower-cased",
    }
}

/// Precision at 1 with its interval, further precisions, and the mean reciprocal rank.
fn ranked_cells(
    precision: &std::collections::BTreeMap<usize, f64>,
    mrr: f64,
    intervals: &Intervals,
) -> impl Iterator<Item = String> {
    let mut cells = Vec::new();
    for (rank, value) in precision {
        cells.push(format!("{value:.2}"));
        if *rank == 1 {
            let [low, high] = intervals.precision[rank];
            cells.push(format!("{low:.1} – {high:.1}"));
        }
    }
    cells.push(format!("{mrr:.2}"));
    cells.into_iter()
}

/// The header of [`ranked_cells`].
const RANKED: [&str; 5] = ["P@1", "95 % interval", "P@5", "P@10", "MRR"];

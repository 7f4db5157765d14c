//! `sememe evaluate`: evaluations of a space, or of vectors from files. One file per task.

mod analogy;
mod noise;
mod sentences;
mod similarity;
mod sts;
mod subject;
mod translation;

use sememe::evaluate::Intervals;
use sememe::prepare::Casing;

use crate::arguments::{Evaluate, Global};

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

//! `sememe evaluate`: evaluations of a space, or of vectors from files. One file per task.

mod analogy;
mod noise;
mod sentences;
mod similarity;
mod sts;
mod subject;
mod translation;

use std::fmt::Display;

use sememe::evaluate::Intervals;
use sememe::prepare::Casing;

use crate::arguments::{Evaluate, Global};
use crate::output::{self, count};

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

/// Warns where a test set is mostly unknown: it may be of another language, and its result says little.
fn warn_of_unknown(global: &Global, what: impl Display, (known, all): (usize, usize), least: f64) {
    if (known as f64) < least * all as f64 {
        let (known, all) = (count(known), count(all));
        let check = "so this says little; check the view, the language and the casing";
        output::warn(global, format_args!("{what}: only {known} of {all} have vectors, {check}"));
    }
}

/// The fraction of the words, pairs or questions of a test set that should be known.
const ENOUGH: f64 = 0.2;

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

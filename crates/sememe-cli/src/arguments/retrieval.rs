//! The options that say what "near" means.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use sememe::retrieve::Criterion;

/// How candidates are ranked.
#[derive(Args)]
pub struct Ranking {
    /// What candidates are ranked by: nn (cosine), csls, isf (inverted softmax), corrected, dot, l2, pmi or logp. Some have
    /// parameters: csls:k=10,words=50000 isf:beta=30,sample=10000 corrected:pool=5000
    #[arg(long, default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  sememe neighbors queries.npy targets.npy -k 10 -o nearest   (nearest.ids.npy, nearest.scores.npy)"
)]
pub struct Neighbors {
    /// The vectors whose neighbours are wanted, one a row: an array (no word list is needed) or any other format
    pub queries: PathBuf,
    /// The vectors to find them among
    pub targets: PathBuf,
    /// How many for each query
    #[arg(short, default_value = "10", value_name = "K")]
    pub k: NonZeroUsize,
    /// What is near: nn (cosine), csls, dot or l2; csls has parameters: csls:k=10,words=50000
    #[arg(long, default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
    /// Write OUT.ids.npy (int64, rows of the targets from 0 on) and OUT.scores.npy (float32), a row for each query
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
}

//! The arguments of retrieval: criteria and metrics.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use sememe::retrieve::{Criterion, Metric};

/// How candidates are ranked.
#[derive(Args)]
pub struct Ranking {
    /// Criterion that ranks candidates: nn (cosine), csls, isf (inverted softmax), corrected, dot, l2, pmi or logp. Some have
    /// parameters: csls:k=10,words=50000 isf:beta=30,sample=10000 corrected:pool=5000
    #[arg(long, default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  sememe neighbors queries.npy targets.npy -k 10 -o nearest   (nearest.ids.npy, nearest.scores.npy)"
)]
pub struct Neighbors {
    /// Query vectors, one a row: an array (no word list is needed) or any other format
    pub queries: PathBuf,
    /// Target vectors, among which neighbours are found
    pub targets: PathBuf,
    /// Number of nearest neighbours of each query
    #[arg(short, default_value = "10", value_name = "K")]
    pub k: NonZeroUsize,
    /// Criterion that ranks targets: nn (cosine), csls, dot or l2; csls has parameters: csls:k=10,words=50000
    #[arg(long, default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
    /// Write OUT.ids.npy (int64, target rows counted from 0) and OUT.scores.npy (float32), one row per query, padded with -1
    /// and NaN where fewer than K targets are found, as for zero queries
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  sememe export space --view fr --for csls --metric cosine -o fr.npy --queries en.npy

Put the rows of fr.npy into faiss, usearch, hnswlib, pgvector, Qdrant or anything else that searches vectors, and ask it with
the rows of en.npy: the nearest rows are the best translations by the criterion. Its term and, for the metrics l2 and cosine, what
makes all rows equally long are added as coordinates, so that both files go together.")]
pub struct Export {
    /// The space
    pub space: PathBuf,
    /// Target view: its words go into the index
    #[arg(long, value_name = "VIEW")]
    pub view: String,
    /// Source view: queries are of this view [default: the other one of two]
    #[arg(long, value_name = "VIEW")]
    pub from: Option<String>,
    /// Criterion that the index should rank by: nn, csls, isf, dot, l2, pmi or logp
    #[arg(long = "for", default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
    /// Metric of the index: ip (the largest inner product), l2 (the smallest distance) or cosine
    #[arg(long, default_value = "ip", value_name = "METRIC")]
    pub metric: Metric,
    /// File to write the vectors to; its extension decides the format
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// File to write the queries to: all words of the source view
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
}

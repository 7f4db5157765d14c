//! The arguments of retrieval: criteria and metrics.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use sememe::retrieve::{Criterion, Metric};
use sememe::space::Space;
use sememe::vectors::Format;

/// How candidates are ranked.
#[derive(Args)]
pub struct Ranking {
    /// Criterion that ranks candidates: auto (csls, or what --criterion of align chose), nn (cosine), csls, isf (inverted
    /// softmax), corrected, dot, l2, pmi or logp. Some have parameters: csls:k=10,words=50000 isf:beta=30,sample=10000
    /// corrected:pool=5000
    #[arg(long, default_value = "auto", value_name = "CRITERION")]
    pub criterion: AskedCriterion,
}

/// A criterion, or that of a space.
#[derive(Clone, Copy)]
pub struct AskedCriterion(Option<Criterion>);

impl FromStr for AskedCriterion {
    type Err = sememe::Error;

    fn from_str(text: &str) -> Result<Self, sememe::Error> {
        let criterion = text.parse()?;
        Ok(AskedCriterion((!text.trim().eq_ignore_ascii_case("auto")).then_some(criterion)))
    }
}

impl AskedCriterion {
    /// The criterion in a space.
    pub fn in_space(self, space: &Space) -> Criterion {
        self.0.unwrap_or_else(|| space.alignment().usual_criterion())
    }

    /// The criterion where there is no space.
    pub fn without_space(self) -> Criterion {
        self.0.unwrap_or(Criterion::AUTO)
    }
}

/// Criteria that are separated by commas.
#[derive(Clone)]
pub struct Criteria(Vec<AskedCriterion>);

impl FromStr for Criteria {
    type Err = sememe::Error;

    fn from_str(text: &str) -> Result<Self, sememe::Error> {
        match text.parse() {
            Ok(one) => Ok(Criteria(vec![one])),
            Err(_) => {
                let criteria = Criterion::parse_list(text)?.into_iter();
                Ok(Criteria(criteria.map(|criterion| AskedCriterion(Some(criterion))).collect()))
            }
        }
    }
}

impl Criteria {
    /// All criteria of an option that was given any number of times.
    pub fn all(given: &[Self]) -> Vec<AskedCriterion> {
        given.iter().flat_map(|criteria| criteria.0.iter().copied()).collect()
    }
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  sememe neighbors queries.npy targets.npy -k 10 -o nearest   (nearest.ids.npy, nearest.scores.npy)
  sememe neighbors queries.parquet targets.parquet --columns embedding -o nearest.parquet"
)]
pub struct Neighbors {
    /// Query vectors, one a row: an array (no word list is needed) or any other format
    pub queries: PathBuf,
    /// Target vectors, among which neighbours are found
    pub targets: PathBuf,
    /// Tables (Parquet, Arrow): the column of vectors [default: the only one]
    #[arg(long, value_name = "VECTOR")]
    pub columns: Option<String>,
    /// Number of nearest neighbours of each query
    #[arg(short, default_value = "10", value_name = "K")]
    pub k: NonZeroUsize,
    /// Criterion that ranks targets: nn (cosine), csls, dot or l2; csls has parameters: csls:k=10,words=50000
    #[arg(long, default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
    /// Write OUT.ids.npy (int64, target rows counted from 0) and OUT.scores.npy (float32), one row per query, padded with -1
    /// and NaN where fewer than K targets are found, as for zero queries; or one table, if OUT ends in .parquet or .arrow:
    /// query, rank, target, score
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe export space --format vec -o aligned                     (aligned/en.vec, aligned/fr.vec: all views)
  sememe export space --view fr --for csls --metric cosine -o fr.npy --queries en.npy
  sememe export space --view fr --for csls --to pgvector postgresql://me@localhost/words -o fr_csls --queries en_csls

With --format the aligned vectors of all views are written as they are, for programs that read word vectors.

With --view one view is written for an index of vectors. Put the rows of fr.npy into faiss, usearch, hnswlib, pgvector, Qdrant or anything else that searches vectors, and ask it with \
the rows of en.npy: the nearest rows are the best translations by the criterion. Its term and, for the metrics l2 and cosine, what \
makes all rows equally long are added as coordinates, so that both files go together.")]
pub struct Export {
    /// The space
    pub space: PathBuf,
    /// Write the aligned vectors of all views into the folder --output: vec, txt (no header), bin (word2vec), npy,
    /// safetensors, parquet or arrow
    #[arg(long, value_name = "FORMAT", value_parser = parse_extension, conflicts_with_all = ["view", "from", "criterion", "metric", "queries"])]
    pub format: Option<Format>,
    /// Target view: its words go into the index
    #[arg(long, value_name = "VIEW", required_unless_present = "format")]
    pub view: Option<String>,
    /// Source view: queries are of this view [default: the other one of two]
    #[arg(long, value_name = "VIEW")]
    pub from: Option<String>,
    /// Criterion that the index should rank by: nn, csls, isf, dot, l2, pmi or logp
    #[arg(long = "for", default_value = "nn", value_name = "CRITERION")]
    pub criterion: Criterion,
    /// Metric of the index: ip (the largest inner product), l2 (the smallest distance) or cosine
    #[arg(long, default_value = "ip", value_name = "METRIC")]
    pub metric: Metric,
    /// Write tables of a database instead of files: --to pgvector DSN, such as postgresql://user@host/database. New
    /// tables with the columns id (rows from 0), word and vector, all in one transaction
    #[arg(long, num_args = 2, value_names = ["STORE", "DSN"], conflicts_with = "format")]
    pub to: Option<Vec<String>>,
    /// File to write the vectors to; its extension decides the format. With --format, a folder; with --to, a new table
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// File or table to write the queries to: all words of the source view
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
}

/// A format that can be written, by the extension of its files or by its name.
fn parse_extension(name: &str) -> Result<Format, String> {
    match (Format::of_name(Path::new(&format!("view.{name}"))), name.parse()) {
        (Ok(format), _) | (Err(_), Ok(format)) if format != Format::FastText => Ok(format),
        _ => Err("it must be one of vec, txt, bin, npy, safetensors, parquet, arrow".to_owned()),
    }
}

//! The arguments of changing the embedding model.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use sememe::migrate::{MapMethod, Precision, Side};

use super::Named;
use super::translation::parse_probability;

#[derive(Subcommand)]
pub enum Migrate {
    /// Tell from a sample how many pairs are needed, what to expect, and what it takes
    Plan(MigratePlan),
    /// Fit a map between two models to texts that both have embedded
    Fit(MigrateFit),
    /// Adapt the latent space of a map to an index and to unlabelled queries
    Adapt(MigrateAdapt),
    /// Map queries, or a whole index, from one model to the other
    Apply(MigrateApply),
    /// Ask labelled questions in every way: old, new, mapped, in the latent space, and by the baselines
    Evaluate(MigrateEvaluate),
    /// Tell whether fresh vectors are still like those of the fit; exit code 1 if they are not
    Monitor(MigrateMonitor),
    /// Write the map of queries for other programs
    Export(MigrateExport),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe migrate plan old=old.npy new=new.npy --rows-to-migrate 10000000
  sememe migrate plan old=old.npy new=new.npy --queries queries.tsv --report plan --json

Maps are fitted to halves, quarters and so on of the pairs. Without --queries whole clusters of texts are held out, and the answer to \
a query is what the new model finds first: agreement with computing everything again. Rows of --queries are never fitted to.")]
pub struct MigratePlan {
    /// A sample of texts embedded by both models: old=FILE new=FILE
    #[arg(required = true, num_args = 2, value_name = "SIDE=FILE")]
    pub vectors: Vec<Named>,
    /// Fit to these rows only: a file of row numbers from 0, one a line
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Labelled questions: the row of a query and the row of its answer a line
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Tell what it takes for an index of so many rows
    #[arg(long, value_name = "N")]
    pub rows_to_migrate: Option<NonZeroUsize>,
    /// Rows that the new model embeds a second, to compare with
    #[arg(long, value_name = "R", value_parser = positive, requires = "rows_to_migrate")]
    pub rows_per_second: Option<f64>,
    /// Price of embedding a million rows by the new model, to compare with
    #[arg(long, value_name = "P", value_parser = positive, requires = "rows_to_migrate")]
    pub price_per_million: Option<f64>,
    /// Write a report, a page with a plot, to this folder
    #[arg(long, value_name = "FOLDER")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub column: Column,
}

fn positive(text: &str) -> Result<f64, String> {
    let above_zero = text.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
    above_zero.ok_or_else(|| "a number above 0 is needed".to_owned())
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe migrate fit old=old.npy new=new.npy -o map.safetensors
  sememe migrate fit old=old.parquet new=new.parquet --rows rows.txt --old-model minilm-l3 --new-model minilm-l6 -o map.safetensors
  sememe migrate fit old=old.npy new=others.npy --unsupervised -o map.safetensors

Row by row both files must be of the same texts. With --rows the pairs are those rows; the other old vectors are used as they \
are, without their partners: they tell of texts that the pairs lack. With --unsupervised no rows belong together: pairs are learned \
from the vectors alone, which is refused if they are no better than chance.")]
pub struct MigrateFit {
    /// The vectors of both models: old=FILE new=FILE
    #[arg(required = true, num_args = 2, value_name = "SIDE=FILE")]
    pub vectors: Vec<Named>,
    /// File to write the map to
    #[arg(long, short, value_name = "MAP")]
    pub output: PathBuf,
    /// Fit to these rows only: a file of row numbers from 0, one a line
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Learn from the vectors alone which rows belong together; of the same texts if possible, in any order
    #[arg(long, conflicts_with = "rows")]
    pub unsupervised: bool,
    /// Name of the old model, which the map remembers
    #[arg(long, value_name = "NAME")]
    pub old_model: Option<String>,
    /// Name of the new model, which the map remembers
    #[arg(long, value_name = "NAME")]
    pub new_model: Option<String>,
    /// Only this method: procrustes, ridge, low-rank or ibfa [default: ibfa, unless another is clearly better on held-out clusters of texts]
    #[arg(long, value_name = "METHOD")]
    pub method: Option<MapMethod>,
    #[command(flatten)]
    pub column: Column,
}

/// The column of vectors in tables.
#[derive(Args)]
pub struct Column {
    /// Tables (Parquet, Arrow): the column of vectors [default: the only one of such a type]
    #[arg(long, value_name = "VECTOR")]
    pub columns: Option<String>,
}

impl Column {
    pub fn names(&self) -> Option<Vec<String>> {
        self.columns.clone().map(|vector| vec![vector])
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe migrate adapt map.safetensors old=index.npy new=queries.npy -o adapted.safetensors
  sememe migrate apply adapted.safetensors old=index.npy --to indexed -o index-mapped.npy
  sememe migrate apply adapted.safetensors new=queries.npy --to indexed -o asked.npy

Queries need no labels: a few thousand of those that the index is asked. Rows that are mapped to `indexed` have one more coordinate, \
and are compared by inner products, not by cosines.")]
pub struct MigrateAdapt {
    /// The map
    pub map: PathBuf,
    /// Vectors of the index, and queries of the new model: old=FILE new=FILE
    #[arg(required = true, num_args = 2, value_name = "SIDE=FILE")]
    pub vectors: Vec<Named>,
    /// File to write the adapted map to
    #[arg(long, short, value_name = "MAP")]
    pub output: PathBuf,
    /// Adapt to vectors even if they look like those of another model
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub column: Column,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe migrate apply map.safetensors new=queries.npy -o asked.npy
  sememe migrate apply map.safetensors old=index.parquet --to new -o index-new.parquet
  sememe migrate apply map.safetensors old=index.parquet --to latent -o mixed-1.parquet
  sememe migrate apply map.safetensors latent=mixed-1.parquet --to old -o back.parquet
  sememe migrate apply map.safetensors new=queries.npy -o asked.npy --index old.npy --confidence which.tsv --min-confidence 0.3

Files of any size are mapped in segments, which are kept in OUT.parts if the work is interrupted: the same command goes on where \
it stopped. Vectors are written at unit length. Other columns of a table are kept. With --confidence all queries are written to OUT, \
and the table says which of them had better be asked of an index of the new model.")]
pub struct MigrateApply {
    /// The map
    pub map: PathBuf,
    /// The vectors, and whose they are: new=FILE, old=FILE or latent=FILE
    #[arg(value_name = "SIDE=FILE")]
    pub vectors: Named,
    /// File to write; its extension decides the format: .npy, .safetensors, .parquet, .arrow
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Where to: old, new, latent, or indexed by an adapted map [default: old for new vectors, new for old ones]
    #[arg(long, value_name = "SIDE")]
    pub to: Option<Side>,
    /// Numbers to write: f16 or f32 [default: f16 if the input has it, else f32]
    #[arg(long, value_name = "TYPE")]
    pub precision: Option<Precision>,
    /// Map the vectors even if they look like those of another model
    #[arg(long)]
    pub force: bool,
    /// Name of the model that made the vectors; a map that was fitted to a model of another name refuses them
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    #[command(flatten)]
    pub column: Column,
    #[command(flatten)]
    pub trust: Trusting,
}

/// How far the answers to mapped queries can be trusted.
#[derive(Args)]
pub struct Trusting {
    /// Write a table of queries: their rows, the confidence in their first answers, and which index to ask, old or new
    #[arg(long, value_name = "TABLE.tsv", requires = "index")]
    pub confidence: Option<PathBuf>,
    /// The old index, which is asked for the confidences
    #[arg(long, value_name = "OLD", requires = "confidence")]
    pub index: Option<PathBuf>,
    /// Ask the new index where the confidence is below this
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = parse_probability, requires = "confidence")]
    pub min_confidence: f64,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe migrate evaluate map.safetensors old=old.npy new=new.npy --queries queries.tsv --json
  sememe migrate evaluate map.safetensors old=old.npy new=new.npy --sample 1000

queries.tsv has the row of a query and the row of its answer a line; every line is one question, and the query's own row is left \
out. Without labels --sample asks for the nearest other row by the new model alone: agreement with computing everything again. \
`indexed` is the index mapped once into the latent space, adapted to the queries without their labels, with CSLS as one more \
coordinate. All numbers are per cent; MRR looks at the first 10.")]
pub struct MigrateEvaluate {
    /// The map
    pub map: PathBuf,
    /// The vectors of both models: old=FILE new=FILE
    #[arg(required = true, num_args = 2, value_name = "SIDE=FILE")]
    pub vectors: Vec<Named>,
    /// Labelled questions
    #[arg(long, value_name = "FILE", required_unless_present = "sample")]
    pub queries: Option<PathBuf>,
    /// Without labels: ask for so many rows, evenly spaced
    #[arg(long, value_name = "N", conflicts_with = "queries")]
    pub sample: Option<NonZeroUsize>,
    #[command(flatten)]
    pub column: Column,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe migrate monitor map.safetensors new=today.npy
  sememe migrate monitor map.safetensors old=today-old.npy new=today-new.npy --false-alarms 0.001

Compares the mean surprise (squared Mahalanobis distance) of fresh vectors, and for pairs the distance of mapped queries from old \
vectors, with what held-out rows of the fit had. Exit code 1 when the alarm rings. Of batches like the fit, at most the stated \
share rings.")]
pub struct MigrateMonitor {
    /// The map
    pub map: PathBuf,
    /// Fresh vectors: new=FILE, or old=FILE new=FILE of the same texts
    #[arg(required = true, num_args = 1..=2, value_name = "SIDE=FILE")]
    pub vectors: Vec<Named>,
    /// Share of false alarms
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    pub false_alarms: f64,
    #[command(flatten)]
    pub column: Column,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  sememe migrate export map.safetensors --onnx map.onnx

The graph takes new vectors (float32, any number of rows), scales them, maps them and scales the result: opset 17, input \
`vectors`, output `mapped`.")]
pub struct MigrateExport {
    /// The map
    pub map: PathBuf,
    /// ONNX file to write
    #[arg(long, value_name = "FILE")]
    pub onnx: PathBuf,
    /// Whose vectors it takes: new, old or latent
    #[arg(long, value_name = "SIDE", default_value = "new")]
    pub from: Side,
    /// Whose space it maps to: old, new or latent
    #[arg(long, value_name = "SIDE", default_value = "old")]
    pub to: Side,
}

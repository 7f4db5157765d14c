//! The arguments of commands that use a space as a dictionary.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Ranking;

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe translate space --from en --to fr -k 3 house dog
  sememe translate space --from en --to fr --to ru --file words.txt --json
  sememe translate space --from en --to fr --file words.txt -o translations.parquet
  sememe translate space --from en --to fr                       (asks for words, if this is a terminal)
  sememe translate space --from en --to fr --vectors cc.en.300.bin unheardof

A candidate is shown with its probability of being right, in per cent, and its score. The probabilities are \
calibrated on words that were held out when the space was aligned; as several words may be right, they need not add up to 100 %.

Without words they are read from standard input, one a line, and answered as they come; at a terminal that is a prompt, which \
:q or Ctrl-D ends.

Exit code: 0 if at least one word was translated, 2 if none was.")]
pub struct Translate {
    /// The space
    pub space: PathBuf,
    /// View to translate from
    #[arg(long, value_name = "VIEW")]
    pub from: String,
    /// View to translate to; several may be given
    #[arg(long, required = true, value_name = "VIEW")]
    pub to: Vec<String>,
    #[command(flatten)]
    pub ranking: Ranking,
    /// Number of candidates for each word
    #[arg(long, short = 'k', default_value = "5", value_name = "K")]
    pub candidates: NonZeroUsize,
    /// Say "don't know" when the first candidate is less probable than this
    #[arg(long, default_value = "0.05", value_name = "PROBABILITY", value_parser = parse_probability)]
    pub min_confidence: f64,
    /// Read the words from a file, one a line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    pub file: Option<PathBuf>,
    /// Write a table with a row for each candidate to this file, which ends in .parquet or .arrow
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Vectors of the view --from before alignment, for out-of-vocabulary words; a fastText model (.bin) composes a vector
    /// for any word
    #[arg(long, value_name = "FILE")]
    pub vectors: Option<PathBuf>,
    /// The words
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
}

#[derive(Subcommand)]
pub enum Lexicon {
    /// Induce a dictionary: the best translation of every word of a view
    Induce(Induce),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe lexicon induce space --from ru --to en -o induced.tsv
  sememe lexicon induce space --from ru --to en --mutual --min-confidence 0.5 -o induced.tsv
  sememe align ru=ru.vec en=en.vec --lexicon ru-en=induced.tsv -o again

The file has a line for each word, with tabs: word, translation, score, and probability of being right. A \
name that ends in .parquet or .arrow makes a table of the same columns.")]
pub struct Induce {
    /// The space
    pub space: PathBuf,
    /// View to translate from
    #[arg(long, value_name = "VIEW")]
    pub from: String,
    /// View to translate to
    #[arg(long, value_name = "VIEW")]
    pub to: String,
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Keep only words that are each other's best translation (mutual nearest neighbours)
    #[arg(long)]
    pub mutual: bool,
    /// Keep only translations with at least this probability of being right
    #[arg(long, value_name = "PROBABILITY", value_parser = parse_probability)]
    pub min_confidence: Option<f64>,
    /// Translate only the first N words of the view
    #[arg(long, value_name = "N")]
    pub max_words: Option<NonZeroUsize>,
    #[command(flatten)]
    pub ranking: Ranking,
}

pub(super) fn parse_probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a probability is a number from 0 to 1".to_owned()),
    }
}

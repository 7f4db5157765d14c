//! The arguments for the data that a model is fitted to.

use std::fmt;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use sememe::lexicon::Shared;
use sememe::moments::EvidenceOptions;
use sememe::prepare::Step;

use super::Named;

/// The names of all these arguments.
pub const GATHERING: [&str; 7] =
    ["lexicon", "lexicon_columns", "identical", "tuples", "monolingual", "normalize", "lower"];

/// The data to fit a model to.
#[derive(Args)]
pub struct Gathering {
    /// A dictionary: A-B=FILE for pairs between two views, a FILE of tuples with a header of view names, or, with just two
    /// views, a FILE of pairs, words of the first view first; text or a table (Parquet, Arrow)
    #[arg(long, short, value_name = "A-B=FILE")]
    pub lexicon: Vec<String>,
    /// The columns of dictionaries that are tables, in the order of the views [default: those called like the views]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub lexicon_columns: Option<Vec<String>>,
    /// Use strings that the views share as a dictionary
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "strings")]
    pub identical: Option<Identical>,
    /// Use tuples with holes as the dictionaries give them, or only complete tuples, in which every two words are a pair
    #[arg(long, value_enum, default_value = "holes", value_name = "WHICH")]
    pub tuples: Which,
    /// mbfa: weight of every single word of every view, as a fraction of a tuple
    #[arg(long, value_name = "WEIGHT")]
    pub monolingual: Option<f64>,
    /// Normalise vectors by these steps, in order: unit (length 1), center, standardize; or none
    #[arg(long, default_value_t = Steps::usual(), value_name = "STEPS")]
    pub normalize: Steps,
    /// Lower-case all words; the first of words that become equal is kept
    #[arg(long)]
    pub lower: bool,
    /// Word list of a view's array [default: the one beside it]
    #[arg(long, value_name = "NAME=FILE")]
    pub words: Vec<Named>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// As they are: a tuple may lack views (holes)
    Holes,
    /// Only those that have all views, joined from all dictionaries
    Complete,
}

/// Steps of preparation, separated by commas.
#[derive(Clone)]
pub struct Steps(pub Vec<Step>);

impl Steps {
    pub fn usual() -> Self {
        Steps(EvidenceOptions::usual().normalize)
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(if names.is_empty() { "none".to_owned() } else { names.join(",") }.as_str())
    }
}

impl FromStr for Steps {
    type Err = sememe::Error;

    fn from_str(text: &str) -> Result<Self, sememe::Error> {
        match text {
            "none" | "" => Ok(Steps(Vec::new())),
            steps => steps.split(',').map(|step| step.trim().parse()).collect::<Result<_, _>>().map(Steps),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Identical {
    /// Every shared string
    Strings,
    /// Shared numbers only
    Numerals,
}

impl From<Identical> for Shared {
    fn from(which: Identical) -> Self {
        match which {
            Identical::Strings => Shared::Strings,
            Identical::Numerals => Shared::Numerals,
        }
    }
}

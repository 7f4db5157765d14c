//! The arguments of sampling from a model, and of the study of robustness.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use sememe::model::{Method, Shrinkage};

use super::{Gathering, Named, Ranking, Reading};

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe sample space -n 2000 --top 28
  sememe sample space --vectors en=en.vec --vectors fr=fr.vec --max-words 40000

Draws latent vectors and noise, makes a vector of each view out of them, and shows the nearest words by cosine: among the \
latent vectors of the space, or, as the paper does, among the raw vectors if they are given. Draws are ranked by the joint \
density log p of the words' vectors, in nats. Words of which any two were a pair of the dictionary are left out.")]
pub struct Sample {
    /// The space, made by ibfa or mbfa
    pub space: PathBuf,
    /// Number of draws
    #[arg(short, default_value = "2000", value_name = "N")]
    pub n: NonZeroUsize,
    /// Number of draws to show, the most probable ones
    #[arg(long, default_value = "28", value_name = "N")]
    pub top: NonZeroUsize,
    /// Vectors of a view before alignment; give those of every view, or none
    #[arg(long, value_name = "VIEW=FILE")]
    pub vectors: Vec<Named>,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  sememe evaluate noise en=en.vec fr=fr.vec --lexicon en-fr=train.txt --gold test.txt --lower --max-words 20000 --plot noise.svg

Precision at 1 from the first view to the second as the input gets worse in three ways, one at a time: Gaussian noise on all \
vectors (1: as long as the vector), wrong entries in the dictionary (words passed on from one entry to the next), fewer \
entries. All methods are fitted to the same input.")]
pub struct EvaluateNoise {
    /// The two views: NAME=FILE
    #[arg(required = true, num_args = 2, value_name = "NAME=FILE")]
    pub views: Vec<Named>,
    /// Gold dictionary, source words first
    #[arg(long, value_name = "FILE")]
    pub gold: PathBuf,
    /// Methods to compare
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "least-squares,svd,cca,cca-nipals,ibfa",
        value_name = "METHODS"
    )]
    pub methods: Vec<Method>,
    /// Lengths of the noise, as multiples of the length of a vector
    #[arg(long, default_value = "0,0.25,0.5,0.75,1,1.5", value_name = "LEVELS")]
    pub levels: Levels,
    /// Per cent of entries that are made wrong
    #[arg(long, default_value = "0,10,25,50,75", value_name = "PERCENT")]
    pub wrong: Levels,
    /// Numbers of entries that are kept; all entries are always a further level
    #[arg(long, default_value = "5000,2000,1000,500,200", value_name = "COUNTS")]
    pub entries: Levels,
    /// Draw the curves, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Shrink covariances: auto, oas, none, or a number from 0 to 0.99
    #[arg(long, default_value = "auto", value_name = "HOW")]
    pub shrinkage: Shrinkage,
    #[command(flatten)]
    pub ranking: Ranking,
    #[command(flatten)]
    pub gathering: Gathering,
    #[command(flatten)]
    pub reading: Reading,
}

/// Numbers from 0 on, separated by commas; or none.
#[derive(Clone)]
pub struct Levels(pub Vec<f64>);

impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| match part.trim().parse::<f64>() {
            Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
            _ => Err(format!("{part:?} is no number from 0 on; give numbers separated by commas, or none")),
        };
        match text {
            "none" => Ok(Levels(Vec::new())),
            numbers => numbers.split(',').map(number).collect::<Result<_, _>>().map(Levels),
        }
    }
}

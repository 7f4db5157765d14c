//! The arguments of alignment with little or no dictionary (self-learning).

use clap::Args;
use sememe::learn::Trust;

/// How to induce pairs.
#[derive(Args)]
#[command(next_help_heading = "Little or no dictionary")]
pub struct Learning {
    /// Self-learning: start from the given pairs and learn more from the vectors
    #[arg(long, conflicts_with_all = ["moments", "resume"])]
    pub refine: bool,
    /// Self-learning from the vectors alone, without any dictionary
    #[arg(long, conflicts_with_all = ["moments", "resume", "lexicon", "lexicon_columns", "identical", "tuples", "refine", "trust"])]
    pub unsupervised: bool,
    /// --refine: keep the given entries in every round, or doubt them: then learning only starts from them [default: keep
    /// dictionaries; doubt identical strings if no dictionary is given]
    #[arg(long, value_name = "keep|doubt", requires = "refine")]
    pub trust: Option<Trust>,
}

//! The options of alignment with little or no dictionary.

use clap::Args;
use sememe::learn::Trust;

/// How to learn pairs.
#[derive(Args)]
#[command(next_help_heading = "Little or no dictionary")]
pub struct Learning {
    /// Begin with the pairs given and learn more from the vectors
    #[arg(long, conflicts_with_all = ["moments", "resume"])]
    pub refine: bool,
    /// Begin with the vectors alone: no dictionary at all
    #[arg(long, conflicts_with_all = ["moments", "resume", "lexicon", "identical", "refine", "trust"])]
    pub unsupervised: bool,
    /// --refine: keep given entries to the end, or doubt them: they only begin [default: keep dictionaries, doubt strings
    /// that are all there is]
    #[arg(long, value_name = "keep|doubt", requires = "refine")]
    pub trust: Option<Trust>,
}

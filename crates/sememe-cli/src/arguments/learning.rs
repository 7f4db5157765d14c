//! The options of alignment with little or no dictionary.

use clap::{Args, ValueEnum};
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
    /// --refine: keep given entries, or doubt them [default: keep dictionaries, doubt strings that are all there is]
    #[arg(long, value_enum, value_name = "HOW", requires = "refine")]
    pub trust: Option<TrustName>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum TrustName {
    /// They count to the end
    Keep,
    /// They only begin
    Doubt,
}

impl From<TrustName> for Trust {
    fn from(name: TrustName) -> Self {
        match name {
            TrustName::Keep => Trust::Keep,
            TrustName::Doubt => Trust::Doubt,
        }
    }
}

//! The options that say what "near" means.

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

//! Evaluation of alignments on tasks with gold answers.
//!
//! [`translation`] evaluates word translation and [`sentences()`] sentence retrieval. [`similarity()`], [`analogy()`]
//! and [`sts()`] evaluate the vectors of one view, before or after alignment. They take [`Words`], with vectors from a
//! file or from a space.
//!
//! Each of these functions computes one measure. [`TranslationEvaluation`] and the other `…Evaluation` types are
//! complete results, which serialise to the JSON that the command prints.

mod analogy;
mod bags;
mod bootstrap;
mod comparison;
mod confidences;
mod correlation;
mod details;
mod evaluations;
mod folders;
mod gold;
pub mod noise;
mod ranks;
mod scored_pairs;
mod sentences;
mod similarity;
mod sts;
mod sts_files;
mod translation;
mod translation_evaluation;
mod weighting;
mod words;

pub use self::analogy::{Analogies, Analogy, Question, Section, analogy};
pub use self::bootstrap::Bootstrap;
pub use self::comparison::{Comparison, compare};
pub use self::confidences::ConfidenceEvaluation;
pub use self::correlation::{pearson, spearman};
pub use self::details::{Detail, DetailsFormat};
pub use self::evaluations::{
    AnalogyEvaluation, SentenceEvaluation, SentenceEvaluations, SimilarityEvaluation, StsEvaluation, StsSets,
};
pub use self::gold::Gold;
pub use self::ranks::{DEPTH, Intervals, RANKS};
pub use self::scored_pairs::{ScoredPair, ScoredPairs};
pub use self::sentences::{
    Corpus, MAX_SENTENCES, Neighbours, ParallelSentences, SentenceOptions, Sentences, sentences,
};
pub use self::similarity::{Similarity, similarity};
pub use self::sts::{Sts, StsYear, sts, sts_years};
pub use self::sts_files::{SentencePair, SentencePairs};
pub use self::translation::{Answer, Oov, Outcome, Overlap, Translation, Unseen, translation, translation_in_detail};
pub use self::translation_evaluation::{TranslationEvaluation, TranslationTask};
pub use self::weighting::{Probabilities, SIF_A, Weighting};
pub use self::words::Words;

/// For counts that are left out of JSON where they are zero.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

//! How good an alignment is, measured on tasks with known answers.
//!
//! [`translation`] looks for words, [`sentences()`] for sentences; [`similarity()`], [`analogy()`] and [`sts()`] ask what is left
//! of the meaning within one view, before or after it was aligned: they take [`Words`], whether their vectors come from a
//! file or from a space.
//!
//! Each of these measures one thing. [`TranslationEvaluation`] and the other `…Evaluation` types put everything together that
//! belongs to a result, and serialise to the JSON that the command prints.

mod analogy;
mod bags;
mod bootstrap;
mod comparison;
mod correlation;
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
mod weighting;
mod words;

pub use self::analogy::{Analogies, Analogy, Question, Section, analogy};
pub use self::bootstrap::Bootstrap;
pub use self::comparison::{Comparison, compare};
pub use self::correlation::{pearson, spearman};
pub use self::evaluations::{
    AnalogyEvaluation, SentenceEvaluation, SentenceEvaluations, SimilarityEvaluation, StsEvaluation, StsSets,
    TranslationEvaluation, TranslationTask,
};
pub use self::gold::Gold;
pub use self::ranks::{DEPTH, Intervals, RANKS};
pub use self::scored_pairs::{ScoredPair, ScoredPairs};
pub use self::sentences::{Corpus, Neighbours, SentenceOptions, Sentences, sentences};
pub use self::similarity::{Similarity, similarity};
pub use self::sts::{Sts, StsYear, sts, sts_years};
pub use self::sts_files::{SentencePair, SentencePairs};
pub use self::translation::{Answer, Oov, Outcome, Overlap, Translation, Unseen, translation};
pub use self::weighting::{Probabilities, SIF_A, Weighting};
pub use self::words::Words;

//! Translation for people: translations with confidences, suggestions for unknown words, and induced dictionaries.

mod completion;
mod induce;
mod spelling;
#[cfg(feature = "parquet")]
mod table;
mod translator;

pub use self::completion::Completions;
pub use self::induce::{InduceOptions, Induced, Induction};
pub use self::spelling::closest_spellings;
pub use self::translator::{Candidate, Question, TranslateOptions, Translations, Translator, WordTranslation};

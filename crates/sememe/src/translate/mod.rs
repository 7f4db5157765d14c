//! Translation for people: translations with confidences, suggestions for unknown words, and induced dictionaries.

mod induce;
mod spelling;
#[cfg(feature = "parquet")]
mod table;
mod translator;

pub use self::induce::{InduceOptions, Induced, Induction};
pub use self::spelling::closest_spellings;
pub use self::translator::{Candidate, TranslateOptions, Translations, Translator, WordTranslation};

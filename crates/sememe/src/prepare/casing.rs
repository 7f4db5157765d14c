//! Whether words are told apart by their case.

use serde::{Deserialize, Serialize};

use crate::lexicon::Lexicon;
use crate::vectors::{Embeddings, View};

/// Whether words are told apart by their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Casing {
    /// As they are written.
    #[default]
    Kept,
    /// All lower case; of words that become equal the first is kept.
    Lower,
}

impl Casing {
    /// The vectors under this policy.
    pub fn of_embeddings(self, embeddings: Embeddings) -> Embeddings {
        match self {
            Casing::Kept => embeddings,
            Casing::Lower => embeddings.lowercased(),
        }
    }

    /// The view under this policy.
    pub fn of_view(self, view: View) -> View {
        match (self, view.words()) {
            (Casing::Lower, Some(_)) => View::from_embeddings(view.name(), view.named().lowercased()),
            _ => view,
        }
    }

    /// The dictionary under this policy.
    pub fn of_lexicon(self, lexicon: Lexicon) -> Lexicon {
        match self {
            Casing::Kept => lexicon,
            Casing::Lower => lexicon.lowercased(),
        }
    }

    /// A word under this policy.
    pub fn of_word(self, word: &str) -> String {
        match self {
            Casing::Kept => word.to_owned(),
            Casing::Lower => word.to_lowercase(),
        }
    }
}

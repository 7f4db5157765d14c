//! The casing policy of words.

use serde::{Deserialize, Serialize};

use crate::lexicon::Lexicon;
use crate::vectors::{Embeddings, View};

/// Whether words that differ only in case are different words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Casing {
    /// Words as they are spelled.
    #[default]
    Kept,
    /// Lower case; of words that become equal the first is kept.
    Lower,
}

impl Casing {
    /// Applies the policy to embeddings.
    pub fn of_embeddings(self, embeddings: Embeddings) -> Embeddings {
        match self {
            Casing::Kept => embeddings,
            Casing::Lower => embeddings.lowercased(),
        }
    }

    /// Applies the policy to the words of a view.
    pub fn of_view(self, view: View) -> View {
        match (self, view.words()) {
            (Casing::Lower, Some(_)) => {
                let name = view.name().to_owned();
                View::from_embeddings(name, view.into_named().lowercased())
            }
            _ => view,
        }
    }

    /// Applies the policy to a dictionary.
    pub fn of_lexicon(self, lexicon: Lexicon) -> Lexicon {
        match self {
            Casing::Kept => lexicon,
            Casing::Lower => lexicon.lowercased(),
        }
    }

    /// Applies the policy to a word.
    pub fn of_word(self, word: &str) -> String {
        match self {
            Casing::Kept => word.to_owned(),
            Casing::Lower => word.to_lowercase(),
        }
    }
}

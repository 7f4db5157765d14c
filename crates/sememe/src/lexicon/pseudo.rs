//! Pseudo-dictionaries: identical strings of several vocabularies.

use serde::{Deserialize, Serialize};

use super::Tuples;
use crate::vectors::Vocabulary;

/// Which identical strings to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shared {
    /// Every string.
    Strings,
    /// Strings of digits (also with `.`, `,`, `:`, `-`, `/` or `%`), which mean the same almost everywhere.
    Numerals,
}

/// A tuple for every string that at least two vocabularies share, in the order of the first that has it.
pub fn identical(vocabularies: &[&Vocabulary], shared: Shared) -> Tuples {
    let mut tuples = Tuples::new(vocabularies.len());
    for (view, vocabulary) in vocabularies.iter().enumerate() {
        for word in vocabulary.iter() {
            if shared == Shared::Numerals && !is_numeral(word) {
                continue;
            }
            // An earlier vocabulary has it, so it has its tuple already.
            if vocabularies[..view].iter().any(|earlier| earlier.get(word).is_some()) {
                continue;
            }
            let tuple: Vec<Option<usize>> = vocabularies.iter().map(|vocabulary| vocabulary.get(word)).collect();
            if tuple.iter().flatten().count() >= 2 {
                tuples.add(&tuple);
            }
        }
    }
    tuples
}

fn is_numeral(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().all(|b| b.is_ascii_digit() || b".,:-/%".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_strings_of_three_vocabularies() {
        let a: Vocabulary = ["x", "1990", "y"].into_iter().collect();
        let b: Vocabulary = ["y", "z", "1990"].into_iter().collect();
        let c: Vocabulary = ["z", "w"].into_iter().collect();
        let tuples = identical(&[&a, &b, &c], Shared::Strings);
        let expected =
            [[Some(1), Some(2), None], [Some(2), Some(0), None], [None, Some(1), Some(0)]].map(|tuple| tuple.to_vec());
        assert_eq!(tuples.iter().collect::<Vec<_>>(), expected);
        assert_eq!(identical(&[&a, &b, &c], Shared::Numerals).len(), 1);
    }
}

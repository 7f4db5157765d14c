//! Words that were drawn from a model.

use sememe::lexicon::TrainedPairs;
use sememe::sample::Drawn;
use sememe::vectors::Vocabulary;

/// Leaves out draws of which two words are a pair of the dictionary. Views are `names`, their words `vocabularies`.
pub fn without_trained(
    drawn: Vec<Drawn>,
    trained: Option<&TrainedPairs>,
    names: &[&str],
    vocabularies: &[&Vocabulary],
) -> Vec<Drawn> {
    let Some(trained) = trained else { return drawn };
    let is_new = |drawn: &Drawn| {
        let words: Vec<(&str, &str)> = names.iter().copied().zip(words_of(drawn, vocabularies)).collect();
        let is_trained = |at: usize| words[at + 1..].iter().any(|&other| trained.contains([words[at], other]));
        !(0..words.len()).any(is_trained)
    };
    drawn.into_iter().filter(is_new).collect()
}

/// The word of each view.
pub fn words_of<'a>(drawn: &Drawn, vocabularies: &[&'a Vocabulary]) -> Vec<&'a str> {
    drawn.words.iter().zip(vocabularies).map(|(&row, vocabulary)| vocabulary.word(row)).collect()
}

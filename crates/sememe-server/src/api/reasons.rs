//! Why a translation may be wrong: a guess from the spelling, the neighbours and the way back.

use sememe::observe::Observer;
use sememe::retrieve::Criterion;

use crate::http::Problem;
use crate::opened::Opened;

/// A chosen word is a hub if its mean similarity is among the highest of its view.
const HUB: f64 = 0.995;
/// Two words mean about the same if one is among so many nearest neighbours of the other.
const NEIGHBOURS: usize = 10;
/// A gold translation is near if it is among so many candidates.
const NEAR: usize = 10;

/// What was chosen for a word in place of its gold translation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) row: usize,
    pub(super) chosen: usize,
    pub(super) gold: usize,
    pub(super) gold_rank: usize,
}

pub(super) struct Reasons;

impl Reasons {
    /// A reason for each choice:
    /// `inflection`, both words have the same stem; `synonym`, they are neighbours in their own language; `hub`, the chosen
    /// word is near to everything; `other sense`, the way back leads to the word that was asked for; `near`, the gold
    /// translation is among the first candidates; `far`, it is not.
    pub(super) fn of(
        opened: &Opened,
        [from, to]: [usize; 2],
        choices: &[Choice],
        observer: &dyn Observer,
    ) -> Result<Vec<&'static str>, Problem> {
        let target = opened.views[to].embeddings()?;
        let chosen = target.matrix().select(&choices.iter().map(|choice| choice.chosen).collect::<Vec<_>>());
        let nearest = |from: usize, to: usize, criterion: Criterion, k: usize| {
            let found = opened.retriever(from, to, criterion, observer)?.nearest(&chosen, k, observer);
            found.map_err(|error| Problem::of(&error))
        };
        let back = nearest(to, from, Criterion::CSLS, 1)?;
        // The word itself is the first of them.
        let alike = nearest(to, to, Criterion::Nn, NEIGHBOURS + 1)?;
        let csls = opened.retriever(from, to, Criterion::CSLS, observer)?;
        let hubs = opened.hubs(from, to, &csls);
        let reason = |(at, choice): (usize, &Choice)| {
            let is_alike = alike[at].iter().any(|hit| hit.index == choice.gold);
            let is_hub = hubs.percentile(-csls.terms()[choice.chosen]) >= HUB;
            let comes_back = back[at].first().is_some_and(|hit| hit.index == choice.row);
            match choice {
                _ if have_one_stem(target.word(choice.chosen), target.word(choice.gold)) => "inflection",
                _ if is_alike => "synonym",
                _ if is_hub => "hub",
                _ if comes_back => "other sense",
                Choice { gold_rank, .. } if *gold_rank <= NEAR => "near",
                _ => "far",
            }
        };
        Ok(choices.iter().enumerate().map(reason).collect())
    }
}

/// Whether two words begin alike for most of their length.
fn have_one_stem(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let [longer, shorter] = [a.chars().count().max(b.chars().count()), a.chars().count().min(b.chars().count())];
    common >= 3 && 5 * common >= 3 * longer && 10 * common >= 7 * shorter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_beginnings() {
        for [a, b] in
            [["maison", "maisons"], ["talo", "talon"], ["chanter", "chanté"], ["дом", "дома"], ["große", "großes"]]
        {
            assert!(have_one_stem(a, b), "{a} {b}");
        }
        for [a, b] in [["maison", "maire"], ["in", "inn"], ["contraire", "contre"], ["", ""], ["eau", "beau"]] {
            assert!(!have_one_stem(a, b), "{a} {b}");
        }
    }
}

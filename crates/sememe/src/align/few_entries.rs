//! Pairs of views with few given entries, in a model where others have many.
//!
//! Few entries hold out too few words to choose or calibrate anything, and too few to train a finish or to learn spelling.
//! Pairs that self-learning induced train and teach instead, and the choices are those of the other pairs of views.

use std::collections::{BTreeMap, BTreeSet};

use super::folds::Split;
use super::spelling_weight::SpelledPair;
use crate::lexicon::{Cells, Tuples};
use crate::model::Spelling;
use crate::vectors::View;

/// Below this number of given entries two views have few, and from it on many.
const MANY: usize = 500;
/// The minimum weight of induced pairs that teach spelling: the product of both confidences.
const MIN_WEIGHT: f64 = 0.3;
/// One induced pair in so many tests what the others teach.
const TESTED: usize = 5;
/// Spelling counts for views with few entries if it tells their pairs apart at least this part as well as those of the views
/// with many entries for which held-out words chose it.
const AS_STRONG: f64 = 0.5;

/// The pairs of views that have few given entries while others have many.
pub(super) fn pairs_with_few(given: &Tuples) -> BTreeSet<[usize; 2]> {
    let mut counts: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for cells in given.cells() {
        for (place, &a) in cells.views.iter().enumerate() {
            cells.views[place + 1..].iter().for_each(|&b| *counts.entry([a, b]).or_default() += 1);
        }
    }
    let have_some_many = counts.values().any(|&count| count >= MANY);
    counts.into_iter().filter(|&(_, count)| have_some_many && count < MANY).map(|(pair, _)| pair).collect()
}

/// Whether the induced pair at this place tests what the others teach.
pub(super) fn is_tested(at: usize) -> bool {
    at.is_multiple_of(TESTED)
}

/// What spelling is learned from: the given entries, and for views with few of them the surest induced pairs, at those places
/// among them that are taken.
pub(super) fn teaching(given: &Tuples, induced: &Tuples, is_taken: impl Fn(usize) -> bool) -> Tuples {
    let mut teaching = given.clone();
    for views in pairs_with_few(given) {
        let surest = surest(induced, views).enumerate().filter(|(at, _)| is_taken(*at));
        surest.for_each(|(_, cells)| _ = teaching.insert_cells(cells));
    }
    teaching
}

fn surest(induced: &Tuples, [a, b]: [usize; 2]) -> impl Iterator<Item = Cells<'_>> {
    induced.cells().filter(move |cells| cells.weight >= MIN_WEIGHT && cells.row(a).is_some() && cells.row(b).is_some())
}

/// Weights of spelling for the views with few entries, if others have chosen any: the least of theirs where spelling is as
/// telling as for them, and none elsewhere.
pub(super) fn weights(
    few: BTreeSet<[usize; 2]>,
    chosen: &[SpelledPair],
    (views, spelling): (&[View], &Spelling),
    split: &Split,
) -> Vec<SpelledPair> {
    let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
    let strength = |pair: [usize; 2], rows: &[(usize, usize)]| strength((views, spelling), pair, rows);
    let held_out = |chosen: &SpelledPair| {
        let [a, b] = chosen.views;
        strength(chosen.views, &split.held_out.pairs_of(a, b))
    };
    let Some(weight) = least(&mut chosen.iter().map(|chosen| chosen.weight)) else { return Vec::new() };
    let Some(of_others) = least(&mut chosen.iter().map(held_out)) else { return Vec::new() };
    let is_as_strong = |&[a, b]: &[usize; 2]| {
        let tested = surest(&split.induced, [a, b]).enumerate().filter(|(at, _)| is_tested(*at));
        let rows: Vec<(usize, usize)> = tested.filter_map(|(_, cells)| cells.row(a).zip(cells.row(b))).collect();
        strength([a, b], &rows) >= AS_STRONG * of_others
    };
    few.into_iter().filter(is_as_strong).map(|views| SpelledPair { views, weight }).collect()
}

/// The mean cosine of the spellings of pairs of words. That of words put together at random is near 0.
fn strength((views, spelling): (&[View], &Spelling), pair: [usize; 2], rows: &[(usize, usize)]) -> f64 {
    let direction = |side: usize, row: usize| {
        let of_view = spelling.views[pair[side]].as_ref();
        of_view.map(|of_view| of_view.direction(views[pair[side]].label(row).as_ref())).unwrap_or_default()
    };
    let cosine =
        |&(x, y): &(usize, usize)| direction(0, x).iter().zip(direction(1, y)).map(|(a, b)| a * b).sum::<f64>();
    rows.iter().map(cosine).sum::<f64>() / rows.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::spelling::learn;
    use super::*;
    use crate::random::Random;
    use crate::vectors::{Embeddings, Matrix, Vocabulary};

    const WORDS: usize = 1200;

    /// Words of random letters in three alphabets.
    fn transliterated() -> [View; 3] {
        let mut random = Random::new(3);
        let words: Vec<Vec<usize>> =
            (0..WORDS).map(|_| (0..7 + random.below(3)).map(|_| random.below(12)).collect()).collect();
        ["abcdefghijkl", "абвгдежзийкл", "αβγδεζηθικλμ"].map(|alphabet| {
            let letters: Vec<char> = alphabet.chars().collect();
            let words: Vec<String> = words.iter().map(|word| word.iter().map(|&at| letters[at]).collect()).collect();
            let words: Vocabulary = words.iter().map(String::as_str).collect();
            let rows = Matrix::new(vec![1.0; words.len()], 1);
            View::from_embeddings(alphabet, Embeddings::new(words, rows))
        })
    }

    fn add(tuples: &mut Tuples, views: [usize; 2], rows: impl Iterator<Item = (usize, usize)>, weight: f64) {
        for (x, y) in rows {
            let mut tuple = vec![None; tuples.views()];
            (tuple[views[0]], tuple[views[1]]) = (Some(x), Some(y));
            assert!(tuples.add_weighted(&tuple, weight).unwrap());
        }
    }

    /// Many entries of the first two views, a few of the first and the third.
    fn given() -> Tuples {
        let mut given = Tuples::new(3);
        add(&mut given, [0, 1], (0..600).map(|row| (row, row)), 1.0);
        add(&mut given, [0, 2], (0..40).map(|row| (row, row)), 1.0);
        given
    }

    #[test]
    fn views_have_few_entries_only_beside_others_with_many() {
        assert_eq!(pairs_with_few(&given()), BTreeSet::from([[0, 2]]));
        let mut alone = Tuples::new(2);
        add(&mut alone, [0, 1], (0..40).map(|row| (row, row)), 1.0);
        assert!(pairs_with_few(&alone).is_empty());
    }

    #[test]
    fn sure_induced_pairs_teach_views_with_few_entries_alone() {
        let mut induced = Tuples::new(3);
        add(&mut induced, [0, 1], (700..800).map(|row| (row, row)), 1.0);
        add(&mut induced, [0, 2], (700..800).map(|row| (row, row)), 0.5);
        add(&mut induced, [0, 2], (800..900).map(|row| (row, row)), 0.1);
        let count = |is_taken: fn(usize) -> bool| teaching(&given(), &induced, is_taken).pairs_of(0, 2).len();
        assert_eq!(teaching(&given(), &induced, |_| true).pairs_of(0, 1).len(), 600);
        assert_eq!((count(|_| true), count(|at| !is_tested(at))), (140, 120));
    }

    #[test]
    fn spelling_counts_for_a_poor_view_where_it_is_as_telling_as_for_the_others() {
        let views = transliterated();
        let weights_of = |partner: &dyn Fn(usize) -> usize, chosen: &[SpelledPair]| {
            let mut held_out = Tuples::new(3);
            add(&mut held_out, [0, 1], (600..700).map(|row| (row, row)), 1.0);
            let mut induced = Tuples::new(3);
            add(&mut induced, [0, 2], (700..WORDS).map(|row| (row, partner(row))), 0.9);
            let split = Split { given: given(), induced, held_out };
            let taught = teaching(&split.given, &split.induced, |at| !is_tested(at));
            let spelling = learn(&views, &taught).unwrap().unwrap();
            let found = weights(pairs_with_few(&split.given), chosen, (&views, &spelling), &split);
            found.iter().map(|pair| (pair.views, pair.weight)).collect::<Vec<_>>()
        };
        let chosen = [SpelledPair { views: [0, 1], weight: 0.2 }];
        assert_eq!(weights_of(&|row| row, &chosen), [([0, 2], 0.2)]);
        assert_eq!(weights_of(&|row| 700 + (row * 7 + 1) % 500, &chosen), [], "spelling that says nothing");
        assert_eq!(weights_of(&|row| row, &[]), [], "nothing to compare with");
    }
}

//! Learning what is spelled alike in several views.
//!
//! Words of training entries are bags of n-grams. The maps to shared coordinates maximise the covariances of all pairs
//! of views that have entries: partial least squares. With the matrix `C` that has the cross-covariance of two views in
//! each block, and zeros in the blocks of one view, they are its eigenvectors of the largest eigenvalues; for two views these
//! are singular vectors of the cross-covariance. Each block is divided by its largest singular value: otherwise the pair whose
//! words are spelled most alike, or that has the most entries, would take the columns of the others. Subspace iteration finds
//! the eigenvectors without forming `C`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::Result;
use crate::lexicon::Tuples;
use crate::linalg::{Eigen, Mat, add_scaled, symmetric, times_transpose, transpose_times};
use crate::model::spelling::{Spelling, ViewSpelling, features, for_each_ngram};
use crate::random::Random;
use crate::vectors::{View, Vocabulary};

/// Columns of spelling for one pair of views, and for several pairs, which share some of them.
const COLUMNS: [usize; 2] = [128, 192];
/// Minimum number of pairs of words that spelling is learned from.
const MIN_PAIRS: usize = 200;
/// Words of a view that must have an n-gram.
const MIN_WORDS: usize = 3;
/// Applications of `C`, of the power method for one pair of views, and the seed of the directions that they start from. The
/// subspace is twice as large as what is wanted of it, so that few applications are enough.
const ITERATIONS: usize = 5;
const POWERS: usize = 12;
const SEED: u64 = 17;
/// Words whose n-grams are in memory at a time, with repetitions.
const WORDS_AT_A_TIME: usize = 4096;
/// Sums of columns that one thread computes at a time.
const COLUMNS_AT_A_TIME: usize = 64;
/// Eigenvalues below this part of the largest one are no covariances.
const NO_COVARIANCE: f64 = 1e-6;

/// The words of a view that entries have, as bags of n-grams.
struct Bags {
    view: usize,
    ngrams: Vocabulary,
    rarity: Vec<f64>,
    bags: Vec<Vec<(usize, f64)>>,
    /// For each n-gram the words that have it, by their place among the bags, with its weight.
    of_ngrams: Vec<Vec<(usize, f64)>>,
    /// The place of each row among the bags.
    places: BTreeMap<usize, usize>,
}

impl Bags {
    fn of(view: usize, words: &Vocabulary, rows: &BTreeSet<usize>) -> Self {
        let rows_in_order: Vec<usize> = rows.iter().copied().collect();
        let mut having: BTreeMap<String, usize> = BTreeMap::new();
        for some in rows_in_order.chunks(WORDS_AT_A_TIME) {
            let mut all: Vec<String> =
                some.par_iter().flat_map_iter(|&row| different_ngrams(words.word(row))).collect();
            all.par_sort_unstable();
            for same in all.chunk_by(|a, b| a == b) {
                *having.entry(same[0].clone()).or_default() += same.len();
            }
        }
        // What all words have says nothing.
        having.retain(|_, count| (MIN_WORDS..rows.len()).contains(count));
        let ngrams: Vocabulary = having.keys().map(String::as_str).collect();
        let rarity: Vec<f64> = having.values().map(|&count| (rows.len() as f64 / count as f64).ln()).collect();
        let bags: Vec<Vec<(usize, f64)>> =
            rows_in_order.par_iter().map(|&row| features(words.word(row), &ngrams, &rarity)).collect();
        let mut of_ngrams = vec![Vec::new(); ngrams.len()];
        for (word, bag) in bags.iter().enumerate() {
            bag.iter().for_each(|&(ngram, weight)| of_ngrams[ngram].push((word, weight)));
        }
        let places = rows.iter().enumerate().map(|(place, &row)| (row, place)).collect();
        Bags { view, ngrams, rarity, bags, of_ngrams, places }
    }

    /// The words after a map from n-grams, as columns.
    fn mapped(&self, map: &Mat) -> Mat {
        combined(map, &self.bags)
    }

    /// The transpose of [`Bags::mapped`].
    fn spread(&self, values: &Mat) -> Mat {
        combined(values, &self.of_ngrams)
    }

    fn spelling(self, map: Mat) -> ViewSpelling {
        let mut mean = vec![0.0; map.nrows()];
        self.mapped(&map).col_iter().for_each(|word| add(&mut mean, 1.0 / self.bags.len() as f64, word));
        ViewSpelling { ngrams: self.ngrams, rarity: self.rarity, map, mean }
    }
}

/// The n-grams of a word, each once.
fn different_ngrams(word: &str) -> BTreeSet<String> {
    let mut different = BTreeSet::new();
    for_each_ngram(word, |ngram| {
        different.insert(ngram.to_owned());
    });
    different
}

/// Weighted sums of columns, one for each list of them.
fn combined(columns: &Mat, lists: &[Vec<(usize, f64)>]) -> Mat {
    let mut sums = Mat::zeros(columns.nrows(), lists.len());
    let each: Vec<&mut [f64]> = sums.col_iter_mut().collect();
    each.into_par_iter().zip(lists).with_min_len(COLUMNS_AT_A_TIME).for_each(|(sum, list)| {
        list.iter().for_each(|&(column, weight)| add(sum, weight, columns.col_as_slice(column)));
    });
    sums
}

fn add(sum: &mut [f64], factor: f64, values: &[f64]) {
    sum.iter_mut().zip(values).for_each(|(sum, x)| *sum += factor * x);
}

/// The entries of two views, which are numbers of bags, as places of words.
struct Entries {
    views: [usize; 2],
    places: Vec<[usize; 2]>,
    /// For each word of each side, the places of the words that it is connected with.
    connected: [Vec<Vec<usize>>; 2],
}

impl Entries {
    /// These places, of so many words of each side.
    fn new(views: [usize; 2], places: Vec<[usize; 2]>, words: [usize; 2]) -> Self {
        let mut connected = words.map(|count| vec![Vec::new(); count]);
        for places in &places {
            (0..2).for_each(|side| connected[side][places[side]].push(places[1 - side]));
        }
        Entries { views, places, connected }
    }

    /// For each word of one side, the sum of the mapped words of the other that it is connected with, less their mean.
    fn sums(&self, side: usize, other: &Mat) -> Mat {
        let mut mean = vec![0.0; other.nrows()];
        let share = 1.0 / self.places.len().max(1) as f64;
        self.places.iter().for_each(|places| add(&mut mean, share, other.col_as_slice(places[1 - side])));
        let mut sums = Mat::zeros(other.nrows(), self.connected[side].len());
        let each: Vec<&mut [f64]> = sums.col_iter_mut().collect();
        each.into_par_iter().zip(&self.connected[side]).with_min_len(COLUMNS_AT_A_TIME).for_each(|(sum, others)| {
            for &place in others {
                add(sum, 1.0, other.col_as_slice(place));
                add(sum, -1.0, &mean);
            }
        });
        sums
    }

    /// The largest singular value of the cross-covariance, by the power method.
    fn strength(&self, bags: [&Bags; 2]) -> f64 {
        let mut random = Random::new(SEED);
        let mut map = Mat::from_fn(1, bags[0].ngrams.len(), |_, _| random.normal());
        let mut strength = 0.0;
        for _ in 0..POWERS {
            for side in [1, 0] {
                let sums = self.sums(side, &bags[1 - side].mapped(&map));
                map = bags[side].spread(&sums);
                strength = map.norm_l2();
                map.col_iter_mut().flatten().for_each(|x| *x /= strength.max(f64::MIN_POSITIVE));
            }
        }
        strength
    }
}

/// The words and entries of all views.
struct Problem {
    views: Vec<Bags>,
    entries: Vec<Entries>,
}

/// Two views and the rows of their entries.
type RowPairs = ([usize; 2], Vec<(usize, usize)>);

/// Learns how words are spelled; `None` without enough entries of words.
pub(super) fn learn(views: &[View], tuples: &Tuples) -> Result<Option<Spelling>> {
    let has_words = |pair: &[usize; 2]| pair.iter().all(|&view| views[view].words().is_some());
    let pairs = tuples.connected_views().into_iter().filter(has_words);
    let pairs: Vec<RowPairs> = pairs.map(|[a, b]| ([a, b], tuples.pairs_of(a, b))).collect();
    if pairs.iter().map(|(_, pairs)| pairs.len()).sum::<usize>() < MIN_PAIRS {
        return Ok(None);
    }
    let mut rows = vec![BTreeSet::new(); views.len()];
    for ([a, b], pairs) in &pairs {
        rows[*a].extend(pairs.iter().map(|pair| pair.0));
        rows[*b].extend(pairs.iter().map(|pair| pair.1));
    }
    let of_view = |(view, rows)| Some(Bags::of(view, views[view].words()?, rows));
    let bags: Vec<Bags> = rows.par_iter().enumerate().filter_map(of_view).collect();
    let of_pair = |(pair, places): RowPairs| {
        let of_view = |view: usize| bags.iter().position(|bags| bags.view == view).expect("views of pairs have words");
        let own = pair.map(of_view);
        let places = places.into_iter().map(|(x, y)| [bags[own[0]].places[&x], bags[own[1]].places[&y]]);
        Entries::new(own, places.collect(), own.map(|at| bags[at].bags.len()))
    };
    let entries = pairs.into_iter().map(of_pair).collect();
    Problem { views: bags, entries }.solve(views.len())
}

impl Problem {
    /// One over the largest singular value of each pair of views.
    fn weights(&self) -> Vec<f64> {
        let weight = |entries: &Entries| {
            let strength = entries.strength(entries.views.map(|view| &self.views[view]));
            if strength > 0.0 { 1.0 / strength } else { 0.0 }
        };
        self.entries.iter().map(weight).collect()
    }

    fn solve(self, views: usize) -> Result<Option<Spelling>> {
        let columns = COLUMNS[usize::from(self.entries.len() > 1)];
        let size: usize = self.views.iter().map(|bags| bags.ngrams.len()).sum();
        // Each eigenvalue has a negative counterpart, or nearly so: the wanted ones are among twice as many.
        let size = size.min(2 * columns);
        let mut random = Random::new(SEED);
        let start = |bags: &Bags| Mat::from_fn(size, bags.ngrams.len(), |_, _| random.normal());
        let mut maps: Vec<Mat> = self.views.iter().map(start).collect();
        let weights = self.weights();
        for _ in 0..ITERATIONS {
            maps = self.covariances_times(&maps, &weights);
            let gram = Eigen::new(&inner_products(&maps, &maps), "the covariances of spellings")?;
            let least = NO_COVARIANCE.powi(2) * gram.values.last().copied().unwrap_or(0.0);
            maps = turned(&maps, &gram.map(|value| if value > least { value.sqrt().recip() } else { 0.0 }));
        }
        let eigen = Eigen::new(
            &inner_products(&maps, &self.covariances_times(&maps, &weights)),
            "the covariances of spellings",
        )?;
        let least = NO_COVARIANCE * eigen.values.last().copied().unwrap_or(0.0).max(0.0);
        let kept: Vec<usize> = (0..size).rev().take(columns).filter(|&at| eigen.values[at] > least).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        let maps = turned(&maps, &Mat::from_fn(size, kept.len(), |i, j| eigen.vectors[(i, kept[j])]));
        let mut spelling = Spelling { columns: kept.len(), views: vec![None; views] };
        for (bags, map) in self.views.into_iter().zip(maps) {
            let view = bags.view;
            spelling.views[view] = Some(Arc::new(bags.spelling(map)));
        }
        Ok(Some(spelling))
    }

    /// `C` times the maps, with a weight for each pair of views.
    fn covariances_times(&self, maps: &[Mat], weights: &[f64]) -> Vec<Mat> {
        let mapped: Vec<Mat> = self.views.iter().zip(maps).map(|(bags, map)| bags.mapped(map)).collect();
        let mut sums: Vec<Mat> = mapped.iter().map(|mapped| Mat::zeros(mapped.nrows(), mapped.ncols())).collect();
        for (entries, &weight) in self.entries.iter().zip(weights) {
            for side in 0..2 {
                let (own, other) = (&mut sums[entries.views[side]], &mapped[entries.views[1 - side]]);
                let part = entries.sums(side, other);
                add_scaled(own.as_mut(), weight, part.as_ref());
            }
        }
        self.views.iter().zip(&sums).map(|(bags, sums)| bags.spread(sums)).collect()
    }
}

/// The inner products of maps, over the n-grams of all views.
fn inner_products(a: &[Mat], b: &[Mat]) -> Mat {
    let size = a[0].nrows();
    let products = a.iter().zip(b).map(|(a, b)| times_transpose(a, b));
    symmetric(&products.fold(Mat::zeros(size, size), |sum, product| sum + product))
}

/// Maps to other coordinates: the columns of `basis`.
fn turned(maps: &[Mat], basis: &Mat) -> Vec<Mat> {
    maps.iter().map(|map| transpose_times(basis, map)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{Embeddings, Matrix};

    /// Words of random letters, and the same in other letters.
    fn transliterated() -> [View; 2] {
        let mut random = Random::new(3);
        let words: Vec<Vec<usize>> =
            (0..400).map(|_| (0..7 + random.below(3)).map(|_| random.below(12)).collect()).collect();
        ["abcdefghijkl", "абвгдежзийкл"].map(|alphabet| {
            let letters: Vec<char> = alphabet.chars().collect();
            let words: Vec<String> = words.iter().map(|word| word.iter().map(|&at| letters[at]).collect()).collect();
            let words: Vocabulary = words.iter().map(String::as_str).collect();
            let rows = Matrix::new(vec![1.0; words.len()], 1);
            View::from_embeddings(alphabet, Embeddings::new(words, rows))
        })
    }

    #[test]
    fn letters_of_another_script_are_learned_from_entries() {
        let views = transliterated();
        let (train, all) = (300, views[0].len());
        let mut tuples = Tuples::new(2);
        (0..train).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
        let spelling = learn(&views, &tuples).unwrap().unwrap();
        assert!((1..=COLUMNS[0]).contains(&spelling.columns), "{}", spelling.columns);
        let direction =
            |view: usize, row: usize| spelling.views[view].as_ref().unwrap().direction(views[view].label(row).as_ref());
        let cosine = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let targets: Vec<Vec<f64>> = (0..all).map(|row| direction(1, row)).collect();
        let is_found = |row: &usize| {
            let own = direction(0, *row);
            let nearest = (0..all).max_by(|&a, &b| cosine(&own, &targets[a]).total_cmp(&cosine(&own, &targets[b])));
            nearest == Some(*row)
        };
        let found = (train..all).filter(is_found).count();
        assert!(found * 10 >= (all - train) * 8, "{found} of {}", all - train);
    }

    #[test]
    fn few_entries_and_views_without_words_teach_no_spelling() {
        let views = transliterated();
        let mut tuples = Tuples::new(2);
        (0..MIN_PAIRS - 1).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
        assert!(learn(&views, &tuples).unwrap().is_none());
        assert!(tuples.add(&[Some(300), Some(300)]));
        assert!(learn(&views, &tuples).unwrap().is_some());
        let without = [views[0].clone(), View::new("numbers", views[1].rows().clone())];
        assert!(learn(&without, &tuples).unwrap().is_none());
    }
}

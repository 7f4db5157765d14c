//! Tuples: dictionary entries as row indices of the views.

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use super::{Entry, Lexicon};
use crate::error::{Error, Result};
use crate::vectors::Vocabulary;

/// Rows that belong together: each tuple has, for every view, a row index or a hole.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuples {
    views: usize,
    /// `views` indices per tuple; `HOLE` where a view is missing.
    indices: Vec<u32>,
    weights: Vec<f64>,
    seen: HashSet<Vec<u32>>,
}

const HOLE: u32 = u32::MAX;

/// Tuples that have the same views.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The indices of all tuples, one tuple after another, without holes.
    pub indices: Vec<u32>,
    /// The weight of each tuple.
    pub weights: Vec<f64>,
}

impl Tuples {
    /// An empty list of tuples over `views` views.
    pub fn new(views: usize) -> Self {
        Tuples { views, indices: Vec::new(), weights: Vec::new(), seen: HashSet::new() }
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.views
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there are no tuples.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Adds a tuple of weight 1. Returns false if it is already there or has only holes. Panics unless there is one
    /// index or hole for each view.
    pub fn add(&mut self, tuple: &[Option<usize>]) -> bool {
        self.insert(tuple, 1.0)
    }

    /// [`Tuples::add`] with a weight, which must be finite and not negative.
    ///
    /// ```
    /// let mut tuples = sememe::lexicon::Tuples::new(2);
    /// assert!(tuples.add_weighted(&[Some(0), Some(3)], 0.5)?);
    /// assert!(tuples.add_weighted(&[Some(1), Some(2)], f64::NAN).is_err());
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn add_weighted(&mut self, tuple: &[Option<usize>], weight: f64) -> Result<bool> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::argument("weight of a tuple", weight, "it must be a finite number, not negative"));
        }
        Ok(self.insert(tuple, weight))
    }

    pub(super) fn insert(&mut self, tuple: &[Option<usize>], weight: f64) -> bool {
        assert_eq!(tuple.len(), self.views, "one index or hole per view");
        if tuple.iter().all(Option::is_none) {
            return false;
        }
        let packed: Vec<u32> = tuple
            .iter()
            .map(|index| index.map_or(HOLE, |index| u32::try_from(index).expect("a vocabulary has under 2³² words")))
            .collect();
        let is_new = self.seen.insert(packed.clone());
        if is_new {
            self.indices.extend(packed);
            self.weights.push(weight);
        }
        is_new
    }

    /// The sum of all weights.
    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The tuples in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Vec<Option<usize>>> {
        self.indices
            .chunks_exact(self.views)
            .map(|tuple| tuple.iter().map(|&index| (index != HOLE).then_some(index as usize)).collect())
    }

    /// The tuples with their weights, in the same order.
    pub fn iter_weighted(&self) -> impl Iterator<Item = (Vec<Option<usize>>, f64)> {
        self.iter().zip(self.weights.iter().copied())
    }

    /// The tuples grouped by the views they have; groups of total weight zero are left out.
    pub(crate) fn by_pattern(&self) -> BTreeMap<Vec<usize>, Group> {
        let mut groups: BTreeMap<Vec<usize>, Group> = BTreeMap::new();
        for (tuple, &weight) in self.indices.chunks_exact(self.views).zip(&self.weights) {
            let pattern: Vec<usize> = (0..self.views).filter(|&view| tuple[view] != HOLE).collect();
            let group = groups.entry(pattern).or_default();
            group.indices.extend(tuple.iter().filter(|&&index| index != HOLE));
            group.weights.push(weight);
        }
        groups.retain(|_, group| group.weights.iter().any(|&weight| weight > 0.0));
        groups
    }

    /// Adds the tuples of another list over the same views, without duplicates.
    pub(crate) fn add_all(&mut self, others: &Tuples) {
        for (tuple, weight) in others.iter_weighted() {
            self.insert(&tuple, weight);
        }
    }

    /// The row pairs of all tuples that have both views.
    pub fn pairs_of(&self, a: usize, b: usize) -> Vec<(usize, usize)> {
        self.iter().filter_map(|tuple| tuple[a].zip(tuple[b])).collect()
    }
}

/// The result of looking up the words of a dictionary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matched {
    /// Number of entries with at least two known words.
    pub entries: usize,
    /// Distinct out-of-vocabulary words, for each view of the dictionary, in its order.
    pub unknown: Vec<Vec<String>>,
    /// For a dictionary of two views of which less than half matches, the number of entries that would match if the views
    /// were swapped.
    pub if_swapped: usize,
}

impl Tuples {
    /// Looks up the words of a dictionary and adds the entries. `views` are the names and vocabularies that the tuples
    /// are over. An out-of-vocabulary word is a hole; entries with fewer than two known words are dropped.
    pub fn add_lexicon(&mut self, lexicon: &Lexicon, views: &[(&str, &Vocabulary)]) -> Result<Matched> {
        let places: Vec<usize> = lexicon.views().iter().map(|name| find_view(name, views)).collect::<Result<_>>()?;
        let mut matched = Matched { entries: 0, unknown: vec![Vec::new(); places.len()], if_swapped: 0 };
        let look_up = |entry: &Entry| {
            let mut tuple = vec![None; self.views];
            entry.words().for_each(|(view, word)| tuple[places[view]] = find_word(views[places[view]].1, word));
            tuple
        };
        let found: Vec<Vec<Option<usize>>> = lexicon.entries().par_iter().map(look_up).collect();
        let unknown = |&place: &usize| found.iter().filter(|tuple| tuple[place].is_none()).count();
        // Room for all of them: growing would hash every word again.
        let room = |place: &usize| HashSet::with_capacity(unknown(place));
        let mut noted: Vec<HashSet<&str>> = places.iter().map(room).collect();
        for (entry, tuple) in lexicon.entries().iter().zip(&found) {
            for (view, word) in entry.words() {
                if tuple[places[view]].is_none() && noted[view].insert(word) {
                    matched.unknown[view].push(word.to_owned());
                }
            }
            if tuple.iter().flatten().count() >= 2 {
                matched.entries += 1;
                self.add(tuple);
            }
        }
        if let [first, second] = places[..]
            && 2 * matched.entries < lexicon.entries().len()
        {
            let knows =
                |place: usize, word: Option<&str>| word.is_some_and(|word| find_word(views[place].1, word).is_some());
            let is_known = |entry: &&Entry| knows(first, entry.word(1)) && knows(second, entry.word(0));
            matched.if_swapped = lexicon.entries().par_iter().filter(is_known).count();
        }
        Ok(matched)
    }
}

fn find_view(name: &str, views: &[(&str, &Vocabulary)]) -> Result<usize> {
    views.iter().position(|(known, _)| *known == name).ok_or_else(|| Error::UnknownView {
        name: name.to_owned(),
        known: views.iter().map(|(known, _)| (*known).to_owned()).collect(),
    })
}

/// Looks up a word. Multi-word expressions may be spelled with spaces or underscores.
pub fn find_word(vocabulary: &Vocabulary, word: &str) -> Option<usize> {
    vocabulary
        .get(word)
        .or_else(|| word.contains(' ').then(|| vocabulary.get(&word.replace(' ', "_"))).flatten())
        .or_else(|| word.contains('_').then(|| vocabulary.get(&word.replace('_', " "))).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_holes_and_counted() {
        let en: Vocabulary = ["new_york", "dog", "cat"].into_iter().collect();
        let fr: Vocabulary = ["chien", "chat"].into_iter().collect();
        let mut lexicon = Lexicon::new(vec!["fr".into(), "en".into()]);
        for (fr, en) in
            [("chien", "dog"), ("New York", "new york"), ("oiseau", "bird"), ("chat", "cat"), ("chat", "cat")]
        {
            lexicon.add([(0, fr), (1, en)].into_iter().collect());
        }
        let mut tuples = Tuples::new(2);
        let matched = tuples.add_lexicon(&lexicon, &[("en", &en), ("fr", &fr)]).unwrap();
        assert_eq!(tuples.iter().collect::<Vec<_>>(), [[Some(1), Some(0)], [Some(2), Some(1)]]);
        assert_eq!(matched.unknown, [vec!["New York", "oiseau"], vec!["bird"]]);
        assert_eq!((matched.entries, matched.if_swapped), (2, 0));
        assert_eq!(find_word(&en, "new york"), Some(0));
    }

    #[test]
    fn grouped_by_the_views_they_have() {
        let mut tuples = Tuples::new(3);
        for tuple in [[Some(1), Some(2), None], [Some(3), None, Some(4)], [Some(5), Some(6), None]] {
            assert!(tuples.add(&tuple));
        }
        assert!(!tuples.add(&[Some(1), Some(2), None]));
        let groups = tuples.by_pattern();
        assert_eq!(groups[&vec![0, 1]].indices, [1, 2, 5, 6]);
        assert_eq!(groups[&vec![0, 2]].indices, [3, 4]);
    }
}

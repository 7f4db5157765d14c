//! Tuples: dictionary entries as row indices of the views.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rayon::prelude::*;

use super::{Entry, Lexicon};
use crate::error::{Error, Result};
use crate::vectors::{Matrix, Vocabulary};

/// Rows that belong together: each tuple has, for every view, a row index or a hole.
///
/// Memory depends on the rows of the tuples, not on the number of views: holes are not stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuples {
    views: usize,
    /// The sets of views that tuples have, each once, and the number of each set.
    patterns: Vec<Vec<usize>>,
    numbers: HashMap<Vec<usize>, u32>,
    /// For each tuple the number of its pattern, and then the row of each view of that pattern.
    packed: Vec<u32>,
    weights: Vec<f64>,
    seen: HashSet<Box<[u32]>>,
}

/// Tuples that have the same views.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The indices of all tuples, one tuple after another, without holes.
    pub indices: Vec<u32>,
    /// The weight of each tuple.
    pub weights: Vec<f64>,
}

impl Group {
    /// The rows of each view, copied in the order of the tuples, and the group over these copies.
    pub(crate) fn copied_rows(&self, views: &[&Matrix]) -> (Vec<Matrix>, Group) {
        let rows_of = |place: usize| self.indices.iter().skip(place).step_by(views.len()).map(|&row| row as usize);
        let copied = |(place, view): (usize, &&Matrix)| view.select(&rows_of(place).collect::<Vec<_>>());
        let numbers = (0..self.weights.len()).flat_map(|tuple| std::iter::repeat_n(tuple as u32, views.len()));
        let group = Group { indices: numbers.collect(), weights: self.weights.clone() };
        (views.iter().enumerate().map(copied).collect(), group)
    }
}

/// A tuple without its holes: the views that it has, and a row of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub views: &'a [usize],
    pub rows: &'a [u32],
    pub weight: f64,
}

impl<'a> Cells<'a> {
    /// The row of a view, unless there is a hole.
    pub fn row(&self, view: usize) -> Option<usize> {
        self.views.binary_search(&view).ok().map(|place| self.rows[place] as usize)
    }

    /// Each view with its row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        self.views.iter().zip(self.rows).map(|(&view, &row)| (view, row as usize))
    }
}

impl Tuples {
    /// An empty list of tuples over `views` views.
    pub fn new(views: usize) -> Self {
        let (patterns, numbers, packed) = (Vec::new(), HashMap::new(), Vec::new());
        Tuples { views, patterns, numbers, packed, weights: Vec::new(), seen: HashSet::new() }
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.views
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no tuples.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
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

    fn insert(&mut self, tuple: &[Option<usize>], weight: f64) -> bool {
        assert_eq!(tuple.len(), self.views, "one index or hole per view");
        let pack = |row: usize| u32::try_from(row).expect("a vocabulary has under 2³² words");
        let views: Vec<usize> = (0..self.views).filter(|&view| tuple[view].is_some()).collect();
        let rows: Vec<u32> = tuple.iter().flatten().map(|&row| pack(row)).collect();
        self.insert_cells(Cells { views: &views, rows: &rows, weight })
    }

    /// Adds a tuple without its holes.
    pub(crate) fn insert_cells(&mut self, cells: Cells) -> bool {
        if cells.views.is_empty() {
            return false;
        }
        let number = match self.numbers.get(cells.views) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.patterns.len()).expect("there are under 2³² patterns");
                self.patterns.push(cells.views.to_vec());
                self.numbers.insert(cells.views.to_vec(), number);
                number
            }
        };
        let packed: Box<[u32]> = std::iter::once(number).chain(cells.rows.iter().copied()).collect();
        if self.seen.contains(&packed) {
            return false;
        }
        self.packed.extend_from_slice(&packed);
        self.weights.push(cells.weight);
        self.seen.insert(packed)
    }

    /// The sum of all weights.
    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The tuples without their holes, in the order in which they were added.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cells<'_>> {
        let mut rest = &self.packed[..];
        self.weights.iter().map(move |&weight| {
            let views = &self.patterns[rest[0] as usize][..];
            let (tuple, others) = rest.split_at(1 + views.len());
            rest = others;
            Cells { views, rows: &tuple[1..], weight }
        })
    }

    /// The tuples in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Vec<Option<usize>>> {
        self.iter_weighted().map(|(tuple, _)| tuple)
    }

    /// The tuples with their weights, in the same order.
    pub fn iter_weighted(&self) -> impl Iterator<Item = (Vec<Option<usize>>, f64)> {
        self.cells().map(|cells| {
            let mut tuple = vec![None; self.views];
            cells.iter().for_each(|(view, row)| tuple[view] = Some(row));
            (tuple, cells.weight)
        })
    }

    /// The tuples grouped by the views they have; groups of total weight zero are left out.
    pub(crate) fn by_pattern(&self) -> BTreeMap<Vec<usize>, Group> {
        let mut groups: BTreeMap<Vec<usize>, Group> = BTreeMap::new();
        for cells in self.cells() {
            // Patterns repeat: the key is copied only where it is new.
            if !groups.contains_key(cells.views) {
                groups.insert(cells.views.to_vec(), Group::default());
            }
            let group = groups.get_mut(cells.views).expect("it has just been added");
            group.indices.extend_from_slice(cells.rows);
            group.weights.push(cells.weight);
        }
        groups.retain(|_, group| group.weights.iter().any(|&weight| weight > 0.0));
        groups
    }

    /// Adds the tuples of another list over the same views, without duplicates.
    pub(crate) fn add_all(&mut self, others: &Tuples) {
        others.cells().for_each(|cells| _ = self.insert_cells(cells));
    }

    /// The rows of a view, one for each tuple that has it.
    pub(crate) fn rows_of(&self, view: usize) -> impl Iterator<Item = usize> {
        self.cells().filter_map(move |cells| cells.row(view))
    }

    /// The pairs of views, ascending, that some tuple has both of.
    pub(crate) fn connected_views(&self) -> Vec<[usize; 2]> {
        let of_pattern = |views: &Vec<usize>| -> Vec<[usize; 2]> {
            (0..views.len()).flat_map(|place| views[place + 1..].iter().map(move |&b| [views[place], b])).collect()
        };
        let pairs: BTreeSet<[usize; 2]> = self.patterns.iter().flat_map(of_pattern).collect();
        pairs.into_iter().collect()
    }

    /// The row pairs of all tuples that have both views.
    pub fn pairs_of(&self, a: usize, b: usize) -> Vec<(usize, usize)> {
        if !self.patterns.iter().any(|views| views.contains(&a) && views.contains(&b)) {
            return Vec::new();
        }
        self.cells().filter_map(|cells| cells.row(a).zip(cells.row(b))).collect()
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

//! Pairs that connect all views.
//!
//! Rounds of soft couplings compare two views. Many given pairs of two views connect them without any round. Each other
//! view is learned together with the view that it has most pairs with.

use super::cycles::Cycle;
use super::rounds::{Learner, Pairs};
use super::words::project;
use super::{Chance, WORDS};
use crate::align::short_fit;
use crate::error::Result;
use crate::model::{FitOptions, Model};

/// Shrinkage of a model of learned pairs.
const SHRINKAGE: f64 = 0.5;

/// What was learned beside the given pairs.
pub struct Connected {
    /// Pairs that connect views.
    pub pairs: Vec<Pairs>,
    /// A model of them and of the given pairs.
    pub model: Model,
    /// The views that few given pairs connect no better than wrong pairs would, and the number of the given ones.
    pub at_chance: Vec<([usize; 2], usize)>,
}

impl Learner<'_, '_> {
    /// Learns from `pairs` where the given ones are too few to connect all views. If the observer stops the work, the
    /// result is what was learned so far.
    pub fn connect(&mut self, pairs: &[Pairs]) -> Result<Connected> {
        let mut of_views: Vec<&Pairs> = pairs.iter().collect();
        of_views.sort_by_key(|pairs| std::cmp::Reverse(pairs.rows.len()));
        // Views with the same number are connected.
        let mut groups: Vec<usize> = (0..self.words.len()).collect();
        let (mut learned, mut at_chance) = (Vec::new(), Vec::new());
        let mut of_two = None;
        for pairs in of_views {
            let [kept, joined] = pairs.views.map(|view| groups[view]);
            if kept == joined || self.watch.is_stopped {
                continue;
            }
            if !self.has_many(pairs.views) {
                let (Cycle { model, mutual, .. }, is_chance) = self.learn_two(pairs)?;
                at_chance.extend(is_chance.then_some((pairs.views, pairs.rows.len())));
                learned.push(Pairs { views: pairs.views, rows: mutual.iter().map(|mutual| mutual.rows).collect() });
                of_two = Some(model);
            }
            groups.iter_mut().filter(|group| **group == joined).for_each(|group| *group = kept);
        }
        let model = match of_two {
            Some(model) if self.words.len() == 2 => model,
            Some(_) => self.fit_learned(&learned)?,
            None => self.fit_given(pairs)?,
        };
        Ok(Connected { pairs: learned, model, at_chance })
    }

    /// A model of learned and given pairs.
    pub fn fit_learned(&self, learned: &[Pairs]) -> Result<Model> {
        self.fit_pairs(learned.iter().chain(&self.given), SHRINKAGE)
    }

    /// Rounds of two views, from these pairs of them, and whether they end no better than rounds from wrong pairs.
    fn learn_two(&mut self, pairs: &Pairs) -> Result<(Cycle, bool)> {
        let of_two = |pairs: &Pairs| Pairs { views: [0, 1], rows: pairs.rows.clone() };
        let mut two = Learner {
            shapes: pairs.views.map(|view| self.shapes[view].clone()).to_vec(),
            words: pairs.views.map(|view| self.words[view]).to_vec(),
            // A method of several views may be slow with two, or have a pivot that is neither.
            fit: if self.words.len() == 2 { self.fit.clone() } else { short_fit(&FitOptions::default()) },
            is_finished: false,
            given: self.given.iter().filter(|given| given.views == pairs.views).map(of_two).collect(),
            watch: self.watch,
        };
        let learned = two.learn_from_pairs(&of_two(pairs))?;
        let is_chance = two.is_at_chance(learned.objective, &of_two(pairs))?;
        Ok((learned, is_chance))
    }

    /// Whether this objective is no better than that of a cycle from permuted pairs, each of which is wrong. Few pairs are too
    /// few to hold some of them out.
    fn is_at_chance(&mut self, objective: f64, pairs: &Pairs) -> Result<bool> {
        if self.watch.is_stopped {
            return Ok(false);
        }
        let (rows, half) = (&pairs.rows, pairs.rows.len() / 2);
        let wrong = rows.iter().zip(rows.iter().cycle().skip(half)).map(|(one, other)| [one[0], other[1]]);
        let wrong = Pairs { views: pairs.views, rows: wrong.collect() };
        let start = project(&self.words, &self.fit_given(std::slice::from_ref(&wrong))?, WORDS)?;
        let count_in_rounds = if self.given.is_empty() { Vec::new() } else { vec![wrong] };
        let given = std::mem::replace(&mut self.given, count_in_rounds);
        let by_chance = self.cycle(start);
        self.given = given;
        let chance = Chance { objective, random: by_chance?.objective, deviation: 0.0 };
        // Objectives of interrupted cycles are not comparable.
        Ok(!self.watch.is_stopped && !chance.is_beaten())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Watch;
    use super::super::words::FrequentWords;
    use super::*;
    use crate::moments::Shape;
    use crate::random::Random;
    use crate::vectors::Matrix;

    #[test]
    fn a_view_is_learned_with_the_one_that_it_has_most_pairs_with() {
        let mut random = Random::new(3);
        let (count, dim) = (600, 8);
        let meanings: Vec<f32> = (0..count * dim).map(|_| random.normal() as f32).collect();
        let words: Vec<FrequentWords> = (0..4)
            .map(|_| {
                let values = meanings.iter().map(|&meaning| meaning + 0.3 * random.normal() as f32).collect();
                FrequentWords::new((0..count).collect(), Matrix::new(values, dim))
            })
            .collect();
        let first = |views: [usize; 2], count: usize| Pairs { views, rows: (0..count).map(|row| [row, row]).collect() };
        let given = vec![first([0, 1], 550), first([0, 2], 9), first([1, 2], 12), first([1, 3], 12), first([2, 3], 20)];
        let mut watch = Watch { observer: &(), rounds: Vec::new(), is_stopped: false };
        let mut learner = Learner {
            shapes: (0..4).map(|view| Shape { name: view.to_string(), dim, outside: 0 }).collect(),
            words: words.iter().collect(),
            fit: short_fit(&FitOptions::default()),
            is_finished: false,
            given: given.clone(),
            watch: &mut watch,
        };
        let learned = learner.connect(&given).unwrap().pairs;
        assert_eq!(learned.iter().map(|pairs| pairs.views).collect::<Vec<_>>(), [[2, 3], [1, 2]]);
        for pairs in learned {
            let right = pairs.rows.iter().filter(|rows| rows[0] == rows[1]).count();
            assert!(right > count / 2, "{:?}: {right}", pairs.views);
        }
    }
}

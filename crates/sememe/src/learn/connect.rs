//! Pairs that connect all views.
//!
//! Rounds of soft couplings compare two views. Many given pairs of two views connect them without any round. Each other
//! view is learned together with the view that it has most pairs with.

use super::rounds::{Cycle, Learner, Pairs};
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
}

impl Learner<'_, '_> {
    /// Learns from `pairs` where the given ones are too few to connect all views. If the observer stops the work, the
    /// result is what was learned so far.
    pub fn connect(&mut self, pairs: &[Pairs]) -> Result<Connected> {
        let mut of_views: Vec<&Pairs> = pairs.iter().collect();
        of_views.sort_by_key(|pairs| std::cmp::Reverse(pairs.rows.len()));
        // Views with the same number are connected.
        let mut groups: Vec<usize> = (0..self.words.len()).collect();
        let mut learned = Vec::new();
        let mut of_two = None;
        for pairs in of_views {
            let [kept, joined] = pairs.views.map(|view| groups[view]);
            if kept == joined || self.watch.is_stopped {
                continue;
            }
            if !self.has_many(pairs.views) {
                let Cycle { model, mutual, .. } = self.learn_two(pairs)?;
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
        Ok(Connected { pairs: learned, model })
    }

    /// A model of learned and given pairs.
    pub fn fit_learned(&self, learned: &[Pairs]) -> Result<Model> {
        self.fit_pairs(learned.iter().chain(&self.given), SHRINKAGE)
    }

    /// Rounds of two views, from these pairs of them.
    fn learn_two(&mut self, pairs: &Pairs) -> Result<Cycle> {
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
        two.learn_from_pairs(&of_two(pairs))
    }
}

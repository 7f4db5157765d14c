//! Cycles of self-learning: rounds at falling temperatures, and where they begin.
//!
//! At a low temperature a model confirms itself, right or wrong. A new cycle therefore restarts from a model of the most
//! confident pairs of the one before, which forgets most of the errors.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::WORDS;
use super::rounds::{COUPLING_SHRINKAGE, Learner, Pairs, Watch};
use super::similarity::{Mutual, Similarities};
use super::words::project;
use crate::error::Result;
use crate::model::Model;
use crate::observe::{Event, Observer, Remembering, Round};
use crate::threads;
use crate::vectors::Matrix;

/// Annealing schedule of a cycle.
const TEMPERATURES: [f32; 4] = [0.15, 0.1, 0.07, 0.05];
/// Maximum number of rounds at one temperature. A round that raises the objective by less than this fraction is the
/// last.
const ROUNDS: usize = 6;
const MIN_IMPROVEMENT: f64 = 0.005;
/// Maximum number of cycles; early stopping by the same fraction.
const CYCLES: usize = 16;
/// A cycle starts from one pair for this many words, and cycles that are compared with it from one for each of these.
const WORDS_PER_SEED_PAIR: usize = 27;
const OTHER_WORDS_PER_SEED_PAIR: [usize; 3] = [14, 20, 54];
/// Shrinkage of fits to the few pairs that start a cycle.
const SEED_SHRINKAGE: f64 = 0.7;

/// The result of a cycle: a model, and the dictionary that it induces.
pub struct Cycle {
    pub model: Model,
    pub objective: f64,
    /// Mutual nearest neighbours, the most similar first.
    pub mutual: Vec<Mutual>,
}

/// Cycles of two views.
impl Learner<'_, '_> {
    /// Self-learning from a model of these pairs.
    pub fn learn_from_pairs(&mut self, pairs: &Pairs) -> Result<Cycle> {
        let start = self.fit_given(std::slice::from_ref(pairs))?;
        self.learn_from(project(&self.words, &start, WORDS)?)
    }

    /// Self-learning from latent vectors of the words, in cycles until one improves too little.
    pub fn learn_from(&mut self, start: Vec<Matrix>) -> Result<Cycle> {
        let mut best = self.cycle(start)?;
        for _ in 1..CYCLES {
            if self.watch.is_stopped {
                break;
            }
            let next = {
                let start = self.restart(&best)?;
                self.cycle(start)?
            };
            let is_done = next.objective < best.objective * (1.0 + MIN_IMPROVEMENT);
            if next.objective > best.objective {
                best = next;
            }
            if is_done {
                break;
            }
        }
        Ok(best)
    }

    /// The best of a cycle, of cycles that restart from other numbers of its surest pairs, and of one from the pairs that all of
    /// these agree on. Where cycles end depends on where they begin, and errors of one are seldom those of another.
    pub fn best_of_restarts(&mut self, found: Cycle) -> Result<Cycle> {
        let starts = OTHER_WORDS_PER_SEED_PAIR.iter().map(|&words| self.restart_from(&found, words));
        let starts = starts.collect::<Result<_>>()?;
        let mut cycles = vec![found];
        cycles.extend(self.cycles(starts)?);
        let agreed = [agreed(&cycles)];
        if !self.watch.is_stopped && !agreed[0].rows.is_empty() {
            let model = self.fit_pairs(agreed.iter().chain(&self.given), COUPLING_SHRINKAGE)?;
            cycles.push(self.cycle(project(&self.words, &model, WORDS)?)?);
        }
        // Objectives of interrupted cycles are not comparable.
        if self.watch.is_stopped {
            cycles.truncate(1);
        }
        let best = cycles.into_iter().max_by(|a, b| a.objective.total_cmp(&b.objective));
        Ok(best.expect("the first cycle is one of them"))
    }

    /// Latent vectors of the words by a model of the most similar pairs alone.
    pub fn restart(&self, cycle: &Cycle) -> Result<Vec<Matrix>> {
        self.restart_from(cycle, WORDS_PER_SEED_PAIR)
    }

    fn restart_from(&self, cycle: &Cycle, words_per_pair: usize) -> Result<Vec<Matrix>> {
        let surest = cycle.mutual.iter().take(WORDS.div_ceil(words_per_pair)).map(|mutual| mutual.rows);
        let surest = Pairs { views: [0, 1], rows: surest.collect() };
        let model = self.fit_pairs([&surest].into_iter().chain(&self.given), SEED_SHRINKAGE)?;
        project(&self.words, &model, WORDS)
    }

    /// Cycles from latent vectors of several starts. On many threads they run side by side, as a fit keeps one of them busy.
    /// If the observer stops the work, there may be fewer.
    pub fn cycles(&mut self, starts: Vec<Vec<Matrix>>) -> Result<Vec<Cycle>> {
        let mut found = Vec::new();
        if !threads::are_many() {
            for start in starts {
                found.push(self.cycle(start)?);
                if self.watch.is_stopped {
                    break;
                }
            }
            return Ok(found);
        }
        let (observer, number) = (Remembering::new(self.watch.observer), AtomicUsize::new(self.watch.rounds.len()));
        let numbered = |event: Event| match event {
            Event::Round(round) => {
                let number = number.fetch_add(1, Ordering::Relaxed) + 1;
                observer.observe(Event::Round(Round { number, ..round }))
            }
            event => observer.observe(event),
        };
        let of_start = |start: Vec<Matrix>| {
            let mut watch = Watch { observer: &numbered, rounds: Vec::new(), is_stopped: false };
            let mut learner = Learner {
                shapes: self.shapes.clone(),
                words: self.words.clone(),
                fit: self.fit.clone(),
                is_finished: self.is_finished,
                given: self.given.clone(),
                watch: &mut watch,
            };
            let cycle = learner.cycle(start)?;
            Ok((cycle, watch))
        };
        for (cycle, watch) in starts.into_par_iter().map(of_start).collect::<Result<Vec<_>>>()? {
            self.watch.append(watch);
            found.push(cycle);
        }
        Ok(found)
    }

    /// One annealing cycle from latent vectors of the words.
    pub fn cycle(&mut self, mut latent: Vec<Matrix>) -> Result<Cycle> {
        let mut last = None;
        'annealing: for temperature in TEMPERATURES {
            let mut before = f64::NEG_INFINITY;
            for _ in 0..ROUNDS {
                let (model, objective) = self.round(&latent, temperature)?;
                latent = project(&self.words, &model, WORDS)?;
                last = Some(model);
                // The first round at a temperature still measures the model of the one before.
                if self.watch.is_stopped {
                    break 'annealing;
                }
                if objective < before + before.abs() * MIN_IMPROVEMENT {
                    break;
                }
                before = objective;
            }
        }
        let similarities = Similarities::of(&latent[0], &latent[1])?;
        let model = last.expect("there are rounds");
        Ok(Cycle { model, objective: similarities.objective(), mutual: similarities.mutual() })
    }
}

/// The pairs that all cycles have found.
fn agreed(cycles: &[Cycle]) -> Pairs {
    let found = |cycle: &Cycle| cycle.mutual.iter().map(|mutual| mutual.rows).collect::<BTreeSet<_>>();
    let agreed = cycles.iter().map(found).reduce(|a, b| a.intersection(&b).copied().collect());
    Pairs { views: [0, 1], rows: agreed.unwrap_or_default().into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::super::words::FrequentWords;
    use super::*;
    use crate::align::short_fit;
    use crate::model::FitOptions;
    use crate::moments::Shape;
    use crate::prepare::scale_to_unit;
    use crate::random::Random;

    const COUNT: usize = 500;
    const DIM: usize = 8;

    /// Words of two views with the same meanings.
    fn words(random: &mut Random) -> [FrequentWords; 2] {
        let meanings: Vec<f32> = (0..COUNT * DIM).map(|_| random.normal() as f32).collect();
        [(); 2].map(|()| {
            let values = meanings.iter().map(|&meaning| meaning + 0.3 * random.normal() as f32).collect();
            FrequentWords::new((0..COUNT).collect(), Matrix::new(values, DIM))
        })
    }

    /// Latent vectors that say nothing.
    fn start(random: &mut Random) -> Vec<Matrix> {
        let rows = [(); 2].map(|()| {
            let mut rows = Matrix::new((0..COUNT * DIM).map(|_| random.normal() as f32).collect(), DIM);
            scale_to_unit(&mut rows);
            rows
        });
        rows.into()
    }

    fn learner<'a, 'b>(words: &'a [FrequentWords; 2], watch: &'a mut Watch<'b>) -> Learner<'a, 'b> {
        Learner {
            shapes: (0..2).map(|view| Shape { name: view.to_string(), dim: DIM, outside: 0 }).collect(),
            words: words.iter().collect(),
            fit: short_fit(&FitOptions::default()),
            is_finished: false,
            given: Vec::new(),
            watch,
        }
    }

    #[test]
    fn cycles_side_by_side_are_those_one_after_the_other() {
        let mut random = Random::new(5);
        let words = words(&mut random);
        let starts: Vec<Vec<Matrix>> = (0..3).map(|_| start(&mut random)).collect();
        let on = |threads: usize| {
            let mut watch = Watch { observer: &(), rounds: Vec::new(), is_stopped: false };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let cycles = pool.install(|| learner(&words, &mut watch).cycles(starts.clone())).unwrap();
            (cycles.into_iter().map(|cycle| (cycle.objective, cycle.mutual)).collect::<Vec<_>>(), watch.rounds)
        };
        let (few, many) = (on(1), on(8));
        assert!(few == many && few.0.len() == 3 && few.1.last().unwrap().number == few.1.len());
    }

    #[test]
    fn restarts_lead_out_of_a_bad_cycle_and_one_that_was_stopped_changes_nothing() {
        let mut random = Random::new(5);
        let words = words(&mut random);
        // A third of the words belong together as they are, the others to the word beside them.
        let wrong = |row: usize| if row.is_multiple_of(3) { row } else { (row + 1) % COUNT };
        let pairs = Pairs { views: [0, 1], rows: (0..COUNT).map(|row| [row, wrong(row)]).collect() };
        let restarted = |observer: &dyn Observer| {
            let mut watch = Watch { observer, rounds: Vec::new(), is_stopped: false };
            let mut learner = learner(&words, &mut watch);
            let bad = learner.fit_given(std::slice::from_ref(&pairs)).unwrap();
            let latent = project(&learner.words, &bad, WORDS).unwrap();
            let similarities = Similarities::of(&latent[0], &latent[1]).unwrap();
            let (objective, mutual) = (similarities.objective(), similarities.mutual());
            let best = learner.best_of_restarts(Cycle { model: bad, objective, mutual }).unwrap();
            let right = best.mutual.iter().filter(|mutual| mutual.rows[0] == mutual.rows[1]).count();
            (best.objective - objective, right)
        };
        let (gain, right) = restarted(&());
        assert!(gain > 0.0 && right > COUNT / 2, "{gain} {right}");
        assert_eq!(restarted(&|_: Event| std::ops::ControlFlow::Break(())).0, 0.0);
    }

    #[test]
    fn cycles_agree_on_the_pairs_that_all_have_found() {
        let mut random = Random::new(5);
        let words = words(&mut random);
        let mut watch = Watch { observer: &(), rounds: Vec::new(), is_stopped: false };
        let mut learner = learner(&words, &mut watch);
        let cycles = learner.cycles(vec![start(&mut random), start(&mut random)]).unwrap();
        let common = agreed(&cycles).rows;
        let has = |cycle: &Cycle, rows: [usize; 2]| cycle.mutual.iter().any(|mutual| mutual.rows == rows);
        assert!(common.iter().all(|&rows| cycles.iter().all(|cycle| has(cycle, rows))));
        assert_eq!(agreed(&cycles[..1]).rows.len(), cycles[0].mutual.len());
    }
}

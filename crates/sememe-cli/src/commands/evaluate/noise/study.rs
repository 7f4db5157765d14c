//! The same methods on worse and worse input.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sememe::evaluate::noise;
use sememe::lexicon::{Lexicon, Tuples};
use sememe::model::{Method, Options, Shrinkage};
use sememe::normalize::{Normalizer, Step};
use sememe::progress::Progress;
use sememe::retrieve::Criterion;
use sememe::vectors::Embeddings;
use serde_json::{Value, json};

use crate::commands::experiment::{Experiment, Scores, translate};
use crate::output::count;
use crate::plots::{Curve, Lines};

/// How the input gets worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degradation {
    /// Gaussian noise on the vectors, as a multiple of their length.
    Noise,
    /// Wrong entries in the dictionary, in per cent.
    Wrong,
    /// So many entries.
    Fewer,
}

impl Degradation {
    pub fn name(self) -> &'static str {
        match self {
            Degradation::Noise => "noise on vectors",
            Degradation::Wrong => "wrong entries",
            Degradation::Fewer => "entries",
        }
    }

    /// What an axis is called.
    fn axis(self) -> &'static str {
        match self {
            Degradation::Noise => "length of the noise / length of the vector",
            Degradation::Wrong => "wrong entries of the dictionary, %",
            Degradation::Fewer => "entries of the dictionary",
        }
    }

    pub fn label(self, level: f64) -> String {
        match self {
            Degradation::Noise => format!("{level}"),
            Degradation::Wrong => format!("{level} %"),
            Degradation::Fewer => count(level as usize),
        }
    }
}

/// What came of a fit: precision, or why there is none.
pub type Outcome = Result<Scores, String>;

/// What is to be made worse.
pub struct Study<'a> {
    /// As they come, with words that follow the policy for case.
    pub views: [(&'a str, &'a Embeddings); 2],
    pub steps: &'a [Step],
    pub tuples: &'a Tuples,
    pub gold: &'a Lexicon,
    pub methods: &'a [Method],
    pub shrinkage: Shrinkage,
    pub criterion: Criterion,
    pub seed: u64,
}

/// The precision of every method at every level of one kind of damage.
pub struct Panel {
    pub degradation: Degradation,
    pub levels: Vec<f64>,
    pub results: Vec<(Method, Vec<Outcome>)>,
}

impl Study<'_> {
    pub fn run(&self, degradations: &[(Degradation, &Vec<f64>)], progress: &dyn Progress) -> Vec<Panel> {
        let levels = |degradation: Degradation, levels: &[f64]| match degradation {
            // All of them are the place to begin.
            Degradation::Fewer if !levels.is_empty() => {
                let all = self.tuples.len() as f64;
                let fewer = levels.iter().copied().filter(|&level| level >= 1.0 && level < all);
                std::iter::once(all).chain(fewer).collect()
            }
            _ => levels.to_vec(),
        };
        let mut panels: Vec<Panel> = degradations
            .iter()
            .map(|&(degradation, given)| Panel {
                degradation,
                levels: levels(degradation, given),
                results: self.methods.iter().map(|&method| (method, Vec::new())).collect(),
            })
            .collect();
        let total = panels.iter().map(|panel| panel.levels.len()).sum::<usize>() * self.methods.len();
        let done = AtomicUsize::new(0);
        let clean = self.prepared(self.views.map(|(_, embeddings)| embeddings.clone()));
        for panel in &mut panels {
            for &level in &panel.levels {
                let (noisy, tuples) = self.damaged(panel.degradation, level);
                let [source, target] = noisy.as_ref().unwrap_or(&clean);
                let views = [(self.views[0].0, source), (self.views[1].0, target)];
                let experiment = Experiment::new(&views, tuples);
                // At the same time, as some methods have little to do for a second thread.
                panel.results.par_iter_mut().for_each(|(method, results)| {
                    results.push(self.measure(&experiment, *method).map_err(|error| error.to_string()));
                    progress.advance(done.fetch_add(1, Ordering::Relaxed) as u64 + 1, total as u64);
                });
            }
        }
        panels
    }

    /// The input at a level: other vectors, where these are what gets worse, and tuples.
    fn damaged(&self, degradation: Degradation, level: f64) -> (Option<[Embeddings; 2]>, Tuples) {
        match degradation {
            Degradation::Noise => {
                // The views have noise of their own each.
                let noisy = [0, 1]
                    .map(|view| noise::with_noise(self.views[view].1, level, self.seed.wrapping_add(view as u64)));
                (Some(self.prepared(noisy)), self.tuples.clone())
            }
            Degradation::Wrong => (None, noise::shuffled(self.tuples, level / 100.0, self.seed)),
            Degradation::Fewer => (None, noise::fewer(self.tuples, level as usize, self.seed)),
        }
    }

    fn prepared(&self, mut views: [Embeddings; 2]) -> [Embeddings; 2] {
        views.iter_mut().for_each(|view| drop(Normalizer::fit_apply(self.steps, view)));
        views
    }

    fn measure(&self, experiment: &Experiment, method: Method) -> sememe::Result<Scores> {
        let options = Options { method: Some(method), shrinkage: self.shrinkage, ..Options::default() };
        let model = experiment.fit(&options)?;
        let (source, target) = (experiment.latent(&model, 0)?, experiment.latent(&model, 1)?);
        translate(&source, &target, self.gold, self.criterion, self.seed)
    }
}

impl Panel {
    /// How many words were translated.
    pub fn queries(&self) -> Option<usize> {
        self.results.iter().flat_map(|(_, results)| results).find_map(|result| Some(result.as_ref().ok()?.queries))
    }

    /// Why there are gaps, each reason once.
    pub fn failures(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self.results.iter().flat_map(|(_, results)| results).filter_map(|result| result.as_ref().err()) {
            if !reasons.contains(&reason.as_str()) {
                reasons.push(reason);
            }
        }
        reasons
    }

    pub fn lines(&self) -> Lines {
        let curve = |(method, results): &(Method, Vec<Outcome>)| {
            let point = |(&level, result): (&f64, &Outcome)| Some((level, result.as_ref().ok()?.at[0].value));
            let points = self.levels.iter().zip(results).filter_map(point).collect();
            Curve { name: method.name().to_owned(), colour: crate::plots::colour_of(*method), points }
        };
        Lines {
            title: capitalised(self.degradation.name()),
            x: self.degradation.axis().to_owned(),
            y: "P@1, %".to_owned(),
            is_logarithmic: self.degradation == Degradation::Fewer,
            from_zero: true,
            curves: self.results.iter().map(curve).filter(|curve| !curve.points.is_empty()).collect(),
        }
    }

    pub fn json(&self) -> Value {
        let of_method = |(method, results): &(Method, Vec<Outcome>)| {
            let of_level = |(level, result): (&f64, &Outcome)| match result {
                Ok(scores) => json!({ "level": level, "p1": scores.at[0].value, "interval": scores.at[0].interval }),
                Err(reason) => json!({ "level": level, "missing": reason }),
            };
            json!({ "method": method, "results": self.levels.iter().zip(results).map(of_level).collect::<Vec<_>>() })
        };
        json!({
            "degradation": self.degradation.name(),
            "methods": self.results.iter().map(of_method).collect::<Vec<_>>(),
        })
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

//! Robustness: the same methods on worse and worse input.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sememe::evaluate::noise;
use sememe::lexicon::{Lexicon, Tuples};
use sememe::model::{FitOptions, Method, Shrinkage};
use sememe::observe::Observer;
use sememe::prepare::Step;
use sememe::retrieve::Criterion;
use sememe::vectors::Embeddings;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::error::Result;
use crate::experiment::{self, Experiment, Precision, Scores, translate};
use crate::plots::{self, Curve, Lines, Svg};
use crate::text::count;
use crate::work::Work;

/// What a study compares unless it is told otherwise.
pub const METHODS: [Method; 5] = [Method::LeastSquares, Method::Svd, Method::CcaNipals, Method::Cca, Method::Ibfa];

/// How the input gets worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Degradation {
    /// Gaussian noise on the vectors, as a multiple of their length.
    Noise,
    /// Wrong entries in the dictionary, in per cent.
    Wrong,
    /// So many entries.
    Fewer,
}

impl Degradation {
    /// What it is called.
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

    /// How a level of it is written.
    pub fn label(self, level: f64) -> String {
        match self {
            Degradation::Noise => format!("{level}"),
            Degradation::Wrong => format!("{level} %"),
            Degradation::Fewer => count(level as usize),
        }
    }
}

/// What came of a fit: precision, or why there is none.
pub type Outcome = std::result::Result<Scores, String>;

/// What is to be made worse.
#[non_exhaustive]
pub struct Study<'a> {
    /// As they come, with words that follow the policy for case.
    pub views: [(&'a str, &'a Embeddings); 2],
    /// How vectors are prepared after noise was added to them.
    pub steps: &'a [Step],
    /// What is fitted to.
    pub tuples: &'a Tuples,
    /// Right translations from the first view to the second.
    pub gold: &'a Lexicon,
    /// What is compared.
    pub methods: &'a [Method],
    /// Of every method that has covariances.
    pub shrinkage: Shrinkage,
    /// What candidates are ranked by.
    pub criterion: Criterion,
    /// Of the noise, the wrong entries, the entries that are kept, and the bootstrap.
    pub seed: u64,
}

/// The precision of every method at every level of one kind of damage.
#[non_exhaustive]
pub struct Panel {
    /// The kind of damage.
    pub degradation: Degradation,
    /// How much of it.
    pub levels: Vec<f64>,
    /// What each method came to, a result for each level.
    pub results: Vec<(Method, Vec<Outcome>)>,
}

impl<'a> Study<'a> {
    /// All methods on vectors as they are given, with automatic shrinkage, ranked by cosine.
    pub fn new(views: [(&'a str, &'a Embeddings); 2], tuples: &'a Tuples, gold: &'a Lexicon) -> Self {
        Study {
            views,
            steps: &[],
            tuples,
            gold,
            methods: &METHODS,
            shrinkage: Shrinkage::Auto,
            criterion: Criterion::Nn,
            seed: 0,
        }
    }

    /// Fits every method at every level. Of [`Degradation::Fewer`] all entries are a further level, the first. An observer that
    /// wants no more ends it with [`sememe::Error::Stopped`].
    pub fn run(&self, degradations: &[(Degradation, &[f64])], observer: &dyn Observer) -> Result<Vec<Panel>> {
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
        let (work, done) = (Work::new(observer), AtomicUsize::new(0));
        let clean = self.prepared(self.views.map(|(_, embeddings)| embeddings.clone()));
        for panel in &mut panels {
            for &level in &panel.levels {
                let (noisy, tuples) = self.damaged(panel.degradation, level);
                let [source, target] = noisy.as_ref().unwrap_or(&clean);
                let views = [(self.views[0].0, source), (self.views[1].0, target)];
                let experiment = Experiment::new(&views, tuples);
                // At the same time, as some methods have little to do for a second thread.
                panel.results.par_iter_mut().for_each(|(method, results)| {
                    let measured = experiment.as_ref().map_err(ToString::to_string).and_then(|experiment| {
                        self.measure(experiment, *method, &work).map_err(|error| error.to_string())
                    });
                    results.push(measured);
                    work.advance(done.fetch_add(1, Ordering::Relaxed) as u64 + 1, total as u64);
                });
            }
        }
        work.check()?;
        Ok(panels)
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

    fn prepared(&self, views: [Embeddings; 2]) -> [Embeddings; 2] {
        views.map(|view| experiment::prepared(self.steps, &view))
    }

    fn measure(&self, experiment: &Experiment, method: Method, work: &Work) -> sememe::Result<Scores> {
        let options = FitOptions::default().with_method(Some(method)).with_shrinkage(self.shrinkage);
        let model = experiment.fit(&options, work)?;
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

    fn lines(&self) -> Lines {
        let curve = |(method, results): &(Method, Vec<Outcome>)| {
            let point = |(&level, result): (&f64, &Outcome)| Some((level, result.as_ref().ok()?.at[0].value));
            let points = self.levels.iter().zip(results).filter_map(point).collect();
            Curve { name: method.name().to_owned(), colour: plots::colour_of(*method), points }
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
}

/// For machines: the kind of damage, and for every method its results by level.
impl Serialize for Panel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let of_method = |(method, results): &(Method, Vec<Outcome>)| MethodResults {
            method: *method,
            results: self.levels.iter().copied().zip(results.iter().cloned()).map(LevelResult::from).collect(),
        };
        let mut panel = serializer.serialize_map(Some(2))?;
        panel.serialize_entry("degradation", self.degradation.name())?;
        panel.serialize_entry("methods", &self.results.iter().map(of_method).collect::<Vec<_>>())?;
        panel.end()
    }
}

#[derive(Serialize)]
struct MethodResults {
    method: Method,
    results: Vec<LevelResult>,
}

/// A result, or why there is none.
#[derive(Serialize)]
#[serde(untagged)]
enum LevelResult {
    Measured { level: f64, p1: f64, interval: [f64; 2] },
    Missing { level: f64, missing: String },
}

impl From<(f64, Outcome)> for LevelResult {
    fn from((level, outcome): (f64, Outcome)) -> Self {
        match outcome {
            Ok(Scores { at: [Precision { value: p1, interval }, ..], .. }) => {
                LevelResult::Measured { level, p1, interval }
            }
            Err(missing) => LevelResult::Missing { level, missing },
        }
    }
}

/// The panels as one drawing.
pub fn draw(panels: &[Panel]) -> Svg {
    let drawn: Vec<Svg> = panels.iter().filter_map(|panel| panel.lines().draw(plots::NARROW)).collect();
    Svg::beside("Precision as the input gets worse", &drawn)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

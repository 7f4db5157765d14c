//! Robustness: the precision of several methods on increasingly degraded input.

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

/// The methods that a study compares by default.
pub const METHODS: [Method; 5] = [Method::LeastSquares, Method::Svd, Method::CcaNipals, Method::Cca, Method::Ibfa];

/// A kind of degradation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Degradation {
    /// Gaussian noise on the vectors, as a multiple of their length.
    Noise,
    /// Wrong entries in the dictionary, in per cent.
    Wrong,
    /// Fewer entries.
    Fewer,
}

impl Degradation {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Degradation::Noise => "noise on vectors",
            Degradation::Wrong => "wrong entries",
            Degradation::Fewer => "entries",
        }
    }

    /// The label of an axis.
    fn axis(self) -> &'static str {
        match self {
            Degradation::Noise => "length of the noise / length of the vector",
            Degradation::Wrong => "wrong entries of the dictionary, %",
            Degradation::Fewer => "entries of the dictionary",
        }
    }

    /// The text of a level.
    pub fn label(self, level: f64) -> String {
        match self {
            Degradation::Noise => format!("{level}"),
            Degradation::Wrong => format!("{level} %"),
            Degradation::Fewer => count(level as usize),
        }
    }
}

/// The precision of a fit, or the reason why it is missing.
pub type Outcome = std::result::Result<Scores, String>;

/// A study of robustness: its input and options.
#[non_exhaustive]
pub struct Study<'a> {
    /// The unprepared vectors, whose words follow the casing.
    pub views: [(&'a str, &'a Embeddings); 2],
    /// The normalisation steps after noise was added.
    pub steps: &'a [Step],
    /// The tuples to fit to.
    pub tuples: &'a Tuples,
    /// The gold dictionary from the first view to the second.
    pub gold: &'a Lexicon,
    /// The methods to compare.
    pub methods: &'a [Method],
    /// The shrinkage of every method that has covariances.
    pub shrinkage: Shrinkage,
    /// The criterion that ranks candidates.
    pub criterion: Criterion,
    /// The seed of the noise, the wrong entries, the kept entries, and the bootstrap.
    pub seed: u64,
}

/// The precision of every method at every level of one kind of degradation.
#[non_exhaustive]
pub struct Panel {
    /// The kind of degradation.
    pub degradation: Degradation,
    /// The levels.
    pub levels: Vec<f64>,
    /// The results of each method, one per level.
    pub results: Vec<(Method, Vec<Outcome>)>,
}

impl<'a> Study<'a> {
    /// All default methods, without normalisation, with automatic shrinkage, ranked by cosine.
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

    /// Fits every method at every level. [`Degradation::Fewer`] has a further first level with all entries. If the observer
    /// stops it, the error is [`sememe::Error::Stopped`].
    pub fn run(&self, degradations: &[(Degradation, &[f64])], observer: &dyn Observer) -> Result<Vec<Panel>> {
        let levels = |degradation: Degradation, levels: &[f64]| match degradation {
            // The first level has all entries.
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
        // The first level of every kind is the same input, which is measured once.
        let mut of_undamaged: Option<Vec<Outcome>> = None;
        for panel in &mut panels {
            for &level in &panel.levels {
                let is_undamaged = self.is_undamaged(panel.degradation, level);
                if let Some(known) = of_undamaged.as_ref().filter(|_| is_undamaged) {
                    panel.results.iter_mut().zip(known).for_each(|((_, results), known)| results.push(known.clone()));
                    let methods = self.methods.len();
                    work.advance((done.fetch_add(methods, Ordering::Relaxed) + methods) as u64, total as u64);
                    continue;
                }
                let (noisy, tuples) = self.damaged(panel.degradation, level);
                let [source, target] = noisy.as_ref().unwrap_or(&clean);
                let views = [(self.views[0].0, source), (self.views[1].0, target)];
                let experiment = Experiment::new(&views, tuples);
                // In parallel, because some methods use one thread most of the time.
                panel.results.par_iter_mut().for_each(|(method, results)| {
                    let measured = experiment.as_ref().map_err(ToString::to_string).and_then(|experiment| {
                        self.measure(experiment, *method, &work).map_err(|error| error.to_string())
                    });
                    results.push(measured);
                    work.advance(done.fetch_add(1, Ordering::Relaxed) as u64 + 1, total as u64);
                });
                if is_undamaged {
                    of_undamaged = panel.results.iter().map(|(_, results)| results.last().cloned()).collect();
                }
            }
        }
        work.check()?;
        Ok(panels)
    }

    fn is_undamaged(&self, degradation: Degradation, level: f64) -> bool {
        match degradation {
            Degradation::Noise | Degradation::Wrong => level == 0.0,
            Degradation::Fewer => level as usize == self.tuples.len(),
        }
    }

    /// The degraded input at a level: vectors, if these are degraded, and tuples.
    fn damaged(&self, degradation: Degradation, level: f64) -> (Option<[Embeddings; 2]>, Tuples) {
        match degradation {
            Degradation::Noise => {
                // Each view has its own noise.
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
    /// Number of words that were translated.
    pub fn queries(&self) -> Option<usize> {
        self.results.iter().flat_map(|(_, results)| results).find_map(|result| Some(result.as_ref().ok()?.queries))
    }

    /// The distinct reasons why results are missing.
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

/// JSON: the kind of degradation, and the results of every method by level.
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

/// A result, or the reason why it is missing.
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

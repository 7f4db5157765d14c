//! Attempts to align two views without supervision, and a test of the best against chance.

use rayon::prelude::*;
use serde::Serialize;

use super::super::WORDS;
use super::super::rounds::{Learner, Watch};
use super::super::similarity::Mutual;
use super::super::words::FrequentWords;
use super::components::{Components, Whitened};
use super::matching::matching;
use super::profiles::profiles;
use crate::align::short_fit;
use crate::error::{Error, Result};
use crate::linalg::{Mat, Svd, scale_columns, times, times_transpose, transpose_times};
use crate::model::{FitOptions, Model};
use crate::moments::Shape;
use crate::prepare::scale_to_unit;
use crate::random::Random;
use crate::threads;
use crate::vectors::Matrix;

/// Frequent words of each view for the independent components.
const WORDS_FOR_COMPONENTS: usize = 10_000;
/// Runs of component analysis in one attempt, by the fraction of directions that each looks at. What they agree on adds
/// up, errors do not, and errors in other directions are other errors. The directions of least variance are mostly
/// noise: with all of them en-fi is not aligned.
const COMPONENTS: [f64; 8] = [0.6, 0.7, 0.8, 0.9, 0.6, 0.7, 0.8, 0.9];
/// Attempts with components; the second also keeps the components of the first.
const ATTEMPTS: usize = 2;
/// Alignments from random rotations, as the baseline of chance.
const RANDOM_STARTS: usize = 3;
/// Standard deviations by which the objective must exceed the baseline.
const MIN_DEVIATIONS: f64 = 6.0;
/// An attempt that ends fewer standard deviations above the baseline had nothing right to start from: no other follows.
const HOPELESS: f64 = 1.0;
/// The three baselines may happen to agree. Their standard deviation counts as at least this fraction of their mean.
const LEAST_DEVIATION: f64 = 0.02;

/// An alignment without given pairs, or from few of them, compared with chance by the mean CSLS of words with their best
/// translations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Chance {
    /// The objective of the alignment.
    pub objective: f64,
    /// The mean objective after a cycle of learning from random rotations, or from wrong pairs.
    pub random: f64,
    /// Its standard deviation over several of these; 0 for one.
    pub deviation: f64,
}

impl Chance {
    /// Whether the alignment is clearly better than chance.
    pub fn is_beaten(&self) -> bool {
        self.deviations() > MIN_DEVIATIONS
    }

    /// By how many standard deviations the alignment is better than chance.
    fn deviations(&self) -> f64 {
        (self.objective - self.random) / self.deviation.max(LEAST_DEVIATION * self.random.abs())
    }
}

/// The result of an unsupervised search.
pub struct Unsupervised {
    /// A model of the frequent words.
    pub model: Model,
    /// Rows of both views that belong together.
    pub rows: Vec<[usize; 2]>,
    /// The comparison with chance.
    pub chance: Chance,
}

/// Aligns two views without any known pair.
pub fn search(
    shapes: [&Shape; 2],
    words: [&FrequentWords; 2],
    random: &mut Random,
    watch: &mut Watch,
) -> Result<Unsupervised> {
    let fit = short_fit(&FitOptions::default());
    let mut learner = Learner {
        shapes: shapes.map(Clone::clone).to_vec(),
        words: words.to_vec(),
        fit,
        is_finished: false,
        given: Vec::new(),
        watch,
    };
    let [x, y] = words.map(|words| words.first(WORDS_FOR_COMPONENTS));
    let dim = x.cols().min(y.cols());
    let (x, y) = rayon::join(|| Whitened::of(&x, dim), || Whitened::of(&y, dim));
    let (x, y) = (x?, y?);
    let dim = x.rows.cols().min(y.rows.cols());
    let (x, y) = (x.narrowed(dim), y.narrowed(dim));
    let names = shapes.map(|shape| shape.name.clone());
    let drawn = [(); RANDOM_STARTS].map(|()| Mat::from_fn(dim, dim, |_, _| random.normal()));
    let by_rotation = |drawn: &Mat| {
        let Svd { u, v, .. } = Svd::new(drawn, "a random matrix")?;
        turned(&x, &y, &times_transpose(&u, &v))
    };
    let mut starts = drawn.par_iter().map(by_rotation).collect::<Result<Vec<_>>>()?;
    starts.push(words.iter().map(|words| profiles(&words.first(WORDS))).collect::<Result<Vec<_>>>()?);
    // On many threads the first components do not wait for cycles that may make them needless.
    let mut ahead = random.clone();
    let first_components = || threads::are_many().then(|| matched_components([&x, &y], &mut ahead));
    let (cycles, mut first_components) = threads::side_by_side(|| learner.cycles(starts), first_components);
    let mut cycles = cycles?;
    // Objectives of interrupted cycles are not comparable.
    let Some(mut learned) = cycles.pop().filter(|_| !learner.watch.is_stopped) else {
        return Err(Error::StoppedEarly(names));
    };
    let by_chance: Vec<f64> = cycles.iter().map(|cycle| cycle.objective).collect();
    let mean = by_chance.iter().sum::<f64>() / RANDOM_STARTS as f64;
    let variance = by_chance.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (RANDOM_STARTS - 1) as f64;
    let mut chance = Chance { objective: learned.objective, random: mean, deviation: variance.sqrt() };
    let mut is_known = true;
    if chance.is_beaten() {
        let start = learner.restart(&learned)?;
        learned = learner.learn_from(start)?;
    }
    let mut map = Mat::zeros(dim, dim);
    for attempt in 0..ATTEMPTS {
        let is_hopeless = attempt > 0 && chance.deviations() < HOPELESS;
        if chance.is_beaten() || is_hopeless || learner.watch.is_stopped {
            break;
        }
        let matched = match first_components.take() {
            Some(matched) => {
                *random = ahead.clone();
                matched?
            }
            None => matched_components([&x, &y], random)?,
        };
        for found in matched {
            let count = found.nrows();
            (0..count).for_each(|j| (0..count).for_each(|i| map[(i, j)] += found[(i, j)]));
        }
        learned = learner.learn_from(turned(&x, &y, &map)?)?;
        chance.objective = learned.objective;
        is_known = !learner.watch.is_stopped;
    }
    if !is_known {
        return Err(Error::StoppedEarly(names));
    }
    if !chance.is_beaten() {
        return Err(Error::NoBetterThanChance { views: names, objective: chance.objective, chance: chance.random });
    }
    if !learner.watch.is_stopped {
        learned = learner.best_of_restarts(learned)?;
        chance.objective = learned.objective;
    }
    let rows = |mutual: &Mutual| [0, 1].map(|side| words[side].rows[mutual.rows[side]]);
    Ok(Unsupervised { rows: learned.mutual.iter().map(rows).collect(), model: learned.model, chance })
}

/// The map between the matched components of both views, for each number of them.
fn matched_components([x, y]: [&Whitened; 2], random: &mut Random) -> Result<Vec<Mat>> {
    let dim = x.rows.cols();
    let counts = COMPONENTS.map(|fraction| (fraction * dim as f64).ceil() as usize);
    let starts = counts.map(|count| [(); 2].map(|()| Mat::from_fn(count, count, |_, _| random.normal())));
    let of_count = |(count, [of_x, of_y]): (usize, &[Mat; 2])| {
        let components = |words: &Whitened, start: &Mat| Components::of(&words.narrowed(count), start);
        let (of_x, of_y) = rayon::join(|| components(x, of_x), || components(y, of_y));
        let (of_x, of_y) = (of_x?, of_y?);
        let matched = times(&matching(&of_x, &of_y), &of_y.directions);
        Ok(transpose_times(&of_x.directions, &matched))
    };
    counts.into_par_iter().zip(&starts).map(of_count).collect()
}

/// Unit latent vectors of the frequent words of both views, by a bilinear map `xᵀ map y` of whitened words. The
/// map need not be a rotation.
fn turned(x: &Whitened, y: &Whitened, map: &Mat) -> Result<Vec<Matrix>> {
    let Svd { u, s, v } = Svd::new(map, "the map between components")?;
    let roots: Vec<f64> = s.iter().map(|value| value.sqrt()).collect();
    let turn = |words: &Whitened, by: &Mat| {
        let columns = words.rows.columns(0..WORDS.min(words.rows.rows()));
        let mut turned = Matrix::of_columns(&times(&scale_columns(by, &roots).transpose(), &columns));
        scale_to_unit(&mut turned);
        turned
    };
    Ok(vec![turn(x, &u), turn(y, &v)])
}

//! RCSLS, relaxed CSLS (Joulin et al. 2018): the map of a view to the pivot, tuned for retrieval by CSLS.
//!
//! With `y` the translation of `x` and means over the ten nearest neighbours of each, gradient steps maximise
//! `2 <W x, y> - mean <W x, y'> - mean <W x', y>`, from the solution of Procrustes. Neighbours are searched anew for each
//! step, among all words. A step that lowers the objective is undone and its length halved. Steps and their first length
//! are those of the authors' program.

use std::collections::HashMap;

use super::row_products::{add, map_of, row_major, sum_of_outer_products};
use crate::error::{Error, Result};
use crate::lexicon::{Cells, Tuples};
use crate::model::{FitOptions, Model};
use crate::observe::{Meter, Observer, Stage};
use crate::retrieve::kernel::dot;
use crate::retrieve::{Criterion, Hit, Retriever};
use crate::vectors::{Matrix, View};

const NEIGHBOURS: usize = 10;
const STEPS: usize = 10;
const FIRST_STEP: f32 = 25.0;
/// Frequent words of each view among which neighbours are searched.
const WORDS: usize = 200_000;

/// Tunes the map of every view except the pivot.
pub(super) fn tune(
    model: &mut Model,
    views: &[View],
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<()> {
    let names: Vec<&str> = views.iter().map(View::name).collect();
    let pivot = options.pivot_of(&names);
    let meter = Meter::new(observer, Stage::Finishing, STEPS * (views.len() - 1));
    for view in (0..views.len()).filter(|&view| view != pivot) {
        let map = &mut model.views[view].projection;
        let problem = Problem::of(views[view].rows(), views[pivot].rows(), tuples, (view, pivot), &meter.stopping());
        match problem.and_then(|problem| problem.maximise(row_major(map), &meter)) {
            Err(Error::Stopped) => break,
            tuned => *map = map_of(&tuned?, map.ncols()),
        }
    }
    Ok(())
}

/// Training pairs of a view with the pivot, and the words of both.
struct Problem {
    x: Matrix,
    y: Matrix,
    /// Weights of the pairs; their sum is 1.
    weights: Vec<f32>,
    /// Words of the pairs, each once: a dictionary has several translations of a word, which have the same neighbours.
    distinct: [Distinct; 2],
    sources: Matrix,
    targets: Matrix,
    among_targets: Retriever,
}

impl Problem {
    fn of(
        view: &Matrix,
        pivot: &Matrix,
        tuples: &Tuples,
        (source, target): (usize, usize),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let of_tuple = |cells: Cells| Some((cells.row(source)?, cells.row(target)?, cells.weight));
        let pairs: Vec<(usize, usize, f64)> = tuples.cells().filter_map(of_tuple).collect();
        let total: f64 = pairs.iter().map(|pair| pair.2).sum();
        let frequent = |rows: &Matrix| rows.select(&(0..rows.rows().min(WORDS)).collect::<Vec<_>>());
        let (sources, targets) = (frequent(view), frequent(pivot));
        Ok(Problem {
            x: view.select(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()),
            y: pivot.select(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>()),
            weights: pairs.iter().map(|pair| (pair.2 / total) as f32).collect(),
            distinct: [
                Distinct::of(view, pairs.iter().map(|pair| pair.0)),
                Distinct::of(pivot, pairs.iter().map(|pair| pair.1)),
            ],
            among_targets: Retriever::new(targets.clone(), targets.clone(), Criterion::Dot, observer)?,
            sources,
            targets,
        })
    }

    /// The best map of all steps; the best so far if the observer stops the work.
    fn maximise(&self, start: Vec<f32>, meter: &Meter) -> Result<Vec<f32>> {
        let mut best = start;
        let (mut highest, mut gradient) = self.objective(&best, &meter.stopping())?;
        let mut length = FIRST_STEP;
        for _ in 0..STEPS {
            let mut map = best.clone();
            add(&mut map, length, &gradient);
            match self.objective(&map, &meter.stopping()) {
                Err(Error::Stopped) => break,
                Ok((objective, next)) if objective >= highest => (best, highest, gradient) = (map, objective, next),
                // Not a number is no improvement either.
                Ok(_) => length /= 2.0,
                Err(error) => return Err(error),
            }
            if meter.advance(1).is_err() {
                break;
            }
        }
        Ok(best)
    }

    /// The objective and its gradient.
    fn objective(&self, map: &[f32], observer: &dyn Observer) -> Result<(f64, Vec<f32>)> {
        let [of_x, of_y] = &self.distinct;
        let images = of_x.rows.mapped(map);
        let near_images = self.among_targets.nearest(&images, NEIGHBOURS, observer)?;
        let of_sources = self.sources.mapped(map);
        let near_translations = Retriever::new(of_sources.clone(), of_sources, Criterion::Dot, observer)?
            .nearest(&of_y.rows, NEIGHBOURS, observer)?;
        let mean_targets = means(&self.targets, &near_images);
        let mean_sources = means(&self.sources, &near_translations).select(&of_y.of_pairs);

        // The gradient is Σ w ((2 y - mean y') xᵀ - y (mean x')ᵀ).
        let weighted = |pair: usize, of: &dyn Fn(usize) -> f32| {
            (0..self.y.cols()).map(of).map(|x| self.weights[pair] * x).collect::<Vec<f32>>()
        };
        let pairs = 0..self.y.rows();
        let pulls = pairs.clone().flat_map(|pair| {
            let (y, mean) = (self.y.row(pair), mean_targets.row(of_x.of_pairs[pair]));
            weighted(pair, &|at| 2.0 * y[at] - mean[at])
        });
        let pushes = pairs.clone().flat_map(|pair| weighted(pair, &|at| -self.y.row(pair)[at]));
        let dim = self.y.cols();
        let mut gradient = sum_of_outer_products(&Matrix::new(pulls.collect(), dim), &self.x);
        let push = sum_of_outer_products(&Matrix::new(pushes.collect(), dim), &mean_sources);
        add(&mut gradient, 1.0, &push);

        let mean_score =
            |hits: &[Hit]| hits.iter().map(|hit| f64::from(hit.score)).sum::<f64>() / hits.len().max(1) as f64;
        let of_pair = |pair: usize| {
            let (x, y) = (of_x.of_pairs[pair], of_y.of_pairs[pair]);
            let cosine = dot(images.row(x), self.y.row(pair));
            f64::from(self.weights[pair])
                * (2.0 * cosine - mean_score(&near_images[x]) - mean_score(&near_translations[y]))
        };
        Ok((pairs.map(of_pair).sum(), gradient))
    }
}

/// Rows of words, each once, and the place of the word of every pair among them.
struct Distinct {
    rows: Matrix,
    of_pairs: Vec<usize>,
}

impl Distinct {
    fn of(rows: &Matrix, words: impl Iterator<Item = usize>) -> Self {
        let (mut places, mut distinct) = (HashMap::new(), Vec::new());
        let place = |word: usize| {
            *places.entry(word).or_insert_with(|| {
                distinct.push(word);
                distinct.len() - 1
            })
        };
        let of_pairs = words.map(place).collect();
        Distinct { rows: rows.select(&distinct), of_pairs }
    }
}

/// The mean of the rows that were found for each query.
fn means(rows: &Matrix, found: &[Vec<Hit>]) -> Matrix {
    let mut means = vec![0.0; found.len() * rows.cols()];
    for (mean, hits) in means.chunks_exact_mut(rows.cols()).zip(found) {
        hits.iter().for_each(|hit| add(mean, 1.0 / hits.len() as f32, rows.row(hit.index)));
    }
    Matrix::new(means, rows.cols())
}

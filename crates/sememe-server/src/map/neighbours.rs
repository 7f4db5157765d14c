//! A plane in which neighbours are neighbours, for any number of words: t-SNE (van der Maaten 2014).

use rayon::prelude::*;
use sememe::observe::Observer;
use sememe::retrieve::{Criterion, Retriever};

use super::Laid;
use super::graph::{Graph, probabilities};
use super::tree::{Repulsion, Tree};
use crate::http::Problem;
use crate::opened::Opened;

const ITERATIONS: usize = 500;
/// Early exaggeration: the factor of attractions in the first steps, and how many these are.
const EARLY: (f32, usize) = (12.0, 150);
/// The factor in all others. With many points, some exaggeration keeps clusters together.
const LATE: f32 = 1.5;
/// Extent of the initial places.
const START: f32 = 1e-2;
/// The share of the work that is done when all neighbours are found.
const GRAPH: f64 = 0.5;
/// Laid-out neighbours that the place of another word follows from.
const ANCHORS: usize = 5;

/// `x, y` of every word, view after view, beginning with `start`. Words that are not laid out are placed among those of their
/// neighbours that are. The same space gives the same bits.
pub(super) fn places(
    opened: &Opened,
    laid: &Laid,
    start: &[f32],
    observer: &dyn Observer,
    progress: &dyn Fn(f64),
) -> Result<Vec<f32>, Problem> {
    let graph = Graph::new(opened, laid, observer, &|share| progress(GRAPH * share))?;
    let start: Vec<[f32; 2]> = laid.rows().map(|(view, row)| laid.place(start, view, row)).collect();
    let found = descend(&graph, &start, &|share| {
        progress(GRAPH + (1.0 - GRAPH) * share);
        observer.observe(sememe::observe::Event::progress(sememe::observe::Stage::Searching, 0, 1)).is_continue()
    });
    let found = found.ok_or_else(Problem::too_long)?;
    let mut places = Vec::with_capacity(2 * laid.total());
    for view in 0..opened.views.len() {
        let first = laid.point(view, 0);
        places.extend(found[first..first + laid.words[view]].iter().flatten());
        places.extend(others(opened, laid, view, &found, observer)?.iter().flatten());
    }
    Ok(places)
}

/// Gradient descent with momentum. `None` if `go_on` said no.
fn descend(graph: &Graph, start: &[[f32; 2]], go_on: &dyn Fn(f64) -> bool) -> Option<Vec<[f32; 2]>> {
    let count = start.len();
    let largest = start.iter().flatten().fold(f32::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    let mut places: Vec<[f32; 2]> = start.iter().map(|place| place.map(|x| START * x / largest)).collect();
    let mut speeds = vec![[0.0_f32; 2]; count];
    let mut gains = vec![[1.0_f32; 2]; count];
    let rate = (count as f32 / EARLY.0).max(50.0);
    for iteration in 0..ITERATIONS {
        if !go_on(iteration as f64 / ITERATIONS as f64) {
            return None;
        }
        let (factor, momentum) = if iteration < EARLY.1 { (EARLY.0, 0.5) } else { (LATE, 0.8) };
        let tree = Tree::new(&places);
        let repulsions: Vec<Repulsion> = places.par_iter().map(|&place| tree.repulsion(place)).collect();
        let total = repulsions.iter().map(|repulsion| f64::from(repulsion.sum)).sum::<f64>().max(f64::MIN_POSITIVE);
        let share = (1.0 / total) as f32;
        let gradient = |point: usize| {
            let place = places[point];
            let mut pull = [0.0; 2];
            for &(other, weight) in graph.of(point) {
                let other = places[other as usize];
                let (dx, dy) = (place[0] - other[0], place[1] - other[1]);
                let strength = weight / (1.0 + dx * dx + dy * dy);
                pull = [pull[0] + strength * dx, pull[1] + strength * dy];
            }
            [0, 1].map(|i| 4.0 * (factor * pull[i] - share * repulsions[point].force[i]))
        };
        let gradients: Vec<[f32; 2]> = (0..count).into_par_iter().with_min_len(1024).map(gradient).collect();
        for point in 0..count {
            for i in 0..2 {
                let (gradient, speed, gain) = (gradients[point][i], &mut speeds[point][i], &mut gains[point][i]);
                // Jacobs' rule: faster where the direction stays, slower where it turns.
                *gain = if (gradient > 0.0) == (*speed > 0.0) { (*gain * 0.8).max(0.01) } else { *gain + 0.2 };
                *speed = momentum * *speed - rate * *gain * gradient;
                places[point][i] += *speed;
            }
        }
        let mean = places.iter().fold([0.0_f64; 2], |sum, place| [0, 1].map(|i| sum[i] + f64::from(place[i])));
        let mean = mean.map(|sum| (sum / count.max(1) as f64) as f32);
        places.iter_mut().for_each(|place| *place = [place[0] - mean[0], place[1] - mean[1]]);
    }
    places.iter().flatten().all(|x| x.is_finite()).then_some(places)
}

/// The places of the words of a view that are not laid out: among their nearest words that are.
fn others(
    opened: &Opened,
    laid: &Laid,
    view: usize,
    found: &[[f32; 2]],
    observer: &dyn Observer,
) -> Result<Vec<[f32; 2]>, Problem> {
    let (first, last) = (laid.words[view], opened.views[view].len());
    if first == last {
        return Ok(Vec::new());
    }
    let problem = |error: sememe::Error| Problem::of(&error);
    let words = opened.views[view].embeddings()?.matrix();
    let [anchors, rest] = [0..first, first..last].map(|rows| words.select(&rows.collect::<Vec<_>>()));
    let retriever = Retriever::new(rest.clone(), anchors, Criterion::Nn, observer).map_err(problem)?;
    let hits = retriever.rank(&rest, ANCHORS, observer).map_err(problem)?;
    let place = |hits: &Vec<sememe::retrieve::Hit>| {
        let weights = probabilities(&hits.iter().map(|hit| f64::from(hit.score)).collect::<Vec<_>>());
        hits.iter().zip(weights).fold([0.0; 2], |sum: [f32; 2], (hit, weight)| {
            let anchor = found[laid.point(view, hit.index)];
            [0, 1].map(|i| sum[i] + weight as f32 * anchor[i])
        })
    };
    Ok(hits.iter().map(place).collect())
}

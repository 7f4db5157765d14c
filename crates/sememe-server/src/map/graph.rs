//! Which words attract each other: the nearest neighbours of every word in every view, with probabilities.
//!
//! Neighbours are taken from each view in equal numbers. Otherwise the views would be islands: a word is nearer to words of
//! its own language than to those of others.

use sememe::observe::Observer;
use sememe::retrieve::{Criterion, Hit};

use super::Laid;
use crate::http::Problem;
use crate::opened::Opened;

/// Neighbours of a word in all views together.
const NEIGHBOURS: usize = 32;
/// The effective number of neighbours, as a fraction of their number.
const PERPLEXITY: f64 = 0.4;
/// Queries that are searched at a time, between two looks at whether to go on.
const AT_A_TIME: usize = 4096;
/// How many times more neighbours are looked for where some of them are not laid out.
const MORE: usize = 4;

/// The nearest neighbours of points with their probabilities: as many places for each point as it has at most. For 200,000
/// words this is the largest part of the memory of a layout.
struct Directed {
    counts: Vec<u32>,
    most: usize,
    edges: Vec<(u32, f32)>,
}

impl Directed {
    fn new(points: usize, most: usize) -> Self {
        Directed { counts: vec![0; points], most, edges: vec![(0, 0.0); points * most] }
    }

    fn add(&mut self, from: usize, to: usize, probability: f32) {
        self.edges[from * self.most + self.counts[from] as usize] = (to as u32, probability);
        self.counts[from] += 1;
    }

    fn of(&self, point: usize) -> &[(u32, f32)] {
        &self.edges[point * self.most..][..self.counts[point] as usize]
    }
}

/// The attractions of points, as rows of a sparse symmetric matrix that sums to 1.
pub(super) struct Graph {
    starts: Vec<usize>,
    edges: Vec<(u32, f32)>,
}

impl Graph {
    /// The neighbours of a point and how much they attract it.
    pub(super) fn of(&self, point: usize) -> &[(u32, f32)] {
        &self.edges[self.starts[point]..self.starts[point + 1]]
    }

    /// The graph of directed edges, made symmetric: what two points say of each other is added.
    fn symmetric(directed: Directed) -> Self {
        let points = directed.counts.len();
        let share = 1.0 / (2 * points.max(1)) as f32;
        // Every edge is in the rows of both of its points.
        let mut starts = vec![0; points + 1];
        for point in 0..points {
            starts[point + 1] += directed.of(point).len();
            directed.of(point).iter().for_each(|&(other, _)| starts[other as usize + 1] += 1);
        }
        for point in 0..points {
            starts[point + 1] += starts[point];
        }
        let mut edges = vec![(0, 0.0); starts[points]];
        let mut ends = starts.clone();
        let mut add = |point: usize, edge: (u32, f32)| {
            edges[ends[point]] = edge;
            ends[point] += 1;
        };
        for point in 0..points {
            for &(other, weight) in directed.of(point) {
                add(point, (other, share * weight));
                add(other as usize, (point as u32, share * weight));
            }
        }
        drop((directed, ends));
        let mut kept = 0;
        for point in 0..points {
            let row = starts[point]..starts[point + 1];
            edges[row.clone()].sort_unstable_by_key(|&(other, _)| other);
            starts[point] = kept;
            for at in row {
                let (other, weight) = edges[at];
                match edges[starts[point]..kept].last_mut() {
                    Some((last, sum)) if *last == other => *sum += weight,
                    _ => {
                        edges[kept] = (other, weight);
                        kept += 1;
                    }
                }
            }
        }
        starts[points] = kept;
        edges.truncate(kept);
        edges.shrink_to_fit();
        Graph { starts, edges }
    }

    /// The neighbours of all points that are laid out. `progress` is told which share of the work is done.
    pub(super) fn new(
        opened: &Opened,
        laid: &Laid,
        observer: &dyn Observer,
        progress: &dyn Fn(f64),
    ) -> Result<Self, Problem> {
        let views: Vec<usize> = (0..opened.views.len()).filter(|&view| laid.words[view] > 0).collect();
        let k = NEIGHBOURS.div_ceil(views.len());
        let mut directed = Directed::new(laid.len(), k * views.len());
        let (all, mut done) = (laid.len() * views.len(), 0);
        for &from in &views {
            for &to in &views {
                let criterion = if from == to { Criterion::Nn } else { Criterion::CSLS };
                let retriever = opened.retriever(from, to, criterion, observer)?;
                let source = opened.views[from].embeddings()?;
                let is_cut = laid.words[to] < opened.views[to].len();
                let searched = if is_cut { MORE * k + 1 } else { k + 1 };
                for first in (0..laid.words[from]).step_by(AT_A_TIME) {
                    let rows: Vec<usize> = (first..laid.words[from].min(first + AT_A_TIME)).collect();
                    let found = retriever.rank(&source.matrix().select(&rows), searched, observer);
                    for (&row, hits) in rows.iter().zip(found.map_err(|error| Problem::of(&error))?) {
                        let is_other = |hit: &&Hit| hit.index < laid.words[to] && (from != to || hit.index != row);
                        let hits: Vec<Hit> = hits.iter().filter(is_other).take(k).copied().collect();
                        let scores: Vec<f64> = hits.iter().map(|hit| f64::from(hit.score)).collect();
                        for (hit, probability) in hits.iter().zip(probabilities(&scores)) {
                            let weight = (probability / views.len() as f64) as f32;
                            directed.add(laid.point(from, row), laid.point(to, hit.index), weight);
                        }
                    }
                    done += rows.len();
                    progress(done as f64 / all as f64);
                }
            }
        }
        Ok(Graph::symmetric(directed))
    }
}

/// Probabilities `exp(precision score)` with the precision that gives the wanted perplexity.
pub(super) fn probabilities(scores: &[f64]) -> Vec<f64> {
    let wanted = (PERPLEXITY * scores.len() as f64).max(1.0).ln();
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (0.0_f64, 1e4_f64);
    let mut probabilities = vec![0.0; scores.len()];
    for _ in 0..40 {
        let precision = 0.5 * (low + high);
        probabilities.iter_mut().zip(scores).for_each(|(weight, score)| *weight = (precision * (score - best)).exp());
        let sum: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|weight| *weight /= sum);
        let entropy: f64 = probabilities.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
        if entropy > wanted { low = precision } else { high = precision }
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attractions_are_mutual_and_sum_to_one() {
        let mut directed = Directed::new(4, 2);
        for (from, to, weight) in [(0, 2, 0.5), (0, 1, 0.5), (1, 0, 1.0), (2, 1, 1.0)] {
            directed.add(from, to, weight);
        }
        let graph = Graph::symmetric(directed);
        assert_eq!(graph.edges.len(), 6, "of two points, each is once in the row of the other");
        let sum: f32 = (0..4).flat_map(|point| graph.of(point)).map(|(_, weight)| weight).sum();
        assert!((sum - 6.0 / 8.0).abs() < 1e-6, "the last point attracts nobody: {sum}");
        let weight = |a: usize, b: u32| graph.of(a).iter().find(|(to, _)| *to == b).map(|(_, weight)| *weight);
        assert_eq!(weight(0, 1), Some(1.5 / 8.0));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert_eq!(weight(a, b as u32), weight(b, a as u32));
        }
        assert!(graph.of(3).is_empty());
    }

    #[test]
    fn better_neighbours_attract_more() {
        let found = probabilities(&[0.9, 0.7, 0.7, 0.1, -0.5]);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found.is_sorted_by(|a, b| a >= b), "{found:?}");
        assert!(probabilities(&[]).is_empty());
        assert_eq!(probabilities(&[0.3]), [1.0]);
    }
}

//! Similarities, couplings and steps of component analysis on a GPU. They differ from those of the CPU in the last digits.

use sememe_cuda::{Coupled, Fault, Vectors, Whitened};

use super::coupling::ExpectedSums;
use super::similarity::{Best, Csls};
use crate::device::{card, fell_back};
use crate::error::Result;
use crate::linalg::Mat;
use crate::moments::PatternMoments;
use crate::retrieve::csls::NEIGHBOURS;
use crate::vectors::Matrix;

/// A coupling takes this many times the time of the products of all pairs of words, which are among its steps.
const PRODUCTS: u64 = 10;

fn vectors(matrix: &Matrix) -> Vectors<'_> {
    Vectors { values: matrix.as_slice(), dim: matrix.cols() }
}

/// The result of a GPU; none if the CPU has to do the work.
fn done<T>(result: std::result::Result<T, Fault>) -> Option<T> {
    result.map_err(fell_back).ok()
}

/// The CSLS of every two words, and the nearest neighbours of the words of each view, if a GPU is to compute them.
pub(super) fn similarities(x: &Matrix, y: &Matrix) -> Result<Option<(Csls, [Vec<Best>; 2])>> {
    let sizes = [x.rows(), y.rows(), x.cols()].map(|size| size as u64);
    let Some(card) = card(PRODUCTS * sizes.iter().product::<u64>())? else { return Ok(None) };
    let Some(found) = done(card.similarities(vectors(x), vectors(y), NEIGHBOURS)) else { return Ok(None) };
    let best = |side: usize| {
        found.nearest[side].iter().map(|nearest| Best { index: nearest.index, score: nearest.score }).collect()
    };
    let nearest = [best(0), best(1)];
    Ok(Some((Csls::OnGpu(found), nearest)))
}

/// The expected moments; none if the CPU has to compute them.
pub(super) fn expected_moments(
    csls: sememe_cuda::Similarities,
    temperature: f32,
    x: &Matrix,
    y: &Matrix,
) -> Option<PatternMoments> {
    let Coupled { weight, sums, products } = done(csls.couple(temperature, vectors(x), vectors(y)))?;
    let (p, q) = (x.cols(), y.cols());
    let mut products = products
        .into_iter()
        .zip([(p, p), (q, q), (p, q)])
        .map(|(values, (rows, columns))| Mat::from_fn(rows, columns, |i, j| values[i * columns + j]));
    let of_products = [(); 3].map(|()| products.next().expect("three products"));
    Some(ExpectedSums { n: weight, of_vectors: sums, of_products }.moments())
}

/// Words for so many steps of component analysis on a GPU, if one is to be used.
pub(super) fn whitened(words: &Matrix, steps: usize) -> Option<Whitened> {
    let work = 2 * steps * words.as_slice().len() * words.cols();
    // A device that cannot be used has been an error before.
    let card = card(work as u64).ok().flatten()?;
    done(card.whitened(vectors(words)))
}

/// `Σ <w, z>² z` over all words, for every direction, which is a row; none if the CPU has to compute it.
pub(super) fn moments(words: &Whitened, directions: &Matrix) -> Option<Vec<f64>> {
    done(words.moments(directions.as_slice()))
}

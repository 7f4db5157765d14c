//! The plane of the first two principal components of all words' directions.

use rayon::prelude::*;
use sememe::linalg::{Eigen, Mat, symmetric, times_transpose};

use crate::http::Problem;
use crate::opened::Opened;

/// Words of each view that the components are computed from.
const SAMPLE: usize = 4096;

/// `x, y` of every word, view after view. Each view is centred by itself: what it is offset by is no difference between words.
pub(super) fn places(opened: &Opened) -> Result<Vec<f32>, Problem> {
    let latent = opened.latent();
    let mut covariance = Mat::zeros(latent, latent);
    let mut means = Vec::new();
    for view in &opened.views {
        let count = view.len().min(SAMPLE);
        let mut mean = vec![0.0; latent];
        if count > 0 {
            let (words, lengths) = (view.embeddings()?, view.lengths()?);
            let row = |at: usize| at * view.len() / count;
            let share = |row: usize| if lengths[row] > 0.0 { 1.0 / f64::from(lengths[row]) } else { 0.0 };
            let mut rows = Mat::from_fn(latent, count, |i, at| f64::from(words.vector(row(at))[i]) * share(row(at)));
            (0..count).for_each(|at| mean.iter_mut().zip(rows.col_as_slice(at)).for_each(|(sum, x)| *sum += x));
            mean.iter_mut().for_each(|sum| *sum /= count as f64);
            rows.col_iter_mut().for_each(|row| row.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean));
            covariance += times_transpose(&rows, &rows);
        }
        means.push(mean);
    }
    let eigen = Eigen::new(&symmetric(&covariance), "the covariance of a map").map_err(|_| Problem::bug())?;
    // Eigenvalues come in ascending or descending order; the plane is spanned by the two largest.
    let mut order: Vec<usize> = (0..latent).collect();
    order.sort_by(|&a, &b| eigen.values[b].total_cmp(&eigen.values[a]));
    let axes: Vec<Vec<f64>> = order.iter().take(2).map(|&at| eigen.vectors.col_as_slice(at).to_vec()).collect();
    let mut places = Vec::new();
    for (view, mean) in opened.views.iter().zip(&means).filter(|(view, _)| view.len() > 0) {
        let (words, lengths) = (view.embeddings()?, view.lengths()?);
        let place = |row: usize| {
            let share = if lengths[row] > 0.0 { 1.0 / f64::from(lengths[row]) } else { 0.0 };
            let along = |axis: usize| -> f32 {
                let Some(axis) = axes.get(axis) else { return 0.0 };
                let vector = words.vector(row).iter().zip(mean);
                vector.zip(axis).map(|((x, mean), axis)| (f64::from(*x) * share - mean) * axis).sum::<f64>() as f32
            };
            [along(0), along(1)]
        };
        places.par_extend((0..words.len()).into_par_iter().with_min_len(512).map(place));
    }
    Ok(places.into_iter().flatten().collect())
}

//! The file format of moments: a mean and a scatter array for each group of tuples, and metadata.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Moments, PatternMoments, Shape};
use crate::error::Result;
use crate::files::Input;
use crate::linalg::{Cholesky, Mat, trace};
use crate::tensors::{Contents, Tensor, TensorFile};

pub(crate) const KIND: &str = "moments";
pub(crate) const VERSION: u64 = 1;

/// Views and groups of the moments.
#[derive(Serialize, Deserialize)]
pub(crate) struct Metadata {
    kind: String,
    version: u64,
    views: Vec<Shape>,
    patterns: Vec<PatternMetadata>,
}

#[derive(Serialize, Deserialize)]
struct PatternMetadata {
    views: Vec<usize>,
    n: f64,
}

impl Moments {
    /// Writes a safetensors file.
    pub fn write(&self, path: &Path) -> Result<()> {
        Contents { metadata: self.metadata(), tensors: self.tensors() }.write(path)
    }

    pub(crate) fn metadata(&self) -> Metadata {
        let patterns =
            self.patterns.iter().map(|(views, moments)| PatternMetadata { views: views.clone(), n: moments.n });
        Metadata { kind: KIND.to_owned(), version: VERSION, views: self.views.clone(), patterns: patterns.collect() }
    }

    pub(crate) fn tensors(&self) -> Vec<(String, Tensor<'static>)> {
        let arrays = |(number, moments): (usize, &PatternMoments)| {
            [
                (format!("{number}.mean"), Tensor::f64s(&moments.mean)),
                (format!("{number}.scatter"), Tensor::matrix(&moments.scatter)),
            ]
        };
        self.patterns.values().enumerate().flat_map(arrays).collect()
    }

    /// Reads a file written by [`Moments::write`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_input(&Input::open(path)?)
    }

    /// [`Moments::read`] from bytes in memory.
    pub fn read_input(input: &Input) -> Result<Self> {
        let file = TensorFile::read(input)?;
        let metadata = file.metadata(KIND, VERSION)?;
        Self::from_file(&file, metadata)
    }

    /// Reads the arrays that the metadata describe.
    pub(crate) fn from_file(file: &TensorFile, metadata: Metadata) -> Result<Self> {
        for (number, view) in metadata.views.iter().enumerate() {
            if view.dim == 0 || metadata.views[..number].iter().any(|other| other.name == view.name) {
                return Err(file.error(format!("view {:?} has no dimension, or is there twice", view.name)));
            }
        }
        let mut patterns = BTreeMap::new();
        for (number, PatternMetadata { views, n }) in metadata.patterns.into_iter().enumerate() {
            let increasing = views.windows(2).all(|pair| pair[0] < pair[1]);
            if !increasing || views.is_empty() || views.last().is_some_and(|&last| last >= metadata.views.len()) {
                return Err(file.error(format!("group {number} is over views {views:?}, which do not exist")));
            }
            if !(n.is_finite() && n > 0.0) {
                return Err(file.error(format!("group {number} has a count of {n}")));
            }
            let dim = views.iter().fold(0_usize, |sum, &view| sum.saturating_add(metadata.views[view].dim));
            let mean = file.f64s(&format!("{number}.mean"), dim)?;
            let scatter = file.matrix(&format!("{number}.scatter"), dim, dim)?;
            if !is_scatter(&scatter) {
                return Err(file.error(format!("the array \"{number}.scatter\" is no sum of squares of any data")));
            }
            if patterns.insert(views, PatternMoments { n, mean, scatter }).is_some() {
                return Err(file.error(format!("group {number} is over the same views as one before")));
            }
        }
        Ok(Moments { views: metadata.views, patterns })
    }
}

/// Whether a matrix is symmetric and positive semi-definite, up to rounding.
fn is_scatter(matrix: &Mat) -> bool {
    let dim = matrix.nrows();
    let rounding = 1e-9 * trace(matrix).max(f64::MIN_POSITIVE);
    let is_symmetric = (0..dim).all(|i| (0..i).all(|j| (matrix[(i, j)] - matrix[(j, i)]).abs() <= rounding));
    let mut lifted = matrix.clone();
    (0..dim).for_each(|i| lifted[(i, i)] += rounding);
    is_symmetric && Cholesky::unchecked(&lifted, "a scatter").is_ok()
}

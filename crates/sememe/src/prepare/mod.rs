//! Preparation of words and vectors before alignment, recorded so that it can be applied to new ones.

mod casing;
mod normalizer;

use serde::{Deserialize, Serialize};

pub use self::casing::Casing;
pub use self::normalizer::{Normalizer, Step};
pub(crate) use self::normalizer::{column_means, norm, scale_to_unit};
use crate::error::{Error, Result};
use crate::tensors::{Tensor, TensorFile};
use crate::vectors::Matrix;

/// How the words and vectors of every view are prepared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preparation {
    /// The casing policy of words.
    pub casing: Casing,
    /// The normalisation steps of all views.
    pub steps: Vec<Step>,
    /// The steps as fitted on each view.
    pub normalizers: Vec<Normalizer>,
}

/// The settings of a preparation, without the fitted numbers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Policy {
    casing: Casing,
    normalize: Vec<Step>,
}

impl Preparation {
    /// The preparation of no view so far.
    pub(crate) fn new(casing: Casing, steps: &[Step]) -> Self {
        Preparation { casing, steps: steps.to_vec(), normalizers: Vec::new() }
    }

    /// Fits the steps on the rows of one more view, whose words must already follow the policy, and applies them.
    pub(crate) fn fit_apply(&mut self, rows: &mut Matrix) -> Result<()> {
        self.normalizers.push(Normalizer::fit_apply_by_pieces(&self.steps, rows)?);
        Ok(())
    }

    /// Prepares rows of a view.
    pub(crate) fn apply(&self, view: usize, mut rows: Matrix) -> Matrix {
        self.normalizers[view].apply(&mut rows);
        rows
    }

    /// Checks that both have the same casing policy and the same steps.
    pub(crate) fn check_same_policy(&self, other: &Self) -> Result<()> {
        let describe = |preparation: &Self| {
            let steps: Vec<String> = preparation.steps.iter().map(ToString::to_string).collect();
            let case = if preparation.casing == Casing::Lower { "lower-cased" } else { "case kept" };
            format!("{case}, normalized by {}", if steps.is_empty() { "nothing".to_owned() } else { steps.join(",") })
        };
        let (ours, theirs) = (describe(self), describe(other));
        match ours == theirs {
            true => Ok(()),
            false => Err(Error::argument("preparation", theirs, format!("it must be as before: {ours}"))),
        }
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy { casing: self.casing, normalize: self.steps.clone() }
    }

    /// The fitted numbers of the steps, `{view}.normalize.{step}`.
    pub(crate) fn tensors(&self) -> Vec<(String, Tensor<'static>)> {
        let of_view = |(view, normalizer): (usize, &Normalizer)| {
            let of_step = |(step, (_, learned)): (usize, &(Step, Vec<f32>))| {
                let learned: Vec<f64> = learned.iter().map(|&x| f64::from(x)).collect();
                (tensor_name(view, step), Tensor::f64s(&learned))
            };
            normalizer.parts().iter().enumerate().map(of_step).collect::<Vec<_>>()
        };
        self.normalizers.iter().enumerate().flat_map(of_view).collect()
    }

    /// Reads the preparation of views of these dimensions from a file.
    pub(crate) fn read(file: &TensorFile, policy: Policy, dims: &[usize]) -> Result<Self> {
        let Policy { casing, normalize: steps } = policy;
        let read_view = |(view, &dim): (usize, &usize)| {
            let read_step = |(at, &step): (usize, &Step)| {
                let name = tensor_name(view, at);
                let len = if step == Step::Unit { 0 } else { dim };
                let learned: Vec<f32> = file.f64s(&name, len)?.into_iter().map(|x| x as f32).collect();
                if !learned.iter().all(|&x| x.is_finite() && (x > 0.0 || step != Step::Standardize)) {
                    return Err(file.error(format!("the array {name:?} is nothing that the step {step} can learn")));
                }
                Ok((step, learned))
            };
            Ok(Normalizer::from_parts(steps.iter().enumerate().map(read_step).collect::<Result<_>>()?))
        };
        let normalizers = dims.iter().enumerate().map(read_view).collect::<Result<_>>()?;
        Ok(Preparation { casing, steps, normalizers })
    }
}

fn tensor_name(view: usize, step: usize) -> String {
    format!("{view}.normalize.{step}")
}

//! How to gather and fit, as Python says it: one dictionary each.

use pyo3::prelude::*;
use sememe::model::mbfa::{self, Solver, Start};
use sememe::model::{self, LatentSize};
use sememe::moments;
use sememe::prepare::Casing;

use crate::errors::{exception, refused};

/// What is done to words and vectors.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Gathering {
    lower: bool,
    normalize: Vec<String>,
    monolingual: Option<f64>,
}

impl Gathering {
    pub fn options(&self) -> PyResult<moments::EvidenceOptions> {
        let steps = self.normalize.iter().map(|step| step.parse());
        Ok(moments::EvidenceOptions {
            casing: if self.lower { Casing::Lower } else { Casing::Kept },
            normalize: steps.collect::<Result<_, _>>().map_err(exception)?,
            monolingual: self.monolingual,
        })
    }
}

/// How a model is fitted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Fitting {
    method: Option<String>,
    latent: Option<String>,
    shrinkage: String,
    exponent: Option<f64>,
    dewhiten: bool,
    ridge: f64,
    pivot: Option<String>,
    /// Begin at random, by this seed.
    random: Option<u64>,
    solver: String,
    iterations: usize,
    tolerance: f64,
}

impl Fitting {
    /// What the library is told.
    pub fn options(&self) -> PyResult<model::FitOptions> {
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(refused(format!("tol is {}: it must be a number from 0 to 1", self.tolerance)));
        }
        Ok(model::FitOptions::default()
            .with_method(self.method.as_deref().map(str::parse).transpose().map_err(exception)?)
            .with_latent(self.latent.as_deref().map_or(Ok(LatentSize::default()), str::parse).map_err(exception)?)
            .with_shrinkage(self.shrinkage.parse().map_err(exception)?)
            .with_exponent(self.exponent)
            .with_dewhiten(self.dewhiten)
            .with_ridge(self.ridge)
            .with_pivot(self.pivot.clone())
            .with_mbfa(
                mbfa::MbfaOptions::default()
                    .with_start(self.random.map_or(Start::Informed, Start::Random))
                    .with_solver(match self.solver.as_str() {
                        "accelerated" => Solver::Accelerated,
                        "em" => Solver::Em,
                        other => {
                            return Err(refused(format!("solver is {other:?}: it must be \"accelerated\" or \"em\"")));
                        }
                    })
                    .with_evaluations(self.iterations)
                    .with_tolerance(self.tolerance),
            ))
    }
}

//! How to gather and fit, as Python says it: one dictionary each.

use std::sync::Arc;

use pyo3::prelude::*;
use sememe::evidence;
use sememe::model::mbfa::{self, Solver, Start};
use sememe::model::{self, LatentSize};
use sememe::preparation::Casing;

use crate::errors::{exception, refused};
use crate::work::Monitor;

/// What is done to words and vectors.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Gathering {
    lower: bool,
    normalize: Vec<String>,
    monolingual: Option<f64>,
}

impl Gathering {
    pub fn options(&self) -> PyResult<evidence::Options> {
        let steps = self.normalize.iter().map(|step| step.parse());
        Ok(evidence::Options {
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
    /// What the library is told; whoever watches is told of later.
    pub fn options(&self) -> PyResult<model::Options> {
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(refused(format!("tol is {}: it must be a number from 0 to 1", self.tolerance)));
        }
        Ok(model::Options {
            method: self.method.as_deref().map(str::parse).transpose().map_err(exception)?,
            latent: self.latent.as_deref().map_or(Ok(LatentSize::default()), str::parse).map_err(exception)?,
            shrinkage: self.shrinkage.parse().map_err(exception)?,
            exponent: self.exponent,
            dewhiten: self.dewhiten,
            ridge: self.ridge,
            pivot: self.pivot.clone(),
            mbfa: mbfa::Options {
                start: self.random.map_or(Start::Informed, Start::Random),
                solver: match self.solver.as_str() {
                    "accelerated" => Solver::Accelerated,
                    "em" => Solver::Em,
                    other => {
                        return Err(refused(format!("solver is {other:?}: it must be \"accelerated\" or \"em\"")));
                    }
                },
                evaluations: self.iterations,
                tolerance: self.tolerance,
                observer: Arc::new(()),
            },
        })
    }
}

/// The same fit, watched.
pub fn watched(mut options: model::Options, monitor: &Arc<Monitor>) -> model::Options {
    monitor.expect(options.mbfa.evaluations);
    options.mbfa.observer = monitor.clone();
    options
}

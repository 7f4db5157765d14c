//! The options that say how a model is fitted.

use clap::{Args, ValueEnum};
use sememe::model::mbfa::{MbfaOptions, Solver, Start};
use sememe::model::{FitOptions, LatentSize, Method, Shrinkage};

/// How to fit a model.
#[derive(Args)]
#[command(next_help_heading = "Fitting")]
pub struct Fitting {
    /// ibfa, mbfa, cca, cca-nipals, svd or least-squares [default: ibfa for two views, mbfa for more]
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Method>,
    /// Length of the hidden vector, or auto to choose it by the data [default: the smallest dimension of a view]
    #[arg(long, value_name = "K")]
    pub latent: Option<LatentSize>,
    /// Shrink covariances: auto (by held-out translations where pairs are few), oas, none, or a number from 0 to 0.99
    #[arg(long, default_value_t = Shrinkage::default(), value_name = "HOW")]
    pub shrinkage: Shrinkage,
    /// ibfa: weight latent coordinates by this power of their correlation [default: 0.5, the posterior mean]
    #[arg(long, value_name = "POWER")]
    pub exponent: Option<f64>,
    /// ibfa, cca: undo the whitening after the rotation
    #[arg(long)]
    pub dewhiten: bool,
    /// least-squares: ridge penalty, as a fraction of the mean variance
    #[arg(long, default_value_t = FitOptions::default().ridge, value_name = "FRACTION")]
    pub ridge: f64,
    /// svd, least-squares: view that the others are mapped to [default: the second of two, the first of more]
    #[arg(long, value_name = "VIEW")]
    pub pivot: Option<String>,
    /// mbfa: where to begin; random uses --seed
    #[arg(long, value_enum, default_value = "informed", value_name = "WHERE")]
    pub init: Init,
    /// mbfa: how to iterate
    #[arg(long, value_enum, default_value = "accelerated", value_name = "HOW")]
    pub solver: SolverName,
    /// mbfa: compute at most so many likelihoods
    #[arg(long, default_value_t = MbfaOptions::default().evaluations, value_name = "N")]
    pub iterations: usize,
    /// mbfa: stop when the likelihood rises by less than this fraction three times in a row, at a stationary point
    #[arg(long, default_value_t = MbfaOptions::default().tolerance, value_name = "FRACTION", value_parser = parse_tolerance)]
    pub tolerance: f64,
}

impl Fitting {
    pub fn options(&self, seed: u64) -> FitOptions {
        FitOptions {
            method: self.method,
            latent: self.latent.unwrap_or_default(),
            shrinkage: self.shrinkage,
            exponent: self.exponent,
            dewhiten: self.dewhiten,
            ridge: self.ridge,
            pivot: self.pivot.clone(),
            mbfa: MbfaOptions {
                start: match self.init {
                    Init::Informed => Start::Informed,
                    Init::Random => Start::Random(seed),
                },
                solver: match self.solver {
                    SolverName::Accelerated => Solver::Accelerated,
                    SolverName::Em => Solver::Em,
                },
                evaluations: self.iterations,
                tolerance: self.tolerance,
            },
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Init {
    /// Browne's start for complete tuples, a chain of cross-covariances for holes
    Informed,
    /// Random loadings
    Random,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SolverName {
    /// A few steps of EM, then a quasi-Newton method
    Accelerated,
    /// Plain EM
    Em,
}

/// A fraction that a fit can get below.
pub fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(tolerance) if (0.0..1.0).contains(&tolerance) => Ok(tolerance),
        _ => Err("it must be a number from 0 to 1".to_owned()),
    }
}

//! The arguments for fitting a model.

use clap::{Args, ValueEnum};
use sememe::model::mbfa::{MbfaOptions, Solver, Start};
use sememe::model::{Exponent, FinishSteps, FitOptions, LatentSize, Method, Shrinkage, SpellingUse};
use sememe::retrieve::TunedCriterion;

/// How to fit a model.
#[derive(Args)]
#[command(next_help_heading = "Fitting")]
pub struct Fitting {
    /// ibfa, mbfa, cca, cca-nipals, svd, rcsls or least-squares [default: ibfa for two views, mbfa for more]
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Method>,
    /// Latent size: a number, auto (Bayesian information criterion) or largest (the smallest dimension of a view)
    /// [default: largest]
    #[arg(long, value_name = "K")]
    pub latent: Option<LatentSize>,
    /// Shrink covariances: auto (chosen on held-out translations, or oas where they are too few), oas, none, or a number
    /// from 0 to 0.99
    #[arg(long, default_value_t = FitOptions::default().shrinkage, value_name = "HOW")]
    pub shrinkage: Shrinkage,
    /// Discriminative finish, steps of tuning for retrieval: auto (ibfa and mbfa, chosen on held-out translations; none
    /// without shrinkage), none, or a number of steps
    #[arg(long, default_value_t = FitOptions::default().finish, value_name = "STEPS")]
    pub finish: FinishSteps,
    /// Compare words by their spelling, too: none, or auto (ibfa and mbfa, where held-out translations clearly gain; not
    /// without shrinkage)
    #[arg(long, default_value_t = FitOptions::default().spelling, value_name = "HOW")]
    pub spelling: SpellingUse,
    /// Weight latent coordinates by this power of their canonical correlation: a number (ibfa), or auto (ibfa and mbfa:
    /// chosen on held-out translations for each pair of views) [default: 0.5, the posterior mean]
    #[arg(long, value_name = "POWER")]
    pub exponent: Option<Exponent>,
    /// Choose the parameter of a criterion on held-out translations, csls:k=auto or isf:beta=auto; translate, evaluate and
    /// lexicon induce then use it unless another one is asked for
    #[arg(long, value_name = "CRITERION")]
    pub criterion: Option<TunedCriterion>,
    /// ibfa, cca: undo the whitening after the rotation
    #[arg(long)]
    pub dewhiten: bool,
    /// least-squares: ridge penalty, as a fraction of the mean variance
    #[arg(long, default_value_t = FitOptions::default().ridge, value_name = "FRACTION")]
    pub ridge: f64,
    /// svd, rcsls, least-squares: pivot, the view that the others are mapped to [default: the second of two, the first of more]
    #[arg(long, value_name = "VIEW")]
    pub pivot: Option<String>,
    /// mbfa: starting point; random uses --seed
    #[arg(long, value_enum, default_value = "informed", value_name = "WHERE")]
    pub init: Init,
    /// mbfa: algorithm
    #[arg(long, value_enum, default_value = "accelerated", value_name = "HOW")]
    pub solver: SolverName,
    /// mbfa: evaluate the likelihood at most this often (early stopping)
    #[arg(long, default_value_t = MbfaOptions::default().evaluations, value_name = "N")]
    pub iterations: usize,
    /// mbfa: convergence, when the likelihood rises by less than this fraction three times in a row, at a stationary point
    #[arg(long, default_value_t = MbfaOptions::default().tolerance, value_name = "FRACTION", value_parser = parse_tolerance)]
    pub tolerance: f64,
}

impl Fitting {
    pub fn options(&self, seed: u64) -> FitOptions {
        FitOptions::default()
            .with_method(self.method)
            .with_latent(self.latent.unwrap_or_default())
            .with_shrinkage(self.shrinkage)
            .with_finish(self.finish)
            .with_spelling(self.spelling)
            .with_exponent(self.exponent.unwrap_or_default())
            .with_dewhiten(self.dewhiten)
            .with_ridge(self.ridge)
            .with_pivot(self.pivot.clone())
            .with_mbfa(
                MbfaOptions::default()
                    .with_start(match self.init {
                        Init::Informed => Start::Informed,
                        Init::Random => Start::Random(seed),
                    })
                    .with_solver(match self.solver {
                        SolverName::Accelerated => Solver::Accelerated,
                        SolverName::Em => Solver::Em,
                    })
                    .with_evaluations(self.iterations)
                    .with_tolerance(self.tolerance),
            )
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

/// Parses a tolerance: a fraction from 0 to 1.
pub fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(tolerance) if (0.0..1.0).contains(&tolerance) => Ok(tolerance),
        _ => Err("it must be a number from 0 to 1".to_owned()),
    }
}

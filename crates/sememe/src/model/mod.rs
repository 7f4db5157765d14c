//! The fitted model: every view is a noisy linear image of one latent vector, `x_i = W_i z + mu_i + e_i`.

mod density;
mod direct;
mod exponent;
mod factors;
mod finish;
#[cfg(feature = "cuda")]
mod gpu;
pub mod ibfa;
mod latent_size;
pub mod mbfa;
pub(crate) mod new_view;
mod nipals;
mod noise;
mod projection;
mod shrinkage;
pub(crate) mod spelling;
mod used_options;
mod warning;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use self::density::{Conditional, Density, Reconstruction};
pub use self::exponent::Exponent;
pub(crate) use self::exponent::POSTERIOR_MEAN;
pub use self::factors::FactorStrengths;
pub use self::finish::{Finish, FinishSteps};
pub use self::latent_size::LatentSize;
pub use self::projection::LatentView;
pub use self::shrinkage::Shrinkage;
pub use self::spelling::{Spelling, SpellingUse};
pub use self::warning::FitWarning;
use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::moments::Moments;
use crate::names::{self, setters};
use crate::observe::Observer;

/// The method that a model is fitted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Inter-battery factor analysis: two views, closed form.
    Ibfa,
    /// Canonical correlation analysis: two views, exact.
    Cca,
    /// Canonical correlation analysis by iterated partial least squares, as scikit-learn does it.
    CcaNipals,
    /// Orthogonal Procrustes: every view is rotated into the space of a pivot (Xing et al. 2015, Smith et al. 2017).
    Svd,
    /// Relaxed CSLS: the maps of `Svd`, tuned for retrieval by gradient steps (Joulin et al. 2018). It needs rows: a fit
    /// of moments alone is that of `Svd`.
    Rcsls,
    /// Linear regression of the pivot on every other view (Mikolov et al. 2013).
    LeastSquares,
    /// Multiple-battery factor analysis: any number of views, by EM; tuples may have missing views.
    Mbfa,
}

impl Method {
    /// All methods by name.
    pub const ALL: [(&'static str, Method); 7] = [
        ("ibfa", Method::Ibfa),
        ("cca", Method::Cca),
        ("cca-nipals", Method::CcaNipals),
        ("svd", Method::Svd),
        ("rcsls", Method::Rcsls),
        ("least-squares", Method::LeastSquares),
        ("mbfa", Method::Mbfa),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        names::of(&self, &Method::ALL)
    }

    /// Whether automatic shrinkage applies to this method. The same methods have a latent size.
    pub(crate) fn shrinks(self) -> bool {
        !matches!(self, Method::Svd | Method::Rcsls | Method::LeastSquares)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("method", name, &Method::ALL)
    }
}

/// Options of [`fit`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FitOptions {
    /// The method; by default IBFA for two views and MBFA for more.
    pub method: Option<Method>,
    /// Length of the latent vector.
    pub latent: LatentSize,
    /// How the views' covariances are shrunk.
    pub shrinkage: Shrinkage,
    /// The exponent of the canonical correlations that coordinates are weighted by.
    #[serde(default)]
    pub exponent: Exponent,
    /// De-whitening: undo the whitening after the rotation, for IBFA and CCA.
    pub dewhiten: bool,
    /// Ridge term of least squares, added to the second moment of the source, as a fraction of its mean variance.
    pub ridge: f64,
    /// The view whose space the direct methods map to; by default the second of two views, the first of more.
    pub pivot: Option<String>,
    /// The discriminative finish. It needs rows: fits of moments alone have none.
    pub finish: FinishSteps,
    /// Whether words are compared by their spelling, too.
    #[serde(default)]
    pub spelling: SpellingUse,
    /// How MBFA iterates.
    pub mbfa: mbfa::MbfaOptions,
}

impl FitOptions {
    /// Defaults of the command and Python for [adding a view](crate::align::extend()): a rougher fit than one of all
    /// views.
    pub fn for_new_view() -> Self {
        let mut options = FitOptions::default();
        (options.mbfa.evaluations, options.mbfa.tolerance) = (200, 1e-6);
        options
    }

    /// The method for this number of views.
    pub fn method_for(&self, views: usize) -> Method {
        self.method.unwrap_or(if views == 2 { Method::Ibfa } else { Method::Mbfa })
    }

    /// Checks that the options suit views of these names, and returns the method. The method must take this number of
    /// views, the pivot must be one of them, and options that the method does not have are errors. [`fit`] checks the
    /// same; call this before long work.
    pub fn check_for(&self, views: &[&str]) -> Result<Method> {
        let method = self.method_for(views.len());
        let has = |methods: &[Method]| methods.contains(&method);
        if views.len() != 2 && has(&[Method::Ibfa, Method::Cca, Method::CcaNipals]) {
            return Err(not_two(views.len()));
        }
        // Options of iteration and shrinkage are checked where they were given: see `AlignOptions::check`.
        let given = [
            ("exponent", self.exponent != Exponent::PosteriorMean),
            ("dewhiten", self.dewhiten),
            ("ridge", self.ridge != 0.0),
            ("pivot", self.pivot.is_some()),
        ];
        method.check_uses(given.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)))?;
        self.exponent.check()?;
        match self {
            FitOptions { exponent: exponent @ Exponent::Of(_), .. } if method == Method::Mbfa => {
                Err(Error::argument("exponent", exponent, "mbfa takes auto alone"))
            }
            FitOptions { exponent: exponent @ Exponent::Auto, dewhiten: true, .. } => {
                Err(Error::argument("exponent", exponent, "it weights posterior means, which dewhitening changes"))
            }
            FitOptions { pivot: Some(pivot), .. } if !views.contains(&pivot.as_str()) => Err(Error::UnknownView {
                name: pivot.clone(),
                known: views.iter().map(|&view| view.to_owned()).collect(),
            }),
            _ => Ok(method),
        }
    }
}

/// Fits a model to moments. An observer that stops an iterative fit gets the best model so far.
pub fn fit(moments: &Moments, options: &FitOptions, observer: &dyn Observer) -> Result<(Model, Vec<FitWarning>)> {
    let names: Vec<&str> = moments.views().iter().map(|view| view.name.as_str()).collect();
    match options.check_for(&names)? {
        Method::Ibfa => ibfa::fit(moments, options),
        Method::Cca => ibfa::fit_cca(moments, options),
        Method::CcaNipals => nipals::fit(moments, options),
        method @ (Method::Svd | Method::Rcsls) => direct::fit_svd(moments, options, method),
        Method::LeastSquares => direct::fit_least_squares(moments, options),
        Method::Mbfa => mbfa::fit(moments, options, observer),
    }
}

/// Fits a model that only projects: without noise and likelihood, which take as long as the rest for two views.
pub(crate) fn fit_projections(moments: &Moments, options: &FitOptions) -> Result<Model> {
    match options.method_for(moments.views().len()) {
        Method::Ibfa => ibfa::fit_projections(moments, options),
        _ => Ok(fit(moments, options, &())?.0),
    }
}

fn not_two(views: usize) -> Error {
    Error::argument("number of views", views, "this method takes exactly two")
}

/// The parameters of one view.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ViewModel {
    /// Its name; may be any string.
    pub name: String,
    /// Subtracted before projecting: the mean, or zero for methods that do not centre.
    pub mu: Vec<f64>,
    /// The projection, latent x dimension: the latent vector of `x` is `projection (x - mu)`.
    pub projection: Mat,
    /// The generative parameters, for methods that have them.
    pub emission: Option<Emission>,
}

/// `x = W z + mu + e`, `e ~ N(0, Psi)`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Emission {
    /// The loadings `W`, dimension x latent.
    pub w: Mat,
    /// The noise covariance `Psi`, dimension x dimension.
    pub psi: Mat,
}

impl ViewModel {
    /// Length of this view's vectors.
    pub fn dim(&self) -> usize {
        self.mu.len()
    }

    pub(crate) fn check_dimension(&self, given: usize) -> Result<()> {
        if given == self.dim() {
            return Ok(());
        }
        let expected = format!("the model was fitted on vectors of dimension {} for view {:?}", self.dim(), self.name);
        Err(Error::argument("dimension", given, expected))
    }
}

/// A fitted model over any number of views.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Model {
    /// The method of the fit.
    pub method: Method,
    /// The views.
    pub views: Vec<ViewModel>,
    /// Number of tuples, or the sum of their weights.
    pub tuples: f64,
    /// Log-likelihood of these tuples, in nats, for methods that have one.
    pub log_likelihood: Option<f64>,
    /// Canonical correlations between two views, decreasing; empty for other methods.
    pub rho: Vec<f64>,
    /// The shrinkage of each view's covariance.
    pub shrinkage: Vec<f64>,
    /// The convergence of an iterative fit.
    pub trace: Option<mbfa::Trace>,
    /// The finishes of pairs of views.
    pub finishes: Vec<Finish>,
    /// How words are spelled, where views are compared by that, too.
    pub spelling: Option<Spelling>,
}

impl Model {
    /// Length of the latent vector.
    pub fn latent(&self) -> usize {
        self.views[0].projection.nrows()
    }

    /// Number of latent variables: the length of the latent vector without the columns of spelling.
    pub fn factors(&self) -> usize {
        self.latent() - self.spelling_columns()
    }

    /// The index of the view called `name`.
    pub fn view_index(&self, name: &str) -> Result<usize> {
        self.views.iter().position(|view| view.name == name).ok_or_else(|| Error::UnknownView {
            name: name.to_owned(),
            known: self.views.iter().map(|view| view.name.clone()).collect(),
        })
    }

    pub(crate) fn emission(&self, view: usize) -> Result<&Emission> {
        self.views[view].emission.as_ref().ok_or(Error::NoDensity { method: self.method.name() })
    }
}

setters!(FitOptions {
    /// Sets [`FitOptions::method`].
    with_method: method = Option<Method>,
    /// Sets [`FitOptions::latent`].
    with_latent: latent = LatentSize,
    /// Sets [`FitOptions::shrinkage`].
    with_shrinkage: shrinkage = Shrinkage,
    /// Sets [`FitOptions::exponent`].
    with_exponent: exponent = Exponent,
    /// Sets [`FitOptions::dewhiten`].
    with_dewhiten: dewhiten = bool,
    /// Sets [`FitOptions::ridge`].
    with_ridge: ridge = f64,
    /// Sets [`FitOptions::pivot`].
    with_pivot: pivot = Option<String>,
    /// Sets [`FitOptions::finish`].
    with_finish: finish = FinishSteps,
    /// Sets [`FitOptions::spelling`].
    with_spelling: spelling = SpellingUse,
    /// Sets [`FitOptions::mbfa`].
    with_mbfa: mbfa = mbfa::MbfaOptions,
});

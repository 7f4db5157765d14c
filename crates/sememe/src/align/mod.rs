//! The whole way from vectors and tuples to an aligned space, in one call.

mod alignment;
mod calibration;
mod extend;
mod held_out;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::alignment::{Alignment, Temperature};
use self::calibration::HeldOut;
pub use self::extend::{Extended, extend, extend_options};
pub use self::held_out::shrinkage as held_out_shrinkage;
pub(crate) use self::held_out::{log_ranks, short_fit};
use crate::error::{Error, Result};
use crate::lexicon::{TrainedPairs, Tuples};
use crate::model::mbfa::Start;
use crate::model::{self, FitOptions, FitWarning, LatentSize, LatentView, Method, Shrinkage};
use crate::moments::{Evidence, EvidenceOptions};
use crate::observe::Observer;
use crate::vectors::View;

/// How to align.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AlignOptions {
    /// What to fit to.
    pub evidence: EvidenceOptions,
    /// How to fit.
    pub fit: FitOptions,
    /// Go on where this ended, which must have been fitted to the same evidence. Serialised options leave it out.
    #[serde(skip)]
    pub resume: Option<Alignment>,
}

/// What came out.
#[derive(Debug)]
pub struct Aligned {
    /// The model and what belongs to it.
    pub alignment: Alignment,
    /// Each view's rows where they lie in the latent space; none for views whose vectors are not at hand.
    pub latent: Vec<Option<LatentView>>,
    /// What should be known about the fit.
    pub warnings: Vec<FitWarning>,
}

/// A model before any row was projected.
#[derive(Debug)]
pub struct Fitted {
    /// The model and what belongs to it.
    pub alignment: Alignment,
    /// The views, their rows as they were fitted to.
    pub prepared: Vec<View>,
    /// What should be known about the fit.
    pub warnings: Vec<FitWarning>,
}

/// Prepares the views, fits a model to the tuples and projects every row. Automatic shrinkage is chosen by what finds
/// translations that were held out, where there are few tuples; see [`Shrinkage::Auto`] for the others. Held-out
/// translations also say how sure translations are, see [`Alignment::temperature`].
pub fn align(views: Vec<View>, tuples: &Tuples, options: &AlignOptions, observer: &dyn Observer) -> Result<Aligned> {
    fit(views, tuples, options, observer)?.project()
}

impl Fitted {
    /// Projects every row.
    pub fn project(self) -> Result<Aligned> {
        let Fitted { alignment, prepared, warnings } = self;
        let project = |(view, prepared): (usize, &View)| alignment.model.latent_view(view, prepared).map(Some);
        let latent = prepared.iter().enumerate().map(project).collect::<Result<_>>()?;
        Ok(Aligned { alignment, latent, warnings })
    }
}

/// [`align`] without the last step.
pub fn fit(views: Vec<View>, tuples: &Tuples, options: &AlignOptions, observer: &dyn Observer) -> Result<Fitted> {
    fit_with(views, tuples, tuples, options, observer)
}

/// [`fit`] to tuples of which only some were given. Confidences are calibrated on the given ones alone: a model finds
/// the pairs that it induced itself too easily.
pub(crate) fn fit_with(
    views: Vec<View>,
    tuples: &Tuples,
    given: &Tuples,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let (evidence, prepared) = Evidence::gather(views, tuples, &options.evidence)?;
    let mut options = options.clone();
    if let Some(before) = &options.resume {
        check_resumable(before, &evidence, &mut options.fit)?;
    }
    if options.fit.shrinkage == Shrinkage::Auto {
        options.fit.shrinkage = held_out_shrinkage(&evidence.moments, &prepared, tuples, &options.fit)?;
    }
    let monolingual = evidence.moments.of_single_views();
    let (mut alignment, warnings) = fit_evidence(evidence, &options, observer)?;
    let names: Vec<&str> = prepared.iter().map(View::name).collect();
    alignment.trained = Some(TrainedPairs::of(given, &names, |view, row| prepared[view].label(row)));
    let held_out = HeldOut { views: &prepared, tuples, given, monolingual: &monolingual };
    alignment.temperatures = calibration::temperatures(&alignment.model, &held_out, &options.fit)?;
    Ok(Fitted { alignment, prepared, warnings })
}

/// Fits a model to evidence, whoever gathered it.
pub fn fit_evidence(
    evidence: Evidence,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<(Alignment, Vec<FitWarning>)> {
    let mut fit = options.fit.clone();
    if let Some(before) = &options.resume {
        check_resumable(before, &evidence, &mut fit)?;
        fit.mbfa.start = Start::Model(Arc::new(before.model.clone()));
    }
    let (model, warnings) = model::fit(&evidence.moments, &fit, observer)?;
    let words = vec![0; model.views.len()];
    let Evidence { preparation, sources, .. } = evidence;
    Ok((Alignment { model, preparation, sources, words, temperatures: Vec::new(), trained: None }, warnings))
}

/// A fit goes on only with what it was begun with.
fn check_resumable(before: &Alignment, evidence: &Evidence, fit: &mut FitOptions) -> Result<()> {
    let refused = |given: &str, expected: String| Err(Error::argument("resume", given, expected));
    let method = before.model.method;
    if method != Method::Mbfa {
        return refused("impossible", format!("the model was fitted by {method}, which does not iterate like mbfa"));
    }
    if *fit.method.get_or_insert(method) != method {
        return refused("impossible", format!("the model was fitted by {method}; leave the method as it was"));
    }
    if fit.latent == LatentSize::default() {
        fit.latent = LatentSize::Of(before.model.latent());
    }
    let shrinkage = &before.model.shrinkage;
    let is = |by: f64| shrinkage.iter().all(|&other| other == by);
    match fit.shrinkage {
        // The formula gives each view its own; a choice is common to all.
        Shrinkage::Auto if is(shrinkage[0]) => fit.shrinkage = Shrinkage::By(shrinkage[0]),
        Shrinkage::Auto => fit.shrinkage = Shrinkage::Oas,
        Shrinkage::Oas => {}
        Shrinkage::By(by) if is(by) => {}
        Shrinkage::None if is(0.0) => {}
        Shrinkage::By(_) | Shrinkage::None => {
            return refused("impossible", format!("covariances were shrunk by {shrinkage:?}; leave that as it was"));
        }
    }
    let mut changed = Vec::new();
    if before.preparation != evidence.preparation {
        changed.push("how vectors are prepared".to_owned());
    }
    for ((view, then), now) in before.model.views.iter().zip(&before.sources.views).zip(&evidence.sources.views) {
        if then != now {
            changed.push(format!("the vectors of view {:?}", view.name));
        }
    }
    if before.sources.views.len() != evidence.sources.views.len() {
        changed.push("the number of views".to_owned());
    }
    if before.sources.lexicon == evidence.sources.lexicon && before.model.tuples != evidence.moments.count() {
        changed.push("the weight of monolingual words".to_owned());
    }
    if before.sources.lexicon != evidence.sources.lexicon {
        changed.push("the dictionaries".to_owned());
    }
    match changed.is_empty() {
        true => Ok(()),
        false => refused("with other data", format!("{} changed since; fit from the beginning", changed.join(", "))),
    }
}

//! The pipeline from vectors and tuples to an aligned space, in one call.

mod alignment;
mod calibration;
mod comparing;
mod exponents;
mod extend;
mod extension;
mod few_entries;
mod finish;
#[cfg(feature = "cuda")]
mod finish_gpu;
mod finish_steps;
mod fitting;
mod folds;
mod held_out;
#[cfg(feature = "cuda")]
mod held_out_gpu;
mod held_out_pair;
mod known;
mod logistic;
mod options;
mod rcsls;
mod row_products;
mod span;
mod spelling;
mod spelling_weight;
mod summary;
mod tuning;

use std::sync::Arc;

pub use self::alignment::{Alignment, PairCalibration};
pub use self::extend::{Extended, extend};
pub(crate) use self::finish_steps::{USUAL_STEPS, finished};
use self::fitting::fit_prepared;
pub(crate) use self::folds::{Split, Splits};
pub use self::held_out::shrinkage as held_out_shrinkage;
pub(crate) use self::held_out::{is_clearly_positive, short_fit};
pub use self::options::{AlignOptions, Confidences};
use self::span::Spans;
pub use self::summary::{AlignSummary, AlignedView, FinishedPair, ShrinkageRule};
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::mbfa::Start;
use crate::model::{self, FitOptions, FitWarning, LatentSize, LatentView, Method, Model, Shrinkage};
use crate::moments::{Evidence, Moments};
use crate::observe::{Observer, Remembering};
use crate::vectors::View;

/// The result of [`align`](align()).
#[derive(Debug)]
#[non_exhaustive]
pub struct Aligned {
    /// The fitted model, with its preparation and sources.
    pub alignment: Alignment,
    /// The latent vectors of each view; `None` for views without vectors.
    pub latent: Vec<Option<LatentView>>,
    /// How the shrinkage of the views was chosen.
    pub shrinkage_rule: ShrinkageRule,
    /// Warnings about the fit.
    pub warnings: Vec<FitWarning>,
}

/// A fitted model whose views have not been projected yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The fitted model, with its preparation and sources.
    pub alignment: Alignment,
    /// The views with their prepared rows.
    pub prepared: Vec<View>,
    /// How the shrinkage of the views was chosen.
    pub shrinkage_rule: ShrinkageRule,
    /// Warnings about the fit.
    pub warnings: Vec<FitWarning>,
}

/// Prepares the views, fits a model to the tuples and projects every row. Automatic shrinkage is
/// chosen by held-out retrieval; see [`Shrinkage::Auto`] for the fallback. Held-out translations also calibrate
/// confidences; see [`Alignment::calibration`].
pub fn align(views: Vec<View>, tuples: &Tuples, options: &AlignOptions, observer: &dyn Observer) -> Result<Aligned> {
    fit(views, tuples, options, observer)?.project()
}

impl Fitted {
    /// Projects every row into the latent space.
    pub fn project(self) -> Result<Aligned> {
        let Fitted { alignment, prepared, shrinkage_rule, warnings } = self;
        let project = |(view, prepared): (usize, View)| alignment.model.latent_view(view, prepared).map(Some);
        let latent = prepared.into_iter().enumerate().map(project).collect::<Result<_>>()?;
        Ok(Aligned { alignment, latent, shrinkage_rule, warnings })
    }
}

/// [`align`](align()) without the projection.
pub fn fit(views: Vec<View>, tuples: &Tuples, options: &AlignOptions, observer: &dyn Observer) -> Result<Fitted> {
    options.check(&views.iter().map(View::name).collect::<Vec<_>>(), &[])?;
    fit_with(views, tuples, tuples, &Splits::of(tuples), options, observer)
}

/// [`fit`] to given and induced tuples. The splits calibrate confidences; without any there are none. Only given tuples
/// are held out in them: a model finds the pairs that it induced itself too easily.
pub(crate) fn fit_with(
    views: Vec<View>,
    tuples: &Tuples,
    given: &Tuples,
    splits: &Splits,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let observer = &Remembering::new(observer);
    let (preparation, sources, prepared) = Evidence::prepare(views, tuples, &options.evidence)?;
    let Some(spans) = Spans::of(&prepared, tuples, options)? else {
        let moments = Evidence::moments_of(&prepared, tuples, &options.evidence)?;
        let evidence = Evidence { moments, preparation, sources };
        return fit_prepared(evidence, prepared, tuples, given, splits, options, observer);
    };
    let coordinates = spans.coordinates(&prepared)?;
    let moments = Moments::of(&coordinates, tuples)?.with_outside(&spans.outside());
    let evidence = Evidence { moments: moments.clone(), preparation, sources };
    let mut fitted = fit_prepared(evidence, coordinates, tuples, given, splits, options, observer)?;
    fitted.alignment.model = spans.lifted(fitted.alignment.model, &moments);
    Ok(Fitted { prepared, ..fitted })
}

/// [`model::fit`] for prepared views: methods that need rows have them.
pub fn fit_model(
    moments: &Moments,
    views: &[View],
    tuples: &Tuples,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<(Model, Vec<FitWarning>)> {
    let (mut model, warnings) = model::fit(moments, options, observer)?;
    if model.method == Method::Rcsls {
        rcsls::tune(&mut model, views, tuples, options, observer)?;
    }
    Ok((model, warnings))
}

/// Fits a model to evidence that was gathered before, perhaps elsewhere.
pub fn fit_evidence(
    evidence: Evidence,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<(Alignment, Vec<FitWarning>)> {
    options.check_without_rows()?;
    fit_to_evidence(evidence, None, options, observer)
}

fn fit_to_evidence(
    evidence: Evidence,
    rows: Option<(&[View], &Tuples)>,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<(Alignment, Vec<FitWarning>)> {
    let names: Vec<&str> = evidence.moments.views().iter().map(|view| view.name.as_str()).collect();
    options.check(&names, &[])?;
    let mut fit = options.fit.clone();
    if let Some(before) = &options.resume {
        check_resumable(before, &evidence, &mut fit)?;
        fit.mbfa.start = Start::Model(Arc::new(before.model.clone().without_spelling()));
    }
    let (model, warnings) = match rows {
        Some((views, tuples)) => fit_model(&evidence.moments, views, tuples, &fit, observer)?,
        None => model::fit(&evidence.moments, &fit, observer)?,
    };
    let (words, file_hashes) = (vec![0; model.views.len()], vec![None; model.views.len()]);
    let Evidence { preparation, sources, .. } = evidence;
    let alignment = Alignment {
        model,
        preparation,
        sources,
        words,
        file_hashes,
        calibrations: Vec::new(),
        criterion: None,
        trained: None,
        trained_rows: None,
    };
    Ok((alignment, warnings))
}

/// [`fit_evidence`], then projects the views whose vectors are available. Views are matched by name; the others have no
/// latent vectors.
pub fn align_evidence(
    evidence: Evidence,
    mut views: Vec<View>,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<Aligned> {
    let known: Vec<String> = evidence.moments.views().iter().map(|view| view.name.clone()).collect();
    if let Some(unknown) = views.iter().find(|view| !known.iter().any(|name| name == view.name())) {
        return Err(Error::UnknownView { name: unknown.name().to_owned(), known });
    }
    let (alignment, warnings) = fit_evidence(evidence, options, observer)?;
    let mut latent = Vec::new();
    for (place, name) in known.iter().enumerate() {
        let Some(at) = views.iter().position(|view| view.name() == name) else {
            latent.push(None);
            continue;
        };
        let view = views.swap_remove(at);
        let prepared = view.map_rows(|rows| alignment.prepare(place, rows))?;
        latent.push(Some(alignment.model.latent_view(place, prepared)?));
    }
    let shrinkage_rule = match options.fit.shrinkage {
        Shrinkage::Auto => ShrinkageRule::Formula,
        _ => ShrinkageRule::Given,
    };
    Ok(Aligned { alignment, latent, shrinkage_rule, warnings })
}

/// Checks that a fit is resumed with the data and settings of the earlier one.
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
        fit.latent = LatentSize::Of(before.model.factors());
    }
    let shrinkage = &before.model.shrinkage;
    let is = |by: f64| shrinkage.iter().all(|&other| other == by);
    match fit.shrinkage {
        // Oracle approximating shrinkage differs between views; a value chosen by held-out retrieval is common to all.
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

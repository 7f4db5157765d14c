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
use self::comparing::{Spelled, Wanted, finish_and_calibrate, unless_stopped};
pub use self::extend::{Extended, extend};
pub(crate) use self::finish_steps::{USUAL_STEPS, finished};
use self::folds::{ENOUGH, Folds, projection};
pub(crate) use self::folds::{Split, splits};
use self::held_out::HeldOut;
pub use self::held_out::shrinkage as held_out_shrinkage;
pub(crate) use self::held_out::{is_clearly_positive, short_fit};
pub use self::options::{AlignOptions, Confidences};
use self::span::Spans;
use self::spelling_weight::add_spelling;
pub use self::summary::{AlignSummary, AlignedView, FinishedPair, ShrinkageRule};
use crate::error::{Error, Result};
use crate::lexicon::{TrainedPairs, TrainedRows, Tuples};
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
    fit_with(views, tuples, tuples, splits(tuples), options, observer)
}

/// [`fit`] to given and induced tuples. The splits calibrate confidences; without any there are none. Only given tuples
/// are held out in them: a model finds the pairs that it induced itself too easily.
pub(crate) fn fit_with(
    views: Vec<View>,
    tuples: &Tuples,
    given: &Tuples,
    splits: Vec<Split>,
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

/// Given entries whose retrieval tells whether a dictionary was worthless, where self-learning added pairs to them.
const TELLING: usize = 200;

/// [`fit_with`] for prepared views.
fn fit_prepared(
    evidence: Evidence,
    prepared: Vec<View>,
    tuples: &Tuples,
    given: &Tuples,
    splits: Vec<Split>,
    options: &AlignOptions,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let mut options = options.clone();
    if let Some(before) = &options.resume {
        check_resumable(before, &evidence, &mut options.fit)?;
    }
    let method = options.fit.method_for(prepared.len());
    if method.shrinks() {
        options.fit.latent.at_most(evidence.moments.views())?;
    }
    let is_learned = !std::ptr::eq(tuples, given);
    // Self-learning that was stopped early ends with a fit to what it has.
    let unless_learned = |error: Error| if is_learned && matches!(error, Error::Stopped) { Ok(()) } else { Err(error) };
    // A model of few entries alone says nothing about one that learned from them.
    let tells_chance = !is_learned || given.len() >= TELLING;
    let held_out = match HeldOut::new(&evidence.moments, (&prepared, given), &options.fit, tells_chance, observer) {
        Ok(held_out) => held_out,
        Err(error) => unless_learned(error).map(|()| HeldOut::default())?,
    };
    let mut shrinkage_rule = ShrinkageRule::Given;
    if options.fit.shrinkage == Shrinkage::Auto && method.shrinks() {
        // Few given entries choose badly for a model that is mostly of induced pairs.
        let chosen = match tells_chance {
            true => held_out.best_shrinkage(observer),
            false => held_out_shrinkage(&evidence.moments, &prepared, tuples, &options.fit, observer),
        };
        options.fit.shrinkage = chosen.or_else(|error| unless_learned(error).map(|()| Shrinkage::Auto))?;
        shrinkage_rule = ShrinkageRule::of_choice(options.fit.shrinkage);
    }
    // Much shrinkage is good for retrieval but hides correlations: the latent size is that of a fit with little.
    if (options.fit.latent, method) == (LatentSize::Auto, Method::Ibfa)
        && matches!(options.fit.shrinkage, Shrinkage::By(_))
    {
        let little = FitOptions { shrinkage: Shrinkage::Oas, ..options.fit.clone() };
        options.fit.latent = LatentSize::Of(model::fit(&evidence.moments, &little, &())?.0.latent());
    }
    let at_chance = held_out.into_at_chance();
    let monolingual = evidence.moments.of_single_views();
    let rows = Some((&prepared[..], tuples));
    let (mut alignment, mut warnings) = fit_to_evidence(evidence, rows, &options, observer)?;
    let name = |view: usize| alignment.model.views[view].name.clone();
    let at_chance = at_chance.into_iter().map(|(views, entries)| (views.map(name), entries));
    warnings.extend(at_chance.map(|(views, entries)| FitWarning::Chance { views, entries }));
    let names: Vec<&str> = prepared.iter().map(View::name).collect();
    alignment.trained = Some(TrainedPairs::of(given, &names, |view, row| prepared[view].label(row)));
    alignment.trained_rows = Some(TrainedRows::of(given));
    let model = &alignment.model;
    let folds = Folds::of_model(model, &prepared, (&splits, given), &monolingual, &options.fit, observer);
    let project = projection(model);
    let finish = options.fit.finish_for(method, model.latent());
    // Given entries are surer than induced ones, if there are any that can choose.
    let tuned = if splits.is_empty() { tuples } else { given };
    let wanted = Wanted {
        exponent: options.fit.exponent,
        finish,
        criterion: options.criterion,
        confidences: options.confidences,
    };
    // Self-learning holds few of few entries out. Fits without it are quick, and say of all entries whether spelling helps.
    let further_splits = match is_learned && splits.iter().map(|split| split.held_out.len()).sum::<usize>() < ENOUGH {
        true => folds::splits(given),
        false => Vec::new(),
    };
    let spelled = match options.fit.may_spell(method) {
        true => {
            let further = (&further_splits[..], given);
            let further = Folds::of_model(model, &prepared, further, &monolingual, &options.fit, observer);
            Some(Spelled { views: &prepared, further: unless_stopped(further.map(|further| further.fits))? })
        }
        false => None,
    };
    let compared = finish_and_calibrate(folds, model, (&project, tuned, tuples), wanted, spelled, observer)?;
    alignment.model.finishes = compared.finishes;
    if let Some((spelling, pairs)) = compared.spelling {
        add_spelling(&mut alignment.model, spelling, &pairs)?;
    }
    alignment.calibrations = compared.calibrations;
    alignment.criterion = compared.criterion;
    Ok(Fitted { alignment, prepared, shrinkage_rule, warnings })
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

//! The fit to prepared views: their shrinkage, the model, and how its views are compared.

use super::comparing::{Spelled, Started, unless_stopped};
use super::folds::{self, ENOUGH, Fold, Folds, Split, Splits, are_very_many, projection};
use super::held_out::{HeldOut, shrinkage as held_out_shrinkage};
use super::spelling_weight::{Taught, add_spelling};
use super::{AlignOptions, Alignment, Fitted, ShrinkageRule, check_resumable, fit_to_evidence};
use crate::error::{Error, Result};
use crate::lexicon::{TrainedPairs, TrainedRows, Tuples};
use crate::model::{self, FitOptions, FitWarning, LatentSize, Method, Shrinkage};
use crate::moments::Evidence;
use crate::observe::{Observer, Remembering};
use crate::threads::both_side_by_side;
use crate::vectors::View;

/// Given entries whose retrieval tells whether a dictionary was worthless, where self-learning added pairs to them.
const TELLING: usize = 200;

/// What a model is fitted to.
#[derive(Clone, Copy)]
struct Data<'a> {
    prepared: &'a [View],
    tuples: &'a Tuples,
    given: &'a Tuples,
    splits: &'a Splits,
    /// Splits whose fits only tell whether spelling helps.
    further_splits: &'a [Split],
}

/// A model, and what was begun to compare its views.
struct Begun<'a> {
    alignment: Alignment,
    shrinkage_rule: ShrinkageRule,
    warnings: Vec<FitWarning>,
    started: Option<Started<'a>>,
    further: Vec<Fold<'a>>,
}

/// [`fit_with`](super::fit_with) for prepared views.
pub(super) fn fit_prepared(
    evidence: Evidence,
    prepared: Vec<View>,
    tuples: &Tuples,
    given: &Tuples,
    splits: &Splits,
    options: &AlignOptions,
    observer: &Remembering,
) -> Result<Fitted> {
    let mut options = options.clone();
    if let Some(before) = &options.resume {
        check_resumable(before, &evidence, &mut options.fit)?;
    }
    let method = options.fit.method_for(prepared.len());
    if method.shrinks() {
        options.fit.latent.at_most(evidence.moments.views())?;
    }
    // To choose the weights of very many pairs would take longer than the fit.
    let may_spell = options.fit.may_spell(method) && !are_very_many(given.connected_views().len(), prepared.len());
    let is_learned = !std::ptr::eq(tuples, given);
    // Self-learning holds few of few entries out. Fits without it are quick, and say of all entries whether spelling helps.
    let held_out: usize = splits.choosing.iter().map(|split| split.held_out.len()).sum();
    let further_splits = if may_spell && is_learned && held_out < ENOUGH { folds::splits(given) } else { Vec::new() };
    let data = Data { prepared: &prepared, tuples, given, splits, further_splits: &further_splits };
    let (Begun { mut alignment, shrinkage_rule, warnings, started, further }, taught) = both_side_by_side(
        || data.begin(evidence, &options, observer),
        // It is learned from entries alone, and need not wait for the fit.
        || match may_spell {
            true => {
                Taught::by(splits.choosing.iter().chain(&further_splits), &prepared, &observer.stopping()).map(Some)
            }
            false => Ok(None),
        },
    )?;
    let project = projection(&alignment.model);
    // Given entries are surer than induced ones, if there are any that can choose.
    let tuned = if splits.choosing.is_empty() { tuples } else { given };
    let spelled = taught.map(|taught| Spelled { views: &prepared, further, taught });
    let choices = (options.criterion, options.confidences);
    let compared = started.map(|started| {
        started.finish_and_calibrate(&alignment.model, (&project, tuned, tuples), choices, spelled, observer)
    });
    let compared = compared.transpose()?.unwrap_or_default();
    alignment.model.finishes = compared.finishes;
    if let Some((spelling, pairs)) = compared.spelling {
        add_spelling(&mut alignment.model, spelling, &pairs)?;
    }
    alignment.calibrations = compared.calibrations;
    alignment.criterion = compared.criterion;
    Ok(Fitted { alignment, prepared, shrinkage_rule, warnings })
}

impl<'a> Data<'a> {
    /// Chooses the shrinkage, fits the model and those to the splits, and chooses the finish.
    fn begin(self, evidence: Evidence, options: &AlignOptions, observer: &Remembering) -> Result<Begun<'a>> {
        let Data { prepared, tuples, given, splits, further_splits } = self;
        let mut options = options.clone();
        let method = options.fit.method_for(prepared.len());
        let is_learned = !std::ptr::eq(tuples, given);
        // Self-learning that was stopped early ends with a fit to what it has.
        let unless_learned = |error: Error| match is_learned && matches!(error, Error::Stopped) {
            true => Ok(()),
            false => Err(error),
        };
        // A model of few entries alone says nothing about one that learned from them.
        let tells_chance = !is_learned || given.len() >= TELLING;
        let held_out = match HeldOut::new(&evidence.moments, (prepared, given), &options.fit, tells_chance, observer) {
            Ok(held_out) => held_out,
            Err(error) => unless_learned(error).map(|()| HeldOut::default())?,
        };
        let mut shrinkage_rule = ShrinkageRule::Given;
        if options.fit.shrinkage == Shrinkage::Auto && method.shrinks() {
            // Few given entries choose badly for a model that is mostly of induced pairs.
            let chosen = match tells_chance {
                true => held_out.best_shrinkage(observer),
                false => held_out_shrinkage(&evidence.moments, prepared, tuples, &options.fit, observer),
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
        let (mut alignment, mut warnings) = fit_to_evidence(evidence, Some((prepared, tuples)), &options, observer)?;
        let name = |view: usize| alignment.model.views[view].name.clone();
        let at_chance = at_chance.into_iter().map(|(views, entries)| (views.map(name), entries));
        warnings.extend(at_chance.map(|(views, entries)| FitWarning::Chance { views, entries }));
        let names: Vec<&str> = prepared.iter().map(View::name).collect();
        alignment.trained = Some(TrainedPairs::of(given, &names, |view, row| prepared[view].label(row)));
        alignment.trained_rows = Some(TrainedRows::of(given));
        let model = &alignment.model;
        let folds = |splits: &'a [Split], observer: &dyn Observer| {
            Folds::of_model(model, prepared, (splits, given), &monolingual, &options.fit, observer)
        };
        let finish = options.fit.finish_for(method, model.latent());
        let choosing = folds(&splits.choosing, observer);
        let calibrating = folds(&splits.calibrating, observer);
        let started = Started::new(choosing, calibrating, (options.fit.exponent, finish), observer)?;
        let further = folds(further_splits, observer).map(|further| further.fits);
        let further = unless_stopped(further)?;
        Ok(Begun { alignment, shrinkage_rule, warnings, started, further })
    }
}

//! How the views of a fitted model are compared, and how sure the results are: everything that is chosen by words held out of folds.

use super::exponents::weighted_by;
use super::few_entries::teaching;
use super::finish_steps::{Chosen, finish_model};
use super::folds::{Fold, Folds, Project};
use super::spelling_weight::{SpelledPair, Taught, learn_chosen, spell};
use super::{Confidences, PairCalibration};
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{Exponent, Finish, FinishSteps, Model, Spelling};
use crate::observe::{Meter, Observer, Remembering, Stage};
use crate::retrieve::{Criterion, TunedCriterion};
use crate::threads::side_by_side;
use crate::vectors::View;

/// How the views of a model are compared, and how sure the results are.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) finishes: Vec<Finish>,
    /// What words are spelled like, and the pairs that are compared by it.
    pub(super) spelling: Option<(Spelling, Vec<SpelledPair>)>,
    pub(super) criterion: Option<Criterion>,
    pub(super) calibrations: Vec<PairCalibration>,
}

/// The words of all views, which may be compared by their spelling, and fits whose held-out words help to decide it.
pub(super) struct Spelled<'a> {
    pub(super) views: &'a [View],
    pub(super) further: Vec<Fold<'a>>,
    /// What the entries of all fits teach.
    pub(super) taught: Taught<'a>,
}

/// The first choices of a comparison, by what is held out of the folds: exponents and steps of the finish.
pub(super) struct Started<'a> {
    folds: Folds<'a>,
    /// Fits to further splits, which only calibrate.
    calibrating: Vec<Fold<'a>>,
    exponents: Vec<([usize; 2], f64)>,
    chosen: Vec<Chosen>,
}

impl<'a> Started<'a> {
    /// None if the fits to the folds were stopped.
    pub(super) fn new(
        folds: Result<Folds<'a>>,
        calibrating: Result<Folds<'a>>,
        (exponent, finish): (Exponent, FinishSteps),
        observer: &dyn Observer,
    ) -> Result<Option<Self>> {
        let mut folds = match folds {
            Err(Error::Stopped) => return Ok(None),
            folds => folds?,
        };
        let calibrating = unless_stopped(calibrating.map(|calibrating| calibrating.fits))?;
        let exponents = match exponent {
            Exponent::Auto => unless_stopped(folds.choose_exponents(finish, observer))?,
            _ => Vec::new(),
        };
        let chosen = unless_stopped(folds.choose_finish(finish, observer))?;
        Ok(Some(Started { folds, calibrating, exponents, chosen }))
    }

    /// The finishes of a model, the weights of spelling and the calibrations, all by what is held out of the folds. A fit that
    /// was stopped early is kept: with the steps of the finish so far, and without confidences.
    pub(super) fn finish_and_calibrate(
        self,
        model: &Model,
        (project, tuples, all): (&Project, &Tuples, &Tuples),
        (criterion, confidences): (Option<TunedCriterion>, Confidences),
        words: Option<Spelled<'a>>,
        observer: &Remembering,
    ) -> Result<Compared> {
        let Started { mut folds, calibrating, exponents, chosen } = self;
        let weighted = if exponents.is_empty() { None } else { Some(weighted_by(model, &exponents)?) };
        let model = weighted.as_ref().unwrap_or(model);
        let spelled = match &words {
            Some(Spelled { views, further, taught }) => {
                unless_stopped(folds.choose_spelling(views, (further, taught), observer))?
            }
            None => Vec::new(),
        };
        let criterion = match criterion.map(|tuned| folds.choose_criterion(tuned, observer)) {
            Some(Err(Error::Stopped)) | None => None,
            Some(chosen) => Some(chosen?),
        };
        let views = words.as_ref().map_or(&[][..], |words| words.views);
        let choices = Choices { exponents: &exponents, finishes: &chosen, spelled: &spelled };
        if confidences == Confidences::Calibrated {
            unless_stopped(folds.add_calibrating(calibrating, &choices, views, observer))?;
        }
        let (tuned, (calibrations, spelling)) = side_by_side(
            || finish_model(model, &folds.rows, project, (tuples, all), &chosen, &observer.stopping()),
            || {
                side_by_side(
                    || match confidences {
                        Confidences::Calibrated => unless_stopped(folds.calibrations(criterion, observer)),
                        Confidences::None => Ok(Vec::new()),
                    },
                    || learn_chosen(views, &teaching(folds.given, all, |_| true), &spelled),
                )
            },
        );
        let tuned = tuned?;
        let is_tuned = |views: [usize; 2]| tuned.iter().any(|finish| finish.views == views);
        let only_weighted = exponents.iter().filter(|(views, _)| !is_tuned(*views));
        let only_weighted = only_weighted.filter_map(|(views, _)| model.finish(*views).cloned()).collect();
        let finishes = [only_weighted, tuned].concat();
        let spelling = spelling?.map(|spelling| (spelling, spelled));
        Ok(Compared { finishes, spelling, criterion, calibrations: calibrations? })
    }
}

/// What held-out words have chosen.
struct Choices<'a> {
    exponents: &'a [([usize; 2], f64)],
    finishes: &'a [Chosen],
    spelled: &'a [SpelledPair],
}

impl<'a> Folds<'a> {
    /// Adds fits whose views are compared as the others have chosen.
    fn add_calibrating(
        &mut self,
        fits: Vec<Fold<'a>>,
        choices: &Choices,
        views: &'a [View],
        observer: &dyn Observer,
    ) -> Result<()> {
        let meter = Meter::new(observer, Stage::Finishing, fits.len());
        for mut fold in fits {
            fold.model = weighted_by(&fold.model, choices.exponents)?;
            for Chosen { views, steps } in choices.finishes {
                let finish = self.finishes(&fold, *views, &[*steps], &meter)?.pop();
                finish.into_iter().for_each(|finish| fold.model.set_finish(finish));
            }
            spell(&mut fold, views, choices.spelled)?;
            self.fits.push(fold);
            meter.advance(1)?;
        }
        Ok(())
    }
}

/// What the work has, or nothing where it was stopped.
pub(super) fn unless_stopped<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Err(Error::Stopped) => Ok(T::default()),
        result => result,
    }
}

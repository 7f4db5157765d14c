//! How the views of a fitted model are compared: the finish, spelling and confidences, all by what is held out of folds.

use std::ops::ControlFlow;

use super::finish_steps::finish_model;
use super::folds::{Fold, Folds, Project, Split};
use super::spelling_weight::{SpelledPair, learn_all, learn_chosen};
use super::{Confidences, PairCalibration};
use crate::error::{Error, Result};
use crate::lexicon::Tuples;
use crate::model::{Finish, FinishSteps, Model, Spelling};
use crate::observe::{Event, Observer, Remembering};
use crate::threads::side_by_side;
use crate::vectors::View;

/// How the views of a model are compared, and how sure the results are.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) finishes: Vec<Finish>,
    /// What words are spelled like, and the pairs that are compared by it.
    pub(super) spelling: Option<(Spelling, Vec<SpelledPair>)>,
    pub(super) calibrations: Vec<PairCalibration>,
}

/// The words of all views, which may be compared by their spelling, and fits whose held-out words help to decide it.
pub(super) struct Spelled<'a> {
    pub(super) views: &'a [View],
    pub(super) further: Vec<Fold<'a>>,
}

/// The finishes of a model, the weights of spelling and the calibrations, all by what is held out of the folds. A fit that
/// was stopped early is kept: with the steps of the finish so far, and without confidences.
pub(super) fn finish_and_calibrate<'a>(
    folds: Result<Folds<'a>>,
    model: &Model,
    (project, tuples): (&Project, &Tuples),
    (finish, confidences): (FinishSteps, Confidences),
    words: Option<Spelled<'a>>,
    observer: &dyn Observer,
) -> Result<Compared> {
    let mut folds = match folds {
        Err(Error::Stopped) => return Ok(Compared::default()),
        folds => folds?,
    };
    let observer = &Remembering::new(observer);
    // What runs beside a stage tells nothing of its own progress.
    let beside = |_: Event| if observer.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    // To choose the weights of very many pairs would take longer than the fit.
    let words = words.filter(|_| !folds.are_very_many());
    let splits: Vec<&Split> = match &words {
        Some(Spelled { further, .. }) => folds.fits.iter().chain(further).map(|fold| fold.split).collect(),
        None => Vec::new(),
    };
    let (chosen, spellings) = side_by_side(
        || folds.choose_finish(finish, observer),
        || words.as_ref().map_or(Ok(Vec::new()), |words| learn_all(words.views, &splits, &beside)),
    );
    let (chosen, spellings) = (unless_stopped(chosen)?, unless_stopped(spellings)?);
    let spelled = match &words {
        Some(Spelled { views, further }) => {
            unless_stopped(folds.choose_spelling(views, (further, spellings), observer))?
        }
        None => Vec::new(),
    };
    let views = words.as_ref().map_or(&[][..], |words| words.views);
    let (finishes, (calibrations, spelling)) = side_by_side(
        || finish_model(model, &folds.rows, project, tuples, &chosen, &beside),
        || {
            side_by_side(
                || match confidences {
                    Confidences::Calibrated => unless_stopped(folds.calibrations(observer)),
                    Confidences::None => Ok(Vec::new()),
                },
                || learn_chosen(views, folds.given, &spelled),
            )
        },
    );
    let spelling = spelling?.map(|spelling| (spelling, spelled));
    Ok(Compared { finishes: finishes?, spelling, calibrations: calibrations? })
}

/// Nothing where the work was stopped.
pub(super) fn unless_stopped<T>(result: Result<Vec<T>>) -> Result<Vec<T>> {
    match result {
        Err(Error::Stopped) => Ok(Vec::new()),
        result => result,
    }
}

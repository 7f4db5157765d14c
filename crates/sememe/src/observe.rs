//! One observer for all long-running work. It is told the stage and the progress, and answers whether to continue.
//!
//! The library never prints. A program that wants progress bars, a log or a stop button implements [`Observer`].

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Serialize;

use crate::error::{Error, Result};

/// A stage of long-running work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// Reading a file; units are bytes.
    Reading,
    /// Computing statistics of every target that a criterion needs; units are targets, or a multiple of them.
    Preparing,
    /// Searching nearest neighbours; units are queries, or a multiple of them.
    Searching,
    /// Fitting a model; units are likelihood evaluations.
    Fitting,
    /// Self-learning; units are rounds, whose number is not known in advance.
    Learning,
    /// Evaluating against gold answers; units are queries.
    Evaluating,
    /// Choosing the shrinkage by held-out retrieval; units are fits, whose number is an upper bound.
    Shrinking,
    /// Tuning maps for retrieval, by the finish or by RCSLS; units are searches, then steps.
    Finishing,
    /// Mapping rows of a file to another model's space; units are rows.
    Mapping,
    /// Calibrating confidences on held-out translations; units are searches.
    Calibrating,
}

/// What an [`Observer`] receives.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// `done` of about `total` units of a stage are done.
    Progress {
        /// The stage.
        stage: Stage,
        /// Units done.
        done: u64,
        /// Units in total.
        total: u64,
    },
    /// An iterative fit accepted a step.
    Step {
        /// Likelihood evaluations so far.
        evaluations: usize,
        /// The maximum number of likelihood evaluations.
        most: usize,
        /// Negative log-likelihood per tuple, in nats.
        negative_log_likelihood: f64,
    },
    /// A round of self-learning ended.
    Round(Round),
}

impl Event {
    /// `done` of about `total` units of a stage are done.
    pub fn progress(stage: Stage, done: u64, total: u64) -> Self {
        Event::Progress { stage, done, total }
    }
}

/// The result of one round of self-learning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Round {
    /// Number of the round, from 1.
    pub number: usize,
    /// Maximum number of words of a view that take part.
    pub words: usize,
    /// Mutual nearest neighbours over all pairs of views.
    pub pairs: usize,
    /// Mean CSLS of all words with their best translations.
    pub objective: f64,
}

/// Receives the progress of long-running work and decides whether it continues.
///
/// [`ControlFlow::Break`] stops the work promptly. Iterative fitting and self-learning then return the best model so
/// far; everything else returns [`Error::Stopped`]. A closure is an observer, and `()` is one
/// that ignores all events.
///
/// ```
/// use std::ops::ControlFlow;
/// use sememe::{observe::Event, retrieve::{Criterion, Retriever}, vectors::Matrix};
///
/// let rows = Matrix::new((0..4000).map(|x| (x as f32).sin()).collect(), 4);
/// let stop = |_event: Event| ControlFlow::Break(());
/// let stopped = Retriever::new(rows.clone(), rows, Criterion::CSLS, &stop);
/// assert!(matches!(stopped, Err(sememe::Error::Stopped)));
/// ```
pub trait Observer: Send + Sync {
    /// Receives an event. May be called from several threads at once.
    fn observe(&self, event: Event) -> ControlFlow<()>;
}

impl Observer for () {
    fn observe(&self, _event: Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(Event) -> ControlFlow<()> + Send + Sync> Observer for F {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        self(event)
    }
}

/// Remembers that the observer has stopped the work: what follows is not asked for again.
pub(crate) struct Remembering<'a> {
    observer: &'a dyn Observer,
    is_stopped: AtomicBool,
}

impl<'a> Remembering<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Self {
        Remembering { observer, is_stopped: AtomicBool::new(false) }
    }

    /// Whether the observer has stopped the work.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// An observer for work beside a stage: it ends with that, and reports no progress of its own.
    pub(crate) fn stopping(&self) -> impl Observer + '_ {
        |_: Event| if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Observer for Remembering<'_> {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        if self.is_stopped() {
            return ControlFlow::Break(());
        }
        let answer = self.observer.observe(event);
        self.is_stopped.fetch_or(answer.is_break(), Ordering::Relaxed);
        answer
    }
}

/// Counts the progress of several threads in one stage, and remembers that the observer has stopped the work.
pub(crate) struct Meter<'a> {
    observer: &'a dyn Observer,
    stage: Stage,
    done: AtomicU64,
    total: u64,
    is_stopped: AtomicBool,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(observer: &'a dyn Observer, stage: Stage, total: usize) -> Self {
        Meter { observer, stage, done: AtomicU64::new(0), total: total as u64, is_stopped: AtomicBool::new(false) }
    }

    /// An observer for work inside this stage: it can stop the work, and reports no progress of its own.
    pub(crate) fn stopping(&self) -> impl Observer + '_ {
        |_: Event| self.check().map_or(ControlFlow::Break(()), ControlFlow::Continue)
    }

    /// Gives the observer a chance to stop before the next piece of work.
    pub(crate) fn check(&self) -> Result<()> {
        self.advance(0)
    }

    /// Reports that `units` more units are done.
    pub(crate) fn advance(&self, units: usize) -> Result<()> {
        let done = self.done.fetch_add(units as u64, Ordering::Relaxed) + units as u64;
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let event = Event::Progress { stage: self.stage, done, total: self.total };
        match self.observer.observe(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                self.is_stopped.store(true, Ordering::Relaxed);
                Err(Error::Stopped)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_stops_all_threads_once_the_observer_wants_no_more() {
        let stop_at_three = |event: Event| match event {
            Event::Progress { done: 3.., .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let meter = Meter::new(&stop_at_three, Stage::Searching, 10);
        assert!(meter.check().is_ok() && meter.advance(2).is_ok());
        assert!(matches!(meter.advance(1), Err(Error::Stopped)));
        assert!(matches!(meter.check(), Err(Error::Stopped)));
    }
}

//! Progress of a study, and whether it should stop.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use sememe::observe::{Event, Observer, Stage};

/// The experiments of a study. It is the observer of the work within them: whatever happens there, the observer of the study
/// is told how many experiments are done, and its answer stops all of them.
pub(crate) struct Work<'a> {
    observer: &'a dyn Observer,
    /// Number of experiments done, and of all experiments.
    progress: Mutex<(u64, u64)>,
    is_stopped: AtomicBool,
}

impl<'a> Work<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Self {
        Work { observer, progress: Mutex::new((0, 1)), is_stopped: AtomicBool::new(false) }
    }

    /// Reports that this number of all experiments is done.
    pub(crate) fn advance(&self, done: u64, total: u64) {
        *self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = (done, total);
        let _ = self.ask();
    }

    /// An error if the observer stopped the study, whatever the results of its experiments.
    pub(crate) fn check(&self) -> sememe::Result<()> {
        if self.is_stopped.load(Ordering::Relaxed) { Err(sememe::Error::Stopped) } else { Ok(()) }
    }

    fn ask(&self) -> ControlFlow<()> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let (done, total) = *self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let answer = self.observer.observe(Event::progress(Stage::Evaluating, done, total));
        if answer.is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        answer
    }
}

impl Observer for Work<'_> {
    fn observe(&self, _event: Event) -> ControlFlow<()> {
        self.ask()
    }
}

/// Reports the beginning of an experiment, so that the observer can stop before it.
pub(crate) fn begin(observer: &dyn Observer) -> sememe::Result<()> {
    match observer.observe(Event::progress(Stage::Evaluating, 0, 1)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(sememe::Error::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn whoever_stops_a_study_stops_the_work_within_it() {
        let told = AtomicUsize::new(0);
        let stop_after_one = |event: Event| {
            told.fetch_add(1, Ordering::Relaxed);
            assert!(matches!(event, Event::Progress { stage: Stage::Evaluating, total: 1 | 3, .. }));
            if matches!(event, Event::Progress { done: 1.., .. }) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let work = Work::new(&stop_after_one);
        assert!(begin(&work).is_ok() && work.check().is_ok());
        work.advance(1, 3);
        assert!(matches!(begin(&work), Err(sememe::Error::Stopped)) && work.check().is_err());
        assert_eq!(told.load(Ordering::Relaxed), 2, "nobody is asked again who wanted no more");
    }
}

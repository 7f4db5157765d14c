//! Progress on a terminal; nothing elsewhere.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sememe::align::Alignment;
use sememe::observe::{Event, Observer, Stage};
use sememe_server::Stop;

use crate::arguments::Global;
use crate::output;

/// A bar for one stage of the work, on standard error.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar in bytes or rows; hidden with `--quiet` and without a terminal.
    pub fn new(global: &Global, stage: &str) -> Arc<Self> {
        let bar = ProgressBar::no_length().with_message(output::visible(stage));
        bar.set_draw_target(draw_target(global));
        // The message has what is left of the width, so that no line is longer than the terminal.
        let template = "{wide_msg} [{bar:30}] {percent:>3} %  {elapsed}";
        let style = ProgressStyle::with_template(template).expect("a fixed template");
        bar.set_style(style.progress_chars("=> "));
        Arc::new(Bar(bar))
    }

    /// A bar for one of several long stages, with what is left after it and a clock that goes on by itself.
    pub fn of_stage(global: &Global, stage: &str, left: &str) -> Arc<Self> {
        let bar = ProgressBar::no_length().with_prefix(output::visible(stage)).with_message(output::visible(left));
        bar.set_draw_target(draw_target(global));
        let template = "{prefix} [{bar:20}] {percent:>3} %  {elapsed}  {wide_msg}";
        bar.set_style(ProgressStyle::with_template(template).expect("a fixed template").progress_chars("=> "));
        bar.enable_steady_tick(TICK);
        Arc::new(Bar(bar))
    }

    /// A bar for reading a file.
    pub fn reading(global: &Global, path: &Path) -> Arc<Self> {
        Self::new(global, &format!("reading {}", path.file_name().unwrap_or_default().display()))
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Observer for Bar {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        if let Event::Progress { done, total, .. } = event {
            self.0.set_length(total.max(1));
            self.0.set_position(done.min(total));
        }
        ControlFlow::Continue(())
    }
}

/// What Ctrl-C does: it stops an iterative fit early, which keeps its result so far, or a server, which answers what it has
/// begun; otherwise it ends the program.
#[derive(Default)]
pub struct Interruption {
    server: OnceLock<Stop>,
    is_stopping: AtomicBool,
    is_fitting: AtomicBool,
    is_requested: AtomicBool,
}

impl Interruption {
    /// True when a running fit will stop because of this request, so that the program should go on.
    pub fn stops_a_fit(&self) -> bool {
        self.is_fitting.load(Ordering::Acquire) && !self.is_requested.swap(true, Ordering::AcqRel)
    }

    /// From now on a request to end the program stops this server.
    pub fn stop_server(&self, stop: &Stop) {
        let _ = self.server.set(stop.clone());
    }

    /// True when a running server will end because of this request, and the program after it. The second request ends the
    /// program at once.
    pub fn stops_a_server(&self) -> bool {
        let Some(server) = self.server.get() else { return false };
        server.stop();
        !self.is_stopping.swap(true, Ordering::AcqRel)
    }
}

/// How often a display moves by itself.
const TICK: Duration = Duration::from_millis(200);

/// The display of an iterative fit or self-learning, which Ctrl-C stops early.
pub struct Rounds {
    spinner: ProgressBar,
    interruption: Arc<Interruption>,
    is_stopped: AtomicBool,
}

impl Rounds {
    /// Hidden with `--quiet` and without a terminal.
    pub fn new(global: &Global, interruption: &Arc<Interruption>) -> Self {
        let spinner = ProgressBar::new_spinner();
        spinner.set_draw_target(draw_target(global));
        spinner.set_style(ProgressStyle::with_template("{spinner} {msg}  {elapsed}").expect("a fixed template"));
        Rounds { spinner, interruption: interruption.clone(), is_stopped: AtomicBool::new(false) }
    }

    /// Shows that something is being done which does not say how far it is.
    pub fn waiting(global: &Global, stage: &'static str) -> Self {
        let rounds = Rounds::new(global, &Arc::default());
        rounds.stage(stage);
        rounds
    }

    /// Says what is being done, with a clock that goes on by itself.
    pub fn stage(&self, stage: &'static str) {
        self.spinner.set_message(stage);
        self.spinner.enable_steady_tick(TICK);
    }

    /// Shows the progress. From now on Ctrl-C stops the fit instead of the program.
    pub fn show(&self, message: String) -> ControlFlow<()> {
        self.interruption.is_fitting.store(true, Ordering::Release);
        self.spinner.set_message(message);
        self.spinner.tick();
        // One Ctrl-C stops one fit. The next one stops the fit after it, or the program.
        if self.interruption.is_requested.swap(false, Ordering::AcqRel) {
            self.interruption.is_fitting.store(false, Ordering::Release);
            self.is_stopped.store(true, Ordering::Release);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Removes the display.
    pub fn finish(&self) {
        self.interruption.is_fitting.store(false, Ordering::Release);
        self.spinner.finish_and_clear();
    }

    /// Says so if Ctrl-C has stopped the work early, and what the result lacks.
    pub fn warn_if_stopped(&self, global: &Global, alignment: &Alignment) {
        if self.is_stopped.load(Ordering::Acquire) {
            let lacks = if alignment.calibrations.is_empty() { ", without confidences" } else { "" };
            output::warn(global, format!("stopped early: the space has the best result so far{lacks}"));
        }
    }
}

/// Shows the progress of an iterative fit or of self-learning.
impl Observer for Rounds {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Step { evaluations, negative_log_likelihood, .. } => self.show(format!(
                "fitting: {evaluations} evaluations, log-likelihood {:.4} nats a tuple (Ctrl-C keeps the best so far)",
                -negative_log_likelihood
            )),
            Event::Round(round) => self.show(format!(
                "learning: round {}, {} pairs among {} words, mean similarity {:.4} (Ctrl-C ends it)",
                round.number,
                output::count(round.pairs),
                output::count(round.words),
                round.objective
            )),
            // How many candidates of the shrinkage are tried is not known in advance.
            Event::Progress { stage: Stage::Shrinking, .. } => {
                self.spinner.set_message("choosing the shrinkage");
                ControlFlow::Continue(())
            }
            Event::Progress { stage: Stage::Finishing, done, total } => {
                let percent = 100 * done / total.max(1);
                self.show(format!("tuning for retrieval: {percent} % (Ctrl-C keeps the best so far)"))
            }
            Event::Progress { stage: Stage::Calibrating, done, total } => {
                self.spinner.set_message(format!("calibrating confidences: {} %", 100 * done / total.max(1)));
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn draw_target(global: &Global) -> ProgressDrawTarget {
    match global.quiet || global.json || !std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    }
}

/// Prints the duration of each stage, with `--verbose`.
pub struct Stopwatch<'a> {
    global: &'a Global,
    since: Instant,
}

impl<'a> Stopwatch<'a> {
    /// Starts it.
    pub fn start(global: &'a Global) -> Self {
        Stopwatch { global, since: Instant::now() }
    }

    /// Prints the time since the previous stage ended.
    pub fn finished(&mut self, stage: &str) {
        let now = Instant::now();
        let seconds = now.duration_since(self.since).as_secs_f64();
        output::detail(self.global, || format!("{stage} took {seconds:.2} s"));
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_that_ctrl_c_stops_remembers_it() {
        let interruption = Arc::new(Interruption::default());
        let rounds =
            Rounds { spinner: ProgressBar::hidden(), interruption: interruption.clone(), is_stopped: false.into() };
        assert!(!interruption.stops_a_fit(), "none is running");
        assert!(rounds.show("a fit".to_owned()).is_continue());
        assert!(interruption.stops_a_fit() && !rounds.is_stopped.load(Ordering::Acquire));
        assert!(rounds.show("a fit".to_owned()).is_break());
        assert!(rounds.is_stopped.load(Ordering::Acquire) && !interruption.stops_a_fit());
    }
}

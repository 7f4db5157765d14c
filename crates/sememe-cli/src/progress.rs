//! Progress on a terminal; nothing elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sememe::progress::Progress;

use crate::arguments::Global;
use crate::output;

/// A bar for one stage of the work, on standard error.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar in bytes or rows; hidden when nobody would see it or asked not to.
    pub fn new(global: &Global, stage: &str) -> Arc<Self> {
        let bar = ProgressBar::no_length().with_message(output::visible(stage));
        let hidden = global.quiet || global.json || !std::io::stderr().is_terminal();
        bar.set_draw_target(if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
        let style =
            ProgressStyle::with_template("{msg:30} [{bar:30}] {percent:>3} %  {elapsed}").expect("a fixed template");
        bar.set_style(style.progress_chars("=> "));
        Arc::new(Bar(bar))
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn advance(&self, done: u64, total: u64) {
        self.0.set_length(total.max(1));
        self.0.set_position(done.min(total));
    }
}

/// Says how long each stage of the work took, to those who ask for details.
pub struct Stopwatch<'a> {
    global: &'a Global,
    since: Instant,
}

impl<'a> Stopwatch<'a> {
    /// Starts it.
    pub fn start(global: &'a Global) -> Self {
        Stopwatch { global, since: Instant::now() }
    }

    /// Tells the time since the stage before this one ended.
    pub fn finished(&mut self, stage: &str) {
        let now = Instant::now();
        let seconds = now.duration_since(self.since).as_secs_f64();
        output::detail(self.global, || format!("{stage} took {seconds:.2} s"));
        self.since = now;
    }
}

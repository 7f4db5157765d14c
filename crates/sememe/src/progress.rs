//! How long work says how far it is. The library never prints; whoever calls it decides what to show.

use std::sync::atomic::{AtomicU64, Ordering};

/// Told now and then how much of the present stage is done. Both numbers are in units of the stage (bytes, rows).
///
/// Whoever wants no more may unwind from there ([`resume_unwind`](std::panic::resume_unwind)) and catch that around the call:
/// nothing is left half-done.
pub trait Progress: Send + Sync {
    /// `done` of about `total` units are done.
    fn advance(&self, done: u64, total: u64);
}

/// Shows nothing.
impl Progress for () {
    fn advance(&self, _done: u64, _total: u64) {}
}

/// Counts what several threads do, each for itself.
pub(crate) struct Counter<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    total: u64,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(progress: &'a dyn Progress, total: usize) -> Self {
        progress.advance(0, total as u64);
        Counter { progress, done: AtomicU64::new(0), total: total as u64 }
    }

    /// A piece of the work begins: a chance to want no more of it.
    pub(crate) fn begin(&self) {
        self.add(0);
    }

    /// So much more is done.
    pub(crate) fn add(&self, more: usize) {
        let before = self.done.fetch_add(more as u64, Ordering::Relaxed);
        self.progress.advance(before + more as u64, self.total);
    }
}

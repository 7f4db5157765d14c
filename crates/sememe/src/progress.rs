//! How long work says how far it is. The library never prints; whoever calls it decides what to show.

/// Told now and then how much of the present stage is done. Both numbers are in units of the stage (bytes, rows).
pub trait Progress: Send + Sync {
    /// `done` of about `total` units are done.
    fn advance(&self, done: u64, total: u64);
}

/// Shows nothing.
impl Progress for () {
    fn advance(&self, _done: u64, _total: u64) {}
}

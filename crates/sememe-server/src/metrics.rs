//! Counters in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of durations, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Upper bounds of words in a search.
const WORDS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0];

/// What a server has done so far.
#[derive(Default)]
pub(crate) struct Metrics {
    /// By route and status.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    seconds: Mutex<Histogram<12>>,
    words: Mutex<Histogram<9>>,
    connections: AtomicU64,
    panics: AtomicU64,
    reopened: AtomicU64,
}

#[derive(Clone, Copy)]
struct Histogram<const N: usize> {
    counts: [u64; N],
    count: u64,
    sum: f64,
}

impl<const N: usize> Default for Histogram<N> {
    fn default() -> Self {
        Histogram { counts: [0; N], count: 0, sum: 0.0 }
    }
}

impl<const N: usize> Histogram<N> {
    fn add(&mut self, bounds: &[f64; N], value: f64) {
        self.count += 1;
        self.sum += value;
        for (count, bound) in self.counts.iter_mut().zip(bounds) {
            *count += u64::from(value <= *bound);
        }
    }

    fn write(&self, text: &mut String, name: &str, help: &str, bounds: &[f64; N]) {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} histogram\n");
        for (count, bound) in self.counts.iter().zip(bounds) {
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let (count, sum) = (self.count, self.sum);
        let _ = write!(text, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}\n");
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    pub(crate) fn answered(&self, route: &str, status: u16, took: Duration) {
        *locked(&self.requests).entry((route.to_owned(), status)).or_default() += 1;
        locked(&self.seconds).add(&SECONDS, took.as_secs_f64());
    }

    pub(crate) fn searched(&self, words: usize) {
        locked(&self.words).add(&WORDS, words as f64);
    }

    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reopened(&self) {
        self.reopened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn disconnected(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// All of them as text. `waiting` is the number of requests that wait for a search.
    pub(crate) fn text(&self, waiting: usize) -> String {
        let mut text = String::new();
        text += "# HELP sememe_requests_total Answered requests.\n# TYPE sememe_requests_total counter\n";
        for ((route, status), count) in &*locked(&self.requests) {
            let _ = writeln!(text, "sememe_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        let (seconds, words) = (*locked(&self.seconds), *locked(&self.words));
        seconds.write(&mut text, "sememe_request_seconds", "Time to answer a request.", &SECONDS);
        words.write(&mut text, "sememe_search_words", "Words that one search answered.", &WORDS);
        let mut value = |name: &str, kind: &str, help: &str, value: u64| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        };
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        value("sememe_waiting", "gauge", "Requests that wait for a search.", waiting as u64);
        value("sememe_connections", "gauge", "Open connections.", of(&self.connections));
        value("sememe_panics_total", "counter", "Requests that ended in a bug.", of(&self.panics));
        value("sememe_spaces_reopened_total", "counter", "Spaces that were replaced on disk.", of(&self.reopened));
        text
    }
}

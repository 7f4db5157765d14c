//! Long work runs on other threads, without the interpreter's lock, so that Python can show progress and be interrupted.

use std::any::Any;
use std::ffi::CString;
use std::mem;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sememe::device;
use sememe::observe::{Event, Observer};

use crate::errors::{exception, refused};

/// How often the waiting thread checks for signals and reports progress.
const GLANCE: Duration = Duration::from_millis(50);

/// The thread pool and the process that it belongs to. A forked process has none of its parent's threads.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The thread pool of this process. The lock is only taken while attached to the interpreter, so that no fork happens
/// meanwhile.
fn pool(_py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some((process, threads)) if *process == process::id() => Ok(threads.clone()),
        _ => {
            let threads = start_threads(0)?;
            // Dropping the pool of a parent process would wait for its threads, which do not exist here.
            mem::forget(pool.replace((process::id(), threads.clone())));
            Ok(threads)
        }
    }
}

fn start_threads(count: usize) -> PyResult<Arc<ThreadPool>> {
    let failed = |error| PyRuntimeError::new_err(format!("cannot start threads: {error}"));
    Ok(Arc::new(ThreadPoolBuilder::new().num_threads(count).build().map_err(failed)?))
}

/// Sets the number of threads; None means all cores.
#[pyfunction]
#[pyo3(signature = (count=None))]
pub fn set_threads(_py: Python<'_>, count: Option<usize>) -> PyResult<()> {
    if count == Some(0) {
        return Err(refused("there must be at least one thread"));
    }
    let threads = start_threads(count.unwrap_or(0))?;
    let before = POOL.lock().unwrap_or_else(PoisonError::into_inner).replace((process::id(), threads));
    if before.as_ref().is_some_and(|(process, _)| *process != process::id()) {
        mem::forget(before);
    }
    Ok(())
}

/// The number of threads.
#[pyfunction]
pub fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(pool(py)?.current_num_threads())
}

/// The observer of the working threads: their progress, and whether they should stop.
#[derive(Default)]
pub struct Monitor {
    done: AtomicU64,
    total: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Monitor {
    fn note(&self, done: u64, total: u64) {
        self.done.store(done, Relaxed);
        self.total.store(total, Relaxed);
    }
}

impl Observer for Monitor {
    fn observe(&self, event: Event) -> ControlFlow<()> {
        if self.is_cancelled.load(Relaxed) {
            return ControlFlow::Break(());
        }
        match event {
            Event::Progress { done, total, .. } => self.note(done, total),
            Event::Step { evaluations, most, .. } => self.note(evaluations as u64, most as u64),
            // The number of rounds is not known in advance.
            Event::Round(round) => self.note(round.number as u64, 0),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Runs work on the thread pool. Meanwhile this thread checks for Ctrl-C and reports to `progress`. When interrupted, it
/// returns at once. The work then stops at its next report, and its result is dropped.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<Monitor>) -> sememe::Result<T> + Send + 'static,
) -> PyResult<T> {
    let monitor = Arc::new(Monitor::default());
    let (sender, mut receiver) = channel();
    let watched = monitor.clone();
    pool(py)?.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&watched)));
        // After an interruption the receiver is gone.
        let _ = sender.send(result);
    });
    let mut told = None;
    let mut report = |py: Python<'_>, is_over: bool| {
        let Some(progress) = &progress else { return Ok(()) };
        let (done, total) = (monitor.done.load(Relaxed), monitor.total.load(Relaxed));
        // The total is zero if the number of rounds is not known in advance.
        let mut state = (if total > 0 { done.min(total) } else { done }, total);
        // Work that was prepared before has nothing to report; callers hear of its end all the same.
        if is_over && state == (0, 0) {
            state = (1, 1);
        }
        if state != (0, 0) && told.replace(state) != Some(state) {
            progress.call1(py, state)?;
        }
        Ok::<(), PyErr>(())
    };
    loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(GLANCE);
            (receiver, received)
        });
        match received {
            Ok(Ok(result)) => {
                let result = result.map_err(exception)?;
                if let Some(reason) = device::fallback() {
                    let reason = CString::new(reason).unwrap_or_default();
                    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &reason, 1)?;
                }
                report(py, true)?;
                return Ok(result);
            }
            Ok(Err(panic)) => return Err(PyRuntimeError::new_err(broken(&*panic))),
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err(broken(&()))),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interruption) = py.check_signals().and_then(|()| report(py, false)) {
                    monitor.is_cancelled.store(true, Relaxed);
                    return Err(interruption);
                }
            }
        }
    }
}

/// Runs short work on the thread pool, without the interpreter's lock.
pub fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(py)?;
    Ok(py.detach(|| pool.install(work)))
}

/// The message for a bug in sememe.
fn broken(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a mistake in sememe, please report it: {}", said.unwrap_or("no more is known"))
}

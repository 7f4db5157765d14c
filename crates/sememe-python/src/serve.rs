//! A server of spaces, in threads of its own.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use sememe_server::{Error, Options, Stop};

use crate::errors::{exception, refused};

/// A running server, which ends when it is dropped.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Server {
    url: String,
    stop: Stop,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[pymethods]
impl Server {
    /// Serves spaces, each under its name.
    #[staticmethod]
    #[pyo3(signature = (spaces, bind, port, token, insecure, max_batch, timeout))]
    #[expect(clippy::too_many_arguments, reason = "the Python side gives all of them")]
    fn start(
        py: Python<'_>,
        spaces: Vec<(String, PathBuf)>,
        bind: &str,
        port: u16,
        token: Option<String>,
        insecure: bool,
        max_batch: usize,
        timeout: f64,
    ) -> PyResult<Self> {
        let mut options = Options::default();
        options.bind = bind.parse().map_err(|_| refused(format!("bind is {bind:?}: it must be an IP address")))?;
        options.port = port;
        options.token = token;
        options.insecure = insecure;
        options.max_batch = max_batch;
        options.timeout = Duration::try_from_secs_f64(timeout)
            .map_err(|_| refused(format!("timeout is {timeout}: it must be a number of seconds above 0")))?;
        options.framed = true;
        let server = py.detach(|| sememe_server::Server::open(spaces, options, |_| {})).map_err(of_server)?;
        let (url, stop) = (server.url(), Stop::default());
        let stopped = stop.clone();
        let run = move || {
            // It fails only if the listener cannot be watched; then nothing answers.
            let _ = server.run(&stopped);
        };
        let thread = thread::Builder::new().name("sememe serve".to_owned()).spawn(run).map_err(no_thread)?;
        Ok(Server { url, stop, thread: Mutex::new(Some(thread)) })
    }

    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Whether it still answers.
    #[getter]
    fn is_running(&self) -> bool {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Lets it answer what it has begun, and waits for its end.
    fn stop(&self, py: Python<'_>) {
        self.stop.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| thread.map(JoinHandle::join));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn no_thread(error: io::Error) -> PyErr {
    PyOSError::new_err(format!("no thread can be started: {error}"))
}

fn of_server(error: Error) -> PyErr {
    match error {
        Error::Space(error) => exception(error),
        Error::Options(message) => refused(message.replace("--", "").replace("max-batch", "max_batch")),
        Error::Bind { address, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, format!("cannot listen at {address}: {source}"))),
            None => PyOSError::new_err(format!("cannot listen at {address}: {source}")),
        },
        error => PyOSError::new_err(error.to_string()),
    }
}

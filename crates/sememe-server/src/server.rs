//! The server as a whole: opened, run, stopped.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::app::App;
use crate::error::{Error, Result};
use crate::event::{Event, Log};
use crate::http::{router, serve};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::passes::Passes;
use crate::served::Served;
use crate::upkeep;

/// Threads that talk to clients: what they do is little beside the searches.
const TALKING: usize = 2;
/// How long computations that nobody waits for may still run at the end.
const LEFT_OVER: Duration = Duration::from_millis(200);

/// A server that listens, and answers when it is [run](Server::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
    app: Arc<App>,
}

/// Stops a server, from any thread. Clones stop the same one.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Stop(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Lets the server answer what it has begun, and end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Opens spaces, each under a name, and listens. Whatever happens is told to `log`, from several threads at once.
    pub fn open(
        spaces: Vec<(String, PathBuf)>,
        options: Options,
        log: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Self> {
        options.check()?;
        if spaces.is_empty() {
            return Err(Error::Options("name at least one space to serve".to_owned()));
        }
        for (at, (name, _)) in spaces.iter().enumerate() {
            if spaces[..at].iter().any(|(other, _)| other == name) {
                let problem = format!("two spaces are called {name:?}; name them apart: NAME=SPACE");
                return Err(Error::Options(problem));
            }
        }
        let open = |(name, path): &(String, PathBuf)| Served::open(name, path);
        let served = spaces.par_iter().map(open).collect::<Result<Vec<_>>>()?;
        let address = SocketAddr::new(options.bind, options.port);
        let bound = |source| Error::Bind { address, source };
        let listener = TcpListener::bind(address).map_err(bound)?;
        listener.set_nonblocking(true).map_err(bound)?;
        let address = listener.local_addr().map_err(bound)?;
        let metrics = Arc::new(Metrics::default());
        let passes = Passes::start(options.workers, options.max_batch, metrics.clone()).map_err(Error::Threads)?;
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(TALKING).thread_name("http").enable_all().build();
        let log: Log = Box::new(log);
        let app = Arc::new(App::new(options, served, passes, metrics, log));
        Ok(Server { listener, address, runtime: runtime.map_err(Error::Threads)?, app })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page, with the token if it needs one.
    pub fn url(&self) -> String {
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => "localhost".to_owned(),
            ip => SocketAddr::new(ip, 0).to_string().trim_end_matches(":0").to_owned(),
        };
        let token = self.app.options.token.as_ref().map_or(String::new(), |token| format!("#token={token}"));
        format!("http://{host}:{}/{token}", self.address.port())
    }

    /// Answers until it is stopped, and then what was begun.
    pub fn run(self, stop: &Stop) -> Result<()> {
        let Server { listener, runtime, app, .. } = self;
        let stopped = stop.0.subscribe();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::Threads)?;
            upkeep::start(&app);
            serve(listener, router(&app), app.clone(), stopped).await;
            app.end();
            Ok::<(), Error>(())
        })?;
        runtime.shutdown_timeout(LEFT_OVER);
        Ok(())
    }
}

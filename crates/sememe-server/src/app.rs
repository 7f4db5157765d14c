//! What all requests share: the spaces, the searches, the counters.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sememe::observe::{Event, Observer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::event::{self, Log};
use crate::http::Problem;
use crate::metrics::Metrics;
use crate::opened::Opened;
use crate::options::Options;
use crate::passes::Passes;
use crate::served::Served;

/// Requests beside the searches of [`Passes`] that compute at the same time, and those of them that take long.
const QUICK: usize = 4;
const SLOW: usize = 2;
/// Pairs of views that are prepared at the same time: one that the server would prepare anyway, and one that is asked for.
const PREPARED: usize = 2;

pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) spaces: Vec<Served>,
    pub(crate) passes: Passes,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
    quick: Semaphore,
    slow: Semaphore,
    preparing: Arc<Semaphore>,
    /// Whether the server ends, and nothing long is to go on.
    has_ended: AtomicBool,
}

/// How much a computation takes, which decides with what it competes.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// A few passes over the words of some views.
    Quick,
    /// Words of a whole view are compared with others.
    Slow,
}

impl App {
    pub(crate) fn new(options: Options, spaces: Vec<Served>, passes: Passes, metrics: Arc<Metrics>, log: Log) -> Self {
        let (quick, slow, preparing) =
            (Semaphore::new(QUICK), Semaphore::new(SLOW), Arc::new(Semaphore::new(PREPARED)));
        App { options, spaces, passes, metrics, log, quick, slow, preparing, has_ended: AtomicBool::new(false) }
    }

    /// Stops what the server does by itself.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    pub(crate) fn notice(&self, message: impl Into<String>) {
        (self.log)(event::Event::notice(message));
    }

    /// The space of a name; without a name the only one.
    pub(crate) fn space(&self, name: Option<&str>) -> Result<Arc<Opened>, Problem> {
        let names = || self.spaces.iter().map(|space| format!("{:?}", space.name)).collect::<Vec<_>>().join(", ");
        match (name, &self.spaces[..]) {
            (None, [only]) => Ok(only.current()),
            (None, _) => {
                Err(Problem::bad("no_space", format!("several spaces are served: name one by \"space\": {}", names())))
            }
            (Some(name), spaces) => match spaces.iter().find(|space| space.name == name) {
                Some(space) => Ok(space.current()),
                None => {
                    let message = format!("there is no space named {:?}; there are {}", shortened(name), names());
                    Err(Problem::not_found("unknown_space", message))
                }
            },
        }
    }

    /// When a request that begins now is given up.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.options.timeout
    }

    /// Waits until another pair of views may be prepared.
    pub(crate) async fn permit_to_prepare(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.preparing.clone().acquire_owned().await.map_err(|_| Problem::bug())
    }

    /// What a request is told whose time is up.
    pub(crate) fn out_of_time(&self) -> Problem {
        match self.preparing.available_permits() < PREPARED {
            true => Problem::preparing(),
            false => Problem::too_long(),
        }
    }

    /// Computes something outside of the threads that talk to clients. It is stopped at the deadline, and when nobody
    /// waits for it any more.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        effort: Effort,
        work: impl FnOnce(&dyn Observer) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let lane = match effort {
            Effort::Quick => &self.quick,
            Effort::Slow => &self.slow,
        };
        let deadline = self.deadline();
        let _permit = lane.acquire().await.map_err(|_| Problem::bug())?;
        let abandoned = Abandoned::default();
        let flag = abandoned.0.clone();
        let computed = spawn_blocking(move || {
            let observer = |_: Event| match flag.load(Ordering::Relaxed) || Instant::now() > deadline {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            work(&observer)
        });
        computed.await.unwrap_or_else(|_| Err(Problem::bug()))
    }
}

/// Says, when it is dropped, that nobody waits for a result.
#[derive(Default)]
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The beginning of something that a client sent, for messages.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.chars().count() > MOST {
        true => text.chars().take(MOST).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    #[test]
    fn whose_time_is_up_is_told_whether_to_ask_again() {
        let metrics = Arc::new(Metrics::default());
        let passes = Passes::start(1, 1, metrics.clone()).unwrap();
        let app = App::new(Options::default(), Vec::new(), passes, metrics, Box::new(|_| {}));
        let status = || app.out_of_time().into_response().status().as_u16();
        assert_eq!(status(), 422);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let permit = runtime.block_on(app.permit_to_prepare()).unwrap();
        assert_eq!(status(), 429);
        drop(permit);
        assert_eq!(status(), 422);
    }
}

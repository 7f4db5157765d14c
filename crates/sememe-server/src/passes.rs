//! Micro-batching: requests of one kind that wait at the same time are answered by one search.
//!
//! A search reads all targets, whatever the number of queries. So nobody waits for company: a worker takes the oldest
//! request and all others of its kind, and while it searches, the next ones gather. An answer does not depend on the
//! company that it was found in.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{io, thread};

use sememe::observe::Event;
use sememe::retrieve::{Hit, Retriever};
use sememe::translate::{Question, Translations, Translator};
use sememe::vectors::Matrix;
use tokio::sync::oneshot;

use crate::http::Problem;
use crate::metrics::Metrics;

/// Requests that may wait; more are turned away.
const MOST_WAITING: usize = 8192;

/// What can be searched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The number of the opened space.
    pub(crate) space: u64,
    pub(crate) from: usize,
    pub(crate) to: Vec<usize>,
    pub(crate) criterion: String,
    /// How many targets are looked for.
    pub(crate) k: usize,
}

/// A request.
pub(crate) enum Work {
    Translate { translator: Arc<Translator>, question: Question },
    Nearest { retriever: Retriever, queries: Matrix, k: usize },
}

/// Its answer.
pub(crate) enum Found {
    Translations(Translations),
    Hits(Vec<Vec<Hit>>),
}

struct Job {
    kind: Kind,
    work: Work,
    deadline: Instant,
    reply: oneshot::Sender<Result<Found, Problem>>,
}

impl Job {
    fn words(&self) -> usize {
        match &self.work {
            Work::Translate { question, .. } => question.len(),
            Work::Nearest { queries, .. } => queries.rows(),
        }
    }

    fn is_of(&self, other: &Kind, other_work: &Work) -> bool {
        std::mem::discriminant(&self.work) == std::mem::discriminant(other_work) && self.kind == *other
    }
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    is_closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    arrived: Condvar,
    max_words: usize,
    metrics: Arc<Metrics>,
}

/// The queue of requests and the threads that answer them.
pub(crate) struct Passes {
    shared: Arc<Shared>,
}

impl Passes {
    pub(crate) fn start(workers: usize, max_words: usize, metrics: Arc<Metrics>) -> io::Result<Self> {
        let shared = Arc::new(Shared { queue: Mutex::default(), arrived: Condvar::new(), max_words, metrics });
        let passes = Passes { shared };
        for number in 0..workers {
            let shared = passes.shared.clone();
            thread::Builder::new().name(format!("search {number}")).spawn(move || shared.work())?;
        }
        Ok(passes)
    }

    /// Number of requests that wait for a search.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.queue().jobs.len()
    }

    /// Waits for the answer to a request.
    pub(crate) async fn answer(&self, kind: Kind, work: Work, deadline: Instant) -> Result<Found, Problem> {
        let (reply, answer) = oneshot::channel();
        {
            let mut queue = self.shared.queue();
            if queue.jobs.len() >= MOST_WAITING {
                return Err(Problem::busy());
            }
            queue.jobs.push_back(Job { kind, work, deadline, reply });
        }
        self.shared.arrived.notify_one();
        answer.await.unwrap_or_else(|_| Err(Problem::bug()))
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        self.shared.queue().is_closed = true;
        self.shared.arrived.notify_all();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(jobs) = self.take() {
            let jobs: Vec<Job> = jobs.into_iter().filter(|job| !job.reply.is_closed()).collect();
            if jobs.is_empty() {
                continue;
            }
            self.metrics.searched(jobs.iter().map(Job::words).sum());
            // A panic is a bug: those who asked are told so, and others are answered as before.
            let _ = catch_unwind(AssertUnwindSafe(|| search(jobs))).inspect_err(|_| self.metrics.panicked());
        }
    }

    /// The oldest request, and others of its kind; `None` when the server ends.
    fn take(&self) -> Option<Vec<Job>> {
        let mut queue = self.queue();
        loop {
            if let Some(first) = queue.jobs.pop_front() {
                let mut words = first.words();
                let mut jobs = vec![first];
                let mut others = VecDeque::with_capacity(queue.jobs.len());
                for job in queue.jobs.drain(..) {
                    let fits = words + job.words() <= self.max_words;
                    if fits && job.is_of(&jobs[0].kind, &jobs[0].work) {
                        words += job.words();
                        jobs.push(job);
                    } else {
                        others.push_back(job);
                    }
                }
                queue.jobs = others;
                if !queue.jobs.is_empty() {
                    self.arrived.notify_one();
                }
                return Some(jobs);
            }
            if queue.is_closed {
                return None;
            }
            queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Answers requests of one kind by one search.
fn search(jobs: Vec<Job>) {
    let latest = jobs.iter().map(|job| job.deadline).max().unwrap_or_else(Instant::now);
    let mut replies = Vec::with_capacity(jobs.len());
    let (mut questions, mut rows, mut queries) = (Vec::new(), Vec::new(), Vec::new());
    let mut by = None;
    for Job { work, reply, .. } in jobs {
        replies.push(reply);
        match work {
            Work::Translate { translator, question } => {
                questions.push(question);
                by.get_or_insert(By::Translator(translator));
            }
            Work::Nearest { retriever, queries: asked, k } => {
                rows.push(asked.rows());
                queries.extend_from_slice(asked.as_slice());
                by.get_or_insert(By::Retriever { retriever, k, dim: asked.cols() });
            }
        }
    }
    let observer = |_: Event| match Instant::now() > latest || replies.iter().all(oneshot::Sender::is_closed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let found: sememe::Result<Vec<Found>> = match by {
        None => return,
        Some(By::Translator(translator)) => {
            let answers = translator.answer(&questions, &observer);
            answers.map(|answers| answers.into_iter().map(Found::Translations).collect())
        }
        Some(By::Retriever { retriever, k, dim }) => {
            retriever.nearest(&Matrix::new(queries, dim), k, &observer).map(|hits| {
                let mut hits = hits.into_iter();
                rows.iter().map(|&rows| Found::Hits(hits.by_ref().take(rows).collect())).collect()
            })
        }
    };
    // Who does not wait any more is not told.
    match found {
        Ok(found) => replies.into_iter().zip(found).for_each(|(reply, found)| drop(reply.send(Ok(found)))),
        Err(error) => {
            let problem = Problem::of(&error);
            replies.into_iter().for_each(|reply| drop(reply.send(Err(problem.clone()))));
        }
    }
}

/// What answers the requests of one kind.
enum By {
    Translator(Arc<Translator>),
    Retriever { retriever: Retriever, k: usize, dim: usize },
}

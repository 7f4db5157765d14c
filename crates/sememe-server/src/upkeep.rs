//! What a server does by itself: it prepares what most will ask for, watches for spaces that are replaced, and lays out maps.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sememe::observe::{Event, Observer};
use sememe::retrieve::Criterion;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::app::App;
use crate::http::Problem;
use crate::map::Layout;
use crate::opened::Opened;

/// How often spaces are looked at.
const GLANCE: Duration = Duration::from_millis(500);
/// By how much the layout of a map steps back: beside a busy thread it gets about a tenth of a core (`man 7 sched`).
#[cfg(target_os = "linux")]
const LATER: i32 = 10;
/// More words than the library searches for without preparations.
const MANY: usize = 32;

pub(crate) fn start(app: &Arc<App>) {
    for place in 0..app.spaces.len() {
        tokio::spawn(keep(app.clone(), place));
    }
}

/// Prepares a space, and opens it anew when it is replaced.
async fn keep(app: Arc<App>, place: usize) {
    let served = &app.spaces[place];
    let mut known = served.stamp();
    prepare(&app, place, served.current()).await;
    loop {
        sleep(GLANCE).await;
        let stamp = served.stamp();
        if stamp == known || !stamp.is_there() {
            continue;
        }
        let (name, path) = (served.name.clone(), served.path.clone());
        let opened = spawn_blocking(move || Opened::open(&name, &path)).await;
        // While it is being written, it cannot be opened: it is looked at again.
        let Ok(Ok(opened)) = opened else { continue };
        let opened = Arc::new(opened);
        if opened.space.fingerprint() != served.current().space.fingerprint() {
            prepare_pairs(&app, &opened).await;
            served.replace(opened.clone());
            app.metrics.reopened();
            app.notice(format!("the space {} was replaced on disk and is opened anew", served.name));
            prepare(&app, place, opened).await;
        }
        known = stamp;
    }
}

/// What most requests ask by, and what is prepared without being asked for.
const USUAL: [Criterion; 2] = [Criterion::CSLS, Criterion::Nn];

/// Prepares a retriever. Its first search of many words prepares what those of few then use.
fn warm_up(
    opened: &Opened,
    from: usize,
    to: usize,
    criterion: Criterion,
    observer: &dyn Observer,
) -> Result<(), Problem> {
    let retriever = opened.retriever(from, to, criterion, observer)?;
    let words = opened.views[from].embeddings()?.matrix();
    let some: Vec<usize> = (0..words.rows().min(MANY)).collect();
    retriever.rank(&words.select(&some), 1, observer).map(|_| ()).map_err(|error| Problem::of(&error))
}

/// Lays the words out by their neighbours, at a priority that nobody notices.
fn lay_out(app: &Arc<App>, place: usize, opened: Arc<Opened>) {
    let app = app.clone();
    let work = move || {
        let is_over = || app.has_ended() || app.spaces[place].current().number != opened.number;
        let go_on = |_: Event| if is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let pool =
            rayon::ThreadPoolBuilder::new().thread_name(|_| "map".to_owned()).start_handler(|_| step_back()).build();
        let done = pool.map(|pool| pool.install(|| opened.layouts.compute(&opened, &go_on)));
        match done {
            Ok(Ok(kept)) => {
                let again = if kept {
                    ""
                } else {
                    "; its folder cannot be written to, so that the next start lays it out again"
                };
                app.notice(format!("the map of {} is laid out{again}", opened.name));
            }
            _ if is_over() => {}
            _ => app.notice(format!("the map of {} could not be laid out by neighbours", opened.name)),
        }
    };
    // Without a thread there is no such layout, and that of principal components all the same.
    let _ = thread::Builder::new().name("map".to_owned()).spawn(work);
}

/// Lets other threads of this machine go first. At the lowest priority of all, a busy machine would never lay out a map.
fn step_back() {
    #[cfg(target_os = "linux")]
    // SAFETY: both calls are about the calling thread alone; if its priority cannot be changed, nothing changes.
    unsafe {
        let own = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, own + LATER);
    }
}

/// Prepares what most will ask for, so that the first of them need not wait.
async fn prepare(app: &Arc<App>, place: usize, opened: Arc<Opened>) {
    let words = opened.clone();
    let _ = spawn_blocking(move || words.views.iter().for_each(|view| drop(view.completions().map(|_| ())))).await;
    prepare_pairs(app, &opened).await;
    if app.options.layouts && opened.layouts.ready(Layout::Tsne).is_none() {
        lay_out(app, place, opened);
    }
}

/// Prepares retrieval by the usual criteria between all views.
async fn prepare_pairs(app: &Arc<App>, opened: &Arc<Opened>) {
    for from in 0..opened.views.len() {
        for to in opened.others(from) {
            if opened.views[from].len() == 0 {
                continue;
            }
            if prepare_pair(app, opened, from, to).await.is_err() && !app.has_ended() {
                let pair = [from, to].map(|view| opened.views[view].name.as_str()).join(" to ");
                app.notice(format!("retrieval from {pair} in {} could not be prepared", opened.name));
            }
        }
    }
}

/// Whether a criterion is prepared from one view to another without being asked for.
pub(crate) fn is_usual(from: usize, to: usize, criterion: Criterion) -> bool {
    from != to && USUAL.contains(&criterion)
}

/// Prepares retrieval by the usual criteria between two views, if nobody did. It goes on when nobody waits for it any more:
/// a request may have less time than it takes, and the next one is to find it done.
pub(crate) async fn prepare_pair(app: &Arc<App>, opened: &Arc<Opened>, from: usize, to: usize) -> Result<(), Problem> {
    let turn = opened.turn(from, to).await;
    if USUAL.into_iter().all(|criterion| opened.is_prepared(from, to, criterion)) {
        return Ok(());
    }
    let permit = app.permit_to_prepare().await?;
    let (app, opened) = (app.clone(), opened.clone());
    let prepared = spawn_blocking(move || {
        let _held = (turn, permit);
        let go_on = |_: Event| if app.has_ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        USUAL.into_iter().try_for_each(|criterion| warm_up(&opened, from, to, criterion, &go_on))
    });
    prepared.await.unwrap_or_else(|_| Err(Problem::bug()))
}

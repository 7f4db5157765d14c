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
            Ok(Ok(())) => app.notice(format!("the map of {} is laid out", opened.name)),
            _ if is_over() => {}
            _ => app.notice(format!("the map of {} could not be laid out by neighbours", opened.name)),
        }
    };
    // Without a thread there is no such layout, and that of principal components all the same.
    let _ = thread::Builder::new().name("map".to_owned()).spawn(work);
}

/// Lets other threads of this machine go first.
fn step_back() {
    #[cfg(target_os = "linux")]
    // SAFETY: it changes the priority of the calling thread alone; if it cannot, nothing changes.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 19);
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
            let _turn = opened.turn(from, to).await;
            let work = opened.clone();
            let ending = app.clone();
            let prepared = spawn_blocking(move || {
                let go_on =
                    |_: Event| if ending.has_ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
                [Criterion::CSLS, Criterion::Nn].map(|criterion| warm_up(&work, from, to, criterion, &go_on))
            });
            if !matches!(prepared.await, Ok([Ok(()), Ok(())])) && !app.has_ended() {
                let pair = [from, to].map(|view| opened.views[view].name.as_str()).join(" to ");
                app.notice(format!("retrieval from {pair} in {} could not be prepared", opened.name));
            }
        }
    }
}

//! What a server does by itself: it prepares what most will ask for, watches for spaces that are replaced, and lays out maps.

use std::sync::Arc;
use std::time::Duration;

use sememe::retrieve::Criterion;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::app::App;
use crate::opened::Opened;

/// How often spaces are looked at.
const GLANCE: Duration = Duration::from_millis(500);

pub(crate) fn start(app: &Arc<App>) {
    for place in 0..app.spaces.len() {
        tokio::spawn(keep(app.clone(), place));
    }
}

/// Prepares a space, and opens it anew when it is replaced.
async fn keep(app: Arc<App>, place: usize) {
    let served = &app.spaces[place];
    let mut known = served.stamp();
    prepare(&app, served.current()).await;
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
            prepare(&app, opened).await;
        }
        known = stamp;
    }
}

/// Prepares what most will ask for, so that the first of them need not wait.
async fn prepare(app: &Arc<App>, opened: Arc<Opened>) {
    let words = opened.clone();
    let _ = spawn_blocking(move || words.views.iter().for_each(|view| drop(view.completions().map(|_| ())))).await;
    prepare_pairs(app, &opened).await;
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
            let prepared = spawn_blocking(move || {
                [Criterion::CSLS, Criterion::Nn].map(|criterion| work.retriever(from, to, criterion, &()).map(|_| ()))
            });
            if !matches!(prepared.await, Ok([Ok(()), Ok(())])) {
                let pair = [from, to].map(|view| opened.views[view].name.as_str()).join(" to ");
                app.notice(format!("retrieval from {pair} in {} could not be prepared", opened.name));
            }
        }
    }
}

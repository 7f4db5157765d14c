//! `sememe serve`: a page to look around in spaces, and an HTTP API.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use sememe_server::{Access, Event, Server, Stop};
use serde_json::json;

use crate::arguments::{Global, Serve, Serving};
use crate::memory;
use crate::output;
use crate::progress::Interruption;

pub fn run(arguments: &Serve, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    serve(arguments.named_spaces(), &arguments.serving, global, interruption)
}

/// Serves spaces until the program is asked to end.
pub fn serve(
    spaces: Vec<(String, PathBuf)>,
    serving: &Serving,
    global: &Global,
    interruption: &Arc<Interruption>,
) -> anyhow::Result<()> {
    memory::share_pools();
    let (is_json, is_quiet) = (global.json, global.quiet);
    let log = move |event: Event| {
        if !is_quiet {
            tell(&event, is_json);
        }
    };
    let server = Server::open(spaces, serving.options(), log)?;
    let (url, address) = (server.url(), server.address().to_string());
    let stop = Stop::default();
    interruption.stop_server(&stop);
    output::result(global, json!({ "url": url, "address": address }), || {
        format!("Open {url} in a browser; Ctrl-C ends the server.")
    })?;
    if serving.open && !open_in_browser(&url) {
        output::warn(global, "no browser could be opened");
    }
    Ok(server.run(&stop)?)
}

/// Writes a line about what happened to standard error.
fn tell(event: &Event, is_json: bool) {
    let line = match event {
        _ if is_json => serde_json::to_string(event).unwrap_or_default(),
        Event::Access(Access { method, path, status, milliseconds, client, .. }) => {
            format!("{status} {method} {path} {milliseconds:.1} ms {client}")
        }
        Event::Notice { message } => message.clone(),
        _ => return,
    };
    let _ = writeln!(io::stderr().lock(), "{}", output::visible(&line));
}

/// Asks the system to show a page, and says whether it knows how to.
fn open_in_browser(url: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = match () {
        () if cfg!(target_os = "macos") => ("open", &[]),
        () if cfg!(windows) => ("explorer", &[]),
        () => ("xdg-open", &[]),
    };
    let quiet = || Stdio::null();
    let started = Command::new(program).args(arguments).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    match started {
        // Somebody has to wait for it, so that it does not stay behind.
        Ok(mut child) => thread::Builder::new().spawn(move || child.wait()).is_ok(),
        Err(_) => false,
    }
}

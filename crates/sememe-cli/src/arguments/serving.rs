//! The arguments of a server.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sememe_server::Options;

use super::{Named, count};

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe serve space
  sememe serve space --port 9000 --open
  sememe serve before=old-space after=new-space
  sememe serve space --bind 0.0.0.0 --token \"$(openssl rand -hex 16)\"
  curl localhost:8080/v1/translate -d '{\"from\": \"en\", \"to\": \"fr\", \"words\": [\"house\"]}'

The page is at http://localhost:8080, the description of the API at /openapi.json. Only this machine can reach the server, unless \
--bind says otherwise; then every request needs the token. A space that is replaced or extended while it is served is opened \
anew. Ctrl-C ends the server when it has answered what it has begun.

Every request is logged on standard error: with --json as JSON, one object a line, with --quiet not at all.")]
pub struct Serve {
    /// The spaces, as SPACE or NAME=SPACE; the name of a folder is the name of its space
    #[arg(required = true, value_name = "[NAME=]SPACE")]
    pub spaces: Vec<String>,
    #[command(flatten)]
    pub serving: Serving,
}

/// The names of all options of a server.
pub const SERVING: [&str; 9] = ["bind", "port", "token", "insecure", "max_batch", "timeout", "workers", "open", "page"];

/// How a server is reached, and how much it does.
#[derive(Args)]
#[command(next_help_heading = "Serving")]
pub struct Serving {
    /// Address to listen at; others than those of this machine need --token or --insecure
    #[arg(long, default_value_t = Options::default().bind, value_name = "ADDRESS")]
    pub bind: IpAddr,
    /// Port to listen at; 0 for any free one
    #[arg(long, default_value_t = Options::default().port, value_name = "PORT")]
    pub port: u16,
    /// Answer only requests with this token, in the header `Authorization: Bearer TOKEN` [default: SEMEME_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Allow everybody who can reach the address to ask everything
    #[arg(long)]
    pub insecure: bool,
    /// The most words in one request, and in one search that answers several
    #[arg(long, default_value_t = count(Options::default().max_batch), value_name = "N")]
    pub max_batch: NonZeroUsize,
    /// Give up requests that take longer than this
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Searches that run at the same time, each on all threads
    #[arg(long, default_value_t = count(Options::default().workers), value_name = "N")]
    pub workers: NonZeroUsize,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    /// Serve the page from this folder, for work on it
    #[arg(long, hide = true, value_name = "FOLDER")]
    pub page: Option<PathBuf>,
}

impl Serving {
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        options.bind = self.bind;
        options.port = self.port;
        // Others on this machine can read arguments of programs.
        options.token = self.token.clone().or_else(|| std::env::var("SEMEME_TOKEN").ok());
        options.insecure = self.insecure;
        options.max_batch = self.max_batch.get();
        options.timeout = self.timeout;
        options.workers = self.workers.get();
        options.page = self.page.clone();
        options
    }
}

impl Serve {
    /// The spaces with their names. What exists as a folder is one, even if there is a `=` in it.
    pub fn named_spaces(&self) -> Vec<(String, PathBuf)> {
        let named = |given: &String| {
            let path = PathBuf::from(given);
            if !path.exists()
                && let Ok(Named { name, path }) = given.parse::<Named>()
            {
                return (name, path);
            }
            let full = path.canonicalize().unwrap_or_else(|_| path.clone());
            let name = full.file_name().map_or("space".into(), |name| name.to_string_lossy());
            (name.into_owned(), path)
        };
        self.spaces.iter().map(named).collect()
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("it must be a number of seconds above 0, at most 86400".to_owned()),
    }
}

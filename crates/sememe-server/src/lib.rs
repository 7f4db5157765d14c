//! `sememe serve`: spaces over HTTP, and a page to look around in them.
//!
//! [`Server::open`] opens spaces and binds an address, [`Server::run`] answers until it is [stopped](Stop::stop). Requests
//! that arrive together are answered by one search (`passes.rs`). Everything that is computed comes from the library
//! `sememe`; this crate only turns requests into its calls.
//!
//! ```no_run
//! use sememe_server::{Options, Server, Stop};
//!
//! let server = Server::open(vec![("demo".to_owned(), "space".into())], Options::default(), |_| {})?;
//! println!("open {} in a browser", server.url());
//! server.run(&Stop::default())?;
//! # Ok::<(), sememe_server::Error>(())
//! ```

mod api;
mod app;
mod error;
mod event;
mod http;
mod map;
mod metrics;
mod npy;
mod opened;
mod options;
pub mod page;
mod passes;
mod served;
mod server;
pub mod standalone;
mod trained;
mod upkeep;

pub use self::error::{Error, Result};
pub use self::event::{Access, Event};
pub use self::options::Options;
pub use self::server::{Server, Stop};

/// The description of the API in the OpenAPI format.
pub const OPENAPI: &str = include_str!("openapi.json");

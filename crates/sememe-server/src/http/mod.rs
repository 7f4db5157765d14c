//! HTTP: connections, the routes, what every request is checked for, and what every answer says.

mod connections;
mod extract;
mod guard;
mod headers;
mod log;
mod malformed;
mod problem;
mod routes;
mod slow;

pub(crate) use self::connections::serve;
pub(crate) use self::extract::{Body, Params, bytes as body_of};
pub(crate) use self::log::Client;
pub(crate) use self::problem::Problem;
pub(crate) use self::routes::router;

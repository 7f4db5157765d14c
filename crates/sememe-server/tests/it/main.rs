//! A server as its clients see it.

mod answers;
mod client;
mod description;
mod fixture;
mod hostile;
mod limits;
mod listening;
mod maps;
mod replaced;
mod together;

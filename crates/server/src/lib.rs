//! The server: the indexes of a directory, over HTTP.
//!
//! A room above the engine, which has no async runtime, no HTTP and no JSON. Requests (`api`) come in on
//! threads of the runtime. Questions are answered on threads (`work`) that own a reader each, writes on
//! others, so that no question waits for a disk. The `catalog` knows the indexes.
#![forbid(unsafe_code)]

mod api;
mod catalog;
mod client;
mod connections;
mod deleted;
mod descriptors;
pub mod guard;
mod index_name;
mod kept;
mod log;
mod metrics;
mod notify;
mod page;
mod pattern;
mod percolating;
mod problem;
mod registry;
mod reload;
mod rest;
mod run;
mod served;
pub mod settings;
mod socket;
mod tls;
mod work;

pub use run::{ServeError, serve};

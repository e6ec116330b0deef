//! A long load of every kind on one server: who writes, who reads, and what they know.

mod caller;
mod counters;
mod dashboards;
mod process;
mod scrolls;
mod tails;

pub(crate) use caller::{Caller, Signals};
pub(crate) use counters::Counters;
pub(crate) use dashboards::look;
pub(crate) use process::{Process, QUIET, UNDER_LOAD};
pub(crate) use scrolls::scroll;
pub(crate) use tails::Listener;

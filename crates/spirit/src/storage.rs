//! The directory and file of an index: root, fields and door for other processes. Also the state
//! that an executor's roles share.

pub(crate) mod bulk_mark;
pub(crate) mod fields;
pub(crate) mod live;
pub(crate) mod open_root;
pub(crate) mod progress;
pub(crate) mod retention;
pub(crate) mod shared;
pub(crate) mod store;
pub(crate) mod trust;
pub(crate) mod view;
pub(crate) mod watch;

#[cfg(test)]
#[path = "../../mem/tests/modelled/mod.rs"]
mod modelled;

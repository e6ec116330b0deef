//! An index's directory and its file: the root, the fields, the door for other processes; and what an executor's roles share.

pub(crate) mod fields;
pub(crate) mod live;
pub(crate) mod open_root;
pub(crate) mod retention;
pub(crate) mod shared;
pub(crate) mod store;
pub(crate) mod trust;
pub(crate) mod view;

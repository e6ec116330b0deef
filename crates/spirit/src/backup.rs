//! Copies of an index, and whether they and it are whole.

pub(crate) mod check;
pub(crate) mod error;
pub(crate) mod image;
pub(crate) mod make;
pub(crate) mod new_file;
pub(crate) mod restore;
pub(crate) mod salvage;
pub(crate) mod verify;

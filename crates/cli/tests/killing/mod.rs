//! What the loops of kills and of power cuts are made of: documents, the process that gets them and comes to a bad end, what
//! must be left of them, and the questions that show whether it is.
#![allow(dead_code, reason = "each test binary uses its part")]

mod answers;
pub(crate) mod chain;
#[path = "../../../spirit/tests/support/disk.rs"]
pub(crate) mod disk;
pub(crate) mod document;
mod judge;
mod model;
pub(crate) mod tally;
pub(crate) mod victim;

//! What the tests of damaged files share: files that are worth damaging, and what is asked of them afterwards.
#![allow(dead_code, reason = "each test binary uses some of this")]

pub(crate) mod atlas;
pub(crate) mod flips;
pub(crate) mod forger;
pub(crate) mod image;
pub(crate) mod sample;

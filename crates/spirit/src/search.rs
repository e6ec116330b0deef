//! The way of a query: from a reader to hits and what they lead to.

pub(crate) mod cursor;
pub(crate) mod error;
pub(crate) mod highlighter;
pub(crate) mod hit_error;
pub(crate) mod hits;
pub(crate) mod memory;
pub(crate) mod pool;
pub(crate) mod reader;
pub(crate) mod recency;
pub(crate) mod request;
pub(crate) mod seat;
pub(crate) mod sorting;
pub(crate) mod texts;

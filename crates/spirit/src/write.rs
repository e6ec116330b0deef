//! The path of a document: collected, written, logged, and visible.

pub(crate) mod collector;
pub(crate) mod contents;
pub(crate) mod ingest;
pub(crate) mod journal;
pub(crate) mod replacement;
pub(crate) mod task;
pub(crate) mod timer;
pub(crate) mod tokenizers;
pub(crate) mod waiting;

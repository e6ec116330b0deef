//! Options, documents, the clock, and errors.

pub(crate) mod batch;
pub(crate) mod cache;
pub(crate) mod clock;
pub(crate) mod corrupt;
pub(crate) mod document;
pub(crate) mod durability;
pub(crate) mod error;
pub(crate) mod late_reader;
pub(crate) mod log_limits;
pub(crate) mod media;
pub(crate) mod on_full;
pub(crate) mod operation;
pub(crate) mod options;
pub(crate) mod policies;
pub(crate) mod progress;
pub(crate) mod recovering;
pub(crate) mod source;

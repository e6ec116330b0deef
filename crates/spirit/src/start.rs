//! The start: finds the segments again, and replays the log.

pub(crate) mod recovery;
pub(crate) mod replay;

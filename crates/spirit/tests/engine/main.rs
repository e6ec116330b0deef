//! The engine as a whole: against the naive index, at its ends, with bad input, and by readers and writers side by side.
//! The sanitizers run most of these too.

mod applied;
mod bad_input;
mod beside;
mod busy;
mod ends;
mod freshness;
mod live_backup;
mod oracle;
mod pinned;
mod spread;
mod stream;

#[path = "../support/mod.rs"]
mod support;

//! Streams and sizes: an index that is full, that has little memory, or whose documents grow old.

mod age;
mod closing;
mod committing;
mod counted;
mod dictionary;
mod engraving;
mod full_heap;
mod keys;
mod less_dram;
mod log_limits;
mod policies;
mod retention;
mod stalls;
mod updates;

#[path = "../support/mod.rs"]
mod support;

//! Caches of fixed size: an earlier question's answer is kept for the next one.
//!
//! A [`Cache`] maps keys to values, both words. Its memory is reserved when it is made, in DRAM or
//! in a mapped file, and everything in it is addressed by offset. When it is full, a
//! [`policy`] says which entries leave, and an [`allocator`] divides the heap.
//!
//! | file | what it is |
//! |---|---|
//! | [`stamp`] | how readers copy what may change meanwhile |
//! | `table` | from a key to its value |
//! | `aliases` | further names of entries |
//! | `touches` | what look-ups tell the policy, later |
//! | `keeper` | fills, replaces and evicts |
//! | [`cache`] | all of it together |
//!
//! This crate deliberately does not know queries, segments or documents.

#![forbid(unsafe_code)]

mod aliases;
pub mod allocator;
pub mod cache;
pub mod config;
mod keeper;
pub mod key;
pub mod policy;
pub mod stamp;
pub mod stats;
mod table;
mod touches;
pub mod value;
pub mod worth;

pub use cache::{Cache, Found};
pub use config::{AllocatorKind, CacheConfig, CacheError, PolicyKind};
pub use keeper::Fill;
pub use key::{Key, hash};
pub use stats::CacheStats;
pub use value::Value;
pub use worth::{Costs, Worth};

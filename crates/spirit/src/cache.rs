//! The result cache: its settings, and what it says of itself.

pub use crate::cached::{Bypass, Outcome};
pub use crate::config::cache::{Cache, Matching};
pub use spirit_cache::{AllocatorKind as Allocator, CacheStats, PolicyKind as Policy};

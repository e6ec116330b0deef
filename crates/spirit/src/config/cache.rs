//! The settings of the result cache.

use std::time::Duration;

use spirit_cache::{AllocatorKind, CacheConfig, PolicyKind};
use spirit_mem::Residency;

/// The default of the least time that an answer takes that is kept.
const COST_MIN: Duration = Duration::from_micros(4);

/// A result cache: what queries found is kept for the next ones, which evaluate only what came
/// since (the first paper's query cache, §4.11, with the thesis' policies and allocators).
///
/// Answers are as if there was no cache, at each moment. All memory is reserved when the index is
/// opened. A process that only reads has a cache of its own.
///
/// ```
/// use spirit::Index;
/// use spirit::cache::{Cache, Policy};
///
/// let cache = Cache::new(16 << 20).policy(Policy::S3Fifo);
/// let index = Index::builder().cache(cache).open()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    pub(crate) bytes: u64,
    pub(crate) caches: usize,
    pub(crate) entries: Option<u32>,
    pub(crate) policy: PolicyKind,
    pub(crate) allocator: AllocatorKind,
    pub(crate) matches_min: u64,
    pub(crate) cost_min: Duration,
    pub(crate) is_in_second_tier: bool,
}

impl Cache {
    /// Returns a cache of this many bytes in DRAM, from 64 KiB to 32 GiB.
    pub fn new(bytes: u64) -> Cache {
        let CacheConfig { entries, policy, allocator, .. } = CacheConfig::new(bytes);
        let (matches_min, cost_min, is_in_second_tier) = (0, COST_MIN, false);
        Cache {
            bytes,
            caches: 1,
            entries,
            policy,
            allocator,
            matches_min,
            cost_min,
            is_in_second_tier,
        }
    }

    /// Divides the bytes between several caches, which readers share evenly. Then threads get in
    /// each other's way less, and find less. From 1 to 64, default 1. Opening fails beyond that with
    /// [`OpenError::Setting`](crate::OpenError::Setting), as with bytes or entries out of range.
    pub fn caches(mut self, caches: usize) -> Self {
        self.caches = caches;
        self
    }

    /// Sets the largest number of entries of each cache, up to 2^24. Default: one for each KiB.
    pub fn entries(mut self, entries: u32) -> Self {
        self.entries = Some(entries);
        self
    }

    /// Sets which entries leave a full cache. Default: [`PolicyKind::Lru`].
    pub fn policy(mut self, policy: PolicyKind) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how the memory of a cache is divided. Default: [`AllocatorKind::Tlsf`].
    pub fn allocator(mut self, allocator: AllocatorKind) -> Self {
        self.allocator = allocator;
        self
    }

    /// Keeps answers only if they have at least this many matches. Default 0.
    pub fn matches_min(mut self, matches: u64) -> Self {
        self.matches_min = matches;
        self
    }

    /// Keeps answers only if they took at least this long, the second time that they were asked for.
    /// Zero: all are kept, the first time. Default 4 µs.
    pub fn cost_min(mut self, time: Duration) -> Self {
        self.cost_min = time;
        self
    }

    /// Puts the cache beside the index, in a file without a name in its directory. The file is gone
    /// when the index is closed, or when the process dies. Opening fails without a directory, or
    /// without room on its disk.
    pub fn in_second_tier(mut self) -> Self {
        self.is_in_second_tier = true;
        self
    }

    /// Returns the settings of each cache.
    pub(crate) fn each(&self, residency: Residency) -> CacheConfig {
        let Cache { bytes, caches, entries, policy, allocator, .. } = *self;
        CacheConfig { bytes: bytes / caches.max(1) as u64, entries, policy, allocator, residency }
    }
}

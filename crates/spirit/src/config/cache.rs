//! The settings of the result cache.

use std::time::Duration;

use spirit_cache::{AllocatorKind, CacheConfig, PolicyKind};
use spirit_mem::Residency;

/// The default of the least time that an answer takes that is kept.
const COST_MIN: Duration = Duration::from_micros(4);

/// Which entries of the result cache may answer a question besides its own (thesis §3.3.3). All but
/// the default are for questions for the newest matches of one term, or of two terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// None: the same question in any order of its terms.
    #[default]
    Isomorphic,
    /// The entry of an OR of two terms answers the question for each of its terms, exactly. It keeps
    /// as many matches of each.
    Partial1,
    /// Besides, an entry with one of its terms answers an OR of two terms, and that of an AND
    /// answers each of its terms. Such answers lack matches, and [say
    /// so](crate::Hits::is_approximate).
    Partial2,
}

/// A result cache: what queries found is kept for the next ones, which evaluate only what came
/// since (the first paper's query cache, §4.11, with the thesis' policies and allocators).
///
/// Answers are as if there was no cache, at each moment, unless [approximate
/// ones](Matching::Partial2) are asked for. All memory is reserved when the index is
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
    pub(crate) matching: Matching,
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
            matching: Matching::default(),
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

    /// Sets which other entries may answer a question. Default: [`Matching::Isomorphic`]. With another
    /// one and a [cost](Self::cost_min) of zero, no question is too simple for the cache. Otherwise
    /// the newest 100 of at most two terms, which take less time than a look-up, do not reach it.
    pub fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
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
        let aliases = match self.matching {
            Matching::Isomorphic => 0,
            // One for each term.
            Matching::Partial1 | Matching::Partial2 => 2,
        };
        let bytes = bytes / caches.max(1) as u64;
        CacheConfig { bytes, entries, policy, allocator, residency, aliases }
    }

    /// True if each question for terms goes to the cache, however fast it is answered without.
    pub(crate) fn keeps_all_terms(&self) -> bool {
        self.matching != Matching::Isomorphic && self.cost_min.is_zero()
    }
}

//! The settings of a cache, and how its bytes are divided.

use std::fmt;

use spirit_mem::{ReserveError, Residency};

use crate::aliases::Aliases;
use crate::allocator::Allocator;
use crate::allocator::first_fit::FirstFit;
use crate::allocator::tlsf::Tlsf;
use crate::policy::Policy;
use crate::policy::dlirs::Dlirs;
use crate::policy::lru::Lru;
use crate::policy::random::Random;
use crate::policy::s3_fifo::S3Fifo;
use crate::policy::tiny_lfu::TinyLfu;
use crate::table::Table;

/// The smallest cache, in bytes.
pub const CACHE_BYTES_MIN: u64 = 64 << 10;
/// The largest one: a block is named by its first word, in 32 bits.
pub const CACHE_BYTES_MAX: u64 = 32 << 30;
/// The largest number of entries of one cache.
pub const CACHE_ENTRIES_MAX: u32 = 1 << 24;
/// The largest number of aliases of one entry.
pub const CACHE_ALIASES_MAX: u32 = 8;
/// Bytes for each entry, if their number is not given.
const BYTES_AN_ENTRY: u64 = 1024;
/// Bytes of the policies' lists for each entry, at most.
const POLICY_BYTES_AN_ENTRY: u64 = 160;
/// The seed of [`Random`].
const SEED: u64 = 24;
const PAGE: u64 = 4096;

/// A replacement policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyKind {
    /// Least recently used: the entry that was found longest ago leaves.
    #[default]
    Lru,
    /// Dynamic low inter-reference recency set (Li, SYSTOR 2018).
    Dlirs,
    /// Any entry leaves, each as likely.
    Random,
    /// Three queues without a list by recency (Yang et al., SOSP 2023).
    S3Fifo,
    /// Window TinyLFU: frequent keys stay (Einziger, Friedman and Manes, ACM ToS 2017).
    TinyLfu,
}

/// An allocator of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocatorKind {
    /// A free list with boundary tags, first fit.
    FirstFit,
    /// Two-level segregated fit (Masmano et al., ECRTS 2004): constant time.
    #[default]
    Tlsf,
}

/// The settings of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheConfig {
    /// All its bytes.
    pub bytes: u64,
    /// The largest number of entries, or `None` for one that suits the bytes.
    pub entries: Option<u32>,
    /// Which entries leave.
    pub policy: PolicyKind,
    /// How the heap is divided.
    pub allocator: AllocatorKind,
    /// When its pages become resident.
    pub residency: Residency,
    /// Aliases of an entry, at most: further names, by which other questions find it. 0: none.
    pub aliases: u32,
}

/// How a cache's bytes are divided.
pub(crate) struct Plan {
    pub(crate) entries: u32,
    /// Aliases of an entry, at most.
    pub(crate) aliases: u32,
    /// Bytes of table, aliases and heap.
    pub(crate) region_bytes: u64,
}

/// A cache could not be made.
#[derive(Debug)]
pub enum CacheError {
    /// Its size is out of range, or leaves too little for the heap.
    Bytes {
        /// The bytes asked for.
        bytes: u64,
        /// The least bytes with as many entries.
        min: u64,
        /// The most bytes.
        max: u64,
    },
    /// Its number of entries is out of range.
    Entries {
        /// The entries asked for.
        entries: u32,
        /// The most entries.
        max: u32,
    },
    /// Its memory could not be reserved.
    Reserve(ReserveError),
}

impl CacheConfig {
    /// Returns the settings of a cache of this many bytes.
    pub fn new(bytes: u64) -> CacheConfig {
        let (policy, allocator) = (PolicyKind::default(), AllocatorKind::default());
        let residency = Residency::default();
        CacheConfig { bytes, entries: None, policy, allocator, residency, aliases: 0 }
    }

    /// Returns an error if a value is out of range.
    pub fn check(&self) -> Result<(), CacheError> {
        self.plan().map(drop)
    }

    /// Returns the bytes of the file that a cache in a file needs.
    pub fn file_bytes(&self) -> Result<u64, CacheError> {
        Ok(self.plan()?.region_bytes)
    }

    pub(crate) fn plan(&self) -> Result<Plan, CacheError> {
        let suited = || (self.bytes / BYTES_AN_ENTRY).clamp(16, CACHE_ENTRIES_MAX.into()) as u32;
        let entries = self.entries.unwrap_or_else(suited);
        if !(1..=CACHE_ENTRIES_MAX).contains(&entries) {
            return Err(CacheError::Entries { entries, max: CACHE_ENTRIES_MAX });
        }
        let lists = u64::from(entries) * POLICY_BYTES_AN_ENTRY;
        let aliases = self.aliases.min(CACHE_ALIASES_MAX);
        let table = Aliases::new(Table::new(0, entries).end(), entries, aliases).end();
        // A half for the heap, at least.
        let min = ((lists + table) * 2).max(CACHE_BYTES_MIN);
        if !(min..=CACHE_BYTES_MAX).contains(&self.bytes) {
            return Err(CacheError::Bytes { bytes: self.bytes, min, max: CACHE_BYTES_MAX });
        }
        Ok(Plan { entries, aliases, region_bytes: (self.bytes - lists) / PAGE * PAGE })
    }
}

impl PolicyKind {
    pub(crate) fn make(self, entries: u32) -> Box<dyn Policy> {
        match self {
            PolicyKind::Lru => Box::new(Lru::new(entries)),
            PolicyKind::Dlirs => Box::new(Dlirs::new(entries)),
            PolicyKind::Random => Box::new(Random::new(entries, SEED)),
            PolicyKind::S3Fifo => Box::new(S3Fifo::new(entries)),
            PolicyKind::TinyLfu => Box::new(TinyLfu::new(entries)),
        }
    }
}

impl AllocatorKind {
    pub(crate) fn make(self, words: u64) -> Box<dyn Allocator> {
        match self {
            AllocatorKind::FirstFit => Box::new(FirstFit::new(words)),
            AllocatorKind::Tlsf => Box::new(Tlsf::new(words)),
        }
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheError::Bytes { bytes, min, max } => write!(
                f,
                "a cache of {bytes} bytes: give {min} to {max} bytes for each cache, or fewer entries"
            ),
            CacheError::Entries { entries, max } => {
                write!(f, "a cache of {entries} entries: give 1 to {max}")
            }
            CacheError::Reserve(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CacheError::Reserve(error) => Some(error),
            CacheError::Bytes { .. } | CacheError::Entries { .. } => None,
        }
    }
}

//! How an index is made: every size and policy, with its default.

use std::time::Duration;

use spirit_index::geometry::{SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
use spirit_index::list::Blocks;
use spirit_mem::Residency;
use spirit_query::Level;
use spirit_text::Analyzer;

use crate::error::OpenError;
use crate::index::Index;

/// Longest document, in bytes, unless set otherwise.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Executors in one index.
pub(crate) const EXECUTORS_MAX: usize = 64;

/// What happens when the heap is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFull {
    /// The oldest segment is dropped: the index holds the newest documents that fit.
    #[default]
    DropOldest,
    /// `add` waits until there is room.
    Wait,
    /// `add` returns [`AddError::HeapFull`](crate::AddError::HeapFull).
    Refuse,
}

/// Settings of an index in memory. Start from [`Options::default`].
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) dram_bytes: u64,
    pub(crate) segment_bytes: Option<u64>,
    pub(crate) executors: usize,
    pub(crate) readers_max: usize,
    pub(crate) reader_lease: Duration,
    pub(crate) analyzer: Analyzer,
    pub(crate) positions: bool,
    pub(crate) on_full: OnFull,
    pub(crate) fixed_blocks: bool,
    pub(crate) residency: Residency,
    pub(crate) document_bytes_max: usize,
    pub(crate) vectors: Level,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            dram_bytes: 1 << 30,
            segment_bytes: None,
            executors: 1,
            readers_max: 64,
            reader_lease: Duration::from_secs(10),
            analyzer: Analyzer::default(),
            positions: true,
            on_full: OnFull::default(),
            fixed_blocks: false,
            residency: Residency::OnTouch,
            document_bytes_max: DOCUMENT_BYTES_MAX,
            vectors: Level::default(),
        }
    }
}

/// The default segment for an executor of `dram_bytes`: a 16th of it, within reason.
const SEGMENT_SHARE: u64 = 16;
const SEGMENT_BYTES_DEFAULT_MAX: u64 = 128 << 20;

impl Options {
    /// DRAM for the whole index, in bytes: a hard cap, reserved at start. Default 1 GiB.
    pub fn dram_bytes(mut self, bytes: u64) -> Self {
        self.dram_bytes = bytes;
        self
    }

    /// Size of a fresh segment's table, records and blocks, in bytes. Default: a 16th of an executor's DRAM, at
    /// most 128 MiB.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = Some(bytes);
        self
    }

    /// Pipelines side by side; documents are routed by key. Default 1.
    pub fn executors(mut self, executors: usize) -> Self {
        self.executors = executors;
        self
    }

    /// Readers at once. Default 64.
    pub fn readers_max(mut self, readers: usize) -> Self {
        self.readers_max = readers;
        self
    }

    /// How long [`Hits`](crate::Hits) may be kept while the index waits for their memory; then they are given up, which
    /// who comes back to them is told by [`LeaseExpired`](crate::LeaseExpired). Whole milliseconds. Default 10 s.
    pub fn reader_lease(mut self, lease: Duration) -> Self {
        self.reader_lease = lease;
        self
    }

    /// How text becomes terms. Default [`Analyzer::Standard`].
    pub fn analyzer(mut self, analyzer: Analyzer) -> Self {
        self.analyzer = analyzer;
        self
    }

    /// Whether the order of tokens is kept. Default yes.
    pub fn positions(mut self, keep: bool) -> Self {
        self.positions = keep;
        self
    }

    /// What happens when the heap is full. Default: the oldest segment is dropped.
    pub fn on_full(mut self, policy: OnFull) -> Self {
        self.on_full = policy;
        self
    }

    /// Fixed-sized posting blocks (FSB) in fresh segments, for comparison. Default: variable-sized.
    pub fn fixed_blocks(mut self, fixed: bool) -> Self {
        self.fixed_blocks = fixed;
        self
    }

    /// Whether all memory is made resident at start. Default: on first touch.
    pub fn prefault(mut self, prefault: bool) -> Self {
        self.residency = if prefault { Residency::Prefault } else { Residency::OnTouch };
        self
    }

    /// Longest document, in bytes. Default 1 MiB.
    pub fn document_bytes_max(mut self, bytes: usize) -> Self {
        self.document_bytes_max = bytes;
        self
    }

    /// The vector unit to use, for comparison; one that the machine lacks is not. Default: the widest there is.
    pub fn vectors(mut self, level: Level) -> Self {
        self.vectors = level;
        self
    }

    /// Reserves the memory and starts the stages.
    pub fn open(self) -> Result<Index, OpenError> {
        Index::open(self)
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let within = |name, asked: usize, min: u64, max: u64| {
            let asked = asked as u64;
            if (min..=max).contains(&asked) {
                Ok(())
            } else {
                Err(OpenError::Setting { name, asked, min, max })
            }
        };
        within("executors", self.executors, 1, EXECUTORS_MAX as u64)?;
        within("readers_max", self.readers_max, 1, 4096)?;
        let lease_ms = usize::try_from(self.reader_lease.as_millis()).unwrap_or(usize::MAX);
        within("reader_lease in ms", lease_ms, 1, 86_400_000)?;
        within("document_bytes_max", self.document_bytes_max, 1, 64 << 20)
    }

    /// Settings of each executor's memory.
    pub(crate) fn memory(&self) -> spirit_index::geometry::Settings {
        let dram_bytes = self.dram_bytes / self.executors as u64;
        let share =
            (dram_bytes / SEGMENT_SHARE).clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_DEFAULT_MAX);
        let segment_bytes = self.segment_bytes.unwrap_or(share).min(SEGMENT_BYTES_MAX + 1);
        // A tail block is at most a thousandth of a small segment, so that few terms do not fill it.
        let doublings = (segment_bytes >> 15).clamp(1, 128).ilog2();
        let blocks = if self.fixed_blocks {
            Blocks::Fixed { units: 4 }
        } else {
            Blocks::Variable { doublings }
        };
        spirit_index::geometry::Settings {
            dram_bytes,
            segment_bytes,
            blocks,
            positions: self.positions,
            residency: self.residency,
        }
    }
}

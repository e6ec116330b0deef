//! The words that readers start from, in the first page of the executor's DRAM. A reader that maps
//! that memory, in this process or another, finds all other data from here.
//!
//! | words | |
//! |---|---|
//! | 0, 1 | rows visible, and the sequence that they reach |
//! | 16, 32, 48 | window, superseded versions, dictionary's coverage: each alone on its lines |
//! | 64 .. | words that are seldom stored |
//! | 128 .. | [`Gauge`]: numbers for statistics only |
//! | 256 .. | durations of syncs of the log, for statistics only |
//!
//! [`memory`](crate::memory) and [`coverage`](crate::memory::coverage) explain their orderings.

use std::sync::atomic::AtomicU64;

use crate::ground::durations::{DURATION_WORDS, Durations};

/// Number of words of the roots: a page.
pub(crate) const ROOT_WORDS: u64 = 512;
/// Index of the first gauge.
const GAUGES: usize = 128;
/// Index of the first word of the log's syncs.
const LOG_SYNCS: usize = 256;

/// Numbers of an executor for statistics only. One thread at a time stores each, shortly after the
/// fact that it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Gauge {
    /// Documents ever accepted.
    Accepted,
    /// Documents that were replaced or deleted, over the index's life.
    Deleted,
    /// The word of [`Expired`](crate::memory::expired::Expired).
    Expired,
    /// Distinct terms of the DRAM dictionary.
    DictionaryTerms,
    /// Bytes of its pool in use.
    DictionaryBytes,
    /// Lines of the merged dictionary in use.
    MergedLines,
    /// Segments engraved since the start.
    Engraved,
    /// Nanoseconds of that work.
    EngravedTime,
    /// Segments merged since the start.
    Merged,
    /// Nanoseconds of that work.
    MergedTime,
    /// Segments dropped since the start.
    DroppedSegments,
    /// Runs of segments rewritten since the start.
    RewrittenSegments,
    /// Tokens too long to keep, since the start.
    SkippedTokens,
    /// Bytes of the log that no engraved segment covers.
    LogBytes,
    /// Bytes of the short-term partition in use.
    Short,
    /// Bytes of the long-term partition in use.
    Long,
    /// Bytes of the second tier's short-term partition in use.
    NvmShort,
    /// Bytes of the second tier's long-term partition in use.
    NvmLong,
    /// The id of the segment being filled, plus one; 0 before the first. The gauges below describe
    /// that segment.
    FreshSegment,
    /// Its terms.
    FreshTerms,
    /// Its postings.
    FreshPostings,
    /// Its tokens.
    FreshTokens,
    /// Bytes of its extent in use.
    FreshBytes,
    /// Units of its document vectors.
    FreshVectorUnits,
    /// Bytes of its texts.
    FreshTextBytes,
    /// Bytes of the short-term partition outside its largest free block. Like those below, it is 0
    /// as long as nothing was allocated.
    ShortBeyond,
    /// Such bytes of the long-term partition.
    LongBeyond,
    /// Such bytes of the second tier's short-term partition.
    NvmShortBeyond,
    /// Such bytes of the second tier's long-term partition.
    NvmLongBeyond,
    /// Such bytes of the DRAM dictionary's pool.
    DictionaryBeyond,
    /// Nanoseconds since the start in which the ingest role cut and wrote documents.
    WrittenTime,
    /// Nanoseconds of that in which bulk loads looked up and entered keys.
    KeysTime,
    /// Nanoseconds in which the ingest role waited for the flush stage.
    WaitedTime,
    /// Nanoseconds of flushing.
    FlushedTime,
    /// Nanoseconds of that in which terms were sorted.
    SortedTime,
}

/// The words of the roots.
#[derive(Clone, Copy)]
pub(crate) struct Roots<'a>(&'a [AtomicU64; ROOT_WORDS as usize]);

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $index:expr;)*) => {
        impl<'a> Roots<'a> {
            $($(#[$doc])*
            #[inline(always)]
            pub(crate) fn $name(self) -> &'a AtomicU64 {
                &self.0[$index]
            })*
        }
    };
}

words! {
    /// Number of rows that queries see.
    visible = 0;
    /// One past the sequence number of the newest operation among them.
    sequence = 1;
    /// The segments that the dictionary holds.
    window = 16;
    /// The segments that readers skip.
    superseded = 32;
    /// The first position that the dictionary covers.
    terms_from = 48;
    /// Rows that died, or were never documents.
    dead = 64;
    /// One past the last merged segment.
    merged = 65;
    /// Segments with packed terms are within this window.
    packed = 66;
    /// The dictionary may have some entries of segments from here on that do not count yet.
    terms_floor = 67;
    /// One past the last position that was there at the start.
    base_end = 68;
    /// The first position from which on the key table has all keys.
    keys_from = 69;
    /// Snapshots of fewer rows than this may see documents that the key table has lost.
    forgotten = 70;
    /// One past the row of the newest operation that killed a document; 0 before the first.
    newest_death = 71;
}

impl<'a> Roots<'a> {
    pub(crate) fn new(words: &'a [AtomicU64]) -> Roots<'a> {
        Roots(words.try_into().expect("the geometry gives them a page"))
    }

    /// Returns the durations of the log's syncs since the start.
    pub(crate) fn log_syncs(self) -> Durations<'a> {
        let words = self.0[LOG_SYNCS..].first_chunk::<DURATION_WORDS>();
        Durations::new(words.expect("they are within the page"))
    }

    pub(crate) fn gauge(self, gauge: Gauge) -> &'a AtomicU64 {
        &self.0[GAUGES + gauge as usize]
    }
}

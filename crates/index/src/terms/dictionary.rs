//! The dictionary in DRAM: it leads from a term to its postings in every flushed segment, with one
//! look-up for all of them.
//!
//! A term's record leads to a contiguous array of *entries*, one a segment, oldest first. Queries
//! read them from the back. Probing each segment would cost a cache miss a segment, and so would
//! the paper's linked chain (§4.7). Two entries lie in the record: most terms never need more.
//!
//! | record word (64 bit) | |
//! |---|---|
//! | 0, 1 | key |
//! | 2 | head: array (high half, 0: in the record), first entry (16 bits), end (16 bits) |
//! | 3 | place of a long term's bytes (low half), the array's capacity (high half, writer's own) |
//! | 4..8 | entries of a young term |
//!
//! Places of arrays and long terms are in units of 16 bytes from the pool's start.
//!
//! The [`entries`](crate::terms::entries) module describes an entry and access to entries.
//!
//! There is one [writer](crate::terms::dictionary_writer), the flush stage, and any number of
//! readers.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Line, Region, Span, prefetch};

use crate::ground::geometry::Geometry;
use crate::ground::line_table::LineTable;
use crate::ground::term::{FieldId, Term, TermBuffer, TermKey};
use crate::terms::entries::{ENTRY_BYTES, Entries};

/// Bytes of a record.
pub(crate) const RECORD_BYTES: u64 = size_of::<Line>() as u64;

/// A term's number in the dictionary: its record's line in the pool. Reused after the term is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermId(pub u32);

impl TermId {
    /// No term: the entry in a segment's map for a record that got no posting.
    pub const NONE: TermId = TermId(u32::MAX);
}

/// A term's record.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a>(pub(crate) &'a Line);

impl<'a> Record<'a> {
    pub(crate) fn key(self) -> TermKey {
        TermKey { low: self.0.pair(0).load(Relaxed), high: self.0.pair(1).load(Relaxed) }
    }

    #[inline(always)]
    pub(crate) fn head(self) -> Head {
        let word = self.0.pair(2).load(Acquire);
        Head {
            array: (word >> 32) as u32,
            first: word as u16 as u32,
            end: (word >> 16) as u16 as u32,
        }
    }

    pub(crate) fn set_head(self, head: Head) {
        let word = (head.array as u64) << 32 | (head.end as u64) << 16 | head.first as u64;
        self.0.pair(2).store(word, Release);
    }

    /// Returns the place of a long term's bytes, in 16-byte units, and the array's capacity.
    pub(crate) fn apart(self) -> (u32, u32) {
        let word = self.0.pair(3).load(Relaxed);
        (word as u32, (word >> 32) as u32)
    }

    pub(crate) fn set_apart(self, long: u32, capacity: u32) {
        self.0.pair(3).store(long as u64 | (capacity as u64) << 32, Relaxed);
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) array: u32,
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// The readers' view of the dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Dictionary<'a> {
    region: &'a Region,
    pub(crate) table: LineTable,
    pool: &'a [Line],
    pool_start: u64,
}

impl<'a> Dictionary<'a> {
    /// Returns the dictionary of an executor.
    #[inline]
    pub(crate) fn new(region: &'a Region, geometry: &Geometry) -> Self {
        Dictionary {
            region,
            table: LineTable::new(geometry.dictionary_lines),
            pool: region.dram(geometry.dictionary_pool),
            pool_start: geometry.dictionary_pool.start(),
        }
    }

    /// Prefetches the line where the search for `hash` begins.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.table.prefetch(self.region, hash);
    }

    /// Prefetches the record that the search for `hash` will probably compare. The line should be
    /// in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_candidate(&self, hash: u64) {
        if let Some(id) = self.table.candidate(self.region, hash) {
            prefetch(&self.pool[id as usize]);
        }
    }

    /// Returns the number of a term.
    #[inline]
    pub(crate) fn find(&self, term: Term<'_>, hash: u64) -> Option<TermId> {
        let found = self.table.find(self.region, hash, |id| self.is(id, term));
        found.map(|id| TermId(id as u32))
    }

    #[inline]
    fn is(&self, id: u64, term: Term<'_>) -> bool {
        let record = self.record(TermId(id as u32));
        record.key() == term.key
            && (!term.key.is_long() || self.long_bytes(record).eq(term.bytes.iter().copied()))
    }

    pub(crate) fn record(&self, id: TermId) -> Record<'a> {
        Record(&self.pool[id.0 as usize])
    }

    fn long_bytes(&self, record: Record<'a>) -> impl Iterator<Item = u8> + use<'a> {
        let at = self.pool_start + record.apart().0 as u64 * ENTRY_BYTES;
        let bytes = self.region.dram(Span::<AtomicU8>::new(at, record.key().len() as u64));
        bytes.iter().map(|b| b.load(Relaxed))
    }

    /// Returns the key of a term, and writes the bytes of a long one to `long`.
    pub(crate) fn key(&self, id: TermId, long: &mut Vec<u8>) -> TermKey {
        let record = self.record(id);
        long.clear();
        if record.key().is_long() {
            long.extend(self.long_bytes(record));
        }
        record.key()
    }

    /// Writes the bytes of a term. Returns its field and the number of bytes.
    pub(crate) fn write_term(&self, id: TermId, out: &mut TermBuffer) -> (FieldId, usize) {
        let record = self.record(id);
        let key = record.key();
        let long = key.is_long().then(|| self.long_bytes(record));
        key.write(long.into_iter().flatten(), out)
    }

    /// Prefetches a term's record.
    #[inline(always)]
    pub(crate) fn prefetch_record(&self, id: TermId) {
        prefetch(self.record(id).0);
    }

    /// Prefetches a term's newest entry, if it is outside the record. The record should be in the
    /// cache.
    #[inline(always)]
    pub(crate) fn prefetch_newest(&self, id: TermId) {
        let head = self.record(id).head();
        if head.array != 0 {
            let at = self.array(id, head) + head.end.saturating_sub(1) as u64 * ENTRY_BYTES;
            prefetch(&self.region.dram(Span::<AtomicU8>::new(at, 1))[0]);
        }
    }

    /// Returns all entries of a term as of now.
    #[inline]
    pub(crate) fn entries(&self, id: TermId) -> Entries {
        let head = self.record(id).head();
        let array = self.array(id, head);
        let start = array + head.first as u64 * ENTRY_BYTES;
        Entries { words: Span::new(start, (head.end - head.first) as u64 * 4) }
    }

    /// Returns the offset of the entries' array, in the record or apart.
    #[inline(always)]
    pub(crate) fn array(&self, id: TermId, head: Head) -> u64 {
        if head.array == 0 {
            self.pool_start + id.0 as u64 * RECORD_BYTES + 32
        } else {
            self.pool_start + head.array as u64 * ENTRY_BYTES
        }
    }
}

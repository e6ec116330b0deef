//! The extent of a fresh segment, as its writer and its readers see it: table, prefixes, term
//! records and blocks (paper §4.5).
//!
//! | record word (32 bit) | |
//! |---|---|
//! | 0..4 | key |
//! | 4..6 | chain: tail block and spilled postings |
//! | 6 | postings |
//! | 7 | first word of a long term's bytes in the area; 0: none |
//! | 8..16 | the newest postings; word 15 is 0 while there are none |
//!
//! The table has a 32-bit slot a term, so that much of it stays in the processor's caches. The low
//! bits of a slot have the ordinal plus one, as many bits as the number of slots has. A tag of the
//! hash is above. The table uses linear probing and is never more than 70 % full. A slot is stored
//! (release) after its record is written. A tag may match by accident: comparing the record's key
//! detects that.
//!
//! A record's [prefix], its term's field and first bytes, is also in an array. A reader that
//! searches all terms for some with a common beginning reads an eighth of the records' bytes.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Line, Region, prefetch};

use crate::ground::blocks::Blocks;
use crate::ground::geometry::{FreshSpans, Geometry};
use crate::ground::term::{FieldId, Term, TermBuffer, TermKey};
use crate::lists::list::List;
use crate::terms::term_order::prefix;

/// A term's record in a fresh segment.
#[derive(Clone, Copy)]
pub struct Record<'a>(&'a Line);

impl<'a> Record<'a> {
    /// Returns the term's key.
    #[inline(always)]
    pub fn key(self) -> TermKey {
        TermKey { low: self.0.pair(0).load(Relaxed), high: self.0.pair(1).load(Relaxed) }
    }

    /// Returns the term's list.
    #[inline(always)]
    pub fn list(self) -> List<'a, AtomicU32, AtomicU64> {
        List { chain: self.0.pair(2), count: self.0.word(6), buffer: self.0.words(8, 16) }
    }

    /// Returns the record's cache line.
    #[inline(always)]
    pub(crate) fn line(self) -> &'a Line {
        self.0
    }

    /// Returns the place of a long term's bytes in the area, or 0 for a short term.
    pub fn long(self) -> u32 {
        self.0.word(7).load(Relaxed)
    }

    /// Writes the record of a term without postings.
    fn write(self, key: TermKey, long: u32) {
        self.0.pair(0).store(key.low, Relaxed);
        self.0.pair(1).store(key.high, Relaxed);
        self.0.pair(2).store(0, Relaxed);
        self.0.word(6).store(0, Relaxed);
        self.0.word(7).store(long, Relaxed);
        self.0.word(15).store(0, Relaxed);
    }
}

/// The parts of a fresh extent, as both its writer and its readers see them.
#[derive(Clone, Copy)]
pub struct Extent<'a> {
    table: &'a [AtomicU32],
    prefixes: &'a [AtomicU64],
    records: &'a [Line],
    /// The first word of the area behind the prefixes.
    low: u32,
    area: &'a [AtomicU32],
    blocks: Blocks,
}

impl<'a> Extent<'a> {
    /// Returns the extent at `start`.
    #[inline]
    pub fn new(region: &'a Region, geometry: &Geometry, start: u64) -> Self {
        let FreshSpans { table, prefixes, records, area } = geometry.fresh(start);
        Extent {
            table: region.dram(table),
            prefixes: region.dram(prefixes),
            low: ((records.start() - start) / 4) as u32,
            records: region.dram(records),
            area: region.dram(area),
            blocks: geometry.settings.blocks,
        }
    }

    /// Returns the record of an ordinal.
    #[inline(always)]
    pub fn record(&self, ordinal: u32) -> Record<'a> {
        Record(&self.records[ordinal as usize])
    }

    /// Returns the prefixes of the first `terms` terms.
    pub fn prefixes(&self, terms: u32) -> &'a [AtomicU64] {
        &self.prefixes[..terms as usize]
    }

    /// Writes the record and the prefix of a term without postings, before the table leads to it.
    pub(crate) fn enter(&self, ordinal: u32, key: TermKey, long: &[u8], first: u32) {
        let (inline, len) = key.inline_bytes();
        let bytes = if key.is_long() { long } else { &inline[..len] };
        self.prefixes[ordinal as usize].store(prefix(key.field(), bytes), Relaxed);
        self.record(ordinal).write(key, first);
    }

    /// Returns the first word of the area behind `terms` records.
    #[inline(always)]
    pub(crate) fn low_after(&self, terms: u32) -> u32 {
        self.low + terms * 16
    }

    /// Returns the words of chains and long terms.
    #[inline(always)]
    pub fn area(&self) -> &'a [AtomicU32] {
        self.area
    }

    /// Returns the sizes of blocks.
    #[inline(always)]
    pub fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// Returns the table's slots.
    #[inline(always)]
    pub(crate) fn table(&self) -> &'a [AtomicU32] {
        self.table
    }

    /// Returns the slot where the search for `hash` begins.
    #[inline(always)]
    pub(crate) fn home(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    /// Yields the bytes of `record`'s term, which is long.
    pub fn long_bytes(&self, record: Record<'_>) -> impl Iterator<Item = u8> + use<'a> {
        let first = record.long() as usize;
        let len = record.key().len();
        let words = &self.area[first..first + len.div_ceil(4)];
        (0..len).map(move |i| (words[i / 4].load(Relaxed) >> (8 * (i % 4))) as u8)
    }

    /// Writes the bytes of a term. Returns its field and the number of bytes.
    pub fn write_term(&self, ordinal: u32, out: &mut TermBuffer) -> (FieldId, usize) {
        let record = self.record(ordinal);
        let key = record.key();
        let long = key.is_long().then(|| self.long_bytes(record));
        key.write(long.into_iter().flatten(), out)
    }

    /// Returns the slot for an ordinal whose term has this hash.
    #[inline(always)]
    pub(crate) fn slot(&self, hash: u64, ordinal: u32) -> u32 {
        (hash >> 32) as u32 & self.tag_mask() | (ordinal + 1)
    }

    /// Returns the bits of a slot above the ordinal.
    #[inline(always)]
    fn tag_mask(&self) -> u32 {
        !(self.table.len() as u32 - 1)
    }

    /// Returns the ordinal in a slot that is not empty, if the slot's tag matches `hash`.
    #[inline(always)]
    pub(crate) fn ordinal_in(&self, slot: u32, hash: u64) -> Option<u32> {
        let differing = slot ^ (hash >> 32) as u32;
        (differing & self.tag_mask() == 0).then(|| (slot & !self.tag_mask()).wrapping_sub(1))
    }

    /// Returns the ordinal in the slot where the search for `hash` begins, if its tag matches. It
    /// is nearly always the term's. The record decides.
    #[inline(always)]
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        let slot = self.table[self.home(hash)].load(Relaxed);
        self.ordinal_in(slot, hash).filter(|_| slot != 0)
    }

    /// Prefetches the record at which the search for `hash` will probably end.
    #[inline]
    pub fn prefetch_record(&self, hash: u64) {
        if let Some(ordinal) = self.guess(hash) {
            self.prefetch_term(ordinal);
        }
    }

    /// Prefetches a record.
    pub fn prefetch_term(&self, ordinal: u32) {
        prefetch(self.record(ordinal).line());
    }

    /// True if a record is that of the term with this key and these bytes.
    pub(crate) fn is(&self, record: Record<'_>, key: TermKey, bytes: &[u8]) -> bool {
        record.key() == key && (!key.is_long() || self.long_bytes(record).eq(bytes.iter().copied()))
    }

    /// Returns the ordinal of a term, if the segment has it.
    pub fn find(&self, term: Term<'_>, hash: u64) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let slot = self.table[at].load(Acquire);
            if slot == 0 {
                return None;
            }
            if let Some(ordinal) = self.ordinal_in(slot, hash)
                && self.is(self.record(ordinal), term.key, term.bytes)
            {
                return Some(ordinal);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
    }

    /// Prefetches the table slot of `hash`.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.table[self.home(hash)]);
    }
}

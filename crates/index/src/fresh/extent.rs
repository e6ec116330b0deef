//! The extent of a fresh segment, as its writer and its readers see it: table, prefixes, term records, blocks
//! (paper §4.5).
//!
//! | record word (32 bit) | |
//! |---|---|
//! | 0..4 | key |
//! | 4..6 | chain: tail block and spilled postings |
//! | 6 | postings |
//! | 7 | first word of a long term's bytes in the area; 0: none |
//! | 8..16 | the newest postings; word 15 is 0 while there are none |
//!
//! The table has a 32-bit slot a term, so that as much of it as possible stays near the processor: the ordinal
//! plus one in as many low bits as the number of slots has, and a tag of the hash above. Linear probing, never
//! more than 70 % full; a slot is stored (release) after the record it leads to is written. A tag that is
//! right by accident is found out when the record's key is compared.
//!
//! A record's [prefix], its term's field and first bytes, is in an array besides: who goes through all terms for
//! some that begin alike reads an eighth of what the records are.

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
    /// The term's key.
    #[inline(always)]
    pub fn key(self) -> TermKey {
        TermKey { low: self.0.pair(0).load(Relaxed), high: self.0.pair(1).load(Relaxed) }
    }

    /// The term's list.
    #[inline(always)]
    pub fn list(self) -> List<'a, AtomicU32, AtomicU64> {
        List { chain: self.0.pair(2), count: self.0.word(6), buffer: self.0.words(8, 16) }
    }

    /// The cache line that it is.
    #[inline(always)]
    pub(crate) fn line(self) -> &'a Line {
        self.0
    }

    /// Where a long term's bytes begin in the area; 0 for a short term.
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
    /// The extent at `start`.
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

    /// The record of an ordinal.
    #[inline(always)]
    pub fn record(&self, ordinal: u32) -> Record<'a> {
        Record(&self.records[ordinal as usize])
    }

    /// The prefixes of the first `terms` terms.
    pub fn prefixes(&self, terms: u32) -> &'a [AtomicU64] {
        &self.prefixes[..terms as usize]
    }

    /// Writes the record of a term without postings, and its prefix, before the table leads to it.
    pub(crate) fn enter(&self, ordinal: u32, key: TermKey, long: &[u8], first: u32) {
        let (inline, len) = key.inline_bytes();
        let bytes = if key.is_long() { long } else { &inline[..len] };
        self.prefixes[ordinal as usize].store(prefix(key.field(), bytes), Relaxed);
        self.record(ordinal).write(key, first);
    }

    /// The first word of the area behind `terms` records.
    #[inline(always)]
    pub(crate) fn low_after(&self, terms: u32) -> u32 {
        self.low + terms * 16
    }

    /// The words in which chains and long terms lie.
    #[inline(always)]
    pub fn area(&self) -> &'a [AtomicU32] {
        self.area
    }

    /// How large the blocks are.
    #[inline(always)]
    pub fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// The table's slots.
    #[inline(always)]
    pub(crate) fn table(&self) -> &'a [AtomicU32] {
        self.table
    }

    /// Where the search for `hash` begins.
    #[inline(always)]
    pub(crate) fn home(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    /// The bytes of `record`'s term, which is long.
    pub fn long_bytes(&self, record: Record<'_>) -> impl Iterator<Item = u8> + use<'a> {
        let first = record.long() as usize;
        let len = record.key().len();
        let words = &self.area[first..first + len.div_ceil(4)];
        (0..len).map(move |i| (words[i / 4].load(Relaxed) >> (8 * (i % 4))) as u8)
    }

    /// Writes the bytes of a term; says of which field they are, and how many.
    pub fn write_term(&self, ordinal: u32, out: &mut TermBuffer) -> (FieldId, usize) {
        let record = self.record(ordinal);
        let key = record.key();
        let long = key.is_long().then(|| self.long_bytes(record));
        key.write(long.into_iter().flatten(), out)
    }

    /// The slot of an ordinal whose term has this hash.
    #[inline(always)]
    pub(crate) fn slot(&self, hash: u64, ordinal: u32) -> u32 {
        (hash >> 32) as u32 & self.tag_mask() | (ordinal + 1)
    }

    /// The bits of a slot above the ordinal.
    #[inline(always)]
    fn tag_mask(&self) -> u32 {
        !(self.table.len() as u32 - 1)
    }

    /// The ordinal in a slot that is not empty, if its tag is that of `hash`.
    #[inline(always)]
    pub(crate) fn ordinal_in(&self, slot: u32, hash: u64) -> Option<u32> {
        let differing = slot ^ (hash >> 32) as u32;
        (differing & self.tag_mask() == 0).then(|| (slot & !self.tag_mask()).wrapping_sub(1))
    }

    /// The ordinal in the slot where the search for `hash` begins, if its tag is right: nearly always the term
    /// itself, which its record tells.
    #[inline(always)]
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        let slot = self.table[self.home(hash)].load(Relaxed);
        self.ordinal_in(slot, hash).filter(|_| slot != 0)
    }

    /// Asks for the record that the search for `hash` will probably end at.
    #[inline]
    pub fn prefetch_record(&self, hash: u64) {
        if let Some(ordinal) = self.guess(hash) {
            prefetch(self.record(ordinal).line());
        }
    }

    /// Whether a record is the term with this key and these bytes.
    pub(crate) fn is(&self, record: Record<'_>, key: TermKey, bytes: &[u8]) -> bool {
        record.key() == key && (!key.is_long() || self.long_bytes(record).eq(bytes.iter().copied()))
    }

    /// The ordinal of a term, if the segment has it.
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

    /// Asks for the table slot of `hash`.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.table[self.home(hash)]);
    }
}

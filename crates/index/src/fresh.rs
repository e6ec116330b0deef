//! The fresh segment: written by the ingest role, read at the same time by every query (paper §4.5, §4.6).
//!
//! Ingest is bound by cache misses, so it works on batches: the home slots of all tokens are prefetched
//! while the text is still being cut, then all tokens are *resolved* to ordinals while the term records are
//! prefetched, then all are *posted*. One cache line a token is touched for good: the term's record, which
//! holds key, list head and the newest postings.
//!
//! | record word (32 bit) | |
//! |---|---|
//! | 0..4 | key |
//! | 4..6 | chain: tail block and spilled postings |
//! | 6 | postings |
//! | 7 | first word of a long term's bytes in the area; 0: none |
//! | 8..16 | the newest postings |
//!
//! The table has a 32-bit slot a term, so that as much of it as possible stays near the processor: the ordinal
//! plus one in as many low bits as the number of slots has, and a tag of the hash above. Linear probing, never
//! more than 70 % full; a slot is stored (release) after the record it leads to is written. A tag that is
//! right by accident is found out when the record's key is compared. A batch that does
//! not fit is taken up to the last document that does; the rest goes to the next segment.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use spirit_mem::{Line, Region, Span, prefetch};

use crate::batch::{Batch, BatchToken, Document, Key};
use crate::descriptor::SegmentId;
use crate::geometry::{FreshSpans, Geometry};
use crate::list::{Blocks, Full, List};
use crate::memory::{Memory, Partition};
use crate::posting::posting;
use crate::rows::{KEY_INLINE_MAX, RowKey, Rows};
use crate::term::{Term, TermKey};
use crate::vector::{self, UNITS_PER_TOKEN_MAX, Vectors};

/// Why a batch was not taken whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The segment is full: seal it and go on with the next.
    SegmentFull,
    /// The long-term partition has no room for more rows or vectors now.
    HeapFull,
}

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

    /// Where a long term's bytes begin in the area; 0 for a short term.
    pub fn long(self) -> u32 {
        self.0.word(7).load(Relaxed)
    }

    fn write(self, key: TermKey, long: u32) {
        self.0.pair(0).store(key.low, Relaxed);
        self.0.pair(1).store(key.high, Relaxed);
        self.0.pair(2).store(0, Relaxed);
        self.0.word(6).store(0, Relaxed);
        self.0.word(7).store(long, Relaxed);
    }
}

/// The parts of a fresh extent, as both its writer and its readers see them.
#[derive(Clone, Copy)]
pub struct Extent<'a> {
    table: &'a [AtomicU32],
    records: &'a [Line],
    area: &'a [AtomicU32],
    blocks: Blocks,
}

impl<'a> Extent<'a> {
    /// The extent at `start`.
    #[inline]
    pub fn new(region: &'a Region, geometry: &Geometry, start: u64) -> Self {
        let FreshSpans { table, records, area } = geometry.fresh(start);
        Extent {
            table: region.view(table),
            records: region.view(records),
            area: region.view(area),
            blocks: geometry.settings.blocks,
        }
    }

    /// The record of an ordinal.
    #[inline(always)]
    pub fn record(&self, ordinal: u32) -> Record<'a> {
        Record(&self.records[ordinal as usize])
    }

    /// The words in which chains and long terms lie.
    pub fn area(&self) -> &'a [AtomicU32] {
        self.area
    }

    /// How large the blocks are.
    pub fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// Where the search for `hash` begins.
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    /// The bytes of `record`'s term, which is long.
    pub fn long_bytes(&self, record: Record<'_>) -> impl Iterator<Item = u8> + use<'a> {
        let first = record.long() as usize;
        let len = record.key().len();
        let words = &self.area[first..first + len.div_ceil(4)];
        (0..len).map(move |i| (words[i / 4].load(Relaxed) >> (8 * (i % 4))) as u8)
    }

    /// The slot of an ordinal whose term has this hash.
    #[inline(always)]
    fn slot(&self, hash: u64, ordinal: u32) -> u32 {
        self.tag(hash) | (ordinal + 1)
    }

    /// The bits of a slot above the ordinal.
    #[inline(always)]
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & self.tag_mask()
    }

    #[inline(always)]
    fn tag_mask(&self) -> u32 {
        !(self.table.len() as u32 - 1)
    }

    fn is(&self, record: Record<'_>, key: TermKey, bytes: &[u8]) -> bool {
        record.key() == key && (!key.is_long() || self.long_bytes(record).eq(bytes.iter().copied()))
    }

    /// The ordinal of a term, if the segment has it.
    pub fn find(&self, term: Term<'_>, hash: u64) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let slot = self.table[at].load(Acquire);
            let ordinal = (slot & !self.tag_mask()).checked_sub(1)?;
            if slot & self.tag_mask() == self.tag(hash)
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

/// The writer of a fresh segment.
#[derive(Debug)]
pub struct FreshWriter {
    id: SegmentId,
    extent: u64,
    base_row: u64,
    base_sequence: u64,
    /// Distinct terms.
    terms: u32,
    terms_max: u32,
    /// First used word of the area's upper end.
    high: u32,
    rows: u32,
    row_directory: Span<AtomicU64>,
    row_chunks: u32,
    vector_directory: Span<AtomicU64>,
    /// Next unit, and the end of the units that are backed.
    unit: u32,
    unit_end: u32,
    postings: u64,
    tokens: u64,
    vector_units: u64,
    table_bytes: u64,
    area_words: u32,
}

/// What a segment holds, counted while it was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshCounts {
    /// Rows.
    pub rows: u32,
    /// Distinct terms.
    pub terms: u32,
    /// Postings.
    pub postings: u64,
    /// Tokens.
    pub tokens: u64,
    /// Units of document vectors and stored keys.
    pub vector_units: u64,
    /// Bytes of the extent in use: table, records, blocks.
    pub extent_bytes: u64,
}

impl FreshWriter {
    /// An empty segment, or `None` while the partitions have no room for one.
    pub fn open(
        memory: &Memory,
        id: SegmentId,
        base_row: u64,
        base_sequence: u64,
    ) -> Option<FreshWriter> {
        let geometry = memory.geometry();
        let extent = memory.allocate(Partition::Short, geometry.settings.segment_bytes, id)?;
        let chunks = geometry.row_chunks_max + geometry.vector_chunks_max;
        let Some(directory) = memory.allocate(Partition::Long, chunks * 8, id) else {
            memory.give_back(Partition::Short, id);
            return None;
        };
        let spans = geometry.fresh(extent);
        for slot in memory.region().view(spans.table) {
            slot.store(0, Relaxed);
        }
        let row_directory = Span::new(directory, geometry.row_chunks_max);
        let vector_directory = Span::new(row_directory.end(), geometry.vector_chunks_max);
        Some(FreshWriter {
            id,
            extent,
            base_row,
            base_sequence,
            terms: 0,
            terms_max: (geometry.fresh_slots * 7 / 10) as u32,
            high: spans.area.len() as u32,
            rows: 0,
            row_directory,
            row_chunks: 0,
            vector_directory,
            unit: 0,
            unit_end: 0,
            postings: 0,
            tokens: 0,
            vector_units: 0,
            table_bytes: spans.table.bytes(),
            area_words: spans.area.len() as u32,
        })
    }

    /// The segment's id.
    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// The row number of local id 0.
    pub fn base_row(&self) -> u64 {
        self.base_row
    }

    /// Rows written.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Whether nothing was ever tried in it: a document that does not fit now never will.
    pub fn is_untouched(&self) -> bool {
        self.rows == 0 && self.terms == 0
    }

    /// What it holds so far.
    pub fn counts(&self) -> FreshCounts {
        let FreshWriter { rows, terms, postings, tokens, .. } = *self;
        let extent_bytes =
            self.table_bytes + terms as u64 * 64 + (self.area_words - self.high) as u64 * 4;
        FreshCounts { rows, terms, postings, tokens, vector_units: self.vector_units, extent_bytes }
    }

    /// Writes the descriptor's words, before the segment is published.
    pub fn describe(&self, memory: &Memory) {
        let descriptor = memory.table().descriptor(self.id);
        descriptor.set_id(self.id.0 as u64);
        descriptor.set_base_row(self.base_row);
        descriptor.set_base_sequence(self.base_sequence);
        descriptor.set_rows(u64::MAX);
        descriptor.set_row_directory(self.row_directory.start());
        descriptor.set_vector_directory(self.vector_directory.start());
        descriptor.set_extent(self.extent);
        descriptor.set_dead(0);
        descriptor.set_postings(0);
        descriptor.set_posting_words(0);
        descriptor.set_row_map(0);
        descriptor.set_numbers_start(0);
        descriptor.set_numbers_end(0);
    }

    /// The view for prefetching while a batch is collected.
    pub fn extent<'a>(&self, memory: &'a Memory) -> Extent<'a> {
        Extent::new(memory.region(), memory.geometry(), self.extent)
    }

    /// Writes documents from the front of `batch`, whole ones only, as the next rows; says how many, and why not
    /// all. The batch still has them; nothing is visible yet.
    pub fn append(&mut self, memory: &Memory, batch: &mut Batch) -> (usize, Result<(), Stop>) {
        let extent = self.extent(memory);
        let room = self.reserve_rows(memory, batch.documents().len());
        let (resolved, mut stop) = self.resolve(&extent, batch);
        let mut taken = 0;
        while taken < batch.documents().len().min(room) {
            let document = batch.documents()[taken];
            if document.token_end as usize > resolved {
                break;
            }
            if let Err(why) = self.take(memory, &extent, batch, taken, &document) {
                stop = Err(why);
                break;
            }
            taken += 1;
        }
        if taken == room && taken < batch.documents().len() && stop.is_ok() {
            let full = self.rows as u64 + 1 > self.row_limit(memory);
            stop = Err(if full { Stop::SegmentFull } else { Stop::HeapFull });
        }
        (taken, stop)
    }

    fn row_limit(&self, memory: &Memory) -> u64 {
        memory.geometry().rows_max() as u64
    }

    /// Backs rows for `wanted` more documents; says for how many there is room.
    fn reserve_rows(&mut self, memory: &Memory, wanted: usize) -> usize {
        let geometry = memory.geometry();
        let directory = memory.region().view(self.row_directory);
        loop {
            let backed = (self.row_chunks as usize) << geometry.row_shift;
            let room = backed - self.rows as usize;
            if room >= wanted || self.row_chunks as u64 == geometry.row_chunks_max {
                return room.min(wanted);
            }
            let bytes = crate::geometry::ROW_BYTES << geometry.row_shift;
            let Some(chunk) = memory.allocate(Partition::Long, bytes, self.id) else { return room };
            directory[self.row_chunks as usize].store(chunk, Release);
            self.row_chunks += 1;
        }
    }

    /// Backs `units` contiguous units.
    fn reserve_units(&mut self, memory: &Memory, units: u32) -> Result<(), Stop> {
        if self.unit_end - self.unit >= units {
            return Ok(());
        }
        let geometry = memory.geometry();
        let chunks = units.div_ceil(1 << geometry.vector_shift).max(1);
        let first = self.unit_end >> geometry.vector_shift;
        if first as u64 + chunks as u64 > geometry.vector_chunks_max {
            return Err(Stop::SegmentFull);
        }
        let bytes = (chunks as u64 * 2) << geometry.vector_shift;
        let start = memory.allocate(Partition::Long, bytes, self.id).ok_or(Stop::HeapFull)?;
        let directory = memory.region().view(self.vector_directory);
        for i in 0..chunks {
            directory[(first + i) as usize]
                .store(start + ((i as u64 * 2) << geometry.vector_shift), Release);
        }
        self.unit = first << geometry.vector_shift;
        self.unit_end = (first + chunks) << geometry.vector_shift;
        Ok(())
    }

    fn units<'a>(&self, memory: &'a Memory, len: u32) -> &'a [AtomicU16] {
        let shift = memory.geometry().vector_shift;
        Vectors::new(memory.region(), self.vector_directory, shift).units(self.unit, len as u64)
    }

    /// Finds or inserts the terms of all tokens, and asks for their records. Returns how many were resolved.
    #[inline]
    fn resolve(&mut self, extent: &Extent<'_>, batch: &mut Batch) -> (usize, Result<(), Stop>) {
        let mask = extent.table.len() - 1;
        let tag_mask = extent.tag_mask();
        let (tokens, long) = batch.tokens_mut();
        for (done, token) in tokens.iter_mut().enumerate() {
            if token.key.is_hole() {
                continue;
            }
            let mut at = token.hash as usize & mask;
            token.ordinal = loop {
                let slot = extent.table[at].load(Relaxed);
                if slot == 0 {
                    match self.insert(extent, at, token.hash, token.key, long.bytes(token.long)) {
                        Ok(ordinal) => break ordinal,
                        Err(Full) => return (done, Err(Stop::SegmentFull)),
                    }
                }
                // The tag decides; a short term's record is compared when it is there, in `post_all`.
                let ordinal = (slot & !tag_mask).wrapping_sub(1);
                if slot & tag_mask == (token.hash >> 32) as u32 & tag_mask
                    && (!token.key.is_long()
                        || extent.is(extent.record(ordinal), token.key, long.bytes(token.long)))
                {
                    break ordinal;
                }
                at = (at + 1) & mask;
            };
            prefetch(&extent.records[token.ordinal as usize]);
        }
        (tokens.len(), Ok(()))
    }

    #[inline(never)]
    fn insert(
        &mut self,
        extent: &Extent<'_>,
        at: usize,
        hash: u64,
        key: TermKey,
        long: &[u8],
    ) -> Result<u32, Full> {
        let ordinal = self.terms;
        let words = if key.is_long() { long.len().div_ceil(4) as u32 } else { 0 };
        if ordinal >= self.terms_max || self.low_after(extent, ordinal + 1) + words > self.high {
            return Err(Full);
        }
        let first = if words > 0 { self.high - words } else { 0 };
        if words > 0 {
            self.high = first;
            for (word, bytes) in extent.area[first as usize..].iter().zip(long.chunks(4)) {
                let mut value = [0; 4];
                value[..bytes.len()].copy_from_slice(bytes);
                word.store(u32::from_le_bytes(value), Relaxed);
            }
        }
        extent.record(ordinal).write(key, first);
        self.terms += 1;
        extent.table[at].store(extent.slot(hash, ordinal), Release);
        Ok(ordinal)
    }

    /// The first word of the area behind `terms` records.
    fn low_after(&self, extent: &Extent<'_>, terms: u32) -> u32 {
        extent.table.len() as u32 + terms * 16
    }

    /// Posts one document's tokens and writes its vector and row.
    fn take(
        &mut self,
        memory: &Memory,
        extent: &Extent<'_>,
        batch: &Batch,
        index: usize,
        document: &Document,
    ) -> Result<(), Stop> {
        let delta =
            u32::try_from(document.sequence - self.base_sequence).map_err(|_| Stop::SegmentFull)?;
        let tokens = batch.tokens_of(index);
        if !self.has_room(extent, tokens.len()) {
            return Err(Stop::SegmentFull);
        }
        let positions = memory.geometry().settings.positions;
        let vector_units = if positions { tokens.len() as u32 * UNITS_PER_TOKEN_MAX } else { 0 };
        let key_units = document.key.stored_units();
        self.reserve_units(memory, vector_units + key_units)?;
        let key = self.write_key(memory, batch.key(document));
        let start = self.unit;
        let posted = if positions {
            self.post_all::<true>(extent, tokens, self.units(memory, vector_units))
        } else {
            self.post_all::<false>(extent, tokens, &[])
        };
        let Ok(units) = posted else {
            self.abandon(memory, delta);
            return Err(Stop::SegmentFull);
        };
        self.unit += units;
        self.vector_units += (units + key_units) as u64;
        self.tokens += tokens.len() as u64;
        self.row(memory).write(delta, start, tokens.len() as u32, key);
        self.rows += 1;
        Ok(())
    }

    /// Whether a document of usual size fits whatever its words are. One that breaks off leaves a dead row behind,
    /// and a segment with dead rows cannot be counted from statistics; so only documents that are large for
    /// the segment are tried.
    fn has_room(&self, extent: &Extent<'_>, tokens: usize) -> bool {
        let worst = tokens as u64 * extent.blocks.block_words_max();
        let free = self.high.saturating_sub(self.low_after(extent, self.terms)) as u64;
        worst <= free || worst > extent.area.len() as u64 / 16
    }

    /// Posts the tokens of the next row; returns the units that its vector took.
    #[inline(always)]
    fn post_all<const POSITIONS: bool>(
        &mut self,
        extent: &Extent<'_>,
        tokens: &[BatchToken],
        units: &[AtomicU16],
    ) -> Result<u32, Full> {
        let word = posting(self.rows);
        let mut high = self.high;
        let mut postings = 0;
        let mut at = 0;
        for token in tokens {
            if token.key.is_hole() {
                if POSITIONS {
                    at = vector::put(units, at, None);
                }
                continue;
            }
            let mut ordinal = token.ordinal;
            let mut record = extent.record(ordinal);
            if record.key() != token.key {
                self.high = high;
                ordinal = self.resolve_again(extent, token.key, token.hash)?;
                high = self.high;
                record = extent.record(ordinal);
            }
            let low = self.low_after(extent, self.terms);
            let added = record.list().append(word, extent.area, extent.blocks, |words| {
                let block = high.checked_sub(words).filter(|block| *block >= low)?;
                high = block;
                Some(block)
            });
            self.high = high;
            postings += u64::from(added?);
            if POSITIONS {
                at = vector::put(units, at, Some(ordinal));
            }
        }
        self.postings += postings;
        Ok(at as u32)
    }

    /// A short term whose slot was taken for another's with the same tag: one in thousands, found by its key.
    #[cold]
    fn resolve_again(&mut self, extent: &Extent<'_>, key: TermKey, hash: u64) -> Result<u32, Full> {
        let (bytes, len) = key.inline_bytes();
        if let Some(ordinal) = extent.find(Term { key, bytes: &bytes[..len] }, hash) {
            return Ok(ordinal);
        }
        let mut at = extent.home(hash);
        while extent.table[at].load(Relaxed) != 0 {
            at = (at + 1) & (extent.table.len() - 1);
        }
        self.insert(extent, at, hash, key, &[])
    }

    /// A document that broke off half way: its row is dead from birth, so its postings never count.
    fn abandon(&mut self, memory: &Memory, delta: u32) {
        let row = self.row(memory);
        row.write(delta, 0, 0, RowKey::default());
        row.kill(0);
        self.rows += 1;
        memory.note_dead(memory.table().descriptor(self.id));
    }

    /// Writes a row that is no document (a delete's). Its space was reserved by the caller's batch.
    pub fn append_dead(&mut self, memory: &Memory, sequence: u64) -> Result<(), Stop> {
        let delta = u32::try_from(sequence - self.base_sequence).map_err(|_| Stop::SegmentFull)?;
        if self.reserve_rows(memory, 1) == 0 {
            let full = self.rows as u64 >= self.row_limit(memory);
            return Err(if full { Stop::SegmentFull } else { Stop::HeapFull });
        }
        self.abandon(memory, delta);
        Ok(())
    }

    fn row<'a>(&self, memory: &'a Memory) -> crate::rows::Row<'a> {
        Rows::new(memory.region(), self.row_directory, memory.geometry().row_shift).row(self.rows)
    }

    fn write_key(&mut self, memory: &Memory, key: Key<'_>) -> RowKey {
        match key {
            Key::Automatic(number) => {
                let descriptor = memory.table().descriptor(self.id);
                if descriptor.numbers_end() == 0 {
                    descriptor.set_numbers_start(number);
                }
                descriptor.set_numbers_end(number + 1);
                RowKey::automatic(number)
            }
            Key::Bytes(bytes) if bytes.len() <= KEY_INLINE_MAX => RowKey::inline(bytes),
            Key::Bytes(bytes) => {
                let count = bytes.len().div_ceil(2) as u32;
                for (unit, pair) in self.units(memory, count).iter().zip(bytes.chunks(2)) {
                    let high = pair.get(1).copied().unwrap_or(0);
                    unit.store(pair[0] as u16 | (high as u16) << 8, Relaxed);
                }
                self.unit += count;
                RowKey::stored(self.unit - count, bytes.len())
            }
        }
    }
}

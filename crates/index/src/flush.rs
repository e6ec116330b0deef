//! The flush stage's work on one segment. It turns chained blocks into contiguous arrays and
//! registers the terms in the dictionary.
//!
//! A flush takes terms in order of first occurrence, in groups. For a group it prefetches the
//! dictionary lines, then the records behind them. Then it looks the terms up, copies their
//! postings and registers them. Once all terms are registered, one store moves the window's end
//! past the segment. The fresh extent is freed when its last reader has left.
//!
//! A flush that finds no room stops and can be resumed. Registration is idempotent.

mod arrays;
mod columns;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use spirit_kernel::Level;
use spirit_mem::{Region, Span};

use crate::column::writer::Layout;
use crate::engrave::{Engrave, SegmentEnd};
use crate::form::merged::Merged;
use crate::form::node::Nodes;
use crate::form::packed_terms;
use crate::fresh::FreshCounts;
use crate::fresh::extent::Extent;
use crate::ground::ids::{Partition, SegmentId, State};
use crate::ground::posting::rank_of;
use crate::ground::slot::Slots;
use crate::ground::term::{TERM_BYTES_MAX, Term, TermBuffer, TermKey};
use crate::lists::maxima::{blocks_of, write_maxima};
use crate::memory::Memory;
use crate::memory::descriptor::Window;
use crate::memory::flush_stop::FlushStop;
use crate::memory::flushed::{bitmap_at, bitmap_words, is_dense, layout, maxima_at};
use crate::merge::merged_writer::MergedWriter;
use crate::merge::sweep_merged;
use crate::rows::lengths::RunningCounts;
use crate::terms::dictionary::{Dictionary, TermId};
use crate::terms::dictionary_writer::{DictionaryFull, DictionaryWriter};
use crate::terms::entries::PACKED;
use crate::terms::term_order::Leads;
use crate::terms::term_sorter::TermSorter;

use arrays::Arrays;
use columns::FreshValues;

/// Number of terms whose cache misses are overlapped.
const GROUP: usize = 32;
/// Number of cache lines of a block to prefetch. After these the hardware prefetcher sees the
/// pattern.
const LINES_AHEAD: usize = 4;

/// A full segment on its way to its read-optimized form.
#[derive(Debug)]
pub struct Flush {
    id: SegmentId,
    counts: FreshCounts,
    /// Number of rows of each bitmap; 0 if no bitmaps are made.
    bitmap_rows: u32,
    level: Level,
    /// The arrays, once they are allocated. Their lengths are written at that time.
    arrays: Option<Arrays>,
    /// The columns' layout, if there are columns and they have a place.
    columns: Option<Box<Layout>>,
    next_term: u32,
    next_word: u64,
    /// The time that the terms took to be sorted.
    sorted: Duration,
}

impl Flush {
    /// Makes the flush of a segment that takes no more documents. Its descriptor has its row count.
    pub fn new(id: SegmentId, counts: FreshCounts, level: Level) -> Flush {
        Flush {
            id,
            counts,
            bitmap_rows: counts.rows,
            level,
            arrays: None,
            columns: None,
            next_term: 0,
            next_word: 0,
            sorted: Duration::ZERO,
        }
    }

    /// Leaves the bitmaps out, unless the arrays have a place already. True if that makes the
    /// arrays smaller. Bitmaps are for speed only. Without them the long-term partition has room
    /// for the segment, for documents of any kind.
    pub fn without_bitmaps(&mut self) -> bool {
        let with = self.arrays.is_none() && self.bitmap_rows > 0;
        if with {
            self.bitmap_rows = 0;
        }
        with
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> u32 {
        self.next_term + u32::from(self.arrays.is_some())
    }

    /// Returns the segment.
    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// Returns the time that the terms took to be sorted.
    pub fn sorting(&self) -> Duration {
        self.sorted
    }

    /// Returns the next stage of a flushed segment, if there is a second tier.
    pub fn engrave(self, end: SegmentEnd) -> Engrave {
        Engrave::new(self.id, self.counts, end)
    }

    /// Continues until all is written, or there is no room. Readers use the new form once the flush
    /// is [finished](Self::finish).
    pub fn run(&mut self, memory: &Memory, sorter: &mut TermSorter) -> Result<(), FlushStop> {
        let descriptor = memory.table().descriptor(self.id);
        let extent = Extent::new(memory.region(), memory.geometry(), descriptor.extent());
        let arrays = self.allocate(memory, &extent)?;
        while self.next_term < self.counts.terms {
            self.group(memory, &mut memory.dictionary(), &extent, arrays)?;
        }
        let sorting = Instant::now();
        self.order_terms(memory, sorter, &extent, arrays);
        self.sorted += sorting.elapsed();
        self.write_columns(memory, sorter, extent, arrays);
        Ok(())
    }

    /// Leads readers to the new form, which is written, and moves the window's end. The window is one
    /// word, so nobody else moves its beginning meanwhile.
    pub fn finish(&self, memory: &Memory) {
        let Some(arrays) = self.arrays else { return };
        let descriptor = memory.table().descriptor(self.id);
        descriptor.set_term_map(arrays.term_map.start());
        descriptor.set_term_order(arrays.order);
        descriptor.set_columns(arrays.columns);
        descriptor.lead_to_lists(arrays.postings.start(), self.bitmap_rows > 0);
        descriptor.set_posting_words(arrays.postings.len());
        descriptor.set_terms(self.counts.terms as u64);
        descriptor.set_posting_count(self.counts.postings);
        descriptor.set_tokens(self.counts.tokens);
        descriptor.set_vector_units(self.counts.vector_units);
        descriptor.set_text_bytes(self.counts.text_bytes);
        descriptor.set_kept(self.counts.kept);
        let older = memory.table().total_before(self.id.position());
        descriptor.set_total(older + self.counts.kept);
        descriptor.set_lengths(arrays.lengths.start());
        memory.table().publish(self.id, State::Flushed);
        memory.set_window(Window { end: self.id.position() + 1, ..memory.window() });
        memory.retire_blocks(Partition::Short, self.id);
        memory.dictionary().collect(memory.footing());
    }

    fn allocate(&mut self, memory: &Memory, extent: &Extent<'_>) -> Result<Arrays, FlushStop> {
        if let Some(arrays) = self.arrays {
            return Ok(arrays);
        }
        let words_with = |bitmap_rows| {
            let counts = (0..self.counts.terms)
                .map(|ordinal| extent.record(ordinal).list().count.load(Relaxed));
            counts.fold(0, |at, postings| layout(at, postings, bitmap_rows).1)
        };
        let mut words = words_with(self.bitmap_rows);
        if words > PACKED as u64 {
            // An offset beyond would collide with the `PACKED` flag. Without bitmaps no offset is
            // that large.
            self.bitmap_rows = 0;
            words = words_with(0);
        }
        let columns = self.values(memory, *extent).layout(self.counts.terms);
        let column_bytes = columns.as_ref().map_or(0, |columns| columns.bytes());
        let arrays = Arrays::allocate(memory, self.id, &self.counts, words, column_bytes);
        let arrays = arrays.ok_or(FlushStop::HeapFull)?;
        self.columns = columns;
        let directory = memory.table().descriptor(self.id).counts();
        let counts = RunningCounts::new(memory.region(), memory.geometry(), directory);
        counts.write_lengths(memory.region().view(arrays.lengths));
        if let Some(layout) = &self.columns {
            self.values(memory, *extent).begin(memory, layout, arrays.columns);
        }
        self.arrays = Some(arrays);
        Ok(arrays)
    }

    fn values<'a>(&self, memory: &'a Memory, extent: Extent<'a>) -> FreshValues<'a> {
        let descriptor = memory.table().descriptor(self.id);
        FreshValues::new(memory, descriptor, extent, self.counts.rows)
    }

    /// Writes the columns, if there are any. Call it after the sorter has written the order of
    /// terms.
    fn write_columns(
        &self,
        memory: &Memory,
        sorter: &TermSorter,
        extent: Extent<'_>,
        arrays: Arrays,
    ) {
        if let Some(layout) = &self.columns {
            let places = [arrays.columns, arrays.order];
            self.values(memory, extent).write(memory, layout, places, sorter, self.counts.terms);
        }
    }

    /// Writes the order of the segment's terms, leaving out terms without postings.
    fn order_terms(
        &self,
        memory: &Memory,
        sorter: &mut TermSorter,
        extent: &Extent<'_>,
        arrays: Arrays,
    ) {
        let has_postings = |ordinal: &u32| extent.record(*ordinal).list().count.load(Relaxed) > 0;
        let ordinals = (0..self.counts.terms).filter(has_postings);
        let leads = Leads::TermMap(arrays.term_map.start());
        let write = |ordinal, out: &mut TermBuffer| extent.write_term(ordinal, out);
        sorter.write_order(memory.region(), arrays.order, leads, ordinals, write);
    }

    fn group(
        &mut self,
        memory: &Memory,
        writer: &mut DictionaryWriter,
        extent: &Extent<'_>,
        arrays: Arrays,
    ) -> Result<(), FlushStop> {
        let region = memory.region();
        let dictionary = Dictionary::new(region, memory.geometry());
        let first = self.next_term;
        let size = GROUP.min((self.counts.terms - first) as usize);
        let mut keys = [TermKey::default(); GROUP];
        let mut hashes = [0; GROUP];
        let mut ids = [TermId::NONE; GROUP];
        for i in 0..size {
            keys[i] = extent.record(first + i as u32).key();
            hashes[i] = keys[i].hash();
            dictionary.prefetch(hashes[i]);
        }
        hashes[..size].iter().for_each(|hash| dictionary.prefetch_candidate(*hash));
        for i in 0..size {
            // A term whose only document was broken off has a record and no posting. No vector
            // contains its ordinal.
            let list = extent.record(first + i as u32).list();
            list.chain().prefetch(extent.area(), extent.blocks(), LINES_AHEAD);
            if list.count.load(Relaxed) > 0 {
                ids[i] = intern(memory, writer, extent, first + i as u32, keys[i], hashes[i])?;
                dictionary.prefetch_record(ids[i]);
            }
        }
        let interned = ids[..size].iter().filter(|id| **id != TermId::NONE);
        interned.for_each(|id| dictionary.prefetch_newest(*id));
        for (i, id) in ids[..size].iter().enumerate() {
            let ordinal = first + i as u32;
            let (payload, after) = self.copy(region, extent, ordinal, arrays);
            let count = extent.record(ordinal).list().count.load(Relaxed);
            if count > 0 {
                writer.append(memory.footing(), *id, self.id, count, payload)?;
            }
            region.view(arrays.term_map)[ordinal as usize].store(id.0, Relaxed);
            self.next_word = after;
            self.next_term = ordinal + 1;
        }
        Ok(())
    }

    /// Copies a term's list, newest first, with its maxima and its bitmap. Returns the payload of
    /// its entry and the first free word behind the list.
    fn copy(
        &self,
        region: &Region,
        extent: &Extent<'_>,
        ordinal: u32,
        arrays: Arrays,
    ) -> (u32, u64) {
        let head = extent.record(ordinal).list().read();
        let count = head.buffered as u32 + head.chain.postings();
        if count < 2 {
            return (head.buffer[0], self.next_word);
        }
        let postings = arrays.postings;
        let words = region.view(postings);
        let (first, after) = layout(self.next_word, count, self.bitmap_rows);
        words[first as usize - 1].store(ordinal, Relaxed);
        let list = &words[first as usize..first as usize + count as usize];
        for (to, from) in list.iter().zip(head.buffer[..head.buffered].iter().rev()) {
            to.store(*from, Relaxed);
        }
        // Invariant: `list[..at]` holds the newest `at` postings, newest first. The loop ends at
        // the oldest block, since each step moves on to an older one.
        let mut at = head.buffered;
        let mut chain = head.chain;
        while let Some((block, older)) = chain.next(extent.area(), extent.blocks()) {
            older.prefetch(extent.area(), extent.blocks(), LINES_AHEAD);
            spirit_kernel::reverse_into(self.level, block, &list[at..at + block.len()]);
            at += block.len();
            chain = older;
        }
        if blocks_of(count) > 0 {
            let start = postings.start() + maxima_at(first, count) * 4;
            let maxima = region.view(Span::<AtomicU64>::new(start, blocks_of(count)));
            let lengths = arrays.lengths_of(region, extent.record(ordinal).key().field());
            write_maxima(list, lengths, rank_of(self.counts.rows - 1), maxima);
        }
        if is_dense(count, self.bitmap_rows) {
            let start = postings.start() + bitmap_at(first, count) * 4;
            let bits = region.view(Span::<AtomicU64>::new(start, bitmap_words(self.bitmap_rows)));
            spirit_kernel::write_bitmap(list, bits, rank_of(self.bitmap_rows - 1));
        }
        (first as u32, after)
    }
}

fn intern(
    memory: &Memory,
    writer: &mut DictionaryWriter,
    extent: &Extent<'_>,
    ordinal: u32,
    key: TermKey,
    hash: u64,
) -> Result<TermId, DictionaryFull> {
    let mut long = [0; TERM_BYTES_MAX];
    let mut len = 0;
    if key.is_long() {
        for byte in extent.long_bytes(extent.record(ordinal)) {
            long[len] = byte;
            len += 1;
        }
    }
    writer.intern(memory.footing(), Term { key, bytes: &long[..len] }, hash)
}

/// A segment that the window has passed. Readers with the old window may still read it.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    id: SegmentId,
    stamp: u64,
}

/// Drops the oldest segment of the window, with one store for readers. The caller holds the key
/// lock.
pub fn drop_oldest(memory: &Memory) -> Option<Dropped> {
    let window = memory.window();
    if window.oldest == window.end {
        return None;
    }
    let (descriptor, _) = memory.table().get(window.oldest)?;
    let id = SegmentId(descriptor.id() as u32);
    if let Some(nvm) = memory.nvm() {
        // Retire the slot first. A dropped segment must not come back after a crash. Recovery must
        // also find the terms of each segment that it finds.
        Slots::new(memory.region(), nvm.layout()).retire(nvm.door(), id.position());
    }
    memory.note_expired(descriptor);
    memory.set_window(Window { oldest: window.oldest + 1, ..window });
    Some(Dropped { id, stamp: memory.pins().retire() })
}

impl Dropped {
    /// Takes the segment's terms out of the dictionary and frees its memory. True if done. It does
    /// nothing while a reader has the old window. Such a reader could look one term up before the
    /// sweep and another after it, and see half a document. `merged` returns the writer of the
    /// merged dictionary, if there is one. It is called only when the writer is needed.
    /// `before_memory` runs when nothing leads to the segment any more and its rows can still be
    /// read.
    pub fn sweep<'m>(
        self,
        memory: &Memory,
        merged: impl FnOnce() -> Option<&'m mut MergedWriter>,
        before_memory: impl FnOnce(SegmentId),
    ) -> bool {
        if memory.pins().horizon() <= self.stamp {
            return false;
        }
        if self.id.position() >= memory.coverage().terms_floor() {
            let end = self.id.position() + 1;
            let swept = each_term(memory, self.id, |writer, term| {
                writer.cut(memory.footing(), term, end);
                Ok(())
            });
            debug_assert!(swept.is_ok(), "the oldest entries go without building");
        }
        before_memory(self.id);
        if let Some((nvm, writer)) = memory.nvm().zip(merged()) {
            sweep_merged(memory, nvm, writer, self.id);
            memory.retire_blocks(Partition::NvmLong, self.id);
        }
        memory.table().clear(self.id.position());
        memory.retire_blocks(Partition::Long, self.id);
        memory.retire_slot(self.id.position());
        true
    }
}

/// Takes a segment's entries out of the dictionary. It can be repeated after it found no room.
pub fn sweep(memory: &Memory, id: SegmentId) -> Result<(), DictionaryFull> {
    each_term(memory, id, |writer, term| {
        writer.remove(memory.footing(), term, id).or_else(|_| {
            // Arrays that earlier terms left may be free by now.
            writer.collect(memory.footing());
            writer.remove(memory.footing(), term, id)
        })
    })
}

/// Calls `act` with each term that has an entry of the segment.
fn each_term(
    memory: &Memory,
    id: SegmentId,
    mut act: impl FnMut(&mut DictionaryWriter, TermId) -> Result<(), DictionaryFull>,
) -> Result<(), DictionaryFull> {
    let descriptor = memory.table().descriptor(id);
    if descriptor.term_map() == 0 {
        return each_term_by_key(memory, id, act);
    }
    let terms: Span<AtomicU32> = Span::new(descriptor.term_map(), descriptor.terms());
    let dictionary = Dictionary::new(memory.region(), memory.geometry());
    for group in memory.region().view(terms).chunks(GROUP) {
        let terms = || group.iter().map(|t| TermId(t.load(Relaxed))).filter(|t| *t != TermId::NONE);
        terms().for_each(|term| dictionary.prefetch_record(term));
        let mut writer = memory.dictionary();
        for number in group.iter().filter(|number| number.load(Relaxed) != TermId::NONE.0) {
            act(&mut writer, TermId(number.load(Relaxed)))?;
            // A retry must skip this term: its number may belong to another term by then.
            number.store(TermId::NONE.0, Relaxed);
        }
    }
    memory.dictionary().collect(memory.footing());
    Ok(())
}

/// Like [`each_term`], for a merged segment. It has no term map, so its terms are found by their
/// keys in the second tier.
fn each_term_by_key(
    memory: &Memory,
    id: SegmentId,
    mut act: impl FnMut(&mut DictionaryWriter, TermId) -> Result<(), DictionaryFull>,
) -> Result<(), DictionaryFull> {
    let nvm = memory.nvm().expect("a segment without a term map is in the second tier");
    let Ok((_, sections)) = nvm.sections(memory.region(), id.position()) else {
        return Ok(());
    };
    let region = memory.region();
    let dictionary = Dictionary::new(region, memory.geometry());
    let mut find = |term: Term<'_>| match dictionary.find(term, term.key.hash()) {
        Some(term) => act(&mut memory.dictionary(), term),
        None => Ok(()),
    };
    if let Some(terms) = packed_terms::of_sections(region, id, &sections) {
        let mut cursor = terms.cursor(0);
        // Each step moves the cursor one term on, so that the loop ends with the last term.
        while let Some((field, bytes, _)) = cursor.term() {
            Term::new(field, bytes).map_or(Ok(()), &mut find)?;
            cursor.advance();
        }
    }
    let merged = Merged::new(region, nvm.layout());
    let mut bytes = Vec::new();
    let lines = Nodes::of(region, &sections).iter().map(|node| node.record);
    for line in lines.filter(|line| (*line as usize) < merged.lines()) {
        merged.long_bytes(line, &mut bytes);
        find(Term { key: merged.key(line), bytes: &bytes })?;
    }
    memory.dictionary().collect(memory.footing());
    Ok(())
}

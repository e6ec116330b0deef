//! A snapshot: the state of an executor that one query sees, taken with five loads.
//!
//! The caller has pinned. [`memory`](crate::memory) explains the order of the loads. The window
//! comes first, so that a segment that is registered meanwhile is still read in its fresh form.

mod columns;
pub(crate) mod deaths;
mod frequency;
mod lengths;
mod listed_terms;
mod ordered_term;
mod packed;
mod terms;

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use spirit_mem::Span;

use crate::form::text_index::{TextIndex, TextScratch};
use crate::fresh::extent::Extent;
use crate::ground::corrupt::Corrupt;
use crate::ground::ids::{Position, SegmentId};
use crate::ground::posting::LOCAL_MAX;
use crate::ground::term::Term;
use crate::ground::values::Values;
use crate::memory::Memory;
use crate::memory::coverage::Coverage;
use crate::memory::descriptor::{Descriptor, Superseded, Window};
use crate::memory::expired::Expired;
use crate::memory::flushed::Flushed;
use crate::rows::record_places::RecordPlaces;
use crate::rows::texts::Texts;
use crate::rows::vector::Vectors;
use crate::rows::{KEY_APART, RowWords, Rows, STAMP_MAX};
use crate::terms::dictionary::Dictionary;
use crate::terms::entries::Entries;

pub use lengths::FieldLengths;
pub use ordered_term::OrderedTerm;
pub use terms::{TERMS_OF_BLOCK, TermCursor};

/// Largest number of fresh segments at a time: the number of extents.
pub const FRESH_MAX: usize = 3;

/// A position that no segment has.
const NOWHERE: Position = 1 << 31;

/// The state of an executor that a query sees.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    memory: &'a Memory,
    window: Window,
    /// The first of its segments that the dictionary covers.
    covered: Position,
    superseded: Superseded,
    visible: u64,
    /// The first segment that counts behind the window.
    fresh_from: Position,
}

/// The words of a [`Snapshot`] without the reference to its memory, for callers that reuse room for
/// several.
#[derive(Clone, Copy)]
pub struct Seen {
    window: Window,
    covered: Position,
    superseded: Superseded,
    visible: u64,
    fresh_from: Position,
}

/// One segment of a snapshot.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    memory: &'a Memory,
    descriptor: Descriptor<'a>,
    /// Number of the executor's rows that the snapshot sees, counted from the segment's base. This
    /// is the unit of death stamps.
    visible: u64,
}

impl<'a> Snapshot<'a> {
    /// Takes a snapshot of the state that is visible now.
    #[inline(always)]
    pub fn take(memory: &'a Memory) -> Snapshot<'a> {
        let roots = memory.roots();
        let mut window = Window::from_word(roots.window().load(Acquire));
        let word = roots.superseded().load(Acquire);
        let visible = roots.visible().load(Acquire);
        if roots.superseded().load(Relaxed) != word {
            return Snapshot::take_again(memory);
        }
        let superseded = Superseded::from_word(word);
        if superseded.is_switched() {
            // The window may have been loaded before or after the switch. The run's other positions
            // do not count.
            window.oldest = window.oldest.max(superseded.new.position());
        }
        let covered = Coverage(roots).terms_from().min(window.end).max(window.oldest);
        Snapshot { memory, window, covered, superseded, visible, fresh_from: window.end }
    }

    /// A rewrite took a step meanwhile: deaths of the visible operations may be stamped in the new
    /// version alone.
    #[cold]
    fn take_again(memory: &'a Memory) -> Snapshot<'a> {
        Snapshot::take(memory)
    }

    /// Leaves out the segments whose documents have all arrived at `ms` or before, as if they were
    /// dropped. 0 leaves out none.
    #[inline(always)]
    pub fn without_older(mut self, ms: u64) -> Snapshot<'a> {
        if ms > 0 {
            self.leave_out_older(ms);
        }
        self
    }

    /// Arrivals do not fall from one segment to the next, so the oldest segments are left out.
    #[cold]
    fn leave_out_older(&mut self, ms: u64) {
        let memory = self.memory;
        let is_over = |position| memory.arrived(position) <= ms;
        let first = (self.window.oldest..self.window.end).find(|position| !is_over(*position));
        self.leave_out_below(first.unwrap_or(self.window.end));
        if first.is_none() {
            let over = self.fresh().rev().take_while(|segment| is_over(segment.id().position()));
            self.fresh_from += over.count() as Position;
        }
    }

    /// Leaves out the oldest segment of the window if `expired` says that it is being dropped.
    pub fn without_dropped(mut self, expired: Expired) -> Snapshot<'a> {
        let oldest = self.window.oldest;
        if oldest < self.window.end && expired.has(oldest) {
            self.leave_out_below(oldest + 1);
        }
        self
    }

    /// Returns the part of the snapshot from a position of the window on, with the fresh segments.
    pub fn since(mut self, oldest: Position) -> Snapshot<'a> {
        self.leave_out_below(oldest);
        self
    }

    /// Returns the registered segments of `part` alone, which lies within the window.
    pub fn within(mut self, part: Window) -> Snapshot<'a> {
        self.covered = self.covered.clamp(part.oldest, part.end);
        (self.window, self.fresh_from) = (part, NOWHERE);
        self
    }

    /// Returns the number of rewrites before the snapshot, wrapping. Snapshots with equal numbers
    /// see the same version of each registered segment.
    pub fn switches(&self) -> u32 {
        self.superseded.switches()
    }

    /// Returns the end of the positions that rewrites have reached, or may reach soon. Rewrites take
    /// the oldest segments, and none ends at a lower position than the one before.
    pub fn rewritten_end(&self) -> Position {
        match self.has_versions() {
            true => self.superseded.new.position() + 1,
            false => 0,
        }
    }

    /// True if the registered segments of `part` have the living documents that a snapshot of
    /// `seen` rows, with as many [rewrites](Self::switches), saw in them. May be false though they
    /// have: deaths that are not visible yet count too.
    ///
    /// A death is noted before it is visible, and this snapshot was taken before the notes are
    /// loaded. So each death that it sees is among them.
    pub fn has_unchanged(&self, part: Window, seen: u64) -> bool {
        let is_unchanged = |position| {
            let Some(segment) = self.segment(position) else { return false };
            let newest = segment.descriptor.newest_death();
            newest < STAMP_MAX && u64::from(newest) <= seen.saturating_sub(segment.base_row())
        };
        self.memory.newest_death() <= seen || (part.oldest..part.end).all(is_unchanged)
    }

    /// Leaves out the segments of the window below `oldest`.
    fn leave_out_below(&mut self, oldest: Position) {
        self.window.oldest = oldest;
        self.covered = self.covered.max(oldest);
    }

    /// Returns the position of the oldest segment that counts.
    pub fn oldest(&self) -> Position {
        if self.window.oldest < self.window.end { self.window.oldest } else { self.fresh_from }
    }

    /// Returns the words of this snapshot.
    pub fn seen(&self) -> Seen {
        let Snapshot { window, covered, superseded, visible, fresh_from, .. } = *self;
        Seen { window, covered, superseded, visible, fresh_from }
    }

    /// Restores the snapshot of `memory` from its words.
    pub fn again(memory: &'a Memory, seen: Seen) -> Snapshot<'a> {
        let Seen { window, covered, superseded, visible, fresh_from } = seen;
        Snapshot { memory, window, covered, superseded, visible, fresh_from }
    }

    /// Takes the snapshot of the ingest role: its own rows below `rows`, visible or not.
    pub fn of_role(memory: &'a Memory, rows: u64) -> Snapshot<'a> {
        Snapshot { visible: rows, ..Snapshot::take(memory) }
    }

    /// Returns the memory of the snapshot.
    pub fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Returns the positions of the segments in the dictionary.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Returns the newest part of the window, whose terms' [entries](Self::entries) are in the DRAM
    /// dictionary.
    #[inline(always)]
    pub fn covered(&self) -> Window {
        Window { oldest: self.covered, ..self.window }
    }

    /// Returns the number of the executor's rows that are visible.
    pub fn visible(&self) -> u64 {
        self.visible
    }

    /// Yields the segments that are not in the dictionary yet, newest first.
    #[inline(always)]
    pub fn fresh(&self) -> impl DoubleEndedIterator<Item = Segment<'a>> + use<'a> {
        let mut found = [None; FRESH_MAX];
        for (i, place) in found.iter_mut().enumerate() {
            let Some(segment) = self.segment(self.fresh_from + i as u32) else { break };
            if segment.descriptor.base_row() >= self.visible {
                break;
            }
            *place = Some(segment);
        }
        found.into_iter().rev().flatten()
    }

    /// Returns the segment at a position, in any state.
    #[inline]
    pub fn segment(&self, position: u32) -> Option<Segment<'a>> {
        let (mut descriptor, _) = self.memory.table().get(position)?;
        if self.superseded.skips(SegmentId(descriptor.id() as u32)) {
            descriptor = self.memory.table().descriptor(SegmentId(descriptor.id() as u32).other());
        }
        let visible = self.visible.saturating_sub(descriptor.base_row());
        Some(Segment { memory: self.memory, descriptor, visible })
    }

    /// Returns the segment of an entry.
    #[inline]
    pub fn of(&self, id: SegmentId) -> Segment<'a> {
        let descriptor = self.memory.table().descriptor(id);
        let visible = self.visible.saturating_sub(descriptor.base_row());
        Segment { memory: self.memory, descriptor, visible }
    }

    /// True if an entry for `id` is of a version that a newer one replaced or is about to replace.
    #[inline(always)]
    pub fn skips(&self, id: SegmentId) -> bool {
        self.superseded.skips(id)
    }

    /// True if the dictionary may have entries of two versions of a segment, since the first
    /// rewrite.
    #[inline(always)]
    pub fn has_versions(&self) -> bool {
        self.superseded != Superseded::NOTHING
    }

    /// Returns a term's entries in the DRAM dictionary up to the window's end. May include entries
    /// of dropped segments, or of those that it does not [cover](Self::covered); callers stop at
    /// the first. Filtering here would cost one more cache line.
    #[inline]
    pub fn entries(&self, term: Term<'_>, hash: u64) -> Entries {
        let dictionary = Dictionary::new(self.memory.region(), self.memory.geometry());
        match dictionary.find(term, hash) {
            Some(id) => dictionary.entries(id).before(self.memory.region(), self.window.end),
            None => Entries::default(),
        }
    }

    /// Prefetches the dictionary line of a term.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        Dictionary::new(self.memory.region(), self.memory.geometry()).prefetch(hash);
    }

    /// Yields the segments in the dictionary, newest first.
    pub fn registered(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        let snapshot = *self;
        (self.window.oldest..self.window.end).rev().filter_map(move |p| snapshot.segment(p))
    }

    /// Yields all segments, newest first.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        self.fresh().chain(self.registered())
    }

    /// Finds the segment and local id of one of the executor's rows, if it is visible and retained.
    pub fn locate(&self, row: u64) -> Option<(Segment<'a>, u32)> {
        if row >= self.visible {
            return None;
        }
        if let Some(segment) = self.fresh().find(|s| s.base_row() <= row) {
            return Some((segment, (row - segment.base_row()) as u32));
        }
        let (mut low, mut high) = (self.window.oldest, self.window.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.segment(middle)?.base_row() <= row { low = middle + 1 } else { high = middle }
        }
        let segment = self.segment(low.checked_sub(1).filter(|p| *p >= self.window.oldest)?)?;
        segment.local_of(row).map(|local| (segment, local))
    }
}

impl<'a> Segment<'a> {
    /// Returns the segment's id.
    pub fn id(&self) -> SegmentId {
        SegmentId(self.descriptor.id() as u32)
    }

    /// Returns the memory that it is in.
    pub fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Returns its descriptor.
    pub fn descriptor(&self) -> Descriptor<'a> {
        self.descriptor
    }

    /// Returns the executor's row number of its first row.
    pub fn base_row(&self) -> u64 {
        self.descriptor.base_row()
    }

    /// Returns the executor's row number of a local id.
    pub fn row_number(&self, local: u32) -> u64 {
        self.base_row()
            + self.row_map().map_or(local, |map| map[local as usize].load(Relaxed)) as u64
    }

    /// Returns the number of its rows whose numbers in the executor are below `row`.
    pub fn rows_before(&self, row: u64) -> u32 {
        let delta = row.saturating_sub(self.base_row());
        let rows = match self.row_map() {
            None => delta,
            Some(map) => {
                map.partition_point(|number| u64::from(number.load(Relaxed)) < delta) as u64
            }
        };
        rows.min(u64::from(self.rows())) as u32
    }

    /// Returns the local id of one of the executor's rows, if the segment has it.
    pub fn local_of(&self, row: u64) -> Option<u32> {
        let delta = u32::try_from(row.checked_sub(self.base_row())?).ok()?;
        match self.row_map() {
            None => (delta < self.rows()).then_some(delta),
            Some(map) => map
                .binary_search_by_key(&delta, |number| number.load(Relaxed))
                .ok()
                .map(|i| i as u32),
        }
    }

    /// Returns the index-wide sequence number of a row.
    pub fn sequence(&self, local: u32) -> u64 {
        self.base_sequence() + self.row_table().row(local).sequence() as u64
    }

    /// Returns the number of the executor's rows between the segment's first row and its last.
    pub fn row_span(&self) -> u64 {
        self.rows().checked_sub(1).map_or(0, |last| self.row_number(last) - self.base_row())
    }

    /// Returns the distance of the sequence numbers of the segment's base and its last row.
    pub fn sequence_span(&self) -> u64 {
        self.rows().checked_sub(1).map_or(0, |last| self.row_table().row(last).sequence() as u64)
    }

    /// Returns the row numbers of a segment that was rewritten.
    fn row_map(&self) -> Option<&'a [AtomicU32]> {
        let start = self.descriptor.row_map();
        (start != 0).then(|| self.memory.region().view(Span::new(start, self.descriptor.rows())))
    }

    /// Returns the sequence number from which its rows count.
    pub fn base_sequence(&self) -> u64 {
        self.descriptor.base_sequence()
    }

    /// Returns the number of its rows that the snapshot sees.
    #[inline]
    pub fn rows(&self) -> u32 {
        self.visible.min(self.descriptor.rows()).min(LOCAL_MAX as u64 + 1) as u32
    }

    /// True if some of its rows may be dead. Deaths since the snapshot was taken count too.
    #[inline(always)]
    pub fn has_dead(&self) -> bool {
        self.descriptor.dead() > 0
    }

    /// True if the row is dead in the snapshot.
    #[inline]
    pub fn is_dead(&self, local: u32) -> bool {
        self.row_table().row(local).is_dead(self.visible)
    }

    /// Returns its rows.
    #[inline]
    pub fn row_table(&self) -> Rows<'a> {
        let geometry = self.memory.geometry();
        let directory = Span::new(self.descriptor.row_directory(), geometry.row_entries);
        Rows::new(self.memory.region(), directory, geometry.row_shift)
    }

    /// Returns the words of a row that lead to its document vector. Rows in the second tier may
    /// have no such words. Then the words in DRAM stay while any reader has an entry that does not
    /// lead to a packed list.
    #[inline]
    pub fn vector_row(&self, local: u32) -> RowWords<'a> {
        self.row_table().unpacked(local).unwrap_or_else(|| self.row_in_dram(local))
    }

    #[cold]
    fn row_in_dram(&self, local: u32) -> RowWords<'a> {
        let geometry = self.memory.geometry();
        let directory = Span::new(self.descriptor.counts(), geometry.row_entries);
        Rows::new(self.memory.region(), directory, geometry.row_shift).words(local)
    }

    /// Returns its document vectors. A segment with packed lists has none. A reader that finds an
    /// entry without a packed list finds the vectors in DRAM.
    pub fn vectors(&self) -> Vectors<'a> {
        self.vectors_behind(self.descriptor.vector_directory())
    }

    /// Yields the bytes of a stored key from its place in the row's key.
    pub(crate) fn stored_key(&self, unit: u32, len: usize) -> impl Iterator<Item = u8> + use<'a> {
        let vectors = match unit & KEY_APART {
            0 => self.vectors(),
            _ => self.vectors_behind(self.descriptor.packed_keys()),
        };
        vectors.bytes(unit & !KEY_APART, len)
    }

    fn vectors_behind(&self, directory: u64) -> Vectors<'a> {
        let geometry = self.memory.geometry();
        let directory = Span::new(directory, geometry.vector_entries);
        Vectors::new(self.memory.region(), directory, geometry.vector_shift)
    }

    /// Returns the values of a row's fields. For segments of [`Snapshot::fresh`] only.
    pub fn values(&self, local: u32) -> Values<'a> {
        let (region, geometry) = (self.memory.region(), self.memory.geometry());
        match RecordPlaces::new(region, geometry, self.descriptor.records()).get(local) {
            0 => Values::NONE,
            first => Values::new(self.extent().area().get(first as usize..).unwrap_or(&[])),
        }
    }

    /// Appends the text of a row that the snapshot sees, if texts are kept. A row that is not a
    /// document's appends nothing.
    pub fn write_text(
        &self,
        local: u32,
        scratch: &mut TextScratch,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        // One word leads to one copy of all texts, in DRAM or in the second tier.
        let (region, texts) = (self.memory.region(), self.descriptor.texts());
        if texts == 0 {
            Ok(())
        } else if texts < region.nvm_bytes() {
            TextIndex::at(region, texts)?.write(local, scratch, out)
        } else {
            let texts = Texts::new(region, self.memory.geometry(), texts);
            let place = texts.place(local);
            texts.write(place, 0, place.bytes, out);
            Ok(())
        }
    }

    /// Returns its texts, if they are kept and not in the second tier yet.
    pub(crate) fn dram_texts(&self) -> Option<Texts<'a>> {
        let (region, texts) = (self.memory.region(), self.descriptor.texts());
        let in_dram = texts != 0 && texts >= region.nvm_bytes();
        in_dram.then(|| Texts::new(region, self.memory.geometry(), texts))
    }

    /// Returns its lists in fresh form. For segments of [`Snapshot::fresh`] only.
    #[inline]
    pub fn extent(&self) -> Extent<'a> {
        Extent::new(self.memory.region(), self.memory.geometry(), self.descriptor.extent())
    }

    /// Returns the ordinals of a fresh segment's terms, in the order of their records. They may
    /// include new terms.
    pub fn fresh_ordinals(&self) -> Range<u32> {
        0..self.descriptor.terms() as u32
    }

    /// Returns its lists in flushed form. For segments within the window only.
    #[inline]
    pub fn flushed(&self) -> Flushed {
        Flushed::new(self.descriptor)
    }
}

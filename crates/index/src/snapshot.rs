//! A snapshot: what one query sees of an executor, taken with four loads.
//!
//! The caller has pinned. The order of the loads is argued in [`memory`](crate::memory): the window first,
//! so that a segment that is registered meanwhile is still read in its fresh form.

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
use crate::rows::{KEY_APART, RowWords, Rows};
use crate::terms::dictionary::Dictionary;
use crate::terms::entries::Entries;

pub use ordered_term::OrderedTerm;
pub use terms::TermCursor;

/// Fresh segments that can be alive at once: as many as there are extents.
pub const FRESH_MAX: usize = 3;

/// What a query sees.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    memory: &'a Memory,
    window: Window,
    /// The first of its segments that the dictionary covers.
    covered: Position,
    superseded: Superseded,
    visible: u64,
    /// The first segment that counts of those behind the window.
    fresh_from: Position,
}

/// The words of a [`Snapshot`] without the reference to its memory, for callers that reuse room for several.
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
    /// Rows of the executor that the snapshot sees, counted from the segment's base: the time of death stamps.
    visible: u64,
}

impl<'a> Snapshot<'a> {
    /// What is visible now.
    #[inline(always)]
    pub fn take(memory: &'a Memory) -> Snapshot<'a> {
        let roots = memory.roots();
        let mut window = Window::from_word(roots.window().load(Acquire));
        let superseded = Superseded::from_word(roots.superseded().load(Acquire));
        let visible = roots.visible().load(Acquire);
        if superseded.switched {
            // The window was loaded before the switch, or after it: the run's other positions do not count.
            window.oldest = window.oldest.max(superseded.new.position());
        }
        let covered = Coverage(roots).terms_from().min(window.end).max(window.oldest);
        Snapshot { memory, window, covered, superseded, visible, fresh_from: window.end }
    }

    /// Leaves out the segments whose documents have all arrived at `ms` or before, as if they had been dropped: 0 leaves out
    /// none.
    #[inline]
    pub fn without_older(self, ms: u64) -> Snapshot<'a> {
        if ms == 0 { self } else { self.after(ms) }
    }

    /// Arrivals do not fall from one segment to the next, so those that are left out are the oldest.
    #[inline(never)]
    fn after(mut self, ms: u64) -> Snapshot<'a> {
        let memory = self.memory;
        let is_over = |position| memory.arrived(position) <= ms;
        let first = (self.window.oldest..self.window.end).find(|position| !is_over(*position));
        self.leave_out_below(first.unwrap_or(self.window.end));
        if first.is_none() {
            let over = self.fresh().rev().take_while(|segment| is_over(segment.id().position()));
            self.fresh_from += over.count() as Position;
        }
        self
    }

    /// Leaves out the oldest segment of the window if it is being dropped, by `expired`.
    pub fn without_dropped(mut self, expired: Expired) -> Snapshot<'a> {
        let oldest = self.window.oldest;
        if oldest < self.window.end && expired.has(oldest) {
            self.leave_out_below(oldest + 1);
        }
        self
    }

    /// Leaves out the segments of the window below `oldest`.
    fn leave_out_below(&mut self, oldest: Position) {
        self.window.oldest = oldest;
        self.covered = self.covered.max(oldest);
    }

    /// The oldest segment that counts.
    pub fn oldest(&self) -> Position {
        if self.window.oldest < self.window.end { self.window.oldest } else { self.fresh_from }
    }

    /// The words of this snapshot.
    pub fn seen(&self) -> Seen {
        let Snapshot { window, covered, superseded, visible, fresh_from, .. } = *self;
        Seen { window, covered, superseded, visible, fresh_from }
    }

    /// The snapshot of `memory` that these words were taken from.
    pub fn again(memory: &'a Memory, seen: Seen) -> Snapshot<'a> {
        let Seen { window, covered, superseded, visible, fresh_from } = seen;
        Snapshot { memory, window, covered, superseded, visible, fresh_from }
    }

    /// What the ingest role sees: its own rows below `rows`, visible or not.
    pub fn of_role(memory: &'a Memory, rows: u64) -> Snapshot<'a> {
        Snapshot { visible: rows, ..Snapshot::take(memory) }
    }

    /// The memory it is of.
    pub fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// The segments in the dictionary.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Those of them whose terms' [entries](Self::entries) are in the DRAM dictionary: the newest.
    #[inline(always)]
    pub fn covered(&self) -> Window {
        Window { oldest: self.covered, ..self.window }
    }

    /// Rows of the executor that are visible.
    pub fn visible(&self) -> u64 {
        self.visible
    }

    /// The segments that are not in the dictionary yet, newest first.
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

    /// The segment at a position, whatever its state.
    #[inline]
    pub fn segment(&self, position: u32) -> Option<Segment<'a>> {
        let (mut descriptor, _) = self.memory.table().get(position)?;
        if self.superseded.skips(SegmentId(descriptor.id() as u32)) {
            descriptor = self.memory.table().descriptor(SegmentId(descriptor.id() as u32).other());
        }
        let visible = self.visible.saturating_sub(descriptor.base_row());
        Some(Segment { memory: self.memory, descriptor, visible })
    }

    /// The segment of an entry.
    #[inline]
    pub fn of(&self, id: SegmentId) -> Segment<'a> {
        let descriptor = self.memory.table().descriptor(id);
        let visible = self.visible.saturating_sub(descriptor.base_row());
        Segment { memory: self.memory, descriptor, visible }
    }

    /// Whether an entry for `id` is of a version that a newer one replaced (or is going to).
    #[inline(always)]
    pub fn skips(&self, id: SegmentId) -> bool {
        self.superseded.skips(id)
    }

    /// Whether entries of two versions of a segment may be in the dictionary: since the first rewriting.
    #[inline(always)]
    pub fn has_versions(&self) -> bool {
        self.superseded != Superseded::NOTHING
    }

    /// A term's entries in the DRAM dictionary up to the window's end. May include entries of dropped segments, or of those that it does not
    /// [cover](Self::covered); callers stop at the first. Filtering here would cost one more cache line.
    #[inline]
    pub fn entries(&self, term: Term<'_>, hash: u64) -> Entries {
        let dictionary = Dictionary::new(self.memory.region(), self.memory.geometry());
        match dictionary.find(term, hash) {
            Some(id) => dictionary.entries(id).before(self.memory.region(), self.window.end),
            None => Entries::default(),
        }
    }

    /// Asks for the dictionary line of a term.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        Dictionary::new(self.memory.region(), self.memory.geometry()).prefetch(hash);
    }

    /// The segments in the dictionary, newest first.
    pub fn registered(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        let snapshot = *self;
        (self.window.oldest..self.window.end).rev().filter_map(move |p| snapshot.segment(p))
    }

    /// All segments, newest first.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        self.fresh().chain(self.registered())
    }

    /// The segment and local id of one of the executor's rows, if it is visible and retained.
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
    /// The segment's id.
    pub fn id(&self) -> SegmentId {
        SegmentId(self.descriptor.id() as u32)
    }

    /// The memory it is in.
    pub fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Its descriptor.
    pub fn descriptor(&self) -> Descriptor<'a> {
        self.descriptor
    }

    /// The executor's row number of its first row.
    pub fn base_row(&self) -> u64 {
        self.descriptor.base_row()
    }

    /// The executor's row number of a local id.
    pub fn row_number(&self, local: u32) -> u64 {
        self.base_row()
            + self.row_map().map_or(local, |map| map[local as usize].load(Relaxed)) as u64
    }

    /// The local id of one of the executor's rows, if the segment has it.
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

    /// The index-wide sequence number of a row.
    pub fn sequence(&self, local: u32) -> u64 {
        self.base_sequence() + self.row_table().row(local).sequence() as u64
    }

    /// Rows of the executor from the segment's first to its last.
    pub fn row_span(&self) -> u64 {
        self.rows().checked_sub(1).map_or(0, |last| self.row_number(last) - self.base_row())
    }

    /// Sequence numbers from the segment's base to its last row's.
    pub fn sequence_span(&self) -> u64 {
        self.rows().checked_sub(1).map_or(0, |last| self.row_table().row(last).sequence() as u64)
    }

    /// The row numbers of a segment that was rewritten.
    fn row_map(&self) -> Option<&'a [AtomicU32]> {
        let start = self.descriptor.row_map();
        (start != 0).then(|| self.memory.region().view(Span::new(start, self.descriptor.rows())))
    }

    /// The sequence number from which its rows count.
    pub fn base_sequence(&self) -> u64 {
        self.descriptor.base_sequence()
    }

    /// How many of its rows the snapshot sees.
    #[inline]
    pub fn rows(&self) -> u32 {
        self.visible.min(self.descriptor.rows()).min(LOCAL_MAX as u64 + 1) as u32
    }

    /// Whether it has rows that are dead, or were when the snapshot was taken or since.
    #[inline(always)]
    pub fn has_dead(&self) -> bool {
        self.descriptor.dead() > 0
    }

    /// Whether the snapshot finds the row dead.
    #[inline]
    pub fn is_dead(&self, local: u32) -> bool {
        self.row_table().row(local).is_dead(self.visible)
    }

    /// Its rows.
    #[inline]
    pub fn row_table(&self) -> Rows<'a> {
        let geometry = self.memory.geometry();
        let directory = Span::new(self.descriptor.row_directory(), geometry.row_entries);
        Rows::new(self.memory.region(), directory, geometry.row_shift)
    }

    /// The words of a row that say where its document vector is. Rows in the second tier may have no such words: then those in DRAM
    /// are there for as long as anybody has found an entry that does not lead to a packed list.
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

    /// Its document vectors. Of a segment whose lists are packed there are none: anyone who finds an entry that does not lead to a
    /// packed list finds those in DRAM.
    pub fn vectors(&self) -> Vectors<'a> {
        self.vectors_behind(self.descriptor.vector_directory())
    }

    /// The bytes of a stored key, as a row's key says where it is.
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

    /// The values of a row's fields. For segments of [`Snapshot::fresh`] only.
    pub fn values(&self, local: u32) -> Values<'a> {
        let (region, geometry) = (self.memory.region(), self.memory.geometry());
        match RecordPlaces::new(region, geometry, self.descriptor.records()).get(local) {
            0 => Values::NONE,
            first => Values::new(self.extent().area().get(first as usize..).unwrap_or(&[])),
        }
    }

    /// Appends the text of a row that the snapshot sees, if texts are kept: nothing where the row is no document's.
    pub fn write_text(
        &self,
        local: u32,
        scratch: &mut TextScratch,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        // One word leads to either copy of all texts.
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

    /// Its texts, if they are kept and were not moved to the second tier.
    pub(crate) fn dram_texts(&self) -> Option<Texts<'a>> {
        let (region, texts) = (self.memory.region(), self.descriptor.texts());
        let in_dram = texts != 0 && texts >= region.nvm_bytes();
        in_dram.then(|| Texts::new(region, self.memory.geometry(), texts))
    }

    /// Its lists in fresh form. For segments of [`Snapshot::fresh`] only.
    #[inline]
    pub fn extent(&self) -> Extent<'a> {
        Extent::new(self.memory.region(), self.memory.geometry(), self.descriptor.extent())
    }

    /// The ordinals of a fresh segment's terms, as their records lie; those that are new meanwhile may be among them.
    pub fn fresh_ordinals(&self) -> Range<u32> {
        0..self.descriptor.terms() as u32
    }

    /// Its lists in flushed form. For segments within the window only.
    #[inline]
    pub fn flushed(&self) -> Flushed {
        Flushed::new(self.descriptor)
    }
}

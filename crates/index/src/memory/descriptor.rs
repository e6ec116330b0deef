//! The global descriptor table (paper §4.3): it leads readers to a segment's copy.
//!
//! A segment has a *position* in the index's order and an *id*, which is the position and a version
//! bit. A segment that is rewritten keeps its position and changes its version. A table slot holds
//! one word: the pointer to the descriptor of the copy to read (GSP), whose low three bits are the
//! segment's state.
//!
//! The paper's slot has a second pointer, to the persistent copy of a segment that is not committed
//! (NSP). Here it would have no reader: that copy is found by its position, in the slots of the file
//! (`Nvm::sections`).

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Line, Region};

use crate::ground::geometry::{DESCRIPTOR_LINES, Geometry};
use crate::ground::ids::{Position, SegmentId, State};
use crate::ground::section::{Kind, Section, Sections};
use crate::rows::lengths::{LengthArray, Statistics};
use crate::rows::stamps::Stamps;

/// The low bits of a GSP that hold the state.
const TAG: u64 = 7;

/// Flag in [`lists`](Descriptor::lists): dense lists have bitmaps.
const BITMAPS: u64 = 1;

/// Flag in the word that leads to a segment's terms in order: they are packed terms.
const PACKED_TERMS: u64 = 1;

/// Bits of the word of deaths that count dead rows.
const COUNT_BITS: u32 = 32;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// One segment's descriptor: 64-bit words on four cache lines. A query, with its scores, needs only
/// the first. For columns or terms in order it also needs the fourth. It needs the fourth of the
/// window's first and last segment too. The third is for data that is rarely read.
#[derive(Clone, Copy)]
pub struct Descriptor<'a> {
    lines: &'a [Line],
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $set:ident = $index:expr;)*) => {
        impl<'a> Descriptor<'a> {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub fn $name(self) -> u64 {
                    self.at($index).load(Acquire)
                }
                #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
                pub fn $set(self, value: u64) {
                    self.at($index).store(value, Release);
                }
            )*
        }
    };
}

words! {
    /// The segment's id.
    id, set_id = 0;
    /// The executor's row number of local id 0.
    base_row, set_base_row = 1;
    /// Number of rows, once the segment is full; `u64::MAX` before.
    rows, set_rows = 2;
    /// The deaths of its rows, in one word: [`dead`](Self::dead) and
    /// [`newest_death`](Self::newest_death).
    deaths, set_deaths = 3;
    /// Offset of the posting arrays, which begin at a line. The lowest bit is set if dense lists
    /// have bitmaps, for which there may have been no room.
    lists, set_lists = 4;
    /// Place of the documents' lengths, as a word of [`LengthArray`]; 0 until the segment is
    /// flushed.
    lengths, set_lengths = 5;
    /// The index-wide sequence number from which the rows' deltas count.
    base_sequence, set_base_sequence = 6;
    /// Offset of the row chunks' directory.
    row_directory, set_row_directory = 7;
    /// Offset of the vector chunks' directory.
    vector_directory, set_vector_directory = 8;
    /// Offset of the fresh extent.
    extent, set_extent = 9;
    /// Number of words of the posting arrays.
    posting_words, set_posting_words = 10;
    /// Offset of the map from the segment's ordinals to dictionary terms. 0 once the segment is in
    /// the second tier, which has their keys.
    term_map, set_term_map = 11;
    /// Number of distinct terms. In a fresh segment, at least those of the visible rows.
    terms, set_terms = 12;
    /// Number of postings.
    posting_count, set_posting_count = 13;
    /// Number of tokens, with repeated ones, and with holes where document vectors are kept.
    tokens, set_tokens = 14;
    /// Units of the document vectors and stored keys.
    vector_units, set_vector_units = 15;
    /// Offset of the rows' numbers, counted from the base, if the segment was rewritten. 0: they
    /// are the local ids.
    row_map, set_row_map = 16;
    /// The first automatic key of its rows.
    numbers_start, set_numbers_start = 17;
    /// One past the last automatic key of its rows; 0 if there are no such keys.
    numbers_end, set_numbers_end = 18;
    /// Place of the death stamps of the copy in the second tier, as a word of `Stamps`, once deaths
    /// are stamped there too; 0 before.
    stamps, set_stamps = 19;
    /// Place of its texts, if they are kept: the offset of their directory in DRAM, or of their
    /// index in the second tier. It is one word, so that one store moves readers.
    texts, set_texts = 20;
    /// Offset of the directory of its rows' values, while it is fresh. It stays when readers of
    /// rows move elsewhere. So do the chunks that it leads to, while any reader takes the segment
    /// for a fresh one.
    records, set_records = 23;
    /// Bytes of its documents' texts, as they were given.
    text_bytes, set_text_bytes = 21;
    /// Offset of the directory of row chunks with running counts behind the rows. 0 if the segment
    /// never was fresh here. It stays when readers of rows move elsewhere. So do the chunks, while
    /// any reader takes the segment for a fresh one.
    counts, set_counts = 22;
    /// Number of kept tokens, and of documents with any, once the segment is flushed: the word of
    /// `Statistics`.
    kept_word, set_kept_word = 24;
    /// Offset of its columns; 0 if it has none, or is not flushed yet. One word leads to all of
    /// them.
    columns, set_columns = 25;
    /// Running total of documents: those of this segment and of all older ones back to some first
    /// one, wrapping. Only differences count.
    total_documents, set_total_documents = 26;
    /// Running total of tokens, like [`total_documents`](Self::total_documents).
    total_tokens, set_total_tokens = 27;
    /// Offset of the order of its terms, in DRAM, or in the second tier as soon as it is engraved.
    /// It leads to the whole order. The lowest bit is set if it leads to packed terms instead. 0
    /// until the segment is flushed.
    term_order, set_term_order = 28;
    /// Offset of its packed lists, once it is engraved with such. For readers that find an entry of
    /// one.
    packed, set_packed = 29;
    /// Number of words of its packed lists; 0 if it has none.
    packed_words, set_packed_words = 30;
    /// Offset of the directory of chunks of stored keys beside packed lists. For readers that find
    /// a row with such a key.
    packed_keys, set_packed_keys = 31;
}

impl<'a> Descriptor<'a> {
    /// Sets the place of the posting arrays, and whether dense lists have bitmaps.
    pub fn lead_to_lists(self, start: u64, bitmaps: bool) {
        debug_assert!(start & BITMAPS == 0);
        self.set_lists(start | if bitmaps { BITMAPS } else { 0 });
    }

    /// Returns the offset of the posting arrays, and the number of rows of each bitmap, or 0 if
    /// there are no bitmaps.
    #[inline(always)]
    pub fn postings_and_bitmap_rows(self) -> (u64, u32) {
        let lists = self.lists();
        (lists & !BITMAPS, if lists & BITMAPS == 0 { 0 } else { self.rows() as u32 })
    }

    /// Returns the number of rows that are deleted or never were documents.
    #[inline(always)]
    pub fn dead(self) -> u64 {
        self.deaths() & COUNT_MASK
    }

    /// Returns the stamp of the newest death of a document here, or 0. Operations that a snapshot
    /// sees were noted before it. So a snapshot that loads no later stamp than an earlier one saw
    /// has the same living rows.
    pub fn newest_death(self) -> u32 {
        (self.deaths() >> COUNT_BITS) as u32
    }

    /// Sets the number of dead rows.
    pub fn set_dead(self, dead: u64) {
        self.set_deaths(self.deaths() & !COUNT_MASK | dead & COUNT_MASK);
    }

    /// Notes the stamp of a death.
    pub fn note_death(self, stamp: u32) {
        let newest = self.newest_death().max(stamp);
        self.set_deaths(u64::from(newest) << COUNT_BITS | self.dead());
    }

    /// Returns the offset of the posting arrays.
    pub fn postings(self) -> u64 {
        self.postings_and_bitmap_rows().0
    }

    /// Returns the number of rows of each bitmap, or 0 if lists have none.
    pub fn bitmap_rows(self) -> u32 {
        self.postings_and_bitmap_rows().1
    }

    /// Returns the statistics of its rows, once it is flushed.
    pub fn kept(self) -> Statistics {
        Statistics::from_word(self.kept_word())
    }

    /// Returns the statistics of its rows and those of older segments: a running total, of which
    /// only differences count.
    pub fn total(self) -> Statistics {
        Statistics { documents: self.total_documents(), tokens: self.total_tokens() }
    }

    /// Sets the statistics of its rows.
    pub fn set_kept(self, kept: Statistics) {
        self.set_kept_word(kept.word());
    }

    /// Sets the running total of its rows and those of older segments.
    pub fn set_total(self, total: Statistics) {
        self.set_total_documents(total.documents);
        self.set_total_tokens(total.tokens);
    }

    /// Leads readers to an engraved segment's copy, but to its stamps and terms: to these they are
    /// led once it is engraved. Packed data has its own words, since rows and entries say to which
    /// form they lead.
    pub fn lead_to(self, sections: &Sections) {
        let start = |kind| sections.get(kind).start;
        self.set_row_directory(start(Kind::RowDirectory));
        if sections.are_packed() {
            self.set_posting_words(0);
            self.set_vector_units(sections.get(Kind::Vectors).bytes / 2);
        } else {
            self.set_vector_directory(start(Kind::VectorDirectory));
            self.set_lists(start(Kind::Postings) | self.lists() & BITMAPS);
        }
        self.set_lengths(LengthArray::word(sections.get(Kind::Lengths), self.rows()));
        let if_any = |section: Section| if section.bytes > 0 { section.start } else { 0 };
        self.set_columns(if_any(sections.get(Kind::Columns)));
        self.set_texts(if_any(sections.get(Kind::TextIndex)));
        self.set_term_map(0);
    }

    /// Leads operations to the death stamps of an engraved segment's copy.
    pub(crate) fn lead_to_stamps(self, sections: &Sections) {
        self.set_stamps(Stamps::of(sections).word());
    }

    /// Leads readers of terms in order to an engraved segment's copy. For packed terms it first
    /// sets the places of their lists, and of the stored keys beside these.
    pub(crate) fn lead_to_terms(self, sections: &Sections) {
        if !sections.are_packed() {
            return self.set_term_order(sections.get(Kind::TermOrder).start);
        }
        let lists = sections.get(Kind::PackedLists);
        self.set_packed(lists.start);
        self.set_packed_words(lists.bytes / 4);
        self.set_packed_keys(sections.get(Kind::VectorDirectory).start);
        self.set_term_order(sections.get(Kind::PackedTerms).start | PACKED_TERMS);
    }

    #[inline(always)]
    fn at(self, index: usize) -> &'a AtomicU64 {
        self.lines[index >> 3].pair(index & 7)
    }
}

/// Returns the offset of packed terms, if the word that leads to a segment's terms in order leads
/// to such.
#[inline(always)]
pub(crate) fn packed_terms_at(term_order: u64) -> Option<u64> {
    (term_order & PACKED_TERMS != 0).then_some(term_order & !PACKED_TERMS)
}

/// The table of segments' descriptors.
#[derive(Clone, Copy)]
pub struct DescriptorTable<'a> {
    slots: &'a [AtomicU64],
    lines: &'a [Line],
    lines_start: u64,
    mask: u64,
}

impl<'a> DescriptorTable<'a> {
    /// Returns the table of `geometry` in `region`.
    #[inline]
    pub fn new(region: &'a Region, geometry: &Geometry) -> Self {
        DescriptorTable {
            slots: region.dram(geometry.table),
            lines: region.dram(geometry.descriptors),
            lines_start: geometry.descriptors.start(),
            mask: geometry.segments_max - 1,
        }
    }

    /// Returns the descriptor of `id`, even if readers are not led to it.
    #[inline]
    pub fn descriptor(self, id: SegmentId) -> Descriptor<'a> {
        let slot = (id.position() as u64 & self.mask) * 2 + (id.0 & 1) as u64;
        self.at(slot as usize * DESCRIPTOR_LINES)
    }

    #[inline]
    fn at(self, line: usize) -> Descriptor<'a> {
        Descriptor { lines: &self.lines[line..line + DESCRIPTOR_LINES] }
    }

    /// Returns the descriptor and state that readers of `position` are led to, or `None` if there
    /// is no such segment.
    #[inline]
    pub fn get(self, position: Position) -> Option<(Descriptor<'a>, State)> {
        let gsp = self.slot(position).load(Acquire);
        let state = State::from_tag(gsp & TAG)?;
        let line = ((gsp & !TAG) - self.lines_start) / size_of::<Line>() as u64;
        let descriptor = self.at(line as usize);
        (descriptor.id() >> 1 == position as u64).then_some((descriptor, state))
    }

    /// Leads readers of the segment to `id`'s descriptor, in `state`. All that the descriptor names
    /// was written before. This is the release store that readers acquire.
    pub fn publish(self, id: SegmentId, state: State) {
        let slot = (id.position() as u64 & self.mask) * 2 + (id.0 & 1) as u64;
        let offset = self.lines_start + slot * (DESCRIPTOR_LINES * size_of::<Line>()) as u64;
        self.slot(id.position()).store(offset | state as u64, Release);
    }

    /// Returns the running [total](Descriptor::total) of the segment before `position`, from which
    /// the segment there continues. Without such a segment the total begins anew: no reader
    /// subtracts totals of segments in different windows.
    pub fn total_before(self, position: Position) -> Statistics {
        let before = position.checked_sub(1).and_then(|before| self.get(before));
        before.map_or(Statistics::default(), |(descriptor, _)| descriptor.total())
    }

    /// Clears the slot of `position`: the segment is gone.
    pub fn clear(self, position: Position) {
        self.slot(position).store(0, Relaxed);
    }

    #[inline(always)]
    fn slot(self, position: Position) -> &'a AtomicU64 {
        &self.slots[(position as u64 & self.mask) as usize]
    }
}

/// The versions that readers skip while the oldest segments are being rewritten, in one word.
///
/// | bits | |
/// |---|---|
/// | 0 .. 32 | the version that is being built, or was built last |
/// | 32 | set if readers use it |
/// | 33 .. 64 | the number of switches, wrapping |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superseded {
    /// The version that is being built, or was built last.
    pub new: SegmentId,
    /// The upper half of the word.
    state: u32,
}

impl Superseded {
    /// Nothing is skipped: no segment has this id.
    pub const NOTHING: Superseded = Superseded { new: SegmentId(u32::MAX), state: 0 };

    /// Parses its word.
    #[inline(always)]
    pub fn from_word(word: u64) -> Superseded {
        Superseded { new: SegmentId(word as u32), state: (word >> 32) as u32 }
    }

    /// Returns its word.
    pub fn word(self) -> u64 {
        self.new.0 as u64 | (self.state as u64) << 32
    }

    /// Returns the word that announces a version: readers skip it.
    pub fn announcing(self, new: SegmentId) -> Superseded {
        Superseded { new, state: self.state & !SWITCHED }
    }

    /// Returns the word that makes readers use a version, and skip all others at its position or
    /// before.
    pub fn switching_to(self, new: SegmentId) -> Superseded {
        Superseded { new, state: (self.state & !SWITCHED).wrapping_add(ONE_SWITCH) | SWITCHED }
    }

    /// True if readers use the new version and skip all others at its position or before. Otherwise
    /// they skip the new version.
    #[inline(always)]
    pub fn is_switched(self) -> bool {
        self.state & SWITCHED != 0
    }

    /// Returns the number of switches, wrapping. Two snapshots with equal numbers see the same
    /// version of each segment that both see.
    pub fn switches(self) -> u32 {
        self.state / ONE_SWITCH
    }

    /// True if readers skip `id`.
    #[inline(always)]
    pub fn skips(self, id: SegmentId) -> bool {
        if self.is_switched() {
            id != self.new && id.position() <= self.new.position()
        } else {
            id == self.new
        }
    }
}

/// Flag in the upper half of the word of [`Superseded`]: readers use the new version.
const SWITCHED: u32 = 1;
/// A switch, in the upper half of that word.
const ONE_SWITCH: u32 = 2;

/// A window's segments, `oldest .. end`, in one word: every query takes it with one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The oldest retained position.
    pub oldest: Position,
    /// One past the newest position whose terms are in the dictionary.
    pub end: Position,
}

impl Window {
    /// Parses its word.
    #[inline(always)]
    pub fn from_word(word: u64) -> Window {
        Window { oldest: (word >> 32) as u32, end: word as u32 }
    }

    /// Returns its word.
    pub fn word(self) -> u64 {
        (self.oldest as u64) << 32 | self.end as u64
    }

    /// True if the dictionary's entries for `id` count.
    #[inline(always)]
    pub fn holds(self, id: SegmentId) -> bool {
        id.position() >= self.oldest && id.position() < self.end
    }
}

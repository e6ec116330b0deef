//! A term's entries in the dictionary, oldest first: one a segment in which it has postings.
//!
//! | entry word (32 bit) | |
//! |---|---|
//! | 0 | segment id |
//! | 1 | postings; or bit 31, which says that there is one, and where in its document that is |
//! | 2 | the posting if there is one, else the place of the list; bit 31: in packed lists |
//! | 3 | running total of postings up to and with this entry (wrapping) |
//!
//! Running totals reduce a term's document frequency in any window to one subtraction.
//!
//! An engraved segment may get packed lists. Its entries are then changed one by one to lead to
//! these, while queries read them. A change stores one word of the entry. So an entry is consistent
//! at any time, and says in which form its postings are.
//!
//! If the index keeps positions, a packed segment's entry with one posting leads to its positions.
//! A frequency of 1 stores the position. A higher one stores the place of its
//! [positions](crate::lists::packed::Positions).

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Region, Span};

use crate::ground::ids::{Position, SegmentId};

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: u64 = 16;

/// Flag in the word of postings: there is one posting, and the bits below are its position or the
/// place of its positions.
pub(crate) const ALONE: u32 = 1 << 31;
/// Flag in the payload of several postings: they are packed.
pub(crate) const PACKED: u32 = 1 << 31;

/// A term's postings in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The segment.
    pub segment: SegmentId,
    /// Number of postings.
    pub postings: u32,
    /// The posting if there is one. Otherwise the place of the list, in the segment's posting words
    /// or in its packed lists.
    pub payload: u32,
    /// Number of postings in all entries up to and with this one, wrapping.
    pub total: u32,
    /// The word of postings if it has the flag `ALONE`; else 0.
    pub alone: u32,
}

impl Entry {
    /// No entry.
    pub const NONE: Entry =
        Entry { segment: SegmentId(u32::MAX), postings: 0, payload: 0, total: 0, alone: 0 };

    /// Splits a word of postings into the number of postings, and the word if it has the flag
    /// `ALONE`.
    #[inline(always)]
    pub(crate) fn split(word: u32) -> (u32, u32) {
        if word & ALONE == 0 { (word, 0) } else { (1, word) }
    }

    /// Returns its word of postings.
    #[inline]
    pub(crate) fn postings_word(&self) -> u32 {
        if self.alone == 0 { self.postings } else { self.alone }
    }

    /// Returns the place of its packed list, in words, if it leads to one.
    #[inline(always)]
    pub(crate) fn packed_at(&self) -> Option<u32> {
        self.is_packed().then_some(self.payload & !PACKED)
    }

    /// True if it leads to positions, if the index keeps them. Otherwise document vectors have
    /// them.
    pub fn has_positions(&self) -> bool {
        self.is_packed() || self.alone != 0
    }

    /// True if it leads to a packed list.
    #[inline(always)]
    pub fn is_packed(&self) -> bool {
        self.postings > 1 && self.payload & PACKED != 0
    }
}

/// The place of a term's entries, oldest first. A query can keep it without borrowing the index. It
/// is valid while the reader that found it stays pinned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entries {
    pub(crate) words: Span<AtomicU32>,
}

impl Entries {
    /// Returns the number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.words.len() as usize / 4
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the place of the entry at `index`.
    #[inline(always)]
    fn at(&self, index: usize) -> Span<AtomicU32> {
        debug_assert!(index < self.len());
        Span::new(self.words.start() + index as u64 * ENTRY_BYTES, 4)
    }

    /// Returns the entry at `index` (0 is the oldest).
    #[inline(always)]
    pub fn get(&self, region: &Region, index: usize) -> Entry {
        self.view(region).get(index)
    }

    /// Yields all entries, oldest first.
    pub fn iter<'a>(&self, region: &'a Region) -> impl ExactSizeIterator<Item = Entry> + use<'a> {
        let list = self.view(region);
        (0..self.len()).map(move |index| list.get(index))
    }

    /// Returns a view of the entries that checks bounds and place once, not for each entry.
    #[inline(always)]
    pub fn view<'a>(&self, region: &'a Region) -> EntryList<'a> {
        EntryList(region.dram(self.words).as_chunks().0)
    }

    /// Returns the posting of the entry at `index`, which has one, as a run of one word.
    pub fn single(&self, index: usize) -> Span<AtomicU32> {
        Span::new(self.at(index).start() + 8, 1)
    }

    /// Returns the index of a segment's entry, which is one of the newest.
    pub fn rfind(&self, region: &Region, segment: SegmentId) -> Option<usize> {
        (0..self.len()).rev().find(|i| self.segment(region, *i) == segment)
    }

    /// Returns the index of a segment's entry.
    pub fn find(&self, region: &Region, segment: SegmentId) -> Option<usize> {
        (0..self.len()).find(|i| self.segment(region, *i) == segment)
    }

    /// Counts the entries of segments before `segment`. Fast if few segments are newer.
    pub fn count_before(&self, region: &Region, segment: SegmentId) -> usize {
        let newer = (0..self.len()).rev().take_while(|i| self.segment(region, *i) >= segment);
        self.len() - newer.count()
    }

    /// Returns the segment of the entry at `index`.
    #[inline(always)]
    pub fn segment(&self, region: &Region, index: usize) -> SegmentId {
        self.view(region).segment(index)
    }

    /// Returns the entries without those of segments from `end` on, which are being registered.
    #[inline]
    pub fn before(&self, region: &Region, end: Position) -> Entries {
        let mut len = self.len();
        while len > 0 && self.segment(region, len - 1).position() >= end {
            len -= 1;
        }
        Entries { words: Span::new(self.words.start(), len as u64 * 4) }
    }
}

/// A view of a term's entries, oldest first.
#[derive(Clone, Copy)]
pub struct EntryList<'a>(&'a [[AtomicU32; 4]]);

impl<'a> EntryList<'a> {
    /// Makes the view of the entries in `words`.
    pub fn new(words: &'a [[AtomicU32; 4]]) -> EntryList<'a> {
        EntryList(words)
    }

    /// Returns the posting of the entry at `index`, which has one, as a run of one word.
    #[inline(always)]
    pub fn single(self, index: usize) -> &'a [AtomicU32] {
        &self.0[index][2..3]
    }

    /// Yields all entries, oldest first.
    pub fn iter(self) -> impl Iterator<Item = Entry> + use<'a> {
        (0..self.0.len()).map(move |index| self.get(index))
    }

    /// Returns the entries of segments from `oldest` on.
    #[inline]
    pub fn from(self, oldest: Position) -> EntryList<'a> {
        let entries = 0..self.0.len();
        let gone = entries.take_while(|i| self.segment(*i).position() < oldest).count();
        EntryList(&self.0[gone..])
    }

    /// Returns the number of postings in all entries.
    #[inline]
    pub fn postings(self) -> u32 {
        let Some(last) = self.0.len().checked_sub(1) else { return 0 };
        let (first, last) = (self.get(0), self.get(last));
        last.total.wrapping_sub(first.total).wrapping_add(first.postings)
    }
}

impl EntryList<'_> {
    /// Returns the entry at `index`.
    #[inline(always)]
    pub fn get(self, index: usize) -> Entry {
        let [segment, postings, payload, total] = &self.0[index];
        // Acquire: the data of a packed list was stored before its entry.
        let (postings, alone) = Entry::split(postings.load(Acquire));
        Entry {
            segment: SegmentId(segment.load(Relaxed)),
            postings,
            payload: payload.load(Acquire),
            total: total.load(Relaxed),
            alone,
        }
    }

    /// Leads the entry at `index` to the packed form of its postings, or to the positions of its
    /// only one. Flush stage only.
    pub(crate) fn lead_to_packed(self, index: usize, packed: Entry) {
        let [_, postings, payload, _] = &self.0[index];
        if packed.postings > 1 {
            payload.store(packed.payload, Release);
        } else {
            postings.store(packed.postings_word(), Release);
        }
    }

    /// Returns the entry of a segment. Entries ascend by their segments' ids.
    pub fn of(self, segment: SegmentId) -> Option<Entry> {
        let index = self.0.partition_point(|words| words[0].load(Relaxed) < segment.0);
        (index < self.0.len() && self.segment(index) == segment).then(|| self.get(index))
    }

    /// Returns the segment of the entry at `index`.
    #[inline(always)]
    pub fn segment(self, index: usize) -> SegmentId {
        SegmentId(self.0[index][0].load(Relaxed))
    }

    /// Finds the newest segment that both the first `left` entries of this list and the first
    /// `other_left` of another contain. Returns the number of entries up to it in each list, or 0
    /// and 0 without such a segment. No branch depends on which list has the newer segment: such a branch
    /// is unpredictable. For lists in which no segment has two versions.
    #[inline]
    pub fn meet(self, other: EntryList<'_>, [left, other_left]: [usize; 2]) -> [usize; 2] {
        let (mut i, mut j) = (left.min(self.0.len()), other_left.min(other.0.len()));
        while i > 0 && j > 0 {
            let (x, y) = (self.segment(i - 1), other.segment(j - 1));
            if x == y {
                return [i, j];
            }
            i -= usize::from(x > y);
            j -= usize::from(y > x);
        }
        [0, 0]
    }
}

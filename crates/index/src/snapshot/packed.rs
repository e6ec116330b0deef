//! Access to a segment's packed lists: the postings of terms, and their positions in documents.

use std::sync::atomic::AtomicU32;

use spirit_mem::Span;

use crate::ground::posting::{frequency, rank};
use crate::lists::packed::{PackedList, PositionIter, Positions};
use crate::snapshot::Segment;
use crate::terms::entries::{ALONE, Entry};

impl<'a> Segment<'a> {
    /// Returns the packed list that an entry of the segment leads to, if it leads to one.
    #[inline]
    pub fn packed(&self, entry: Entry) -> Option<PackedList> {
        let at = entry.packed_at()?;
        Some(PackedList::new(self.packed_from(at), entry.postings, self.flushed().base_rank()))
    }

    /// Yields the positions of an entry's only posting in its document, if the posting's rank is
    /// `wanted`. The entry [has positions](Entry::has_positions).
    pub fn positions_alone(&self, entry: Entry, wanted: u32) -> PositionIter<'a> {
        let at = entry.alone & !ALONE;
        if rank(entry.payload) != wanted {
            return PositionIter::none();
        }
        if frequency(entry.payload) == 1 {
            return PositionIter::once(at);
        }
        let positions = Positions::at(self.memory.region(), self.packed_from(at));
        positions.of_last(&[entry.payload])
    }

    /// Returns the words of packed lists from `at` on.
    fn packed_from(&self, at: u32) -> Span<AtomicU32> {
        let words = self.descriptor.packed_words().saturating_sub(at as u64);
        Span::new(self.descriptor.packed() + at as u64 * 4, words)
    }
}

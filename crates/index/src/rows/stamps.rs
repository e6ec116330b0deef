//! Death stamps of an engraved segment, half a word each. They lie in the rows. Those of packed
//! rows are inverted and lie in their own section.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

use spirit_door::{Door, Site};
use spirit_mem::{Region, Span};

use crate::ground::geometry::ROW_BYTES;
use crate::ground::section::{Kind, Sections};

/// Flag in a descriptor's word: the stamps lie apart.
const APART: u64 = 1;
/// Bytes of a stamp.
const STAMP_BYTES: u64 = size_of::<u32>() as u64;

/// Returns the bytes of the stamps of this many rows, if they lie apart, in whole words.
pub(crate) fn stamp_bytes(rows: u64) -> u64 {
    (rows * STAMP_BYTES).next_multiple_of(8)
}

/// The place of a segment's death stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamps {
    start: u64,
    are_apart: bool,
}

impl Stamps {
    /// Returns the stamps of a segment with these sections.
    pub(crate) fn of(sections: &Sections) -> Stamps {
        let are_apart = sections.are_packed();
        let kind = if are_apart { Kind::Deaths } else { Kind::Rows };
        Stamps { start: sections.get(kind).start, are_apart }
    }

    /// Parses a descriptor's word, or returns `None` if it leads nowhere.
    pub(crate) fn from_word(word: u64) -> Option<Stamps> {
        let (start, are_apart) = (word & !APART, word & APART != 0);
        (word != 0).then_some(Stamps { start, are_apart })
    }

    /// Returns the word for a descriptor.
    pub(crate) fn word(self) -> u64 {
        self.start | if self.are_apart { APART } else { 0 }
    }

    /// Returns the offset of the word with a row's stamp, and the stamp's first bit in it.
    pub(crate) fn place(self, local: u32) -> (u64, u32) {
        match self.are_apart {
            true => (self.start + local as u64 / 2 * 8, local % 2 * u32::BITS),
            false => (self.start + local as u64 * ROW_BYTES + 8, u32::BITS),
        }
    }

    /// Returns the stamp of a row, or 0 while the row lives.
    pub(crate) fn get(self, region: &Region, local: u32) -> u32 {
        let (at, bit) = self.place(local);
        let word = region.get(Span::<AtomicU64>::new(at, 1)).map(|word| word[0].load(Acquire));
        word.map_or(0, |word| ((word ^ self.inverted()) >> bit) as u32)
    }

    /// Stamps a row, which the segment must have, with the site for the store. Returns the word to
    /// write back. The row's neighbour may be stamped meanwhile.
    pub(crate) fn set(
        self,
        door: &Door,
        site: Site,
        region: &Region,
        local: u32,
        stamp: u32,
    ) -> u64 {
        let (at, bit) = self.place(local);
        let half = u64::from(u32::MAX) << bit;
        let stored = (u64::from(stamp) << bit) ^ (self.inverted() & half);
        door.update(site, region, at, |word| word & !half | stored);
        at
    }

    /// Returns the bits of a word that are stored inverted.
    fn inverted(self) -> u64 {
        if self.are_apart { u64::MAX } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Release;

    use spirit_door::Barrier;

    use super::*;
    use crate::rows::STAMP_MAX;
    use crate::rows::packed::ALIVE;

    #[test]
    fn a_stamp_leaves_its_neighbours_alone() {
        let region = Region::reserve(1 << 16, spirit_mem::Residency::OnTouch).unwrap();
        let door = Door::new(Barrier::Order);
        for (are_apart, none) in [(false, 0), (true, ALIVE)] {
            let stamps = Stamps { start: 4096, are_apart };
            assert_eq!(Stamps::from_word(stamps.word()), Some(stamps));
            let words = region.view(Span::<AtomicU64>::new(4096, 64));
            words.iter().for_each(|word| word.store(none, Release));
            for (local, stamp) in [(3, 7), (2, STAMP_MAX), (4, 1), (3, 9)] {
                stamps.set(&door, Site::Stamp, &region, local, stamp);
            }
            let read: Vec<u32> = (0..6).map(|local| stamps.get(&region, local)).collect();
            assert_eq!(read, [0, 0, STAMP_MAX, 9, 1, 0]);
            let changed = words.iter().map(|word| (word.load(Acquire) ^ none).count_ones());
            assert_eq!(changed.sum::<u32>(), 31 + 2 + 1, "nothing else was stored");
        }
        assert_eq!(Stamps::from_word(0), None);
    }
}

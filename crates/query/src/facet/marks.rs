//! The documents of a snapshot that a filter matches: a bit for each row of a segment.

use foldhash::HashMap;
use spirit_index::ground::{SegmentId, rank_of};

use super::room;
use crate::evaluate::window::{Window, ones};

/// The matches of a filter.
#[derive(Default)]
pub(super) struct Marks {
    /// Bits by row.
    segments: HashMap<SegmentId, Vec<u64>>,
    /// The bytes of all bits.
    bits_bytes: usize,
}

impl Marks {
    /// Begins a snapshot.
    pub(super) fn clear(&mut self) {
        *self = Marks::default();
    }

    /// Marks the rows of a window whose bits are set.
    pub(super) fn add(&mut self, segment: SegmentId, window: Window, bits: &[u64]) {
        let marked = self.segments.entry(segment).or_default();
        for bit in ones(bits) {
            let local = rank_of(window.rank(bit)) as usize;
            if local / 64 >= marked.len() {
                self.bits_bytes -= marked.capacity() * size_of::<u64>();
                marked.resize(local / 64 + 1, 0);
                self.bits_bytes += marked.capacity() * size_of::<u64>();
            }
            marked[local / 64] |= 1 << (local % 64);
        }
    }

    /// True if a row is marked.
    pub(super) fn has(&self, segment: SegmentId, local: u32) -> bool {
        let word = self.segments.get(&segment).and_then(|bits| bits.get(local as usize / 64));
        word.is_some_and(|word| word >> (local % 64) & 1 == 1)
    }

    /// Returns the bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(SegmentId, Vec<u64>)>();
        room::table(self.segments.capacity(), entry) + self.bits_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_marked_by_segment() {
        let mut marks = Marks::default();
        // The ranks of rows 300 and 302.
        let window = Window::first(rank_of(1000), rank_of(302));
        let mut bits = [0u64; 4];
        for local in [300, 302] {
            let bit = (rank_of(local) - window.start) as usize;
            bits[bit / 64] |= 1 << (bit % 64);
        }
        marks.add(SegmentId(3), window, &bits);
        let rows: Vec<u32> = (0..1000).filter(|row| marks.has(SegmentId(3), *row)).collect();
        assert_eq!(rows, [300, 302]);
        assert!(!marks.has(SegmentId(4), 300) && marks.bytes() >= 5 * 8);
        marks.clear();
        assert!(!marks.has(SegmentId(3), 300) && marks.bytes() == 0);
    }
}

//! How long documents are, and how many there are, as a snapshot sees it.

use super::{Segment, Snapshot};
use crate::lengths::{LENGTH_MAX, LengthArray, RunningCounts, Statistics};

impl Snapshot<'_> {
    /// Documents and kept tokens in all rows that the snapshot sees, those that died among them. Whatever the number of
    /// segments, this reads two descriptors and a word of each fresh segment.
    pub fn statistics(&self) -> Statistics {
        let fresh = self.fresh().map(|segment| segment.statistics(segment.rows()));
        fresh.fold(self.registered_statistics(), |sum, of_segment| sum + of_segment)
    }

    /// The same of registered segments. Both versions of a rewritten segment's position have one running total, so the
    /// first segment is the only one of which it matters which version is seen.
    fn registered_statistics(&self) -> Statistics {
        let window = self.window;
        if window.oldest >= window.end {
            return Statistics::default();
        }
        let ends = self.segment(window.oldest).zip(self.segment(window.end - 1));
        ends.map_or(Statistics::default(), |(first, last)| {
            let behind_first = last.descriptor.total() - first.descriptor.total();
            first.descriptor.kept() + behind_first
        })
    }
}

impl<'a> Segment<'a> {
    /// The lengths of its documents, saturated at [`LENGTH_MAX`], the newest first: that of rank `r` is at `r` less the
    /// [base rank](crate::flushed::Flushed::base_rank). None while the segment is fresh.
    #[inline]
    pub fn lengths(&self) -> Option<LengthArray<'a>> {
        match self.descriptor.lengths() {
            0 => None,
            word => LengthArray::at(self.memory.region(), word, self.descriptor.rows()),
        }
    }

    /// How many tokens of a document were kept. The snapshot sees the row.
    #[inline]
    pub fn length(&self, local: u32) -> u32 {
        let Some(lengths) = self.lengths() else {
            return self.running_counts().map_or(0, |counts| counts.length(local));
        };
        let index = lengths.len().checked_sub(1 + local as usize);
        match index.and_then(|index| lengths.get(index)).unwrap_or(0) {
            LENGTH_MAX => self.long_length(local),
            length => length as u32,
        }
    }

    /// The exact length of a document that is as long as the array can say, or longer. Where lists are packed holes are counted.
    #[cold]
    fn long_length(&self, local: u32) -> u32 {
        let has_vectors = self.memory.geometry().settings.positions;
        if !has_vectors || self.descriptor.packed_words() > 0 {
            return self.row_table().row(local).tokens(LENGTH_MAX);
        }
        let row = self.vector_row(local);
        self.vectors().ordinals(row.vector(), row.tokens()).flatten().count() as u32
    }

    /// Documents and kept tokens in its first `rows` rows, which the snapshot sees; of a segment that is registered in all of
    /// them, since every snapshot of it does.
    pub fn statistics(&self, rows: u32) -> Statistics {
        // One that is flushed meanwhile may have more rows than the snapshot sees. Whoever finds its lengths finds what it
        // was said to have before.
        let is_whole = self.descriptor.lengths() != 0 && rows as u64 >= self.descriptor.rows();
        match self.running_counts() {
            Some(counts) if !is_whole => counts.of_first(rows),
            _ => self.descriptor.kept(),
        }
    }

    /// The running counts of its rows, if it is fresh or was so when it was first seen.
    pub fn running_counts(&self) -> Option<RunningCounts<'a>> {
        let (memory, directory) = (self.memory, self.descriptor.counts());
        (directory != 0).then(|| RunningCounts::new(memory.region(), memory.geometry(), directory))
    }
}

//! Keywords of one segment: the number of documents with each, by the keyword's number there.

use std::ops::Range;

use spirit_index::ground::{FieldId, ValueKind};
use spirit_index::snapshot::Segment;

/// Returns the numbers that a field's keywords may have in a segment. The range is bounded, so a
/// damaged segment cannot make a list of them take more memory.
pub(super) fn keyword_places(segment: &Segment<'_>, field: FieldId, is_fresh: bool) -> Range<u64> {
    if is_fresh {
        return 0..u64::from(u32::MAX);
    }
    let column = segment.column(field, ValueKind::Keyword);
    let first = column.map_or(0, |column| column.min());
    first..first.saturating_add(segment.descriptor().terms())
}

/// The number of documents for each keyword.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    /// The counts, from the first keyword's number on.
    counts: Vec<u32>,
    numbers: Range<u64>,
}

impl Keywords {
    /// Begins a segment, with the numbers of its keywords. Other numbers are ignored.
    pub(super) fn begin(&mut self, numbers: Range<u64>) {
        self.numbers = numbers;
    }

    /// Counts a document with the keyword of this number.
    #[inline]
    pub(super) fn count(&mut self, number: u64) {
        if !self.numbers.contains(&number) {
            return;
        }
        let index = (number - self.numbers.start) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// Returns the bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u32>()
    }

    /// Calls `take` with each number counted and its count, until `take` returns false. Then resets
    /// all counts.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u64, u32) -> bool) {
        for (number, count) in self.numbers.clone().zip(&self.counts) {
            if *count > 0 && !take(number, *count) {
                break;
            }
        }
        self.counts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_handed_over_until_there_are_enough_and_then_forgotten() {
        let mut keywords = Keywords::default();
        keywords.begin(5..9);
        [8, 6, 5, 6, 9].iter().for_each(|number| keywords.count(*number));
        assert!(keywords.bytes() >= 4 * size_of::<u32>());
        let mut taken = Vec::new();
        keywords.drain(|number, documents| {
            taken.push((number, documents));
            taken.len() < 2
        });
        assert_eq!(taken, [(5, 1), (6, 2)]);
        keywords.drain(|number, _| panic!("{number} was forgotten"));
    }
}

//! Keywords of one segment: how many documents have each, by the number that it has there.

use std::ops::Range;

/// Documents by keyword.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    /// By number, less the first.
    counts: Vec<u32>,
    numbers: Range<u64>,
}

impl Keywords {
    /// These are the numbers of a segment's; others are none.
    pub(super) fn begin(&mut self, numbers: Range<u64>) {
        self.numbers = numbers;
    }

    /// A document has the keyword with this number.
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

    /// Hands over the numbers that documents have with how many do, and forgets them.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u64, u32)) {
        for (number, count) in self.numbers.clone().zip(&self.counts) {
            if *count > 0 {
                take(number, *count);
            }
        }
        self.counts.clear();
    }
}

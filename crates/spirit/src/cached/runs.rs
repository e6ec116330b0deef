//! Lists of matches as words: a run for each segment, in the order of the list.
//!
//! | words of a run | |
//! |---|---|
//! | the first | segment (high half) and number of its matches (low half) |
//! | the rest | rows, two a word, the first in the low half; after an odd number of them a zero |

use std::ops::ControlFlow;

use spirit_index::ground::SegmentId;
use spirit_query::Address;

/// Writes matches, which stand segment by segment.
pub(super) fn write(matches: &[Address], out: &mut Vec<u64>) {
    for run in matches.chunk_by(|one, next| one.segment == next.segment) {
        out.push(u64::from(run[0].segment.0) << 32 | run.len() as u64);
        let (pairs, last) = run.as_chunks::<2>();
        out.extend(
            pairs.iter().map(|[one, next]| u64::from(next.local) << 32 | u64::from(one.local)),
        );
        out.extend(last.iter().map(|last| u64::from(last.local)));
    }
}

/// Calls `take` with the segment and the rows of each run, until it breaks. The words may be of any
/// entry: they may end within a run.
#[inline]
pub(super) fn each<W: Iterator<Item = u64>>(
    mut words: W,
    mut take: impl FnMut(SegmentId, &mut Rows<'_, W>) -> ControlFlow<()>,
) {
    while let Some(head) = words.next() {
        let segment = SegmentId((head >> 32) as u32);
        let mut rows = Rows { words: &mut words, left: head as u32, next: None };
        if take(segment, &mut rows).is_break() {
            return;
        }
        // The next run begins behind the rows that were not taken.
        rows.for_each(drop);
    }
}

/// The rows of a run.
pub(super) struct Rows<'w, W> {
    words: &'w mut W,
    left: u32,
    /// The second row of the last word.
    next: Option<u32>,
}

impl<W: Iterator<Item = u64>> Iterator for Rows<'_, W> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        if let Some(row) = self.next.take() {
            return Some(row);
        }
        let word = self.words.next()?;
        self.next = Some((word >> 32) as u32);
        Some(word as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_read_as_they_were_written(
            given in prop::collection::vec((0u32..4, 1usize..6, any::<u32>()), 0..9),
            cut in 0usize..40,
        ) {
            let matches: Vec<Address> = given.iter().flat_map(|(segment, count, row)| {
                let address = move |n: usize| Address { executor: 3, segment: SegmentId(*segment), local: row.wrapping_add(n as u32) };
                (0..*count).map(address)
            }).collect();
            let mut words = Vec::new();
            write(&matches, &mut words);
            let mut read = Vec::new();
            each(words.iter().copied(), |segment, rows| {
                read.extend(rows.map(|local| Address { executor: 3, segment, local }));
                ControlFlow::Continue(())
            });
            prop_assert_eq!(&read, &matches);
            // Any words give some rows.
            each(words.into_iter().skip(cut), |_, rows| match rows.next() {
                None => ControlFlow::Break(()),
                Some(_) => ControlFlow::Continue(()),
            });
        }
    }
}

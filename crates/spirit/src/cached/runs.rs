//! Lists of matches as words: a run for each segment, in the order of the list.
//!
//! | words of a run | |
//! |---|---|
//! | the first | segment (high half); 1 if rows are narrow (bit 31); number of matches (the bits below) |
//! | the rest | rows, the first in the lowest bits: four a word if all are below 65,536, else two; padded with zeros |

use std::iter::repeat_n;
use std::ops::ControlFlow;

use spirit_index::ground::SegmentId;
use spirit_query::Address;

/// The bit of a run whose rows are narrow.
const NARROW: u32 = 1 << 31;

/// Writes matches, which stand segment by segment.
pub(super) fn write(matches: &[Address], out: &mut Vec<u64>) {
    for run in matches.chunk_by(|one, next| one.segment == next.segment) {
        let highest = run.iter().fold(0, |all, found| all | found.local);
        let is_narrow = highest <= u32::from(u16::MAX);
        let flag = if is_narrow { NARROW } else { 0 };
        out.push(u64::from(run[0].segment.0) << 32 | u64::from(run.len() as u32 | flag));
        if is_narrow { write_rows::<4>(run, out) } else { write_rows::<2>(run, out) }
    }
}

/// Writes rows, a number of them a word.
fn write_rows<const EACH: usize>(run: &[Address], out: &mut Vec<u64>) {
    let word = |rows: &[Address]| {
        let shifted = rows.iter().enumerate();
        shifted.fold(0, |word, (at, found)| word | u64::from(found.local) << (64 / EACH * at))
    };
    let (whole, last) = run.as_chunks::<EACH>();
    out.extend(whole.iter().map(|rows| word(rows)));
    if !last.is_empty() {
        out.push(word(last));
    }
}

/// Calls `take` with each run, until it breaks. The words may be of any entry: they may end within a
/// run.
#[inline]
pub(super) fn each<W: Iterator<Item = u64>>(
    mut words: W,
    mut take: impl FnMut(&mut Run<'_, W>) -> ControlFlow<()>,
) {
    while let Some(head) = words.next() {
        let (segment, count) = (SegmentId((head >> 32) as u32), head as u32);
        let each = if count & NARROW != 0 { 4 } else { 2 };
        let left = count & !NARROW;
        let mut run = Run { segment, each, left, words: &mut words, word: 0, in_word: 0 };
        if take(&mut run).is_break() {
            return;
        }
        run.pass();
    }
}

/// A run that is being read: an iterator of its rows.
pub(super) struct Run<'w, W> {
    pub(super) segment: SegmentId,
    /// Rows of a word.
    each: u32,
    /// Rows that are left.
    left: u32,
    words: &'w mut W,
    /// The current word, and the number of its rows that are left.
    word: u64,
    in_word: u32,
}

impl<W: Iterator<Item = u64>> Run<'_, W> {
    /// Adds the first rows of a run to `hits`, at most `room`. Before, none was taken alone.
    #[inline]
    pub(super) fn append(&mut self, executor: u32, room: usize, hits: &mut Vec<Address>) {
        let (first, count) = (hits.len(), room.min(self.left as usize));
        hits.extend(repeat_n(Address { executor, segment: self.segment, local: 0 }, count));
        let added = &mut hits[first..];
        if self.each == 4 { self.fill::<4>(added) } else { self.fill::<2>(added) }
    }

    fn fill<const EACH: usize>(&mut self, to: &mut [Address]) {
        let spread = |word: u64, to: &mut [Address]| {
            for (at, found) in to.iter_mut().enumerate() {
                found.local = (word >> (64 / EACH * at)) as u32 & u32::MAX >> (32 - 64 / EACH);
            }
        };
        let (whole, last) = to.as_chunks_mut::<EACH>();
        for rows in whole.iter_mut() {
            let Some(word) = self.words.next() else { return };
            spread(word, rows);
        }
        self.left -= (whole.len() * EACH) as u32;
        if !last.is_empty()
            && let Some(word) = self.words.next()
        {
            spread(word, last);
            self.left -= last.len() as u32;
            // The rest of the word, if not all rows were wanted.
            self.in_word = self.left.min((EACH - last.len()) as u32);
            self.word = word >> (64 / EACH * last.len());
        }
    }

    /// Skips the words of rows that were not read.
    fn pass(self) {
        let words = (self.left - self.in_word.min(self.left)).div_ceil(self.each);
        if words > 0 {
            self.words.nth(words as usize - 1);
        }
    }
}

impl<W: Iterator<Item = u64>> Iterator for Run<'_, W> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let left = self.left.checked_sub(1)?;
        if self.in_word == 0 {
            self.word = self.words.next()?;
            self.in_word = self.each;
        }
        let bits = 64 / self.each;
        let row = self.word as u32 & u32::MAX >> (32 - bits);
        self.word >>= bits;
        (self.left, self.in_word) = (left, self.in_word - 1);
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(segment: u32, local: u32) -> Address {
        Address { executor: 3, segment: SegmentId(segment), local }
    }

    /// Reads all, row by row or at once.
    fn read(words: &[u64], at_once: bool) -> Vec<Address> {
        let mut read = Vec::new();
        each(words.iter().copied(), |run| {
            match at_once {
                true => run.append(3, usize::MAX, &mut read),
                false => {
                    let segment = run.segment.0;
                    read.extend(run.map(|local| address(segment, local)));
                }
            }
            ControlFlow::Continue(())
        });
        read
    }

    proptest! {
        #[test]
        fn lists_are_read_as_they_were_written(
            given in prop::collection::vec((0u32..4, 1u32..12, prop_oneof![0u32..70_000, any::<u32>()]), 0..9),
            cut in 0usize..40,
            room in 0usize..9,
        ) {
            let rows = |(segment, count, row): &(u32, u32, u32)| {
                let (segment, row) = (*segment, *row);
                (0..*count).map(move |n| address(segment, row.wrapping_add(n)))
            };
            let matches: Vec<Address> = given.iter().flat_map(rows).collect();
            let mut words = Vec::new();
            write(&matches, &mut words);
            prop_assert_eq!(&read(&words, true), &matches);
            prop_assert_eq!(&read(&words, false), &matches);
            // Rows that are not read are passed.
            let (mut some, mut expected) = (Vec::new(), Vec::new());
            each(words.iter().copied(), |run| {
                run.append(3, room, &mut some);
                ControlFlow::Continue(())
            });
            for run in matches.chunk_by(|one, next| one.segment == next.segment) {
                expected.extend(&run[..run.len().min(room)]);
            }
            prop_assert_eq!(some, expected);
            // Any words give some rows.
            each(words.into_iter().skip(cut), |run| match run.next() {
                None => ControlFlow::Break(()),
                Some(_) => ControlFlow::Continue(()),
            });
        }
    }
}

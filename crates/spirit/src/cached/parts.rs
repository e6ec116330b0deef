//! An answer in parts: each is of some neighbouring segments.
//!
//! A part is evaluated anew if a document died in it, or if its oldest segments were dropped. The
//! others stay. So a stream with updates or retention costs a part now and then, not all.
//!
//! Behind the parts comes a *tail*: the rows of segments that were fresh. It ends at a row. The next
//! question evaluates only rows behind it.
//!
//! Large states have their *sum* beside them, so that an answer joins two states and not all of
//! them, as long as no part changes.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with the number of parts, 256 more if there is a tail, and 512 more if there is a sum |
//! | 2 | hash of all further words |
//! | four for each part, the tail and the sum | first position (high half) and end (low half); rows seen; end of its rows; words of its state |
//! | the rest | the states |

use spirit_cache::{Value, hash};
use spirit_index::memory::Window;

use super::footing::{FOOTING_WORDS, Footing, Stand};

/// Parts of an entry, at most.
pub(super) const PARTS_MAX: usize = 16;
/// Added to the number of parts if there is a tail, and if there is a sum.
const WITH_TAIL: u32 = 256;
const WITH_SUM: u32 = 512;
/// Words of a part besides its state.
const PART_WORDS: usize = 4;

/// What was found in some segments, as it is kept.
pub(super) trait State: Default {
    /// True if states are large. Then their sum is kept too. Words that are damaged must not be
    /// read: a file may be.
    const IS_LARGE: bool;
    /// Returns the number of its words.
    fn words(&self) -> usize;
    /// Writes its words.
    fn write(&self, out: &mut Vec<u64>);
    /// Reads its words.
    fn read(words: Value<'_>) -> Self;
}

/// A number of matches.
impl State for u64 {
    const IS_LARGE: bool = false;

    fn words(&self) -> usize {
        1
    }

    fn write(&self, out: &mut Vec<u64>) {
        out.push(*self);
    }

    fn read(words: Value<'_>) -> u64 {
        words.get(0).unwrap_or(0)
    }
}

/// The words of an aggregation.
impl State for Vec<u64> {
    const IS_LARGE: bool = true;

    fn words(&self) -> usize {
        self.len()
    }

    fn write(&self, out: &mut Vec<u64>) {
        out.extend(self);
    }

    fn read(words: Value<'_>) -> Vec<u64> {
        words.iter().collect()
    }
}

/// What was found in some segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part<S> {
    pub(super) segments: Window,
    /// The number of rows that the snapshot saw.
    pub(super) seen: u64,
    /// Only rows with lower numbers were evaluated.
    pub(super) rows_end: u64,
    pub(super) state: S,
}

/// The parts of an entry, the oldest first, and its tail. There is no gap between them when they are
/// written.
#[derive(Debug, Default)]
pub(super) struct Parts<S> {
    /// One more than the most, for a moment.
    parts: [Part<S>; PARTS_MAX + 1],
    count: usize,
    pub(super) tail: Option<Part<S>>,
    /// The sum of the parts, without the tail.
    sum: Option<Part<S>>,
}

impl<S: State> Parts<S> {
    /// Parses a value. Leaves out parts of segments that were rewritten since. `None` if it is of
    /// other memory, or is being changed.
    pub(super) fn read(value: Value<'_>, footing: Footing) -> Option<Parts<S>> {
        let Stand { number, from, words } = footing.read(value)?;
        let (first, words) = words.split_at(1);
        if S::IS_LARGE && first.get(0) != Some(hash(words.iter())) {
            return None;
        }
        let count = ((number % WITH_TAIL) as usize).min(PARTS_MAX);
        let [has_tail, has_sum] = [WITH_TAIL, WITH_SUM].map(|with| number & with != 0);
        let all = count + usize::from(has_tail) + usize::from(has_sum);
        let (table, mut states) = words.split_at(all * PART_WORDS);
        let (mut parts, mut table) = (Parts::default(), table.iter());
        for at in 0..all {
            let segments = Window::from_word(table.next()?);
            let (seen, rows_end) = (table.next()?, table.next()?);
            let (state, rest) = states.split_at(usize::try_from(table.next()?).ok()?);
            states = rest;
            if segments.oldest < from {
                continue;
            }
            let part = Part { segments, seen, rows_end, state: S::read(state) };
            match at {
                at if at < count => parts.add(part),
                at if at == count && has_tail => parts.tail = Some(part),
                _ => parts.sum = Some(part),
            }
        }
        Some(parts)
    }

    pub(super) fn write(&self, footing: Footing, out: &mut Vec<u64>) {
        out.clear();
        let with = |part: &Option<Part<S>>, flag| if part.is_some() { flag } else { 0 };
        let flags = with(&self.tail, WITH_TAIL) | with(&self.sum, WITH_SUM);
        footing.write(self.count as u32 | flags, out);
        out.push(0);
        let written = || self.all().chain(&self.sum);
        for Part { segments, seen, rows_end, state } in written() {
            out.extend([segments.word(), *seen, *rows_end, state.words() as u64]);
        }
        written().for_each(|part| part.state.write(out));
        if S::IS_LARGE {
            out[FOOTING_WORDS] = hash(out[FOOTING_WORDS + 1..].iter().copied());
        }
    }

    /// Returns the parts, the oldest first.
    pub(super) fn as_slice(&self) -> &[Part<S>] {
        &self.parts[..self.count]
    }

    /// Returns the parts, to be taken out.
    pub(super) fn as_mut_slice(&mut self) -> &mut [Part<S>] {
        &mut self.parts[..self.count]
    }

    /// Yields the parts and the tail.
    pub(super) fn all(&self) -> impl Iterator<Item = &Part<S>> {
        self.as_slice().iter().chain(&self.tail)
    }

    /// Yields as few states as possible whose sum is the answer.
    pub(super) fn states(&self) -> impl Iterator<Item = &S> {
        let parts = if self.sum.is_some() { &[] } else { self.as_slice() };
        parts.iter().chain(&self.sum).chain(&self.tail).map(|part| &part.state)
    }

    /// Takes the sum of parts that were kept, if these are the same and none was dropped.
    pub(super) fn take_sum(&mut self, kept: &mut Parts<S>) {
        let segments = self.segments();
        self.sum = kept.sum.take().filter(|sum| Some(sum.segments) == segments);
    }

    /// Returns the segments of all parts, without the tail.
    fn segments(&self) -> Option<Window> {
        let (first, last) = (self.as_slice().first()?, self.as_slice().last()?);
        Some(Window { oldest: first.segments.oldest, end: last.segments.end })
    }

    /// Notes the sum of the parts, if it is worth it.
    pub(super) fn add_up<E>(
        &mut self,
        join: impl FnOnce(&mut dyn Iterator<Item = &S>) -> Result<S, E>,
    ) -> Result<(), E> {
        let segments = self.segments().filter(|_| S::IS_LARGE && self.count > 1);
        let Some(segments) = segments else { return Ok(()) };
        let state = join(&mut self.as_slice().iter().map(|part| &part.state))?;
        self.sum = Some(Part { segments, seen: 0, rows_end: u64::MAX, state });
        Ok(())
    }

    /// Returns the position behind the newest segment of parts or tail, or 0.
    pub(super) fn end(&self) -> u32 {
        self.all().last().map_or(0, |part| part.segments.end)
    }

    /// Adds the next part. If there are too many, the two neighbours with the fewest segments become
    /// one, with the sum of their states.
    pub(super) fn push<E>(
        &mut self,
        part: Part<S>,
        join: impl FnOnce(&S, &S) -> Result<S, E>,
    ) -> Result<(), E> {
        self.add(part);
        if self.count <= PARTS_MAX {
            return Ok(());
        }
        let size = |at: &usize| self.parts[at + 1].segments.end - self.parts[*at].segments.oldest;
        let at = (0..PARTS_MAX).min_by_key(size).unwrap_or(0);
        let newer = std::mem::take(&mut self.parts[at + 1]);
        let older = &mut self.parts[at];
        older.state = join(&older.state, &newer.state)?;
        older.segments.end = newer.segments.end;
        // Deaths that only one of them has seen count as unseen.
        older.seen = older.seen.min(newer.seen);
        self.parts[at + 1..].rotate_left(1);
        self.count = PARTS_MAX;
        Ok(())
    }

    fn add(&mut self, part: Part<S>) {
        self.parts[self.count] = part;
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_few_segments_become_one() {
        let mut parts: Parts<u64> = Parts::default();
        for number in 0..100u32 {
            let segments = Window { oldest: number * 3, end: number * 3 + 3 };
            let part = Part { segments, seen: u64::from(number), rows_end: u64::MAX, state: 10 };
            let join = |older: &u64, newer: &u64| Ok::<u64, ()>(older + newer);
            parts.push(part, join).unwrap();
        }
        let all = parts.as_slice();
        assert_eq!(all.len(), PARTS_MAX);
        assert_eq!(all.iter().map(|part| part.state).sum::<u64>(), 1000);
        assert_eq!((all[0].segments.oldest, parts.end()), (0, 300));
        assert!(all.windows(2).all(|two| two[0].segments.end == two[1].segments.oldest));
        let largest = all.iter().map(|part| part.segments.end - part.segments.oldest).max();
        assert!(largest <= Some(48), "{all:?}");
    }
}

//! An answer in parts: each is of some neighbouring segments.
//!
//! A part is evaluated anew if a document died in it, or if its oldest segments were dropped. The
//! others stay. So a stream with updates or retention costs a part now and then, not all.
//!
//! Behind the parts comes a *tail*: the rows of segments that were fresh. It ends at a row. The next
//! question evaluates only rows behind it.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with the number of parts, and 256 more if there is a tail |
//! | 2 | hash of all further words |
//! | four for each part, and the tail | first position (high half) and end (low half); rows seen; end of its rows; words of its state |
//! | the rest | the states |

use spirit_cache::{Value, hash};
use spirit_index::memory::Window;

use super::footing::{FOOTING_WORDS, Footing, Stand};

/// Parts of an entry, at most.
pub(super) const PARTS_MAX: usize = 16;
/// Added to the number of parts if there is a tail.
const WITH_TAIL: u32 = 256;
/// Words of a part besides its state.
const PART_WORDS: usize = 4;

/// What was found in some segments, as it is kept.
pub(super) trait State: Default {
    /// True if words that are damaged must not be read: a file may be.
    const IS_CHECKED: bool;
    /// Returns the number of its words.
    fn words(&self) -> usize;
    /// Writes its words.
    fn write(&self, out: &mut Vec<u64>);
    /// Reads its words.
    fn read(words: Value<'_>) -> Self;
}

/// A number of matches.
impl State for u64 {
    const IS_CHECKED: bool = false;

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
    const IS_CHECKED: bool = true;

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
}

impl<S: State> Parts<S> {
    /// Parses a value. Leaves out parts of segments that were rewritten since. `None` if it is of
    /// other memory, or is being changed.
    pub(super) fn read(value: Value<'_>, footing: Footing) -> Option<Parts<S>> {
        let Stand { number, from, words } = footing.read(value)?;
        let (first, words) = words.split_at(1);
        if S::IS_CHECKED && first.get(0) != Some(hash(words.iter())) {
            return None;
        }
        let (count, has_tail) = (number % WITH_TAIL, number >= WITH_TAIL);
        let all = (count as usize).min(PARTS_MAX) + usize::from(has_tail);
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
            match has_tail && at + 1 == all {
                true => parts.tail = Some(part),
                false => parts.add(part),
            }
        }
        Some(parts)
    }

    pub(super) fn write(&self, footing: Footing, out: &mut Vec<u64>) {
        out.clear();
        let tail = if self.tail.is_some() { WITH_TAIL } else { 0 };
        footing.write(self.count as u32 + tail, out);
        out.push(0);
        for Part { segments, seen, rows_end, state } in self.all() {
            out.extend([segments.word(), *seen, *rows_end, state.words() as u64]);
        }
        self.all().for_each(|part| part.state.write(out));
        if S::IS_CHECKED {
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

    /// Returns the position behind the newest segment of parts or tail, or 0.
    pub(super) fn end(&self) -> u32 {
        self.all().last().map_or(0, |part| part.segments.end)
    }

    /// Adds the next part. If there are too many, the two neighbours with the fewest segments become
    /// one: `join` adds the second one's state to the first.
    pub(super) fn push<E>(
        &mut self,
        part: Part<S>,
        join: impl FnOnce(&mut S, &S) -> Result<(), E>,
    ) -> Result<(), E> {
        self.add(part);
        if self.count <= PARTS_MAX {
            return Ok(());
        }
        let size = |at: &usize| self.parts[at + 1].segments.end - self.parts[*at].segments.oldest;
        let at = (0..PARTS_MAX).min_by_key(size).unwrap_or(0);
        let newer = std::mem::take(&mut self.parts[at + 1]);
        let older = &mut self.parts[at];
        join(&mut older.state, &newer.state)?;
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
            let join = |older: &mut u64, newer: &u64| {
                *older += newer;
                Ok::<(), ()>(())
            };
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

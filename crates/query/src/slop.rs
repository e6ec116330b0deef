//! Slop: how far the terms of a phrase may be moved in a document.
//!
//! A term at position `p` of the document and at place `i` of the phrase is *shifted* by `p - i`. A
//! match takes one occurrence for each of the phrase's terms, different ones for a repeated term.
//! Its *length* is the difference between the largest and the smallest shift. The length is 0 for
//! the phrase itself, 1 with a word in between, and 2 for two neighbours swapped. Lucene calls it
//! match length, and slop limits it.
//!
//! Matches are found by the sweep for the smallest range with an element of each of several sorted
//! lists. The term with the smallest shift moves to its next occurrence, until one has none left.

/// Terms of a phrase, at most.
pub(crate) const SLOTS_MAX: usize = 128;
/// Occurrences of its terms in one document that are read, at most.
pub(crate) const OCCURRENCES_MAX: usize = 1 << 16;

/// An occurrence of one of the phrase's terms: its position (high half), and its term's number
/// among the different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence(u64);

impl Occurrence {
    pub(crate) fn new(position: u32, term: u32) -> Occurrence {
        Occurrence((position as u64) << 32 | term as u64)
    }

    fn position(self) -> i64 {
        (self.0 >> 32) as i64
    }

    fn term(self) -> u32 {
        self.0 as u32
    }
}

/// A place in a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The number of its term, among the phrase's different terms.
    pub(crate) term: u32,
    /// Its place.
    pub(crate) at: u32,
}

/// Calls `found` with the length of each match of at most `slop`, until `found` returns false.
/// While the slot with the smallest shift moves without passing another, only the shortest match is
/// reported. `slots` are in the order of their places.
pub(crate) fn matches(
    occurrences: &[Occurrence],
    slots: &[Slot],
    slop: u32,
    mut found: impl FnMut(u32) -> bool,
) {
    let Some(mut sweep) = Sweep::begin(occurrences, slots) else { return };
    // Terminates: each round advances a slot, until a term has no occurrence left.
    loop {
        let (slot, length) = sweep.smallest();
        let next = sweep.second_smallest(slot);
        let mut length = length;
        // While the smallest shift grows and stays smallest, the match can only become shorter.
        let more = loop {
            if !sweep.advance(slot) {
                break false;
            }
            if sweep.shift(slot) > next {
                break true;
            }
            length = length.min(sweep.length());
        };
        if length <= i64::from(slop) && !found(length as u32) {
            return;
        }
        if !more {
            return;
        }
    }
}

/// The current occurrence of each slot.
struct Sweep<'o> {
    occurrences: &'o [Occurrence],
    slots: &'o [Slot],
    at: [usize; SLOTS_MAX],
}

impl<'o> Sweep<'o> {
    /// Returns the sweep at the first occurrences; `None` if a term has too few.
    fn begin(occurrences: &'o [Occurrence], slots: &'o [Slot]) -> Option<Sweep<'o>> {
        let mut sweep = Sweep { occurrences, slots, at: [0; SLOTS_MAX] };
        for slot in 0..slots.len() {
            let before = (0..slot).rev().find(|s| slots[*s].term == slots[slot].term);
            let from = before.map_or(0, |before| sweep.at[before] + 1);
            sweep.at[slot] = sweep.find(slot, from)?;
        }
        Some(sweep)
    }

    /// Returns the slot's first occurrence from `from` on.
    fn find(&self, slot: usize, from: usize) -> Option<usize> {
        let term = self.slots[slot].term;
        let behind = self.occurrences.get(from..)?.iter();
        behind.enumerate().find(|(_, found)| found.term() == term).map(|(i, _)| from + i)
    }

    fn shift(&self, slot: usize) -> i64 {
        self.occurrences[self.at[slot]].position() - i64::from(self.slots[slot].at)
    }

    fn shifts(&self) -> impl Iterator<Item = (i64, usize)> + '_ {
        (0..self.slots.len()).map(|slot| (self.shift(slot), slot))
    }

    fn length(&self) -> i64 {
        let (smallest, largest) =
            self.shifts().fold((i64::MAX, i64::MIN), |(low, high), (shift, _)| {
                (low.min(shift), high.max(shift))
            });
        largest - smallest
    }

    /// Returns the slot with the smallest shift, and the length of the match.
    fn smallest(&self) -> (usize, i64) {
        let (_, slot) = self.shifts().min().expect("a phrase has terms");
        (slot, self.length())
    }

    /// Returns the smallest shift of the other slots.
    fn second_smallest(&self, but: usize) -> i64 {
        let others = self.shifts().filter(|(_, slot)| *slot != but);
        others.map(|(shift, _)| shift).min().unwrap_or(i64::MAX)
    }

    /// Moves a slot to its next occurrence. Moves a later slot of the same term on, if it is there.
    /// Returns false if there are too few occurrences.
    fn advance(&mut self, slot: usize) -> bool {
        let Some(next) = self.find(slot, self.at[slot] + 1) else { return false };
        self.at[slot] = next;
        let same = |s: &usize| self.slots[*s].term == self.slots[slot].term;
        match (slot + 1..self.slots.len()).find(same) {
            Some(later) if self.at[later] == next => self.advance(later),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the length of the shortest match, by trying all of them.
    fn shortest(text: &[u32], slots: &[Slot], taken: &mut Vec<usize>) -> Option<i64> {
        let Some(slot) = slots.get(taken.len()) else {
            let shifts = || taken.iter().zip(slots).map(|(at, slot)| *at as i64 - slot.at as i64);
            return Some(shifts().max()? - shifts().min()?);
        };
        let mut best = None;
        for at in 0..text.len() {
            if text[at] == slot.term && !taken.contains(&at) {
                taken.push(at);
                let length = shortest(text, slots, taken);
                best = best.into_iter().chain(length).min();
                taken.pop();
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_shortest_match_is_found(
            text in proptest::collection::vec(0u32..4, 0..12),
            phrase in proptest::collection::vec((0u32..4, 1u32..3), 1..4),
        ) {
            let occurrences: Vec<Occurrence> =
                (0..).zip(&text).map(|(at, term)| Occurrence::new(at, *term)).collect();
            let mut at = 0;
            let slots: Vec<Slot> = phrase
                .iter()
                .map(|(term, step)| { at += step; Slot { term: *term, at } })
                .collect();
            let mut found = None::<u32>;
            matches(&occurrences, &slots, 100, |length| {
                found = Some(found.map_or(length, |best| best.min(length)));
                true
            });
            let expected = shortest(&text, &slots, &mut Vec::new());
            prop_assert_eq!(found.map(i64::from), expected);
        }
    }

    #[test]
    fn lengths_are_those_that_people_know() {
        let lengths = |text: &[u32], phrase: &[u32]| {
            let occurrences: Vec<Occurrence> =
                (0..).zip(text).map(|(at, term)| Occurrence::new(at, *term)).collect();
            let slots: Vec<Slot> =
                (0..).zip(phrase).map(|(at, term)| Slot { term: *term, at }).collect();
            let mut found = Vec::new();
            matches(&occurrences, &slots, 9, |length| {
                found.push(length);
                true
            });
            found
        };
        assert_eq!(lengths(&[1, 2], &[1, 2]), [0]);
        assert_eq!(lengths(&[1, 9, 2], &[1, 2]), [1]);
        assert_eq!(lengths(&[2, 1], &[1, 2]), [2]);
        assert_eq!(lengths(&[1, 2, 9, 9, 1, 2], &[1, 2])[0], 0);
        assert_eq!(lengths(&[1, 1], &[1, 1]), [0]);
        assert!(lengths(&[1, 9], &[1, 1]).is_empty());
    }
}

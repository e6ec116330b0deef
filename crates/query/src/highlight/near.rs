//! The matches of a phrase: every occurrence of its terms that takes part in a match.
//!
//! [`slop`](crate::slop) defines a match and its length. A match has an occurrence for each slot,
//! different ones for different slots, whose shifts are within `slop` of each other. There matches
//! are counted. Here the occurrences of all matches are found.
//!
//! A match lies in the window of shifts that begins with its smallest one. Windows are visited in
//! ascending order. If a window contains a match, every occurrence in it takes part in one. It can
//! replace its slot's occurrence in that match, unless another slot has it already. So a window is
//! handled as a whole, and the time is linear in the occurrences.

use crate::slop::Slot;

/// A slot's occurrences, and the position in them.
struct Cursor<'p> {
    term: u32,
    at: i64,
    /// The term's positions in the text, ascending.
    positions: &'p [u32],
    /// The first occurrence whose shift is not below the window.
    next: usize,
    /// The first occurrence that was not reported as part of a match.
    reported: usize,
    /// The slot before with this term.
    before: Option<usize>,
}

impl Cursor<'_> {
    fn shift(&self, occurrence: usize) -> Option<i64> {
        self.positions.get(occurrence).map(|position| i64::from(*position) - self.at)
    }
}

/// Calls `found` with each occurrence in a match of at most `slop`: its term, and its index among
/// the term's `positions`. An occurrence that is so in several slots comes several times. `slots`
/// are in the order of their places.
pub(super) fn in_matches<'p>(
    slots: &[Slot],
    slop: u32,
    positions: impl Fn(u32) -> &'p [u32],
    mut found: impl FnMut(u32, usize),
) {
    let mut cursors: Vec<Cursor<'p>> = Vec::with_capacity(slots.len());
    for Slot { term, at } in slots {
        let before = cursors.iter().rposition(|earlier| earlier.term == *term);
        let positions = positions(*term);
        cursors.push(Cursor {
            term: *term,
            at: i64::from(*at),
            positions,
            next: 0,
            reported: 0,
            before,
        });
    }
    let mut chosen = vec![0; cursors.len()];
    // Invariant: every match whose smallest shift is below the window was reported. Terminates:
    // each round moves a cursor on, until a slot has no occurrence left.
    while let Some(low) = lowest(&cursors) {
        let high = low + i64::from(slop);
        if has_match(&cursors, high, &mut chosen) {
            cursors.iter_mut().for_each(|cursor| tell(cursor, high, &mut found));
        }
        for cursor in &mut cursors {
            if cursor.shift(cursor.next) == Some(low) {
                cursor.next += 1;
            }
        }
    }
}

/// Returns the beginning of the next window; `None` if a slot has no occurrence left.
fn lowest(cursors: &[Cursor<'_>]) -> Option<i64> {
    let mut lowest = None;
    for cursor in cursors {
        let shift = cursor.shift(cursor.next)?;
        lowest = Some(lowest.map_or(shift, |lowest: i64| lowest.min(shift)));
    }
    lowest
}

/// True if each slot has an occurrence in the window up to `high`. Slots of one term take the first
/// occurrences left, in the order of their places. No other choice leaves more to later slots.
fn has_match(cursors: &[Cursor<'_>], high: i64, chosen: &mut [usize]) -> bool {
    for (slot, cursor) in cursors.iter().enumerate() {
        let free = cursor.before.map_or(0, |before| chosen[before] + 1);
        chosen[slot] = cursor.next.max(free);
        if cursor.shift(chosen[slot]).is_none_or(|shift| shift > high) {
            return false;
        }
    }
    true
}

/// Reports the slot's occurrences in the window up to `high` that were not reported before.
fn tell(cursor: &mut Cursor<'_>, high: i64, found: &mut impl FnMut(u32, usize)) {
    cursor.reported = cursor.reported.max(cursor.next);
    while cursor.shift(cursor.reported).is_some_and(|shift| shift <= high) {
        found(cursor.term, cursor.reported);
        cursor.reported += 1;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    /// Returns the places of a text that are in some match, by trying all of them.
    pub(in super::super) fn naive(
        text: &[u32],
        slots: &[Slot],
        slop: i64,
        taken: &mut Vec<usize>,
    ) -> BTreeSet<usize> {
        let Some(slot) = slots.get(taken.len()) else {
            let shifts = || taken.iter().zip(slots).map(|(at, slot)| *at as i64 - slot.at as i64);
            let length = shifts().max().unwrap_or(0) - shifts().min().unwrap_or(0);
            return if length <= slop { taken.iter().copied().collect() } else { BTreeSet::new() };
        };
        let mut all = BTreeSet::new();
        for at in 0..text.len() {
            if text[at] == slot.term && !taken.contains(&at) {
                taken.push(at);
                all.extend(naive(text, slots, slop, taken));
                taken.pop();
            }
        }
        all
    }

    fn found(text: &[u32], slots: &[Slot], slop: u32) -> BTreeSet<usize> {
        let positions: Vec<Vec<u32>> = (0..4)
            .map(|term| (0..text.len() as u32).filter(|at| text[*at as usize] == term).collect())
            .collect();
        let mut found = BTreeSet::new();
        in_matches(
            slots,
            slop,
            |term| &positions[term as usize],
            |term, occurrence| {
                found.insert(positions[term as usize][occurrence] as usize);
            },
        );
        found
    }

    fn slots(phrase: &[(u32, u32)]) -> Vec<Slot> {
        let mut at = 0;
        let slot = |(term, step): &(u32, u32)| {
            at += step;
            Slot { term: *term, at }
        };
        phrase.iter().map(slot).collect()
    }

    #[test]
    fn all_that_is_near_enough_is_in_a_match() {
        let phrase = slots(&[(1, 1), (2, 1)]);
        let of = |text: &[u32], slop| found(text, &phrase, slop).into_iter().collect::<Vec<_>>();
        assert_eq!(of(&[1, 2, 1, 3, 2], 0), [0, 1]);
        assert_eq!(of(&[1, 1, 3, 2, 2], 1), [1, 3]);
        assert_eq!(of(&[1, 1, 3, 2, 2], 2), [0, 1, 3, 4]);
        assert_eq!(of(&[2, 1], 1), []);
        assert_eq!(of(&[2, 1], 2), [0, 1]);
        assert_eq!(of(&[1, 1], 9), []);
        assert_eq!(of(&[], 9), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn what_is_found_is_in_some_match_and_all_of_that(
            text in proptest::collection::vec(0u32..4, 0..10),
            phrase in proptest::collection::vec((0u32..3, 1u32..3), 1..5),
            slop in 0u32..6,
        ) {
            let slots = slots(&phrase);
            let expected = naive(&text, &slots, i64::from(slop), &mut Vec::new());
            prop_assert_eq!(found(&text, &slots, slop), expected);
        }
    }
}

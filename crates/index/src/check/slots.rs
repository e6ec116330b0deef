//! Checks slots: finds the segments, and reports missing ones.

use spirit_mem::Ring;

use crate::check::seen::{Found, Segment};
use crate::check::{Checked, Part};
use crate::form::shape;
use crate::ground::ids::{Position, State};
use crate::ground::layout::SLOT_BYTES;
use crate::ground::slot::{Entry, Mark, Slots};

pub(super) fn check(part: &Part<'_>, checked: &mut Checked) -> Found {
    let slots = Slots::new(part.region, &part.layout);
    let (mut found, mut newest) = (Found::default(), None);
    for index in 0..slots.count() {
        match slots.mark(index) {
            Ok(Mark::Empty) => {}
            Ok(Mark::Retired(position)) => newest = newest.max(Some(position)),
            Ok(Mark::Live(position, state)) => {
                newest = newest.max(Some(position));
                found.live.push((position, state));
            }
            Err(finding) => checked.add(finding),
        }
    }
    checked.counts.bytes += slots.count() * SLOT_BYTES;
    found.live.sort_unstable_by_key(|(position, _)| *position);
    found.merge_older();
    if let Some(newest) = newest {
        match slots.entry(newest) {
            Ok(entry) => match shape::check_numbers(&part.geometry, &entry) {
                Ok(()) => found.newest = Some(entry),
                Err(finding) => checked.add(finding),
            },
            // The check of a live segment reports its entry.
            Err(finding) if found.live.last().is_none_or(|(last, _)| *last != newest) => {
                checked.add(finding);
            }
            Err(_) => {}
        }
        if !part.in_use {
            check_order(slots, &found.live, newest, checked);
        }
    }
    found
}

/// Checks that live segments are consecutive: the oldest is retired first, and the newest is marked
/// last.
fn check_order(
    slots: Slots<'_>,
    live: &[(Position, State)],
    newest: Position,
    checked: &mut Checked,
) {
    let mut expected = live.iter().map(|(position, _)| *position).next();
    for (position, _) in live {
        if Some(*position) != expected {
            let why = "the segment before it is missing";
            checked.note("segment slots", slots.place(*position), why);
        }
        expected = position.checked_add(1);
    }
    if live.last().is_some_and(|(last, _)| *last != newest) {
        let why = "a newer segment was dropped before the oldest";
        checked.note("segment slots", slots.place(newest), why);
    }
}

/// Checks that blocks lie in their partitions, each behind the block allocated before it.
pub(super) fn check_blocks(part: &Part<'_>, segments: &[Segment], checked: &mut Checked) {
    let ring = |(start, bytes)| Ring::new(start, bytes, segments.len() * 2);
    let (mut long, mut short) = (ring(part.layout.long), ring(part.layout.short));
    for segment in segments {
        let Entry { id, long_start, long_bytes, short_start, short_bytes, .. } = segment.entry;
        let mut restore = |ring: &mut Ring, start, bytes| {
            if bytes > part.layout.bytes || !ring.restore(start, bytes, id) {
                let why = "it leaves its partition, or overlaps another block";
                checked.note("block of a segment", start, why);
            }
        };
        restore(&mut long, long_start, long_bytes);
        // The short-term block of a merged segment has been given back.
        if !segment.is_merged {
            restore(&mut short, short_start, short_bytes);
        }
    }
}

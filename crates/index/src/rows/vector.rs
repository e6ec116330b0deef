//! Document vectors: the ordinals of a document's tokens, in order. They keep the positions.
//!
//! Each token is one 16-bit unit (ordinals below 32 K) or two. Ordinals are assigned by first
//! occurrence, so frequent terms have small ones. So a token costs little more than two bytes.
//! Nothing is rewritten when the segment is flushed.
//!
//! Unit 0 is a *hole*: a position whose token was not kept. A term's ordinal is stored plus one.
//! Two units whose value would have fit in one are a *gap*: this many holes. Per-term position
//! lists would cost more to build than ingest itself.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU16, AtomicU64};

use spirit_kernel::{Level, Token};
use spirit_mem::{Region, Span};

const WIDE: u16 = 0x8000;

/// Largest number of holes of one gap.
pub const GAP_MAX: u32 = WIDE as u32 - 1;

/// An entry of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The ordinal of the term at a position.
    Term(u32),
    /// This many positions without a term.
    Holes(u32),
}

impl Entry {
    /// Returns the number of positions that it takes.
    pub fn positions(self) -> u32 {
        match self {
            Entry::Term(_) => 1,
            Entry::Holes(holes) => holes,
        }
    }

    /// Returns the number of units that it takes.
    pub fn units(self) -> u64 {
        match self {
            Entry::Term(ordinal) if ordinal + 1 < WIDE as u32 => 1,
            Entry::Holes(1) => 1,
            _ => 2,
        }
    }

    /// Decodes the entry whose first unit is this one. `second` returns the next unit, if there is
    /// one.
    #[inline]
    fn read(first: u16, second: impl FnOnce() -> Option<u16>) -> Option<Entry> {
        if first & WIDE == 0 {
            return Some((first as u32).checked_sub(1).map_or(Entry::Holes(1), Entry::Term));
        }
        let value = ((first & !WIDE) as u32) << 16 | second()? as u32;
        Some(match value.checked_sub(1) {
            Some(ordinal) if value >= WIDE as u32 => Entry::Term(ordinal),
            // No vector has an empty gap. A reader of a damaged one must still come to its end.
            _ => Entry::Holes(value.max(1)),
        })
    }
}

/// Largest number of units of a token.
pub const UNITS_PER_TOKEN_MAX: u32 = 2;

/// Writes `ordinal` at `units[at..]` and returns the next free index.
#[inline(always)]
pub fn put(units: &[AtomicU16], at: usize, ordinal: u32) -> usize {
    let value = ordinal + 1;
    if value < WIDE as u32 {
        units[at].store(value as u16, Relaxed);
        at + 1
    } else {
        units[at].store((value >> 16) as u16 | WIDE, Relaxed);
        units[at + 1].store(value as u16, Relaxed);
        at + 2
    }
}

/// Like [`put`], but for 1 to [`GAP_MAX`] holes.
pub fn put_holes(units: &[AtomicU16], at: usize, holes: u32) -> usize {
    debug_assert!((1..=GAP_MAX).contains(&holes));
    if holes == 1 {
        units[at].store(0, Relaxed);
        return at + 1;
    }
    units[at].store(WIDE, Relaxed);
    units[at + 1].store(holes as u16, Relaxed);
    at + 2
}

/// Returns the units of an ordinal's token, and their number.
pub fn units_for(ordinal: u32) -> Token {
    let value = ordinal + 1;
    if value < WIDE as u32 {
        ([value as u16, 0], 1)
    } else {
        ([(value >> 16) as u16 | WIDE, value as u16], 2)
    }
}

/// Like [`put`], but for an entry of either kind.
pub fn put_entry(units: &[AtomicU16], at: usize, entry: Entry) -> usize {
    match entry {
        Entry::Term(ordinal) => put(units, at, ordinal),
        Entry::Holes(holes) => put_holes(units, at, holes),
    }
}

/// Returns the first entry of `units` and its number of units, or `None` if there are too few.
pub fn take(units: &[AtomicU16]) -> Option<(Entry, usize)> {
    let first = units.first()?.load(Relaxed);
    let entry = Entry::read(first, || units.get(1).map(|unit| unit.load(Relaxed)))?;
    Some((entry, if first & WIDE == 0 { 1 } else { 2 }))
}

/// True if some entry of a vector is a gap. Otherwise each entry is one position.
fn has_gap(level: Level, units: &[AtomicU16]) -> bool {
    let mut found = false;
    // Tokens of two units may begin like a gap.
    spirit_kernel::each_occurrence(level, units, &[WIDE], |_, at| {
        found = units.get(at + 1).is_none_or(|second| second.load(Relaxed) < WIDE);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// Counts the units that the first `positions` positions take.
#[cold]
fn units_of_positions(units: &[AtomicU16], positions: u32) -> usize {
    let (mut at, mut left) = (0, positions);
    while left > 0
        && let Some((entry, count)) = take(&units[at..])
    {
        (at, left) = (at + count, left.saturating_sub(entry.positions()));
    }
    at
}

/// The vectors of one segment.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    region: &'a Region,
    directory: &'a [AtomicU64],
    shift: u32,
}

impl<'a> Vectors<'a> {
    /// Makes the vectors behind a directory of chunks of `1 << shift` units.
    pub fn new(region: &'a Region, directory: Span<AtomicU64>, shift: u32) -> Self {
        Vectors { region, directory: region.view(directory), shift }
    }

    /// Returns `len` contiguous units from `start` on. Returns none if they are out of range, as
    /// for a damaged row.
    pub fn units(&self, start: u32, len: u64) -> &'a [AtomicU16] {
        let units = || {
            let chunk = self.directory.get((start >> self.shift) as usize)?.load(Acquire);
            let inside = (start & ((1 << self.shift) - 1)) as u64;
            self.region.get(Span::new(chunk + inside * 2, len))
        };
        // Nothing may be behind the directory yet.
        if len == 0 { &[] } else { units().unwrap_or(&[]) }
    }

    /// Returns the units of the document whose vector starts at `start` and has `tokens` tokens.
    pub fn document(&self, start: u32, tokens: u32, level: Level) -> &'a [AtomicU16] {
        // Only reading them shows their number: one or two per token.
        let most = self.units_up_to(start, tokens as u64 * UNITS_PER_TOKEN_MAX as u64);
        let units = &most[..spirit_kernel::token_units(level, most, tokens as usize)];
        // A gap has many positions in two units: with one there are fewer units.
        if has_gap(level, units) { &units[..units_of_positions(units, tokens)] } else { units }
    }

    /// Counts the occurrences of the units of `pattern`, whole tokens, in such a document. With
    /// `any`, counts at most one. It reads the vector once if there are no gaps.
    pub fn phrase(
        &self,
        (start, tokens): (u32, u32),
        level: Level,
        pattern: &[u16],
        any: bool,
    ) -> usize {
        let most = self.units_up_to(start, tokens as u64 * UNITS_PER_TOKEN_MAX as u64);
        let (mut count, mut last) = (0, 0);
        spirit_kernel::each_occurrence_among(level, most, tokens as usize, pattern, |_, unit| {
            (count, last) = (count + 1, unit);
            if any { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // With a gap there are fewer units, and another document's units follow.
        if count == 0 || !has_gap(level, &most[..last]) {
            return count;
        }
        let units = self.document(start, tokens, level);
        let count = spirit_kernel::phrase_count(level, units, pattern);
        if any { count.min(1) } else { count }
    }

    /// Calls `visit(position, which)` for each position of such a document that has one of the
    /// [tokens](units_for) `wanted`, ascending. `which` is the first that matches. Stops when
    /// `visit` does. Returns false if it met a gap, which shifts the positions behind it.
    pub fn each_of(
        &self,
        (start, tokens): (u32, u32),
        level: Level,
        wanted: &[Token],
        visit: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> bool {
        let most = self.units_up_to(start, tokens as u64 * UNITS_PER_TOKEN_MAX as u64);
        spirit_kernel::each_of_tokens(level, most, tokens as usize, wanted, visit)
    }

    /// Returns `len` units from `start` on, or as many as the region has.
    fn units_up_to(&self, start: u32, len: u64) -> &'a [AtomicU16] {
        let units = || {
            let chunk = self.directory.get((start >> self.shift) as usize)?.load(Acquire);
            let place = chunk + (start & ((1 << self.shift) - 1)) as u64 * 2;
            let len = len.min(self.region.bytes().saturating_sub(place) / 2);
            self.region.get(Span::new(place, len))
        };
        if len == 0 { &[] } else { units().unwrap_or(&[]) }
    }

    /// Yields the ordinals at the `tokens` positions of the document whose vector starts at
    /// `start`; `None` is a hole.
    pub fn ordinals(&self, start: u32, tokens: u32) -> Ordinals<'a> {
        Ordinals { entries: self.entries(start, tokens), holes: 0 }
    }

    /// Yields the entries of that vector.
    pub fn entries(&self, start: u32, tokens: u32) -> Entries<'a> {
        // Only reading the units shows their number. Each is read when its token is asked for.
        Entries { vectors: *self, at: start, left: tokens }
    }

    /// Yields the bytes of a stored key: `len` bytes from `unit`, two a unit.
    pub fn bytes(&self, unit: u32, len: usize) -> impl Iterator<Item = u8> + use<'a> {
        let units = self.units(unit, len.div_ceil(2) as u64);
        let unit = move |i: usize| units.get(i).map_or(0, |unit| unit.load(Relaxed));
        (0..len).map(move |i| (unit(i / 2) >> (8 * (i % 2))) as u8)
    }
}

/// An iterator over the entries of a document's vector.
#[derive(Clone)]
pub struct Entries<'a> {
    vectors: Vectors<'a>,
    at: u32,
    /// Number of positions that are left.
    left: u32,
}

impl Entries<'_> {
    /// Reads the next unit, or returns `None` past the last one. A damaged row may claim billions
    /// of tokens.
    fn unit(&mut self) -> Option<u16> {
        let unit = self.vectors.units(self.at, 1).first()?.load(Relaxed);
        self.at = self.at.wrapping_add(1);
        Some(unit)
    }
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.left == 0 {
            return None;
        }
        let first = self.unit()?;
        let entry = Entry::read(first, || self.unit())?;
        // A damaged vector may have more holes than the row has positions.
        self.left = self.left.saturating_sub(entry.positions());
        Some(entry)
    }
}

/// An iterator over a document's ordinals.
#[derive(Clone)]
pub struct Ordinals<'a> {
    entries: Entries<'a>,
    /// Number of holes that are left of a gap.
    holes: u32,
}

impl Iterator for Ordinals<'_> {
    type Item = Option<u32>;

    fn next(&mut self) -> Option<Option<u32>> {
        if let Some(left) = self.holes.checked_sub(1) {
            self.holes = left;
            return Some(None);
        }
        match self.entries.next()? {
            Entry::Term(ordinal) => Some(Some(ordinal)),
            Entry::Holes(holes) => {
                self.holes = holes - 1;
                Some(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_mem::Residency;

    fn entry() -> impl Strategy<Value = Entry> {
        prop_oneof![
            (0u32..70_000).prop_map(Entry::Term),
            (0u32..0x2000_0000).prop_map(Entry::Term),
            Just(Entry::Holes(1)),
            (1..=GAP_MAX).prop_map(Entry::Holes),
        ]
    }

    fn few_ordinals() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..3, 32_766u32..32_769]
    }

    fn few_entries() -> impl Strategy<Value = Vec<Entry>> {
        let entry = prop_oneof![
            9 => few_ordinals().prop_map(Entry::Term),
            1 => (1u32..5).prop_map(Entry::Holes),
        ];
        prop::collection::vec(entry, 0..100)
    }

    fn ordinals_of(entries: &[Entry]) -> Vec<Option<u32>> {
        let positions = entries.iter().flat_map(|entry| match entry {
            Entry::Term(ordinal) => vec![Some(*ordinal)],
            Entry::Holes(holes) => vec![None; *holes as usize],
        });
        positions.collect()
    }

    /// A damaged row may claim any number of tokens.
    #[test]
    fn a_vector_ends_with_its_units_whatever_its_row_says() {
        let region = Region::reserve(1 << 16, Residency::OnTouch).unwrap();
        region.view(Span::<AtomicU64>::new(0, 1))[0].store(4096, Relaxed);
        let vectors = Vectors::new(&region, Span::new(0, 1), 10);
        assert_eq!(vectors.entries(0, u32::MAX).count(), 1 << 10);
        assert_eq!(vectors.ordinals(7, u32::MAX).count(), (1 << 10) - 7);
    }

    proptest! {
        /// A phrase is in the document that has it, and in none beside it.
        #[test]
        fn phrases_are_where_a_reading_finds_them(
            documents in prop::collection::vec(few_entries(), 1..4),
            pattern in prop::collection::vec(few_ordinals(), 1..4),
        ) {
            let region = Region::reserve(4096, Residency::OnTouch).unwrap();
            let directory = Span::<AtomicU64>::new(0, 1);
            region.view(directory)[0].store(1024, Relaxed);
            let units = region.view(Span::<AtomicU16>::new(1024, 1024));
            let vectors = Vectors::new(&region, directory, 10);
            let sought: Vec<u16> = pattern
                .iter()
                .flat_map(|ordinal| {
                    let (units, count) = units_for(*ordinal);
                    units.into_iter().take(count)
                })
                .collect();
            let wanted: Vec<Option<u32>> = pattern.into_iter().map(Some).collect();
            let ends = documents.iter().scan(0, |at, entries| {
                *at = entries.iter().fold(*at, |at, entry| put_entry(units, at, *entry));
                Some(*at)
            });
            let ends: Vec<usize> = ends.collect();
            let starts = std::iter::once(0).chain(ends.iter().copied());
            for (start, entries) in starts.zip(&documents) {
                let ordinals = ordinals_of(entries);
                let count = ordinals.windows(wanted.len()).filter(|at| **at == wanted[..]).count();
                let document = (start as u32, ordinals.len() as u32);
                for level in Level::all_supported() {
                    prop_assert_eq!(vectors.phrase(document, level, &sought, false), count);
                    prop_assert_eq!(vectors.phrase(document, level, &sought, true), count.min(1));
                }
            }
        }

        /// What is put is taken, position by position.
        #[test]
        fn vectors_read_back(entries in prop::collection::vec(entry(), 0..40)) {
            let region = Region::reserve(4096, Residency::OnTouch).unwrap();
            let directory = Span::<AtomicU64>::new(0, 1);
            region.view(directory)[0].store(1024, Relaxed);
            let units = region.view(Span::<AtomicU16>::new(1024, 1024));
            let mut at = 0;
            for entry in &entries {
                let next = put_entry(units, at, *entry);
                prop_assert_eq!(take(&units[at..]), Some((*entry, next - at)));
                prop_assert_eq!(entry.units(), (next - at) as u64);
                at = next;
            }
            let positions = entries.iter().map(|entry| entry.positions()).sum();
            let vectors = Vectors::new(&region, directory, 10);
            prop_assert_eq!(vectors.entries(0, positions).collect::<Vec<_>>(), &entries[..]);
            let ordinals = ordinals_of(&entries);
            prop_assert_eq!(vectors.ordinals(0, positions).collect::<Vec<_>>(), ordinals);
        }
    }
}

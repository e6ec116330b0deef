//! Document vectors: the ordinals of a document's tokens, in order; this is where positions are kept.
//!
//! Each token is one 16-bit unit (ordinals below 32 K) or two. Ordinals are given out by first occurrence,
//! so frequent terms have small ones and a token costs little more than two bytes; nothing is rewritten
//! when the segment is flushed. Unit 0 is a *hole*: a position whose token was not kept. A term's ordinal is
//! stored plus one. Per-term position lists would cost more to build than ingest itself.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU16, AtomicU64};

use spirit_mem::{Region, Span};

const WIDE: u16 = 0x8000;

/// Units that a token takes at most.
pub const UNITS_PER_TOKEN_MAX: u32 = 2;

/// Writes `ordinal` (or a hole) at `units[at..]` and returns the next free index.
#[inline(always)]
pub fn put(units: &[AtomicU16], at: usize, ordinal: Option<u32>) -> usize {
    let value = ordinal.map_or(0, |o| o + 1);
    if value < WIDE as u32 {
        units[at].store(value as u16, Relaxed);
        at + 1
    } else {
        units[at].store((value >> 16) as u16 | WIDE, Relaxed);
        units[at + 1].store(value as u16, Relaxed);
        at + 2
    }
}

/// The ordinal of the first token of `units`, or a hole, and the units that it takes; `None` if they are too few.
pub fn take(units: &[AtomicU16]) -> Option<(Option<u32>, usize)> {
    let first = units.first()?.load(Relaxed);
    if first & WIDE == 0 {
        return Some(((first as u32).checked_sub(1), 1));
    }
    let value = ((first & !WIDE) as u32) << 16 | units.get(1)?.load(Relaxed) as u32;
    Some((value.checked_sub(1), 2))
}

/// Units that a token takes.
pub fn units_of(ordinal: Option<u32>) -> u64 {
    if ordinal.map_or(0, |o| o + 1) < WIDE as u32 { 1 } else { 2 }
}

/// The vectors of one segment.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    region: &'a Region,
    directory: &'a [AtomicU64],
    shift: u32,
}

impl<'a> Vectors<'a> {
    /// Vectors behind a directory of chunks of `1 << shift` units.
    pub fn new(region: &'a Region, directory: Span<AtomicU64>, shift: u32) -> Self {
        Vectors { region, directory: region.view(directory), shift }
    }

    /// `len` units from `start`, which lie in one piece; none if there are no such units, as a damaged row may say.
    pub fn units(&self, start: u32, len: u64) -> &'a [AtomicU16] {
        let units = || {
            let chunk = self.directory.get((start >> self.shift) as usize)?.load(Acquire);
            let inside = (start & ((1 << self.shift) - 1)) as u64;
            self.region.get(Span::new(chunk + inside * 2, len))
        };
        // Nothing may be behind the directory yet.
        if len == 0 { &[] } else { units().unwrap_or(&[]) }
    }

    /// The ordinals of the `tokens` tokens of the document whose vector starts at `start`; `None` is a hole.
    pub fn ordinals(&self, start: u32, tokens: u32) -> Ordinals<'a> {
        // How many units there are is known only by reading them; each is read when its token is asked for.
        Ordinals { vectors: *self, at: start, left: tokens }
    }

    /// The bytes of a stored key: `len` bytes from `unit`, two a unit.
    pub fn bytes(&self, unit: u32, len: usize) -> impl Iterator<Item = u8> + use<'a> {
        let units = self.units(unit, len.div_ceil(2) as u64);
        let unit = move |i: usize| units.get(i).map_or(0, |unit| unit.load(Relaxed));
        (0..len).map(move |i| (unit(i / 2) >> (8 * (i % 2))) as u8)
    }
}

/// Iterator over a document's ordinals.
#[derive(Clone)]
pub struct Ordinals<'a> {
    vectors: Vectors<'a>,
    at: u32,
    left: u32,
}

impl Ordinals<'_> {
    fn unit(&mut self) -> u16 {
        let unit = self.vectors.units(self.at, 1).first().map_or(0, |unit| unit.load(Relaxed));
        self.at = self.at.wrapping_add(1);
        unit
    }
}

impl Iterator for Ordinals<'_> {
    type Item = Option<u32>;

    fn next(&mut self) -> Option<Option<u32>> {
        self.left = self.left.checked_sub(1)?;
        let first = self.unit();
        let value = if first & WIDE == 0 {
            first as u32
        } else {
            ((first & !WIDE) as u32) << 16 | self.unit() as u32
        };
        Some(value.checked_sub(1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

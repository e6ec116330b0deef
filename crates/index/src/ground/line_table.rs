//! An open-addressing table of fixed size without tombstones: lines of seven slots and one overflow
//! count.
//!
//! A key's home is one cache line. If that is full, the key goes to one of the next [`REACH`]
//! lines, and the home counts it as *away*. A look-up reads the home line, and reads on only while
//! the home has keys away. So a hit and a miss nearly always cost one cache line, after any number
//! of inserts and removals. The slot of a removed key is simply empty. This matters under a stream,
//! where hapaxes and keys come and go for ever. A table with tombstones would have to be rebuilt
//! again and again.
//!
//! A slot has `payload + 1` (40 bits, so that 0 is an empty slot), the distance from home (3 bits)
//! and a tag (21 bits). The tag only filters. The caller verifies a candidate with the data behind
//! the payload.
//!
//! There is one writer and any number of readers. A slot is published by a release store after its
//! data was written. The away count is raised after the slot is stored, and lowered after it was
//! cleared. So a reader never misses a key that was there before its look-up began.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Line, Region, Span, prefetch};

/// Number of keys in a line. The line's first word is its away count.
pub(crate) const SLOTS: usize = 7;
/// Largest distance of a key from its home, in lines.
pub(crate) const REACH: u64 = 7;

const PAYLOAD_BITS: u32 = 40;
const DISTANCE_BITS: u32 = 3;

/// Upper bound of payloads, exclusive.
pub(crate) const PAYLOAD_LIMIT: u64 = (1 << PAYLOAD_BITS) - 1;

/// The lines near a key's home are all full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// A table over lines in a region.
#[derive(Clone, Copy, Debug)]
pub struct LineTable {
    lines: Span<Line>,
}

impl LineTable {
    /// Makes a table over `lines`, which are all zeros. There is at least one line, and fewer than
    /// 2^32.
    pub fn new(lines: Span<Line>) -> LineTable {
        LineTable { lines }
    }

    /// Returns the number of lines in `bytes` bytes.
    pub fn lines_in(bytes: u64) -> u64 {
        (bytes / size_of::<Line>() as u64).clamp(1, u32::MAX as u64)
    }

    /// Returns the home of a hash: its low half, scaled to the number of lines.
    #[inline(always)]
    fn home(self, hash: u64) -> u64 {
        (hash as u32 as u64 * self.lines.len()) >> 32
    }

    /// Returns the line `distance` lines behind `home`.
    #[inline(always)]
    fn at(self, home: u64, distance: u64) -> usize {
        let line = home + distance;
        (if line < self.lines.len() { line } else { line % self.lines.len() }) as usize
    }

    /// Prefetches the home line of `hash`.
    #[inline(always)]
    pub fn prefetch(self, region: &Region, hash: u64) {
        prefetch(&region.dram(self.lines)[self.home(hash) as usize]);
    }

    /// Returns the payload in the home line that may be the one under `hash`, to prefetch its data.
    #[inline]
    pub fn candidate(self, region: &Region, hash: u64) -> Option<u64> {
        let line = &region.dram(self.lines)[self.home(hash) as usize];
        Self::scan(line, 0, hash, &mut |_| true)
    }

    /// Finds the first payload under `hash` that `verify` accepts.
    #[inline]
    pub fn find(
        self,
        region: &Region,
        hash: u64,
        mut verify: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let lines = region.dram(self.lines);
        let home = self.home(hash);
        let first = &lines[home as usize];
        let found = Self::scan(first, 0, hash, &mut verify);
        if found.is_some() || first.pair(0).load(Acquire) == 0 {
            return found;
        }
        (1..=REACH).find_map(|distance| {
            let line = &lines[self.at(home, distance)];
            Self::scan(line, distance, hash, &mut verify)
        })
    }

    #[inline]
    fn scan(
        line: &Line,
        distance: u64,
        hash: u64,
        verify: &mut impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let wanted = Self::upper(hash, distance);
        (1..=SLOTS).find_map(|i| {
            let slot = line.pair(i).load(Acquire);
            let payload = (slot & PAYLOAD_LIMIT).wrapping_sub(1);
            (slot >> PAYLOAD_BITS == wanted && slot & PAYLOAD_LIMIT != 0 && verify(payload))
                .then_some(payload)
        })
    }

    /// Adds `payload` under `hash`. The caller knows that its key is not there. Writer only.
    pub fn insert(self, region: &Region, hash: u64, payload: u64) -> Result<(), NoRoom> {
        debug_assert!(payload < PAYLOAD_LIMIT);
        let lines = region.dram(self.lines);
        let home = self.home(hash);
        for distance in 0..=REACH {
            let line = &lines[self.at(home, distance)];
            if let Some(slot) = Self::slots(line).find(|s| s.load(Relaxed) == 0) {
                slot.store(Self::upper(hash, distance) << PAYLOAD_BITS | (payload + 1), Release);
                if distance > 0 {
                    let away = lines[home as usize].pair(0);
                    away.store(away.load(Relaxed) + 1, Release);
                }
                return Ok(());
            }
        }
        Err(NoRoom)
    }

    /// Replaces `old` by `new` under `hash`. Returns true if `old` was there. Writer only.
    pub fn replace(self, region: &Region, hash: u64, old: u64, new: u64) -> bool {
        debug_assert!(new < PAYLOAD_LIMIT);
        let found = self.locate(region, hash, old);
        if let Some((slot, distance)) = found {
            slot.store(Self::upper(hash, distance) << PAYLOAD_BITS | (new + 1), Release);
        }
        found.is_some()
    }

    /// Removes `payload` under `hash`. Returns true if it was there. Writer only.
    pub fn remove(self, region: &Region, hash: u64, payload: u64) -> bool {
        let Some((slot, distance)) = self.locate(region, hash, payload) else { return false };
        slot.store(0, Release);
        if distance > 0 {
            let away = region.dram(self.lines)[self.home(hash) as usize].pair(0);
            away.store(away.load(Relaxed) - 1, Release);
        }
        true
    }

    /// Removes the least payload among the slots where one under `hash` could be, if `leaves`
    /// accepts it. Returns true if it did. Writer only.
    pub fn evict(self, region: &Region, hash: u64, leaves: impl FnOnce(u64) -> bool) -> bool {
        let (lines, home) = (region.dram(self.lines), self.home(hash));
        let near = (0..=REACH).map(|distance| self.at(home, distance));
        let slots = near.flat_map(|line| Self::slots(&lines[line]).map(move |slot| (line, slot)));
        let payload = |slot: &AtomicU64| (slot.load(Relaxed) & PAYLOAD_LIMIT).checked_sub(1);
        let taken = slots.filter_map(|(line, slot)| Some((payload(slot)?, line, slot)));
        let Some((least, line, slot)) = taken.min_by_key(|(payload, ..)| *payload) else {
            return false;
        };
        if !leaves(least) {
            return false;
        }
        let distance = slot.load(Relaxed) >> PAYLOAD_BITS & ((1 << DISTANCE_BITS) - 1);
        slot.store(0, Release);
        if distance > 0 {
            let home =
                (line as u64 + self.lines.len() - distance % self.lines.len()) % self.lines.len();
            let away = lines[home as usize].pair(0);
            away.store(away.load(Relaxed) - 1, Release);
        }
        true
    }

    /// Returns the number of lines.
    pub fn lines(self) -> u64 {
        self.lines.len()
    }

    /// Yields the payloads in a line.
    pub fn in_line(self, region: &Region, line: u64) -> impl Iterator<Item = u64> + use<'_> {
        let slots = Self::slots(&region.dram(self.lines)[line as usize]);
        slots.filter_map(|slot| (slot.load(Acquire) & PAYLOAD_LIMIT).checked_sub(1))
    }

    fn locate(self, region: &Region, hash: u64, payload: u64) -> Option<(&AtomicU64, u64)> {
        let lines = region.dram(self.lines);
        (0..=REACH).find_map(|distance| {
            let line = &lines[self.at(self.home(hash), distance)];
            let word = Self::upper(hash, distance) << PAYLOAD_BITS | (payload + 1);
            Self::slots(line).find(|s| s.load(Relaxed) == word).map(|slot| (slot, distance))
        })
    }

    fn slots(line: &Line) -> impl Iterator<Item = &AtomicU64> {
        (1..=SLOTS).map(|i| line.pair(i))
    }

    /// Returns the bits of a slot above its payload.
    #[inline(always)]
    fn upper(hash: u64, distance: u64) -> u64 {
        (hash >> (PAYLOAD_BITS + DISTANCE_BITS)) << DISTANCE_BITS | distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_mem::Residency;
    use std::collections::HashMap;

    proptest! {
        /// A tiny table under random inserts, replacements and removals holds what a map holds.
        #[test]
        fn behaves_like_a_map(steps in prop::collection::vec((0u64..60, 0u8..4), 1..400)) {
            let region = Region::reserve(1 << 12, Residency::OnTouch).unwrap();
            let table = LineTable::new(Span::new(0, 8));
            let mut model: HashMap<u64, u64> = HashMap::new();
            let mut next = 0;
            // Few homes and a tag that tells keys apart.
            let hash = |key: u64| (key << 50) | ((key % 3) << 29);
            for (key, action) in steps {
                let current = model.get(&key).copied();
                match (action, current) {
                    (0, Some(old)) => {
                        prop_assert!(table.remove(&region, hash(key), old));
                        prop_assert!(!table.remove(&region, hash(key), old));
                        model.remove(&key);
                    }
                    (1, Some(old)) => {
                        next += 1;
                        prop_assert!(table.replace(&region, hash(key), old, next));
                        model.insert(key, next);
                    }
                    (_, None) => {
                        next += 1;
                        match table.insert(&region, hash(key), next) {
                            Ok(()) => { model.insert(key, next); }
                            Err(NoRoom) => prop_assert!(model.len() > SLOTS * 4),
                        }
                    }
                    _ => {}
                }
                for key in 0..60 {
                    let found = table.find(&region, hash(key), |p| Some(&p) == model.get(&key));
                    prop_assert_eq!(found, model.get(&key).copied());
                }
            }
        }
    }
}

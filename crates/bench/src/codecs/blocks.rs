//! Lists in blocks of 128 gaps, whatever packs a block.
//!
//! Of a list of several blocks, the last number of each and its place are known without unpacking it. So an AND unpacks only blocks that
//! may have a number of the other list. A gap is what a number exceeds the least that it can be. The last block may have fewer gaps.

use std::marker::PhantomData;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_kernel::packed::{BLOCK, sum_gaps};
use spirit_kernel::{Algorithm, Level, Run, intersect_count, run_of, seek};

use super::{List, NUMBER_MAX};

/// A way to pack gaps.
pub(crate) trait Codec {
    const NAME: &'static str;
    /// What a list is made of.
    type Unit;

    /// Appends the gaps of a block: 128, or fewer at the end of a list.
    fn pack(gaps: &[u32], out: &mut Vec<Self::Unit>);

    /// Reads as many gaps as `out` has room for from the front.
    fn unpack(level: Level, from: &[Self::Unit], out: &mut [u32]);
}

/// A list.
pub(crate) struct Blocks<C: Codec> {
    units: Vec<C::Unit>,
    /// The last number of each block, as a posting word.
    lasts: Vec<AtomicU32>,
    /// The first unit of each block.
    places: Vec<u32>,
    len: usize,
    _codec: PhantomData<C>,
}

/// Where an AND is in a list: in an unpacked block.
struct Cursor<'a, C: Codec> {
    list: &'a Blocks<C>,
    level: Level,
    block: usize,
    words: [u32; BLOCK],
    /// How many of the words are of the block, and are behind us.
    len: usize,
    at: usize,
}

/// A posting word without a frequency.
pub(super) fn word(number: u32) -> u32 {
    debug_assert!(number <= NUMBER_MAX);
    number << 8
}

impl<C: Codec> List for Blocks<C> {
    const NAME: &'static str = C::NAME;

    fn of(numbers: &[u32], _: u32) -> Blocks<C> {
        let (mut units, mut lasts, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let mut lowest = 0;
        for block in numbers.chunks(BLOCK) {
            let gap = |number: &u32| {
                let gap = number - lowest;
                lowest = number + 1;
                gap
            };
            let gaps: Vec<u32> = block.iter().map(gap).collect();
            places.push(units.len() as u32);
            lasts.push(AtomicU32::new(word(lowest - 1)));
            C::pack(&gaps, &mut units);
        }
        Blocks { units, lasts, places, len: numbers.len(), _codec: PhantomData }
    }

    fn bytes(&self) -> usize {
        let skip_data = if self.lasts.len() > 1 { self.lasts.len() * 8 } else { 0 };
        self.units.len() * size_of::<C::Unit>() + skip_data
    }

    fn and_count(&self, other: &Blocks<C>) -> usize {
        let (mut a, mut b) = (Cursor::new(self), Cursor::new(other));
        if !a.enter(0, 0) || !b.enter(0, 0) {
            return 0;
        }
        let mut count = 0;
        // Each step uses up a block of at least one of the lists, and the loop ends with the first list without another.
        loop {
            let step = intersect_count(a.level, Algorithm::Simd, a.rest(), b.rest());
            count += step.found;
            (a.at, b.at) = (a.at + step.left, b.at + step.right);
            debug_assert!(a.next().is_none() || b.next().is_none());
            if a.next().is_none() && !a.enter(a.block + 1, b.next().unwrap_or(0)) {
                return count;
            }
            let target = a.next().unwrap_or(0);
            if b.next().is_none() && !b.enter(b.block + 1, target) {
                return count;
            }
        }
    }
}

impl<'a, C: Codec> Cursor<'a, C> {
    fn new(list: &'a Blocks<C>) -> Cursor<'a, C> {
        let words = [0; BLOCK];
        Cursor { list, level: Level::detect(), block: 0, words, len: 0, at: 0 }
    }

    /// Unpacks the first block from `from` on that may have a number at or behind `target`. False if there is no such block.
    fn enter(&mut self, from: usize, target: u32) -> bool {
        let Blocks { units, lasts, places, len, .. } = self.list;
        self.block = seek(self.level, lasts, from, target);
        let Some(place) = places.get(self.block) else { return false };
        let before = self.block.checked_sub(1).map(|before| lasts[before].load(Relaxed) >> 8);
        let start = before.map_or(0, |last| last + 1);
        (self.len, self.at) = ((len - self.block * BLOCK).min(BLOCK), 0);
        C::unpack(self.level, &units[*place as usize..], &mut self.words[..self.len]);
        // Those behind the end mean nothing.
        sum_gaps(self.level, start, &mut self.words);
        self.words.iter_mut().for_each(|number| *number <<= 8);
        true
    }

    fn rest(&mut self) -> Run<'_> {
        run_of(&mut self.words[self.at..self.len])
    }

    /// The next number.
    fn next(&self) -> Option<u32> {
        self.words[..self.len].get(self.at).map(|word| word >> 8)
    }
}

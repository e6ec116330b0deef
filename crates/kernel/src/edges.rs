//! From class masks to positions: where each run of bytes starts and where it ends.
//!
//! A *run* is a maximal stretch of bytes that are letters, digits or not ASCII at all, as
//! [`classify_lower`](crate::classify_lower) marks them. Taking bits off a mask one by one costs five
//! instructions and, at the end of each block, a branch that nobody can predict; AVX-512 compresses the indices of
//! sixteen bits at once and needs no branch.
//!
//! Starts and ends go to two arrays and find each other by their place there: runs do not touch.

use crate::level::Level;

/// Blocks that one [`Edges::read`] takes at most.
pub const EDGE_BLOCKS: usize = 32;
/// The bit of an end that says that the run holds a byte that is not ASCII.
pub const MIXED: u32 = 1 << 31;

/// Bits of a mask.
const BLOCK: usize = u64::BITS as usize;
/// Words that the widest shell stores at once.
const LANES: usize = 16;
/// Half of a block's bytes can start runs, one run may be open before it, and a store may go on for `LANES` words.
const ROOM: usize = EDGE_BLOCKS * BLOCK / 2 + 1 + LANES;

/// The runs of the blocks that were read last.
pub struct Edges {
    starts: Box<[u32; ROOM]>,
    ends: Box<[u32; ROOM]>,
    /// How many starts there are; one more than ends if a run goes on into the next block.
    started: usize,
    ended: usize,
    /// First byte of the next block.
    next: u32,
    open: u64,
    /// Whether the open run holds a byte that is not ASCII so far.
    open_mixed: bool,
}

/// The edges in one block, as masks.
struct Block {
    starts: u64,
    ends: u64,
    /// Those of the ends that belong to mixed runs.
    mixed_ends: u64,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges {
            starts: Box::new([0; ROOM]),
            ends: Box::new([0; ROOM]),
            started: 0,
            ended: 0,
            next: 0,
            open: 0,
            open_mixed: false,
        }
    }
}

impl Edges {
    /// Begins a new text, of less than 2 GiB.
    pub fn begin(&mut self) {
        (self.started, self.ended, self.next) = (0, 0, 0);
        (self.open, self.open_mixed) = (0, false);
    }

    /// Forgets the runs it has, reads the next blocks of the text (up to [`EDGE_BLOCKS`]), and says how many it took.
    /// The text's last block must have a clear bit at its end, where a run can end.
    #[inline]
    pub fn read(&mut self, level: Level, masks: &[[u64; 2]]) -> usize {
        // The start of the run that is still open.
        self.starts[0] = self.starts[self.started.min(ROOM) - usize::from(self.started > 0)];
        self.started -= self.ended;
        self.ended = 0;
        let masks = &masks[..masks.len().min(EDGE_BLOCKS)];
        match level.usable() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
            Level::Avx512 => unsafe { avx512(self, masks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
            Level::Avx2 => unsafe { bits(self, masks) },
            _ => portable(self, masks),
        }
        masks.len()
    }

    /// Where runs start: the first byte of each.
    #[inline]
    pub fn starts(&self) -> &[u32] {
        &self.starts[..self.ended]
    }

    /// Where the same runs end: one past the last byte of each, with [`MIXED`] where that holds.
    #[inline]
    pub fn ends(&self) -> &[u32] {
        &self.ends[..self.ended]
    }

    /// Enters a block and says what its edges are.
    #[inline(always)]
    fn enter(&mut self, [alnum, high]: [u64; 2]) -> Block {
        let run = alnum | high;
        let before = run << 1 | self.open;
        self.open = run >> (BLOCK - 1);
        // Adding a run's non-ASCII bits to the run carries exactly one bit out at its end, however many they are.
        let (sum, carry) = run.overflowing_add(high);
        let (sum, carry_open) = sum.overflowing_add(u64::from(self.open_mixed));
        self.open_mixed = carry | carry_open;
        self.next = self.next.wrapping_add(BLOCK as u32);
        Block { starts: run & !before, ends: before & !run, mixed_ends: sum & !run }
    }
}

/// Bit by bit.
#[inline(always)]
fn portable(edges: &mut Edges, masks: &[[u64; 2]]) {
    for mask in masks {
        let first = edges.next;
        let Block { mut starts, mut ends, mixed_ends } = edges.enter(*mask);
        while starts != 0 {
            edges.starts[edges.started] = first + starts.trailing_zeros();
            edges.started += 1;
            starts &= starts - 1;
        }
        while ends != 0 {
            let bit = ends.trailing_zeros();
            edges.ends[edges.ended] = (first + bit) | ((mixed_ends >> bit & 1) as u32 * MIXED);
            edges.ended += 1;
            ends &= ends - 1;
        }
    }
}

/// The same with the instructions that scan bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn bits(edges: &mut Edges, masks: &[[u64; 2]]) {
    portable(edges, masks);
}

/// Sixteen bits a step, without a branch.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn avx512(edges: &mut Edges, masks: &[[u64; 2]]) {
    use std::arch::x86_64::*;
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mixed = _mm512_set1_epi32(MIXED as i32);
    for mask in masks {
        let first = edges.next;
        let block = edges.enter(*mask);
        for quarter in (0..BLOCK).step_by(LANES) {
            let at = _mm512_add_epi32(lanes, _mm512_set1_epi32((first + quarter as u32) as i32));
            let starts = (block.starts >> quarter) as u16;
            if let Some(to) = edges.starts[edges.started..].first_chunk_mut::<LANES>() {
                let packed = _mm512_maskz_compress_epi32(starts, at);
                // SAFETY: the array is sixteen writable words.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), packed) };
            }
            edges.started += starts.count_ones() as usize;
            let ends = (block.ends >> quarter) as u16;
            if let Some(to) = edges.ends[edges.ended..].first_chunk_mut::<LANES>() {
                let mixed_ends = (block.mixed_ends >> quarter) as u16;
                let marked = _mm512_mask_or_epi32(at, mixed_ends, at, mixed);
                let packed = _mm512_maskz_compress_epi32(ends, marked);
                // SAFETY: the array is sixteen writable words.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), packed) };
            }
            edges.ended += ends.count_ones() as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs by definition: a byte at a time.
    fn naive(masks: &[[u64; 2]]) -> Vec<(u32, u32)> {
        let (mut runs, mut open) = (Vec::new(), None);
        for at in 0..(masks.len() * BLOCK) as u32 {
            let bit = |mask: u64| mask >> (at as usize % BLOCK) & 1 != 0;
            let [alnum, high] = masks[at as usize / BLOCK];
            if bit(alnum | high) {
                let (start, mixed) = open.unwrap_or((at, false));
                open = Some((start, mixed | bit(high)));
            } else if let Some((start, mixed)) = open.take() {
                runs.push((start, at | if mixed { MIXED } else { 0 }));
            }
        }
        runs
    }

    fn runs_of(edges: &mut Edges, level: Level, masks: &[[u64; 2]]) -> Vec<(u32, u32)> {
        edges.begin();
        let (mut runs, mut left) = (Vec::new(), masks);
        while !left.is_empty() {
            left = &left[edges.read(level, left)..];
            runs.extend(edges.starts().iter().copied().zip(edges.ends().iter().copied()));
        }
        runs
    }

    /// Masks of bytes of three kinds, dense and sparse.
    fn masks() -> impl Strategy<Value = Vec<[u64; 2]>> {
        let word = prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(0x5555_5555_5555_5555)];
        let block = (word.clone(), word, any::<bool>());
        prop::collection::vec(block, 1..100).prop_map(|blocks| {
            let mut masks: Vec<[u64; 2]> = blocks
                .into_iter()
                .map(|(alnum, high, ascii)| [alnum, if ascii { 0 } else { high & !alnum }])
                .collect();
            let last = masks.len() - 1;
            masks[last] = masks[last].map(|mask| mask >> 1);
            masks
        })
    }

    proptest! {
        #[test]
        fn every_level_finds_the_runs(texts in prop::collection::vec(masks(), 1..4)) {
            let mut edges = Edges::default();
            for level in Level::all_supported() {
                for masks in &texts {
                    prop_assert_eq!(runs_of(&mut edges, level, masks), naive(masks));
                }
            }
        }
    }
}

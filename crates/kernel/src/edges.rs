//! From class masks to positions: where each run of bytes starts and where it ends.
//!
//! A *run* is a maximal stretch of bytes that are letters, digits or not ASCII at all, as
//! [`classify_lower`](crate::classify_lower) marks them. Taking bits off a mask one by one costs five
//! instructions a bit and, at the end of each block, a branch that nobody can predict; the byte compress of AVX-512
//! (VBMI2, which the machine is asked for apart) turns a whole mask into the indices of its bits at once.
//!
//! Starts and ends go to two arrays and find each other by their place there: runs do not touch.

use crate::level::Level;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

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
            Level::Avx512 if is_x86_feature_detected!("avx512vbmi2") => {
                // SAFETY: `usable` returns Avx512 only on a machine that has all its features, and this one has
                // the one beyond them.
                unsafe { vbmi2(self, masks) }
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `usable` returns Avx2 or more only on a machine that has all features of Avx2.
            Level::Avx2 | Level::Avx512 => unsafe { bits(self, masks) },
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

/// A mask at once: up to sixteen of its bits without a branch, and text seldom has more words in a block.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn vbmi2(edges: &mut Edges, masks: &[[u64; 2]]) {
    let index: [u8; BLOCK] = std::array::from_fn(|i| i as u8);
    // SAFETY: the array is 64 readable bytes.
    let index = unsafe { _mm512_loadu_si512(index.as_ptr().cast()) };
    let sign = _mm512_set1_epi8(i8::MIN);
    for mask in masks {
        let first = edges.next;
        let Block { starts, ends, mixed_ends } = edges.enter(*mask);
        let packed = _mm512_maskz_compress_epi8(starts, index);
        put(packed, starts, first, &mut edges.starts[edges.started..]);
        edges.started += starts.count_ones() as usize;
        let marked = _mm512_mask_add_epi8(index, mixed_ends, index, sign);
        let packed = _mm512_maskz_compress_epi8(ends, marked);
        put(packed, ends, first, &mut edges.ends[edges.ended..]);
        edges.ended += ends.count_ones() as usize;
    }
}

/// Stores the packed bit indices of `mask` as positions; a sign bit becomes [`MIXED`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn put(packed: __m512i, mask: u64, first: u32, out: &mut [u32]) {
    let keep = _mm512_set1_epi32((MIXED | (BLOCK as u32 - 1)) as i32);
    let first = _mm512_set1_epi32(first as i32);
    let widen =
        |bytes| _mm512_add_epi32(_mm512_and_si512(_mm512_cvtepi8_epi32(bytes), keep), first);
    let Some((low, rest)) = out.split_first_chunk_mut::<LANES>() else { return };
    let words = widen(_mm512_castsi512_si128(packed));
    // SAFETY: the array is sixteen writable words.
    unsafe { _mm512_storeu_si512(low.as_mut_ptr().cast(), words) };
    if mask.count_ones() as usize > LANES
        && let Some(high) = rest.first_chunk_mut::<LANES>()
    {
        let words = widen(_mm512_extracti32x4_epi32::<1>(packed));
        // SAFETY: the array is sixteen writable words.
        unsafe { _mm512_storeu_si512(high.as_mut_ptr().cast(), words) };
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

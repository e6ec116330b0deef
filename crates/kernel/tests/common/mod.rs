//! Oracles so simple that they are unlikely to be wrong, and the data the tests share.
//!
//! Each oracle follows the documentation of one public function word by word, over plain integers;
//! none of them shares code or an idea with a kernel.
#![allow(dead_code)] // Each test binary uses its own part.

use proptest::prelude::*;
use spirit_kernel::{Algorithm, Level, Progress};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

pub(crate) const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::Naive, Algorithm::Binary, Algorithm::Finger, Algorithm::Simd];

/// The largest rank a word can have.
pub(crate) const RANK_MAX: u32 = 0xFF_FFFF;

/// Every implementation of an intersection.
pub(crate) fn implementations() -> impl Iterator<Item = (Level, Algorithm)> {
    Level::all_supported().flat_map(|level| ALGORITHMS.map(|algorithm| (level, algorithm)))
}

pub(crate) fn shared(words: &[u32]) -> Vec<AtomicU32> {
    words.iter().map(|word| AtomicU32::new(*word)).collect()
}

pub(crate) fn shared_bits(words: &[u64]) -> Vec<AtomicU64> {
    words.iter().map(|word| AtomicU64::new(*word)).collect()
}

pub(crate) fn shared_units(units: &[u16]) -> Vec<AtomicU16> {
    units.iter().map(|unit| AtomicU16::new(*unit)).collect()
}

pub(crate) fn plain(words: &[AtomicU32]) -> Vec<u32> {
    words.iter().map(|word| word.load(Relaxed)).collect()
}

/// Words of these ranks, sorted, whose frequencies differ from run to run.
pub(crate) fn words_of(ranks: impl IntoIterator<Item = u32>, salt: u32) -> Vec<u32> {
    let ranks: BTreeSet<u32> = ranks.into_iter().map(|rank| rank & RANK_MAX).collect();
    ranks.into_iter().map(|rank| rank << 8 | (rank.wrapping_mul(7) + salt) & 0xFF).collect()
}

/// `count` words with gaps of 1 to `gap_max`, from a small generator: the same for the same seed.
pub(crate) fn scattered(count: usize, gap_max: u32, seed: u64, salt: u32) -> Vec<u32> {
    let (mut state, mut rank) = (seed | 1, 0);
    let ranks = (0..count).map(|_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        rank += 1 + (state >> 33) as u32 % gap_max;
        rank
    });
    words_of(ranks.collect::<Vec<_>>(), salt)
}

/// The words of `a` whose rank `b` has, at most `room`, and how much of both that consumes.
pub(crate) fn intersect(a: &[u32], b: &[u32], room: usize) -> (Vec<u32>, Progress) {
    let ranks_of_b: BTreeSet<u32> = b.iter().map(|word| word >> 8).collect();
    let mut matches: Vec<u32> =
        a.iter().copied().filter(|word| ranks_of_b.contains(&(word >> 8))).collect();
    let full = matches.len() >= room;
    matches.truncate(room);
    let through = |run: &[u32], rank: Option<u32>| {
        rank.map_or(0, |rank| run.iter().filter(|word| *word >> 8 <= rank).count())
    };
    let last = |run: &[u32]| run.last().map(|word| word >> 8);
    let (end_a, end_b) = if full { (last(&matches), last(&matches)) } else { (last(b), last(a)) };
    let progress =
        Progress { left: through(a, end_a), right: through(b, end_b), found: matches.len() };
    (matches, progress)
}

pub(crate) fn seek(run: &[u32], from: usize, rank: u32) -> usize {
    (from..run.len()).find(|i| run[*i] >> 8 >= rank).unwrap_or(run.len())
}

/// The bits of a bitmap, lowest first.
pub(crate) fn bits_of(bits: &[u64]) -> Vec<usize> {
    (0..bits.len() * 64).filter(|bit| bits[bit / 64] >> (bit % 64) & 1 == 1).collect()
}

pub(crate) fn is_set(bits: &[u64], bit: usize) -> bool {
    bits.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

/// The bitmap of that many words in which the bits are set that `wanted` says.
pub(crate) fn bits_where(words: usize, wanted: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut bits = vec![0; words];
    (0..words * 64).filter(|bit| wanted(*bit)).for_each(|bit| bits[bit / 64] |= 1 << (bit % 64));
    bits
}

pub(crate) fn common_bits(a: &[u64], b: &[u64]) -> Vec<usize> {
    let of_b: BTreeSet<usize> = bits_of(b).into_iter().collect();
    bits_of(a).into_iter().filter(|bit| of_b.contains(bit)).collect()
}

/// The words whose bit is set.
pub(crate) fn probe(run: &[u32], bits: &[u64], base: u32) -> Vec<u32> {
    let set: BTreeSet<u64> = bits_of(bits).into_iter().map(|bit| bit as u64).collect();
    let hit = |word: &u32| set.contains(&u64::from(word >> 8).wrapping_sub(u64::from(base)));
    run.iter().copied().filter(hit).collect()
}

pub(crate) fn classify_lower(src: &[u8]) -> (Vec<u8>, Vec<[u64; 2]>) {
    let mut masks = BTreeMap::new();
    for (i, byte) in src.iter().enumerate() {
        let pair: &mut [u64; 2] = masks.entry(i / 64).or_default();
        pair[0] |= u64::from(byte.is_ascii_alphanumeric()) << (i % 64);
        pair[1] |= u64::from(*byte >= 0x80) << (i % 64);
    }
    (src.to_ascii_lowercase(), masks.into_values().collect())
}

/// Sorted runs: short and long, dense and sparse, at both ends of the range of ranks.
pub(crate) fn any_run(salt: u32) -> impl Strategy<Value = Vec<u32>> {
    let ranks = |max: u32, len: usize| prop::collection::vec(0..=max, 0..len);
    prop_oneof![
        ranks(40, 40),
        ranks(600, 300),
        ranks(3_000, 3_000),
        ranks(20_000, 60),
        ranks(100, 100).prop_map(|ranks| ranks.iter().map(|rank| RANK_MAX - rank).collect()),
    ]
    .prop_map(move |ranks| words_of(ranks, salt))
}

/// Anything at all.
pub(crate) fn any_words(len: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![any::<u32>(), 0..0x4000_u32], 0..len)
}

/// Bitmaps from empty to dense.
pub(crate) fn any_bits() -> impl Strategy<Value = Vec<u64>> {
    let word = prop_oneof![
        4 => Just(0),
        2 => (0..64_u32).prop_map(|bit| 1 << bit),
        1 => any::<u64>(),
        1 => Just(u64::MAX),
    ];
    prop::collection::vec(word, 0..90)
}

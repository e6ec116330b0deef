//! Which documents of a window are short enough, as its bits.
//!
//! What a term that a document has once is worth there depends on the document's length alone. So where a score has to be high, a list's bits ANDed with
//! these are the documents that may have it, and no posting's length is gathered: lengths are read in their order, 64 bytes at a time.
//!
//! Not here: how short that is.

use crate::lengths::{Form, Lengths};
use crate::level::Level;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::Relaxed};

#[cfg(target_arch = "x86_64")]
use crate::avx2::signs_of_16;
#[cfg(target_arch = "x86_64")]
use crate::load::{load_16_units, load_32_units};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Bits of a word.
const BITS: usize = 64;

/// Bit `i` becomes whether rank `base + i` has a length of at most `most`; what has none has a length of 0.
pub fn short_bits(level: Level, lengths: Lengths, base: u32, most: u16, bits: &mut [u64]) {
    let Some(from) = base.checked_sub(lengths.base) else {
        return each(lengths, base, most, bits);
    };
    let units = lengths.newest_first;
    let behind = |at: usize| units.get(at..).unwrap_or(&[]);
    match lengths.form {
        Form::Units => by_level::<1, 64>(level, behind(from as usize), most, bits),
        // The second of a pair comes first: seldom, so it need not be quick.
        Form::Pairs if from % 2 == 1 => each(lengths, base, most, bits),
        Form::Pairs => by_level::<2, 32>(level, behind(from as usize / 2), most.min(0xFF), bits),
        Form::Listed { indices, .. } => listed(lengths, indices, from, most, bits),
    }
}

/// Rank by rank.
fn each(lengths: Lengths, base: u32, most: u16, bits: &mut [u64]) {
    let mut ranks = (0..).map(|i: u32| base.wrapping_add(i));
    for word in bits {
        let short = |(bit, rank): (usize, u32)| u64::from(lengths.of(rank) <= most) << bit;
        *word = ranks.by_ref().take(BITS).enumerate().map(short).sum();
    }
}

/// Of lengths that few ranks have.
fn listed(lengths: Lengths, indices: &[AtomicU32], from: u32, most: u16, bits: &mut [u64]) {
    bits.fill(u64::MAX);
    let first = indices.partition_point(|index| index.load(Relaxed) < from);
    for index in indices[first..].iter().map(|index| index.load(Relaxed)) {
        let bit = index.wrapping_sub(from) as usize;
        let Some(word) = bits.get_mut(bit / BITS) else { break };
        if lengths.of(lengths.base.wrapping_add(index)) > most {
            *word &= !(1 << (bit % BITS));
        }
    }
}

/// `PER` lengths a unit, so `N` units a word.
fn by_level<const PER: usize, const N: usize>(
    level: Level,
    units: &[AtomicU16],
    most: u16,
    bits: &mut [u64],
) {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { scan_avx512::<PER, N>(units, most, bits) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { scan_avx2::<PER, N>(units, most, bits) },
        _ => scan::<PER, N>(units, most, bits, |group| part::<PER>(group, most)),
    }
}

/// `whole` returns the bits of the lengths in as many units as a word stands for.
#[inline(always)]
fn scan<const PER: usize, const N: usize>(
    units: &[AtomicU16],
    most: u16,
    bits: &mut [u64],
    whole: impl Fn(&[AtomicU16; N]) -> u64,
) {
    let (groups, rest) = units.as_chunks::<N>();
    let (known, missing) = bits.split_at_mut(groups.len().min(bits.len()));
    known.iter_mut().zip(groups).for_each(|(word, group)| *word = whole(group));
    if let Some((first, others)) = missing.split_first_mut() {
        *first = part::<PER>(rest, most);
        others.fill(u64::MAX);
    }
}

/// The bits of the lengths in some units, and ones for those that are missing.
#[inline(always)]
fn part<const PER: usize>(units: &[AtomicU16], most: u16) -> u64 {
    let mut word = u64::MAX;
    for (i, unit) in units.iter().enumerate() {
        let unit = unit.load(Relaxed);
        for lane in 0..PER {
            let length = if PER == 1 { unit } else { unit >> (8 * lane) & 0xFF };
            word &= !(u64::from(length > most) << (i * PER + lane));
        }
    }
    word
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx512<const PER: usize, const N: usize>(units: &[AtomicU16], most: u16, bits: &mut [u64]) {
    let (most_8, most_16) = (_mm512_set1_epi8(most as i8), _mm512_set1_epi16(most as i16));
    let short = |units: &[AtomicU16; 32]| match PER {
        1 => u64::from(_mm512_cmple_epu16_mask(load_32_units(units), most_16)),
        _ => _mm512_cmple_epu8_mask(load_32_units(units), most_8),
    };
    scan::<PER, N>(units, most, bits, |group| {
        let blocks = group.as_chunks::<32>().0.iter().enumerate();
        blocks.map(|(i, block)| short(block) << (32 * PER * i)).fold(0, |word, bits| word | bits)
    });
}

/// AVX2 compares signed numbers only: a length is at most another if it is the lesser of both.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn scan_avx2<const PER: usize, const N: usize>(units: &[AtomicU16], most: u16, bits: &mut [u64]) {
    let (most_8, most_16) = (_mm256_set1_epi8(most as i8), _mm256_set1_epi16(most as i16));
    let short = |units: &[AtomicU16; 16]| {
        let lengths = load_16_units(units);
        if PER == 1 {
            let lesser = _mm256_cmpeq_epi16(_mm256_min_epu16(lengths, most_16), lengths);
            return u64::from(signs_of_16(lesser));
        }
        let lesser = _mm256_cmpeq_epi8(_mm256_min_epu8(lengths, most_8), lengths);
        u64::from(_mm256_movemask_epi8(lesser) as u32)
    };
    scan::<PER, N>(units, most, bits, |group| {
        let blocks = group.as_chunks::<16>().0.iter().enumerate();
        blocks.map(|(i, block)| short(block) << (16 * PER * i)).fold(0, |word, bits| word | bits)
    });
}

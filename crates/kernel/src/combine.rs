//! Windows with windows: intersection, union, difference and count of plain bitmaps.
//!
//! The memory belongs to one query, so the loops are written once and the compiler makes vectors of them, as wide as
//! the shell they are inlined into allows. A shorter `other` is as if followed by zeros.
//!
//! Not here: how a window is filled, see `window.rs`.

use crate::level::Level;

/// Clears the bits of `bits` that `other` lacks.
pub fn and_window(level: Level, bits: &mut [u64], other: &[u64]) {
    let (common, rest) = bits.split_at_mut(other.len().min(bits.len()));
    combine(level, common, other, |bits, other| bits & other);
    rest.fill(0);
}

/// Sets the bits of `bits` that `other` has.
pub fn or_window(level: Level, bits: &mut [u64], other: &[u64]) {
    combine(level, bits, other, |bits, other| bits | other);
}

/// Clears the bits of `bits` that `other` has.
pub fn and_not_window(level: Level, bits: &mut [u64], other: &[u64]) {
    combine(level, bits, other, |bits, other| bits & !other);
}

/// How many bits are set.
pub fn count_bits(level: Level, bits: &[u64]) -> u64 {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if is_x86_feature_detected!("avx512vpopcntdq") => {
            // SAFETY: `usable` returns Avx512 only on a machine that has all its features, and the
            // guard asked for the one on top.
            unsafe { count_avx512(bits) }
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns these two only on a machine that has the features of Avx2.
        Level::Avx512 | Level::Avx2 => unsafe { count_avx2(bits) },
        _ => count_each(bits),
    }
}

/// Puts `op(own, other)` into each word that both have.
#[inline(always)]
fn combine(level: Level, bits: &mut [u64], other: &[u64], op: impl Fn(u64, u64) -> u64) {
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { combine_avx512(bits, other, op) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { combine_avx2(bits, other, op) },
        _ => combine_each(bits, other, op),
    }
}

#[inline(always)]
fn combine_each(bits: &mut [u64], other: &[u64], op: impl Fn(u64, u64) -> u64) {
    for (slot, other) in bits.iter_mut().zip(other) {
        *slot = op(*slot, *other);
    }
}

#[inline(always)]
fn count_each(bits: &[u64]) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn combine_avx512(bits: &mut [u64], other: &[u64], op: impl Fn(u64, u64) -> u64) {
    combine_each(bits, other, op);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn combine_avx2(bits: &mut [u64], other: &[u64], op: impl Fn(u64, u64) -> u64) {
    combine_each(bits, other, op);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,bmi1,bmi2,lzcnt,popcnt")]
fn count_avx512(bits: &[u64]) -> u64 {
    count_each(bits)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn count_avx2(bits: &[u64]) -> u64 {
    count_each(bits)
}

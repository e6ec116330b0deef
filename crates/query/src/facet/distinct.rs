//! The number of different values: exact up to [`EXACT_MAX`], then estimated by HyperLogLog.
//!
//! The first bits of each value's hash choose one of `m` registers. A register keeps one more than
//! the highest number of zeros that the rest of such a hash began with. Many different values make
//! long runs of zeros (Flajolet et al., 2007). The estimator is Ertl's (2017), which is as accurate
//! for few values as for many. The mean error is `1.04 / √m`, one part in 123.

use std::collections::HashSet;

use super::room;
use super::state::{Words, write_bytes};

/// Values that are counted exactly, at most.
const EXACT_MAX: usize = 1 << 14;
/// Bits of a hash that choose a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;
/// Bits in which zeros are counted.
const COUNTED_BITS: usize = 64 - INDEX_BITS as usize;

/// Different values, by their hashes.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    few: HashSet<u64>,
    /// The registers, empty while values are counted exactly.
    registers: Vec<u8>,
}

impl Distinct {
    /// Adds a value. Different values have different numbers, or nearly always.
    pub(super) fn add(&mut self, value: u64) {
        self.add_hash(mixed(value));
    }

    fn add_hash(&mut self, hash: u64) {
        if !self.registers.is_empty() {
            return self.register(hash);
        }
        self.few.insert(hash);
        if self.few.len() > EXACT_MAX {
            self.estimate_from_here();
        }
    }

    fn estimate_from_here(&mut self) {
        self.registers = vec![0; REGISTERS];
        std::mem::take(&mut self.few).into_iter().for_each(|hash| self.register(hash));
    }

    /// Writes the values.
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        out.push(self.few.len() as u64);
        out.extend(&self.few);
        write_bytes(&self.registers, out);
    }

    /// Adds values that were written.
    pub(super) fn join(&mut self, words: &mut Words<'_>) -> Option<()> {
        for _ in 0..words.count()? {
            self.add_hash(words.next()?);
        }
        let mut registers = Vec::new();
        words.bytes(&mut registers)?;
        if registers.is_empty() {
            return Some(());
        }
        if self.registers.is_empty() {
            self.estimate_from_here();
        }
        let registers: [u8; REGISTERS] = registers.try_into().ok()?;
        for (own, other) in self.registers.iter_mut().zip(registers) {
            *own = (*own).max(other);
        }
        Some(())
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        room::table(self.few.capacity(), size_of::<u64>()) + self.registers.capacity()
    }

    /// Returns the number of different values.
    pub(super) fn count(&self) -> u64 {
        if self.registers.is_empty() { self.few.len() as u64 } else { self.estimate() }
    }

    fn register(&mut self, hash: u64) {
        let register = &mut self.registers[(hash >> COUNTED_BITS) as usize];
        let zeros = (hash << INDEX_BITS).leading_zeros().min(COUNTED_BITS as u32);
        *register = (*register).max(zeros as u8 + 1);
    }

    fn estimate(&self) -> u64 {
        let mut with = [0.0; COUNTED_BITS + 2];
        self.registers.iter().for_each(|zeros| with[*zeros as usize] += 1.0);
        let m = REGISTERS as f64;
        let full = m * tau(1.0 - with[COUNTED_BITS + 1] / m);
        let sum = with[1..=COUNTED_BITS].iter().rev().fold(full, |sum, with| 0.5 * (sum + with));
        let sum = sum + m * sigma(with[0] / m);
        (m * m / (2.0 * std::f64::consts::LN_2 * sum)).round() as u64
    }
}

/// Returns `x + Σ x^(2^k) · 2^(k−1)`, the term for registers that are still 0. Some register is not
/// 0, so `x` is below 1.
fn sigma(mut x: f64) -> f64 {
    let (mut power, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * power;
        power += power;
        if sum == before {
            return sum;
        }
    }
}

/// Returns `(1 − x − Σ (1 − x^(2^−k))² · 2^−k) / 3`, the term for registers at their limit.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut power, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        power *= 0.5;
        sum -= (1.0 - x).powi(2) * power;
        if sum == before {
            return sum / 3.0;
        }
    }
}

/// Mixes a number: all bits of the result depend on all bits of `value` (splitmix64).
fn mixed(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_counted_exactly() {
        let mut distinct = Distinct::default();
        for n in 0..EXACT_MAX as u64 {
            distinct.add(n * n);
            distinct.add(n);
        }
        let expected: HashSet<u64> = (0..EXACT_MAX as u64).flat_map(|n| [n, n * n]).collect();
        assert!(expected.len() > EXACT_MAX && distinct.registers.len() == REGISTERS);
        let mut few = Distinct::default();
        (0..EXACT_MAX as u64).chain(0..9).for_each(|n| few.add(n << 40));
        assert_eq!(few.count(), EXACT_MAX as u64);
    }

    #[test]
    fn many_are_estimated_closely() {
        for shift in [0, 40] {
            let mut distinct = Distinct::default();
            let mut added = 0;
            for count in [EXACT_MAX as u64 + 1, 30_000, 60_000, 100_000, 1_000_000] {
                (added..count).for_each(|n| distinct.add(n << shift));
                (0..added).step_by(7).for_each(|n| distinct.add(n << shift));
                added = count;
                let error = distinct.count() as f64 / count as f64 - 1.0;
                assert!(error.abs() < 0.025, "{count} is off by {error}");
            }
        }
    }
}

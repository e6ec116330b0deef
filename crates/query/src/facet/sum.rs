//! Exact sums of floating-point numbers, rounded once, at the end: their order does not matter.
//!
//! A sum is an unevaluated sum of numbers without common bits (Shewchuk, 1997), as in Python's
//! `fsum`. There are seldom more than three.

use super::state::Words;

/// Numbers from here on are added up apart, and smaller by [`DOWN`], so that no sum overflows.
const LARGE: f64 = f64::from_bits((1023 + 900) << 52);
/// 2^-128.
const DOWN: f64 = f64::from_bits((1023 - 128) << 52);
/// 2^128.
const UP: f64 = f64::from_bits((1023 + 128) << 52);

/// A sum of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    parts: Vec<f64>,
    large: Vec<f64>,
    /// The sum of what is not finite.
    infinite: f64,
}

impl Sum {
    pub(super) fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.infinite += number;
        } else if number.abs() < LARGE {
            add(&mut self.parts, number);
        } else {
            add(&mut self.large, number * DOWN);
        }
    }

    /// Adds a whole number, in parts that floating point has exactly.
    pub(super) fn add_whole(&mut self, number: u128) {
        const BITS: u32 = 43;
        for shift in [0, BITS, 2 * BITS] {
            let part = (number >> shift) as u64 & ((1 << BITS) - 1);
            self.add(part as f64 * (1u128 << shift) as f64);
        }
    }

    /// Writes the sum.
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        for parts in [&self.parts, &self.large] {
            out.push(parts.len() as u64);
            out.extend(parts.iter().map(|part| part.to_bits()));
        }
        out.push(self.infinite.to_bits());
    }

    /// Adds a sum that was written.
    pub(super) fn join(&mut self, words: &mut Words<'_>) -> Option<()> {
        for parts in [&mut self.parts, &mut self.large] {
            for _ in 0..words.count()? {
                add(parts, words.float()?);
            }
        }
        self.infinite += words.float()?;
        Some(())
    }

    /// Returns the bytes allocated.
    pub(super) fn bytes(&self) -> usize {
        (self.parts.capacity() + self.large.capacity()) * size_of::<f64>()
    }

    /// Returns the number that is nearest to the sum.
    pub(super) fn total(&self) -> f64 {
        if self.infinite != 0.0 {
            return self.infinite;
        }
        if self.large.iter().all(|part| *part == 0.0) {
            return rounded(&self.parts);
        }
        let mut all = self.large.clone();
        self.parts.iter().for_each(|part| add(&mut all, part * DOWN));
        rounded(&all) * UP
    }
}

/// Adds a number to parts without common bits, the least first.
fn add(parts: &mut Vec<f64>, mut number: f64) {
    let mut kept = 0;
    for at in 0..parts.len() {
        let (high, low) = two_sum(number, parts[at]);
        if low != 0.0 {
            parts[kept] = low;
            kept += 1;
        }
        number = high;
    }
    parts.truncate(kept);
    parts.push(number);
}

/// Returns the sum, and what rounding took from it.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (a, b) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Returns the number nearest to the sum of parts without common bits.
fn rounded(parts: &[f64]) -> f64 {
    let Some((mut high, mut rest)) = parts.split_last().map(|(last, rest)| (*last, rest)) else {
        return 0.0;
    };
    while let Some((part, others)) = rest.split_last() {
        let (sum, low) = two_sum(high, *part);
        (high, rest) = (sum, others);
        if low != 0.0 {
            // A half was rounded to even, but the parts below it say that it was more.
            let says_more = rest.last().is_some_and(|next| (*next < 0.0) == (low < 0.0));
            let doubled = low * 2.0;
            let next = high + doubled;
            if says_more && next - high == doubled {
                high = next;
            }
            break;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(numbers: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = Sum::default();
        numbers.into_iter().for_each(|number| sum.add(number));
        sum.total()
    }

    #[test]
    fn sums_are_the_nearest_numbers() {
        assert_eq!(total([0.1; 10]), 1.0);
        assert_eq!(total([1e100, 1.0, -1e100]), 1.0);
        assert_eq!(total([f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(total([f64::MAX, 5.0, -f64::MAX]), 5.0);
        assert_eq!(total([f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(total([f64::NEG_INFINITY, 1.0]), f64::NEG_INFINITY);
        assert!(total([f64::NEG_INFINITY, f64::INFINITY]).is_nan());
        assert_eq!(total([1e16, 1.0, 1e-16]), 1e16 + 2.0);
        assert_eq!(total([]), 0.0);
    }

    proptest! {
        /// Decimals whose sum fits in 53 bits once scaled: the sum of whole numbers is exact.
        #[test]
        fn any_order_gives_one_sum(numbers in prop::collection::vec(any::<f64>(), 0..40), by in 0usize..40) {
            let numbers: Vec<f64> = numbers.into_iter().filter(|n| n.is_finite()).collect();
            let forth = total(numbers.iter().copied());
            let back = total(numbers.iter().rev().copied());
            let by = by.min(numbers.len());
            let turned = total(numbers[by..].iter().chain(&numbers[..by]).copied());
            prop_assert_eq!(forth.to_bits() << 1, back.to_bits() << 1);
            prop_assert_eq!(forth.to_bits() << 1, turned.to_bits() << 1);
        }

        #[test]
        fn binary_fractions_are_added_as_whole_numbers(numbers in prop::collection::vec(any::<i32>(), 0..99), down in 0i32..900) {
            let scale = 2f64.powi(-down);
            let expected = numbers.iter().map(|n| i64::from(*n)).sum::<i64>() as f64 * scale;
            prop_assert_eq!(total(numbers.iter().map(|n| f64::from(*n) * scale)), expected);
        }
    }
}

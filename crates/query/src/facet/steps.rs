//! The buckets of a histogram of numbers, by decimal arithmetic.
//!
//! The interval, the offset and the numbers are taken as the shortest decimals that are read back
//! as them. So 0.3 is three tenths, and lies in the bucket of tenths that begins with 0.3. Bucket
//! `n` begins at `offset + n × interval`.
//!
//! Division in floating point is off by less than a few units in the last place. So its floor is
//! right unless the quotient is that near to a whole number. Then the number is compared with the
//! bucket's beginning. A decimal of at most 15 digits is the shortest one of its floating-point
//! number, so with such a beginning the comparison is exact. Any other is done in integers.

use spirit_index::ground::ValueKind;

/// The first bucket's number that a histogram cannot have: 2^63.
const END: f64 = (1u64 << 63) as f64;
/// Relative distance from a whole number within which a quotient may be on its wrong side: eight
/// units in the last place.
const NEAR: f64 = 8.0 * f64::EPSILON;
/// The first whole number that has more than 15 digits.
const EXACT_END: u128 = 1_000_000_000_000_000;
/// Powers of ten that floating point has exactly end with this exponent.
const EXACT_POWER_MAX: u32 = 22;
/// Powers of ten that fit in 128 bits end with this exponent.
const POWER_MAX: u32 = 38;

/// A decimal: `digits × 10^-scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decimal {
    digits: i128,
    scale: i32,
}

/// The buckets of a histogram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    interval: f64,
    offset: f64,
    /// Interval and offset as whole numbers, and the scale of both. None if they do not fit.
    whole: Option<Whole>,
}

#[derive(Clone, Copy, Debug)]
struct Whole {
    interval: i128,
    offset: i128,
    scale: u32,
}

impl Decimal {
    /// Returns the shortest decimal of a finite number.
    fn of(number: f64) -> Decimal {
        // Digits, perhaps with a point behind the first one, and an exponent.
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let digits = format!("{whole}{fraction}").parse().unwrap_or(0);
        let exponent: i32 = exponent.parse().unwrap_or(0);
        Decimal { digits, scale: fraction.len() as i32 - exponent }
    }

    /// Returns the digits at another scale, which is not smaller. None if they do not fit.
    fn at(self, scale: u32) -> Option<i128> {
        let more = u32::try_from(i64::from(scale) - i64::from(self.scale)).ok()?;
        if self.digits == 0 {
            return Some(0);
        }
        let power = 10i128.checked_pow(more.min(POWER_MAX + 1))?;
        self.digits.checked_mul(power)
    }
}

impl Steps {
    /// Returns the buckets of this width. A finite `offset` moves all of them.
    pub(super) fn new(interval: f64, offset: f64) -> Steps {
        let (width, moved) = (Decimal::of(interval), Decimal::of(offset));
        let scale = if moved.digits == 0 { width.scale } else { width.scale.max(moved.scale) };
        let scale = scale.max(0).cast_unsigned();
        let whole = width.at(scale).zip(moved.at(scale));
        let whole = whole.map(|(interval, offset)| Whole { interval, offset, scale });
        Steps { interval, offset, whole }
    }

    /// Returns the number of the bucket of a value in sortable form. None if that is beyond 2^63 or
    /// if the value is no finite number.
    pub(super) fn bucket(&self, kind: ValueKind, sortable: u64) -> Option<i64> {
        let bits = kind.from_sortable(sortable);
        match (kind, self.whole) {
            (ValueKind::Float, _) => self.of_float(f64::from_bits(bits)),
            // A product beyond 128 bits is of a value beyond 2^63 buckets.
            (_, Some(whole)) => whole.of(Decimal { digits: bits.cast_signed().into(), scale: 0 }),
            (_, None) => self.of_float(bits.cast_signed() as f64),
        }
    }

    fn of_float(&self, number: f64) -> Option<i64> {
        let quotient = (number - self.offset) / self.interval;
        if quotient.is_nan() || quotient.abs() >= END {
            return None;
        }
        let Some(whole) = self.whole else { return Some(quotient.floor() as i64) };
        let nearest = quotient.round();
        let slack = NEAR * (1.0 + quotient.abs() + (self.offset / self.interval).abs());
        if (quotient - nearest).abs() > slack {
            return Some(quotient.floor() as i64);
        }
        match whole.exact_start(nearest as i64) {
            Some(start) if slack < 0.5 => Some(nearest as i64 - i64::from(number < start)),
            _ => whole.of(Decimal::of(number)).or(Some(quotient.floor() as i64)),
        }
    }

    /// Returns the number that a bucket begins with: the nearest one to its decimal.
    pub(super) fn start(&self, bucket: i64) -> f64 {
        let Some(whole) = &self.whole else {
            return self.offset + bucket as f64 * self.interval;
        };
        let exact = whole.exact_start(bucket);
        let written = || Some(format!("{}e-{}", whole.digits(bucket)?, whole.scale));
        let read = || written()?.parse().ok();
        exact.or_else(read).unwrap_or(self.offset + bucket as f64 * self.interval)
    }
}

impl Whole {
    /// Returns the bucket of a decimal; none if its number is beyond 64 bits.
    fn of(&self, number: Decimal) -> Option<i64> {
        // A decimal of a finer scale is scaled along with the interval.
        let finer = u32::try_from(number.scale).ok().filter(|scale| *scale > self.scale);
        let Some(scale) = finer else {
            let digits = number.at(self.scale)?.checked_sub(self.offset)?;
            return i64::try_from(digits.div_euclid(self.interval)).ok();
        };
        let power = 10i128.checked_pow(scale - self.scale);
        let [interval, offset] = [self.interval, self.offset].map(|n| n.checked_mul(power?));
        match interval.zip(offset) {
            Some((interval, offset)) => {
                let digits = number.digits.checked_sub(offset)?;
                i64::try_from(digits.div_euclid(interval)).ok()
            }
            // The number is so small that only its sign counts.
            None => {
                let below = i128::from(number.digits < 0);
                i64::try_from((-self.offset - below).div_euclid(self.interval)).ok()
            }
        }
    }

    /// Returns the digits of a bucket's beginning.
    fn digits(&self, bucket: i64) -> Option<i128> {
        self.interval.checked_mul(bucket.into())?.checked_add(self.offset)
    }

    /// Returns a bucket's beginning, if it has so few digits that it is the shortest decimal of the
    /// number returned.
    fn exact_start(&self, bucket: i64) -> Option<f64> {
        let digits = self.digits(bucket)?;
        let is_short = digits.unsigned_abs() < EXACT_END && self.scale <= EXACT_POWER_MAX;
        // Both are exact, so their quotient is the nearest number.
        is_short.then(|| digits as f64 / 10f64.powi(self.scale.cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bucket(interval: f64, offset: f64, number: f64) -> Option<i64> {
        let value = ValueKind::Float.sortable(number.to_bits());
        Steps::new(interval, offset).bucket(ValueKind::Float, value)
    }

    fn label(interval: f64, offset: f64, number: f64) -> String {
        let bucket = bucket(interval, offset, number).unwrap();
        Steps::new(interval, offset).start(bucket).to_string()
    }

    #[test]
    fn decimals_are_in_the_bucket_with_their_name() {
        for step in [0.1, 0.01, 0.001, 0.2, 0.25, 0.3, 0.7, 1.1, 5.0, 1e-5, 1e-7] {
            let digits = Decimal::of(step);
            for n in -3000i64..3000 {
                let text = format!("{}e{}", digits.digits * i128::from(n), -digits.scale);
                let number: f64 = text.parse().unwrap();
                assert_eq!(bucket(step, 0.0, number), Some(n), "{number} by {step}");
                assert_eq!(Steps::new(step, 0.0).start(n), number, "{n} by {step}");
            }
        }
    }

    #[test]
    fn labels_are_short() {
        for (interval, offset, number, expected) in [
            (0.1, 0.0, 0.3, "0.3"),
            (0.1, 0.0, 0.1 + 0.2, "0.3"),
            (0.1, 0.0, 0.1 + 0.7, "0.7"),
            (0.1, 0.0, -0.3, "-0.3"),
            (0.1, 0.0, -0.31, "-0.4"),
            (0.1, 0.05, 0.3, "0.25"),
            (0.1, 0.05, 0.35, "0.35"),
            (0.25, 0.1, 0.6, "0.6"),
            (0.1, 0.0, 1e15, "1000000000000000"),
            (0.1, 0.0, 1e15 + 0.375, "1000000000000000.4"),
            (0.1, 0.0, 1e-300, "0"),
            (0.1, 0.0, -1e-300, "-0.1"),
            (1e300, 0.0, 2.5e300, &2e300.to_string()),
            (3.0, 0.0, 9_007_199_254_740_992.0, "9007199254740990"),
        ] {
            assert_eq!(label(interval, offset, number), expected, "{number} by {interval}");
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert_eq!(bucket(0.1, 0.0, number), None, "{number}");
        }
    }

    #[test]
    fn whole_numbers_are_divided_exactly() {
        for (interval, number, expected) in [
            (0.1, i64::MAX / 100, Some(i64::MAX / 100 * 10)),
            (0.1, i64::MAX / 9, None),
            (10.0, -1, Some(-1)),
            (3.0, i64::MAX, Some(i64::MAX / 3)),
            (3.0, i64::MIN, Some(i64::MIN.div_euclid(3))),
            (1e300, -5, Some(-1)),
            (1e-20, 1, None),
            (1e-20, 0, Some(0)),
        ] {
            let value = ValueKind::Integer.sortable(number.cast_unsigned());
            let found = Steps::new(interval, 0.0).bucket(ValueKind::Integer, value);
            assert_eq!(found, expected, "{number} by {interval}");
        }
    }

    proptest! {
        /// Decimals are divided as whole numbers of their last digit.
        #[test]
        fn any_decimal_is_in_its_bucket(
            number in -1_000_000_000_000i64..1_000_000_000_000,
            interval in 1i64..100_000,
            offset in -100_000i64..100_000,
            scale in 0u32..6,
            near: bool,
        ) {
            let number = if near { number / interval * interval + offset } else { number };
            let decimal = |n: i64| format!("{n}e-{scale}").parse::<f64>().unwrap();
            let found = bucket(decimal(interval), decimal(offset), decimal(number));
            let expected = (number - offset).div_euclid(interval);
            prop_assert_eq!(found, Some(expected));
            let start = Steps::new(decimal(interval), decimal(offset)).start(expected);
            prop_assert_eq!(start, decimal(expected * interval + offset));
        }

        #[test]
        fn any_numbers_have_a_bucket_or_none(interval: f64, offset: f64, number: f64) {
            let interval = interval.abs();
            if interval.is_finite()
                && interval > 0.0
                && offset.is_finite()
                && let Some(found) = bucket(interval, offset, number)
            {
                Steps::new(interval, offset).start(found);
            }
        }
    }
}

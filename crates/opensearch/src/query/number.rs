//! Numbers in queries: whole ones for fields of integers, whatever their spelling, and ends of ranges.

use std::ops::Bound;

use crate::error::Refusal;

/// One end of a range.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// A value, or none.
    At(Bound<String>),
    /// No value is within.
    Beyond,
}

/// Which end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Lower,
    Upper,
}

/// Returns the integer that a text means, `3.0` too; none if it is no integer of 64 bits.
pub(super) fn whole(text: &str) -> Result<Option<i64>, Refusal> {
    if let Ok(whole) = text.trim().parse() {
        return Ok(Some(whole));
    }
    let number = float(text)?;
    Ok((number.trunc() == number).then(|| to_whole(number)).flatten())
}

/// Returns the floating-point number that a text means, which is not NaN.
pub(super) fn float(text: &str) -> Result<f64, Refusal> {
    let number = text.trim().parse().ok().filter(|number: &f64| !number.is_nan());
    number.ok_or_else(|| {
        let error = Refusal::number_format(text);
        Refusal::query_shard(format!("failed to create query: {}", error.reason))
    })
}

/// Returns the end of a range of integers: behind a fraction is the next integer.
pub(super) fn whole_end(text: &str, inclusive: bool, side: Side) -> Result<End, Refusal> {
    if let Some(whole) = whole(text)? {
        return Ok(End::At(bound(whole.to_string(), inclusive)));
    }
    let number = float(text)?;
    let next = if side == Side::Lower { number.ceil() } else { number.floor() };
    Ok(match to_whole(next) {
        Some(whole) => End::At(Bound::Included(whole.to_string())),
        None if (number > 0.0) == (side == Side::Lower) => End::Beyond,
        None => End::At(Bound::Unbounded),
    })
}

/// Returns an end that belongs to its range or not.
pub(super) fn bound(value: String, inclusive: bool) -> Bound<String> {
    if inclusive { Bound::Included(value) } else { Bound::Excluded(value) }
}

fn to_whole(number: f64) -> Option<i64> {
    // Both ends are powers of two, so the comparisons are exact.
    (number >= -(2f64.powi(63)) && number < 2f64.powi(63)).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_integers() {
        let included = |text: &str| End::At(Bound::Included(text.to_owned()));
        for (text, inclusive, side, end) in [
            ("3", true, Side::Lower, included("3")),
            ("3.0", false, Side::Lower, End::At(Bound::Excluded("3".into()))),
            ("3.5", false, Side::Lower, included("4")),
            ("3.5", true, Side::Upper, included("3")),
            ("-3.5", true, Side::Lower, included("-3")),
            ("1e30", true, Side::Lower, End::Beyond),
            ("1e30", true, Side::Upper, End::At(Bound::Unbounded)),
            ("-1e30", true, Side::Upper, End::Beyond),
            ("-1e30", true, Side::Lower, End::At(Bound::Unbounded)),
            ("9223372036854775808", true, Side::Lower, End::Beyond),
        ] {
            assert_eq!(whole_end(text, inclusive, side), Ok(end), "{text}");
        }
        assert_eq!(whole("1e3"), Ok(Some(1000)));
        assert_eq!(whole("1.5"), Ok(None));
        assert!(whole("NaN").is_err() && whole("x").is_err());
    }
}

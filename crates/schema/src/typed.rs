//! Values as users type them in a query of a field: a number, a moment, a boolean.
//!
//! | kind | values |
//! |---|---|
//! | integer, float | `17`, `-2.5`, `1e6` |
//! | time | ISO 8601; number in the field's unit; minute, day or month (all of it, in UTC); `now`, `now-1d+30m` |
//! | boolean | `true`, `false` |
//!
//! Values are in their [sortable](ValueKind::sortable) form, so that they compare without their
//! kind.

use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use spirit_index::ground::ValueKind;

use crate::kind::FieldKind;
use crate::time::{DAY_MS, parse_month};
use crate::value::{FieldValue, Value};

/// Parses the values of a field that a text means: one, or the moments of a minute, a day or a
/// month. None if it is no
/// value of this kind.
pub fn typed(kind: FieldKind, text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = match kind {
        FieldKind::Text(_) | FieldKind::Keyword => return None,
        FieldKind::Integer => one(Value::Integer(text.parse().ok()?), kind)?,
        FieldKind::Float => {
            one(Value::Float(text.parse().ok().filter(|number: &f64| !number.is_nan())?), kind)?
        }
        FieldKind::Time(_) => moments(kind, text)?,
        FieldKind::Boolean => one(Value::Boolean(text.parse().ok()?), kind)?,
    };
    Some(first..=last)
}

/// Returns all values that ranges of a field of this kind can contain. NaN is in no range. None for
/// text.
pub fn everything(kind: FieldKind) -> Option<RangeInclusive<u64>> {
    let ends = match kind {
        FieldKind::Text(_) | FieldKind::Keyword => return None,
        FieldKind::Integer | FieldKind::Time(_) => [i64::MIN, i64::MAX].map(FieldValue::Integer),
        FieldKind::Float => [f64::NEG_INFINITY, f64::INFINITY].map(FieldValue::Float),
        FieldKind::Boolean => [false, true].map(FieldValue::Boolean),
    };
    let [first, last] = ends.map(bits);
    Some(first..=last)
}

fn one(value: Value<'_>, kind: FieldKind) -> Option<(u64, u64)> {
    let bits = bits(value.fitted(kind)?);
    Some((bits, bits))
}

/// Returns the sortable bits of a value; 0 for one that is no number.
fn bits(value: FieldValue<'_>) -> u64 {
    match value {
        FieldValue::Text(_) | FieldValue::Keyword(_) | FieldValue::Object => 0,
        FieldValue::Integer(number) => ValueKind::Integer.sortable(number.cast_unsigned()),
        FieldValue::Time(time) => ValueKind::Time.sortable(time.cast_unsigned()),
        FieldValue::Float(number) => ValueKind::Float.sortable(number.to_bits()),
        FieldValue::Boolean(yes) => ValueKind::Boolean.sortable(yes.into()),
    }
}

fn moments(kind: FieldKind, text: &str) -> Option<(u64, u64)> {
    let moment = |time| bits(FieldValue::Time(time));
    if let Some(moments) = crate::time::moments(text).or_else(|| parse_month(text)) {
        return Some((moment(*moments.start()), moment(*moments.end())));
    }
    if let Some(shifts) = text.strip_prefix("now") {
        let time = moment(shifted(now(), shifts)?);
        return Some((time, time));
    }
    let whole = text.parse().map(Value::Integer).ok();
    one(whole.or_else(|| text.parse().map(Value::Float).ok())?, kind)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Shifts a moment: `-1h`, `+2d-30m`. None if the shifts are not valid or overflow.
fn shifted(mut time: i64, shifts: &str) -> Option<i64> {
    let mut rest = shifts;
    while !rest.is_empty() {
        let sign = match rest.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let unit_at = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let digits = &rest[1..unit_at];
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let count: i64 = digits.parse().ok().filter(|_| is_plain)?;
        let shift = count.checked_mul(sign * milliseconds_in(rest.as_bytes()[unit_at])?)?;
        time = time.checked_add(shift)?;
        rest = &rest[unit_at + 1..];
    }
    Some(time)
}

fn milliseconds_in(unit: u8) -> Option<i64> {
    match unit {
        b's' => Some(1000),
        b'm' => Some(60_000),
        b'h' => Some(3_600_000),
        b'd' => Some(DAY_MS),
        b'w' => Some(7 * DAY_MS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::TimeUnit;

    fn time(time: i64) -> u64 {
        ValueKind::Time.sortable(time.cast_unsigned())
    }

    #[test]
    fn texts_are_values_of_their_kind() {
        use FieldKind::*;
        let integer = |n: i64| ValueKind::Integer.sortable(n.cast_unsigned());
        let float = |n: f64| ValueKind::Float.sortable(n.to_bits());
        let one = |value| value..=value;
        let (seconds, milliseconds) = (Time(TimeUnit::Seconds), Time(TimeUnit::Milliseconds));
        let day = 1_795_305_600_000;
        for (kind, text, expected) in [
            (Integer, "-17", one(integer(-17))),
            (Float, "-2.5", one(float(-2.5))),
            (Float, "1e6", one(float(1e6))),
            (Float, "-0", one(float(0.0))),
            (Boolean, "true", one(1)),
            (milliseconds, "17", one(time(17))),
            (seconds, "17", one(time(17_000))),
            (seconds, "-1.5", one(time(-1500))),
            (seconds, "2026-11-22T00:00:01Z", one(time(day + 1000))),
            (seconds, "2026-11-22", time(day)..=time(day + DAY_MS - 1)),
            (seconds, "2026-11-22 00:01", time(day + 60_000)..=time(day + 119_999)),
            (seconds, "2026-11-22T01:00:00+0100", one(time(day))),
            (seconds, "2026-11", time(day - 21 * DAY_MS)..=time(day + 9 * DAY_MS - 1)),
        ] {
            assert_eq!(typed(kind, text), Some(expected), "{text} as {kind}");
        }
        for (kind, text) in [
            (Integer, "17.0"),
            (Integer, ""),
            (Integer, "9223372036854775808"),
            (Float, "NaN"),
            (Float, "x"),
            (Boolean, "yes"),
            (seconds, "2026-02-30"),
            (seconds, "9223372036854775807"),
            (seconds, "now-"),
            (seconds, "now-1"),
            (seconds, "now-1y"),
            (seconds, "now--1h"),
            (seconds, "now-+1h"),
            (seconds, "now+9223372036854775807w"),
            (Keyword, "a"),
        ] {
            assert_eq!(typed(kind, text), None, "{text} as {kind}");
        }
    }

    #[test]
    fn now_is_now() {
        let kind = FieldKind::Time(TimeUnit::Seconds);
        let ask = |text| {
            let found = typed(kind, text).unwrap();
            assert_eq!(found.start(), found.end());
            ValueKind::Time.from_sortable(*found.start()).cast_signed()
        };
        let before = now();
        let asked =
            [ask("now"), ask("now-1h") + 3_600_000, ask("now+2d-30s") - 2 * DAY_MS + 30_000];
        assert!(asked.into_iter().all(|time| (before..=now()).contains(&time)), "{asked:?}");
    }

    #[test]
    fn ranges_have_every_number() {
        let ends = [f64::NEG_INFINITY, -1.0, 0.0, f64::MAX, f64::INFINITY];
        let floats = everything(FieldKind::Float).unwrap();
        let bits = |number: f64| ValueKind::Float.sortable(number.to_bits());
        assert!(ends.into_iter().all(|number| floats.contains(&bits(number))));
        assert!(!floats.contains(&bits(f64::NAN)) && !floats.contains(&bits(-f64::NAN)));
        assert_eq!(everything(FieldKind::Integer), Some(0..=u64::MAX));
        assert_eq!(everything(FieldKind::Boolean), Some(0..=1));
        assert_eq!(everything(FieldKind::Keyword), None);
    }
}

//! Values of fields, and their conversion to the field's kind.

use std::fmt;

use crate::kind::{FieldKind, TimeUnit};
use crate::time::{format_time, parse_time};

/// A value of a field, as given in a document or as returned by a hit. [`Display`](fmt::Display)
/// writes moments in RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Text. In a field of moments, a moment in ISO 8601 ([`parse_time`]).
    Text(&'a str),
    /// An integer. In a field of moments, a moment in the field's unit.
    Integer(i64),
    /// A floating-point number. In a field of moments, a moment in the field's unit.
    Float(f64),
    /// A moment, in milliseconds since 1970.
    Time(i64),
    /// A boolean.
    Boolean(bool),
    /// The next object of an array begins here. The field's name is the array's; the values behind it
    /// whose names continue that one, as `users.role` continues `users`, are the object's members.
    /// Documents with several objects are found by members of one of them.
    Object,
}

/// A value that fits a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// Text that is cut into terms.
    Text(&'a str),
    /// Text that is one term, which may be empty.
    Keyword(&'a str),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A moment, in milliseconds since 1970.
    Time(i64),
    /// A boolean.
    Boolean(bool),
    /// The next object of an array begins. The field is the array's.
    Object,
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.pad(text),
            Value::Integer(number) => number.fmt(f),
            Value::Float(number) => number.fmt(f),
            Value::Time(ms) => f.pad(&format_time(*ms)),
            Value::Boolean(yes) => yes.fmt(f),
            Value::Object => f.pad("{"),
        }
    }
}

impl<'a> From<FieldValue<'a>> for Value<'a> {
    fn from(value: FieldValue<'a>) -> Value<'a> {
        match value {
            FieldValue::Text(text) | FieldValue::Keyword(text) => Value::Text(text),
            FieldValue::Integer(number) => Value::Integer(number),
            FieldValue::Float(number) => Value::Float(number),
            FieldValue::Time(ms) => Value::Time(ms),
            FieldValue::Boolean(yes) => Value::Boolean(yes),
            FieldValue::Object => Value::Object,
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Value<'a> {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Value<'a> {
        Value::Text(text)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Value::Integer(number.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Value::Integer(number.into())
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(yes: bool) -> Self {
        Value::Boolean(yes)
    }
}

impl<'a> Value<'a> {
    /// Returns the text or keyword; none for other values.
    pub fn as_str(self) -> Option<&'a str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the integer; none for other values.
    pub fn as_i64(self) -> Option<i64> {
        if let Value::Integer(number) = self { Some(number) } else { None }
    }

    /// Returns the number, converted from an integer if needed; none for other values.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Value::Float(number) => Some(number),
            Value::Integer(number) => Some(number as f64),
            _ => None,
        }
    }

    /// Returns the boolean; none for other values.
    pub fn as_bool(self) -> Option<bool> {
        if let Value::Boolean(yes) = self { Some(yes) } else { None }
    }

    /// Returns the moment in milliseconds since 1970; none for other values.
    pub fn as_time(self) -> Option<i64> {
        if let Value::Time(ms) = self { Some(ms) } else { None }
    }

    /// Returns the kind of a field whose first value this is; none if no field can have it.
    pub(crate) fn natural_kind(self, analyzer: spirit_text::Analyzer) -> Option<FieldKind> {
        Some(match self {
            Value::Text(text) if parse_time(text).is_some() => FieldKind::Time(TimeUnit::default()),
            Value::Text(_) => FieldKind::Text(analyzer),
            Value::Integer(_) => FieldKind::Integer,
            Value::Float(_) => FieldKind::Float,
            Value::Time(_) => FieldKind::Time(TimeUnit::default()),
            Value::Boolean(_) => FieldKind::Boolean,
            Value::Object => return None,
        })
    }

    /// Converts the value to a field of this kind; none if it does not fit. Text that looks like a
    /// number stays text.
    pub(crate) fn fitted(self, kind: FieldKind) -> Option<FieldValue<'a>> {
        Some(match (kind, self) {
            (FieldKind::Text(_), Value::Text(text)) => FieldValue::Text(text),
            (FieldKind::Keyword, Value::Text(text)) => FieldValue::Keyword(text),
            (FieldKind::Integer, Value::Integer(number)) => FieldValue::Integer(number),
            (FieldKind::Integer, Value::Float(number)) => FieldValue::Integer(integer(number)?),
            (FieldKind::Float, Value::Float(number)) => FieldValue::Float(number),
            (FieldKind::Float, Value::Integer(number)) => FieldValue::Float(number as f64),
            (FieldKind::Time(_), Value::Time(time)) => FieldValue::Time(time),
            (FieldKind::Time(_), Value::Text(text)) => FieldValue::Time(parse_time(text)?),
            (FieldKind::Time(unit), Value::Integer(number)) => {
                FieldValue::Time(unit.milliseconds(number)?)
            }
            (FieldKind::Time(unit), Value::Float(number)) => {
                FieldValue::Time(below(number * 1000.0 / unit.per_second())?)
            }
            (FieldKind::Boolean, Value::Boolean(yes)) => FieldValue::Boolean(yes),
            _ => return None,
        })
    }
}

/// Returns a number as an integer, if it is one that was written with a point or an exponent. Beyond
/// 2^53 it may have been another one.
fn integer(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// Rounds downwards, as digits of a text below a millisecond are cut off; none if it does not fit
/// in 64 bits. A number that is less than a thousandth below an integer is that integer: 1.001
/// seconds are 1000.9999999999999 milliseconds.
fn below(number: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let nearest = number.round();
    let whole = if (nearest - number).abs() < 1e-3 { nearest } else { number.floor() };
    (-END..END).contains(&whole).then_some(whole as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit_text::Analyzer;

    #[test]
    fn values_fit_their_kind_and_no_other() {
        use FieldKind::*;
        let text = Text(Analyzer::Standard);
        let seconds = Time(TimeUnit::Seconds);
        let fits = [
            (text, Value::Text("a"), FieldValue::Text("a")),
            (Keyword, Value::Text(""), FieldValue::Keyword("")),
            (Integer, Value::Integer(-3), FieldValue::Integer(-3)),
            (Integer, Value::Float(20.0), FieldValue::Integer(20)),
            (Float, Value::Integer(-3), FieldValue::Float(-3.0)),
            (Float, Value::Float(2.5), FieldValue::Float(2.5)),
            (Time(TimeUnit::Milliseconds), Value::Integer(7), FieldValue::Time(7)),
            (seconds, Value::Integer(-7), FieldValue::Time(-7000)),
            (seconds, Value::Float(1.2345), FieldValue::Time(1234)),
            (seconds, Value::Float(1.001), FieldValue::Time(1001)),
            (seconds, Value::Float(1709251199.9999), FieldValue::Time(1709251199999)),
            (seconds, Value::Float(-0.0005), FieldValue::Time(-1)),
            (
                Time(TimeUnit::Milliseconds),
                Value::Float(1709251199999.9),
                FieldValue::Time(1709251199999),
            ),
            (Time(TimeUnit::Microseconds), Value::Integer(1_234_567), FieldValue::Time(1234)),
            (Time(TimeUnit::Nanoseconds), Value::Integer(-1), FieldValue::Time(-1)),
            (Time(TimeUnit::Nanoseconds), Value::Float(1.5e9), FieldValue::Time(1500)),
            (seconds, Value::Time(7), FieldValue::Time(7)),
            (seconds, Value::Text("1970-01-01T00:00:01Z"), FieldValue::Time(1000)),
            (Boolean, Value::Boolean(true), FieldValue::Boolean(true)),
        ];
        for (kind, value, fitted) in fits {
            assert_eq!(value.fitted(kind), Some(fitted), "{value:?} in {kind}");
        }
        let misfits = [
            (Integer, Value::Text("17")),
            (Integer, Value::Float(17.5)),
            (Integer, Value::Float(1e16)),
            (Float, Value::Text("1.5")),
            (text, Value::Integer(1)),
            (Keyword, Value::Boolean(true)),
            (Boolean, Value::Text("true")),
            (Boolean, Value::Integer(1)),
            (seconds, Value::Text("yesterday")),
            (seconds, Value::Integer(i64::MAX / 999)),
            (seconds, Value::Float(f64::NAN)),
            (seconds, Value::Float(1e300)),
            (seconds, Value::Boolean(true)),
        ];
        for (kind, value) in misfits {
            assert_eq!(value.fitted(kind), None, "{value:?} in {kind}");
        }
    }

    #[test]
    fn a_first_value_says_the_kind() {
        let kind = |value: Value<'_>| value.natural_kind(Analyzer::English).unwrap().to_string();
        assert_eq!(kind(17.into()), "integer");
        assert_eq!(kind(17.0.into()), "float");
        assert_eq!(kind(true.into()), "boolean");
        assert_eq!(kind("2026-11-22T19:00:00+01:00".into()), "time(milliseconds)");
        assert_eq!(kind("2026-11-22".into()), "time(milliseconds)");
        assert_eq!(kind("2026-11-22 19:00:00".into()), "time(milliseconds)");
        assert_eq!(kind("2026-11".into()), "text(english)");
        assert_eq!(kind("17".into()), "text(english)");
    }
}

//! Kinds of fields.

use std::fmt;

use spirit_index::ground::ValueKind;
use spirit_text::Analyzer;

/// The kind of a field. It never changes, unless a document has added the field: then integers may
/// become floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// Text that is cut into terms by an analyzer.
    Text(Analyzer),
    /// Text that is one term, unchanged.
    Keyword,
    /// Integers of 64 bits.
    Integer,
    /// Floating-point numbers of 64 bits.
    Float,
    /// Moments, in milliseconds since 1970. A plain number is a moment in this unit.
    Time(TimeUnit),
    /// Booleans.
    Boolean,
}

/// The unit of a plain number that is a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    #[default]
    Milliseconds,
    /// Microseconds since 1970. Moments are kept in milliseconds: what is below is cut off.
    Microseconds,
    /// Nanoseconds since 1970. Moments are kept in milliseconds: what is below is cut off.
    Nanoseconds,
}

impl TimeUnit {
    /// Converts a whole number of this unit to milliseconds, downwards. None if it overflows.
    pub const fn milliseconds(self, number: i64) -> Option<i64> {
        match self {
            TimeUnit::Seconds => number.checked_mul(1000),
            TimeUnit::Milliseconds => Some(number),
            TimeUnit::Microseconds => Some(number.div_euclid(1000)),
            TimeUnit::Nanoseconds => Some(number.div_euclid(1_000_000)),
        }
    }

    /// Returns how many of this unit are a second.
    pub(crate) const fn per_second(self) -> f64 {
        match self {
            TimeUnit::Seconds => 1.0,
            TimeUnit::Milliseconds => 1e3,
            TimeUnit::Microseconds => 1e6,
            TimeUnit::Nanoseconds => 1e9,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "seconds",
            TimeUnit::Milliseconds => "milliseconds",
            TimeUnit::Microseconds => "microseconds",
            TimeUnit::Nanoseconds => "nanoseconds",
        }
    }
}

/// The analyzers by their number in files: one past their place here. The order never changes. New
/// ones come last, in whichever order [`Analyzer::ALL`] has them.
const ANALYZERS: [Analyzer; Analyzer::ALL.len()] = [
    Analyzer::Simple,
    Analyzer::Standard,
    Analyzer::Social,
    Analyzer::English,
    Analyzer::Keyword,
    Analyzer::Code,
];

// Each analyzer has a number. Each round of a loop looks at the next place.
const _: () = {
    let mut i = 0;
    while i < Analyzer::ALL.len() {
        let mut place = 0;
        while ANALYZERS[place] as u8 != Analyzer::ALL[i] as u8 {
            place += 1;
        }
        i += 1;
    }
};

/// The units by their number in files: one past their place here. New ones come last.
pub(crate) const UNITS: [TimeUnit; 4] =
    [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];

fn number_in<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let place = all.iter().position(|other| other == one);
    place.expect("every kind is in the table") as u8 + 1
}

fn numbered<T: Copy>(all: &[T], number: u8) -> Option<T> {
    all.get(usize::from(number).checked_sub(1)?).copied()
}

impl FieldKind {
    /// Returns its two bytes in a file: kind, and analyzer or unit.
    pub(crate) fn numbers(self) -> [u8; 2] {
        match self {
            FieldKind::Text(analyzer) => [1, number_in(&ANALYZERS, &analyzer)],
            FieldKind::Keyword => [2, 0],
            FieldKind::Integer => [3, 0],
            FieldKind::Float => [4, 0],
            FieldKind::Time(unit) => [5, number_in(&UNITS, &unit)],
            FieldKind::Boolean => [6, 0],
        }
    }

    /// Returns the kind with these two bytes; none if they are not valid.
    pub(crate) fn from_numbers(numbers: [u8; 2]) -> Option<FieldKind> {
        Some(match numbers {
            [1, analyzer] => FieldKind::Text(numbered(&ANALYZERS, analyzer)?),
            [2, 0] => FieldKind::Keyword,
            [3, 0] => FieldKind::Integer,
            [4, 0] => FieldKind::Float,
            [5, unit] => FieldKind::Time(numbered(&UNITS, unit)?),
            [6, 0] => FieldKind::Boolean,
            _ => return None,
        })
    }

    /// Returns the kind of the values that rows have for such a field.
    pub fn value_kind(self) -> ValueKind {
        match self {
            FieldKind::Text(_) => ValueKind::Text,
            FieldKind::Keyword => ValueKind::Keyword,
            FieldKind::Integer => ValueKind::Integer,
            FieldKind::Float => ValueKind::Float,
            FieldKind::Time(_) => ValueKind::Time,
            FieldKind::Boolean => ValueKind::Boolean,
        }
    }

    /// True if its values are cut into terms.
    pub fn is_text(self) -> bool {
        matches!(self, FieldKind::Text(_))
    }

    fn name(self) -> &'static str {
        match self {
            FieldKind::Text(_) => "text",
            FieldKind::Keyword => "keyword",
            FieldKind::Integer => "integer",
            FieldKind::Float => "float",
            FieldKind::Time(_) => "time",
            FieldKind::Boolean => "boolean",
        }
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldKind::Text(analyzer) => f.pad(&format!("text({analyzer})")),
            FieldKind::Time(unit) => f.pad(&format!("time({})", unit.name())),
            other => f.pad(other.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<FieldKind> {
        use FieldKind::*;
        let texts = Analyzer::ALL.into_iter().map(Text);
        texts.chain(UNITS.map(Time)).chain([Keyword, Integer, Float, Boolean]).collect()
    }

    /// Files have these numbers.
    #[test]
    fn analyzers_keep_their_numbers() {
        let numbered = [
            (Analyzer::Simple, 1),
            (Analyzer::Standard, 2),
            (Analyzer::Social, 3),
            (Analyzer::English, 4),
            (Analyzer::Keyword, 5),
            (Analyzer::Code, 6),
        ];
        for (analyzer, number) in numbered {
            assert_eq!(FieldKind::Text(analyzer).numbers(), [1, number]);
        }
    }

    #[test]
    fn names_and_numbers_read_back() {
        for kind in all() {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(FieldKind::from_numbers(kind.numbers()), Some(kind));
        }
        assert_eq!("time".parse(), Ok(FieldKind::Time(TimeUnit::Milliseconds)));
        assert_eq!("text".parse(), Ok(FieldKind::Text(Analyzer::Standard)));
        for wrong in
            ["", "Text", "text(", "text()", "text(x)", "keyword(simple)", "time(days)", ")"]
        {
            assert!(wrong.parse::<FieldKind>().is_err(), "{wrong}");
        }
        for wrong in [[0, 0], [1, 0], [1, 7], [2, 1], [5, 5], [7, 0]] {
            assert_eq!(FieldKind::from_numbers(wrong), None);
        }
    }
}

//! Intervals of time: fixed ones, and units of the calendar.

use spirit::facets::DateInterval;

use crate::error::Refusal;

/// An interval, as the engine has it, and as date math writes it if it is a unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) engine: DateInterval,
    /// The step to the next interval, and rounding to its beginning.
    pub(super) math: Option<(&'static str, &'static str)>,
}

/// Returns a unit of the calendar: `1d`, `day`, `month`.
pub(super) fn calendar(text: &str) -> Option<Interval> {
    let unit = |engine, step, round| Interval { engine, math: Some((step, round)) };
    Some(match text {
        "minute" | "1m" => fixed("1m")?,
        "second" | "1s" => fixed("1s")?,
        "hour" | "1h" => fixed("1h")?,
        "day" | "1d" => unit(DateInterval::Day, "+1d", "/d"),
        "week" | "1w" => unit(DateInterval::Week, "+1w", "/w"),
        "month" | "1M" => unit(DateInterval::Month, "+1M", "/M"),
        "quarter" | "1q" => unit(DateInterval::Quarter, "+3M", "/M"),
        "year" | "1y" => unit(DateInterval::Year, "+1y", "/y"),
        _ => return None,
    })
}

/// Returns a fixed time: `30s`, `12h`.
pub(super) fn fixed(text: &str) -> Option<Interval> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(end);
    let unit: i64 = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let ms = number.parse::<i64>().ok()?.checked_mul(unit).filter(|ms| *ms > 0)?;
    Some(Interval { engine: DateInterval::Milliseconds(ms), math: None })
}

/// Returns an interval of either kind, as the member `interval` has it.
pub(super) fn either(text: &str) -> Result<Interval, Refusal> {
    let wrong = || Refusal::illegal_argument(format!("Unable to parse interval [{text}]"));
    calendar(text).or_else(|| fixed(text)).ok_or_else(wrong)
}

/// Returns an offset such as `+6h` or `-1d`, in milliseconds.
pub(super) fn offset(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1, text),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    match fixed(text)?.engine {
        DateInterval::Milliseconds(ms) => Some(sign * ms),
        _ => None,
    }
}

//! Formats of dates: ISO 8601, numbers, and Java's patterns such as `dd/MM/yyyy`.

use jiff::civil::{Date, DateTime, Time};
use spirit::schema::TimeUnit;

use crate::error::Refusal;

/// A format.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Format {
    /// ISO 8601, from a year to nanoseconds and an offset.
    Iso,
    /// A number since 1970.
    Number(TimeUnit),
    /// A pattern of Java's `DateTimeFormatter`.
    Pattern(String),
}

/// Letters of patterns that are understood.
const LETTERS: &str = "yuMdHmsSZXx";

impl Format {
    /// Returns the format with a name, or a pattern.
    pub(super) fn named(name: &str) -> Result<Format, Refusal> {
        let plain = name.strip_prefix("strict_").unwrap_or(name);
        Ok(match plain {
            "epoch_millis" => Format::Number(TimeUnit::Milliseconds),
            "epoch_second" => Format::Number(TimeUnit::Seconds),
            "date_optional_time"
            | "date_optional_time_nanos"
            | "date_time"
            | "iso8601"
            | "date_time_no_millis"
            | "date_hour_minute_second"
            | "date_hour_minute"
            | "date_hour_minute_second_millis"
            | "date_hour_minute_second_fraction"
            | "year"
            | "year_month"
            | "year_month_day" => Format::Iso,
            "date" => Format::Pattern("yyyy-MM-dd".into()),
            "basic_date" => Format::Pattern("yyyyMMdd".into()),
            "basic_date_time" => Format::Pattern("yyyyMMdd'T'HHmmss.SSSX".into()),
            "basic_date_time_no_millis" => Format::Pattern("yyyyMMdd'T'HHmmssX".into()),
            _ => return Format::pattern(name),
        })
    }

    fn pattern(pattern: &str) -> Result<Format, Refusal> {
        let mut quoted = false;
        for letter in pattern.chars() {
            quoted ^= letter == '\'';
            if !quoted && letter.is_ascii_alphabetic() && !LETTERS.contains(letter) {
                let what = format!("Invalid format: [{pattern}]: Unknown pattern letter: {letter}");
                return Err(Refusal::illegal_argument(what));
            }
        }
        Ok(Format::Pattern(pattern.to_owned()))
    }
}

/// The parts of a date that a text names.
#[derive(Default)]
pub(super) struct Parts {
    year: i16,
    month: Option<i8>,
    day: Option<i8>,
    hour: Option<i8>,
    minute: Option<i8>,
    second: Option<i8>,
    nanosecond: Option<i32>,
    pub(super) offset_seconds: Option<i32>,
}

impl Parts {
    /// Returns the first moment of these parts, or the last one of their day, hour, minute or second
    /// if `up`. A year or a month is its first day, as in OpenSearch. None if there is no such date.
    pub(super) fn civil(&self, up: bool) -> Option<DateTime> {
        let or = |part: Option<i8>, last| part.unwrap_or(if up { last } else { 0 });
        let date = Date::new(self.year, self.month.unwrap_or(1), self.day.unwrap_or(1)).ok()?;
        let nanosecond = self.nanosecond.unwrap_or(if up { 999_999_999 } else { 0 });
        let [hour, minute, second] = [or(self.hour, 23), or(self.minute, 59), or(self.second, 59)];
        Some(date.to_datetime(Time::new(hour, minute, second, nanosecond).ok()?))
    }
}

/// Reads a number since 1970, as milliseconds. A fraction is kept as far as they have it.
pub(super) fn number(text: &str, unit: TimeUnit) -> Option<i64> {
    if let Ok(whole) = text.parse() {
        return unit.milliseconds(whole);
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let ms = match unit {
        TimeUnit::Seconds => number * 1e3,
        TimeUnit::Milliseconds => number,
        TimeUnit::Microseconds => number / 1e3,
        TimeUnit::Nanoseconds => number / 1e6,
    };
    // A conversion from floating point saturates.
    Some(ms.floor() as i64)
}

/// Reads ISO 8601. A blank may stand for the `T`.
pub(super) fn iso(text: &str) -> Option<Parts> {
    let mut rest = text;
    let mut parts = Parts { year: digits(&mut rest, 4, 4)?.try_into().ok()?, ..Parts::default() };
    if takes(&mut rest, "-") {
        parts.month = part(&mut rest)?;
        if takes(&mut rest, "-") {
            parts.day = part(&mut rest)?;
            if takes(&mut rest, "T") || takes(&mut rest, "t") || takes(&mut rest, " ") {
                clock(&mut rest, &mut parts)?;
            }
        }
    }
    rest.is_empty().then_some(parts)
}

/// Removes a time of day and its offset from the front.
fn clock(rest: &mut &str, parts: &mut Parts) -> Option<()> {
    parts.hour = part(rest)?;
    if takes(rest, ":") {
        parts.minute = part(rest)?;
        if takes(rest, ":") {
            parts.second = part(rest)?;
            if takes(rest, ".") || takes(rest, ",") {
                parts.nanosecond = Some(fraction(rest)?);
            }
        }
    }
    if !rest.is_empty() {
        parts.offset_seconds = Some(offset(rest)?);
        *rest = "";
    }
    Some(())
}

/// Reads a text by a pattern.
pub(super) fn by_pattern(text: &str, pattern: &str) -> Option<Parts> {
    let (mut rest, mut parts) = (text, Parts::default());
    let mut pattern = pattern;
    while let Some(letter) = pattern.chars().next() {
        if letter == '\'' {
            pattern = quoted(&pattern[1..], &mut rest)?;
            continue;
        }
        let run = pattern.len() - pattern.trim_start_matches(letter).len();
        let (own, others) = pattern.split_at(run);
        pattern = others;
        if letter.is_ascii_alphabetic() {
            field(letter, run, &mut rest, &mut parts)?;
        } else {
            rest = rest.strip_prefix(own)?;
        }
    }
    rest.is_empty().then_some(parts)
}

/// Removes what a pattern has in quotation marks from the front of a text. Returns the pattern
/// behind them. Two marks in a row are one that stands for itself.
fn quoted<'p>(mut pattern: &'p str, rest: &mut &str) -> Option<&'p str> {
    if let Some(behind) = pattern.strip_prefix('\'') {
        return takes(rest, "'").then_some(behind);
    }
    loop {
        let (own, behind) = pattern.split_once('\'')?;
        *rest = rest.strip_prefix(own)?;
        match behind.strip_prefix('\'') {
            Some(more) if takes(rest, "'") => pattern = more,
            Some(_) => return None,
            None => return Some(behind),
        }
    }
}

/// Removes the part that a run of a pattern's letter means.
fn field(letter: char, run: usize, rest: &mut &str, parts: &mut Parts) -> Option<()> {
    match letter {
        'y' | 'u' => {
            let (least, most) = if run == 2 { (2, 2) } else { (run.min(4), 4) };
            let year = digits(rest, least, most)? + if run == 2 { 2000 } else { 0 };
            parts.year = year.try_into().ok()?;
        }
        'M' if run >= 3 => parts.month = Some(month_named(rest)?),
        'S' => {
            let (own, others) = rest.split_at_checked(run)?;
            let mut own = own;
            (parts.nanosecond, *rest) = (Some(fraction(&mut own)?), others);
            own.is_empty().then_some(())?;
        }
        'Z' | 'X' | 'x' => {
            let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-:Z".contains(c)));
            let (own, others) = rest.split_at(end.unwrap_or(rest.len()));
            (parts.offset_seconds, *rest) = (Some(offset(own)?), others);
        }
        letter => {
            let number = Some(digits(rest, run.min(2), 2)?.try_into().ok()?);
            match letter {
                'M' => parts.month = number,
                'd' => parts.day = number,
                'H' => parts.hour = number,
                'm' => parts.minute = number,
                _ => parts.second = number,
            }
        }
    }
    Some(())
}

/// Removes the first three letters of a month's English name.
fn month_named(rest: &mut &str) -> Option<i8> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (own, others) = rest.split_at_checked(3)?;
    let at = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(own))?;
    *rest = others;
    i8::try_from(at + 1).ok()
}

/// Reads an offset from UTC: `Z`, `+01:00`, `+0100`, `+01`. Returns seconds.
pub(super) fn offset(text: &str) -> Option<i32> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let mut rest = text;
    let sign = if takes(&mut rest, "+") { 1 } else { takes(&mut rest, "-").then_some(-1)? };
    let hours = digits(&mut rest, 2, 2)?;
    let minutes = if rest.is_empty() {
        0
    } else {
        takes(&mut rest, ":");
        digits(&mut rest, 2, 2)?
    };
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// Removes a fraction of a second, as nanoseconds.
fn fraction(rest: &mut &str) -> Option<i32> {
    let before = rest.len();
    let number = digits(rest, 1, 9)?;
    let missing = 9 - (before - rest.len());
    Some(number * 10_i32.pow(u32::try_from(missing).ok()?))
}

/// Removes two digits.
fn part(rest: &mut &str) -> Option<Option<i8>> {
    Some(Some(digits(rest, 2, 2)?.try_into().ok()?))
}

/// Removes digits: as many as there are, up to `most`. None if there are fewer than `least`.
fn digits(rest: &mut &str, least: usize, most: usize) -> Option<i32> {
    let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (own, others) = rest.split_at_checked(count)?;
    let number = own.parse().ok().filter(|_| count >= least)?;
    *rest = others;
    Some(number)
}

/// Removes a text from the front, if it is there.
fn takes(rest: &mut &str, text: &str) -> bool {
    let behind = rest.strip_prefix(text);
    *rest = behind.unwrap_or(rest);
    behind.is_some()
}

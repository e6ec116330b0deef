//! Moments: milliseconds since 1970, and ISO 8601 in the forms that people write.
//!
//! Days are counted in eras of 400 years that begin with March, so that a leap day is the last of
//! its year.

use std::ops::RangeInclusive;

/// Milliseconds in a day.
pub(crate) const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// Days in 400 years.
const ERA_DAYS: i64 = 146_097;
/// Days from the first of March of the year 0 to 1970.
const EPOCH_DAYS: i64 = 719_468;

/// Parses a moment in ISO 8601. Returns milliseconds since 1970; none if it is not valid.
///
/// | text | moment |
/// |---|---|
/// | `2026-11-22T19:00:30.250+01:00` | RFC 3339; the `T` may be a blank |
/// | `2026-11-22T19:00:30+0100`, `…+01`, `…Z` | the same zone, UTC |
/// | `2026-11-22 19:00:30,25`, `2026-11-22T19:00` | without a zone: UTC |
/// | `2026-11-22` | the beginning of the day in UTC |
///
/// Digits below a millisecond are cut off. A leap second is the second after it.
pub fn parse_time(text: &str) -> Option<i64> {
    moments(text).map(|moments| *moments.start())
}

/// Parses a moment like [`parse_time`], or a month, `2026-11`. Returns all its milliseconds: those
/// of the month, the day or the minute, if the text says no more; otherwise one.
pub(crate) fn moments(text: &str) -> Option<RangeInclusive<i64>> {
    let mut rest = text.as_bytes();
    let first = days(&mut rest)? * DAY_MS;
    if rest.is_empty() {
        return Some(first..=first + DAY_MS - 1);
    }
    expect(&mut rest, b"Tt ")?;
    let minute = clock_minutes(&mut rest)?;
    let second = if rest.first() == Some(&b':') { Some(second_ms(&mut rest)?) } else { None };
    let minute = minute - offset_minutes(&mut rest)?;
    let start = first + minute * MINUTE_MS + second.unwrap_or(0);
    let last = if second.is_some() { start } else { start + MINUTE_MS - 1 };
    rest.is_empty().then_some(start..=last)
}

/// Parses a month in UTC, `2026-11`. Returns its milliseconds.
pub(crate) fn parse_month(text: &str) -> Option<RangeInclusive<i64>> {
    let mut rest = text.as_bytes();
    let (year, month) = year_and_month(&mut rest)?;
    let first = days_of(year, month, 1) * DAY_MS;
    rest.is_empty().then(|| first..=first + days_in(year, month) * DAY_MS - 1)
}

/// Removes a date from the front. Returns the days from 1970 to it.
fn days(rest: &mut &[u8]) -> Option<i64> {
    let (year, month) = year_and_month(rest)?;
    expect(rest, b"-")?;
    let day = digits(rest, 2)?;
    (1..=days_in(year, month)).contains(&day).then(|| days_of(year, month, day))
}

/// Removes a year and a month from the front.
fn year_and_month(rest: &mut &[u8]) -> Option<(i64, i64)> {
    let year = digits(rest, 4)?;
    expect(rest, b"-")?;
    let month = digits(rest, 2)?;
    (1..=12).contains(&month).then_some((year, month))
}

/// Removes hour and minute from the front. Returns the minutes of the day.
fn clock_minutes(rest: &mut &[u8]) -> Option<i64> {
    let hour = digits(rest, 2)?;
    expect(rest, b":")?;
    let minute = digits(rest, 2)?;
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

/// Removes a second behind a colon, with its fraction if any. Returns milliseconds.
fn second_ms(rest: &mut &[u8]) -> Option<i64> {
    expect(rest, b":")?;
    let second = digits(rest, 2).filter(|second| *second <= 60)?;
    Some(second * 1000 + fraction_ms(rest)?)
}

fn expect(rest: &mut &[u8], any_of: &[u8]) -> Option<u8> {
    crate::bytes::take_byte(rest).filter(|byte| any_of.contains(byte))
}

fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (digits, others) = rest.split_at_checked(count)?;
    *rest = others;
    digits.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

fn fraction_ms(rest: &mut &[u8]) -> Option<i64> {
    let point = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b","));
    let Some(fraction) = point else { return Some(0) };
    let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (fraction, others) = fraction.split_at(count);
    *rest = others;
    let digit = |at: usize| i64::from(fraction.get(at).map_or(0, |byte| byte - b'0'));
    (count > 0).then(|| digit(0) * 100 + digit(1) * 10 + digit(2))
}

/// Removes a zone from the front. Without one it is UTC.
fn offset_minutes(rest: &mut &[u8]) -> Option<i64> {
    if rest.is_empty() {
        return Some(0);
    }
    let sign = match expect(rest, b"Zz+-")? {
        b'+' => 1,
        b'-' => -1,
        _ => return Some(0),
    };
    let hours = digits(rest, 2)?;
    let minutes = if rest.is_empty() { 0 } else { digits(after_colon(rest), 2)? };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Removes a colon from the front, if there is one.
fn after_colon<'r, 'a>(rest: &'r mut &'a [u8]) -> &'r mut &'a [u8] {
    *rest = rest.strip_prefix(b":").unwrap_or(rest);
    rest
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970 to a date.
pub(crate) fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // March is month 0 of its year, so January and February belong to the year before.
    let year = year - i64::from(month < 3);
    let month = (month + 9) % 12;
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    // From March on, months have 31, 30, 31, 30, 31 days, repeatedly.
    let day_of_year = (month * 153 + 2) / 5 + day - 1;
    era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - EPOCH_DAYS
}

/// Returns the date this many days after 1970: year, month, day.
pub(crate) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    // Without the leap days: every 4 years, not every 100, and the last day of the era.
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (year * 365 + year / 4 - year / 100);
    let month = (day_of_year * 5 + 2) / 153;
    let day = day_of_year - (month * 153 + 2) / 5 + 1;
    let month = (month + 2) % 12 + 1;
    (era * 400 + year + i64::from(month < 3), month, day)
}

/// Formats a moment as RFC 3339, in UTC. Milliseconds are shown if there are any. A year of more
/// than four digits, or a negative one, is shown in full.
pub fn format_time(time: i64) -> String {
    let (days, ms) = (time.div_euclid(DAY_MS), time.rem_euclid(DAY_MS));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    let fraction = if ms % 1000 > 0 { format!(".{:03}", ms % 1000) } else { String::new() };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_that_are_known() {
        for (text, time) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:30:00Z", 951_827_400_000),
            ("2026-11-22T19:00:30.25+01:00", 1_795_370_430_250),
            ("2026-11-22t18:00:30.2509999z", 1_795_370_430_250),
            ("0000-03-01T00:00:00Z", -62_162_035_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("2016-12-31 23:30:00-00:45", 1_483_229_700_000),
            ("2026-11-22T19:00:30.25+0100", 1_795_370_430_250),
            ("2026-11-22T19:00:30,25+01", 1_795_370_430_250),
            ("2026-11-22T18:00:30.25", 1_795_370_430_250),
            ("2026-11-22 18:00:30.250999999", 1_795_370_430_250),
            ("2026-11-22T19:00Z", 1_795_374_000_000),
            ("2026-11-22T19:00", 1_795_374_000_000),
            ("2026-11-22 20:00+0100", 1_795_374_000_000),
            ("2026-11-22", 1_795_305_600_000),
        ] {
            assert_eq!(parse_time(text), Some(time), "{text}");
        }
        for wrong in [
            "",
            "2026",
            "2026-11",
            "2026-11-22T",
            "2026-11-22T19",
            "2026-11-22T19:00:",
            "2026-11-22 19:00:30 +01:00",
            "2026-11-22Z",
            "2026-13-22T19:00:00Z",
            "2025-02-29T19:00:00Z",
            "2026-11-31T19:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T19:60:00Z",
            "2026-11-22T19:00:61Z",
            "2026-11-22T19:00:00.Z",
            "2026-11-22T19:00:00+1:00",
            "2026-11-22T19:00:00+24:00",
            "2026-11-22T19:00:00+010",
            "2026-11-22T19:00:00+01:",
            "2026-11-22T19:00:00+01000",
            "2026-11-22T19:00:00Z ",
            "+026-11-22T19:00:00Z",
        ] {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut before = date_of(-800_000);
        for days in -799_999..800_000 {
            let (year, month, day) = before;
            let next = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (month, day) if day == days_in(year, month) => (year, month + 1, 1),
                (month, day) => (year, month, day + 1),
            };
            assert_eq!(date_of(days), next);
            assert_eq!(days_of(next.0, next.1, next.2), days);
            before = next;
        }
    }

    proptest! {
        #[test]
        fn what_is_said_is_read(time in -62_167_219_200_000i64..253_402_300_800_000) {
            prop_assert_eq!(parse_time(&format_time(time)), Some(time));
        }

        #[test]
        fn any_moment_can_be_said(time: i64) {
            prop_assert!(format_time(time).ends_with('Z'));
        }
    }
}

//! Moments as clients write them: dates in several formats, and arithmetic on them as in
//! `now-1h/d` and `2026-11-25||+1M/d`.

mod format;
mod math;
mod writing;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use spirit::schema::TimeUnit;

use crate::error::Refusal;
use format::{Format, Parts};

/// The formats of a moment, and the zone and the time that it is read in.
pub(crate) struct Dates {
    now: i64,
    zone: TimeZone,
    formats: Vec<Format>,
    /// The formats as errors name them.
    named: String,
}

/// The formats of a field without formats of its own.
const USUAL: &str = "strict_date_optional_time||epoch_millis";

impl Dates {
    /// Returns the reader of moments of a field in which a plain number counts `unit`.
    pub(crate) fn new(
        now: i64,
        unit: TimeUnit,
        formats: Option<&str>,
        zone: Option<&str>,
    ) -> Result<Dates, Refusal> {
        let zone = zone.map_or(Ok(TimeZone::UTC), zone_named)?;
        let named = formats.unwrap_or(USUAL).to_owned();
        let formats = match formats {
            Some(formats) => formats.split("||").map(Format::named).collect::<Result<_, _>>()?,
            None => vec![Format::Iso, Format::Number(unit)],
        };
        Ok(Dates { now, zone, formats, named })
    }

    /// Returns the milliseconds since 1970 that a text means. If it names a longer time, such as a
    /// day, they are its first millisecond, or its last one if `up`.
    pub(crate) fn ms(&self, text: &str, up: bool) -> Result<i64, Refusal> {
        let (base, math) = match text.strip_prefix("now") {
            Some(math) => (self.now, math),
            None => match text.split_once("||") {
                Some((date, math)) => (self.plain(date, up && math.is_empty())?, math),
                None => (self.plain(text, up)?, ""),
            },
        };
        if math.is_empty() { Ok(base) } else { math::calculate(math, base, up, &self.zone) }
    }

    fn plain(&self, text: &str, up: bool) -> Result<i64, Refusal> {
        let read = |format: &Format| match format {
            Format::Number(unit) => format::number(text, *unit),
            Format::Iso => format::iso(text).and_then(|parts| self.moment(&parts, up)),
            Format::Pattern(pattern) => {
                format::by_pattern(text, pattern).and_then(|parts| self.moment(&parts, up))
            }
        };
        self.formats.iter().find_map(read).ok_or_else(|| {
            let reason =
                format!("failed to parse date field [{text}] with format [{}]", self.named);
            Refusal::parse(format!("{reason}: [{reason}]"))
        })
    }

    fn moment(&self, parts: &Parts, up: bool) -> Option<i64> {
        let zone = match parts.offset_seconds {
            Some(seconds) => TimeZone::fixed(Offset::from_seconds(seconds).ok()?),
            None => self.zone.clone(),
        };
        Some(parts.civil(up)?.to_zoned_datetime(zone).ok()?.timestamp().as_millisecond())
    }
}

/// Returns a moment, in milliseconds since 1970, as a text in the first of some formats, such as
/// `epoch_millis||yyyy-MM-dd`. Without one it is ISO 8601 with milliseconds.
///
/// # Errors
/// If there is no such format or zone, or if the moment is beyond the calendar.
///
/// ```
/// use spirit_opensearch::date::formatted;
///
/// let text = formatted(1_795_341_600_000, None, Some("+01:00"));
/// assert_eq!(text.as_deref(), Ok("2026-11-22T11:00:00.000+01:00"));
/// assert_eq!(formatted(1_795_341_600_000, Some("dd.MM.yyyy"), None).as_deref(), Ok("22.11.2026"));
/// ```
pub fn formatted(ms: i64, formats: Option<&str>, zone: Option<&str>) -> Result<String, Refusal> {
    let first = formats.and_then(|formats| formats.split("||").next());
    let format = first.map_or(Ok(Format::Iso), Format::named)?;
    if let Format::Number(unit) = format {
        let seconds = matches!(unit, TimeUnit::Seconds);
        return Ok(if seconds { ms.div_euclid(1000) } else { ms }.to_string());
    }
    let zone = zone.map_or(Ok(TimeZone::UTC), zone_named)?;
    let out = || Refusal::illegal_argument(format!("[{ms}] is beyond the calendar"));
    let moment = Timestamp::from_millisecond(ms).map_err(|_| out())?.to_zoned_datetime(zone);
    Ok(match &format {
        Format::Pattern(pattern) => writing::by_pattern(&moment, pattern),
        _ => writing::usual(&moment),
    })
}

/// Checks formats that moments are to be written in.
pub(crate) fn checked(formats: &str) -> Result<(), Refusal> {
    formats.split("||").try_for_each(|format| Format::named(format).map(drop))
}

/// Returns a zone by its name, such as `Europe/Berlin`, or by its offset, such as `+01:00`.
fn zone_named(name: &str) -> Result<TimeZone, Refusal> {
    if matches!(name, "Z" | "UTC" | "GMT") {
        return Ok(TimeZone::UTC);
    }
    let offset = format::offset(name).and_then(|seconds| Offset::from_seconds(seconds).ok());
    if let Some(offset) = offset {
        return Ok(TimeZone::fixed(offset));
    }
    let what = "java.time.zone.ZoneRulesException: Unknown time-zone ID:";
    TimeZoneDatabase::bundled()
        .get(name)
        .map_err(|_| Refusal::illegal_argument(format!("{what} {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit::Value;

    /// 2026-11-29T03:30:15.250Z, a Sunday.
    const NOW: i64 = 1_795_923_015_250;

    fn read(text: &str, up: bool, format: Option<&str>, zone: Option<&str>) -> String {
        let dates = Dates::new(NOW, TimeUnit::Milliseconds, format, zone);
        match dates.and_then(|dates| dates.ms(text, up)) {
            Ok(ms) => Value::Time(ms).to_string(),
            Err(refusal) => refusal.reason,
        }
    }

    #[test]
    fn dates_are_their_first_or_last_millisecond() {
        for (text, down, up) in [
            ("2026", "2026-01-01T00:00:00Z", "2026-01-01T23:59:59.999Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-02-01T23:59:59.999Z"),
            ("2026-11-22", "2026-11-22T00:00:00Z", "2026-11-22T23:59:59.999Z"),
            ("2026-11-22T10", "2026-11-22T10:00:00Z", "2026-11-22T10:59:59.999Z"),
            ("2026-11-22T10:05", "2026-11-22T10:05:00Z", "2026-11-22T10:05:59.999Z"),
            ("2026-11-22T10:05:01", "2026-11-22T10:05:01Z", "2026-11-22T10:05:01.999Z"),
            ("2026-11-22T10:05:01.25", "2026-11-22T10:05:01.250Z", "2026-11-22T10:05:01.250Z"),
            ("2026-11-22 10:05:01.2+01:00", "2026-11-22T09:05:01.200Z", "2026-11-22T09:05:01.200Z"),
            (
                "2026-11-22T10:05:01.123456789Z",
                "2026-11-22T10:05:01.123Z",
                "2026-11-22T10:05:01.123Z",
            ),
            ("1795923015250", "2026-11-29T03:30:15.250Z", "2026-11-29T03:30:15.250Z"),
            ("0", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("now", "2026-11-29T03:30:15.250Z", "2026-11-29T03:30:15.250Z"),
            ("now/d", "2026-11-29T00:00:00Z", "2026-11-29T23:59:59.999Z"),
            ("now-1h/h", "2026-11-29T02:00:00Z", "2026-11-29T02:59:59.999Z"),
            ("now/w", "2026-11-23T00:00:00Z", "2026-11-29T23:59:59.999Z"),
            ("now/M", "2026-11-01T00:00:00Z", "2026-11-30T23:59:59.999Z"),
            ("now-1y/y", "2025-01-01T00:00:00Z", "2025-12-31T23:59:59.999Z"),
            ("now+1d-30m/m", "2026-11-30T03:00:00Z", "2026-11-30T03:00:59.999Z"),
            ("now-15s/s", "2026-11-29T03:30:00Z", "2026-11-29T03:30:00.999Z"),
            ("2026-01-31||+1M", "2026-02-28T00:00:00Z", "2026-02-28T00:00:00Z"),
            ("2026-11-25||+1M/d", "2026-12-25T00:00:00Z", "2026-12-25T23:59:59.999Z"),
            ("2026-11-25||", "2026-11-25T00:00:00Z", "2026-11-25T23:59:59.999Z"),
        ] {
            assert_eq!(read(text, false, None, None), down, "{text}");
            assert_eq!(read(text, true, None, None), up, "{text}");
        }
    }

    #[test]
    fn formats_and_zones() {
        for (text, format, zone, expected) in [
            ("22/11/2026", Some("dd/MM/yyyy"), None, "2026-11-22T00:00:00Z"),
            (
                "22/Nov/2026:10:05:01 +0100",
                Some("dd/MMM/yyyy:HH:mm:ss Z"),
                None,
                "2026-11-22T09:05:01Z",
            ),
            ("20261122", Some("basic_date"), None, "2026-11-22T00:00:00Z"),
            ("2026-11-22T10'x", Some("yyyy-MM-dd'T'HH'''x'"), None, "2026-11-22T10:00:00Z"),
            ("1795923015", Some("epoch_second"), None, "2026-11-29T03:30:15Z"),
            ("1795923015.25", Some("epoch_second"), None, "2026-11-29T03:30:15.250Z"),
            ("1795923015250", Some("strict_date||epoch_millis"), None, "2026-11-29T03:30:15.250Z"),
            ("2026-11-22", None, Some("+01:00"), "2026-11-21T23:00:00Z"),
            ("2026-07-22", None, Some("Europe/Berlin"), "2026-07-21T22:00:00Z"),
            ("2026-07-22T00:00Z", None, Some("Europe/Berlin"), "2026-07-22T00:00:00Z"),
            ("now/d", None, Some("America/New_York"), "2026-11-28T05:00:00Z"),
        ] {
            assert_eq!(read(text, false, format, zone), expected, "{text}");
        }
    }

    #[test]
    fn wrong_dates_are_refused_in_opensearchs_words() {
        for (text, reason) in [
            ("now-1x", "unit [x] not supported for date math [-1x]"),
            ("now/", "truncated date math [/]"),
            ("now-", "truncated date math [-]"),
            ("now-12", "truncated date math [-12]"),
            ("now*1", "operator not supported for date math [*1]"),
            ("nowish", "operator not supported for date math [ish]"),
            ("now/2d", "rounding `/` can only be used on single unit types [/2d]"),
            ("now+99999999999999999999d", "date math [+99999999999999999999d] is out of range"),
            ("now+99999y", "date math [+99999y] is out of range"),
        ] {
            assert_eq!(read(text, false, None, None), reason);
        }
        for text in ["2026-13-01", "2026-02-30", "2026-1-2", "x", "", "2026-11-22T25", "é"] {
            let reason = format!("failed to parse date field [{text}] with format [{USUAL}]");
            assert_eq!(read(text, false, None, None), format!("{reason}: [{reason}]"));
        }
        assert_eq!(
            read("now", false, None, Some("Nowhere")),
            "java.time.zone.ZoneRulesException: Unknown time-zone ID: Nowhere"
        );
        assert_eq!(
            read("now", false, Some("bogus"), None),
            "Invalid format: [bogus]: Unknown pattern letter: b"
        );
    }
}

//! Time zones, by the rules of the IANA database that is compiled in.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use spirit_schema::format_time;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A time zone.
#[derive(Clone, Debug)]
pub(super) enum Zone {
    Utc,
    /// Always this many milliseconds ahead of UTC.
    Fixed(i64),
    Named(TimeZone),
}

impl Zone {
    /// Finds a zone by its IANA name, in either case, or by its offset: `+02:00`, `-0330`, `+5`.
    pub(super) fn find(name: &str) -> Option<Zone> {
        if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("z") {
            return Some(Zone::Utc);
        }
        match name.as_bytes().first()? {
            b'+' | b'-' => fixed(name).map(Zone::Fixed),
            _ => TimeZoneDatabase::bundled().get(name).ok().map(Zone::Named),
        }
    }

    /// Returns how far local time is ahead of UTC at a moment.
    pub(super) fn ahead(&self, time: i64) -> i64 {
        match self {
            Zone::Utc => 0,
            Zone::Fixed(ahead) => *ahead,
            Zone::Named(zone) => {
                // Outside of the calendar of 9999 years, the rules of its ends hold.
                let end = || if time < 0 { Timestamp::MIN } else { Timestamp::MAX };
                let time = Timestamp::from_millisecond(time).unwrap_or_else(|_| end());
                i64::from(zone.to_offset(time).seconds()) * 1000
            }
        }
    }

    /// Returns the first and the last moment at which clocks show a local time. They differ if
    /// clocks are put back over it. If clocks are put forward over it, both are the moment of that.
    pub(super) fn moments(&self, local: i64) -> (i64, i64) {
        let moment = |around: i64| local.saturating_sub(self.ahead(around));
        let earlier = moment(local.saturating_sub(DAY_MS));
        let later = moment(local.saturating_add(DAY_MS));
        if earlier == later {
            return (earlier, earlier);
        }
        let shows = |time: &i64| time.saturating_add(self.ahead(*time)) == local;
        let [first, last] = [earlier.min(later), earlier.max(later)];
        match (shows(&first), shows(&last)) {
            (true, true) => (first, last),
            (true, false) => (first, first),
            (false, true) => (last, last),
            (false, false) => {
                let moment = self.first_behind(local, first.saturating_sub(DAY_MS), last);
                (moment, moment)
            }
        }
    }

    /// Returns the first moment above `low`, up to `high`, at which clocks show `local` or more.
    fn first_behind(&self, local: i64, mut low: i64, mut high: i64) -> i64 {
        while low < high {
            let middle = low + (high - low) / 2;
            if middle.saturating_add(self.ahead(middle)) < local {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Formats a moment as RFC 3339 in this zone.
    pub(super) fn format(&self, time: i64) -> String {
        if let Zone::Utc = self {
            return format_time(time);
        }
        let ahead = self.ahead(time);
        let mut text = format_time(time.saturating_add(ahead));
        text.pop();
        let (sign, seconds) = (if ahead < 0 { '-' } else { '+' }, ahead.abs() / 1000);
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        // Writing to a string cannot fail. Before there were zones, offsets had seconds.
        let _ = write!(text, "{sign}{hours:02}:{minutes:02}");
        if seconds % 60 != 0 {
            let _ = write!(text, ":{:02}", seconds % 60);
        }
        text
    }
}

/// Reads an offset from UTC.
fn fixed(text: &str) -> Option<i64> {
    let (sign, digits) = text.split_at(1);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => digits.split_at_checked(2).unwrap_or((digits, "")),
    };
    let number = |text: &str| {
        let is_digits = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_digits)
    };
    let minutes = if digits.len() <= 2 { 0 } else { number(minutes)? };
    let hours = number(hours).filter(|hours| *hours <= 18 && minutes < 60)?;
    let ahead = hours * HOUR_MS + minutes * 60_000;
    Some(if sign == "-" { -ahead } else { ahead })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit_schema::parse_time;

    #[test]
    fn zones_are_found() {
        for (name, summer) in [
            ("Europe/Berlin", "2024-07-01T14:00:00+02:00"),
            ("europe/berlin", "2024-07-01T14:00:00+02:00"),
            ("America/New_York", "2024-07-01T08:00:00-04:00"),
            ("Asia/Kathmandu", "2024-07-01T17:45:00+05:45"),
            ("UTC", "2024-07-01T12:00:00Z"),
            ("+02:00", "2024-07-01T14:00:00+02:00"),
            ("-0330", "2024-07-01T08:30:00-03:30"),
            ("+5", "2024-07-01T17:00:00+05:00"),
        ] {
            let zone = Zone::find(name).unwrap();
            assert_eq!(zone.format(parse_time("2024-07-01T12:00:00Z").unwrap()), summer, "{name}");
        }
        for wrong in
            ["", "Berlin", "Europe/Nowhere", "+", "+25:00", "+1:2:3", "+02:60", "++1", "+-1"]
        {
            assert!(Zone::find(wrong).is_none(), "{wrong}");
        }
        let zone = Zone::find("Europe/Berlin").unwrap();
        for time in [i64::MIN, i64::MAX] {
            zone.moments(time);
            zone.format(time);
        }
    }

    #[test]
    fn local_times_are_shown_once_twice_or_never() {
        let zone = Zone::find("Europe/Berlin").unwrap();
        for (local, first, last) in [
            ("2024-03-31T01:59:59Z", "2024-03-31T00:59:59Z", "2024-03-31T00:59:59Z"),
            ("2024-03-31T02:00:00Z", "2024-03-31T01:00:00Z", "2024-03-31T01:00:00Z"),
            ("2024-03-31T02:30:00Z", "2024-03-31T01:00:00Z", "2024-03-31T01:00:00Z"),
            ("2024-03-31T03:00:00Z", "2024-03-31T01:00:00Z", "2024-03-31T01:00:00Z"),
            ("2024-10-27T02:30:00Z", "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"),
            ("2024-10-27T03:00:00Z", "2024-10-27T02:00:00Z", "2024-10-27T02:00:00Z"),
        ] {
            let [local, first, last] = [local, first, last].map(|text| parse_time(text).unwrap());
            assert_eq!(zone.moments(local), (first, last));
        }
    }
}

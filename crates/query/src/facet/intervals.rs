//! The buckets of a histogram of moments: fixed or calendar intervals, in a time zone.

use std::cell::Cell;

use spirit_schema::Calendar;

use super::DateInterval;
use super::zone::Zone;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Hours by which clocks are put back, at most, as a rule.
const PUT_BACK_MS: i64 = 3 * HOUR_MS;

/// The intervals of time.
pub(super) struct Intervals {
    interval: DateInterval,
    zone: Zone,
    /// Milliseconds by which all intervals are moved, on the zone's clocks.
    offset: i64,
    /// The beginning of the last interval found, and the latest moment that was found in it.
    last: Cell<(i64, i64)>,
}

impl DateInterval {
    /// Returns the beginning of the interval that contains a moment, in UTC.
    pub(super) fn start_of(self, time: i64) -> i64 {
        match self {
            DateInterval::Milliseconds(ms) => time.div_euclid(ms).saturating_mul(ms),
            DateInterval::Day => Calendar::Day.start_of(time),
            DateInterval::Week => Calendar::Week.start_of(time),
            DateInterval::Month => Calendar::Month.start_of(time),
            DateInterval::Quarter => Calendar::Quarter.start_of(time),
            DateInterval::Year => Calendar::Year.start_of(time),
        }
    }

    /// Returns the milliseconds from the beginning of any interval to a moment in the next one, or
    /// in a fixed interval to its end.
    fn stride(self) -> i64 {
        let days = match self {
            DateInterval::Milliseconds(ms) => return ms,
            DateInterval::Day => 1,
            DateInterval::Week => 7,
            DateInterval::Month => 31,
            DateInterval::Quarter => 92,
            DateInterval::Year => 366,
        };
        days * DAY_MS + PUT_BACK_MS
    }
}

impl Intervals {
    pub(super) fn new(interval: DateInterval, zone: Zone, offset: i64) -> Intervals {
        // No moment lies in the first range.
        Intervals { interval, zone, offset, last: Cell::new((1, 0)) }
    }

    /// Returns the beginning of the interval that contains a moment.
    pub(super) fn start_of(&self, time: i64) -> i64 {
        let (start, latest) = self.last.get();
        if (start..=latest).contains(&time) {
            return start;
        }
        let start = self.floor(time);
        self.last.set((start, time));
        start
    }

    fn floor(&self, time: i64) -> i64 {
        let local = time.saturating_add(self.zone.ahead(time)).saturating_sub(self.offset);
        let start = self.interval.start_of(local).saturating_add(self.offset);
        if let Zone::Utc = self.zone {
            return start;
        }
        let (first, last) = self.zone.moments(start);
        let start = match self.interval {
            // An hour that clocks show twice is two hours.
            DateInterval::Milliseconds(_) if last <= time => last,
            _ => first,
        };
        start.min(time)
    }

    /// Returns the beginning of the interval behind the one that begins at `start`; none if there
    /// is no later one.
    pub(super) fn next(&self, start: i64) -> Option<i64> {
        let next = self.start_of(start.checked_add(self.interval.stride())?);
        if next > start && self.start_of(next - 1) == start {
            return Some(next);
        }
        // Clocks change in between, so the next interval is searched for.
        let far = self.interval.stride().saturating_mul(2).saturating_add(DAY_MS);
        let (mut low, mut high) = (start, start.checked_add(far)?);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if self.start_of(middle) > start { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// Formats the beginning of an interval in its zone.
    pub(super) fn format(&self, start: i64) -> String {
        self.zone.format(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_schema::parse_time;

    fn starts(interval: DateInterval, zone: &str, from: &str, to: &str) -> Vec<String> {
        let intervals = Intervals::new(interval, Zone::find(zone).unwrap(), 0);
        let [from, to] = [from, to].map(|text| parse_time(text).unwrap());
        let starts = std::iter::successors(Some(intervals.start_of(from)), |s| intervals.next(*s));
        starts.take_while(|start| *start < to).map(|start| intervals.format(start)).collect()
    }

    #[test]
    fn days_are_as_long_as_clocks_say() {
        let spring = starts(
            DateInterval::Day,
            "Europe/Berlin",
            "2024-03-30T12:00:00Z",
            "2024-04-01T00:00:00Z",
        );
        assert_eq!(
            spring,
            ["2024-03-30T00:00:00+01:00", "2024-03-31T00:00:00+01:00", "2024-04-01T00:00:00+02:00"]
        );
        let fall = starts(
            DateInterval::Milliseconds(HOUR_MS),
            "Europe/Berlin",
            "2024-10-26T23:30:00Z",
            "2024-10-27T03:00:00Z",
        );
        let hours = ["01:00:00+02", "02:00:00+02", "02:00:00+01", "03:00:00+01"];
        assert_eq!(fall, hours.map(|hour| format!("2024-10-27T{hour}:00")));
    }

    #[test]
    fn a_day_without_midnight_begins_with_its_first_moment() {
        // Clocks went from 0:00 to 1:00, and in Toronto from 23:30 to 0:30.
        for (zone, at, start) in [
            ("America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T01:00:00-02:00"),
            ("America/Toronto", "1919-03-31T12:00:00Z", "1919-03-31T00:30:00-04:00"),
            ("America/Havana", "2024-11-03T12:00:00Z", "2024-11-03T00:00:00-04:00"),
        ] {
            let days = Intervals::new(DateInterval::Day, Zone::find(zone).unwrap(), 0);
            assert_eq!(days.format(days.start_of(parse_time(at).unwrap())), start);
        }
    }

    #[test]
    fn months_begin_at_local_midnight() {
        let months = starts(
            DateInterval::Month,
            "America/New_York",
            "2024-01-31T12:00:00Z",
            "2024-05-01T00:00:00Z",
        );
        let expected = [
            "01-01T00:00:00-05:00",
            "02-01T00:00:00-05:00",
            "03-01T00:00:00-05:00",
            "04-01T00:00:00-04:00",
        ];
        assert_eq!(months, expected.map(|month| format!("2024-{month}")));
    }

    const UNITS: [DateInterval; 7] = [
        DateInterval::Milliseconds(HOUR_MS),
        DateInterval::Milliseconds(7 * 60_000),
        DateInterval::Day,
        DateInterval::Week,
        DateInterval::Month,
        DateInterval::Quarter,
        DateInterval::Year,
    ];
    const ZONES: [&str; 6] = [
        "UTC",
        "+05:30",
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
    ];

    proptest! {
        /// An interval begins where clocks show the beginning of a unit, and the next one begins
        /// behind all moments of it.
        #[test]
        fn intervals_follow_each_other(
            time in 0i64..2_000_000_000_000,
            unit in prop::sample::select(&UNITS[..]),
            zone in prop::sample::select(&ZONES[..]),
            offset in prop::sample::select(&[0, HOUR_MS, -90_000_000][..]),
        ) {
            let zone = Zone::find(zone).unwrap();
            let intervals = Intervals::new(unit, zone.clone(), offset);
            let start = intervals.start_of(time);
            let next = intervals.next(start).unwrap();
            prop_assert!(start <= time && time < next);
            prop_assert_eq!(intervals.start_of(start), start);
            prop_assert_eq!(intervals.start_of(next - 1), start);
            prop_assert_eq!(intervals.start_of(next), next);
            if let DateInterval::Milliseconds(_) = unit {} else {
                let local = |time: i64| time + zone.ahead(time) - offset;
                prop_assert_eq!(unit.start_of(local(time)), unit.start_of(local(start)));
                prop_assert!(unit.start_of(local(next)) > local(time));
            }
        }

        #[test]
        fn any_moment_is_in_an_interval(time: i64, unit in prop::sample::select(&UNITS[..]), zone in prop::sample::select(&ZONES[..]), offset: i64) {
            let intervals = Intervals::new(unit, Zone::find(zone).unwrap(), offset);
            let start = intervals.start_of(time);
            intervals.next(start);
            intervals.format(start);
        }
    }
}

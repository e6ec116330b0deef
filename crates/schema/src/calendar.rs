//! Calendar intervals, in UTC.

use crate::time::{DAY_MS, date_of, days_of};

/// A calendar interval, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calendar {
    /// A day from midnight.
    Day,
    /// Seven days from a Monday.
    Week,
    /// A month from its first day.
    Month,
    /// Three months from the first of January, April, July or October.
    Quarter,
    /// A year from the first of January.
    Year,
}

impl Calendar {
    /// Returns the beginning of the interval that contains `time`. Both are in milliseconds since
    /// 1970.
    pub fn start_of(self, time: i64) -> i64 {
        let days = time.div_euclid(DAY_MS);
        let (year, month, _) = date_of(days);
        let first = match self {
            Calendar::Day => days,
            // 1970 began on a Thursday.
            Calendar::Week => days - (days + 3).rem_euclid(7),
            Calendar::Month => days_of(year, month, 1),
            Calendar::Quarter => days_of(year, (month - 1) / 3 * 3 + 1, 1),
            Calendar::Year => days_of(year, 1, 1),
        };
        // An interval that began before the least number begins with that.
        first.saturating_mul(DAY_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{format_time, parse_time};
    use proptest::prelude::*;

    const ALL: [Calendar; 5] =
        [Calendar::Day, Calendar::Week, Calendar::Month, Calendar::Quarter, Calendar::Year];

    #[test]
    fn stretches_begin_where_calendars_say() {
        for (time, expected) in [
            (
                "2024-02-29T12:00:00Z",
                ["2024-02-29", "2024-02-26", "2024-02-01", "2024-01-01", "2024-01-01"],
            ),
            (
                "2026-11-22T23:59:59Z",
                ["2026-11-22", "2026-11-16", "2026-11-01", "2026-10-01", "2026-01-01"],
            ),
            (
                "1969-12-31T23:00:00Z",
                ["1969-12-31", "1969-12-29", "1969-12-01", "1969-10-01", "1969-01-01"],
            ),
        ] {
            let time = parse_time(time).unwrap();
            let starts = ALL.map(|calendar| format_time(calendar.start_of(time)));
            assert_eq!(starts, expected.map(|day| format!("{day}T00:00:00Z")));
        }
    }

    proptest! {
        #[test]
        fn any_moment_is_in_a_stretch(time: i64) {
            let longest = [1, 7, 31, 92, 366];
            for (calendar, days) in ALL.into_iter().zip(longest) {
                let start = calendar.start_of(time);
                prop_assert!(start <= time || start == i64::MIN);
                prop_assert!(i128::from(time) - i128::from(start) < i128::from(days * DAY_MS));
                let again = calendar.start_of(start);
                prop_assert!(again == start || start == i64::MIN);
            }
        }
    }
}

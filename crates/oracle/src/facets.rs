//! Buckets as one would find them on paper: decimals with their digits in columns, and a calendar that is counted day by day.

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// The whole number that a decimal is at this many places behind the point; `None` if it has more places, or too many digits.
fn at_places(number: f64, places: usize) -> Option<i128> {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let zeros = "0".repeat(places.checked_sub(fraction.len())?);
    format!("{whole}{fraction}{zeros}").parse().ok()
}

fn places(number: f64) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// The beginning of the bucket that a number is in; `None` if its digits are too many for this.
pub fn bucket_of(number: f64, interval: f64, offset: f64) -> Option<f64> {
    let places = [number, interval, offset].map(places).into_iter().max()?;
    let [number, interval, offset] =
        [number, interval, offset].map(|number| at_places(number, places));
    let (interval, offset) = (interval?, offset?);
    let start = (number? - offset).div_euclid(interval) * interval + offset;
    format!("{start}e-{places}").parse().ok()
}

/// An interval of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A day.
    Day,
    /// A week from Monday.
    Week,
    /// A month.
    Month,
    /// A quarter of a year.
    Quarter,
    /// A year.
    Year,
}

/// How far clocks in Berlin are ahead of UTC: two hours from the last Sunday of March to the last Sunday of October, one in the
/// morning in UTC. So it is from 1996 on.
pub fn ahead_in_berlin(time: i64) -> i64 {
    let days = time.div_euclid(DAY_MS);
    let (year, ..) = date(days);
    let changes = |month| last_sunday(year, month) * DAY_MS + HOUR_MS;
    if (changes(3)..changes(10)).contains(&time) { 2 * HOUR_MS } else { HOUR_MS }
}

/// The beginning of the interval that a moment is in, on clocks that are `ahead` of UTC. It looks further and further back, by days
/// and then by hours.
pub fn start_of(unit: Unit, time: i64, ahead: impl Fn(i64) -> i64) -> i64 {
    let name = |time: i64| unit.name((time + ahead(time)).div_euclid(DAY_MS));
    let own = name(time);
    let mut hour = time.div_euclid(HOUR_MS) * HOUR_MS;
    for step in [DAY_MS, HOUR_MS] {
        while name(hour - step) == own {
            hour -= step;
        }
    }
    hour
}

impl Unit {
    /// What tells intervals apart.
    fn name(self, days: i64) -> (i64, i64, i64) {
        let (year, month, day) = date(days);
        match self {
            Unit::Day => (year, month, day),
            // The fifth of January 1970 was a Monday.
            Unit::Week => ((days - 4).div_euclid(7), 0, 0),
            Unit::Month => (year, month, 0),
            Unit::Quarter => (year, (month + 2) / 3, 0),
            Unit::Year => (year, 0, 0),
        }
    }
}

fn month_days(year: i64, month: i64) -> i64 {
    let is_leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
    [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1]
}

fn year_days(year: i64) -> i64 {
    337 + month_days(year, 2)
}

/// The date of a day from 1970 on, year by year and month by month.
fn date(mut days: i64) -> (i64, i64, i64) {
    let (mut year, mut month) = (1970, 1);
    while days < 0 {
        year -= 1;
        days += year_days(year);
    }
    while days >= year_days(year) {
        days -= year_days(year);
        year += 1;
    }
    while days >= month_days(year, month) {
        days -= month_days(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

/// The days from 1970 to the last Sunday of a month of a later year.
fn last_sunday(year: i64, month: i64) -> i64 {
    let years: i64 = (1970..year).map(year_days).sum();
    let months: i64 = (1..=month).map(|month| month_days(year, month)).sum();
    let last = years + months - 1;
    // 1970 began on a Thursday.
    last - (last + 4).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_and_calendar_are_right() {
        assert_eq!(bucket_of(0.3, 0.1, 0.0), Some(0.3));
        assert_eq!(bucket_of(-0.31, 0.1, 0.05), Some(-0.35));
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(19_782), (2024, 2, 29));
        // The changes of 2024: the 31st of March and the 27th of October.
        let [spring, fall] = [1_711_846_800_000, 1_729_990_800_000];
        for (time, hours) in [(spring - 1, 1), (spring, 2), (fall - 1, 2), (fall, 1)] {
            assert_eq!(ahead_in_berlin(time), hours * HOUR_MS);
        }
        // Easter Monday of 2024 began at ten in the evening of Sunday in UTC.
        let monday = 1_711_922_400_000;
        assert_eq!(start_of(Unit::Day, monday + 1, ahead_in_berlin), monday);
        assert_eq!(start_of(Unit::Week, monday + 5 * DAY_MS, ahead_in_berlin), monday);
        assert_eq!(start_of(Unit::Quarter, monday + 5 * DAY_MS, ahead_in_berlin), monday);
    }
}

//! Arithmetic on moments: `+1d`, `-3M`, `/h`, one behind the other.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ZonedDateTime};

use crate::error::Refusal;

/// One step of the arithmetic.
struct Step {
    operator: u8,
    count: i64,
    unit: u8,
}

/// Returns a moment after the arithmetic. Rounding is down to the first millisecond of a unit, or
/// up to its last one. All of it is in milliseconds since 1970, on the calendar of a zone.
pub(super) fn calculate(math: &str, ms: i64, up: bool, zone: &TimeZone) -> Result<i64, Refusal> {
    let out = || Refusal::parse(format!("date math [{math}] is out of range"));
    let mut moment =
        Timestamp::from_millisecond(ms).map_err(|_| out())?.to_zoned_datetime(zone.clone());
    let mut rest = math;
    while !rest.is_empty() {
        let step = step(&mut rest, math)?;
        moment = taken(moment, &step, up).ok_or_else(out)?;
    }
    Ok(moment.timestamp().as_millisecond())
}

/// Removes a step from the front.
fn step(rest: &mut &str, math: &str) -> Result<Step, Refusal> {
    let refuse = |what: String| Err(Refusal::parse(what));
    let operator = rest.as_bytes()[0];
    if !b"+-/".contains(&operator) {
        return refuse(format!("operator not supported for date math [{math}]"));
    }
    let behind = &rest[1..];
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let (number, behind) = behind.split_at(digits);
    let Some(unit) = behind.chars().next() else {
        return refuse(format!("truncated date math [{math}]"));
    };
    if operator == b'/' && !matches!(number, "" | "1") {
        let what = "rounding `/` can only be used on single unit types";
        return refuse(format!("{what} [{math}]"));
    }
    if !"yMwdhHms".contains(unit) {
        return refuse(format!("unit [{unit}] not supported for date math [{math}]"));
    }
    let Ok(count) = (if number.is_empty() { Ok(1) } else { number.parse() }) else {
        return refuse(format!("date math [{math}] is out of range"));
    };
    *rest = &behind[1..];
    Ok(Step { operator, count, unit: unit as u8 })
}

/// Returns a moment after one step; none if it is beyond the calendar.
fn taken(moment: ZonedDateTime, step: &Step, up: bool) -> Option<ZonedDateTime> {
    match step.operator {
        b'+' => moment.checked_add(span(step.count, step.unit)?).ok(),
        b'-' => moment.checked_sub(span(step.count, step.unit)?).ok(),
        _ => {
            let first = begun(&moment, step.unit)?;
            if !up {
                return Some(first);
            }
            let next = first.checked_add(span(1, step.unit)?).ok()?;
            next.checked_sub(Span::new().milliseconds(1)).ok()
        }
    }
}

fn span(count: i64, unit: u8) -> Option<Span> {
    let span = Span::new();
    let span = match unit {
        b'y' => span.try_years(count),
        b'M' => span.try_months(count),
        b'w' => span.try_weeks(count),
        b'd' => span.try_days(count),
        b'h' | b'H' => span.try_hours(count),
        b'm' => span.try_minutes(count),
        _ => span.try_seconds(count),
    };
    span.ok()
}

/// Returns the beginning of the unit that a moment is in.
fn begun(moment: &ZonedDateTime, unit: u8) -> Option<ZonedDateTime> {
    let date = moment.date();
    let date = match unit {
        b'y' => date.first_of_year(),
        b'M' => date.first_of_month(),
        b'w' => {
            let days = i64::from(date.weekday().to_monday_zero_offset());
            date.checked_sub(Span::new().days(days)).ok()?
        }
        b'd' => date,
        _ => return clock_begun(moment, unit),
    };
    DateTime::from(date).to_zoned_datetime(moment.time_zone().clone()).ok()
}

/// Like [`begun`], for units below a day. The offset stays, where clocks are set back too.
fn clock_begun(moment: &ZonedDateTime, unit: u8) -> Option<ZonedDateTime> {
    let mut with = moment.with().subsec_nanosecond(0);
    if unit != b's' {
        with = with.second(0);
    }
    if matches!(unit, b'h' | b'H') {
        with = with.minute(0);
    }
    with.build().ok()
}

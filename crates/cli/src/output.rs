//! Results, on standard output. What is said about the work is a [note](crate::note).

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use serde::Serialize;

use crate::escape;
use crate::failure::Failure;

/// Standard output, buffered. The caller flushes it: an error at the end is an error too.
pub(crate) type Out = BufWriter<StdoutLock<'static>>;

pub(crate) fn out() -> Out {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// One JSON object on one line. Nothing in it acts on a terminal.
pub(crate) fn json_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    let mut writer = serde_json::Serializer::with_formatter(&mut *out, escape::Json);
    value.serialize(&mut writer).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// A count with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in the unit that fits it.
pub(crate) fn elapsed(time: Duration) -> String {
    let ns = time.as_nanos() as f64;
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.1} µs", ns / 1e3),
        ..1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}

/// `count` in `time`, a second.
pub(crate) fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
}

/// Rounded, so that JSON shows no digits that were not measured.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn durations_have_fitting_units() {
        assert_eq!(elapsed(Duration::from_nanos(830)), "830 ns");
        assert_eq!(elapsed(Duration::from_nanos(12_340)), "12.3 µs");
        assert_eq!(elapsed(Duration::from_micros(12_340)), "12.3 ms");
        assert_eq!(elapsed(Duration::from_millis(12_340)), "12.3 s");
    }
}

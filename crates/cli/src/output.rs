//! Results, on standard output. What is said about the work is a [note](crate::note).

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::Duration;

use serde::Serialize;
use spirit_forms::escape;
use spirit_forms::size::Size;

use crate::failure::Failure;

/// Standard output, buffered. The caller flushes it: an error at the end is an error too.
pub(crate) type Out = BufWriter<StdoutLock<'static>>;

pub(crate) fn out() -> Out {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// One JSON object on one line. Nothing in it acts on a terminal.
pub(crate) fn json_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    Ok(escape::json_line(out, value)?)
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

/// How much of `cap` is used.
pub(crate) fn fill(used: u64, cap: u64) -> String {
    let percent = used as f64 / cap.max(1) as f64 * 100.0;
    format!("{} of {} ({percent:.0} %)", Size(used), Size(cap))
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

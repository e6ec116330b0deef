//! Moments as texts in a format.

use std::fmt::Write;

use jiff::ZonedDateTime;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns a moment in the usual format: ISO 8601 with milliseconds and an offset.
pub(super) fn usual(moment: &ZonedDateTime) -> String {
    let local = by_pattern(moment, "yyyy-MM-dd'T'HH:mm:ss.SSS");
    local + &offset(moment.offset().seconds(), 'X', 3)
}

/// Returns a moment by a pattern.
pub(super) fn by_pattern(moment: &ZonedDateTime, pattern: &str) -> String {
    let (mut out, mut rest) = (String::new(), pattern);
    while let Some(letter) = rest.chars().next() {
        if letter == '\'' {
            rest = push_quoted(&rest[1..], &mut out);
            continue;
        }
        let run = rest.len() - rest.trim_start_matches(letter).len();
        let (own, others) = rest.split_at(run);
        rest = others;
        // Writing to a string cannot fail.
        let _ = match letter {
            'y' | 'u' if run == 2 => write!(out, "{:02}", moment.year().rem_euclid(100)),
            'y' | 'u' => write!(out, "{:0run$}", moment.year()),
            'M' if run >= 3 => {
                write!(out, "{}", MONTHS[usize::from(moment.month().unsigned_abs()) - 1])
            }
            'M' => write!(out, "{:0run$}", moment.month()),
            'd' => write!(out, "{:0run$}", moment.day()),
            'H' => write!(out, "{:0run$}", moment.hour()),
            'm' => write!(out, "{:0run$}", moment.minute()),
            's' => write!(out, "{:0run$}", moment.second()),
            'S' => write!(out, "{}", &format!("{:09}", moment.subsec_nanosecond())[..run.min(9)]),
            'X' | 'x' | 'Z' => write!(out, "{}", offset(moment.offset().seconds(), letter, run)),
            _ => write!(out, "{own}"),
        };
    }
    out
}

/// Appends what stands in quotation marks. Returns the pattern behind them.
fn push_quoted<'p>(pattern: &'p str, out: &mut String) -> &'p str {
    if let Some(behind) = pattern.strip_prefix('\'') {
        out.push('\'');
        return behind;
    }
    let (own, behind) = pattern.split_once('\'').unwrap_or((pattern, ""));
    out.push_str(own);
    behind
}

fn offset(seconds: i32, letter: char, run: usize) -> String {
    if seconds == 0 && letter == 'X' {
        return "Z".to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    match run {
        1 if letter != 'Z' && minutes == 0 => format!("{sign}{hours:02}"),
        1 | 2 => format!("{sign}{hours:02}{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}"),
    }
}

//! Records of several lines: one that does not match a pattern belongs to the record before.
//!
//! Only the next record's first line ends a record. At the end of a file that is resumed, the last
//! record may go on. Where lines trickle in, silence ends it too.

use std::io;
use std::time::{Duration, Instant};

use regex::bytes::Regex;

use super::step::{Line, Step};
use super::{Lines, Mark};

/// Silence after which a record has no more lines. Fluent Bit waits 4 s, Vector 1 s.
const SILENCE: Duration = Duration::from_secs(1);

pub(crate) struct Starts {
    lines: Lines,
    start: Regex,
    bytes_max: usize,
    record: Vec<u8>,
    /// The number of the record's first line; none if it has none yet.
    first: Option<u64>,
    is_long: bool,
    /// When its last line came.
    last: Instant,
    /// The line that was read begins the next record, or is the end.
    is_next_there: bool,
    /// The place before the record, if places are wanted.
    before: Option<Mark>,
}

impl Starts {
    pub(crate) fn new(lines: Lines, start: Regex, bytes_max: usize) -> Starts {
        let (record, last) = (Vec::new(), Instant::now());
        Starts {
            lines,
            start,
            bytes_max,
            record,
            first: None,
            is_long: false,
            last,
            is_next_there: false,
            before: None,
        }
    }

    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        if self.first.is_none() {
            self.record.clear();
            self.is_long = false;
        }
        loop {
            if !std::mem::take(&mut self.is_next_there) && !self.lines.read_line()? {
                let is_over = self.first.is_some() && self.last.elapsed() >= SILENCE;
                return Ok(if is_over { self.taken() } else { Step::Pause });
            }
            let is_end = self.lines.line.is_empty();
            let is_start = is_end || self.is_start();
            match self.first {
                None if is_end => return Ok(Step::End),
                Some(_) if is_start => {
                    self.is_next_there = true;
                    return Ok(self.taken());
                }
                // Blank lines before the first record are no record.
                None if self.lines.is_blank() => self.lines.pass_over(),
                _ => self.append(),
            }
        }
    }

    /// The place behind the last record.
    pub(crate) fn mark(&self) -> Option<Mark> {
        match self.is_next_there {
            true => self.lines.reader.mark_before_line(),
            false => self.lines.mark(),
        }
    }

    fn is_start(&self) -> bool {
        let line = self.lines.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        self.start.is_match(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Adds the line that was read to the record.
    fn append(&mut self) {
        if self.first.is_none() {
            self.before = self.lines.mark_before();
        }
        let Some((number, line)) = self.lines.take_line() else { return };
        if self.first.is_some() {
            self.record.push(b'\n');
        }
        self.first.get_or_insert(number);
        self.last = Instant::now();
        match line {
            Line::Bytes(bytes) if self.record.len() + bytes.len() <= self.bytes_max => {
                self.record.extend(bytes);
            }
            _ => self.is_long = true,
        }
    }

    /// Gives the record away: the next step begins another one.
    fn taken(&mut self) -> Step<'_> {
        let first = self.first.take().unwrap_or_default();
        let is_last = self.is_next_there && self.lines.line.is_empty();
        let before = self.before.take().filter(|_| is_last);
        let record = self.record.trim_ascii_end();
        match self.is_long {
            true => Step::Record(first, Line::TooLong),
            false if before.is_some() => Step::Unfinished(first, Line::Bytes(record), before),
            false => Step::Record(first, Line::Bytes(record)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::Cutting;
    use super::super::records::tests::{of, records};
    use super::*;
    use crate::format::Format;

    fn cut(text: &str, pattern: &str) -> Vec<String> {
        let start = Some(Regex::new(pattern).unwrap());
        records(text.as_bytes(), &Cutting { start, ..of(Format::Lines) })
    }

    #[test]
    fn lines_that_do_not_match_belong_to_the_record_before() {
        let text = "\nfirst\n at a\n2024 red\r\n  at b\r\n\r\n  at c\n2025 blue\n2026 end";
        let expected =
            ["2 first\n at a", "4 2024 red\n  at b\n\n  at c", "8 2025 blue", "9 2026 end"];
        assert_eq!(cut(text, "^\\d{4} "), expected);
        assert_eq!(cut("a\nb\n", "^x"), ["1 a\nb"]);
        assert_eq!(cut("a\nb\n", ""), ["1 a", "2 b"]);
        assert_eq!(cut("", "^x"), [""; 0]);
    }

    #[test]
    fn a_record_that_is_too_long_is_one() {
        let line = "x".repeat(spirit::Document::BYTES_MAX);
        let found = cut(&format!("2024\n{line}\n y\n2025\n"), "^\\d");
        assert_eq!(found, ["1 !", "4 2025"]);
    }
}

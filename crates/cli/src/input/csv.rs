//! Rows of comma-separated values (RFC 4180): lines, and further ones where quotation marks are open.

use std::io;

use super::joined::Joined;
use super::step::{Line, Step};
use super::{Lines, Mark};
use crate::format::Format;

pub(crate) struct Rows {
    lines: Lines,
    delimiter: u8,
    /// Where the row that was read so far ends.
    at: At,
    /// The row, as it stands in the file.
    row: Joined,
    /// The place before the row, if places are wanted and the row may go on.
    before: Option<Mark>,
    /// The names of columns were read.
    has_names: bool,
}

impl Rows {
    pub(crate) fn new(lines: Lines, delimiter: u8, bytes_max: usize) -> Rows {
        Rows {
            lines,
            delimiter,
            at: At::Start,
            row: Joined::new(bytes_max),
            before: None,
            has_names: false,
        }
    }

    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        self.row.begin();
        if self.row.first.is_none() {
            self.before = None;
        }
        loop {
            if !self.lines.read_line()? {
                return Ok(Step::Pause);
            }
            let is_end = self.lines.line.is_empty();
            match self.row.first {
                None if is_end => return Ok(Step::End),
                Some(_) if is_end => return Ok(self.taken()),
                None if self.lines.is_blank() => self.lines.pass_over(),
                _ => {
                    if self.append() {
                        return Ok(self.taken());
                    }
                }
            }
        }
    }

    /// The place behind the last row.
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.lines.mark()
    }

    /// Adds the line that was read to the row. True if that ends it.
    fn append(&mut self) -> bool {
        let is_cut = self.lines.is_cut;
        let line = self.lines.bytes();
        self.at = line.iter().fold(self.at, |at, byte| at.behind(*byte, self.delimiter));
        // How the rest of a line that was cut would go on is not known: the next one begins anew.
        let ends = is_cut || self.at != At::Quoted;
        if self.row.first.is_none() && (!ends || self.lines.is_unfinished()) {
            self.before = self.lines.mark_before();
        }
        self.row.add(&mut self.lines);
        if ends {
            self.at = At::Start;
        }
        ends
    }

    fn taken(&mut self) -> Step<'_> {
        let is_last = self.lines.line.is_empty() || !self.lines.is_ended;
        let before = self.before.take().filter(|_| is_last);
        let has_names = std::mem::replace(&mut self.has_names, true);
        let (first, record) = self.row.taken();
        let Line::Bytes(row) = record else { return Step::Record(first, record) };
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        match has_names {
            false => Step::Begin(Format::Csv, row),
            true if before.is_some() => Step::Unfinished(first, Line::Bytes(row), before),
            true => Step::Record(first, Line::Bytes(row)),
        }
    }
}

/// The place of a byte within a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// A value begins.
    Start,
    /// In a value without quotation marks around it, where they stand for themselves.
    Plain,
    Quoted,
    /// Behind a quotation mark that ends a value, unless another one follows.
    Closing,
}

impl At {
    fn behind(self, byte: u8, delimiter: u8) -> At {
        match (self, byte) {
            (At::Quoted, b'"') => At::Closing,
            (At::Quoted, _) | (At::Start | At::Closing, b'"') => At::Quoted,
            _ if byte == delimiter => At::Start,
            _ => At::Plain,
        }
    }
}

/// Splits a row into its values. None: quotation marks are open at its end.
pub(crate) fn values(row: &[u8], delimiter: u8) -> Option<Vec<Vec<u8>>> {
    let (mut at, mut values, mut value) = (At::Start, Vec::new(), Vec::new());
    for &byte in row {
        let was = at;
        at = at.behind(byte, delimiter);
        match (was, at) {
            (_, At::Start) => values.push(std::mem::take(&mut value)),
            (At::Start, At::Quoted) | (At::Quoted, At::Closing) => {}
            _ => value.push(byte),
        }
    }
    values.push(value);
    (at != At::Quoted).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::super::records::Cutting;
    use super::super::records::tests::{of, records};
    use super::*;

    #[test]
    fn rows_go_on_where_quotation_marks_are_open() {
        let text = "\n\u{feff}a,b\r\n1,\"two\nlines, \"\"quoted\"\"\"\r\n\n3,5\" pipe\n\"\",\n6,7";
        let expected =
            ["names a,b", "3 1,\"two\nlines, \"\"quoted\"\"\"", "6 3,5\" pipe", "7 \"\",", "8 6,7"];
        assert_eq!(records(text.as_bytes(), &of(Format::Csv)), expected);
        let tabs = Cutting { delimiter: b'\t', ..of(Format::Csv) };
        assert_eq!(records(b"a\tb\n\"1\n\"\t2\n", &tabs), ["names a\tb", "2 \"1\n\"\t2"]);
        assert_eq!(
            records(b"a,b\n\"open\n1,2\n", &of(Format::Csv)),
            ["names a,b", "2 \"open\n1,2"]
        );
        assert_eq!(records(b"", &of(Format::Csv)), [""; 0]);
    }

    #[test]
    fn values_are_those_that_were_written() {
        let split = |row: &str| {
            let values = values(row.as_bytes(), b',')?;
            Some(values.into_iter().map(|v| String::from_utf8(v).unwrap()).collect::<Vec<_>>())
        };
        let all = |values: &[&str]| Some(values.iter().map(|v| (*v).to_owned()).collect());
        assert_eq!(split("a,\"b\r\n\"\"c\"\"\",,d"), all(&["a", "b\r\n\"c\"", "", "d"]));
        assert_eq!(split("\"\""), all(&[""]));
        assert_eq!(split("a,\"b"), None);
        assert_eq!(split("5\" pipe,\"a\"b,\"c"), None);
        assert_eq!(split("5\" pipe,\"a\"b"), all(&["5\" pipe", "ab"]));
        assert_eq!(split(""), all(&[""]));
        // What a writer quotes comes back, whatever it is.
        for seed in 0..2000u32 {
            let pick = |n: u32| {
                ["", "a", "\"", ",", "\n", "\r\n", "é", " "]
                    [(seed * 7 + n * n * seed / 3) as usize % 8]
            };
            let wanted: Vec<String> =
                (0..1 + seed % 4).map(|v| (0..seed % 5).map(|n| pick(n + v)).collect()).collect();
            let row: Vec<_> =
                wanted.iter().map(|v| format!("\"{}\"", v.replace('"', "\"\""))).collect();
            assert_eq!(split(&row.join(",")), Some(wanted), "{row:?}");
        }
    }
}

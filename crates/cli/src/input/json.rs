//! Objects of a JSON file, one after another: those of an array, or any that follow each other, over as many lines as they take.
//!
//! Only one object is in memory at a time. Whether it is right says who parses it: here braces are counted.

use std::io::{self, BufRead};

use super::decode::BYTE_ORDER_MARK;
use super::step::{Line, Step};
use super::tracked::{Source, Untracked};

pub(crate) struct Objects {
    reader: Box<dyn Source>,
    bytes_max: usize,
    record: Vec<u8>,
    at: At,
    /// Braces and brackets that are open within the record.
    depth: usize,
    /// Brackets that are open around the records.
    arrays: usize,
    is_long: bool,
    /// The line that is read, from 1, and the first of the record.
    line: u64,
    first: u64,
    /// The record was given away: the next begins.
    is_taken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Between records.
    Between,
    /// In an object.
    Object,
    /// In something that is no object where one should be.
    Other,
    /// In a string of one of these.
    String { of_object: bool, escaped: bool },
}

impl Objects {
    pub(crate) fn new(reader: Box<dyn Source>, bytes_max: usize) -> Objects {
        Objects {
            reader,
            bytes_max,
            record: Vec::new(),
            at: At::Between,
            depth: 0,
            arrays: 0,
            is_long: false,
            line: 1,
            first: 1,
            is_taken: true,
        }
    }

    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        if std::mem::take(&mut self.is_taken) {
            self.record.clear();
            self.is_long = false;
        }
        loop {
            let mut reader = std::mem::replace(&mut self.reader, Box::new(Untracked(io::empty())));
            let scanned = reader.fill_buf().map(|bytes| (bytes.is_empty(), self.scan(bytes)));
            if let Ok((_, (taken, _))) = scanned {
                reader.consume(taken);
            }
            self.reader = reader;
            match scanned? {
                (_, (_, true)) => return Ok(self.taken()),
                (true, _) => return Ok(self.end()),
                (false, _) => {}
            }
        }
    }

    /// Reads on in `bytes`: how many of them, and whether a record ends there.
    fn scan(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut start = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let was = self.at;
            let ends = self.next(byte);
            self.line += u64::from(byte == b'\n');
            match (was, self.at) {
                (At::Between, At::Between) => start = at + 1,
                // What ends something that is no object is not part of it.
                (At::Other, At::Between) => {
                    self.keep(&bytes[start..at]);
                    return (at + 1, true);
                }
                _ if ends => {
                    self.keep(&bytes[start..=at]);
                    return (at + 1, true);
                }
                _ => {}
            }
        }
        self.keep(&bytes[start..]);
        (bytes.len(), false)
    }

    /// Takes one byte. True if it is the last of an object.
    fn next(&mut self, byte: u8) -> bool {
        match self.at {
            At::Between => self.begin(byte),
            At::String { of_object, escaped } => {
                self.at = match byte {
                    // No string goes over the end of a line: its quotation mark was forgotten.
                    b'\n' => of(of_object),
                    b'"' if !escaped => of(of_object),
                    _ => At::String { of_object, escaped: byte == b'\\' && !escaped },
                };
            }
            At::Object | At::Other if byte == b'"' => {
                self.at = At::String { of_object: self.at == At::Object, escaped: false };
            }
            At::Object => match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.at = At::Between;
                        return true;
                    }
                }
                _ => {}
            },
            At::Other => {
                if matches!(byte, b',' | b']' | b'\n') {
                    self.at = At::Between;
                    self.begin(byte);
                }
            }
        }
        false
    }

    /// Takes a byte between records.
    fn begin(&mut self, byte: u8) {
        match byte {
            b'[' => self.arrays += 1,
            b']' => self.arrays = self.arrays.saturating_sub(1),
            b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if BYTE_ORDER_MARK.contains(&byte) => {}
            _ => {
                self.first = self.line;
                self.depth = usize::from(byte == b'{');
                self.at = match byte {
                    b'"' => At::String { of_object: false, escaped: false },
                    _ => of(byte == b'{'),
                };
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.is_long |= self.record.len() + bytes.len() > self.bytes_max;
        if !self.is_long {
            self.record.extend_from_slice(bytes);
        }
    }

    fn taken(&mut self) -> Step<'_> {
        self.is_taken = true;
        match self.is_long {
            true => Step::Record(self.first, Line::TooLong),
            false => Step::Record(self.first, Line::Bytes(&self.record)),
        }
    }

    /// The source is over: what was begun is a record, and an array that is open an error.
    fn end(&mut self) -> Step<'_> {
        if self.at != At::Between {
            (self.at, self.arrays) = (At::Between, 0);
            return self.taken();
        }
        match std::mem::take(&mut self.arrays) {
            0 => Step::End,
            _ => Step::Record(self.line, Line::Unclosed),
        }
    }
}

fn of(is_object: bool) -> At {
    if is_object { At::Object } else { At::Other }
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::{of, records};
    use crate::format::Format;

    fn objects(text: &str) -> Vec<String> {
        records(text.as_bytes(), &of(Format::Json))
    }

    #[test]
    fn objects_of_an_array_come_one_by_one() {
        assert_eq!(objects("[{\"a\":1},{\"b\":[{}]}]"), ["1 {\"a\":1}", "1 {\"b\":[{}]}"]);
        let text = "\u{feff}[\n  {\n    \"a\": \"]}\\\"{\"\n  },\n\n  {}\n]\n";
        assert_eq!(objects(text), ["2 {\n    \"a\": \"]}\\\"{\"\n  }", "6 {}"]);
        assert_eq!(
            objects("{\"a\":1}\n\u{feff}{\"b\":2} {\"c\":3}"),
            ["1 {\"a\":1}", "2 {\"b\":2}", "2 {\"c\":3}"]
        );
        for empty in ["", "[]", " [ ] \n", "\n"] {
            assert_eq!(objects(empty), [""; 0], "{empty:?}");
        }
    }

    #[test]
    fn what_is_no_object_and_what_is_cut_are_records_to_refuse() {
        assert_eq!(objects("[1, \"a,b\", null\n,{}]"), ["1 1", "1 \"a,b\"", "1 null", "2 {}"]);
        assert_eq!(objects("[{\"a\":1},\n{\"b\""), ["1 {\"a\":1}", "2 {\"b\""]);
        assert_eq!(objects("[{\"a\":1},\n"), ["1 {\"a\":1}", "2 ?"]);
        // A quotation mark that is forgotten costs its own record.
        assert_eq!(objects("[{\"a\":\"1\n},\n{\"b\":2}]"), ["1 {\"a\":\"1\n}", "3 {\"b\":2}"]);
    }

    #[test]
    fn objects_are_found_wherever_lines_are_broken() {
        for seed in 1..400usize {
            let object = |n: usize| {
                let text = ["}", "{", "]", "\\\"", "\\\\", "\\u005d", ","][(seed * n) % 7];
                format!("{{\"n\":{n},\"t\":\"{text}\",\"o\":{{\"a\":[{n},{{}}]}}}}")
            };
            let all: Vec<String> = (1..seed % 6 + 2).map(object).collect();
            let text = match seed % 3 {
                0 => all.join("\n"),
                1 => format!("[{}]", all.join(",")),
                _ => format!("[\n{}\n]\n", all.join(" ,\n")),
            };
            let found = objects(&text);
            let found: Vec<_> = found.iter().map(|one| one.split_once(' ').unwrap().1).collect();
            assert_eq!(found, all, "{text}");
        }
    }
}

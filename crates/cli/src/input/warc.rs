//! Records of a web archive (WARC 1.0 and 1.1, ISO 28500) that may hold a text: responses and conversions.
//!
//! A record is a head of lines, a blank line, and a block whose length the head says. What is
//! damaged is one record for the reader; the next one begins with the next line that a record can
//! begin with.

use std::io::{self, BufRead, ErrorKind, Read};

use super::members::{NOTHING_GIVEN, is_damage};
use super::step::{Line, Step};
use super::tracked::Source;
use crate::web::header;

/// What each record begins with.
const VERSION: &[u8] = b"WARC/";
/// Blank lines that end a record. Some writers leave them out.
const BLANK_LINES: u32 = 2;
/// Bytes of a record's head, at most.
const HEAD_BYTES_MAX: usize = 256 << 10;
/// A source that fails this many times in a row has ended.
const FAILURES: u32 = 1000;

pub(crate) struct Warc {
    reader: Box<dyn Source>,
    bytes_max: usize,
    record: Vec<u8>,
    /// A line of a head, or its beginning if more is not there yet.
    line: Vec<u8>,
    is_taken: bool,
    /// Blank lines behind the record.
    blanks: u32,
    /// The line is the next record's.
    is_ahead: bool,
    /// Records so far, those of other types too.
    number: u64,
    /// Bytes read, and where the record begins among them.
    read: u64,
    start: u64,
    at: At,
    /// What is wrong with a damaged record.
    reason: String,
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before a record.
    Between,
    /// Behind damage: what is no record's first line is passed over.
    Lost,
    Head,
    /// In a block with this many bytes left.
    Block(u64, Kept),
    /// Behind the record, before what says that it was whole.
    Behind(Kept),
    /// Before a damaged record. What is wrong with it is known.
    Damaged,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    /// It holds no text.
    No,
    TooLong,
}

impl Warc {
    pub(crate) fn new(reader: Box<dyn Source>, bytes_max: usize) -> Warc {
        Warc {
            reader,
            bytes_max,
            record: Vec::new(),
            line: Vec::new(),
            is_taken: true,
            blanks: 0,
            is_ahead: false,
            number: 0,
            read: 0,
            start: 0,
            at: At::Between,
            reason: String::new(),
            failures: 0,
        }
    }

    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        loop {
            let went_on = match self.at {
                At::Between | At::Lost => self.begin(),
                At::Head => self.read_head(),
                At::Block(left, kept) => self.read_block(left, kept),
                At::Behind(kept) => match self.look_ahead() {
                    Ok(true) if kept != Kept::No => {
                        let is_long = kept == Kept::TooLong;
                        let record =
                            if is_long { Line::TooLong } else { Line::Bytes(&self.record) };
                        return Ok(Step::Record(self.number, record));
                    }
                    looked => looked.map(|_| true),
                },
                At::Damaged => return Ok(self.damaged(None)),
            };
            match went_on {
                Ok(true) => {}
                Ok(false) => return Ok(Step::End),
                Err(error) if is_damage(&error) && self.failures < FAILURES => {
                    self.failures += 1;
                    if self.at == At::Lost {
                        self.is_taken = true;
                        continue;
                    }
                    return Ok(self.damaged(Some(error.to_string())));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn damaged(&mut self, reason: Option<String>) -> Step<'_> {
        // Between records, the damage is in the next one.
        self.number += u64::from(matches!(self.at, At::Between | At::Damaged));
        // What was read of a line does not go on behind the damage.
        (self.at, self.is_taken) = (At::Lost, true);
        self.reason = reason.unwrap_or_else(|| std::mem::take(&mut self.reason));
        Step::Record(self.number, Line::Damaged(&self.reason))
    }

    fn wrong(&self, what: &str) -> io::Error {
        let reason = format!("{what}, at byte {} of the unpacked file", self.start);
        io::Error::new(ErrorKind::InvalidData, reason)
    }

    /// Reads on to the end of a line. False at the end of the source.
    fn read_line(&mut self) -> io::Result<bool> {
        if std::mem::take(&mut self.is_taken) {
            self.line.clear();
        }
        let before = self.line.len();
        let left = (HEAD_BYTES_MAX - before) as u64;
        let read = self.reader.by_ref().take(left).read_until(b'\n', &mut self.line);
        self.went_on(self.line.len() - before);
        read?;
        self.is_taken = true;
        Ok(!self.line.is_empty())
    }

    fn went_on(&mut self, bytes: usize) {
        self.read += bytes as u64;
        if bytes > 0 {
            self.failures = 0;
        }
    }

    /// Reads behind a record whether it was whole: its member's checksum comes last. True once that is
    /// known.
    fn look_ahead(&mut self) -> io::Result<bool> {
        let is_there = match self.read_line() {
            Err(error) if error.kind() == NOTHING_GIVEN => {
                (self.at, self.reason) = (At::Damaged, error.to_string());
                return Ok(true);
            }
            read => read?,
        };
        if is_there && self.line.trim_ascii().is_empty() {
            self.blanks += 1;
            return Ok(false);
        }
        if is_there && self.blanks < BLANK_LINES && !self.line.starts_with(VERSION) {
            return Err(self.wrong("a record that does not end where it should"));
        }
        (self.at, self.is_ahead) = (At::Between, is_there);
        Ok(true)
    }

    /// Reads the first line of a record. False at the end.
    fn begin(&mut self) -> io::Result<bool> {
        if std::mem::take(&mut self.is_ahead) {
            self.start = self.read - self.line.len() as u64;
        } else {
            if self.is_taken {
                self.start = self.read;
            }
            if !self.read_line()? {
                return Ok(false);
            }
        }
        if self.line.starts_with(VERSION) {
            self.record.clear();
            self.record.extend(&self.line);
            self.number += 1;
            self.at = At::Head;
        } else if self.at == At::Between && !self.line.trim_ascii().is_empty() {
            return Err(self.wrong("something else than a record"));
        }
        Ok(true)
    }

    fn read_head(&mut self) -> io::Result<bool> {
        if !self.read_line()? {
            return Err(self.wrong("the file ends within the head of the record"));
        }
        self.record.extend(&self.line);
        if self.record.len() > HEAD_BYTES_MAX {
            return Err(self.wrong("a head that is too long"));
        }
        if self.line.trim_ascii().is_empty() {
            let length = header(&self.record, "Content-Length");
            let length = length.and_then(|length| length.parse().ok());
            let length = length.ok_or_else(|| self.wrong("a record without a Content-Length"))?;
            self.at = At::Block(length, self.kept(length));
        }
        Ok(true)
    }

    /// What becomes of the record whose head was read.
    fn kept(&self, length: u64) -> Kept {
        match header(&self.record, "WARC-Type").as_deref() {
            Some("response" | "conversion") if length > self.bytes_max as u64 => Kept::TooLong,
            Some("response" | "conversion") => Kept::Yes,
            _ => Kept::No,
        }
    }

    fn read_block(&mut self, left: u64, kept: Kept) -> io::Result<bool> {
        if left == 0 {
            (self.at, self.blanks) = (At::Behind(kept), 0);
            return Ok(true);
        }
        let bytes = self.reader.fill_buf()?;
        if bytes.is_empty() {
            return Err(self.wrong("the file ends within the record"));
        }
        let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if kept == Kept::Yes {
            self.record.extend(&bytes[..taken]);
        }
        self.reader.consume(taken);
        self.went_on(taken);
        self.at = At::Block(left - taken as u64, kept);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::members::tests::member;
    use super::super::records::Cutting;
    use super::super::records::tests::{of, records};
    use crate::format::Format;

    fn record(kind: &str, block: &str) -> String {
        let length = block.len();
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n")
    }

    fn read(file: &[u8]) -> Vec<String> {
        let cutting: Cutting = of(Format::Warc);
        let block = |line: String| match line.split_once("\r\n\r\n") {
            Some((head, block)) => {
                let number = head.split(' ').next().unwrap_or_default();
                format!("{number} {block}")
            }
            None => line,
        };
        records(file, &cutting).into_iter().map(block).collect()
    }

    #[test]
    fn responses_and_conversions_are_records() {
        let all = [
            record("warcinfo", "software: x"),
            record("response", "one\r\n\r\nWARC/1.0 is a format"),
            record("request", "GET /"),
            record("conversion", ""),
            record("conversion", "two"),
        ];
        let expected = ["2 one\r\n\r\nWARC/1.0 is a format", "4 ", "5 two"];
        assert_eq!(read(all.concat().as_bytes()), expected);
        let members: Vec<_> = all.iter().map(|record| member(record.as_bytes())).collect();
        assert_eq!(read(&members.concat()), expected);
        assert_eq!(read(b""), [""; 0]);
    }

    #[test]
    fn a_damaged_record_costs_no_other() {
        let [one, two, three] = ["one", "two", "three"].map(|text| record("response", text));
        let without = two.replace("Content-Length", "Content-Longth");
        let cut = &two[..two.len() - 6];
        let byte = one.len();
        for (damaged, reason) in [
            (&*without, "a record without a Content-Length"),
            ("WARK/1.0\r\nContent-Length: 3\r\n\r\ntwo\r\n\r\n", "something else than a record"),
        ] {
            let found = read(format!("{one}{damaged}{three}").as_bytes());
            let reason = format!("! 2 {reason}, at byte {byte} of the unpacked file");
            assert_eq!(found, ["1 one", &reason, "3 three"]);
        }
        let found = read(format!("{one}{cut}").as_bytes());
        let ends =
            format!("! 2 the file ends within the record, at byte {byte} of the unpacked file");
        assert_eq!(found, ["1 one", &ends]);
        let members = [&one, &two, &three].map(|record| member(record.as_bytes()));
        let start = members[0].len();
        let place = format!("in the member at byte {start}");
        for byte in start + 10..start + members[1].len() {
            let mut file = members.concat();
            file[byte] ^= 0xff;
            let found = read(&file);
            // What is unpacked wrongly may show itself before its checksum does.
            let is_placed = found[1].contains(&place) || found[1].contains("of the unpacked file");
            assert!(found.len() == 3 && is_placed, "{byte}: {found:?}");
            assert!(found[1].starts_with("! 2 "), "{byte}: {found:?}");
            assert_eq!((&*found[0], &*found[2]), ("1 one", "3 three"), "{byte}");
        }
    }
}

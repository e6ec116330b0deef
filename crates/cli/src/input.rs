//! Lines of a file, of a zstd-compressed file or of standard input, with their numbers.
//!
//! A line is held whole, so its length is bounded: what is longer is passed over, however long it is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::interrupt::Interrupt;

const BUFFER_BYTES: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A line without its ending.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Bytes(&'a [u8]),
    /// It was longer than wanted, and was passed over.
    TooLong,
}

pub(crate) struct Lines {
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    number: u64,
    bytes_max: usize,
}

impl Lines {
    /// Opens `path` (`-` is standard input, `.zst` is decompressed) for lines of at most `bytes_max` bytes.
    pub(crate) fn open(path: &Path, bytes_max: usize) -> io::Result<Lines> {
        Lines::open_until(&Interrupt::default(), path, bytes_max)
    }

    /// The same; standard input ends when the process is asked to end, which may be within a line.
    pub(crate) fn open_until(
        interrupt: &Interrupt,
        path: &Path,
        bytes_max: usize,
    ) -> io::Result<Lines> {
        let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, interrupt.end(io::stdin())))
        } else if path.extension().is_some_and(|e| e == "zst") {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, zstd::Decoder::new(File::open(path)?)?))
        } else {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, File::open(path)?))
        };
        Ok(Lines::of(reader, bytes_max))
    }

    fn of(reader: Box<dyn BufRead>, bytes_max: usize) -> Lines {
        Lines { reader, line: Vec::new(), number: 0, bytes_max }
    }

    /// The next line with its number, from 1, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        self.line.clear();
        // Two more than a line may have: for its ending.
        let limit = self.bytes_max as u64 + 2;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            self.line.pop_if(|byte| *byte == b'\r');
        } else if read as u64 == limit {
            self.reader.skip_until(b'\n')?;
        }
        if self.line.len() > self.bytes_max {
            return Ok(Some((self.number, Line::TooLong)));
        }
        let first = self.number == 1;
        let bytes = self.line.strip_prefix(BYTE_ORDER_MARK).filter(|_| first).unwrap_or(&self.line);
        Ok(Some((self.number, Line::Bytes(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &'static [u8], bytes_max: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::of(Box::new(text), bytes_max);
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            assert_eq!(number, all.len() as u64 + 1);
            all.push(match line {
                Line::Bytes(bytes) => Some(bytes.to_vec()),
                Line::TooLong => None,
            });
        }
        all
    }

    #[test]
    fn endings_are_taken_off_and_empty_lines_kept() {
        let expected = [Some(b"a".to_vec()), Some(b"".to_vec()), Some(b"b".to_vec())];
        assert_eq!(lines(b"a\n\nb", 9), expected);
        assert_eq!(lines(b"a\r\n\r\nb\r\n", 9), expected);
        assert_eq!(lines(b"\xef\xbb\xbfa\n\nb\n", 9), expected);
        assert_eq!(lines(b"", 9), []);
    }

    #[test]
    fn a_long_line_is_passed_over_and_the_next_is_read() {
        let around = [Some(b"1234".to_vec()), None, Some(b"x".to_vec())];
        for text in ["1234\n12345\nx\n", "1234\r\n123456\nx\n", "1234\n1234567890123\nx"] {
            assert_eq!(lines(text.as_bytes(), 4), around, "{text:?}");
        }
        assert_eq!(lines(b"123456", 4), [None]);
        assert_eq!(lines(b"12345", 4), [None]);
    }
}

//! Lines of a file, of a zstd-compressed file or of standard input, with their numbers.
//!
//! A line is held whole, so its length is bounded: what is longer is passed over, however long it is. Input that trickles in says
//! when nothing more is there at once, so that what was read need not wait for it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

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

/// The next piece of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// A line with its number, from 1.
    Line(u64, Line<'a>),
    /// Nothing more is there yet: the next step waits for it.
    Pause,
    End,
}

pub(crate) struct Lines {
    reader: Box<dyn BufRead>,
    /// The last line, or what was read so far of the next.
    line: Vec<u8>,
    number: u64,
    bytes_max: usize,
    /// The next line is too long: the rest of it is passed over.
    is_cut: bool,
    /// The line was read to its end.
    is_whole: bool,
}

impl Lines {
    /// Opens `path` (`-` is standard input, `.zst` is decompressed) for lines of at most `bytes_max` bytes.
    pub(crate) fn open(path: &Path, bytes_max: usize) -> io::Result<Lines> {
        Lines::open_until(&Interrupt::default(), path, bytes_max)
    }

    /// Like [`open`](Self::open), but pipes end when the process is asked to end, which may be within a line.
    pub(crate) fn open_until(
        interrupt: &Interrupt,
        path: &Path,
        bytes_max: usize,
    ) -> io::Result<Lines> {
        let source = source(interrupt, path)?;
        let reader: Box<dyn BufRead> = if path.extension().is_some_and(|e| e == "zst") {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, zstd::Decoder::new(source)?))
        } else {
            Box::new(BufReader::with_capacity(BUFFER_BYTES, source))
        };
        Ok(Lines::of(reader, bytes_max))
    }

    fn of(reader: Box<dyn BufRead>, bytes_max: usize) -> Lines {
        Lines { reader, line: Vec::new(), number: 0, bytes_max, is_cut: false, is_whole: false }
    }

    /// The next line with its number, from 1, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        while !self.read_line()? {}
        Ok(self.take_line())
    }

    /// Like [`next`](Self::next), but says once that nothing is there before it waits.
    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        if !self.read_line()? {
            return Ok(Step::Pause);
        }
        Ok(self.take_line().map_or(Step::End, |(number, line)| Step::Line(number, line)))
    }

    /// Reads on to the end of the next line. False if the rest of it is not there yet.
    fn read_line(&mut self) -> io::Result<bool> {
        if self.is_whole {
            self.line.clear();
            (self.is_whole, self.is_cut) = (false, false);
        }
        match self.read_to_end_of_line() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            read => read.map(|()| true),
        }
    }

    /// May fail in the middle of a line, and be called again: nothing is lost.
    fn read_to_end_of_line(&mut self) -> io::Result<()> {
        // Two more than a line may have: for its ending.
        let limit = self.bytes_max + 2;
        if !self.is_cut {
            let left = (limit - self.line.len()) as u64;
            self.reader.by_ref().take(left).read_until(b'\n', &mut self.line)?;
            self.is_cut = self.line.len() == limit && self.line.last() != Some(&b'\n');
        }
        if self.is_cut {
            self.reader.skip_until(b'\n')?;
        }
        self.is_whole = true;
        Ok(())
    }

    /// The line that was read, unless nothing was.
    fn take_line(&mut self) -> Option<(u64, Line<'_>)> {
        if self.line.is_empty() {
            return None;
        }
        self.number += 1;
        if self.line.pop_if(|byte| *byte == b'\n').is_some() {
            self.line.pop_if(|byte| *byte == b'\r');
        }
        if self.line.len() > self.bytes_max {
            return Some((self.number, Line::TooLong));
        }
        let first = self.number == 1;
        let bytes = self.line.strip_prefix(BYTE_ORDER_MARK).filter(|_| first).unwrap_or(&self.line);
        Some((self.number, Line::Bytes(bytes)))
    }
}

/// Opens `path`. A pipe is read, and opened, by another thread.
fn source(interrupt: &Interrupt, path: &Path) -> io::Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(interrupt.end(|| Ok(io::stdin()))));
    }
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_fifo() || kind.is_char_device() {
        let path = PathBuf::from(path);
        return Ok(Box::new(interrupt.end(move || File::open(path))));
    }
    Ok(Box::new(File::open(path)?))
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

    /// Gives a piece at a time, and says before each that nothing is there.
    struct Trickle(Vec<&'static [u8]>, bool);

    impl Read for Trickle {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            if self.0.is_empty() { Ok(0) } else { self.0.remove(0).read(to) }
        }
    }

    #[test]
    fn lines_that_trickle_in_are_whole_and_come_before_the_pause() {
        let pieces: Vec<&[u8]> = vec![b"one\ntw", b"o\nth", b"ree is too l", b"ong", b"\n4", b"\n"];
        let mut lines = Lines::of(Box::new(BufReader::new(Trickle(pieces, false))), 5);
        let mut seen = Vec::new();
        loop {
            seen.push(match lines.step().unwrap() {
                Step::Line(number, Line::Bytes(bytes)) => {
                    format!("{number} {}", String::from_utf8_lossy(bytes))
                }
                Step::Line(number, Line::TooLong) => format!("{number} too long"),
                Step::Pause => "-".to_owned(),
                Step::End => break,
            });
        }
        let expected = "-|1 one|-|2 two|-|-|-|3 too long|-|4 4|-";
        assert_eq!(seen.join("|"), expected);
    }
}

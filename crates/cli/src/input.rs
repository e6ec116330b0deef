//! Lines of a file or of standard input, with their numbers.
//!
//! A source is [unpacked](unpack) and [decoded](decode) by its content. Its [records](records) are lines, or made of them. A line is held whole, so its length is bounded: what is longer is passed over, however long it is. Input that trickles in says
//! when nothing more is there at once, so that what was read need not wait for it.

mod counted;
mod csv;
mod decode;
mod folder;
mod followed;
mod head;
mod joined;
mod json;
mod jump;
mod members;
mod records;
mod starts;
mod step;
mod tracked;
mod trec;
mod unpack;
mod warc;

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

pub(crate) use csv::values;
pub(crate) use folder::{Passed, files_below};
pub(crate) use followed::Followed;
pub(crate) use jump::Jump;
pub(crate) use records::{Cutting, Records};
pub(crate) use step::{Line, Step};
pub(crate) use tracked::Mark;

use crate::interrupt::Interrupt;
use decode::{BYTE_ORDER_MARK, Decoded};
use head::Bytes;
use tracked::{Source, Tracked, Untracked};
use unpack::Unpacked;

const BUFFER_BYTES: usize = 256 << 10;

pub(crate) struct Lines {
    reader: Box<dyn Source>,
    /// The last line, or what was read so far of the next.
    line: Vec<u8>,
    number: u64,
    bytes_max: usize,
    /// The next line is too long: the rest of it is passed over.
    is_cut: bool,
    /// The line was read to its end.
    is_whole: bool,
    /// Nothing is behind the line, which was cut.
    is_last: bool,
    /// The last line that was taken had an ending, as far as that is known.
    is_ended: bool,
    /// The place before the blank lines that were passed over since the last record.
    before_blanks: Option<Mark>,
}

impl Lines {
    /// Opens `path` (`-` is standard input) for lines of at most `bytes_max` bytes.
    pub(crate) fn open(path: &Path, bytes_max: usize) -> io::Result<Lines> {
        Ok(Lines::of(buffered(text(&Interrupt::default(), path)?), bytes_max))
    }

    fn of(reader: Box<dyn Source>, bytes_max: usize) -> Lines {
        Lines {
            reader,
            line: Vec::new(),
            number: 0,
            bytes_max,
            is_cut: false,
            is_whole: true,
            is_last: false,
            is_ended: true,
            before_blanks: None,
        }
    }

    /// The next line with its number, from 1, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        while !self.read_line()? {}
        Ok(self.take_line())
    }

    /// Reads on to the end of the next line. False if the rest of it is not there yet.
    fn read_line(&mut self) -> io::Result<bool> {
        if self.is_whole {
            self.line.clear();
            (self.is_whole, self.is_cut) = (false, false);
            self.reader.begin_line();
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
            // Where places are wanted nothing is waited for.
            self.is_last = self.reader.mark().is_some() && self.reader.fill_buf()?.is_empty();
        }
        self.is_whole = true;
        Ok(())
    }

    /// The line that was read, with its ending; empty at the end.
    fn bytes(&self) -> &[u8] {
        unmarked(&self.line)
    }

    /// True if a line was read that has nothing but blanks.
    fn is_blank(&self) -> bool {
        !self.line.is_empty() && !self.is_cut && self.bytes().trim_ascii().is_empty()
    }

    /// Takes a blank line, which is no record.
    fn pass_over(&mut self) {
        let before = self.before_blanks.or_else(|| self.reader.mark_before_line());
        self.take_line();
        self.before_blanks = before;
    }

    /// The place behind the last record. None if its line has no ending: it may become another one.
    fn mark(&self) -> Option<Mark> {
        self.before_blanks.or_else(|| self.reader.mark()).filter(|_| self.is_ended)
    }

    /// The place behind the record before the last line.
    fn mark_before(&self) -> Option<Mark> {
        self.before_blanks.or_else(|| self.reader.mark_before_line())
    }

    /// True if a line was read that has no ending, in a source whose places are wanted.
    fn is_unfinished(&self) -> bool {
        self.reader.mark_before_line().is_some()
            && !self.is_cut
            && self.line.last().is_some_and(|byte| *byte != b'\n')
    }

    /// The line that was read, unless nothing was.
    fn take_line(&mut self) -> Option<(u64, Line<'_>)> {
        if self.line.is_empty() {
            return None;
        }
        self.number += 1;
        self.before_blanks = None;
        self.is_ended =
            self.line.pop_if(|byte| *byte == b'\n').is_some() || self.is_cut && !self.is_last;
        if self.is_ended {
            self.line.pop_if(|byte| *byte == b'\r');
        }
        if self.line.len() > self.bytes_max {
            return Some((self.number, Line::TooLong));
        }
        Some((self.number, Line::Bytes(unmarked(&self.line))))
    }
}

/// `line` without the marks that a file begins with: files that were joined have them anywhere.
fn unmarked(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(BYTE_ORDER_MARK) {
        line = rest;
    }
    line
}

/// Opens `path` as UTF-8. Pipes end when the process is asked to end, which may be within a line.
fn text(interrupt: &Interrupt, path: &Path) -> io::Result<Bytes> {
    Ok(unpacked(source(interrupt, path)?))
}

/// The source as UTF-8.
fn unpacked(source: Bytes) -> Bytes {
    Box::new(Decoded::new(Box::new(Unpacked::new(source))))
}

fn buffered(source: impl Read + Send + 'static) -> Box<dyn Source> {
    Box::new(Untracked(BufReader::with_capacity(BUFFER_BYTES, source)))
}

/// Lines of at most `bytes_max` bytes from where `jump` leads to, behind `number` lines.
fn lines_behind(jump: Jump, rest: Bytes, number: u64, bytes_max: usize) -> Lines {
    let rest = BufReader::with_capacity(BUFFER_BYTES, rest);
    let Jump { mark, head, tail } = jump;
    let tracked = Tracked::behind(mark.bytes, [head, tail], rest);
    Lines { number, ..Lines::of(Box::new(tracked), bytes_max) }
}

fn tracked(source: impl Read + Send + 'static) -> Box<dyn Source> {
    Box::new(Tracked::new(BufReader::with_capacity(BUFFER_BYTES, source)))
}

/// Opens `path`. A pipe is read, and opened, by another thread.
fn source(interrupt: &Interrupt, path: &Path) -> io::Result<Bytes> {
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
        let mut lines = Lines::of(buffered(text), bytes_max);
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            assert_eq!(number, all.len() as u64 + 1);
            all.push(match line {
                Line::Bytes(bytes) => Some(bytes.to_vec()),
                _ => None,
            });
        }
        all
    }

    #[test]
    fn endings_are_taken_off_and_empty_lines_kept() {
        let expected = [Some(b"a".to_vec()), Some(b"".to_vec()), Some(b"b".to_vec())];
        assert_eq!(lines(b"a\n\nb", 9), expected);
        assert_eq!(lines(b"a\r\n\r\nb\r\n", 9), expected);
        assert_eq!(lines(b"\xef\xbb\xbfa\n\n\xef\xbb\xbfb\n", 9), expected);
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

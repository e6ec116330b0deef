//! A source that knows how far it was read, and what was read last.
//!
//! A place in a text is a number of bytes, and checksums of what lies before: of its beginning, and of
//! what comes right before the place. A file that has the same bytes there is the same file, whatever
//! its name is. One that was emptied and filled anew is another.

use std::io::{self, BufRead, Read};

/// Bytes that a checksum covers, at most.
pub(super) const COVERED: usize = 1024;
/// Bytes of a line that are kept until somebody asks for the place before it.
const LINE_KEPT: usize = 64 << 10;

/// A place in a text, from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) bytes: u64,
    /// Checksum of the first bytes, at most 1,024.
    pub(crate) head: u32,
    /// Checksum of the last bytes before the place, at most 1,024.
    pub(crate) tail: u32,
}

impl Mark {
    /// The mark behind `bytes` bytes that begin and end so.
    pub(super) fn of(bytes: u64, head: &[u8], tail: &[u8]) -> Mark {
        let head = &head[..head.len().min(usize::try_from(bytes).unwrap_or(COVERED))];
        let tail = &tail[tail.len().saturating_sub(COVERED)..];
        Mark { bytes, head: crc32c::crc32c(head), tail: crc32c::crc32c(tail) }
    }
}

/// Where lines come from.
pub(crate) trait Source: BufRead + Send {
    /// Notes that a line begins.
    fn begin_line(&mut self) {}

    /// The place behind what was read, if it is tracked.
    fn mark(&self) -> Option<Mark> {
        None
    }

    /// The place before the line that began last, if it is tracked.
    fn mark_before_line(&self) -> Option<Mark> {
        None
    }
}

/// A source whose place nobody asks for.
pub(crate) struct Untracked<R>(pub(crate) R);

impl<R: BufRead + Send> Source for Untracked<R> {}

impl<R: Read> Read for Untracked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl<R: BufRead> BufRead for Untracked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

/// A source that counts what is read.
pub(crate) struct Tracked<R> {
    source: R,
    bytes: u64,
    head: Vec<u8>,
    /// What was read last: the line, and at least 1,024 bytes before it if there are that many.
    tail: Vec<u8>,
    /// Bytes before the line.
    line_start: u64,
    /// The place before the line, if it is longer than what is kept of one.
    before_long: Option<Mark>,
}

impl<R> Tracked<R> {
    pub(crate) fn new(source: R) -> Tracked<R> {
        let head = Vec::with_capacity(COVERED);
        Tracked { source, bytes: 0, head, tail: Vec::new(), line_start: 0, before_long: None }
    }

    /// `source` begins behind `bytes` bytes, of which the first 1,024 are `head` and the last `tail`.
    pub(super) fn behind(bytes: u64, [head, tail]: [Vec<u8>; 2], source: R) -> Tracked<R> {
        Tracked { source, bytes, head, tail, line_start: bytes, before_long: None }
    }
}

/// The mark before a line from `start` to `end`, all of which is in `tail`.
fn before_line(start: u64, end: u64, head: &[u8], tail: &[u8]) -> Mark {
    let line = usize::try_from(end - start).unwrap_or(usize::MAX);
    Mark::of(start, head, &tail[..tail.len().saturating_sub(line)])
}

impl<R: BufRead + Send> Source for Tracked<R> {
    fn begin_line(&mut self) {
        if self.tail.len() > LINE_KEPT / 4 {
            self.tail.drain(..self.tail.len() - COVERED);
        }
        (self.line_start, self.before_long) = (self.bytes, None);
    }

    fn mark(&self) -> Option<Mark> {
        Some(Mark::of(self.bytes, &self.head, &self.tail))
    }

    fn mark_before_line(&self) -> Option<Mark> {
        let Tracked { bytes, head, tail, line_start, before_long, .. } = self;
        before_long.or_else(|| Some(before_line(*line_start, *bytes, head, tail)))
    }
}

impl<R: BufRead> Read for Tracked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Tracked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        let Tracked { source, bytes, head, tail, line_start, before_long } = self;
        // What is in the buffer is there at once.
        if let Ok(buffer) = source.fill_buf() {
            let read = &buffer[..count.min(buffer.len())];
            let missing = COVERED - head.len();
            head.extend_from_slice(&read[..read.len().min(missing)]);
            tail.extend_from_slice(read);
            if tail.len() > LINE_KEPT {
                let end = *bytes + count as u64;
                before_long.get_or_insert_with(|| before_line(*line_start, end, head, tail));
                tail.drain(..tail.len() - COVERED);
            }
        }
        source.consume(count);
        *bytes += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads lines of `text` in pieces; the marks before and behind each.
    fn marks(text: &[u8], piece: usize) -> Vec<[Option<Mark>; 2]> {
        let mut source = Tracked::new(io::BufReader::with_capacity(piece, text));
        let (mut marks, mut line) = (Vec::new(), Vec::new());
        loop {
            source.begin_line();
            line.clear();
            if source.read_until(b'\n', &mut line).unwrap() == 0 {
                return marks;
            }
            marks.push([source.mark_before_line(), source.mark()]);
        }
    }

    /// Lines of 0 to 3,000 bytes.
    fn text() -> Vec<u8> {
        let line = |n: usize| {
            let bytes = (0..n * n % 3001).map(move |at| b'a' + (at * 7 + n) as u8 % 26);
            bytes.chain([b'\n'])
        };
        (0..90).flat_map(line).collect()
    }

    #[test]
    fn a_mark_is_the_same_however_it_was_come_to() {
        let text = text();
        let whole = marks(&text, text.len());
        assert_eq!(whole.len(), 90);
        let behind = whole.iter().map(|mark| mark[1]);
        assert!(behind.eq(whole.iter().skip(1).map(|mark| mark[0]).chain([whole[89][1]])));
        for piece in [1, 7, 1024, 5000] {
            assert!(marks(&text, piece) == whole, "{piece}");
        }
    }

    #[test]
    fn other_bytes_have_another_mark() {
        let text = text();
        let last = marks(&text, 512).pop().unwrap()[1];
        for changed in [0, 1023, text.len() - 1024, text.len() - 2] {
            let mut other = text.clone();
            other[changed] ^= 1;
            assert_ne!(marks(&other, 512).pop().unwrap()[1], last, "{changed}");
        }
        assert_ne!(marks(&text[1..], 512).pop().unwrap()[1], last);
    }

    #[test]
    fn the_place_before_a_long_line_is_known_as_well() {
        let line = |byte: u8, count: usize| [vec![byte; count], vec![b'\n']].concat();
        let text = [line(b'a', 700), line(b'b', 5 * LINE_KEPT), line(b'c', 9), line(b'd', 300_000)];
        for piece in [1000, 9000, 1 << 20] {
            let marks = marks(&text.concat(), piece);
            let behind = marks.iter().map(|mark| mark[1]);
            assert!(behind.take(3).eq(marks.iter().skip(1).map(|mark| mark[0])), "{piece}");
        }
    }
}

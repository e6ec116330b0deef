//! Records of a source: the pieces that become a document each. Most are lines.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use regex::bytes::Regex;

use super::counted::Counted;
use super::csv::Rows;
use super::head::Bytes;
use super::head::Head;
use super::json::Objects;
use super::starts::Starts;
use super::step::Step;
use super::trec::Trec;
use super::warc::Warc;
use super::{Followed, Jump, Lines, Mark, buffered, lines_behind, source, tracked, unpacked};
use crate::format::Format;
use crate::interrupt::Interrupt;

/// Bytes without the end of a line that are read to know a format by its content.
const LOOK_BYTES: usize = 256 << 10;

/// How a source is cut into records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cutting {
    /// By name and content, unless set.
    pub(crate) format: Option<Format>,
    /// Between values of a row.
    pub(crate) delimiter: u8,
    /// A line that this does not match belongs to the record before.
    pub(crate) start: Option<Regex>,
    /// Places in the source are wanted.
    pub(crate) is_tracked: bool,
    /// Where the bytes of sources are counted, as they are read.
    pub(crate) read: Option<Arc<AtomicU64>>,
}

impl Cutting {
    /// Of this format, with commas between values.
    pub(crate) fn of(format: Option<Format>) -> Cutting {
        Cutting { format, delimiter: b',', ..Cutting::default() }
    }
}

pub(crate) struct Records {
    cutting: Cutting,
    /// The format that the source's name says.
    named: Option<Format>,
    stage: Stage,
}

enum Stage {
    Opening(Head),
    /// Lines; blank ones are no records.
    Lines(Lines),
    /// Lines, all of them records.
    AllLines(Lines),
    Starts(Starts),
    Rows(Box<Rows>),
    Objects(Objects),
    Warc(Box<Warc>),
    Trec(Trec),
}

impl Records {
    /// Opens `path` (`-` is standard input).
    pub(crate) fn open(
        interrupt: &Interrupt,
        path: &Path,
        cutting: &Cutting,
    ) -> io::Result<Records> {
        let source = source(interrupt, path)?;
        let source = match &cutting.read {
            Some(read) => Box::new(Counted::new(source, read.clone())),
            None => source,
        };
        let head = Head::new(unpacked(source));
        Ok(Records::of(head, Format::named(path), cutting.clone()))
    }

    /// Reads a file as it grows.
    pub(crate) fn follow(file: Followed, path: &Path, cutting: &Cutting) -> Records {
        let head = Head::new(unpacked(Box::new(file)));
        Records::of(head, Format::named(path), cutting.clone())
    }

    fn of(head: Head, named: Option<Format>, cutting: Cutting) -> Records {
        Records { cutting, named, stage: Stage::Opening(head) }
    }

    /// True if records are lines, so that the next one is known where a line ends.
    pub(crate) fn are_lines(&self) -> bool {
        matches!(self.stage, Stage::Lines(_) | Stage::AllLines(_))
    }

    /// Goes on behind record `number`, where `jump` leads to and `rest` begins. The records are lines.
    pub(crate) fn jump(&mut self, jump: Jump, rest: Bytes, number: u64) {
        if let Stage::Lines(lines) | Stage::AllLines(lines) = &mut self.stage {
            *lines = lines_behind(jump, rest, number, lines.bytes_max);
        }
    }

    /// The next record. Says once in a while that nothing more is there.
    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        if let Stage::Opening(head) = &mut self.stage {
            return match choose(head, self.cutting.format, self.named) {
                Ok(format) => self.begin(format),
                Err(error) => paused(Err(error)),
            };
        }
        match &mut self.stage {
            Stage::Lines(lines) => line(lines, true),
            Stage::AllLines(lines) => line(lines, false),
            Stage::Starts(starts) => starts.step(),
            Stage::Rows(rows) => paused(rows.step()),
            Stage::Objects(objects) => paused(objects.step()),
            Stage::Warc(warc) => paused(warc.step()),
            Stage::Trec(trec) => paused(trec.step()),
            Stage::Opening(_) => Ok(Step::Pause),
        }
    }

    /// The place behind the last record, if places are wanted and the records are of lines.
    pub(crate) fn mark(&self) -> Option<Mark> {
        match &self.stage {
            Stage::Lines(lines) | Stage::AllLines(lines) => lines.mark(),
            Stage::Starts(starts) => starts.mark(),
            Stage::Rows(rows) => rows.mark(),
            Stage::Opening(_) | Stage::Objects(_) | Stage::Warc(_) | Stage::Trec(_) => None,
        }
    }

    /// The same where nothing more was there: the next record may have begun. None if it is not known.
    pub(crate) fn mark_at_pause(&self) -> Option<Mark> {
        match &self.stage {
            Stage::Lines(lines) | Stage::AllLines(lines) => lines.mark_before(),
            _ => None,
        }
    }

    /// Gives up waiting for the names of columns, which the first row has, no more than for others.
    fn begin(&mut self, format: Format) -> io::Result<Step<'_>> {
        let bytes_max = format.record_bytes_max();
        let Stage::Opening(head) = &mut self.stage else { return Ok(Step::Pause) };
        let head = std::mem::replace(head, Head::new(Box::new(io::empty())));
        let whole = head.whole(0);
        let reader = if self.cutting.is_tracked { tracked(whole) } else { buffered(whole) };
        self.stage = match (format, self.cutting.start.take()) {
            (Format::Json, _) => Stage::Objects(Objects::new(reader, bytes_max)),
            (Format::Warc, _) => Stage::Warc(Box::new(Warc::new(reader, bytes_max))),
            (Format::Trec, _) => Stage::Trec(Trec::new(Lines::of(reader, bytes_max), bytes_max)),
            (Format::Csv, _) => {
                let lines = Lines::of(reader, bytes_max);
                // The first step begins.
                self.stage =
                    Stage::Rows(Box::new(Rows::new(lines, self.cutting.delimiter, bytes_max)));
                return self.step();
            }
            (Format::Lines, Some(start)) => {
                Stage::Starts(Starts::new(Lines::of(reader, bytes_max), start, bytes_max))
            }
            (Format::Lines, None) => Stage::AllLines(Lines::of(reader, bytes_max)),
            (Format::Tsv | Format::Jsonl | Format::Logfmt | Format::Linedocs, _) => {
                Stage::Lines(Lines::of(reader, bytes_max))
            }
        };
        Ok(Step::Begin(format, b""))
    }
}

/// The next line, without blank ones if they are to be passed over.
fn line(lines: &mut Lines, without_blank: bool) -> io::Result<Step<'_>> {
    loop {
        if !lines.read_line()? {
            return Ok(Step::Pause);
        }
        if !(without_blank && lines.is_blank()) {
            break;
        }
        lines.pass_over();
    }
    if lines.is_unfinished() {
        let before = lines.mark_before();
        return Ok(lines
            .take_line()
            .map_or(Step::End, |(number, line)| Step::Unfinished(number, line, before)));
    }
    Ok(lines.take_line().map_or(Step::End, |(number, line)| Step::Record(number, line)))
}

/// A step that found nothing there is a pause.
fn paused(step: io::Result<Step<'_>>) -> io::Result<Step<'_>> {
    match step {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Step::Pause),
        step => step,
    }
}

/// The format: as it was asked for, or as the source's name says, or as its content looks.
fn choose(head: &mut Head, asked: Option<Format>, named: Option<Format>) -> io::Result<Format> {
    if let Some(format) = asked {
        return Ok(format);
    }
    loop {
        let is_all = head.is_over() || head.bytes().len() >= LOOK_BYTES;
        if let Some(format) = Format::of(named, head.bytes(), is_all) {
            return Ok(format);
        }
        head.more()?;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Cursor, Read};

    use super::super::step::Line;
    use super::super::unpack::tests::Drops;
    use super::*;

    /// Records of `text` that trickles in: `LINE RECORD`, `!` for one that is too long, `?` where the end is missing.
    pub(crate) fn records(text: &[u8], cutting: &Cutting) -> Vec<String> {
        let drops = Box::new(Drops(Cursor::new(text.to_vec()), false));
        let drops = Head::new(unpacked(drops));
        let mut records = Records::of(drops, None, cutting.clone());
        let mut seen = Vec::new();
        loop {
            seen.push(match records.step().unwrap() {
                Step::Begin(_, b"") => continue,
                Step::Begin(_, columns) => format!("names {}", String::from_utf8_lossy(columns)),
                Step::Record(line, Line::Bytes(bytes)) => {
                    format!("{line} {}", String::from_utf8_lossy(bytes))
                }
                Step::Record(line, Line::TooLong) => format!("{line} !"),
                Step::Record(line, Line::Unclosed) => format!("{line} ?"),
                Step::Record(line, Line::Damaged(reason)) => format!("! {line} {reason}"),
                Step::Unfinished(..) => panic!("nobody asked for places"),
                Step::Pause => continue,
                Step::End => return seen,
            });
        }
    }

    pub(crate) fn of(format: Format) -> Cutting {
        Cutting::of(Some(format))
    }

    #[test]
    fn blank_lines_are_no_records_and_the_numbers_of_others_stay() {
        let text = b"\n{1}\r\n \t\r\n\xef\xbb\xbf\n\xef\xbb\xbf{2}\n\n{3}";
        for format in [Format::Jsonl, Format::Tsv, Format::Logfmt] {
            assert_eq!(records(text, &of(format)), ["2 {1}", "5 {2}", "7 {3}"]);
        }
        assert_eq!(records(b"a\n\nb", &of(Format::Lines)), ["1 a", "2 ", "3 b"]);
        assert_eq!(records(b"\n", &of(Format::Jsonl)), [""; 0]);
    }

    #[test]
    fn the_content_says_the_format_where_the_name_does_not() {
        let first = |text: &str| {
            let head = Head::new(Box::new(Cursor::new(text.as_bytes().to_vec())));
            let mut records = Records::of(head, None, Cutting::default());
            match records.step().unwrap() {
                Step::Begin(format, _) => format,
                other => panic!("{other:?}"),
            }
        };
        for (text, format) in [
            ("", Format::Lines),
            ("red fox\n", Format::Lines),
            ("[2024-01-01] red\n", Format::Lines),
            ("[] red\n", Format::Lines),
            ("{braces} in words\n", Format::Lines),
            ("{\"text\":\"a\"}\nred", Format::Jsonl),
            (" \n{\"text\":\"a\"}", Format::Jsonl),
            ("[{\"text\":\"a\"}]", Format::Json),
            ("[\n  {\n", Format::Json),
            ("{\n  \"text\": 1\n}", Format::Json),
            ("\n{ \"a\": [\n1]}", Format::Json),
        ] {
            assert_eq!(first(text), format, "{text:?}");
        }
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
        let mut lines = Lines::of(buffered(Trickle(pieces, false)), 5);
        let mut seen = Vec::new();
        loop {
            seen.push(match line(&mut lines, false).unwrap() {
                Step::Record(number, Line::Bytes(bytes)) => {
                    format!("{number} {}", String::from_utf8_lossy(bytes))
                }
                Step::Record(number, _) => format!("{number} too long"),
                Step::Pause => "-".to_owned(),
                _ => break,
            });
        }
        let expected = "-|1 one|-|2 two|-|-|-|3 too long|-|4 4|-";
        assert_eq!(seen.join("|"), expected);
    }
}

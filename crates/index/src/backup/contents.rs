//! The contents of a backup. The survey reads all of it once, so that damage is found before
//! anything is made of it.

use crate::backup::frame::{Fault, Frame, FrameKind, FrameReader, Place};
use crate::backup::to_words;
use crate::form::field_list::LIST_BYTES_MAX;
use crate::form::root::{self, Root, RootError};
use crate::ground::corrupt::checksum;
use crate::ground::ids::Position;
use crate::ground::section::{Kind, SECTION_WORDS, SECTIONS, Section, Sections};
use crate::ground::slot::{ENTRY_WORDS, Entry};

/// A backup's contents.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The root of the index.
    pub root: Root,
    /// The list of fields.
    pub fields: Vec<u8>,
    /// The contents of each executor's part.
    pub parts: Vec<PartContents>,
    /// Bytes of the file.
    pub bytes: u64,
}

/// The contents of a part.
#[derive(Clone, Debug, Default)]
pub struct PartContents {
    /// The newest segment that ever was.
    pub newest: Option<Entry>,
    /// The segments, oldest first.
    pub segments: Vec<SegmentContents>,
    /// Pieces of the log, in order.
    pub(super) log: Vec<LogPiece>,
}

/// A piece of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogPiece {
    pub(super) place: Place,
    pub(super) position: u64,
}

/// The contents of a segment.
#[derive(Clone, Copy, Debug)]
pub struct SegmentContents {
    /// The entry in its slot.
    pub entry: Entry,
    /// True if it was merged.
    pub is_merged: bool,
    pub(super) sections: Sections,
    /// The place of its first section's first piece.
    pub(super) place: Place,
}

impl PartContents {
    /// Returns the upper bound of the rows in its segments, exclusive.
    pub fn row_end(&self) -> u64 {
        self.newest.map_or(0, |entry| entry.row_end)
    }
}

impl SegmentContents {
    /// Returns its position.
    pub fn position(&self) -> Position {
        position_of(&self.entry)
    }
}

pub(super) fn position_of(entry: &Entry) -> Position {
    (entry.id >> 1) as Position
}

/// Reads a backup from its first frame to its end. Calls `seen` with the bytes read so far.
pub fn survey(reader: &mut FrameReader<'_>, seen: &mut dyn FnMut(u64)) -> Result<Contents, Fault> {
    let first = reader.next_frame()?;
    let root = root_of(&first)?;
    let mut survey = Survey { root, fields: None, logs: Vec::new(), parts: Vec::new(), open: None };
    let mut segments = Vec::new();
    // Each round reads a frame. The end frame, or the end of the file, ends the loop.
    loop {
        let before = reader.place();
        let frame = reader.next_frame()?;
        seen(reader.place().at);
        if frame.kind == FrameKind::End {
            survey.check_end(&frame, segments.is_empty())?;
            reader.check_end()?;
            let Survey { fields, parts, .. } = survey;
            let fields = fields.unwrap_or_default();
            return Ok(Contents { root, fields, parts, bytes: reader.place().at });
        }
        survey.take(&frame, &mut segments, [before, reader.place()])?;
    }
}

fn damaged(frame: &Frame, why: &'static str) -> Fault {
    Fault::Damaged { at: frame.at, why }
}

fn root_of(frame: &Frame) -> Result<Root, Fault> {
    let words: Vec<u64> = to_words(&frame.payload).collect();
    let words = <&[u64; root::WORDS]>::try_from(&words[..]);
    let words = words.ok().filter(|_| frame.kind == FrameKind::Root);
    let words = words.ok_or_else(|| damaged(frame, "it does not begin with a root"))?;
    root::parse(words, frame.at).map_err(|error| match error {
        RootError::Version { .. } => damaged(frame, "its root is of another format version"),
        _ => damaged(frame, "its root is not valid"),
    })
}

/// The frames seen so far, in the order that the format requires.
struct Survey {
    root: Root,
    fields: Option<Vec<u8>>,
    /// Pieces of logs whose parts have not ended yet, each with its executor.
    logs: Vec<(u64, LogPiece)>,
    parts: Vec<PartContents>,
    open: Option<Open>,
}

/// A segment whose pieces are being read.
struct Open {
    segment: SegmentContents,
    /// The current section, and the number of its bytes read.
    at: (usize, u64),
}

type Segments = Vec<SegmentContents>;

impl Survey {
    fn take(
        &mut self,
        frame: &Frame,
        segments: &mut Segments,
        [before, behind]: [Place; 2],
    ) -> Result<(), Fault> {
        let [a, b, c] = frame.numbers;
        match frame.kind {
            FrameKind::Log => {
                self.logs.push((a, LogPiece { place: before, position: b }));
                Ok(())
            }
            FrameKind::Segment => {
                self.close(frame, segments)?;
                self.open = Some(Open { segment: segment_of(frame, behind)?, at: (0, 0) });
                Ok(())
            }
            FrameKind::Section => match &mut self.open {
                Some(open) => open.take(frame, a, b),
                None => Err(damaged(frame, "a section belongs to no segment")),
            },
            FrameKind::Deaths if self.open.is_some() => Ok(()),
            FrameKind::Part => {
                self.close(frame, segments)?;
                self.part(frame, std::mem::take(segments), [a, b, c])
            }
            FrameKind::Fields => self.fields(frame),
            FrameKind::Deaths | FrameKind::Root | FrameKind::End => {
                Err(damaged(frame, "a frame of this kind is not allowed here"))
            }
        }
    }

    /// Takes the list of fields, which is behind all parts.
    fn fields(&mut self, frame: &Frame) -> Result<(), Fault> {
        let [bytes, ..] = frame.numbers;
        let filled_up = frame.payload.len() as u64 == bytes.next_multiple_of(8);
        let is_last = self.parts.len() as u64 == self.root.executors && self.fields.is_none();
        if !filled_up || bytes > LIST_BYTES_MAX || !is_last {
            return Err(damaged(frame, "a list of fields is misplaced or too long"));
        }
        self.fields = Some(frame.payload[..bytes as usize].to_vec());
        Ok(())
    }

    /// Ends the current segment.
    fn close(&mut self, frame: &Frame, segments: &mut Segments) -> Result<(), Fault> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.skip_done();
        if open.at.0 < SECTIONS {
            return Err(damaged(frame, "a section of the previous segment is incomplete"));
        }
        let follows = segments.last().is_none_or(|newer| {
            open.segment.position().checked_add(1) == Some(newer.position())
                && (newer.is_merged <= open.segment.is_merged)
        });
        if !follows {
            return Err(damaged(frame, "the previous segment is out of order"));
        }
        segments.push(open.segment);
        Ok(())
    }

    fn part(
        &mut self,
        frame: &Frame,
        mut segments: Segments,
        [executor, count, log_end]: [u64; 3],
    ) -> Result<(), Fault> {
        let newest = match frame.payload.len() {
            0 => None,
            _ => Some(entry_of(frame)?),
        };
        let is_newest = match (segments.first(), &newest) {
            // The table of its sections may have been written again.
            (Some(first), Some(newest)) => {
                Entry { sections_check: newest.sections_check, ..first.entry } == *newest
            }
            (first, _) => first.is_none(),
        };
        if executor != self.parts.len() as u64 || count != segments.len() as u64 || !is_newest {
            return Err(damaged(frame, "the end of a part does not match its segments"));
        }
        let from = newest.map_or(0, |entry| entry.log_from);
        let log = self.log_of(frame, executor, from..log_end)?;
        segments.reverse();
        self.parts.push(PartContents { newest, segments, log });
        Ok(())
    }

    /// Takes the pieces of an executor's log, which are complete.
    fn log_of(
        &mut self,
        frame: &Frame,
        executor: u64,
        range: std::ops::Range<u64>,
    ) -> Result<Vec<LogPiece>, Fault> {
        let pieces: Vec<LogPiece> =
            self.logs.extract_if(.., |(of, _)| *of == executor).map(|(_, piece)| piece).collect();
        let is_first = pieces.first().map_or(range.end, |piece| piece.position) == range.start;
        let ascends = pieces.is_sorted_by(|a, b| a.position < b.position);
        let ends = pieces.last().is_none_or(|last| last.position < range.end);
        if is_first && ascends && ends && range.end - range.start <= self.root.log_bytes {
            Ok(pieces)
        } else {
            Err(damaged(frame, "the end of a part does not match its log"))
        }
    }

    fn check_end(&self, frame: &Frame, no_segments: bool) -> Result<(), Fault> {
        let is_whole = self.parts.len() as u64 == self.root.executors;
        let is_whole = is_whole && self.fields.is_some();
        if is_whole && no_segments && self.open.is_none() && self.logs.is_empty() {
            Ok(())
        } else {
            Err(damaged(frame, "the file ends before all executors' parts and the list of fields"))
        }
    }
}

impl Open {
    fn section(&self) -> Option<(Kind, Section)> {
        let kind = Kind::ALL.get(self.at.0)?;
        Some((*kind, self.segment.sections.get(*kind)))
    }

    /// Moves to the next section if the current one is whole.
    fn skip_done(&mut self) {
        while self.section().is_some_and(|(_, section)| section.bytes == self.at.1) {
            self.at = (self.at.0 + 1, 0);
        }
    }

    fn take(&mut self, frame: &Frame, kind: u64, done: u64) -> Result<(), Fault> {
        self.skip_done();
        let bytes = frame.payload.len() as u64;
        let fits = self.section().is_some_and(|(wanted, section)| {
            wanted as u64 == kind
                && self.at.1 == done
                && done.checked_add(bytes).is_some_and(|end| end <= section.bytes)
        });
        self.at.1 += bytes;
        if fits { Ok(()) } else { Err(damaged(frame, "a piece of a section is out of order")) }
    }
}

fn entry_of(frame: &Frame) -> Result<Entry, Fault> {
    let words: Vec<u64> = to_words(&frame.payload).take(ENTRY_WORDS).collect();
    let words = <&[u64; ENTRY_WORDS]>::try_from(&words[..]);
    let words = words.map_err(|_| damaged(frame, "a segment's slot is incomplete"))?;
    Ok(Entry::from_words(words))
}

fn segment_of(frame: &Frame, place: Place) -> Result<SegmentContents, Fault> {
    let entry = entry_of(frame)?;
    let words: Vec<u64> = to_words(&frame.payload).skip(ENTRY_WORDS).collect();
    let table = words.len() == SECTIONS * SECTION_WORDS;
    if !table || checksum(0, &words) as u64 != entry.sections_check {
        return Err(damaged(frame, "a segment's section table does not match its checksum"));
    }
    let blocks = [(entry.long_start, entry.long_bytes), (entry.short_start, entry.short_bytes)];
    let sections = Sections::parse(&words, entry.long_start, blocks);
    let sections = sections.map_err(|corrupt| damaged(frame, corrupt.why))?;
    let [position, is_merged, _] = frame.numbers;
    if position != entry.id >> 1 || position > Position::MAX as u64 || is_merged > 1 {
        return Err(damaged(frame, "a segment does not match its slot"));
    }
    Ok(SegmentContents { entry, is_merged: is_merged == 1, sections, place })
}

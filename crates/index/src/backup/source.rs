//! The source of a backup: a part, at rest or while a writer changes it. It reads the part's slots,
//! and the point of its operation order up to which it is copied.
//!
//! # Orderings
//!
//! The reader may be another process, so it does not wait for the writer, nor the writer for it. It
//! reads data, and then a mark that was stored before the data could be overwritten. The fence
//! keeps these loads in order. This needs stores of the writer to keep their order too.

use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use spirit_mem::Region;

use crate::backup::deaths::{Bits, Early};
use crate::backup::frame::{FrameKind, FrameWriter, PAYLOAD_BYTES_MAX};
use crate::form::shape;
use crate::ground::corrupt::Corrupt;
use crate::ground::geometry::{Geometry, GeometryError, Settings};
use crate::ground::ids::{Position, State};
use crate::ground::layout::NvmLayout;
use crate::ground::section::Sections;
use crate::ground::slot::{Entry, Mark, Slots};
use crate::log::log_reader::LogReader;
use crate::log::{GroupEnd, LogSpace};
use crate::rows::STAMP_MAX;
use crate::rows::stamps::Stamps;

/// Number of rows behind a segment's first from which on death stamps are saturated. A saturated
/// stamp does not say which row's operation it names.
const FAR_ROWS: u64 = STAMP_MAX as u64 - 1;
/// Number of tries to read a slot that may be rewritten meanwhile.
const TRIES: usize = 64;
/// Bytes behind the log's end in which records are searched: longer than almost any record.
const LOOK_BYTES: u64 = 1 << 20;

/// A part that is copied, mapped from offset 0 of a region.
pub struct Source<'a> {
    pub(super) region: &'a Region,
    pub(super) geometry: Geometry,
    pub(super) layout: NvmLayout,
    /// The log, and the newest incarnation that may have written to it; `None` if operations are
    /// not logged.
    log: Option<(LogSpace, u32)>,
    /// True if the index was closed, so that its log ends with a whole record.
    closed: bool,
    far_rows: u64,
    /// True if rows may have died by operations that are lost.
    has_all_deaths: bool,
}

/// The point up to which a part is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// The newest segment that ever was. Its slot says where the log continues.
    pub newest: Option<(Position, Entry)>,
    /// End of the copied log.
    pub log_end: u64,
    /// Number of operations in the copied log.
    pub operations: u64,
    /// Upper bound of the rows that stamps from before name, exclusive.
    pub(super) row_limit: u64,
}

impl Point {
    pub(super) fn log_from(&self) -> u64 {
        self.newest.map_or(0, |(_, entry)| entry.log_from)
    }

    /// Returns the upper bound of the rows in the copied segments, exclusive.
    pub fn row_end(&self) -> u64 {
        self.newest.map_or(0, |(_, entry)| entry.row_end)
    }
}

impl<'a> Source<'a> {
    /// Makes the source of the part in `region`. `settings` are those of an index of its sizes.
    /// `log` has the initial value of the log's checksums and the newest incarnation, if operations
    /// are logged. `closed` is true if the index was closed in an orderly way.
    pub fn new(
        region: &'a Region,
        settings: Settings,
        log: Option<(u32, u32)>,
        closed: bool,
    ) -> Result<Source<'a>, GeometryError> {
        let geometry = Geometry::new(settings)?;
        let layout = geometry.nvm.expect("the settings have a second tier");
        let (start, bytes) = layout.log;
        let log = log.map(|(salt, incarnation)| (LogSpace { start, bytes, salt }, incarnation));
        Ok(Source {
            region,
            geometry,
            layout,
            log,
            closed,
            far_rows: FAR_ROWS,
            has_all_deaths: false,
        })
    }

    /// Sets the distance in rows from which on segments count as far back. For tests: 2^32 rows are
    /// many.
    pub fn with_far_rows(self, rows: u64) -> Source<'a> {
        Source { far_rows: rows, ..self }
    }

    /// Accepts any death. For the salvage of a part whose log may have lost the operation.
    pub fn with_all_deaths(self) -> Source<'a> {
        Source { has_all_deaths: true, ..self }
    }

    fn slots(&self) -> Slots<'_> {
        Slots::new(self.region, &self.layout)
    }

    /// Returns the state of the segment at `position`, if it lives. The load follows all earlier
    /// loads.
    pub(super) fn state(&self, position: Position) -> Result<Option<State>, Corrupt> {
        fence(SeqCst);
        self.slots().state(position)
    }

    /// Returns the newest segment that ever was.
    fn newest(&self) -> Result<Option<(Position, Entry)>, Corrupt> {
        let mut tries = 0..TRIES;
        loop {
            let Some(position) = self.newest_position()? else { return Ok(None) };
            match self.slots().entry(position) {
                Ok(entry) => {
                    shape::check_numbers(&self.geometry, &entry)?;
                    return Ok(Some((position, entry)));
                }
                // Its slot may belong to another segment by now.
                Err(_) if tries.next().is_some() && self.newest_position()? > Some(position) => {}
                Err(corrupt) => return Err(corrupt),
            }
        }
    }

    fn newest_position(&self) -> Result<Option<Position>, Corrupt> {
        fence(SeqCst);
        let slots = self.slots();
        let mut newest = None;
        for index in 0..slots.count() {
            newest = match slots.mark(index)? {
                Mark::Empty => newest,
                Mark::Live(position, _) | Mark::Retired(position) => newest.max(Some(position)),
            };
        }
        Ok(newest)
    }

    /// Returns the slot entry and the sections of a segment.
    pub(super) fn sections(&self, position: Position) -> Result<(Entry, Sections), Corrupt> {
        let slots = self.slots();
        let entry = slots.entry(position)?;
        crate::backup::check_blocks(&self.layout, slots.place(position), &entry)?;
        let sections = Sections::of(self.region, &entry)?;
        shape::check(self.region, &self.geometry, &entry, &sections)?;
        Ok((entry, sections))
    }

    /// Returns the rows that are dead now.
    pub fn early_deaths(&self) -> Result<Early, Corrupt> {
        let mut early = Early::default();
        let newest = self.newest_position()?;
        for position in (0..newest.map_or(0, |newest| newest + 1)).rev() {
            match self.dead_rows(position)? {
                Some((_, dead)) => early.set(position, dead),
                None => break,
            }
        }
        Ok(early)
    }

    /// Reads the deaths again of segments so far back that their stamps are saturated. It runs
    /// after the newest segment is settled, whose operations have killed their rows. It runs before
    /// the log is read, which has the operations of all other deaths.
    pub fn renew_far_deaths(&self, point: &Point, early: &mut Early) -> Result<(), Corrupt> {
        let Some((newest, _)) = point.newest else { return Ok(()) };
        for position in (0..=newest).rev() {
            let Some(base_row) = self.base_row(position)? else { return Ok(()) };
            if !self.is_far(base_row, point) {
                continue;
            }
            let Some((_, dead)) = self.dead_rows(position)? else { return Ok(()) };
            early.set(position, dead);
        }
        Ok(())
    }

    fn base_row(&self, position: Position) -> Result<Option<u64>, Corrupt> {
        let entry = self.slots().entry(position);
        match self.state(position)? {
            None => Ok(None),
            Some(_) => entry.map(|entry| Some(entry.base_row)),
        }
    }

    /// True if saturated stamps of a segment with this first row may name a row before or behind
    /// the point's.
    pub(super) fn is_far(&self, base_row: u64, point: &Point) -> bool {
        base_row.saturating_add(self.far_rows) < point.row_end()
    }

    /// Returns the dead rows of the segment at `position`, if it lives.
    fn dead_rows(&self, position: Position) -> Result<Option<(Entry, Bits)>, Corrupt> {
        if self.state(position)?.is_none() {
            return Ok(None);
        }
        let found = self.sections(position).map(|(entry, sections)| {
            let dead = Bits::of_dead(self.region, Stamps::of(&sections), entry.rows as u32);
            (entry, dead)
        });
        match self.state(position)? {
            None => Ok(None),
            Some(_) => found.map(Some),
        }
    }

    /// Returns a point whose newest segment is settled.
    pub fn point(&self) -> Result<Point, Corrupt> {
        Ok(Point { newest: self.newest()?, ..Point::default() })
    }

    /// Reads the log behind the point's newest segment. Returns one past the highest sequence
    /// number seen. Returns `None` if that segment is not the newest any more: the log may have
    /// been overwritten.
    pub fn read(&self, point: &mut Point) -> Result<Option<u64>, Corrupt> {
        match self.read_log(point) {
            Ok(sequence_end) => Ok(Some(sequence_end)),
            Err(_) if !self.still_holds(point)? => Ok(None),
            Err(corrupt) => Err(corrupt),
        }
    }

    /// Reads the log to its end. Returns one past the highest sequence number in it or in segments.
    fn read_log(&self, point: &mut Point) -> Result<u64, Corrupt> {
        let mut sequence_end = point.newest.map_or(0, |(_, entry)| entry.sequence_end);
        let (mut row_end, mut replayed) = (point.row_end(), 0);
        point.row_limit = row_end;
        if self.has_all_deaths {
            point.row_limit = u64::MAX;
        }
        let Some(mut reader) = self.log_reader(point) else { return Ok(sequence_end) };
        let mut end = None;
        // The loop ends when no whole record is behind the end, or when a second look finds nothing
        // new.
        loop {
            while let Some(record) = reader.next_record() {
                let header = record.header;
                // Of a group, the offset counts, which is durable after all parts.
                let record_end = match record.group_end() {
                    Some(GroupEnd { number, offset }) => offset.map_or(0, |_| number),
                    None => record.operations_end(),
                };
                sequence_end = sequence_end.max(record_end);
                row_end = row_end.max(header.row + u64::from(header.operations));
                replayed += record.rows_max();
            }
            point.row_limit = if self.has_all_deaths { u64::MAX } else { row_end + replayed };
            fence(SeqCst);
            match reader.check_end(LOOK_BYTES) {
                Ok(()) if self.closed && reader.has_remains() => {
                    let why = "it is damaged, but the index was closed in an orderly way";
                    let at = self.layout.log.0 + reader.position() % self.layout.log.1;
                    return Err(Corrupt { what: "log record", at, why });
                }
                Ok(()) => return Ok(sequence_end),
                // No record has been written there since.
                Err(corrupt) if end == Some(reader.position()) => return Err(corrupt),
                // A whole record is behind one that was incomplete when it was read: read on.
                Err(_) => end = Some(reader.position()),
            }
        }
    }

    fn log_reader(&self, point: &Point) -> Option<LogReader<'_>> {
        let (space, incarnation) = self.log?;
        Some(LogReader::new(self.region, space, point.log_from(), incarnation))
    }

    /// Copies the log behind the point's newest segment, up to the first record of `sequence_end`
    /// or later. The copy counts if the point [still holds](Self::still_holds) afterwards.
    pub fn copy_log(
        &self,
        executor: u64,
        point: &mut Point,
        sequence_end: u64,
        frames: &mut FrameWriter<'_>,
    ) -> io::Result<()> {
        point.log_end = point.log_from();
        point.operations = 0;
        let Some(mut reader) = self.log_reader(point) else { return Ok(()) };
        while let Some(record) = reader.next_record() {
            let header = record.header;
            // A group is copied whole or not at all: its number says so of all its parts, whose
            // sequence numbers may lie between each other's.
            let is_later = match record.group_end() {
                Some(end) => end.number > sequence_end,
                // A cancellation goes with what it cancels.
                None => header.operations > 0 && header.sequence >= sequence_end,
            };
            if is_later {
                break;
            }
            point.operations += u64::from(header.operations);
            point.log_end = reader.position();
        }
        let mut payload = Vec::new();
        let mut position = point.log_from();
        while position < point.log_end {
            let lap = self.layout.log.1 - position % self.layout.log.1;
            let bytes = PAYLOAD_BYTES_MAX.min(lap).min(point.log_end - position);
            payload.clear();
            let at = self.layout.log.0 + position % self.layout.log.1;
            self.region.read_words(at, bytes, &mut payload);
            frames.write(FrameKind::Log, [executor, position, 0], &payload)?;
            position += bytes;
        }
        Ok(())
    }

    /// True if the point's newest segment is still the newest. Then its log has not been
    /// overwritten.
    pub fn still_holds(&self, point: &Point) -> Result<bool, Corrupt> {
        Ok(self.newest_position()? == point.newest.map(|(position, _)| position))
    }

    /// Returns the number of segments up to the point's, and their bytes.
    pub fn live(&self, point: &Point) -> (u64, u64) {
        let Some((newest, _)) = point.newest else { return (0, 0) };
        let slots = self.slots();
        let live = |position: &Position| matches!(self.state(*position), Ok(Some(_)));
        let entries = (0..=newest).rev().take_while(live).map_while(|p| slots.entry(p).ok());
        entries.fold((0, 0), |(segments, bytes): (u64, u64), entry| {
            (segments + 1, bytes.saturating_add(entry.long_bytes).saturating_add(entry.short_bytes))
        })
    }

    /// Returns the bytes of the log behind the point's newest segment that were copied.
    pub fn log_bytes(&self, point: &Point) -> u64 {
        point.log_end - point.log_from()
    }
}

#[cfg(test)]
mod tests {
    use spirit_door::{Barrier, Door};
    use spirit_mem::Residency;

    use super::*;
    use crate::ground::blocks::Blocks;
    use crate::ground::geometry::Postings;
    use crate::ground::layout::NvmSettings;
    use crate::ground::parts::Parts;
    use crate::log::{Header, LogWriter, LoggedKey, Operations, RecordKind};

    const SALT: u32 = 77;
    const SETTINGS: Settings = Settings {
        dram_bytes: 16 << 20,
        segment_bytes: 64 << 10,
        blocks: Blocks::Variable { doublings: 1 },
        positions: true,
        store: false,
        postings: Postings::Raw,
        residency: Residency::OnTouch,
        parts: Parts { short: 0, long: 0, dictionary: 0 },
        nvm: Some(NvmSettings {
            bytes: 4 << 20,
            log_bytes: 64 << 10,
            parts: Parts { short: 0, long: 0, dictionary: 0 },
        }),
    };

    /// What an executor logs of a group: documents from a sequence number on, and the end.
    fn log(writer: &mut LogWriter, region: &Region, sequence: u64, count: u32, end: GroupEnd<'_>) {
        let mut operations = Operations::default();
        (0..count).for_each(|_| operations.push(LoggedKey::Automatic(0), b"text", &[]));
        operations.push_end(end);
        let (kind, row, documents) = (RecordKind::Add, 0, 0);
        let header = Header { kind, operations: count, sequence, row, documents, arrived_ms: 0 };
        let door = Door::new(Barrier::Order);
        writer.append(&door, region, header, operations.first(count as usize + 1));
    }

    fn regions<const N: usize>() -> [Region; N] {
        [(); N].map(|()| Region::reserve(4 << 20, Residency::OnTouch).unwrap())
    }

    fn sources<const N: usize>(regions: &[Region; N]) -> [Source<'_>; N] {
        regions
            .each_ref()
            .map(|region| Source::new(region, SETTINGS, Some((SALT, 1)), false).unwrap())
    }

    fn writers<const N: usize>(sources: &[Source<'_>; N]) -> [LogWriter; N] {
        sources.each_ref().map(|source| {
            let (start, bytes) = source.layout.log;
            LogWriter::new(LogSpace { start, bytes, salt: SALT }, 0, 1)
        })
    }

    /// The sequence numbers of a group's parts lie between each other's. One part was read and the
    /// others come while the log is copied.
    #[test]
    fn a_group_is_copied_whole_or_not_at_all_whichever_part_came_first() {
        let regions = regions::<3>();
        let sources = sources(&regions);
        let mut writers = writers(&sources);
        let ends = [Some(&b"offset"[..]), None].map(|offset| GroupEnd { number: 30, offset });
        log(&mut writers[1], &regions[1], 1, 2, ends[1]);
        let mut points = sources.each_ref().map(|source| source.point().unwrap());
        let read = [0, 1, 2].map(|n| sources[n].read(&mut points[n]).unwrap().unwrap());
        log(&mut writers[2], &regions[2], 20, 1, ends[1]);
        log(&mut writers[0], &regions[0], 2, 1, ends[0]);
        // The second number is of a document that came after the group.
        for (number, is_whole) in [(read.into_iter().max().unwrap(), false), (31, true)] {
            let mut out = Vec::new();
            let mut frames = FrameWriter::new(&mut out).unwrap();
            for n in 0..3 {
                sources[n].copy_log(n as u64, &mut points[n], number, &mut frames).unwrap();
            }
            let copied = points.map(|point| point.log_end > 0);
            assert_eq!(copied, [is_whole; 3], "up to {number}");
        }
    }

    /// The first executor has only the offsets of the groups. The second has all documents.
    #[test]
    fn a_group_is_copied_whole_or_not_at_all_while_others_come() {
        let regions = regions::<2>();
        let sources = sources(&regions);
        let mut writers = writers(&sources);
        let mut group = |first: u64| {
            let number = first + 3;
            let ends = [Some(&b"offset"[..]), None].map(|offset| GroupEnd { number, offset });
            let [offsets, parts] = &mut writers;
            log(parts, &regions[1], first, 2, ends[1]);
            log(offsets, &regions[0], 0, 0, ends[0]);
            [offsets.position(), parts.position()]
        };
        let settled = group(1);
        let mut points = sources.each_ref().map(|source| source.point().unwrap());
        let ends = [0, 1].map(|n| sources[n].read(&mut points[n]).unwrap().unwrap());
        assert_eq!(ends, [4, 0]);
        let later = group(4);
        for (number, ends) in [(4, settled), (7, later)] {
            let mut out = Vec::new();
            let mut frames = FrameWriter::new(&mut out).unwrap();
            for n in 0..2 {
                sources[n].copy_log(n as u64, &mut points[n], number, &mut frames).unwrap();
            }
            assert_eq!(points.map(|point| point.log_end), ends);
        }
    }
}

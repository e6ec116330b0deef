//! Salvage of the log: all whole records that no segment contains are written one behind the other.
//! So a start reads past damaged ones.

use std::ops::Range;

use spirit_door::Site;

use crate::check::check_record;
use crate::ground::corrupt::Corrupt;
use crate::ground::slot::Entry;
use crate::log::log_reader::{LogReader, Record};
use crate::log::{GroupEnd, HEADER_BYTES, LogSpace, LogWriter, LoggedOperation, RecordKind};
use crate::salvage::Salvage;

/// The groups that are known to be complete, by the first executor's log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Groups {
    /// The number of the last group whose offset is known; `None` in the first executor's own log.
    pub last: Option<u64>,
}

impl Salvage<'_> {
    /// Keeps the whole records whose documents' fields `admits` accepts. Returns the groups that
    /// are known to be complete.
    pub fn log(&mut self, groups: Groups, admits: &dyn Fn(&[u8]) -> bool) -> Groups {
        let Some(logged) = self.logged else { return groups };
        let (start, bytes) = self.layout.log;
        let space = LogSpace { start, bytes, salt: logged.salt };
        let newest = self.newest_entry();
        let from = newest.map_or(0, |entry| entry.log_from);
        let reader = LogReader::new(self.region, space, from, logged.incarnation);
        let found = reader.whole_records();
        let last = found.last().map(|record| record.position);
        let mut kept = Kept::new(from, groups.last);
        for record in found {
            let is_last = Some(record.position) == last;
            if !kept.is_left_over(&space, &record, is_last) {
                self.take(&space, record, &mut kept, admits);
            }
        }
        self.note_end(&space, logged.closed, logged.incarnation, &kept);
        self.write_log(space, from, logged.incarnation, &kept.records);
        let last = kept.records.iter().filter_map(Record::offset_number).max();
        Groups { last: Some(groups.last.unwrap_or(0).max(last.unwrap_or(0))) }
    }

    fn newest_entry(&self) -> Option<Entry> {
        let newest = self.marks().map(|(position, _)| position).max()?;
        self.entry(newest)
    }

    /// Keeps a record if it can follow those before it.
    fn take(
        &mut self,
        space: &LogSpace,
        record: Record,
        kept: &mut Kept,
        admits: &dyn Fn(&[u8]) -> bool,
    ) {
        let header = record.header;
        let end = record.position + record.bytes();
        kept.incarnation = record.incarnation;
        if !kept.is_next(space, record.position) {
            let why = "it is damaged, but later records are whole";
            self.lose_log(space, kept.next..record.position, why, None);
            // The record that it cancels was lost.
            if header.kind == RecordKind::Cancel {
                kept.next = end;
                return;
            }
        }
        kept.next = end;
        if header.kind == RecordKind::Skip {
            // It takes the rest of its lap.
            kept.next = record.position + space.left(record.position);
            return;
        }
        match kept.refuses(&record, admits) {
            Some(why) => {
                let count = Some(u64::from(header.operations));
                self.lose_log(space, record.position..end, why, count);
            }
            None => {
                kept.sequence = match header.kind {
                    RecordKind::Cancel => header.sequence,
                    _ => record.operations_end(),
                };
                kept.records.push(record);
            }
        }
    }

    fn lose_log(
        &mut self,
        space: &LogSpace,
        positions: Range<u64>,
        why: &'static str,
        documents_max: Option<u64>,
    ) {
        let at = space.place(positions.start);
        // An operation takes two words, and its record a header.
        let bytes = positions.end - positions.start;
        let documents_max = documents_max.unwrap_or(bytes.saturating_sub(HEADER_BYTES) / 16);
        self.lose(Corrupt { what: "log record", at, why }, Some(documents_max));
    }

    /// Notes a loss at the log's end: the last record of a closed index was whole.
    fn note_end(&mut self, space: &LogSpace, closed: bool, incarnation: u32, kept: &Kept) {
        let reader = LogReader::new(self.region, *space, kept.next, incarnation);
        if closed && reader.has_remains() {
            let why = "it is damaged, but the index was closed in an orderly way";
            let at = space.place(kept.next);
            self.lose(Corrupt { what: "log record", at, why }, None);
        }
    }

    /// Writes the log again from `from` on.
    fn write_log(&mut self, space: LogSpace, from: u64, incarnation: u32, records: &[Record]) {
        let zeros = [0; 512];
        for at in (space.start..space.start + space.bytes).step_by(zeros.len() * 8) {
            self.door.write_words(Site::LogRecord, self.region, at, &zeros);
        }
        let mut writer = LogWriter::new(space, from, incarnation);
        let mut records = records.iter();
        for record in records.by_ref() {
            let bytes = record.bytes() - HEADER_BYTES;
            if writer.end_with(from, bytes, 0).is_none() {
                let why = "the new log has no room for it";
                self.lose_log(&space, record.position..record.position, why, None);
                break;
            }
            writer.append(&self.door, self.region, record.header, record.operation_bytes());
        }
        for record in records {
            let why = "the new log has no room for it";
            let count = Some(u64::from(record.header.operations));
            self.lose_log(&space, record.position..record.position, why, count);
        }
    }
}

/// The records that are kept so far.
struct Kept {
    /// Position of the next record.
    next: u64,
    /// The incarnation that wrote the last record.
    incarnation: u32,
    /// One past the last sequence number.
    sequence: u64,
    records: Vec<Record>,
    first_group: Option<u64>,
}

impl Kept {
    fn new(next: u64, first_group: Option<u64>) -> Kept {
        Kept { next, incarnation: 0, sequence: 0, records: Vec::new(), first_group }
    }

    /// True if a whole record never counted. An earlier start may have left it. The first record of
    /// a lap is begun together with the filler of the lap before. So after a cut it may be whole
    /// alone.
    fn is_left_over(&self, space: &LogSpace, record: &Record, is_last: bool) -> bool {
        let begins_lap = record.position.is_multiple_of(space.bytes);
        record.position < self.next
            || record.incarnation < self.incarnation
            || (is_last && begins_lap && !self.is_next(space, record.position))
    }

    /// True if a record at `position` is the next one. At the end of a lap there may be a gap that
    /// is too short for a header.
    fn is_next(&self, space: &LogSpace, position: u64) -> bool {
        let left = space.left(self.next);
        position == self.next || (left < HEADER_BYTES && position == self.next + left)
    }

    /// Returns the reason why a whole record does not count, if it does not.
    fn refuses(&self, record: &Record, admits: &dyn Fn(&[u8]) -> bool) -> Option<&'static str> {
        let header = record.header;
        if header.kind == RecordKind::Cancel {
            return None;
        }
        if header.sequence < self.sequence {
            return Some("its operations are older than those before it");
        }
        if let Err(why) = check_record(record) {
            return Some(why);
        }
        if !record.operations().all(|LoggedOperation { fields, .. }| admits(fields)) {
            return Some("a document in it has fields that are not in the list of fields");
        }
        let is_unended = match record.group_end() {
            Some(GroupEnd { number, offset: None }) => {
                self.first_group.is_some_and(|last| number > last)
            }
            _ => false,
        };
        is_unended.then_some("its group has no end")
    }
}

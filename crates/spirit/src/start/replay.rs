//! Replay: a start ingests every operation in the log that no engraved segment has.
//!
//! An operation keeps its sequence number and its key. It gets a new row, above all rows in the
//! log. So a death stamp that was left by an operation in the log counts after the replay.
//!
//! Two durable changes remain if the replay is interrupted. Segments that it engraved stay, and the
//! next start replays the rest of the log. Deaths that it stamped in engraved segments stay; the
//! same operations would stamp them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::Corrupt;
use spirit_index::log::{
    GroupEnd, Header, LogSpace, LoggedKey, LoggedOperation, LoggedText, RecordKind,
};
use spirit_index::log::{LogReader, Record};
use spirit_index::start::recover::Recovered;
use spirit_mem::Region;
use spirit_schema::Schema;

use crate::config::error::WriteError;
use crate::config::source::Source;
use crate::storage::shared::{Numbers, Shared};
use crate::write::contents::{Called, Contents, Drawn};
use crate::write::ingest::{Committed, Ingester};

/// The most bytes of log that a closing index leaves to be replayed.
pub(crate) const LOG_BYTES_LEFT: u64 = 64 << 10;
/// The bytes after the log's end that are searched for further records: more than almost any record
/// has.
const LOOK_BYTES: u64 = 1 << 20;
/// Like [`LOOK_BYTES`], but for an index that was closed, which leaves little in the log.
const LOOK_BYTES_CLOSED: u64 = 2 * LOG_BYTES_LEFT;

/// The result of a scan of the log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// One past the highest row number in use.
    pub(crate) row_end: u64,
    /// The place where the log ends.
    pub(crate) position: u64,
    /// One past the last sequence number in the log.
    pub(crate) sequence: u64,
    /// True if there are operations that may kill a row.
    pub(crate) kills: bool,
    /// The arrival of its newest document, in milliseconds since 1970.
    pub(crate) arrived_ms: u64,
    /// The number of the last group whose offset the log has.
    pub(crate) group: u64,
    /// A part of a group that was never ended, and the place of its record, which is the log's
    /// last.
    pub(crate) unended: Option<(u64, Refused)>,
}

/// Scans the log without replaying it. Fields of documents have to be in `schema`. `group` is the
/// number of the last group whose offset the earlier logs have.
pub(crate) fn scan(
    region: &Region,
    space: LogSpace,
    recovered: &Recovered,
    incarnation: u32,
    was_closed: bool,
    group: u64,
    schema: &Schema,
) -> Result<Found, Corrupt> {
    let mut reader = LogReader::new(region, space, recovered.log_from, incarnation).ahead();
    let mut found = Found { row_end: recovered.row_end, group, ..Found::default() };
    let mut before = (0, group);
    while let Some(record) = reader.next_record() {
        let header = record.header;
        if header.kind == RecordKind::Cancel {
            found.cancel(header.sequence, before);
        }
        if let Some((position, _)) = found.unended {
            let at = space.start + position % space.bytes;
            let why = "it belongs to a group that never ended, and records follow it";
            return Err(Corrupt { what: "log record", at, why });
        }
        if !record.operations().all(|operation| schema.admits(operation.fields)) {
            let at = space.start + record.position % space.bytes;
            let why = "a document in it has fields that are not in the list of fields";
            return Err(Corrupt { what: "log record", at, why });
        }
        found.row_end = found.row_end.max(header.row + u64::from(header.operations));
        found.kills |= record.may_kill(recovered.explicit_end);
        found.arrived_ms = found.arrived_ms.max(header.arrived_ms);
        before = (record.operations_end(), found.group);
        found.note_group(&record);
    }
    (found.position, found.sequence) = (reader.position(), reader.sequence());
    reader.check_end(if was_closed { LOOK_BYTES_CLOSED } else { LOOK_BYTES })?;
    Ok(found)
}

impl Found {
    /// Notes that a record ends a group, or is a part of a group that has not ended.
    fn note_group(&mut self, record: &Record) {
        match record.group_end() {
            Some(GroupEnd { number, offset: Some(_) }) => self.group = number,
            Some(GroupEnd { number, offset: None }) if number > self.group => {
                let Header { sequence, row, .. } = record.header;
                self.unended = Some((record.position, Refused { sequence, row }));
            }
            _ => {}
        }
    }

    /// Cancels the operations of the previous record from `sequence` on, which did not take effect.
    /// The record ended before sequence number `before.0`; the group before it was `before.1`.
    fn cancel(&mut self, sequence: u64, before: (u64, u64)) {
        if sequence < before.0 {
            (self.group, self.unended) = (before.1, None);
        }
    }
}

/// Raises the numbers that all executors draw from above those in use.
pub(crate) fn raise(numbers: &Numbers, recovered: &Recovered) {
    numbers.sequence.fetch_max(recovered.sequence_end, Relaxed);
    numbers.documents.fetch_max(recovered.documents_end, Relaxed);
    numbers.explicit_end.fetch_max(recovered.explicit_end, Relaxed);
}

/// Operations at the log's end that were refused, but whose cancel record a crash prevented.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    /// The sequence number of the first refused operation.
    pub(crate) sequence: u64,
    /// The row number after the rows of the operations before it.
    pub(crate) row: u64,
}

/// The log of an executor that is replayed.
pub(crate) struct Replay<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) space: LogSpace,
    /// The incarnation of this start.
    pub(crate) incarnation: u32,
    pub(crate) recovered: &'a Recovered,
    /// The part of an unended group that [`scan`] found.
    pub(crate) unended: Option<(u64, Refused)>,
    /// True if there is less room than before the start. An operation without room is then an
    /// error.
    pub(crate) less_room: bool,
    /// The source of texts that the log only refers to.
    pub(crate) source: Option<&'a Source>,
}

impl Replay<'_> {
    /// Replays the log. After each record it calls `watch` with the record's end and the number of
    /// its operations that took effect. Returns the operations at the end that were refused, if
    /// any.
    pub(crate) fn run(
        &self,
        role: &mut Ingester,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<Refused>, WriteError> {
        let Replay { shared, space, recovered, .. } = self;
        let region = shared.memory.region();
        let mut reader = LogReader::new(region, *space, recovered.log_from, self.incarnation);
        let mut next = reader.next_record();
        while let Some(record) = next {
            if let Some((_, refused)) = self.unended.filter(|(at, _)| *at == record.position) {
                // Sequence numbers in the log never fall. So it continues above the refused ones.
                shared.numbers.sequence.fetch_max(refused.sequence, Relaxed);
                return Ok(Some(refused));
            }
            next = reader.next_record();
            let mut end = u64::MAX;
            if let Some(cancel) = next.take_if(|r| r.header.kind == RecordKind::Cancel) {
                end = cancel.header.sequence;
                next = reader.next_record();
            }
            role.journal().replay(record.position);
            role.replay_arrival(record.header.arrived_ms);
            let first = recovered.sequence_end.max(record.header.sequence);
            let range = first..record.operations_end().min(end).max(first);
            let applied = self.apply(role, &record, &range);
            let in_range = record.operations().filter(|one| range.contains(&one.sequence));
            watch(record.position + record.bytes(), in_range.count() as u64);
            shared.numbers.documents.fetch_max(role.documents_end(), Relaxed);
            match (applied, &next) {
                (Ok(()), _) if record.operations_end() <= end => {
                    self.note_offset(role, &record, range.is_empty())?;
                }
                (Ok(()), _) => {}
                // Acknowledged operations found room in a key table of this size. So these were
                // refused.
                (Err((sequence, WriteError::KeysFull)), None) if !self.less_room => {
                    let before = record.operations().take_while(|one| one.sequence < sequence);
                    let row = record.header.row + before.count() as u64;
                    return Ok(Some(Refused { sequence, row }));
                }
                (Err((_, error)), _) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Takes over the offset of a record that took effect, if it has one. A record without rows
    /// gets one, since the offset is logged again after a segment.
    fn note_offset(
        &self,
        role: &mut Ingester,
        record: &Record,
        is_empty: bool,
    ) -> Result<(), WriteError> {
        let Some(GroupEnd { number, offset: Some(offset) }) = record.group_end() else {
            return Ok(());
        };
        let end = record.position + record.bytes();
        role.journal().replay_offset(offset, number, record.position, end);
        if is_empty { role.mark(record.header.sequence) } else { Ok(()) }
    }

    /// Ingests the operations of a record whose sequence numbers are in `range`. The error has the
    /// sequence number of the first operation that did not take effect.
    fn apply(
        &self,
        role: &mut Ingester,
        record: &Record,
        range: &Range<u64>,
    ) -> Result<(), (u64, WriteError)> {
        let header = record.header;
        // Only the last number is known, one before `documents`.
        let first = header.documents.saturating_sub(header.operations.into());
        for (operation, number) in record.operations().zip(first..) {
            let sequence = operation.sequence;
            if !range.contains(&sequence) {
                continue;
            }
            self.shared.numbers.sequence.fetch_max(sequence + 1, Relaxed);
            let drawn = Drawn { sequence, number };
            let result = match (header.kind, operation.key) {
                (RecordKind::Delete, LoggedKey::Bytes(key)) => {
                    role.delete_at(key, sequence).map(|_| ())
                }
                (_, LoggedKey::Automatic(number)) => {
                    self.collect(role, Called::Number(number), operation, drawn)
                }
                (_, LoggedKey::Bytes(key)) => {
                    let key = String::from_utf8_lossy(key);
                    self.collect(role, Called::By(&key), operation, drawn)
                }
            };
            result.map_err(|error| (sequence, error))?;
        }
        if header.kind != RecordKind::Add || range.is_empty() {
            return Ok(());
        }
        let Committed { added, result, .. } = role.commit_numbered();
        result.map_err(|error| {
            let mut in_range = record.operations().filter(|one| range.contains(&one.sequence));
            let refused = in_range.nth(added as usize).map(|one| one.sequence);
            (refused.unwrap_or(range.end), error)
        })
    }

    /// Cuts a logged document into the role's batch.
    fn collect(
        &self,
        role: &mut Ingester,
        called: Called<'_>,
        operation: LoggedOperation<'_>,
        drawn: Drawn,
    ) -> Result<(), WriteError> {
        let text = self.read(operation.text)?;
        let contents = Contents { fields: operation.fields, ..Contents::text(&text) };
        role.collector().collect_drawn(called, contents, Some(drawn))
    }

    /// Returns the text of a logged document.
    fn read<'t>(&self, text: LoggedText<'t>) -> Result<Cow<'t, str>, WriteError> {
        match text {
            LoggedText::Bytes(bytes) => Ok(String::from_utf8_lossy(bytes)),
            LoggedText::Reference(reference) => {
                Source::read(self.source, reference).map(Cow::Owned)
            }
        }
    }
}

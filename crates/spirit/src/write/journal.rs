//! The ingest role's end of the log: operations are durable before they are visible.

use std::cell::Cell;
use std::time::Instant;

use spirit_door::Barrier;
use spirit_index::fresh::{Batch, Key};
use spirit_index::log::{
    ARRIVAL_BYTES, GroupEnd, HEADER_BYTES, Header, LogWriter, LoggedKey, OPERATION_BYTES,
    Operations, RecordKind, Reference,
};
use spirit_index::memory::Memory;

use crate::config::error::WriteError;
use crate::config::log_limits::{KEPT, kept_bytes, offset_bytes_max};
use crate::config::options::{GROUP_BYTES, Options};
use crate::storage::shared::Shared;
use crate::write::contents::{Called, Contents};

/// The rows that are reserved at once.
const ROWS_RESERVED: u64 = 1 << 16;

/// The application's offset, and the record that has it.
struct Offset {
    bytes: Box<[u8]>,
    /// The number of its group.
    number: u64,
    /// The place where the record begins.
    at: u64,
    /// The place where it ends.
    end: u64,
}

impl Offset {
    /// True if its record has no documents.
    fn is_alone(&self) -> bool {
        self.end - self.at == kept_bytes(self.bytes.len())
    }
}

/// The journal: operations on their way into the log.
pub(crate) struct Journal {
    writer: LogWriter,
    log_bytes: u64,
    /// The bytes that a record takes for the arrival of its documents; 0 if it has none.
    arrival_bytes: u64,
    operations: Operations,
    gathered_max: usize,
    /// The longest offset, in bytes, if there is room for any.
    offset_max: Option<usize>,
    /// One past the last sequence number in the log.
    sequence: u64,
    /// The place where the last record begins.
    last: u64,
    /// The application's offset, if it has set one.
    offset: Option<Offset>,
    /// True if the log had room the last time, but the disk had none for it.
    is_unbacked: Cell<bool>,
    source: Source,
}

/// Where operations come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// From callers: they are logged.
    Callers,
    /// From the log, whose current record begins at this place.
    Log(u64),
    /// From a collection, where a start after a crash finds them again. Rows below `reserved` are
    /// left out then.
    Collection { reserved: u64 },
}

impl Journal {
    /// Returns a journal for a log of `log_bytes` that will be replayed.
    pub(crate) fn new(writer: LogWriter, log_bytes: u64, options: &Options) -> Journal {
        // A record must stay small compared with the log.
        let gathered_max = options.group_bytes.min(GROUP_BYTES).min(log_bytes / 16);
        let arrival_bytes = if options.retain.is_some() { ARRIVAL_BYTES } else { 0 };
        let gathered_max = gathered_max.saturating_sub(arrival_bytes);
        // A batch that is full while it is empty would never end.
        let gathered_max = gathered_max.max(1);
        Journal {
            writer,
            log_bytes,
            arrival_bytes,
            operations: Operations::default(),
            gathered_max: gathered_max as usize,
            offset_max: offset_bytes_max(log_bytes, options.document_bytes_max as u64),
            sequence: 0,
            last: 0,
            offset: None,
            is_unbacked: Cell::new(false),
            source: Source::Log(0),
        }
    }

    /// Returns the most bytes of operations and offset in a group. It must fit at any place of the
    /// log, if the log has nothing but the last offset.
    fn group_bytes_max(&self, kept: u64) -> u64 {
        // The header and the gap before it, a cancellation and its gap, the last offset, and the
        // repeated offsets and their gap.
        let headers = 2 * HEADER_BYTES + self.arrival_bytes;
        (self.log_bytes / 2).saturating_sub(headers + (KEPT + 2) * kept / 2)
    }

    /// Returns the bytes of a record with only an offset: the longer of the last one and that of
    /// `end`. 0 without any.
    fn kept_beside(&self, end: GroupEnd<'_>) -> u64 {
        let longest = self.offset().map(<[u8]>::len).max(end.offset.map(<[u8]>::len));
        longest.map_or(0, kept_bytes)
    }

    /// Ends the batch as a group's, if all of it fits into one record.
    pub(crate) fn end_group(&mut self, end: GroupEnd<'_>) -> Result<(), WriteError> {
        if let Some(offset) = end.offset {
            let bytes_max = self.offset_max.unwrap_or(0);
            if self.offset_max.is_none() || offset.len() > bytes_max {
                return Err(WriteError::OffsetTooLong { bytes: offset.len(), bytes_max });
            }
        }
        self.operations.push_end(end);
        let bytes = self.operations.bytes() as u64;
        let bytes_max = self.group_bytes_max(self.kept_beside(end));
        if bytes > bytes_max { Err(WriteError::GroupTooLarge { bytes, bytes_max }) } else { Ok(()) }
    }

    /// True if the log has room for `count` documents and the group's end after them.
    pub(crate) fn has_room_for_group(
        &self,
        shared: &Shared,
        count: usize,
        end: GroupEnd<'_>,
    ) -> bool {
        let operations = self.operations.first(count + 1).len() as u64;
        self.fits_beside(shared, operations, self.kept_beside(end))
    }

    /// Notes that the record at `position` is replayed next.
    pub(crate) fn replay(&mut self, position: u64) {
        self.source = Source::Log(position);
    }

    /// Ends the replay: `writer` continues after the operations with sequence numbers below
    /// `sequence`.
    pub(crate) fn start(&mut self, writer: LogWriter, sequence: u64) {
        self.writer = writer;
        self.sequence = sequence;
        self.source = Source::Callers;
    }

    /// Logs no operations from now on: those that follow can be read again from a collection.
    pub(crate) fn begin_collection(&mut self) {
        self.source = Source::Collection { reserved: 0 };
    }

    /// Logs operations again. All those from the collection are engraved.
    pub(crate) fn end_collection(&mut self) {
        self.source = Source::Callers;
    }

    /// Begins the next segment. The log before it may be trimmed once the segments before are
    /// engraved.
    pub(crate) fn begin_segment(&mut self) {
        if let Source::Collection { reserved } = &mut self.source {
            *reserved = 0;
        }
    }

    /// True if operations are logged.
    fn logs(&self) -> bool {
        matches!(self.source, Source::Callers)
    }

    /// Logs that rows up to `end` are in use, and some more, if the log does not say so. Durable on
    /// return.
    ///
    /// A document from a collection may stamp an engraved one that it replaces. A crash forgets the
    /// document and its row, not the stamp. The next start gives no document one of these rows, so
    /// the stamp counts for all of them.
    fn reserve_rows(&mut self, shared: &Shared, end: u64) -> Result<(), WriteError> {
        let Source::Collection { reserved } = self.source else { return Ok(()) };
        if end <= reserved {
            return Ok(());
        }
        let (kind, sequence, row) = (RecordKind::Add, self.sequence, end + ROWS_RESERVED);
        let header = Header { kind, operations: 0, sequence, row, documents: 0, arrived_ms: 0 };
        self.write(shared, header, &[], sequence)?;
        self.source = Source::Collection { reserved: row };
        Ok(())
    }

    /// Returns the log's end, or the place of the record that is replayed.
    pub(crate) fn end(&self) -> u64 {
        match self.source {
            Source::Log(position) => position,
            Source::Callers | Source::Collection { .. } => self.writer.position(),
        }
    }

    /// Returns the place from which a start must read the log if all operations so far are
    /// engraved. This is the end, or the record of the application's offset before it.
    pub(crate) fn from(&self) -> u64 {
        self.offset.as_ref().map_or(self.end(), |offset| offset.at.min(self.end()))
    }

    /// Returns the application's offset, if it has set one.
    pub(crate) fn offset(&self) -> Option<&[u8]> {
        self.offset.as_ref().map(|offset| &*offset.bytes)
    }

    /// Takes over the application's offset from the record from `at` to `end`, which ends group
    /// `number`.
    pub(crate) fn replay_offset(&mut self, bytes: &[u8], number: u64, at: u64, end: u64) {
        self.offset = Some(Offset { bytes: bytes.into(), number, at, end });
    }

    /// Logs the application's offset again, so that the log before may be trimmed. Writes nothing
    /// if the last record has the offset and nothing else. Durable on return.
    pub(crate) fn keep_offset(
        &mut self,
        shared: &Shared,
        row: u64,
        documents: u64,
    ) -> Result<(), WriteError> {
        let Some(offset) = &self.offset else { return Ok(()) };
        let is_last = offset.end == self.writer.position() && offset.is_alone();
        if self.is_replaying() || is_last {
            return Ok(());
        }
        let (bytes, number) = (offset.bytes.clone(), offset.number);
        let mut operations = Operations::default();
        operations.push_end(GroupEnd { number, offset: Some(&bytes) });
        let (kind, sequence) = (RecordKind::Add, self.sequence);
        let header = Header { kind, operations: 0, sequence, row, documents, arrived_ms: 0 };
        self.write(shared, header, operations.first(1), sequence)?;
        self.note_offset(&bytes, number);
        Ok(())
    }

    /// Notes that the last record has the application's offset, and took effect.
    pub(crate) fn note_offset(&mut self, bytes: &[u8], number: u64) {
        let (at, end) = (self.last, self.writer.position());
        self.offset = Some(Offset { bytes: bytes.into(), number, at, end });
    }

    /// True if the batch should be committed before more is collected.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.operations.bytes() >= self.gathered_max
    }

    /// Gathers a document of the batch. If its text can be read again, only the place is gathered.
    /// Other executors have the `gap` sequence numbers before it.
    #[inline]
    pub(crate) fn push(&mut self, called: Called<'_>, contents: Contents<'_>, gap: u64) {
        if !self.logs() {
            return;
        }
        let key = match called {
            Called::By(key) => LoggedKey::Bytes(key.as_bytes()),
            Called::Next => LoggedKey::Automatic(0),
            Called::Number(number) => LoggedKey::Automatic(number),
        };
        let Contents { text, fields, place } = contents;
        self.operations.pass_over(gap);
        match place {
            Some(place) => {
                let reference = Reference::new(place, text.as_bytes());
                self.operations.push_reference(key, reference, fields);
            }
            None => self.operations.push(key, text.as_bytes(), fields),
        }
    }

    /// Removes the first documents, which were taken or refused.
    pub(crate) fn drop_front(&mut self, count: usize) {
        if self.logs() {
            self.operations.drop_front(count);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.operations.clear();
    }

    /// True while the log is replayed.
    pub(crate) fn is_replaying(&self) -> bool {
        matches!(self.source, Source::Log(_))
    }

    /// True if the log has room for the first `count` documents.
    pub(crate) fn has_room(&self, shared: &Shared, count: usize) -> bool {
        match self.source {
            Source::Callers => self.fits(shared, self.operations.first(count).len()),
            Source::Log(_) => true,
            Source::Collection { .. } => self.fits(shared, 0),
        }
    }

    /// True if the log has room for the deletion of a key.
    pub(crate) fn has_room_for_key(&self, shared: &Shared, key: &[u8]) -> bool {
        !self.logs() || self.fits(shared, key.len() + 8 + OPERATION_BYTES as usize)
    }

    fn fits(&self, shared: &Shared, bytes: usize) -> bool {
        let kept = self.offset().map_or(0, |offset| kept_bytes(offset.len()));
        self.fits_beside(shared, bytes as u64, kept)
    }

    /// True if the log has room for these bytes. A cancellation, which cannot wait, must fit too.
    /// So must repeated offsets, if the application's offset takes `kept` bytes.
    fn fits_beside(&self, shared: &Shared, bytes: u64, kept: u64) -> bool {
        let nvm = shared.memory.nvm().expect("a journal lies in the second tier");
        // One more for the gap before one of them.
        let kept = if kept > 0 { (KEPT + 1) * kept } else { 0 };
        let (bytes, spare) = (self.arrival_bytes + bytes, 2 * HEADER_BYTES + kept);
        let end = self.writer.end_with(nvm.log_head(), bytes, spare);
        let is_backed = |end| backs_log(&shared.memory, self.writer.position(), end);
        let has_room = end.is_some_and(is_backed);
        self.is_unbacked.set(end.is_some() && !has_room);
        has_room
    }

    /// Continues at the log's beginning, which the disk has backed, if the disk has no room for
    /// more of the log. True if it did.
    pub(crate) fn begin_lap(&mut self, shared: &Shared) -> bool {
        let nvm = shared.memory.nvm().expect("a journal lies in the second tier");
        let (position, region) = (self.writer.position(), shared.memory.region());
        let can = self.is_unbacked.take()
            && backs_log(&shared.memory, position, position + HEADER_BYTES)
            && self.writer.begin_lap(nvm.door(), region, nvm.log_head());
        if can {
            nvm.note_log_lap(self.writer.position());
        }
        can
    }

    /// Logs the first `taken` documents of the batch. The first is in row `row` and has number
    /// `number`. Durable on return.
    pub(crate) fn log(
        &mut self,
        shared: &Shared,
        batch: &Batch,
        taken: usize,
        row: u64,
        arrived_ms: u64,
    ) -> Result<(), WriteError> {
        if batch.is_keyed() {
            self.reserve_rows(shared, row + taken as u64)?;
        }
        if !self.logs() || taken == 0 {
            return Ok(());
        }
        let header = Header { arrived_ms, ..self.header(batch, taken, row, 0) };
        self.append(shared, header, taken, batch.documents()[taken - 1].sequence + 1)
    }

    /// Logs the whole batch with its group's end. Durable on return. `documents_end` is one past
    /// the highest number drawn for the group.
    pub(crate) fn log_group(
        &mut self,
        shared: &Shared,
        batch: &Batch,
        row: u64,
        documents_end: u64,
        arrived_ms: u64,
    ) -> Result<(), WriteError> {
        let count = batch.documents().len();
        // A part without documents has no arrival.
        let arrived_ms = if count > 0 { arrived_ms } else { 0 };
        let header = Header { arrived_ms, ..self.header(batch, count, row, documents_end) };
        let end = batch.documents().last().map_or(header.sequence, |last| last.sequence + 1);
        self.append(shared, header, count + 1, end)
    }

    /// Returns the header of a record with the first `taken` documents. `documents` is one past the
    /// highest number drawn, for a record without documents.
    fn header(&mut self, batch: &Batch, taken: usize, row: u64, documents_end: u64) -> Header {
        let documents = &batch.documents()[..taken];
        for (index, document) in documents.iter().enumerate() {
            if let Key::Automatic(number) = batch.key(document) {
                self.operations.set_number(index, number);
            }
        }
        Header {
            kind: RecordKind::Add,
            operations: taken as u32,
            sequence: documents.first().map_or(self.sequence, |document| document.sequence),
            row,
            documents: documents.last().map_or(documents_end, |document| document.number_end),
            arrived_ms: 0,
        }
    }

    fn append(
        &mut self,
        shared: &Shared,
        header: Header,
        count: usize,
        end: u64,
    ) -> Result<(), WriteError> {
        let operations = std::mem::take(&mut self.operations);
        let written = self.write(shared, header, operations.first(count), end);
        self.operations = operations;
        written
    }

    /// Writes a record that ends before sequence number `end`.
    fn write(
        &mut self,
        shared: &Shared,
        header: Header,
        operations: &[u8],
        end: u64,
    ) -> Result<(), WriteError> {
        let nvm = shared.memory.nvm().expect("a journal lies in the second tier");
        // Without a sync there is nothing to wait for, and reading the clock would be most of it.
        let started = (nvm.door().barrier() == Barrier::Sync).then(Instant::now);
        self.last = self.writer.append(nvm.door(), shared.memory.region(), header, operations);
        if let Some(started) = started {
            shared.memory.log_syncs().add(started.elapsed());
        }
        self.sequence = end;
        if nvm.door().failure().is_some() {
            shared.poison();
            return Err(WriteError::SyncFailed);
        }
        Ok(())
    }

    /// Logs that the operations just logged, from `sequence` on, did not take effect.
    pub(crate) fn cancel(
        &mut self,
        shared: &Shared,
        sequence: u64,
        row: u64,
        documents: u64,
    ) -> Result<(), WriteError> {
        if !self.logs() {
            return Ok(());
        }
        let kind = RecordKind::Cancel;
        let header = Header { kind, operations: 0, sequence, row, documents, arrived_ms: 0 };
        self.append(shared, header, 0, sequence)
    }

    /// Logs the deletion of a key, in row `row`. Durable on return.
    pub(crate) fn log_delete(
        &mut self,
        shared: &Shared,
        key: &[u8],
        sequence: u64,
        row: u64,
        documents: u64,
    ) -> Result<(), WriteError> {
        if !self.logs() {
            return Ok(());
        }
        self.operations.clear();
        self.operations.push(LoggedKey::Bytes(key), &[], &[]);
        let kind = RecordKind::Delete;
        let header = Header { kind, operations: 1, sequence, row, documents, arrived_ms: 0 };
        let logged = self.append(shared, header, 1, sequence + 1);
        self.operations.clear();
        logged
    }
}

/// Backs the log with disk space from position `from` up to `end`. False if the disk has no room.
fn backs_log(memory: &Memory, from: u64, end: u64) -> bool {
    let residency = memory.geometry().settings.residency;
    memory.nvm().is_some_and(|nvm| nvm.back_log(memory.region(), residency, from, end))
}

//! The ingest role's end of the log: what is about to be visible is durable first.

use spirit_index::batch::{Batch, KEY_BYTES_MAX, Key};
use spirit_index::nvm::log::{
    HEADER_BYTES, Header, LogWriter, LoggedKey, OPERATION_BYTES, Operations, RecordKind,
};

use crate::collector::Called;
use crate::error::AddError;
use crate::shared::Shared;

/// Gathered bytes after which a batch is full, so that a record stays small beside the log.
const GATHERED_BYTES: usize = 256 << 10;

/// Operations on their way into the log.
pub(crate) struct Journal {
    writer: LogWriter,
    operations: Operations,
    gathered_max: usize,
    /// While the log is replayed: where the record begins whose operations are at hand. Nothing is logged then.
    replaying: Option<u64>,
}

impl Journal {
    /// A journal of a log that will be replayed.
    pub(crate) fn new(writer: LogWriter, log_bytes: u64) -> Journal {
        let gathered_max = GATHERED_BYTES.min(log_bytes as usize / 16);
        Journal { writer, operations: Operations::default(), gathered_max, replaying: Some(0) }
    }

    /// The most bytes of text and key that a log of `log_bytes` takes in one document.
    pub(crate) fn document_bytes_max(log_bytes: u64) -> u64 {
        // Half of the log, so that a record and the gap before it fit whatever its place is; less what a batch has gathered
        // before, the longest key with what fills it up, and room for two more records.
        let operation = OPERATION_BYTES + KEY_BYTES_MAX as u64 + 2 * 8;
        (log_bytes / 2).saturating_sub(log_bytes / 16 + 3 * HEADER_BYTES + operation)
    }

    /// The record at `position` is replayed next.
    pub(crate) fn replay(&mut self, position: u64) {
        self.replaying = Some(position);
    }

    /// All is replayed: from now on the writer goes on.
    pub(crate) fn start(&mut self, writer: LogWriter) {
        self.writer = writer;
        self.replaying = None;
    }

    /// Where the log begins for whoever has all operations so far.
    pub(crate) fn from(&self) -> u64 {
        self.replaying.unwrap_or(self.writer.position())
    }

    /// Whether the batch should be committed before more is collected.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.operations.bytes() >= self.gathered_max
    }

    /// Gathers a document of the batch.
    #[inline]
    pub(crate) fn push(&mut self, called: Called<'_>, text: &str) {
        if self.replaying.is_some() {
            return;
        }
        let key = match called {
            Called::By(key) => LoggedKey::Bytes(key.as_bytes()),
            Called::Next => LoggedKey::Automatic(0),
            Called::Number(number) => LoggedKey::Automatic(number),
        };
        self.operations.push(key, text.as_bytes());
    }

    /// The first documents were taken or refused.
    pub(crate) fn drop_front(&mut self, count: usize) {
        if self.replaying.is_none() {
            self.operations.drop_front(count);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.operations.clear();
    }

    /// Whether the log has room for the first `count` documents.
    pub(crate) fn has_room(&self, shared: &Shared, count: usize) -> bool {
        self.replaying.is_some() || self.fits(shared, self.operations.first(count).len())
    }

    /// Whether it has room for the deletion of a key.
    pub(crate) fn has_room_for_key(&self, shared: &Shared, key: &[u8]) -> bool {
        self.replaying.is_some() || self.fits(shared, key.len() + 8 + OPERATION_BYTES as usize)
    }

    /// With room left for a cancellation, which cannot wait.
    fn fits(&self, shared: &Shared, bytes: usize) -> bool {
        let head = shared.memory.nvm().map_or(0, |nvm| nvm.log_head());
        self.writer.has_room(head, bytes as u64 + 2 * HEADER_BYTES)
    }

    /// Logs the first `taken` documents of the batch, the first of which is in row `row` and has the number `number`. Durable
    /// on return.
    pub(crate) fn log(
        &mut self,
        shared: &Shared,
        batch: &Batch,
        taken: usize,
        row: u64,
        number: u64,
    ) -> Result<(), AddError> {
        if self.replaying.is_some() || taken == 0 {
            return Ok(());
        }
        let documents = &batch.documents()[..taken];
        for (index, document) in documents.iter().enumerate() {
            if let Key::Automatic(number) = batch.key(document) {
                self.operations.set_number(index, number);
            }
        }
        let header = Header {
            kind: RecordKind::Add,
            operations: taken as u32,
            sequence: documents[0].sequence,
            row,
            documents: number + taken as u64,
        };
        self.append(shared, header, taken)
    }

    fn append(&mut self, shared: &Shared, header: Header, count: usize) -> Result<(), AddError> {
        let nvm = shared.memory.nvm().expect("a journal lies in the second tier");
        let operations = self.operations.first(count);
        self.writer.append(nvm.door(), shared.memory.region(), header, operations);
        if nvm.door().failure().is_some() {
            shared.poison();
            return Err(AddError::SyncFailed);
        }
        Ok(())
    }

    /// Logs that the operations just logged from `sequence` on did not come about.
    pub(crate) fn cancel(
        &mut self,
        shared: &Shared,
        sequence: u64,
        row: u64,
        documents: u64,
    ) -> Result<(), AddError> {
        if self.replaying.is_some() {
            return Ok(());
        }
        let kind = RecordKind::Cancel;
        self.append(shared, Header { kind, operations: 0, sequence, row, documents }, 0)
    }

    /// Logs the deletion of a key, in row `row`. Durable on return.
    pub(crate) fn log_delete(
        &mut self,
        shared: &Shared,
        key: &[u8],
        sequence: u64,
        row: u64,
        documents: u64,
    ) -> Result<(), AddError> {
        if self.replaying.is_some() {
            return Ok(());
        }
        self.operations.clear();
        self.operations.push(LoggedKey::Bytes(key), &[]);
        let kind = RecordKind::Delete;
        let logged =
            self.append(shared, Header { kind, operations: 1, sequence, row, documents }, 1);
        self.operations.clear();
        logged
    }
}

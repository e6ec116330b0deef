//! The ingest role: text in, postings out, visible before `add` returns.
//!
//! Whoever holds the role is the executor's only writer. Documents are collected into a batch (tokens cut,
//! hashed, their table slots prefetched) and committed: sequence numbers, postings, rows, then the deaths of
//! the versions that they replace, then one store that makes all of it visible.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{SyncSender, TrySendError};

use spirit_index::batch::{Batch, Key};
use spirit_index::descriptor::{Position, SegmentId, State};
use spirit_index::flush::Flush;
use spirit_index::fresh::{FreshCounts, FreshWriter, Stop};
use spirit_index::keys::{self};
use spirit_index::nvm::engrave::Sealed;
use spirit_index::snapshot::Snapshot;
use spirit_mem::PinSlot;
use spirit_text::Tokenizer;

use crate::collector::{BatchSize, Collector, TEXT_BYTES_MAX};
use crate::error::AddError;
use crate::flush_stage::Task;
use crate::journal::{Journal, accepted_with};
use crate::options::{OnFull, Options};
use crate::replacement::{
    REPLACED_MAX, Replaced, Stamped, forget_replaced, kill, settle_explicit, settle_number,
};
use crate::shared::Shared;
use crate::store::now_ms;

/// Where the role begins.
#[derive(Default)]
pub(crate) struct Start {
    /// The position of the first segment.
    pub(crate) position: Position,
    /// Its first row.
    pub(crate) row: u64,
    /// The sequence number behind all that there is.
    pub(crate) sequence: u64,
    /// Documents accepted before.
    pub(crate) documents: u64,
    pub(crate) journal: Option<Journal>,
}

/// The writer of one executor.
pub(crate) struct Ingester {
    shared: Arc<Shared>,
    tokenizer: Tokenizer,
    batch: Batch,
    batch_size: BatchSize,
    writer: FreshWriter,
    tasks: SyncSender<Task>,
    pin: PinSlot,
    /// Where operations are logged, if they are.
    journal: Option<Journal>,
    /// One past the sequence number of the last operation.
    sequence_end: u64,
    /// Documents that the index had accepted with that operation.
    documents_end: u64,
    /// The segment was handed over, and there was no room for the next one yet.
    sealed: bool,
    /// The sequence number of the delete at hand.
    delete_sequence: u64,
    /// Key table slots of rows that are dead: they go when no reader can see those rows any more.
    replaced: VecDeque<Replaced>,
}

impl Ingester {
    pub(crate) fn new(
        shared: Arc<Shared>,
        options: &Options,
        tasks: SyncSender<Task>,
        pin: PinSlot,
        start: Start,
    ) -> Option<Ingester> {
        let Start { position, row, sequence, documents, journal } = start;
        let batch_size = if options.is_os_level() { BatchSize::SYNCED } else { BatchSize::USUAL };
        let id = SegmentId::first(position);
        let writer = FreshWriter::open(&shared.memory, id, row, sequence)?;
        publish_segment(&shared, &writer);
        Some(Ingester {
            tokenizer: Tokenizer::with_level(
                options.analyzer,
                options.document_bytes_max,
                options.vectors,
            ),
            batch: Batch::with_capacity(batch_size.tokens * 4, batch_size.documents)
                .with_texts(if options.store { TEXT_BYTES_MAX } else { 0 }),
            batch_size,
            writer,
            tasks,
            pin,
            journal,
            sequence_end: sequence,
            documents_end: documents,
            sealed: false,
            delete_sequence: sequence,
            replaced: VecDeque::with_capacity(REPLACED_MAX + batch_size.documents),
            shared,
        })
    }

    /// What the segment being filled holds.
    pub(crate) fn counts(&self) -> (SegmentId, FreshCounts) {
        (self.writer.id(), self.writer.counts())
    }

    /// Where the next batch is collected, to be committed afterwards.
    #[inline]
    pub(crate) fn collector(&mut self) -> Collector<'_> {
        let Ingester { shared, tokenizer, batch, writer, journal, .. } = self;
        let size = self.batch_size;
        let extent = writer.extent(&shared.memory);
        Collector { shared, extent, tokenizer, batch, size, journal: journal.as_mut() }
    }

    /// The log's end. There is one: the log is being replayed.
    pub(crate) fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("what is replayed has a log")
    }

    /// Bytes of the log that no engraved segment covers.
    pub(crate) fn log_bytes(&self) -> u64 {
        let head = self.shared.memory.nvm().map_or(0, |nvm| nvm.log_head());
        self.journal.as_ref().map_or(0, |journal| journal.from() - head)
    }

    /// Writes the batch and makes it visible. Says how many documents went in; an error is of the one after
    /// them, and the rest of the batch is dropped.
    pub(crate) fn commit(&mut self) -> (u64, Result<(), AddError>) {
        self.number();
        self.commit_numbered()
    }

    /// Writes a batch of operations that were logged before, the first of which has this sequence number.
    /// Says how many came about.
    pub(crate) fn commit_at(&mut self, sequence: u64) -> (u64, Result<(), AddError>) {
        self.batch.number(sequence, 0);
        self.commit_numbered()
    }

    fn commit_numbered(&mut self) -> (u64, Result<(), AddError>) {
        let all = self.batch.documents().len();
        let mut result = Ok(());
        while !self.batch.is_empty() && result.is_ok() {
            result = self.write_some();
        }
        let left = self.batch.documents().len();
        if self.shared.numbers.one_executor {
            // Nobody else draws: the numbers of documents that were not taken go to the next ones.
            self.shared.numbers.documents.fetch_sub(left as u64, Relaxed);
        } else {
            self.shared.numbers.refused.fetch_add(left as u64, Relaxed);
        }
        self.batch.clear();
        if let Some(journal) = &mut self.journal {
            journal.clear();
        }
        ((all - left) as u64, result)
    }

    /// Draws the numbers of a whole batch at once.
    fn number(&mut self) {
        let numbers = &self.shared.numbers;
        let sequence = numbers.sequence.fetch_add(self.batch.documents().len() as u64, Relaxed);
        let number = numbers.documents.fetch_add(self.batch.unnumbered() as u64, Relaxed);
        self.batch.number(sequence, number);
    }

    fn write_some(&mut self) -> Result<(), AddError> {
        let wanted = self.batch.documents().len();
        self.wait_for_log(|journal, shared| journal.has_room(shared, wanted))?;
        if self.sealed {
            self.next_segment()?;
        }
        let (before, untouched) = (self.writer.rows(), self.writer.is_untouched());
        let (taken, stop) = self.writer.append(&self.shared.memory, &mut self.batch);
        let row = self.writer.base_row() + before as u64;
        if let Some(journal) = &mut self.journal {
            journal.log(&self.shared, &self.batch, taken, row)?;
        }
        let settled = self.settle(before, taken);
        let unsettled = taken - settled;
        self.close_group(settled, taken, row)?;
        self.batch.drop_front(settled);
        self.publish();
        if unsettled > 0 {
            return self.wait_for_keys();
        }
        match stop {
            Ok(()) => Ok(()),
            Err(Stop::SegmentFull) if untouched && taken == 0 => {
                let segment_bytes = self.shared.memory.geometry().settings.segment_bytes;
                Err(AddError::DocumentTooLarge { segment_bytes })
            }
            Err(Stop::SegmentFull) => self.next_segment(),
            Err(Stop::HeapFull) => self.wait_for_room(),
        }
    }

    /// Of the documents that were taken and logged, `settled` came about.
    fn close_group(&mut self, settled: usize, taken: usize, row: u64) -> Result<(), AddError> {
        if let Some(last) = settled.checked_sub(1) {
            self.sequence_end = self.batch.documents()[last].sequence + 1;
            self.documents_end = accepted_with(&self.shared, &self.batch, settled);
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if settled < taken {
            // Their numbers may be given to others, or they come again themselves.
            let sequence = self.batch.documents()[settled].sequence;
            let documents = accepted_with(&self.shared, &self.batch, settled);
            journal.cancel(&self.shared, sequence, row, documents)?;
        }
        journal.drop_front(settled);
        Ok(())
    }

    /// Waits until the log has room, which is when segments are engraved.
    fn wait_for_log(
        &mut self,
        has_room: impl Fn(&Journal, &Shared) -> bool,
    ) -> Result<(), AddError> {
        while self.journal.as_ref().is_some_and(|journal| !has_room(journal, &self.shared)) {
            // What this segment holds stays in the log until it is engraved.
            self.end_segment()?;
            let _ = self.tasks.try_send(Task::EngraveAll);
            self.wait_for_stage()?;
        }
        Ok(())
    }

    fn publish(&self) {
        self.shared.memory.publish(self.writer.base_row() + self.writer.rows() as u64);
    }

    /// Kills what the new rows replace, and enters them in the key table. Says how many of them are in.
    fn settle(&mut self, first: u32, taken: usize) -> usize {
        let numbered = self.shared.numbers.explicit_end.load(Relaxed);
        if !self.batch.is_keyed() && numbered == 0 {
            return taken;
        }
        let shared = &self.shared;
        let table = shared.keys();
        forget_replaced(shared, *table, &mut self.replaced);
        // Rows of segments that the flush stage drops meanwhile stay readable while we are pinned.
        shared.memory.pins().pin(&self.pin);
        let first_row = self.writer.base_row() + first as u64;
        let (mut settled, mut result) = (0, Ok(()));
        let mut stamped = false;
        for (document, row) in self.batch.documents()[..taken].iter().zip(first_row..) {
            if result.is_ok() {
                result = match self.batch.key(document) {
                    Key::Bytes(key) => {
                        settle_explicit(shared, *table, key, row, &mut self.replaced)
                            .map(|engraved| stamped |= engraved)
                    }
                    Key::Automatic(n) if n < shared.numbers.explicit_end.load(Relaxed) => {
                        stamped |= settle_number(shared, *table, n, row, &mut self.replaced);
                        Ok(())
                    }
                    Key::Automatic(_) | Key::Next => Ok(()),
                };
            }
            if result.is_ok() {
                settled += 1;
            } else {
                // The one that finds no place, and those behind it, never come to life in these rows.
                kill(shared, &Snapshot::of_role(&shared.memory, row + 1), row, row);
            }
        }
        if stamped {
            shared.memory.fence_deaths();
        }
        shared.memory.pins().unpin(&self.pin);
        settled
    }

    /// Deletes the document that `key` calls, as one visible step. Says whether there was one.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Result<bool, AddError> {
        let sequence = self.shared.numbers.sequence.fetch_add(1, Relaxed);
        self.delete_at(key, sequence)
    }

    /// The same as the operation with this sequence number.
    pub(crate) fn delete_at(&mut self, key: &[u8], sequence: u64) -> Result<bool, AddError> {
        self.delete_sequence = sequence;
        self.wait_for_log(|journal, shared| journal.has_room_for_key(shared, key))?;
        loop {
            if self.sealed {
                self.next_segment()?;
            }
            match self.writer.append_dead(&self.shared.memory, sequence) {
                Ok(()) => break,
                Err(Stop::SegmentFull) => self.next_segment()?,
                Err(Stop::HeapFull) => self.wait_for_room()?,
            }
        }
        let row = self.writer.base_row() + self.writer.rows() as u64 - 1;
        if let Some(journal) = &mut self.journal {
            journal.log_delete(&self.shared, key, sequence, row)?;
        }
        self.sequence_end = sequence + 1;
        self.documents_end = self.shared.numbers.documents.load(Relaxed);
        let found = self.kill_by_key(key, row);
        self.publish();
        Ok(found)
    }

    fn kill_by_key(&mut self, key: &[u8], by: u64) -> bool {
        let shared = &self.shared;
        let table = shared.keys();
        forget_replaced(shared, *table, &mut self.replaced);
        shared.memory.pins().pin(&self.pin);
        let snapshot = Snapshot::of_role(&shared.memory, by);
        let hash = keys::hash(key);
        let found = table.find(&snapshot, &shared.memory, key, hash);
        let row = match found {
            Some(row) => {
                // After a start it may not have been entered yet.
                table.remove(&shared.memory, hash, row);
                Some(row)
            }
            None => keys::as_number(key).and_then(|n| keys::find_automatic(&snapshot, n)),
        };
        let killed = row.and_then(|row| kill(shared, &snapshot, row, by));
        if killed == Some(Stamped::Engraved) {
            shared.memory.fence_deaths();
        }
        shared.memory.pins().unpin(&self.pin);
        killed.is_some()
    }

    /// Ends the segment being filled before it is full, unless nothing is in it.
    pub(crate) fn end_segment(&mut self) -> Result<(), AddError> {
        if self.sealed || self.writer.rows() > 0 { self.next_segment() } else { Ok(()) }
    }

    /// Hands the segment to the flush stage and opens the next. Can be repeated if it finds no room.
    fn next_segment(&mut self) -> Result<(), AddError> {
        self.seal()?;
        let memory = &self.shared.memory;
        let id = SegmentId::first(self.writer.id().position() + 1);
        let base_row = self.writer.base_row() + self.writer.rows() as u64;
        let sequence = self.batch.documents().first().map(|d| d.sequence);
        let base_sequence = sequence.unwrap_or(self.delete_sequence);
        self.writer = loop {
            let opened = memory
                .has_slot(id.position())
                .then(|| FreshWriter::open(memory, id, base_row, base_sequence))
                .flatten();
            if let Some(writer) = opened {
                break writer;
            }
            self.wait_for_stage()?;
        };
        self.sealed = false;
        publish_segment(&self.shared, &self.writer);
        Ok(())
    }

    /// Closes the segment and hands it over. While the queue is full the segment stays open as it was.
    fn seal(&mut self) -> Result<(), AddError> {
        while !self.sealed {
            let descriptor = self.shared.memory.table().descriptor(self.writer.id());
            descriptor.set_rows(self.writer.rows() as u64);
            let flush = Flush::new(self.writer.id(), self.writer.counts(), self.shared.vectors);
            match self.tasks.try_send(Task::Flush(flush, self.at_seal())) {
                Ok(()) => self.sealed = true,
                Err(TrySendError::Disconnected(_)) => return Err(AddError::Poisoned),
                Err(TrySendError::Full(_)) => {
                    descriptor.set_rows(u64::MAX);
                    self.wait_for_stage()?;
                }
            }
        }
        Ok(())
    }

    /// What the segment's entry in the engrave log will say.
    fn at_seal(&self) -> Sealed {
        let numbers = &self.shared.numbers;
        Sealed {
            sequence_end: self.sequence_end,
            log_from: self.journal.as_ref().map_or(0, Journal::from),
            documents_end: self.documents_end,
            explicit_end: numbers.explicit_end.load(Relaxed),
            arrived_ms: now_ms(),
        }
    }

    /// A fresh extent comes back when the flush stage is done with it, unless that found the heap full.
    fn wait_for_stage(&self) -> Result<(), AddError> {
        if self.shared.is_poisoned() {
            return Err(AddError::Poisoned);
        }
        if self.shared.on_full == OnFull::Refuse && self.shared.is_stuck() {
            return Err(AddError::HeapFull);
        }
        self.shared.memory.wait_for_space();
        Ok(())
    }

    /// The key table is full. If the oldest may be dropped, its keys go with it, and the documents that found no
    /// place are tried again.
    fn wait_for_keys(&mut self) -> Result<(), AddError> {
        if self.shared.on_full != OnFull::DropOldest {
            return Err(AddError::KeysFull);
        }
        let window = self.shared.memory.window();
        if window.oldest == window.end && !self.sealed {
            self.next_segment()?;
        }
        self.wait_for_room()
    }

    /// The long-term partition is full: what now is the policy's matter.
    fn wait_for_room(&self) -> Result<(), AddError> {
        match self.shared.on_full {
            // A full queue means that the stage is at work, which makes room as well.
            _ if self.shared.memory.nvm().is_some() => drop(self.tasks.try_send(Task::MakeRoom)),
            OnFull::DropOldest => drop(self.tasks.try_send(Task::MakeRoom)),
            OnFull::Refuse => return Err(AddError::HeapFull),
            OnFull::Wait => {}
        }
        self.wait_for_stage()
    }
}

fn publish_segment(shared: &Shared, writer: &FreshWriter) {
    writer.describe(&shared.memory);
    shared.memory.table().publish(writer.id(), State::Ingested);
}

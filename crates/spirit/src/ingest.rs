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
use spirit_index::descriptor::{SegmentId, State};
use spirit_index::flush::Flush;
use spirit_index::fresh::{FreshCounts, FreshWriter, Stop};
use spirit_index::keys::{self, Keys};
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_mem::PinSlot;
use spirit_text::Tokenizer;

use crate::collector::{BATCH_DOCUMENTS, BATCH_TOKENS, Collector};
use crate::error::AddError;
use crate::flush_stage::Task;
use crate::options::{OnFull, Options};
use crate::shared::Shared;

/// Replaced rows after which their slots are looked at.
const REPLACED_LOOK: usize = 64;
/// Replaced rows whose slots are kept at most: beyond it a reader that stays pinned may miss a key.
const REPLACED_MAX: usize = 1024;

/// A slot of the key table whose row is dead.
#[derive(Clone, Copy, Debug)]
struct Replaced {
    hash: u64,
    row: u64,
    /// When the death was visible; none before.
    stamp: Option<u64>,
}

/// The writer of one executor.
pub(crate) struct Ingester {
    shared: Arc<Shared>,
    tokenizer: Tokenizer,
    batch: Batch,
    writer: FreshWriter,
    tasks: SyncSender<Task>,
    pin: PinSlot,
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
    ) -> Option<Ingester> {
        let writer = FreshWriter::open(&shared.memory, SegmentId::first(0), 0, 0)?;
        publish_segment(&shared, &writer);
        Some(Ingester {
            tokenizer: Tokenizer::with_level(
                options.analyzer,
                options.document_bytes_max,
                options.vectors,
            ),
            batch: Batch::with_capacity(BATCH_TOKENS * 4, BATCH_DOCUMENTS),
            writer,
            tasks,
            pin,
            sealed: false,
            delete_sequence: 0,
            replaced: VecDeque::with_capacity(REPLACED_MAX + BATCH_DOCUMENTS),
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
        let Ingester { shared, tokenizer, batch, writer, .. } = self;
        Collector { shared, extent: writer.extent(&shared.memory), tokenizer, batch }
    }

    /// Writes the batch and makes it visible. Says how many documents went in; an error is of the one after
    /// them, and the rest of the batch is dropped.
    pub(crate) fn commit(&mut self) -> (u64, Result<(), AddError>) {
        self.number();
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
        if self.sealed {
            self.next_segment()?;
        }
        let (before, untouched) = (self.writer.rows(), self.writer.is_untouched());
        let (taken, stop) = self.writer.append(&self.shared.memory, &mut self.batch);
        let settled = self.settle(before, taken);
        let unsettled = taken - settled;
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
        for (document, row) in self.batch.documents()[..taken].iter().zip(first_row..) {
            if result.is_ok() {
                result = match self.batch.key(document) {
                    Key::Bytes(key) => {
                        settle_explicit(shared, *table, key, row, &mut self.replaced)
                    }
                    Key::Automatic(n) if n < numbered => {
                        settle_number(shared, *table, n, row, &mut self.replaced);
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
        shared.memory.pins().unpin(&self.pin);
        settled
    }

    /// Deletes the document that `key` calls, as one visible step. Says whether there was one.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Result<bool, AddError> {
        let sequence = self.shared.numbers.sequence.fetch_add(1, Relaxed);
        self.delete_sequence = sequence;
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
        let killed = match found {
            Some(row) => {
                table.remove(&shared.memory, hash, row) && kill(shared, &snapshot, row, by)
            }
            None => keys::as_number(key)
                .and_then(|number| keys::find_automatic(&snapshot, number))
                .is_some_and(|row| kill(shared, &snapshot, row, by)),
        };
        shared.memory.pins().unpin(&self.pin);
        killed
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
            match self.tasks.try_send(Task::Flush(flush)) {
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
            OnFull::Refuse => return Err(AddError::HeapFull),
            // A full queue means that the stage is at work, which makes room as well.
            OnFull::DropOldest => drop(self.tasks.try_send(Task::MakeRoom)),
            OnFull::Wait => {}
        }
        self.wait_for_stage()
    }
}

fn publish_segment(shared: &Shared, writer: &FreshWriter) {
    writer.describe(&shared.memory);
    shared.memory.table().publish(writer.id(), State::Ingested);
}

fn settle_explicit(
    shared: &Shared,
    table: Keys,
    key: &[u8],
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) -> Result<(), AddError> {
    let snapshot = Snapshot::of_role(&shared.memory, row);
    let hash = keys::hash(key);
    let old = table.find(&snapshot, &shared.memory, key, hash);
    let mut inserted = table.insert(&shared.memory, hash, row);
    if inserted.is_err() {
        // Versions that are kept for readers crowd the key's lines: without them there is room.
        replaced.retain(|slot| slot.hash != hash || !table.remove(&shared.memory, hash, slot.row));
        inserted = table.insert(&shared.memory, hash, row);
    }
    match (inserted, old) {
        (Ok(()), Some(old)) => replaced.push_back(Replaced { hash, row: old, stamp: None }),
        (Ok(()), None) => {}
        // Still none: the new version takes the old one's place at once.
        (Err(_), Some(old)) => table.replace(&shared.memory, hash, old, row),
        (Err(_), None) => return Err(AddError::KeysFull),
    }
    let number = keys::as_number(key);
    if let Some(number) = number {
        shared.numbers.explicit_end.fetch_max(number + 1, Relaxed);
    }
    let old = old.or_else(|| keys::find_automatic(&snapshot, number?));
    if let Some(old) = old {
        kill(shared, &snapshot, old, row);
    }
    Ok(())
}

/// An automatic key whose number somebody chose before as an explicit one: it replaces that document.
fn settle_number(
    shared: &Shared,
    table: Keys,
    number: u64,
    row: u64,
    replaced: &mut VecDeque<Replaced>,
) {
    let snapshot = Snapshot::of_role(&shared.memory, row);
    let mut key = Vec::with_capacity(20);
    keys::write_number(number, &mut key);
    let hash = keys::hash(&key);
    if let Some(old) = table.find(&snapshot, &shared.memory, &key, hash) {
        replaced.push_back(Replaced { hash, row: old, stamp: None });
        kill(shared, &snapshot, old, row);
    }
}

/// Takes the slots of dead rows out of the key table, if there are many and readers are past them.
fn forget_replaced(shared: &Shared, table: Keys, replaced: &mut VecDeque<Replaced>) {
    if replaced.len() < REPLACED_LOOK {
        return;
    }
    // What was pushed since the last look is visible by now: the batch it came with was published.
    let stamp = shared.memory.pins().retire();
    for slot in replaced.iter_mut().rev().take_while(|slot| slot.stamp.is_none()) {
        slot.stamp = Some(stamp);
    }
    let horizon = shared.memory.pins().horizon();
    let mut surplus = replaced.len().saturating_sub(REPLACED_MAX);
    while let Some(slot) =
        replaced.pop_front_if(|slot| surplus > 0 || slot.stamp.is_some_and(|stamp| stamp < horizon))
    {
        surplus = surplus.saturating_sub(1);
        table.remove(&shared.memory, slot.hash, slot.row);
    }
}

/// Kills a row by the operation that is row `by`; takes effect when that one becomes visible.
fn kill(shared: &Shared, snapshot: &Snapshot<'_>, row: u64, by: u64) -> bool {
    let Some((segment, local)) = snapshot.locate(row) else { return false };
    let place: Segment<'_> = segment;
    let target = place.row_table().row(local);
    if target.death() != 0 || matches!(target.key().kind(), KeyKind::None) {
        return false;
    }
    target.kill(by - place.base_row());
    shared.memory.note_dead(place.descriptor());
    Shared::add_to(&shared.deleted, 1);
    true
}

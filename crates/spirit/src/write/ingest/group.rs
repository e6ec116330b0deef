//! An executor's part of a group: documents that take effect with those of other executors and the
//! application's offset, all of them or none.
//!
//! A part is one record of the log, and its rows lie in one segment. So it is appended whole, once
//! the segment is known to have room. If some rows lack room after all, all are given up, and the
//! part begins again in the next segment.
//!
//! First, a part is [placed](Ingester::place), which can be taken back, and changes nothing durable
//! or visible. Once all parts of the group are placed, it is [logged](Ingester::log). Then it is
//! [finished](Ingester::finish).

use std::collections::HashMap;

use spirit_index::fresh::{FreshWriter, Stop};
use spirit_index::log::GroupEnd;
use spirit_index::snapshot::Snapshot;

use super::arrivals::Arrivals;
use super::{Appended, Ingester, Stopped};
use crate::config::error::WriteError;
use crate::write::replacement::{Entered, abandon, enter, forget_replaced, note_numbers};

/// A part of a group whose rows and keys are placed.
pub(crate) struct Placed {
    /// The number of the segment's rows before it.
    before: u32,
    /// Its first row.
    row: u64,
    entered: Vec<Entered>,
}

impl Ingester {
    /// Returns the application's offset: that of the last group.
    pub(crate) fn offset(&self) -> Option<&[u8]> {
        self.journal.as_ref()?.offset()
    }

    /// Returns the number of collected documents.
    pub(crate) fn collected(&self) -> usize {
        self.batch.documents().len()
    }

    /// Drops the collected documents.
    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        if let Some(journal) = &mut self.journal {
            journal.clear();
        }
    }

    /// Writes the collected documents, whose numbers are drawn, and enters their keys. `documents` is
    /// one past the highest number of the group's documents. An error leaves nothing.
    pub(crate) fn place(
        &mut self,
        end: GroupEnd<'_>,
        documents: u64,
    ) -> Result<Placed, WriteError> {
        self.shared.begin_change();
        self.number = documents;
        self.numbers.clear();
        if let Some(journal) = &mut self.journal {
            journal.end_group(end)?;
        }
        if self.batch.is_empty() {
            return self.place_mark(end);
        }
        loop {
            let before = self.append_whole(end)?;
            let progress = self.shared.progress();
            // Then all keys except the group's own can leave the key table.
            let is_alone = before == 0 && !self.shared.is_anything_unplaced();
            let row = self.writer.base_row() + u64::from(before);
            match self.enter_all(row) {
                Ok(entered) => return Ok(Placed { before, row, entered }),
                Err(full) => {
                    self.give_up(before, self.collected());
                    if is_alone && self.shared.memory.nvm().is_some() {
                        return Err(full);
                    }
                    self.wait_for_keys(progress)?;
                }
            }
        }
    }

    /// Logs a placed part. Durable on return. An error poisons the index.
    pub(crate) fn log(&mut self, placed: &Placed) -> Result<(), WriteError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let arrived_ms = self.arrivals.as_ref().map_or(0, Arrivals::newest_ms);
        journal.log_group(&self.shared, &self.batch, placed.row, self.number, arrived_ms)
    }

    /// Makes a logged part visible. All parts of its group must be logged.
    pub(crate) fn finish(&mut self, placed: Placed, end: GroupEnd<'_>) -> Result<(), WriteError> {
        if let Some((journal, offset)) = self.journal.as_mut().zip(end.offset) {
            journal.note_offset(offset, end.number);
        }
        self.bury_all(placed.entered);
        let count = self.collected();
        self.close_group(count, count, placed.row)?;
        self.publish_settled(count);
        Ok(())
    }

    /// Takes back a placed part.
    pub(crate) fn withdraw(&mut self, placed: Placed) {
        self.withdraw_all(placed.row, &placed.entered);
        self.give_up(placed.before, self.collected());
    }

    /// Appends the whole batch to one segment, with room for its record in the log. Returns the
    /// number of rows that the segment had before. The loop ends with the batch in place, or if an
    /// empty segment is too small.
    fn append_whole(&mut self, end: GroupEnd<'_>) -> Result<u32, WriteError> {
        loop {
            self.wait_for_group(end)?;
            self.go_on_if_full()?;
            let mut appended = self.append_by(FreshWriter::append_whole);
            // While other segments wait for the flush stage, they make room, and the rows stay.
            while let Some(stop) = appended.stop.as_ref()
                && stop.why == Stop::HeapFull
                && self.shared.is_anything_unplaced()
                && self.wait_for_room(stop.progress).is_ok()
            {
                self.append_rest(&mut appended);
            }
            let Appended { before, taken, stop } = appended;
            let Some(stop) = stop else { return Ok(before) };
            self.give_up(before, taken);
            if stop.is_for_good() {
                let segment_bytes = self.shared.memory.geometry().extent_bytes;
                return Err(match self.collected() {
                    1 => WriteError::DocumentTooLarge { segment_bytes },
                    _ => WriteError::GroupBeyondSegment { segment_bytes },
                });
            }
            self.make_way(stop)?;
        }
    }

    /// Appends the documents behind those that were appended.
    fn append_rest(&mut self, appended: &mut Appended) {
        let from = appended.taken;
        let rest = self.append_by(|writer, memory, batch| writer.append(memory, batch, from));
        let untouched = appended.stop.as_ref().is_some_and(|stop| stop.untouched);
        appended.taken = rest.taken;
        appended.stop = rest.stop.map(|stop| Stopped { untouched, ..stop });
    }

    /// Places a part without documents. It gets a row, so that its record waits for the segment
    /// being filled, and the group's last sequence number.
    fn place_mark(&mut self, end: GroupEnd<'_>) -> Result<Placed, WriteError> {
        self.wait_for_group(end)?;
        self.mark(end.number - 1)?;
        let before = self.writer.rows();
        let row = self.writer.base_row() + u64::from(before);
        Ok(Placed { before, row, entered: Vec::new() })
    }

    /// Appends a row for a record without documents, with this sequence number or the next one.
    pub(crate) fn mark(&mut self, sequence: u64) -> Result<(), WriteError> {
        self.delete_sequence = sequence.max(self.sequence_end);
        self.append_dead(self.delete_sequence)?;
        self.publish();
        Ok(())
    }

    fn wait_for_group(&mut self, end: GroupEnd<'_>) -> Result<(), WriteError> {
        let count = self.collected();
        self.wait_for_log(|journal, shared| journal.has_room_for_group(shared, count, end))
    }

    /// Enters the documents of the batch, of which the first is in row `row`: all of them or none.
    fn enter_all(&mut self, row: u64) -> Result<Vec<Entered>, WriteError> {
        let shared = self.shared.clone();
        let table = shared.keys();
        forget_replaced(&shared, &table, &mut self.replaced);
        shared.memory.pins().pin(&self.pin);
        note_numbers(&shared, &self.batch, self.batch.documents());
        let (mut all, mut heirs) = (Vec::new(), HashMap::new());
        let mut result = Ok(());
        for (document, row) in self.batch.documents().iter().zip(row..) {
            let key = self.batch.key(document);
            match enter(&shared, &table, key, row, &mut self.replaced) {
                Ok(None) => {}
                Ok(Some(mut entered)) => {
                    entered.follow(&mut heirs);
                    all.push(entered);
                }
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        shared.memory.pins().unpin(&self.pin);
        drop(table);
        result.inspect_err(|_| self.withdraw_all(row, &all)).map(|()| all)
    }

    /// Removes the keys of rows from `row` on from the table again.
    fn withdraw_all(&mut self, row: u64, entered: &[Entered]) {
        let shared = &self.shared;
        let table = shared.keys();
        shared.memory.pins().pin(&self.pin);
        let snapshot = Snapshot::of_role(&shared.memory, row);
        // In reverse order: a row may have taken over a slot of an earlier one.
        entered.iter().rev().for_each(|entered| entered.withdraw(shared, &snapshot, &table));
        shared.memory.pins().unpin(&self.pin);
    }

    /// Kills the documents that the batch replaces.
    fn bury_all(&mut self, entered: Vec<Entered>) {
        let shared = self.shared.clone();
        let _keys = shared.keys();
        shared.memory.pins().pin(&self.pin);
        let mut stamped = false;
        for entered in entered {
            stamped |= entered.bury(&shared, &mut self.replaced);
        }
        if stamped {
            shared.memory.fence_deaths();
        }
        shared.memory.pins().unpin(&self.pin);
    }

    /// Gives up the first `taken` rows after `before`: they never come to life.
    fn give_up(&mut self, before: u32, taken: usize) {
        let first = self.writer.base_row() + u64::from(before);
        if taken > 0 {
            let _keys = self.shared.keys();
            self.shared.memory.pins().pin(&self.pin);
            abandon(&self.shared, first..first + taken as u64);
            self.writer.discount(&self.shared.memory, taken as u32);
            self.shared.memory.pins().unpin(&self.pin);
        }
        self.publish();
    }
}

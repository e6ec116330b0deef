//! Groups: documents that come about together with the application's offset, all of them or none, whatever happens.
//!
//! A group is one record of the log, which is there or is not, and its rows lie in one segment. So it is tried whole: rows that
//! the segment has no room for the rest of are given up, and the group begins anew in the next one.

use std::sync::atomic::Ordering::Relaxed;

use super::{Appended, Committed, Ingester};
use crate::error::AddError;
use crate::replacement::abandon;

impl Ingester {
    /// The application's offset: that of the last group.
    pub(crate) fn offset(&self) -> Option<&[u8]> {
        self.journal.as_ref()?.offset()
    }

    /// Forgets what was collected.
    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        if let Some(journal) = &mut self.journal {
            journal.clear();
        }
    }

    /// Writes the batch together with `offset`, and makes both visible. An error means that nothing came about; but if the key
    /// table was full, the documents before the one that found no place are in.
    pub(crate) fn commit_group(&mut self, offset: &[u8]) -> Committed {
        self.shared.begin_change();
        let ended = match &mut self.journal {
            Some(journal) => journal.end_group(offset),
            None => Err(AddError::OffsetNotKept),
        };
        self.draw_numbers();
        let drawn_end = self.number + self.batch.documents().len() as u64;
        let number = self.number;
        let result = ended.and_then(|()| self.write_group(offset));
        self.clear();
        if result.is_err() {
            self.shared.numbers.give_back(self.number..drawn_end);
        }
        Committed { number, added: self.number - number, result }
    }

    fn write_group(&mut self, offset: &[u8]) -> Result<(), AddError> {
        let count = self.batch.documents().len();
        let before = if count > 0 { self.append_whole(offset)? } else { self.mark_group(offset)? };
        let row = self.writer.base_row() + u64::from(before);
        if let Some(journal) = &mut self.journal {
            journal.log_group(&self.shared, &self.batch, row, self.number)?;
        }
        let settled = self.settle(before, count);
        if let Some(journal) = self.journal.as_mut().filter(|_| settled == count) {
            journal.note_offset(offset);
        }
        self.close_group(settled, count, row)?;
        self.publish_settled(settled);
        if settled < count { Err(AddError::KeysFull) } else { Ok(()) }
    }

    /// Writes the rows of the whole batch, which nobody sees yet, into one segment; says behind how many others.
    fn append_whole(&mut self, offset: &[u8]) -> Result<u32, AddError> {
        let wanted = self.batch.documents().len();
        loop {
            self.wait_for_group(offset)?;
            let Appended { before, taken, stop } = self.append()?;
            let Some(stop) = stop else { return Ok(before) };
            self.give_up(before, taken);
            if stop.is_for_good() {
                let segment_bytes = self.shared.memory.geometry().settings.segment_bytes;
                return Err(if wanted > 1 {
                    AddError::GroupBeyondSegment { segment_bytes }
                } else {
                    AddError::DocumentTooLarge { segment_bytes }
                });
            }
            self.make_way(stop)?;
        }
    }

    /// A group without documents has a row all the same, so that the segment being filled is one that its record waits for.
    fn mark_group(&mut self, offset: &[u8]) -> Result<u32, AddError> {
        self.wait_for_group(offset)?;
        let sequence = self.shared.numbers.sequence.fetch_add(1, Relaxed);
        self.mark(sequence)?;
        Ok(self.writer.rows())
    }

    /// A row for a record without documents, with this sequence number or the one that comes next.
    pub(crate) fn mark(&mut self, sequence: u64) -> Result<(), AddError> {
        self.delete_sequence = sequence.max(self.sequence_end);
        self.append_dead(self.delete_sequence)?;
        self.publish();
        Ok(())
    }

    fn wait_for_group(&mut self, offset: &[u8]) -> Result<(), AddError> {
        let count = self.batch.documents().len();
        self.wait_for_log(|journal, shared| journal.has_room_for_group(shared, count, offset))
    }

    /// The first `taken` rows behind `before` never come to life.
    fn give_up(&mut self, before: u32, taken: usize) {
        let first = self.writer.base_row() + u64::from(before);
        if taken > 0 {
            let _keys = self.shared.keys();
            self.shared.memory.pins().pin(&self.pin);
            abandon(&self.shared, first..first + taken as u64);
            self.shared.memory.pins().unpin(&self.pin);
        }
        self.publish();
    }
}

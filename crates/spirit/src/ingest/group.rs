//! Groups: documents that come about together with the application's offset, all of them or none, whatever happens.
//!
//! A group is one record of the log, which is there or is not, and its rows lie in one segment. So it is tried whole: rows that
//! the segment has no room for the rest of are given up, and the group begins anew in the next one.

use spirit_index::fresh::Stop;

use super::{Committed, Ingester};
use crate::error::AddError;
use crate::replacement::abandon;
use crate::store::now_ms;

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
        let before = self.append_whole(offset)?;
        let row = self.writer.base_row() + u64::from(before);
        let count = self.batch.documents().len();
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
            self.wait_for_log(|journal, shared| {
                journal.has_room_for_group(shared, wanted, offset)
            })?;
            if self.sealed || self.is_full {
                self.next_segment()?;
            }
            let progress = self.shared.progress();
            let (before, untouched) = (self.writer.rows(), self.writer.is_untouched());
            let (taken, stop) = self.writer.append(&self.shared.memory, &mut self.batch);
            if before == 0 && self.timed {
                self.begun_ms = now_ms();
            }
            let Err(stop) = stop else { return Ok(before) };
            self.give_up(before, taken);
            match stop {
                Stop::SegmentFull if untouched => {
                    let segment_bytes = self.shared.memory.geometry().settings.segment_bytes;
                    return Err(AddError::DocumentTooLarge { segment_bytes });
                }
                Stop::SegmentFull => {
                    self.is_full = true;
                    self.next_segment()?;
                }
                Stop::HeapFull => self.wait_for_room(progress)?,
            }
        }
    }

    /// The first `taken` rows behind `before` never come to life.
    fn give_up(&mut self, before: u32, taken: usize) {
        let first = self.writer.base_row() + u64::from(before);
        if taken > 0 {
            let _keys = self.shared.keys();
            self.shared.memory.pins().pin(&self.pin);
            (first..first + taken as u64).for_each(|row| abandon(&self.shared, row));
            self.shared.memory.pins().unpin(&self.pin);
        }
        self.publish();
    }
}

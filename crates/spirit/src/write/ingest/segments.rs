//! Segments of the ingest role: how one ends and the next begins, and the waits for room.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::TrySendError;
use std::time::Instant;

use spirit_index::engrave::SegmentEnd;
use spirit_index::flush::Flush;
use spirit_index::fresh::FreshWriter;
use spirit_index::ground::{Gauge, SegmentId};

use super::arrivals::Arrivals;
use super::{Ingester, publish_segment};
use crate::config::clock::now_ms;
use crate::config::error::WriteError;
use crate::config::on_full::OnFull;
use crate::storage::shared::Shared;
use crate::write::journal::Journal;
use crate::write::task::Task;

impl Ingester {
    /// Waits until the log has room. Engraving segments makes it.
    pub(super) fn wait_for_log(
        &mut self,
        has_room: impl Fn(&Journal, &Shared) -> bool,
    ) -> Result<(), WriteError> {
        loop {
            let progress = self.shared.progress();
            if self.journal.as_ref().is_none_or(|journal| has_room(journal, &self.shared)) {
                return Ok(());
            }
            if self.journal.as_mut().is_some_and(|journal| journal.begin_lap(&self.shared)) {
                continue;
            }
            // The log keeps this segment's operations until it is engraved. Earlier segments make
            // room first.
            if !self.shared.is_anything_unplaced() {
                // While it waited to be handed over, other segments may have made room in the log.
                match self.end_segment() {
                    Err(WriteError::HeapFull) if self.shared.progress() != progress => continue,
                    ended => ended?,
                }
            }
            let _ = self.tasks.try_send(Task::EngraveAll);
            self.wait_for_stage(progress)?;
        }
    }

    /// Ends the segment being filled, unless it is empty. Nothing is added afterwards. An operation
    /// that waits for room gets an error, since no thread is left to make any.
    pub(crate) fn end_last_segment(&mut self) -> Result<(), WriteError> {
        self.is_closing = true;
        if self.writer.rows() > 0 { self.hand_over() } else { Ok(()) }
    }

    /// Ends the segment being filled before it is full, unless it is empty.
    pub(crate) fn end_segment(&mut self) -> Result<(), WriteError> {
        if self.handed_over || self.writer.rows() > 0 { self.next_segment() } else { Ok(()) }
    }

    /// Hands the segment to the flush stage, and opens the next. The call can be repeated if there
    /// is no room.
    pub(super) fn next_segment(&mut self) -> Result<(), WriteError> {
        self.hand_over()?;
        let memory = &self.shared.memory;
        let id = SegmentId::first(self.writer.id().position() + 1);
        let base_row = self.row_end();
        let sequence = self.batch.documents().first().map(|d| d.sequence);
        let base_sequence = sequence.unwrap_or(self.delete_sequence.max(self.sequence_end));
        self.writer = loop {
            let progress = self.shared.progress();
            let has_slot = memory.has_slot(id.position());
            let opened = || FreshWriter::open(memory, id, base_row, base_sequence);
            if let Some(writer) = has_slot.then(opened).flatten() {
                break writer;
            }
            // The last flush may have left no room for a new segment, and then the stage rests.
            self.wait_for_room(progress)?;
        };
        (self.is_full, self.handed_over) = (false, false);
        self.journal.iter_mut().for_each(Journal::begin_segment);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.begin_segment(memory, id.position());
        }
        publish_segment(&self.shared, &self.writer);
        Ok(())
    }

    /// Returns the row number after the last row.
    pub(super) fn row_end(&self) -> u64 {
        self.writer.base_row() + self.writer.rows() as u64
    }

    /// Ends the segment and hands it over. While the queue is full, the segment stays open.
    fn hand_over(&mut self) -> Result<(), WriteError> {
        while !self.handed_over {
            let progress = self.shared.progress();
            if !self.try_to_hand_over()? {
                self.wait_for_stage(progress)?;
            }
        }
        Ok(())
    }

    /// Like [`hand_over`](Self::hand_over), but does not wait. False if the queue is full.
    fn try_to_hand_over(&mut self) -> Result<bool, WriteError> {
        // Before the descriptor records where the log continues after this segment.
        let row = self.row_end();
        if let Some(journal) = &mut self.journal {
            journal.keep_offset(&self.shared, row, self.documents_end)?;
        }
        let descriptor = self.shared.memory.table().descriptor(self.writer.id());
        descriptor.set_rows(self.writer.rows() as u64);
        let flush = Flush::new(self.writer.id(), self.writer.counts(), self.shared.vectors);
        let task = Task::Flush(flush, self.segment_end());
        let mut sent = Ok(());
        self.shared.hand_over(|| {
            sent = self.tasks.try_send(task);
            sent.is_ok()
        });
        match sent {
            Ok(()) => self.handed_over = true,
            Err(TrySendError::Disconnected(_)) => return Err(self.shared.refusal()),
            Err(TrySendError::Full(_)) => descriptor.set_rows(u64::MAX),
        }
        Ok(self.handed_over)
    }

    /// True if the first document of the segment being filled is so old that it takes no more.
    pub(super) fn is_segment_over(&self) -> bool {
        self.arrivals.as_ref().is_some_and(Arrivals::end_segment)
    }

    /// Hands such a segment over, if that needs no waiting.
    pub(crate) fn hand_over_old(&mut self) {
        if !self.handed_over && self.is_segment_over() {
            // The next operation returns the error, if there is one.
            let _ = self.try_to_hand_over();
        }
    }

    /// Returns the facts of the segment that its slot will have.
    fn segment_end(&self) -> SegmentEnd {
        let numbers = &self.shared.numbers;
        SegmentEnd {
            sequence_end: self.sequence_end,
            log_from: self.journal.as_ref().map_or(0, Journal::from),
            documents_end: self.documents_end,
            accepted: self.accepted,
            explicit_end: numbers.explicit_end.load(Relaxed),
            arrived_ms: self.arrivals.as_ref().map_or_else(now_ms, Arrivals::newest_ms),
        }
    }

    /// True while the log is replayed. A start does not wait for the disk.
    fn is_replaying(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::is_replaying)
    }

    /// Waits for the flush stage to make room. There was none when `progress` was read. Returns an
    /// error if the stage can make none.
    fn wait_for_stage(&self, progress: u64) -> Result<(), WriteError> {
        if self.shared.takes_nothing() {
            self.shared.poison();
            return Err(self.shared.refusal());
        }
        let refuses = match self.shared.on_full {
            _ if self.shared.stops_waiting() => true,
            // The oldest segment is dropped once a merge is done or the disk has room again.
            OnFull::DropOldest => false,
            OnFull::Wait => self.is_closing || self.is_replaying(),
            OnFull::Refuse => true,
        };
        if refuses && self.shared.is_stuck_since(progress) {
            return Err(WriteError::HeapFull);
        }
        self.shared.note_waiting(progress);
        let begun = Instant::now();
        self.shared.memory.wait_for_space();
        self.shared.add_time(Gauge::WaitedTime, begun.elapsed());
        Ok(())
    }

    /// Makes room in a key table that is full of keys without an engraved segment.
    ///
    /// With a second tier, segments are engraved, and keys leave. Without one, the oldest segment
    /// is dropped with its keys, if the policy allows it. Then the caller retries the documents
    /// without room. `progress` was read before they were tried.
    pub(super) fn wait_for_keys(&mut self, progress: u64) -> Result<(), WriteError> {
        let has_tier = self.shared.memory.nvm().is_some();
        if !has_tier && self.shared.on_full != OnFull::DropOldest {
            return Err(WriteError::KeysFull);
        }
        let window = self.shared.memory.window();
        let is_last = match has_tier {
            true => !self.shared.is_anything_unplaced(),
            false => window.oldest == window.end,
        };
        if is_last && !self.handed_over {
            self.next_segment()?;
        }
        self.wait_for_room(progress)
    }

    /// Waits for room in the long-term partition, within the policy.
    pub(super) fn wait_for_room(&self, progress: u64) -> Result<(), WriteError> {
        // A full queue means that the stage is at work, which makes room too.
        let _ = self.tasks.try_send(Task::MakeRoom(progress));
        self.wait_for_stage(progress)
    }
}

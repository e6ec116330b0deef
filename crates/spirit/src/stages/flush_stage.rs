//! The flush stage: a thread that makes read-optimized segments of full ones. Between two of them
//! it does the [background work](crate::stages::background), unless that has a
//! [thread of its own](crate::stages::background_stage).
//!
//! Its queue holds one segment. When it falls behind, the ingest role waits to hand over the next
//! segment: this is the pipeline's back-pressure.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use spirit_index::engrave::SegmentEnd;
use spirit_index::flush::Flush;
use spirit_index::ground::Gauge;
use spirit_index::terms::TermSorter;

use crate::stages::background::{IDLE, Step};
use crate::stages::background_stage::{Bench, EndOfStage};
use crate::storage::shared::Shared;
use crate::write::task::Task;

/// The time after a start during which background work leaves the first answer alone.
const REST: Duration = Duration::from_millis(1);
/// The time between two looks at whether the other stage has ended.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) struct FlushStage {
    shared: Arc<Shared>,
    bench: Arc<Bench>,
    /// The sorter of a segment's terms.
    sorter: TermSorter,
    /// True once background work may begin.
    has_begun: bool,
    tasks: Receiver<Task>,
}

impl FlushStage {
    pub(crate) fn new(shared: Arc<Shared>, bench: Arc<Bench>, tasks: Receiver<Task>) -> FlushStage {
        FlushStage { shared, bench, sorter: TermSorter::default(), has_begun: false, tasks }
    }

    pub(crate) fn run(mut self) {
        let _end = EndOfStage::new(&self.shared, &self.bench);
        loop {
            match self.next_task() {
                Ok(Task::Flush(flush, end)) => self.flush(flush, end),
                Ok(Task::EngraveAll) => self.bench.take().engrave_all(),
                Ok(Task::MergeAll) => self.bench.take().merge_all(),
                Ok(Task::MakeRoom(progress)) => self.bench.take().make_room_unless_since(progress),
                Ok(Task::Report(done)) => self.bench.take().report_to(done),
                Ok(Task::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.idle(),
            }
            if self.shared.ends_stages() || !self.bench.is_open() {
                return;
            }
            self.bench.take().report();
            self.bench.wake();
        }
    }

    /// Returns the next task. Waits only if there is nothing else to do.
    fn next_task(&mut self) -> Result<Task, RecvTimeoutError> {
        if !self.has_begun {
            // The caller of a start wants its first answer before background work begins.
            let task = self.tasks.recv_timeout(REST);
            self.has_begun = !self.bench.take().import_keys();
            if self.has_begun {
                self.bench.begin();
            }
            return task;
        }
        if self.bench.has_thread() {
            return self.tasks.recv_timeout(LOOK);
        }
        let waits = {
            let mut background = self.bench.take();
            background.import_keys();
            !background.has_work()
        };
        if waits {
            return self.tasks.recv_timeout(IDLE);
        }
        self.tasks.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Takes the next step of background work, unless another thread does.
    fn idle(&mut self) {
        if !self.bench.has_thread() {
            let step = self.bench.take().advance();
            if step == Step::Blocked {
                self.shared.memory.wait_for_space();
            }
        }
    }

    fn flush(&mut self, mut flush: Flush, end: SegmentEnd) {
        // The queue has a free place. This wakes a thread that waits to hand over the next segment.
        self.shared.memory.notify_space();
        let mut steps = None;
        loop {
            let before = self.shared.progress();
            let begun = Instant::now();
            let ran = flush.run(&self.shared.memory, &mut self.sorter);
            self.shared.add_time(Gauge::FlushedTime, begun.elapsed());
            let Err(stop) = ran else { break };
            if self.shared.takes_nothing() || self.shared.is_closing() {
                return;
            }
            // A run that breaks off leaves garbage, which the next run may find collected.
            let went_on = steps.replace(flush.steps()) != Some(flush.steps());
            let at_once = self.bench.take().make_room_for(&mut flush, stop, before, went_on);
            if !at_once {
                self.shared.memory.wait_for_space();
            }
            self.bench.take().collect();
        }
        self.shared.add_time(Gauge::SortedTime, flush.sorting());
        self.bench.take().take_flushed(flush, end);
    }
}

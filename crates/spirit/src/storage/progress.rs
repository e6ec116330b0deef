//! What the ingest role and the flush stage tell each other about room.
//!
//! The ingest role reads the progress, looks for room, and waits if it finds nothing. It gives up if
//! the stage is *stuck*: if it says of that very progress that it can make no room. So everything
//! that may make room is progress: a step of the stage, a segment that is handed to it, and space
//! that readers left.
//!
//! The stage reads the progress before it looks. If something happens while it looks, what it says
//! is void. It does not look at the segments in its queue. They may make room, so while there are
//! any it says nothing.
//!
//! Orderings: a segment counts as unflushed before it is progress (Release). So a stage that reads
//! the progress (Acquire) and says of it that it is stuck has seen the segment.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

use spirit_mem::sync::Atom64;

/// Counts of what may have made room, and what was said of them.
#[derive(Debug, Default)]
pub(crate) struct Progress<A = AtomicU64> {
    /// The number of steps by which the flush stage may have made room, and of segments handed to
    /// it.
    steps: A,
    /// One more than the progress of which the flush stage last said that it can make no room.
    stuck: A,
    /// The number of segments that were handed over and are not flushed.
    unflushed: A,
}

impl<A: Atom64> Progress<A> {
    /// Returns the progress, if readers left space `returned` times. Both numbers only grow, so equal
    /// sums are of equal numbers.
    pub(crate) fn with(&self, returned: u64) -> u64 {
        self.steps.load(Acquire) + returned
    }

    /// Notes a step.
    pub(crate) fn note_step(&self) {
        self.steps.fetch_add(1, Release);
    }

    /// Hands a segment to the flush stage by `send`, which says whether it did.
    pub(crate) fn hand_over(&self, send: impl FnOnce() -> bool) {
        // Before it is sent: the stage may flush it at once.
        self.unflushed.fetch_add(1, Release);
        if send() {
            self.note_step();
        } else {
            self.take_back();
        }
    }

    /// Notes that a segment was flushed.
    pub(crate) fn note_flushed(&self) {
        self.take_back();
        self.note_step();
    }

    fn take_back(&self) {
        self.unflushed.fetch_add(1u64.wrapping_neg(), Release);
    }

    /// True if segments that were handed over are not flushed.
    pub(crate) fn is_anything_unflushed(&self) -> bool {
        self.unflushed.load(Acquire) > 0
    }

    /// Notes that the flush stage, which read `progress` before it looked, can make no room, not
    /// even for the segment that it is about to flush.
    pub(crate) fn note_stuck(&self, progress: u64) {
        self.stuck.store(progress + 1, Release);
    }

    /// Like [`note_stuck`](Self::note_stuck), unless a segment waits to be flushed. A task that was
    /// sent before the segment may be done after the segment was handed over.
    pub(crate) fn note_stuck_if_flushed(&self, progress: u64) {
        if !self.is_anything_unflushed() {
            self.note_stuck(progress);
        }
    }

    /// True if the flush stage said of this progress that it can make no room.
    pub(crate) fn is_stuck_at(&self, progress: u64) -> bool {
        self.stuck.load(Acquire) == progress + 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use loom::sync::atomic::AtomicBool;
    use loom::sync::atomic::Ordering::Relaxed;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;
    use crate::storage::modelled::Model64;

    impl Progress<Model64> {
        fn modelled() -> Progress<Model64> {
            let [steps, stuck, unflushed] = [(); 3].map(|()| Model64::new(0));
            Progress { steps, stuck, unflushed }
        }
    }

    /// What may be done wrong.
    #[derive(Clone, Copy, PartialEq)]
    enum Mistake {
        None,
        /// The stage does not ask whether a segment waits.
        AsksForNoSegment,
        /// A segment counts as unflushed once it is progress.
        CountsLate,
        /// Space that readers left is no progress.
        LeavesReadersOut,
    }

    #[derive(Clone, Copy)]
    enum Task {
        MakeRoom,
        Flush,
    }

    struct World {
        progress: Progress<Model64>,
        returned: Model64,
        tasks: Mutex<VecDeque<Task>>,
        /// Whether there is room, and whether some comes back as soon as it is collected.
        room: Mutex<(bool, bool)>,
        refused: AtomicBool,
        mistake: Mistake,
    }

    impl World {
        fn new(mistake: Mistake, tasks: impl IntoIterator<Item = Task>, left: bool) -> World {
            World {
                progress: Progress::modelled(),
                returned: Model64::new(0),
                tasks: Mutex::new(tasks.into_iter().collect()),
                room: Mutex::new((false, left)),
                refused: AtomicBool::new(false),
                mistake,
            }
        }

        fn progress(&self) -> u64 {
            self.progress.with(self.returned.load(Acquire))
        }

        /// As when something is allocated: space that readers left comes back.
        fn collect(&self) -> bool {
            let mut room = self.room.lock().unwrap();
            if room.1 {
                *room = (true, false);
                if self.mistake != Mistake::LeavesReadersOut {
                    self.returned.fetch_add(1, Release);
                }
            }
            room.0
        }

        fn is_reclaiming(&self) -> bool {
            self.room.lock().unwrap().1
        }

        /// Looks for room once, and refuses if nothing is left and nothing will come.
        fn look(&self) {
            let progress = self.progress();
            let has_room = self.room.lock().unwrap().0;
            let is_stuck = || self.progress.is_stuck_at(progress) && self.progress() == progress;
            if !has_room && is_stuck() {
                self.refused.store(true, Relaxed);
            }
        }

        fn hand_over(&self) {
            let send = || {
                self.tasks.lock().unwrap().push_back(Task::Flush);
                true
            };
            if self.mistake == Mistake::CountsLate {
                send();
                self.progress.note_step();
                self.progress.unflushed.fetch_add(1, Release);
            } else {
                self.progress.hand_over(send);
            }
        }

        /// Does a task that waits.
        fn stage(&self) {
            let task = self.tasks.lock().unwrap().pop_front();
            match task {
                None => {}
                Some(Task::Flush) => {
                    self.room.lock().unwrap().0 = true;
                    self.progress.note_flushed();
                }
                Some(Task::MakeRoom) => {
                    let before = self.progress();
                    self.collect();
                    if self.is_reclaiming() {
                        return;
                    }
                    match self.mistake {
                        Mistake::AsksForNoSegment => self.progress.note_stuck(before),
                        _ => self.progress.note_stuck_if_flushed(before),
                    }
                }
            }
        }
    }

    /// True if an operation is refused although room comes.
    fn may_refuse(world: impl Fn() -> World + Send + Sync + 'static, hands_over: bool) -> bool {
        let refused = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = refused.clone();
        loom::model(move || {
            let world = Arc::new(world());
            let stage = {
                let world = world.clone();
                thread::spawn(move || (0..2).for_each(|_| world.stage()))
            };
            if hands_over {
                world.hand_over();
            }
            world.look();
            world.look();
            stage.join().unwrap();
            if world.refused.load(Relaxed) {
                seen.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        });
        refused.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// A task to make room is done after a segment was handed over that it was sent before.
    #[test]
    fn no_operation_is_refused_while_a_segment_waits() {
        let refuses =
            |mistake| may_refuse(move || World::new(mistake, [Task::MakeRoom], false), true);
        assert!(!refuses(Mistake::None));
        for mistake in [Mistake::AsksForNoSegment, Mistake::CountsLate] {
            assert!(refuses(mistake));
        }
    }

    /// The stage takes back what readers left, while the ingest role has found no room.
    #[test]
    fn no_operation_is_refused_when_readers_left_space() {
        let refuses =
            |mistake| may_refuse(move || World::new(mistake, [Task::MakeRoom], true), false);
        assert!(!refuses(Mistake::None));
        assert!(refuses(Mistake::LeavesReadersOut));
    }

    /// Without anything that could make room, an operation is refused.
    #[test]
    fn a_stage_without_work_is_stuck() {
        let progress = Progress::<AtomicU64>::default();
        let seen = progress.with(3);
        progress.note_stuck_if_flushed(seen);
        assert!(progress.is_stuck_at(progress.with(3)));
        assert!(!progress.is_stuck_at(progress.with(4)));
        progress.hand_over(|| false);
        assert!(progress.is_stuck_at(progress.with(3)));
        progress.hand_over(|| true);
        assert!(!progress.is_stuck_at(progress.with(3)));
        progress.note_stuck_if_flushed(progress.with(3));
        assert!(!progress.is_stuck_at(progress.with(3)));
        progress.note_flushed();
        progress.note_stuck_if_flushed(progress.with(3));
        assert!(progress.is_stuck_at(progress.with(3)));
    }
}

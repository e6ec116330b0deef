//! A thread that sleeps while nothing is added.
//!
//! The thread notes that it is about to sleep, and then looks once more for new rows. A writer makes
//! rows visible, and then takes the note away. Both change the note in one step each, so one of the two
//! comes first. If it is the thread's, the writer finds the note and wakes it. If it is the writer's,
//! the thread sees the rows: its step reads the writer's (Acquire, Release).
//!
//! While nobody watches, a writer loads one word that nobody stores. It may learn late that somebody
//! does. So the thread never sleeps for long.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use spirit_mem::sync::Atom64;

/// The longest sleep. Whatever wakes the thread, it also looks so often.
const SLEEP_MAX: Duration = Duration::from_millis(100);

const AWAKE: u64 = 0;
const ASLEEP: u64 = 1;

/// The note that a thread is about to sleep.
#[derive(Debug, Default)]
struct Note<A = AtomicU64>(A);

impl<A: Atom64> Note<A> {
    /// Leaves the note. True if the thread may sleep: `has_new` found nothing after that.
    fn may_sleep(&self, has_new: impl FnOnce() -> bool) -> bool {
        self.0.swap(ASLEEP, AcqRel);
        !has_new()
    }

    /// Takes the note away. True if there was one.
    fn take(&self) -> bool {
        self.0.swap(AWAKE, AcqRel) == ASLEEP
    }
}

/// The thread that is woken when rows are added, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    is_watched: AtomicBool,
    note: Note,
    thread: Mutex<Option<Thread>>,
    is_over: AtomicBool,
}

impl Watch {
    /// Wakes the thread, if one watches. Called when rows have become visible.
    #[inline(always)]
    pub(crate) fn notify(&self) {
        if self.is_watched.load(Relaxed) {
            self.wake_if_asleep();
        }
    }

    // Apart, so that a commit of an index that nobody watches stays short.
    #[inline(never)]
    fn wake_if_asleep(&self) {
        if self.note.take() {
            self.wake();
        }
    }

    /// Wakes the thread for another reason.
    pub(crate) fn wake(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            thread.unpark();
        }
    }

    /// Watches from now on, by this thread.
    pub(crate) fn begin(&self) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        self.is_watched.store(true, Release);
    }

    /// Stops to watch. [`wake`](Self::wake) still works.
    pub(crate) fn rest(&self) {
        self.is_watched.store(false, Relaxed);
    }

    /// Sleeps until rows are added or somebody wakes the thread, unless `has_new`.
    pub(crate) fn sleep(&self, has_new: impl FnOnce() -> bool) {
        if self.note.may_sleep(has_new) {
            thread::park_timeout(SLEEP_MAX);
        }
        self.note.take();
    }

    /// Says that the index is closed, and wakes the thread.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Release);
        self.wake();
    }

    /// True once the index is closed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Acquire)
    }
}

#[cfg(test)]
mod tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::storage::modelled::Model64;

    /// A writer adds a row while the thread goes to sleep. Returns true if in some order the thread
    /// sleeps for ever beside a row that it has not seen.
    fn may_oversleep(note_first: bool) -> bool {
        let oversleeps = std::sync::Arc::new(AtomicBool::new(false));
        let found = oversleeps.clone();
        loom::model(move || {
            let shared = Arc::new((Note(Model64::new(AWAKE)), Model64::new(0)));
            let writer = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (note, rows) = &*shared;
                    rows.store(1, Release);
                    note.take()
                })
            };
            let (note, rows) = &*shared;
            let has_new = || rows.load(Acquire) == 1;
            let sleeps = match note_first {
                true => note.may_sleep(has_new),
                false => {
                    let has_new = has_new();
                    note.may_sleep(|| has_new)
                }
            };
            let is_woken = writer.join().unwrap();
            if sleeps && !is_woken {
                found.store(true, Relaxed);
            }
        });
        oversleeps.load(Relaxed)
    }

    #[test]
    fn a_row_is_seen_or_wakes() {
        assert!(!may_oversleep(true));
    }

    #[test]
    fn a_look_before_the_note_oversleeps() {
        assert!(may_oversleep(false));
    }
}

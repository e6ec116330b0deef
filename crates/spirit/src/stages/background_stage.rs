//! Background work in a thread of its own, beside the flush stage.
//!
//! The work lies on a *bench*: a lock, which either thread takes for a step. Only writing the
//! read-optimized form of a segment needs no lock. It reads an extent that nobody changes any more. It
//! writes to memory that only it has, and takes that from rings with a lock of their own. It enters
//! terms in the dictionary under the writer's lock, some at a time: a flush that stops for want of
//! room has always been interrupted by steps at these places. Until it is finished, which is a step,
//! the segment is outside the window, and no step knows of it.
//!
//! A thread that reads a term's entries holds the dictionary's writer: the other may give the term a
//! new array, and reuse the old one.
//!
//! Whether this pays depends on the cores and on the room in DRAM: `spirit-bench stages` measures it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::stages::background::{Background, IDLE, Step};
use crate::storage::shared::Shared;

/// Background work, and who does it.
pub(crate) struct Bench {
    background: Mutex<Background>,
    /// The number of threads that wait for the work, or are about to take it.
    wanted: AtomicU32,
    /// Signalled when there may be something to do.
    wake: Condvar,
    /// True if it has a thread of its own.
    has_thread: bool,
    has_begun: AtomicBool,
    is_closed: AtomicBool,
}

impl Bench {
    pub(crate) fn new(background: Background, has_thread: bool) -> Bench {
        Bench {
            background: Mutex::new(background),
            wanted: AtomicU32::new(0),
            wake: Condvar::new(),
            has_thread,
            has_begun: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Takes the work, for a step.
    pub(crate) fn take(&self) -> MutexGuard<'_, Background> {
        self.wanted.fetch_add(1, Relaxed);
        let held = self.lock();
        self.wanted.fetch_sub(1, Relaxed);
        held
    }

    /// Takes the work again, after those who want it. A lock alone would let its last holder have it
    /// again and again.
    fn take_after_others(&self) -> MutexGuard<'_, Background> {
        while self.wanted.load(Relaxed) > 0 {
            std::thread::yield_now();
        }
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Background> {
        // A panic while it is held poisons the index through the stage that panicked.
        self.background.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if another thread than the flush stage takes the steps.
    pub(crate) fn has_thread(&self) -> bool {
        self.has_thread
    }

    /// Lets the thread begin.
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Release);
        self.wake.notify_one();
    }

    /// Tells the thread that there may be something to do.
    pub(crate) fn wake(&self) {
        if self.has_thread {
            self.wake.notify_one();
        }
    }

    /// Ends both stages.
    pub(crate) fn close(&self) {
        // A thread that looked before and waits now looks again soon.
        self.is_closed.store(true, Release);
        self.wake.notify_one();
    }

    /// True until one of the stages ends.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_closed.load(Acquire)
    }
}

/// A guard that ends the other stage with the one that has it. It poisons the index if that one ends
/// by a panic.
pub(crate) struct EndOfStage {
    shared: Arc<Shared>,
    bench: Arc<Bench>,
}

impl EndOfStage {
    pub(crate) fn new(shared: &Arc<Shared>, bench: &Arc<Bench>) -> EndOfStage {
        EndOfStage { shared: shared.clone(), bench: bench.clone() }
    }
}

impl Drop for EndOfStage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.poison();
        }
        self.bench.close();
    }
}

/// The thread.
pub(crate) struct BackgroundStage {
    shared: Arc<Shared>,
    bench: Arc<Bench>,
}

impl BackgroundStage {
    pub(crate) fn new(shared: Arc<Shared>, bench: Arc<Bench>) -> BackgroundStage {
        BackgroundStage { shared, bench }
    }

    pub(crate) fn run(self) {
        let BackgroundStage { shared, bench } = self;
        let _end = EndOfStage::new(&shared, &bench);
        let mut background = bench.lock();
        while bench.is_open() && !shared.ends_stages() {
            let begun = bench.has_begun.load(Acquire);
            let step = if begun {
                background.import_keys();
                background.advance()
            } else {
                Step::Nothing
            };
            background.report();
            background = match step {
                Step::Taken => {
                    drop(background);
                    bench.take_after_others()
                }
                Step::Blocked => {
                    drop(background);
                    shared.memory.wait_for_space();
                    bench.take_after_others()
                }
                Step::Nothing => {
                    let waited = bench.wake.wait_timeout(background, IDLE);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

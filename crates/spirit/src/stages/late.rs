//! Readers that memory waits for, and the callback that names them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use spirit_mem::Pins;
use spirit_mem::reader_words::GROUPS;

use crate::lease::Leases;

/// The least time before a reader counts as late, and between two calls of the callback.
const PERIOD: Duration = Duration::from_secs(1);

/// A reader that keeps memory from being used again, of this process or of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateReader {
    /// The number that its process has here; none if it is this one, or has no number here.
    pub process: Option<i32>,
    /// How long memory has waited for it.
    pub waited: Duration,
    /// After how long it is let go of: results that are kept, after a lease; a query of another process that was stopped, after
    /// three.
    pub lease: Duration,
}

/// The callback for late readers.
#[derive(Clone)]
pub(crate) struct LateWatcher(Arc<dyn Fn(LateReader) + Send + Sync>);

impl LateWatcher {
    pub(crate) fn new(watch: impl Fn(LateReader) + Send + Sync + 'static) -> LateWatcher {
        LateWatcher(Arc::new(watch))
    }
}

impl fmt::Debug for LateWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateWatcher")
    }
}

/// Calls back while a reader is late, once in a [`PERIOD`].
pub(crate) struct Lateness {
    watcher: Option<LateWatcher>,
    /// The process of each group of shared slots, if there are such slots.
    processes: Option<Arc<[AtomicI32; GROUPS]>>,
    called: Instant,
}

impl Lateness {
    pub(crate) fn new(
        watcher: Option<LateWatcher>,
        processes: Option<Arc<[AtomicI32; GROUPS]>>,
    ) -> Lateness {
        Lateness { watcher, processes, called: Instant::now() }
    }

    /// Names the reader that has been in the way for longest, if it is late.
    pub(crate) fn tell(&mut self, leases: &Leases, pins: &Pins) {
        let Some(LateWatcher(watch)) = &self.watcher else { return };
        let Some((slot, since)) = leases.longest() else { return };
        let (now, waited) = (Instant::now(), since.elapsed());
        if waited < PERIOD || now - self.called < PERIOD {
            return;
        }
        self.called = now;
        let group = pins.group_of(slot).zip(self.processes.as_ref());
        let process = group.map(|(group, processes)| processes[group].load(Relaxed));
        let process = process.filter(|process| *process != 0);
        watch(LateReader { process, waited, lease: leases.lease() });
    }
}

//! Calls of the callback that reports late readers.

use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use spirit_mem::Pins;
use spirit_mem::reader_words::GROUPS;

use crate::config::late_reader::{LateReader, LateWatcher};
use crate::stages::lease::Leases;

/// The least time before a reader counts as late, and between two calls of the callback.
const PERIOD: Duration = Duration::from_secs(1);

/// The state of the callback, which is called once in each [`PERIOD`] while a reader is late.
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

    /// Reports the reader that has blocked memory for longest, if it is late.
    pub(crate) fn tell(&mut self, leases: &Leases, pins: &Pins) {
        let Some(watcher) = &self.watcher else { return };
        let Some((slot, since)) = leases.longest() else { return };
        let (now, waited) = (Instant::now(), since.elapsed());
        if waited < PERIOD || now - self.called < PERIOD {
            return;
        }
        self.called = now;
        let group = pins.group_of(slot).zip(self.processes.as_ref());
        let process = group.map(|(group, processes)| processes[group].load(Relaxed));
        let process = process.filter(|process| *process != 0);
        watcher.tell(LateReader { process, waited, lease: leases.lease() });
    }
}

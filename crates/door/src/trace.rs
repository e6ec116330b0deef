//! A trace of everything that went through the doors of an index, in order: what the [simulator](crate::sim) works on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::site::Site;

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Words were stored from `at` on, a multiple of 8, in no particular order.
    Store {
        /// Offset of the first.
        at: u64,
        /// The words.
        words: Box<[u64]>,
    },
    /// A word was stored that makes data reachable.
    Publish {
        /// Its offset.
        at: u64,
        /// The word.
        word: u64,
    },
    /// Lines were sent on their way.
    WriteBack {
        /// First byte.
        at: u64,
        /// How many.
        bytes: u64,
    },
    /// The thread waited for what it had sent.
    Fence,
    /// The test wrote something down, with all before it done: an acknowledgement, for instance.
    Note(u64),
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which region.
    pub space: u8,
    /// Which thread, counted by first appearance.
    pub thread: u8,
    /// Where in the program; nowhere if the test wrote it down.
    pub site: Option<Site>,
    /// What.
    pub action: Action,
}

/// Steps in the order in which they were done, whatever thread did them.
#[derive(Debug, Default)]
pub struct Trace {
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<Event>,
    threads: HashMap<ThreadId, u8>,
}

impl Trace {
    /// Does `step` and writes down what it says it did, as one step among those of all threads.
    pub(crate) fn record(&self, space: u8, site: Site, step: impl FnOnce() -> Action) {
        let mut log = self.log();
        let thread = log.thread();
        let action = step();
        log.events.push(Event { space, thread, site: Some(site), action });
    }

    /// Writes down `note`.
    pub fn note(&self, note: u64) {
        let mut log = self.log();
        let thread = log.thread();
        log.events.push(Event { space: 0, thread, site: None, action: Action::Note(note) });
    }

    /// What was done so far; begins anew.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.log().events)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // A panic while it is held leaves the trace without the current step, which is what happened.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn thread(&mut self) -> u8 {
        let next = self.threads.len() as u8;
        *self.threads.entry(std::thread::current().id()).or_insert(next)
    }
}

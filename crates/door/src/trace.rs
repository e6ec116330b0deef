//! A trace of everything that passed the doors of an index, in order: the input of the
//! [simulator](crate::sim).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::site::Site;

/// An action at a door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Words were stored from `at` on, a multiple of 8, in no particular order.
    Store {
        /// The offset of the first word, in bytes.
        at: u64,
        /// The words.
        words: Box<[u64]>,
    },
    /// A word was stored that makes data reachable.
    Publish {
        /// The offset of the word, in bytes.
        at: u64,
        /// The word.
        word: u64,
    },
    /// Lines began to be written back.
    WriteBack {
        /// The offset of the first byte.
        at: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// The thread waited for its write-backs.
    Fence,
    /// The whole file was synced: all stores of all threads are durable.
    Sync,
    /// The test noted a number, after everything before: an acknowledgement, for instance.
    Note(u64),
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the region.
    pub space: u8,
    /// The number of the thread, by first appearance.
    pub thread: u8,
    /// The site; none for a note of a test.
    pub site: Option<Site>,
    /// The action.
    pub action: Action,
}

/// The steps of all threads, in the order in which they were done.
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
    /// Runs `step` and records its action, as one step among those of all threads.
    pub(crate) fn record(&self, space: u8, site: Site, step: impl FnOnce() -> Action) {
        let mut log = self.log();
        let thread = log.thread();
        let action = step();
        log.events.push(Event { space, thread, site: Some(site), action });
    }

    /// Records `note`.
    pub fn note(&self, note: u64) {
        let mut log = self.log();
        let thread = log.thread();
        log.events.push(Event { space: 0, thread, site: None, action: Action::Note(note) });
    }

    /// Returns the events so far, and begins an empty trace.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.log().events)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // A panic during a step leaves the trace without it, which is correct.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn thread(&mut self) -> u8 {
        let next = self.threads.len() as u8;
        *self.threads.entry(std::thread::current().id()).or_insert(next)
    }
}

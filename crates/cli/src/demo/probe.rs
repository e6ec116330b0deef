//! The freshness probe: how long after the start of `add` another thread finds the document.
//!
//! The asker announces that it watches for the token of probe `n`, and asks for it again and again. The stream
//! sees the announcement before its next chunk, notes the time, and adds a document with that token. What is
//! measured ends when the asker's query has come back with a hit: it contains the whole of `add`, and on
//! average half a query.
//!
//! # Orderings
//!
//! `begun` is stored (release) by the stream before `add`. The asker loads it (acquire) after its query found
//! the document; that the document was visible means that `add` had begun, so the asker reads this probe's
//! time. `watched` carries a number only.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Instant;

use spirit::{Index, Reader, Search, WriteError};

use super::histogram::Histogram;

#[derive(Default)]
pub(crate) struct Probe {
    /// The probe that the asker watches for; 0: none.
    watched: AtomicU64,
    /// When `add` of the watched document began, in nanoseconds of the demonstration.
    begun: AtomicU64,
    pub(crate) delays: Histogram,
}

/// The token of probe `number`: no word, and the same in every analyzer of words.
fn token(number: u64, text: &mut String) {
    use std::fmt::Write;
    let _ = write!(text, "zq{number}xq");
}

fn now(started: Instant) -> u64 {
    started.elapsed().as_nanos() as u64
}

/// The stream's half.
pub(crate) struct Marker<'a> {
    probe: &'a Probe,
    started: Instant,
    last: u64,
    text: String,
}

impl<'a> Marker<'a> {
    pub(crate) fn new(probe: &'a Probe, started: Instant) -> Marker<'a> {
        Marker { probe, started, last: 0, text: String::new() }
    }

    /// Whether the asker watches for a document that was not added yet.
    pub(crate) fn is_wanted(&self) -> bool {
        self.probe.watched.load(Acquire) > self.last
    }

    /// Adds `document` with the token that is watched for.
    pub(crate) fn add(&mut self, index: &Index, document: &str) -> Result<(), WriteError> {
        self.last = self.probe.watched.load(Acquire);
        self.text.clear();
        self.text.push_str(document);
        self.text.push(' ');
        token(self.last, &mut self.text);
        self.probe.begun.store(now(self.started), Release);
        index.add(&self.text).map(drop)
    }
}

/// The asker's half.
pub(crate) struct Watcher<'a> {
    probe: &'a Probe,
    started: Instant,
    number: u64,
    query: String,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(probe: &'a Probe, started: Instant) -> Watcher<'a> {
        Watcher { probe, started, number: 0, query: String::new() }
    }

    /// Watches for the next probe until it is found or `ended` says so.
    pub(crate) fn watch(&mut self, reader: &mut Reader, ended: impl Fn() -> bool) {
        self.number += 1;
        self.query.clear();
        token(self.number, &mut self.query);
        self.probe.watched.store(self.number, Release);
        while !ended() {
            if reader.search(&self.query, Search::newest(1)).is_ok_and(|hits| !hits.is_empty()) {
                let delay = now(self.started).saturating_sub(self.probe.begun.load(Acquire));
                return self.probe.delays.record(delay);
            }
        }
    }
}

//! What is learnt of a request while it is answered, for the lines of the log about it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::catalog::Pass;
use crate::guard::Access;

/// The most bytes of a body that are kept for the log.
const TEXT_BYTES_MAX: usize = 1000;

/// What is learnt of a request.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    access: OnceLock<Access>,
    /// True if an index was asked.
    asked: AtomicBool,
    /// The time for which questions waited for a thread, in nanoseconds.
    waited: AtomicU64,
    matches: AtomicU64,
    /// True if the start of the body is to be kept.
    keeps_text: bool,
    text: OnceLock<String>,
    /// None before and after it may ask indexes.
    pass: Mutex<Option<Pass>>,
}

impl Trail {
    pub(super) fn new(keeps_text: bool) -> Trail {
        Trail { keeps_text, ..Trail::default() }
    }

    /// Keeps the pass with which the request may ask indexes.
    pub(super) fn enter(&self, pass: Pass) {
        *self.pass.lock().unwrap_or_else(PoisonError::into_inner) = Some(pass);
    }

    /// Gives the pass back: the request asks no index any more.
    pub(super) fn leave(&self) {
        self.pass.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Keeps what the key of the request may do.
    pub(super) fn let_in(&self, access: &Access) {
        let _ = self.access.set(access.clone());
    }

    /// Returns the id of the request's key.
    pub(super) fn key(&self) -> Option<&str> {
        match self.access.get()? {
            Access::Key(key) => Some(&key.id),
            Access::Nothing | Access::All => None,
        }
    }

    /// Adds the time for which a question waited.
    pub(super) fn waited(&self, time: Duration) {
        self.asked.store(true, Relaxed);
        self.waited.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// Returns the time for which questions waited; none if none was asked.
    pub(super) fn time_waited(&self) -> Option<Duration> {
        let waited = Duration::from_nanos(self.waited.load(Relaxed));
        self.asked.load(Relaxed).then_some(waited)
    }

    /// Adds documents that a question found.
    pub(crate) fn found(&self, matches: u64) {
        self.matches.fetch_add(matches, Relaxed);
    }

    pub(super) fn matches(&self) -> u64 {
        self.matches.load(Relaxed)
    }

    /// Keeps the start of the request's body, if it is wanted.
    pub(super) fn body(&self, body: &[u8]) {
        if self.keeps_text && !body.is_empty() {
            let start = &body[..body.len().min(TEXT_BYTES_MAX + 1)];
            let _ = self.text.set(String::from_utf8_lossy(start).into_owned());
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.text.get().map(String::as_str)
    }
}

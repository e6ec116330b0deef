//! Letters to the matcher: who wants to listen, and who leaves.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::listener::Listener;

/// A letter.
pub(super) enum Letter {
    /// Listen from now on, with an empty queue. The answer is the first row of each executor that the
    /// listener's queue will have.
    Listen(Arc<Listener>, SyncSender<Vec<u64>>),
    /// Listen no more.
    Leave(Arc<Listener>),
}

/// The matcher's mail.
#[derive(Default)]
pub(super) struct Mail {
    letterbox: Mutex<Letterbox>,
    is_waiting: AtomicBool,
}

/// Letters that were not read.
#[derive(Default)]
struct Letterbox {
    letters: Vec<Letter>,
    /// True once nobody reads them any more.
    is_closed: bool,
}

impl Mail {
    fn letterbox(&self) -> MutexGuard<'_, Letterbox> {
        self.letterbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a letter. False if nobody reads it any more.
    pub(super) fn leave(&self, letter: Letter) -> bool {
        let mut letterbox = self.letterbox();
        if letterbox.is_closed {
            return false;
        }
        letterbox.letters.push(letter);
        self.is_waiting.store(true, Release);
        true
    }

    /// True if there are letters.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Acquire)
    }

    /// Takes all letters. It takes no lock if there are none.
    pub(super) fn take(&self) -> Vec<Letter> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let mut letterbox = self.letterbox();
        self.is_waiting.store(false, Release);
        std::mem::take(&mut letterbox.letters)
    }

    /// Takes no further letter.
    pub(super) fn close(&self) {
        self.letterbox().is_closed = true;
    }
}

//! A listener: a standing query, and a queue of matches that were found for it.
//!
//! The queue is bounded. A listener whose queue is full is *behind*: no further match is queued until it
//! asks anew from where it is. So a slow listener loses nothing that the index still has, and takes no
//! memory for it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spirit_query::Query;

use super::round::Matched;
use crate::search::error::SearchError;

/// Called when a queue that was empty has a match, is behind, or has ended.
pub(super) type Bell = Box<dyn Fn() + Send + Sync>;

/// A standing query and its queue.
pub(super) struct Listener {
    pub(super) query: Arc<Query>,
    capacity: usize,
    bell: Option<Bell>,
    queue: Mutex<Queue>,
    has_news: Condvar,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) matches: VecDeque<Matched>,
    /// True if matches were left out since the last of them.
    pub(super) is_behind: bool,
    /// The reason why there will be no further match.
    pub(super) end: Option<SearchError>,
}

impl Queue {
    pub(super) fn has_news(&self) -> bool {
        !self.matches.is_empty() || self.is_behind || self.end.is_some()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("queue", &self.queue).finish_non_exhaustive()
    }
}

impl Listener {
    pub(super) fn new(query: Arc<Query>, capacity: usize, bell: Option<Bell>) -> Listener {
        let (queue, has_news) = (Mutex::default(), Condvar::new());
        Listener { query, capacity: capacity.max(1), bell, queue, has_news }
    }

    /// Locks the queue.
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing that holds the lock panics between two steps that belong together.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues matches, in order.
    pub(super) fn send(&self, matches: impl Iterator<Item = Matched>) {
        self.change(|queue| {
            for matched in matches {
                queue.is_behind |= queue.matches.len() >= self.capacity;
                if queue.is_behind {
                    break;
                }
                queue.matches.push_back(matched);
            }
        });
    }

    /// Says that documents were dropped before anyone looked at them. What is missing is found out when
    /// the listener asks anew from where it is.
    pub(super) fn fall_behind(&self) {
        self.change(|queue| queue.is_behind = true);
    }

    /// Says why there will be no further match.
    pub(super) fn end(&self, why: SearchError) {
        self.change(|queue| queue.end = Some(why));
    }

    fn change(&self, change: impl FnOnce(&mut Queue)) {
        let mut queue = self.queue();
        let had_news = queue.has_news();
        change(&mut queue);
        let is_first = !had_news && queue.has_news();
        drop(queue);
        if is_first {
            self.has_news.notify_all();
            self.bell.iter().for_each(|ring| ring());
        }
    }

    /// Empties the queue. What it had is looked for anew.
    pub(super) fn restart(&self) {
        let mut queue = self.queue();
        queue.matches.clear();
        queue.is_behind = false;
    }

    /// Waits for news. False if there are none in this time.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let end = Instant::now().checked_add(timeout);
        let mut queue = self.queue();
        while !queue.has_news() {
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            let woken = self.has_news.wait_timeout(queue, left);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

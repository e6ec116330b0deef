//! Which core a thread runs on.
//!
//! A thread or process starts on the cores of the thread that starts it, so one guard around "open the index",
//! "start the peer" holds all their threads. Where a system has a single core, or refuses, everything runs
//! where it may, and [`Cores::describe`] says so.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The two cores that are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    first: usize,
    second: usize,
    pinned: bool,
}

/// One of the cores, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// The stages' core where the queries have their own.
    First,
    /// The queries' core; also that of everything measured on one core.
    Second,
    /// Both.
    Both,
}

impl Cores {
    /// The first two cores that this process may use.
    pub(crate) fn find() -> Cores {
        let Ok(allowed) = sched_getaffinity(None) else {
            return Cores { first: 0, second: 0, pinned: false };
        };
        let mut may = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let first = may.next().unwrap_or(0);
        let second = may.next().unwrap_or(first);
        Cores { first, second, pinned: true }
    }

    /// Whether two threads can run at once.
    pub(crate) fn are_two(&self) -> bool {
        self.first != self.second
    }

    /// Moves this thread, and what it starts from now on, until the guard is dropped.
    pub(crate) fn pin(&self, on: On) -> Pinned {
        let before = sched_getaffinity(None).ok();
        let mut wanted = CpuSet::new();
        if on != On::Second {
            wanted.set(self.first);
        }
        if on != On::First {
            wanted.set(self.second);
        }
        if self.pinned {
            // Refused: the thread stays where it may run.
            let _ = sched_setaffinity(None, &wanted);
        }
        Pinned { before }
    }

    /// A line for people.
    pub(crate) fn describe(&self) -> String {
        match (self.pinned, self.are_two()) {
            (false, _) => "cores: threads cannot be pinned here".to_owned(),
            (true, false) => {
                format!(
                    "cores: only {}; experiments that need two cores are slower than they should be",
                    self.first
                )
            }
            (true, true) => format!("cores: {} and {}", self.first, self.second),
        }
    }
}

/// Puts the thread back where it was when dropped.
#[must_use = "the thread moves back when this is dropped"]
pub(crate) struct Pinned {
    before: Option<CpuSet>,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

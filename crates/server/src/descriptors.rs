//! File descriptors: as many as the system allows, and no more connections than there are.
//!
//! Shells and services often begin with 1,024. A server that finds none left can accept nobody, and cannot
//! open a file either.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors for files, and for what else a server opens.
const OTHERS: u64 = 512;

/// Raises the limit as far as it goes. Returns how many connections there may be, of those wanted.
pub(crate) fn for_connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let allowed = if raised.is_ok() { limit.maximum } else { limit.current };
    let Some(allowed) = allowed else { return wanted };
    let room = allowed.saturating_sub(OTHERS).max(allowed / 2);
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if room < wanted {
        tracing::warn!(
            descriptors = allowed,
            wanted,
            connections = room,
            "fewer connections than `connections` says, since the system allows fewer file descriptors \
             (`ulimit -Hn`, LimitNOFILE)"
        );
    }
    wanted.min(room)
}

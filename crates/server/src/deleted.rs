//! Versions of documents that were deleted a short time ago.
//!
//! A document that comes again within this time goes on counting, as in OpenSearch. They are in memory
//! alone: after a start, or beyond the limit, a document begins with version 1 again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which OpenSearch keeps versions: its setting `index.gc_deletes`.
const KEPT: Duration = Duration::from_secs(60);
/// Versions of one index that are kept, at most.
const KEPT_MAX: usize = 65_536;

/// The versions of an index's deleted documents.
#[derive(Debug, Default)]
pub(crate) struct Deleted(Mutex<Versions>);

#[derive(Debug, Default)]
struct Versions {
    by_id: HashMap<String, (i64, Instant)>,
    /// Ids in the order in which they were deleted.
    order: VecDeque<(String, Instant)>,
}

impl Deleted {
    /// Keeps the version of a document's last state: that of being deleted.
    pub(crate) fn keep(&self, id: &str, version: i64) {
        let now = Instant::now();
        let mut versions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        versions.by_id.insert(id.to_owned(), (version, now));
        versions.order.push_back((id.to_owned(), now));
        // Terminates: each round takes one away.
        while let Some((_, at)) = versions.order.front()
            && (at.elapsed() > KEPT || versions.order.len() > KEPT_MAX)
            && let Some((oldest, at)) = versions.order.pop_front()
        {
            // A later deletion of the same document has an entry of its own.
            if versions.by_id.get(&oldest).is_some_and(|(_, last)| *last == at) {
                versions.by_id.remove(&oldest);
            }
        }
    }

    /// Returns the version of a deleted document; 0 if it is not kept.
    pub(crate) fn version(&self, id: &str) -> i64 {
        let versions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = versions.by_id.get(id).filter(|(_, at)| at.elapsed() <= KEPT);
        kept.map_or(0, |(version, _)| *version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_versions_leave() {
        let deleted = Deleted::default();
        deleted.keep("a", 2);
        deleted.keep("a", 4);
        assert_eq!((deleted.version("a"), deleted.version("b")), (4, 0));
        (0..KEPT_MAX - 1).for_each(|n| deleted.keep(&n.to_string(), 1));
        // The first deletion of `a` left, the last is kept.
        assert_eq!(deleted.version("a"), 4);
        deleted.keep("b", 1);
        assert_eq!((deleted.version("a"), deleted.version("0")), (0, 1));
    }
}

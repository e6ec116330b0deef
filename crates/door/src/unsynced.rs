//! Ranges that were written back to a disk and not synced yet.

use std::sync::{Mutex, PoisonError};

use crate::site::Site;

/// The most ranges that are synced one by one. More are synced as one range, with all bytes
/// between.
const RANGES_MAX: usize = 32;
/// The distance below which two ranges are joined, in bytes: a page.
const NEAR: u64 = 4096;

/// The start and end of each range, in two lists. Acknowledgements wait only for the log's.
#[derive(Debug, Default)]
pub(crate) struct Unsynced {
    log: Mutex<Vec<(u64, u64)>>,
    rest: Mutex<Vec<(u64, u64)>>,
}

impl Unsynced {
    pub(crate) fn add(&self, site: Site, at: u64, bytes: u64) {
        let list = if site == Site::LogWriteBack { &self.log } else { &self.rest };
        let mut ranges = list.lock().unwrap_or_else(PoisonError::into_inner);
        match ranges.last_mut() {
            // Most often, the next range follows the last one.
            Some((start, end)) if at >= *start && at <= *end + NEAR => {
                *end = (*end).max(at + bytes)
            }
            _ => ranges.push((at, at + bytes)),
        }
    }

    /// Removes and returns the ranges that the fence at `site` waits for: start and bytes of each,
    /// ascending.
    pub(crate) fn take(&self, site: Site) -> Vec<(u64, u64)> {
        let list = match site {
            Site::LogFence => &self.log,
            // Deaths are in the log until their segment is engraved, and that fence waits for them.
            Site::StampFence => return Vec::new(),
            _ => &self.rest,
        };
        coalesce(std::mem::take(&mut *list.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn coalesce(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some((_, last)) if start <= *last + NEAR => *last = (*last).max(end),
            _ => joined.push((start, end)),
        }
    }
    if joined.len() > RANGES_MAX {
        joined = vec![(joined[0].0, joined[joined.len() - 1].1)];
    }
    joined.into_iter().map(|(start, end)| (start, end - start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_waited_for_alone() {
        let unsynced = Unsynced::default();
        unsynced.add(Site::LogWriteBack, 0, 100);
        unsynced.add(Site::LogWriteBack, 100, 100);
        unsynced.add(Site::StampWriteBack, 1 << 20, 8);
        unsynced.add(Site::BodyWriteBack, 0, 8);
        assert_eq!(unsynced.take(Site::StampFence), []);
        assert_eq!(unsynced.take(Site::LogFence), [(0, 200)]);
        assert_eq!(unsynced.take(Site::LogFence), []);
        assert_eq!(unsynced.take(Site::BodyFence), [(0, 8), (1 << 20, 8)]);
    }

    #[test]
    fn a_range_within_another_leaves_it_whole() {
        assert_eq!(coalesce(vec![(0, 9000), (64, 72)]), [(0, 9000)]);
        let unsynced = Unsynced::default();
        unsynced.add(Site::BodyWriteBack, 0, 9000);
        unsynced.add(Site::BodyWriteBack, 64, 8);
        assert_eq!(unsynced.take(Site::BodyFence), [(0, 9000)]);
    }

    #[test]
    fn many_ranges_become_one() {
        let far = |n: u64| (n << 20, (n << 20) + 8);
        let few: Vec<_> = (0..RANGES_MAX as u64).map(far).collect();
        assert_eq!(coalesce(few).len(), RANGES_MAX);
        let many: Vec<_> = (0..=RANGES_MAX as u64).rev().map(far).collect();
        assert_eq!(coalesce(many), [(0, (RANGES_MAX as u64 * (1 << 20)) + 8)]);
        assert_eq!(coalesce(vec![(9000, 9008), (0, 8), (4000, 5000)]), [(0, 9008)]);
    }
}

//! What an index lies on.

use std::path::Path;

use crate::Fallible;
use crate::cgroup::{Cgroup, MEMORY, READS};

/// Memory that the readers of a process need, beside the pages of the index.
const LIMIT_BYTES_MIN: u64 = 8 << 20;
/// A disk with platters.
const SLOW_BYTES: u64 = 100_000_000;
const SLOW_READS: u64 = 150;

/// A medium, or the part of one that is in the page cache.
pub(super) struct Medium {
    pub(super) name: &'static str,
    pub(super) is_in_memory: bool,
    /// All queries are asked once before.
    pub(super) is_warm: bool,
    /// The memory that is left for pages, in percent of the index.
    cached_percent: Option<u64>,
    is_slow: bool,
}

const DISK: Medium = Medium {
    name: "disk, cold",
    is_in_memory: false,
    is_warm: false,
    cached_percent: None,
    is_slow: false,
};

pub(super) const MEDIA: [Medium; 6] = [
    Medium { name: "DRAM", is_in_memory: true, is_warm: true, ..DISK },
    Medium { name: "disk, warm", is_warm: true, ..DISK },
    DISK,
    Medium { name: "disk, 55 %", cached_percent: Some(55), ..DISK },
    Medium { name: "disk, 15 %", cached_percent: Some(15), ..DISK },
    Medium { name: "slow disk", is_slow: true, ..DISK },
];

/// Groups that make a medium of another.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) memory: Option<Cgroup>,
    pub(super) reads: Option<Cgroup>,
}

impl Medium {
    /// The groups of a run whose index is in this directory.
    pub(super) fn groups(&self, directory: &Path) -> Fallible<Groups> {
        let mut groups = Groups::default();
        if self.cached_percent.is_some() {
            groups.memory = Some(Cgroup::new(&MEMORY)?);
        }
        if self.is_slow {
            let group = Cgroup::new(&READS)?;
            group.throttle(directory, SLOW_BYTES, SLOW_READS)?;
            groups.reads = Some(group);
        }
        if self.is_in_memory && !Path::new("/dev/shm").is_dir() {
            return Err("there is no file system in memory".into());
        }
        Ok(groups)
    }

    /// Bytes that are left for pages of an index, if they are limited.
    pub(super) fn cached_bytes(&self, index_bytes: u64) -> Option<u64> {
        self.cached_percent.map(|percent| (index_bytes * percent / 100).max(LIMIT_BYTES_MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_share_of_the_index_and_leaves_room_for_readers() {
        let limits: Vec<_> = MEDIA.iter().map(|medium| medium.cached_bytes(1 << 30)).collect();
        let percent = |percent: u64| Some((1 << 30) * percent / 100);
        assert_eq!(limits, [None, None, None, percent(55), percent(15), None]);
        assert_eq!(MEDIA[4].cached_bytes(1000), Some(LIMIT_BYTES_MIN));
    }
}

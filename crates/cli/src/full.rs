//! Names the part of an index that is full when a document finds no room, and the option that helps.

use spirit::{AddError, Index, PartitionStats, disk_free};

use crate::room;
use crate::size::Size;

/// A disk with less than this is full: a segment takes more.
const DISK_FREE_MIN: u64 = 8 << 20;
/// A partition counts as full from this share on: the rest is too small for a segment.
const FULL_SHARE: [u64; 2] = [3, 4];

/// Why `index` takes nothing more. Nobody else adds to it.
pub(crate) fn said(index: &Index, error: &AddError) -> String {
    let stats = index.stats().unwrap_or_default();
    let Some(directory) = index.options().get_directory() else {
        return room::remedy(stats.dram_bytes);
    };
    let name = directory.display();
    if let Ok(free) = disk_free(directory)
        && free < DISK_FREE_MIN
    {
        return format!(
            "the disk that {name} is on is full, {} are free: make room on it, and ingest the rest again; what was \
             acknowledged is kept",
            Size(free)
        );
    }
    if stats.partitions.iter().any(is_full) {
        return format!(
            "the index in {name} is full: it was made for {} at most; make one with a larger --nvm, or one that drops its \
             oldest documents with --on-full drop",
            Size(stats.nvm_bytes)
        );
    }
    format!("{error}; {} of DRAM were given: give more with --dram", Size(stats.dram_bytes))
}

/// True if segments fill the second tier.
fn is_full(partition: &PartitionStats) -> bool {
    let [share, of] = FULL_SHARE;
    let is_of_segments = ["nvm long-term", "nvm short-term"].contains(&partition.name);
    is_of_segments && partition.used / share * of >= partition.bytes
}

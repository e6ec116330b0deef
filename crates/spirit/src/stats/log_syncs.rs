//! The durations of the log's syncs, by upper bound.

use spirit_index::ground::DURATION_BOUNDS;
use spirit_index::memory::Memory;

use super::Stats;

/// Adds the syncs of an executor's log.
pub(crate) fn add_log_syncs(memory: &Memory, stats: &mut Stats) {
    let (counts, nanoseconds) = memory.log_syncs().read();
    stats.log_sync_seconds += nanoseconds as f64 / 1e9;
    if stats.log_syncs.is_empty() {
        let bounds = DURATION_BOUNDS.iter().map(|microseconds| *microseconds as f64 / 1e6);
        stats.log_syncs = bounds.chain([f64::INFINITY]).map(|bound| (bound, 0)).collect();
    }
    let mut up_to = 0;
    for ((_, sum), count) in stats.log_syncs.iter_mut().zip(counts) {
        up_to += count;
        *sum += up_to;
    }
}

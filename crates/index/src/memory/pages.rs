//! Pages that are asked for before they are stored to. Where memory is shared, and in files, pages are small: one call for many costs
//! less than a fault for each (experiment `restart`).

use std::ops::Range;

use crate::memory::Memory;

const PAGE: u64 = 4096;

/// Bytes that one call asks for: while it runs, this process cannot map or unmap anything.
const STEP: u64 = 512 << 10;

/// What replaying this many bytes of log stores to, as far as pages are asked for ahead. Measured with posts, rounded up.
const LOG_STEP: u64 = 512 << 10;
/// At the front of fresh segments' extents (records), at their end (blocks), and in the long-term partition (rows, vectors).
const FRONT_STEP: u64 = 128 << 10;
const END_STEP: u64 = 512 << 10;
const LONG_STEP: u64 = 384 << 10;

impl Memory {
    /// Asks for the pages of a block all of which is stored to next.
    /// Returns false if they could not be mapped: the first store to one takes it, or fails and says why.
    pub(crate) fn take_pages(&self, at: u64, bytes: u64) -> bool {
        let end = at + bytes;
        let mut steps = (at..end).step_by(STEP as usize);
        steps.all(|from| self.take_step(from..end.min(from + STEP)))
    }

    /// Asks for the pages that replaying `log_bytes` bytes of a log stores to, in that order, for as long as `wanted` says so.
    /// A start that replays waits for fewer then. Nothing was ingested yet.
    pub fn take_pages_ahead(&self, log_bytes: u64, wanted: impl Fn() -> bool) {
        let (short, long) = (self.footing.geometry.short, self.footing.geometry.long);
        let extent_bytes = self.footing.geometry.extent_bytes;
        // What is not asked for yet: of the extent, and of the long-term partition.
        let (mut next_extent, mut extent, mut long) = (short.0, 0..0, long.0..long.0 + long.1);
        for _ in 0..log_bytes.div_ceil(LOG_STEP) {
            if extent.is_empty() {
                if next_extent + extent_bytes > short.0 + short.1 {
                    return;
                }
                extent = next_extent..next_extent + extent_bytes;
                next_extent = extent.end;
            }
            let blocks = extent.start.max(extent.end.saturating_sub(END_STEP))..extent.end;
            extent.end = blocks.start;
            // Its table is stored to all over.
            let records = self.footing.geometry.fresh(next_extent - extent_bytes).records.start();
            let front = extent.start..extent.end.min(extent.start.max(records) + FRONT_STEP);
            extent.start = front.end;
            let rows = long.start..long.end.min(long.start + LONG_STEP);
            long.start = rows.end;
            for range in [blocks, rows, front] {
                if !wanted() || !self.take_pages(range.start, range.end - range.start) {
                    return;
                }
            }
        }
    }

    /// Asks for the pages in which a range lies.
    fn take_step(&self, range: Range<u64>) -> bool {
        let start = range.start / PAGE * PAGE;
        let end = range.end.next_multiple_of(PAGE).min(self.footing.region.bytes());
        self.footing.region.make_resident(start, end - start).is_ok()
    }
}

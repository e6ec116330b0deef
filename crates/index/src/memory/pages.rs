//! Pages that are mapped before they are stored to. In shared memory and in files, pages are small.
//! One call for many pages costs less than a fault for each (experiment `restart`).

use std::ops::Range;

use crate::memory::Memory;

const PAGE: u64 = 4096;

/// Bytes of one call. While a call runs, this process cannot map or unmap anything.
const STEP: u64 = 512 << 10;

/// Bytes of log per step of mapping ahead. The following constants are the bytes that replaying
/// these stores to. Measured with posts, rounded up.
const LOG_STEP: u64 = 512 << 10;
/// Bytes at the front of fresh segments' extents (records), at their end (blocks), and in the
/// long-term partition (rows, vectors).
const FRONT_STEP: u64 = 128 << 10;
const END_STEP: u64 = 512 << 10;
const LONG_STEP: u64 = 384 << 10;

impl Memory {
    /// Maps the pages of a block that is about to be stored to as a whole. Returns false if they
    /// could not be mapped. Then the first store to each page maps it, or fails and reports why.
    pub(crate) fn take_pages(&self, at: u64, bytes: u64) -> bool {
        let end = at + bytes;
        let mut steps = (at..end).step_by(STEP as usize);
        steps.all(|from| self.take_step(from..end.min(from + STEP)))
    }

    /// Maps the pages that replaying `log_bytes` bytes of a log stores to, in that order, while
    /// `wanted` returns true. A start that replays then waits for fewer faults. Nothing was
    /// ingested yet.
    pub fn take_pages_ahead(&self, log_bytes: u64, wanted: impl Fn() -> bool) {
        let (short, long) = (self.footing.geometry.short, self.footing.geometry.long);
        let extent_bytes = self.footing.geometry.extent_bytes;
        // The parts of the extent and of the long-term partition that are not mapped yet.
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
            // The extent's table is stored to all over.
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

    /// Maps the pages in which a range lies.
    fn take_step(&self, range: Range<u64>) -> bool {
        let start = range.start / PAGE * PAGE;
        let end = range.end.next_multiple_of(PAGE).min(self.footing.region.bytes());
        self.footing.region.make_resident(start, end - start).is_ok()
    }
}

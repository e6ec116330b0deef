//! How an executor's part of the second tier is divided: settled when the index is made (paper §4.4).
//!
//! | partition | holds | given out by |
//! |---|---|---|
//! | slots | the engrave log: one entry a segment | position |
//! | log | operations that no engraved segment has | ring, by byte |
//! | dictionary | the merged dictionary: buckets, records | lines |
//! | short-term | terms of engraved segments that are not merged | ring |
//! | long-term | rows, vectors, lengths, posting arrays, nodes, the order of terms and columns of engraved segments | ring |
//!
//! Offsets are those of the region, which begins with this part, so what is stored here means the same at every start.

use spirit_mem::{Line, Span};
use std::sync::atomic::AtomicU64;

use super::slot::SLOT_BYTES;

/// Everything in the layout begins at a multiple of this.
pub const PAGE: u64 = 4096;
/// Of what slots and log leave, the share of the merged dictionary.
const DICTIONARY_SHARE: u64 = 8;
/// The same of the short-term partition.
const SHORT_SHARE: u64 = 5;
/// The largest part: links address it in 33 bits of 32 bytes.
pub const NVM_BYTES_MAX: u64 = 256 << 30;
/// Bytes of a bucket and a line.
const BUCKET_AND_LINE: u64 = (size_of::<AtomicU64>() + size_of::<Line>()) as u64;
const _: () = assert!(BUCKET_AND_LINE == 72 && SLOT_BYTES.is_multiple_of(64));
/// The least log: a few batches.
pub const LOG_BYTES_MIN: u64 = 16 << 10;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmSettings {
    /// Bytes of the executor's part; a multiple of a page.
    pub bytes: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
}

/// Where everything is.
#[derive(Clone, Copy, Debug)]
pub struct NvmLayout {
    /// Bytes of the part.
    pub bytes: u64,
    /// Slots; their number is a power of two.
    pub slots: Span<AtomicU64>,
    /// How many.
    pub slots_max: u64,
    /// Start and bytes of the log.
    pub log: (u64, u64),
    /// The merged dictionary's buckets.
    pub buckets: Span<AtomicU64>,
    /// Its lines.
    pub lines: Span<Line>,
    /// Start and bytes of the short-term partition.
    pub short: (u64, u64),
    /// Start and bytes of the long-term partition.
    pub long: (u64, u64),
}

impl NvmLayout {
    /// Divides a part for segments of `segment_bytes`.
    pub fn new(settings: NvmSettings, segment_bytes: u64) -> NvmLayout {
        let bytes = settings.bytes / PAGE * PAGE;
        let slots_max = Self::slots_max(bytes, segment_bytes);
        let slot_bytes = (slots_max * SLOT_BYTES).next_multiple_of(PAGE);
        let log = (slot_bytes, settings.log_bytes.max(LOG_BYTES_MIN).next_multiple_of(PAGE));
        let rest = bytes.saturating_sub(log.0 + log.1);
        let dictionary = (rest / DICTIONARY_SHARE / PAGE * PAGE).max(PAGE);
        // A bucket a line; eights of buckets, so that the lines begin at a line.
        let lines_max = dictionary / BUCKET_AND_LINE / 8 * 8;
        let buckets = Span::new(log.0 + log.1, lines_max);
        let lines = Span::new(buckets.end(), lines_max);
        let short = (log.0 + log.1 + dictionary, rest / SHORT_SHARE / PAGE * PAGE);
        let long = (short.0 + short.1, rest - dictionary - short.1);
        let slots = Span::new(0, slots_max * SLOT_BYTES / 8);
        NvmLayout { bytes, slots, slots_max, log, buckets, lines, short, long }
    }

    /// The least part that works with segments of this size: room for two segments, whatever is in them.
    pub fn bytes_min(segment_bytes: u64, log_bytes: u64, store: bool) -> u64 {
        let segments = if store { 7 } else { 5 };
        let slots = Self::slots_max(0, segment_bytes) * SLOT_BYTES;
        (slots + log_bytes.max(LOG_BYTES_MIN) + segments * segment_bytes).next_multiple_of(PAGE)
    }

    fn slots_max(bytes: u64, segment_bytes: u64) -> u64 {
        (bytes / segment_bytes * 2).next_power_of_two().clamp(64, 4096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_follow_each_other_and_fill_the_part() {
        for (bytes, segment, log) in [(1 << 20, 64 << 10, 0), (8 << 30, 64 << 20, 256 << 20)] {
            let layout = NvmLayout::new(NvmSettings { bytes, log_bytes: log }, segment);
            assert!(layout.slots.end() <= layout.log.0);
            assert_eq!(layout.log.0 + layout.log.1, layout.buckets.start());
            assert_eq!(layout.lines.start() % 64, 0);
            assert!(layout.lines.end() <= layout.short.0);
            assert_eq!(layout.short.0 + layout.short.1, layout.long.0);
            assert_eq!(layout.long.0 + layout.long.1, bytes);
            assert!(layout.long.1 >= layout.short.1 * 3);
            assert!(layout.lines.bytes() >= layout.long.1 / 8);
            assert!([layout.log.0, layout.short.0, layout.long.0].iter().all(|at| at % PAGE == 0));
        }
    }
}

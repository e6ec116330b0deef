//! The division of an executor's part of the second tier. It is fixed when the index is made (paper
//! §4.4).
//!
//! | partition | contents | allocated by |
//! |---|---|---|
//! | slots | the engrave log: one entry a segment | position |
//! | log | operations that no engraved segment has | ring, by byte |
//! | dictionary | the merged dictionary: buckets, records | lines |
//! | short-term | terms of engraved segments that are not merged | ring |
//! | long-term | the rest of engraved segments: rows, vectors, lists, nodes, columns | ring |
//!
//! Offsets are those of the region, which begins with this part. So stored offsets are valid at
//! every start.

use spirit_mem::{Line, Span};
use std::sync::atomic::AtomicU64;

use crate::ground::parts::Parts;

/// Alignment of all parts of the layout.
pub const PAGE: u64 = 4096;
/// The merged dictionary gets one in this number of bytes that slots and log leave.
const DICTIONARY_SHARE: u64 = 8;
/// The short-term partition gets one in this number of these bytes.
const SHORT_SHARE: u64 = 5;
/// Bytes of the largest part: links address it in 33 bits of 32 bytes.
pub const NVM_BYTES_MAX: u64 = 256 << 30;
/// log2 of the buckets that a dictionary begins with. It is small, so that small dictionaries grow
/// as well.
const BUCKET_BITS_MIN: u32 = 4;
/// log2 of the most buckets of a dictionary: all bits of a hash that choose one.
const BUCKET_BITS_MAX: u32 = 32;
/// Bytes of a line and of at most two buckets for it: each smaller array of buckets has half as
/// many.
const LINE_AND_BUCKETS: u64 = (size_of::<Line>() + 2 * size_of::<AtomicU64>()) as u64;
/// Bytes of the root at the beginning of the file.
pub const ROOT_BYTES: u64 = 8192;
/// Bytes of each of the two lists of fields behind the root.
pub(crate) const FIELD_LIST_BYTES: u64 = 24 * PAGE;
/// Offset of the executors' parts in the file.
pub const PARTS_START: u64 = ROOT_BYTES + 2 * FIELD_LIST_BYTES;
/// Bytes of a segment's slot.
pub const SLOT_BYTES: u64 = 256;
/// Bytes that engraving writes in one step.
pub(crate) const PIECE_BYTES: u64 = 256 << 10;
const _: () = assert!(LINE_AND_BUCKETS == 80 && SLOT_BYTES.is_multiple_of(64));
/// Smallest number of slots of a part.
const SLOTS_MIN: u64 = 64;
/// Largest number of slots of a part.
pub const SLOTS_MAX: u64 = 4096;
/// Bytes of the smallest log: a few batches.
pub const LOG_BYTES_MIN: u64 = 16 << 10;

/// Bytes of the log that the disk backs from the beginning.
const LOG_BYTES_AT_FIRST: u64 = 1 << 20;

/// The sizes that the options ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmSettings {
    /// Bytes of the executor's part; a multiple of a page.
    pub bytes: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// The sizes of partitions.
    pub parts: Parts,
}

impl NvmSettings {
    /// Returns the least sizes of the partitions that work with segments of this size: room for two
    /// segments with any contents.
    pub(crate) fn parts_min(segment_bytes: u64, store: bool) -> Parts {
        let all = if store { 7 } else { 5 } * segment_bytes;
        let (short, dictionary) = (all / SHORT_SHARE, all / DICTIONARY_SHARE);
        Parts { short, dictionary, long: all - short - dictionary }
    }

    /// Returns the bytes of the least part that works with segments of this size, with partitions
    /// of the sizes asked for.
    pub fn bytes_min(&self, segment_bytes: u64, store: bool) -> u64 {
        let parts = self.parts.or(Self::parts_min(segment_bytes, store));
        let rest = self.log_bytes.max(LOG_BYTES_MIN).saturating_add(parts.sum());
        // Slots are a sixty-fourth at most.
        let bytes = if self.parts == Parts::default() { 0 } else { rest.saturating_add(rest / 8) };
        let slots = NvmLayout::slots_max(bytes, segment_bytes) * SLOT_BYTES;
        rest.saturating_add(slots).div_ceil(PAGE).saturating_mul(PAGE)
    }

    /// True if a part of this size has room for all partitions.
    pub fn fits(&self, segment_bytes: u64) -> bool {
        let layout = NvmLayout::new(*self, segment_bytes);
        layout.long.0 + layout.long.1 <= layout.bytes
    }
}

/// The places of an executor's part.
#[derive(Clone, Copy, Debug)]
pub struct NvmLayout {
    /// Bytes of the part.
    pub bytes: u64,
    /// Words of the slots.
    pub slots: Span<AtomicU64>,
    /// Number of slots, a power of two.
    pub slots_max: u64,
    /// Start and bytes of the log.
    pub log: (u64, u64),
    /// The word with the number of buckets of the merged dictionary in use.
    pub bucket_count: Span<AtomicU64>,
    /// log2 of the buckets that it begins with, and of those that it may grow to.
    pub bucket_bits: (u32, u32),
    /// Its buckets: an array for each number of buckets, the smallest first.
    pub buckets: Span<AtomicU64>,
    /// Its lines.
    pub lines: Span<Line>,
    /// Start and bytes of the short-term partition.
    pub short: (u64, u64),
    /// Start and bytes of the long-term partition.
    pub long: (u64, u64),
}

impl NvmLayout {
    /// Divides a part for segments of `segment_bytes` bytes.
    pub fn new(settings: NvmSettings, segment_bytes: u64) -> NvmLayout {
        let bytes = settings.bytes / PAGE * PAGE;
        let slots_max = Self::slots_max(bytes, segment_bytes);
        let slot_bytes = (slots_max * SLOT_BYTES).next_multiple_of(PAGE);
        let log = (slot_bytes, settings.log_bytes.max(LOG_BYTES_MIN).next_multiple_of(PAGE));
        let rest = bytes.saturating_sub(log.0 + log.1);
        let Parts { short, long, dictionary } = divide(rest, settings.parts);
        let Lines { bucket_count, bucket_bits, buckets, lines } =
            Lines::new(log.0 + log.1, dictionary);
        let short = (log.0 + log.1 + dictionary, short);
        let long = (short.0 + short.1, long);
        let slots = Span::new(0, slots_max * SLOT_BYTES / 8);
        NvmLayout {
            bytes,
            slots,
            slots_max,
            log,
            bucket_count,
            bucket_bits,
            buckets,
            lines,
            short,
            long,
        }
    }

    /// Divides a part that is a dictionary alone, behind a page of its own in the place of the slots.
    /// It has at least two pages.
    pub(crate) fn of_dictionary(bytes: u64) -> NvmLayout {
        let bytes = bytes / PAGE * PAGE;
        let Lines { bucket_count, bucket_bits, buckets, lines } = Lines::new(PAGE, bytes - PAGE);
        NvmLayout {
            bytes,
            slots: Span::new(0, PAGE / 8),
            slots_max: PAGE / SLOT_BYTES,
            log: (PAGE, 0),
            bucket_count,
            bucket_bits,
            buckets,
            lines,
            short: (bytes, 0),
            long: (bytes, 0),
        }
    }

    /// Returns the bytes of the least [dictionary alone](Self::of_dictionary) with this many lines.
    pub(crate) fn dictionary_bytes(lines: u64) -> u64 {
        let head = size_of::<Line>() as u64;
        (PAGE + head + lines * LINE_AND_BUCKETS).next_multiple_of(PAGE).max(2 * PAGE)
    }

    /// Returns start and bytes of the parts that the disk backs from the beginning. These are the
    /// slots with the first part of the log, and the first part of the merged dictionary.
    pub fn parts_at_first(&self) -> [(u64, u64); 2] {
        let dictionary = self.bucket_count.start();
        [
            (0, self.log.0 + self.log_at_first()),
            (dictionary, self.bucket_array(self.bucket_bits.0).end() - dictionary),
        ]
    }

    /// Returns the bytes at the beginning of the log that the disk backs from the beginning.
    pub fn log_at_first(&self) -> u64 {
        self.log.1.min(LOG_BYTES_AT_FIRST)
    }

    /// Returns the array of 2^`bits` buckets.
    pub fn bucket_array(&self, bits: u32) -> Span<AtomicU64> {
        let before = buckets_before(self.bucket_bits, bits);
        Span::new(self.buckets.start() + before * size_of::<AtomicU64>() as u64, 1 << bits)
    }

    fn slots_max(bytes: u64, segment_bytes: u64) -> u64 {
        (bytes / segment_bytes * 2).next_power_of_two().clamp(SLOTS_MIN, SLOTS_MAX)
    }
}

/// Divides what slots and log leave among the partitions. Those that were asked for have their sizes.
/// The others share the rest as they usually share all.
fn divide(rest: u64, asked: Parts) -> Parts {
    // An eighth, a fifth, and what is left.
    const SHARES: [u64; 3] = [5, 8, 27];
    const _: () = assert!(SHARES[0] * DICTIONARY_SHARE == 40 && SHARES[1] * SHORT_SHARE == 40);
    if asked == Parts::default() {
        let dictionary = (rest / DICTIONARY_SHARE / PAGE * PAGE).max(PAGE);
        let short = rest / SHORT_SHARE / PAGE * PAGE;
        return Parts { short, long: rest - dictionary - short, dictionary };
    }
    let asked = asked.map(|bytes| bytes / PAGE * PAGE);
    let sizes = [asked.dictionary, asked.short, asked.long];
    let mut left = rest.saturating_sub(asked.sum());
    let unset = (0..3).filter(|part| sizes[*part] == 0);
    let mut shares: u64 = unset.map(|part| SHARES[part]).sum();
    let [dictionary, short, long] = std::array::from_fn(|part| {
        if sizes[part] > 0 {
            return sizes[part];
        }
        // The last of them has all that is left.
        let is_last = shares == SHARES[part];
        let bytes = if is_last { left } else { left / shares * SHARES[part] / PAGE * PAGE };
        (left, shares) = (left - bytes, shares - SHARES[part]);
        bytes
    });
    Parts { short, long, dictionary: dictionary.max(PAGE) }
}

/// The division of a merged dictionary's partition.
struct Lines {
    bucket_count: Span<AtomicU64>,
    bucket_bits: (u32, u32),
    buckets: Span<AtomicU64>,
    lines: Span<Line>,
}

impl Lines {
    /// Divides `bytes` bytes from `start` on, at least a page.
    fn new(start: u64, bytes: u64) -> Lines {
        let head = size_of::<Line>() as u64;
        let bucket_count = Span::new(start, 1);
        let bits_max = ((bytes - head) / LINE_AND_BUCKETS).ilog2().min(BUCKET_BITS_MAX);
        let bucket_bits = (BUCKET_BITS_MIN.min(bits_max), bits_max);
        let buckets = Span::new(start + head, buckets_before(bucket_bits, bits_max + 1));
        let lines_max = (bytes - head - buckets.bytes()) / head;
        Lines { bucket_count, bucket_bits, buckets, lines: Span::new(buckets.end(), lines_max) }
    }
}

/// Returns the number of buckets in the arrays before that of 2^`bits`.
fn buckets_before((bits_min, _): (u32, u32), bits: u32) -> u64 {
    (1 << bits) - (1 << bits_min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_follow_each_other_and_fill_the_part() {
        for (bytes, segment, log) in [(1 << 20, 64 << 10, 0), (8 << 30, 64 << 20, 256 << 20)] {
            let settings = NvmSettings { bytes, log_bytes: log, parts: Parts::default() };
            let layout = NvmLayout::new(settings, segment);
            assert!(layout.slots.end() <= layout.log.0);
            assert_eq!(layout.log.0 + layout.log.1 + 64, layout.buckets.start());
            let (first, last) = layout.bucket_bits;
            assert_eq!(layout.bucket_array(first).start(), layout.buckets.start());
            assert_eq!(layout.bucket_array(last).end(), layout.buckets.end());
            for bits in first..last {
                assert_eq!(layout.bucket_array(bits).end(), layout.bucket_array(bits + 1).start());
            }
            assert_eq!(layout.lines.start() % 64, 0);
            assert!(layout.lines.end() <= layout.short.0);
            assert_eq!(layout.short.0 + layout.short.1, layout.long.0);
            assert_eq!(layout.long.0 + layout.long.1, bytes);
            assert!(layout.long.1 >= layout.short.1 * 3);
            assert!(layout.lines.bytes() >= layout.long.1 / 8);
            assert!([layout.log.0, layout.short.0, layout.long.0].iter().all(|at| at % PAGE == 0));
        }
    }

    /// A partition has the size asked for, and the others what is left: of a part that is as large
    /// as asked for, or larger.
    #[test]
    fn partitions_have_the_sizes_asked_for() {
        let (segment, mib) = (1 << 20, 1 << 20);
        let sizes = [0, 2 * mib, 5 * mib, 40 * mib];
        let all = sizes.iter().flat_map(|short| sizes.map(|long| (*short, long)));
        for (short, long, dictionary) in all.flat_map(|(s, l)| sizes.map(|d| (s, l, d))) {
            let parts = Parts { short, long, dictionary };
            for store in [false, true] {
                if parts.below(NvmSettings::parts_min(segment, store)).is_some() {
                    continue;
                }
                let log_bytes = 64 << 10;
                let least = NvmSettings { bytes: 0, log_bytes, parts }.bytes_min(segment, store);
                for bytes in [least, least + PAGE, least * 2, least * 9] {
                    let settings = NvmSettings { bytes, log_bytes, parts };
                    assert!(settings.fits(segment), "{settings:?}");
                    let layout = NvmLayout::new(settings, segment);
                    let dictionary = layout.short.0 - layout.log.0 - layout.log.1;
                    let had = Parts { short: layout.short.1, long: layout.long.1, dictionary };
                    assert_eq!(parts.or(had), had, "{settings:?}");
                    let least = NvmSettings::parts_min(segment, store).map(|b| b - PAGE);
                    assert_eq!(had.below(least), None, "{settings:?}");
                }
            }
        }
    }

    #[test]
    fn a_dictionary_alone_has_the_lines_that_it_was_made_for() {
        for lines in [0, 1, 40, 41, 50, 51, 1000, 1 << 20, (1 << 20) + 1] {
            let layout = NvmLayout::of_dictionary(NvmLayout::dictionary_bytes(lines));
            assert!(layout.lines.len() >= lines, "{lines}");
            assert!(layout.lines.end() <= layout.bytes);
            assert!(layout.slots.end() <= layout.bucket_count.start());
            assert_eq!(layout.bucket_array(layout.bucket_bits.1).end(), layout.lines.start());
        }
    }
}

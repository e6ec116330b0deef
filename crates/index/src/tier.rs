//! The second tier of an executor, open: its part of the file, the door to it, and how far the disk backs it.

pub(crate) mod pages;
pub(crate) mod prover;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_door::{Barrier, Door};
use spirit_mem::{FilePart, HeapFile, HeapFileError, Region, Residency};

use crate::ground::corrupt::Corrupt;
use crate::ground::ids::{Partition, Position};
use crate::ground::layout::NvmLayout;
use crate::ground::section::Sections;
use crate::ground::slot::{Entry, Slots};
use crate::tier::prover::SegmentProver;

/// Blocks of the disk are taken this many bytes at a time.
pub(crate) const BACKED_BYTES: u64 = 2 << 20;

/// If fewer bytes than these are backed ahead of the log's end, more are: a disk that fails or is full is noticed before they are used.
const LOG_AHEAD_MIN: u64 = 512 << 10;

/// What a second tier is opened with.
pub struct Tier {
    /// The file.
    pub file: Arc<HeapFile>,
    /// Where this executor's part of it begins.
    pub start: u64,
    /// The way to store in it.
    pub door: Door,
    /// The part was just made: the disk backs the beginning of its log.
    pub is_new: bool,
    /// Pages of segments are compared with their checks when this process reads them for the first time.
    pub verify: bool,
}

/// The second tier of an executor.
pub struct Nvm {
    layout: NvmLayout,
    tier: Tier,
    /// Where the log begins that must stay.
    log_head: AtomicU64,
    /// Up to where blocks of the disk back the short-term and the long-term partition.
    backed: [AtomicU64; 2],
    /// The positions in the log from which on and up to which blocks back it. The ingest role's alone.
    log_backed: [AtomicU64; 2],
}

impl Nvm {
    pub(crate) fn new(layout: NvmLayout, tier: Tier) -> Nvm {
        let backed = [layout.short.0, layout.long.0].map(AtomicU64::new);
        let log_backed = if tier.is_new { layout.log_at_first() } else { 0 };
        let log_backed = [0, log_backed].map(AtomicU64::new);
        Nvm { layout, tier, log_head: AtomicU64::new(0), backed, log_backed }
    }

    /// The part of the file that it is.
    pub(crate) fn file_part(&self) -> FilePart<'_> {
        FilePart { file: &self.tier.file, start: self.tier.start, bytes: self.layout.bytes }
    }

    /// Has the pages of segments in `region` looked at when they are read, if that was asked for.
    pub(crate) fn prove(&self, region: &mut Region) {
        if self.tier.verify {
            region.prove_with(SegmentProver::proved(self.layout));
        }
    }

    /// Where everything is.
    pub fn layout(&self) -> &NvmLayout {
        &self.layout
    }

    /// The way to store in it.
    pub fn door(&self) -> &Door {
        &self.tier.door
    }

    /// The oldest place in the log that is still needed.
    pub fn log_head(&self) -> u64 {
        self.log_head.load(Acquire)
    }

    /// What is before `head` is durable elsewhere.
    pub(crate) fn set_log_head(&self, head: u64) {
        self.log_head.store(head, Release);
    }

    /// Whether the engrave log has a slot for `position` while those from `oldest` on are in use.
    pub fn has_slot(&self, position: Position, oldest: Position) -> bool {
        u64::from(position - oldest) < self.layout.slots_max
    }

    /// The slot of an engraved segment and the sections of its copy.
    pub fn sections(
        &self,
        region: &Region,
        position: Position,
    ) -> Result<(Entry, Sections), Corrupt> {
        let entry = Slots::new(region, &self.layout).entry(position)?;
        let sections = Sections::of(region, &entry)?;
        Ok((entry, sections))
    }

    /// Backs the log for records from position `from`, where it ends now, up to `end`, and ahead of that; returns true if
    /// blocks back it up to `end`. The ingest role calls it.
    pub fn back_log(&self, region: &Region, residency: Residency, from: u64, end: u64) -> bool {
        let [first, backed] = self.log_backed.each_ref().map(|word| word.load(Relaxed));
        let bytes = self.layout.log.1;
        if end + LOG_AHEAD_MIN <= backed || (first < backed && backed - first >= bytes) {
            return true;
        }
        let from = from.max(backed);
        let ahead = (end + LOG_AHEAD_MIN).next_multiple_of(BACKED_BYTES);
        // A full disk may have given these blocks before, to another process.
        for to in [ahead, end].map(|to| to.min(from + bytes)) {
            // The lap ends between the two, if it does.
            let lap_end = (from + 1).next_multiple_of(bytes).min(to);
            if self.back_lap(region, residency, from..lap_end)
                && self.back_lap(region, residency, lap_end..to)
            {
                if first == backed {
                    self.log_backed[0].store(from, Relaxed);
                }
                self.log_backed[1].store(to.max(backed), Relaxed);
                return true;
            }
        }
        end <= backed
    }

    /// The log ends at `position`, where its next lap begins: what is known to be backed is behind that.
    pub fn note_log_lap(&self, position: u64) {
        self.log_backed.iter().for_each(|word| word.store(position, Relaxed));
    }

    /// Backs a part of one lap of the log.
    fn back_lap(&self, region: &Region, residency: Residency, part: Range<u64>) -> bool {
        let Range { start: from, end: to } = part;
        if from >= to {
            return true;
        }
        let (start, bytes) = self.layout.log;
        let place = start + from % bytes;
        if !self.back_range(place..place + (to - from)) {
            return false;
        }
        // On the first lap there is nothing behind the log's end.
        let is_first_lap = to <= bytes;
        let zero = is_first_lap && self.tier.door.barrier() == Barrier::Sync;
        if zero && !self.zero(region, place, to - from) {
            return false;
        }
        if residency == Residency::Prefault {
            // Pages that cannot be mapped now are when they are stored to.
            let _ = region.make_resident(place, to - from);
        }
        true
    }

    /// Writes zeros to a part of the log and syncs them, so that syncing a record there changes no metadata of the file. Returns false
    /// if the disk failed or is full.
    fn zero(&self, region: &Region, at: u64, bytes: u64) -> bool {
        let written = self.tier.file.write_zeros(self.tier.start + at, bytes);
        self.is_done(written) && self.tier.door.sync_part(region, at, bytes)
    }

    /// Backs a part of the tier with blocks of the disk; says whether there are any.
    pub(crate) fn back_range(&self, range: Range<u64>) -> bool {
        let file = &self.tier.file;
        self.is_done(file.reserve(self.tier.start + range.start, range.end - range.start))
    }

    /// True on success. Closes the door if the disk failed rather than being full: waiting for space on such a disk never ends.
    fn is_done(&self, done: Result<(), HeapFileError>) -> bool {
        if let Some(why) = done.as_ref().err().filter(|why| !why.is_full()) {
            self.tier.door.fail(why.to_string());
        }
        done.is_ok()
    }

    /// Backs the part of a partition up to `end` with blocks of the disk; says whether there are any.
    pub(crate) fn back(&self, partition: Partition, end: u64) -> bool {
        let (backed, (start, bytes)) = match partition {
            Partition::NvmShort => (&self.backed[0], self.layout.short),
            _ => (&self.backed[1], self.layout.long),
        };
        let from = backed.load(Relaxed);
        if end <= from {
            return true;
        }
        let to = end.next_multiple_of(BACKED_BYTES).min(start + bytes);
        let done = self.back_range(from..to);
        if done {
            backed.store(to, Relaxed);
        }
        done
    }
}

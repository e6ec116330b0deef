//! The second tier of an executor, open: its part of the file, its door, and the extent to which
//! the disk backs it.

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

/// The disk backs the part in steps of this many bytes.
pub(crate) const BACKED_BYTES: u64 = 2 << 20;

/// If fewer bytes than this are backed ahead of the log's end, more are backed. So a disk that
/// fails or is full is noticed before the bytes are used.
const LOG_AHEAD_MIN: u64 = 512 << 10;

/// The parameters that open a second tier.
pub struct Tier {
    /// The file.
    pub file: Arc<HeapFile>,
    /// Offset of this executor's part in it.
    pub start: u64,
    /// The door to it.
    pub door: Door,
    /// True if the part was just made. The disk then backs the beginning of its log.
    pub is_new: bool,
    /// True if pages of segments are compared with their checks when this process reads them for
    /// the first time.
    pub verify: bool,
}

/// The second tier of an executor.
pub struct Nvm {
    layout: NvmLayout,
    tier: Tier,
    /// Log position from which on the log must stay.
    log_head: AtomicU64,
    /// Ends of the parts of the short-term and the long-term partition that the disk backs.
    backed: [AtomicU64; 2],
    /// The log positions between which the disk backs the log. Only the ingest role uses them.
    log_backed: [AtomicU64; 2],
}

impl Nvm {
    pub(crate) fn new(layout: NvmLayout, tier: Tier) -> Nvm {
        let backed = [layout.short.0, layout.long.0].map(AtomicU64::new);
        let log_backed = if tier.is_new { layout.log_at_first() } else { 0 };
        let log_backed = [0, log_backed].map(AtomicU64::new);
        Nvm { layout, tier, log_head: AtomicU64::new(0), backed, log_backed }
    }

    /// Returns its part of the file.
    pub(crate) fn file_part(&self) -> FilePart<'_> {
        FilePart { file: &self.tier.file, start: self.tier.start, bytes: self.layout.bytes }
    }

    /// Lets `region` check the pages of segments on their first read, if that is asked for.
    pub(crate) fn prove(&self, region: &mut Region) {
        if self.tier.verify {
            region.prove_with(SegmentProver::proved(self.layout));
        }
    }

    /// Returns the layout.
    pub fn layout(&self) -> &NvmLayout {
        &self.layout
    }

    /// Returns the door.
    pub fn door(&self) -> &Door {
        &self.tier.door
    }

    /// Returns the oldest log position that is still needed.
    pub fn log_head(&self) -> u64 {
        self.log_head.load(Acquire)
    }

    /// Notes that the log before `head` is durable elsewhere.
    pub(crate) fn set_log_head(&self, head: u64) {
        self.log_head.store(head, Release);
    }

    /// True if the engrave log has a slot for `position` while those from `oldest` on are in use.
    pub fn has_slot(&self, position: Position, oldest: Position) -> bool {
        u64::from(position - oldest) < self.layout.slots_max
    }

    /// Returns the slot entry of an engraved segment and the sections of its copy.
    pub fn sections(
        &self,
        region: &Region,
        position: Position,
    ) -> Result<(Entry, Sections), Corrupt> {
        let entry = Slots::new(region, &self.layout).entry(position)?;
        let sections = Sections::of(region, &entry)?;
        Ok((entry, sections))
    }

    /// Backs the log for records from position `from`, its present end, up to `end`, and ahead of
    /// that. Returns true if the disk backs it up to `end`. Ingest role only.
    pub fn back_log(&self, region: &Region, residency: Residency, from: u64, end: u64) -> bool {
        let [first, backed] = self.log_backed.each_ref().map(|word| word.load(Relaxed));
        let bytes = self.layout.log.1;
        if end + LOG_AHEAD_MIN <= backed || (first < backed && backed - first >= bytes) {
            return true;
        }
        let from = from.max(backed);
        let ahead = (end + LOG_AHEAD_MIN).next_multiple_of(BACKED_BYTES);
        // A disk that is full for the larger range may have room for the smaller one.
        for to in [ahead, end].map(|to| to.min(from + bytes)) {
            // The lap may end between the two.
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

    /// Notes that the log ends at `position`, where its next lap begins. The positions known to be
    /// backed are behind that.
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
            // Pages that cannot be mapped now are mapped by the first store.
            let _ = region.make_resident(place, to - from);
        }
        true
    }

    /// Writes zeros to a part of the log and syncs them. So syncing a record there changes no
    /// metadata of the file. Returns false if the disk failed or is full.
    fn zero(&self, region: &Region, at: u64, bytes: u64) -> bool {
        let written = self.tier.file.write_zeros(self.tier.start + at, bytes);
        self.is_done(written) && self.tier.door.sync_part(region, at, bytes)
    }

    /// Backs a part of the tier with blocks of the disk. Returns true on success.
    pub(crate) fn back_range(&self, range: Range<u64>) -> bool {
        let file = &self.tier.file;
        self.is_done(file.reserve(self.tier.start + range.start, range.end - range.start))
    }

    /// True on success. Closes the door if the disk failed for another reason than being full:
    /// waiting for space on such a disk never ends.
    fn is_done(&self, done: Result<(), HeapFileError>) -> bool {
        if let Some(why) = done.as_ref().err().filter(|why| !why.is_full()) {
            self.tier.door.fail(why.to_string());
        }
        done.is_ok()
    }

    /// Backs the part of a partition up to `end` with blocks of the disk. Returns true on success.
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

//! The second tier of an executor, open: its part of the file, the door to it, and how far the disk backs it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_door::Door;
use spirit_mem::{FilePart, HeapFile, Region};

use super::Corrupt;
use super::layout::NvmLayout;
use super::section::Sections;
use super::slot::{Entry, Slots};
use crate::descriptor::Position;
use crate::memory::Partition;

/// Blocks of the disk are taken this many bytes at a time.
const BACKED_BYTES: u64 = 4 << 20;

/// What a second tier is opened with.
pub struct Tier {
    /// The file.
    pub file: Arc<HeapFile>,
    /// Where this executor's part of it begins.
    pub start: u64,
    /// The way to store in it.
    pub door: Door,
}

/// The second tier of an executor.
pub struct Nvm {
    layout: NvmLayout,
    tier: Tier,
    /// Where the log begins that must stay.
    log_head: AtomicU64,
    /// Up to where blocks of the disk back the short-term and the long-term partition.
    backed: [AtomicU64; 2],
}

impl Nvm {
    pub(crate) fn new(layout: NvmLayout, tier: Tier) -> Nvm {
        let backed = [layout.short.0, layout.long.0].map(AtomicU64::new);
        Nvm { layout, tier, log_head: AtomicU64::new(0), backed }
    }

    /// The part of the file that it is.
    pub(crate) fn file_part(&self) -> FilePart<'_> {
        FilePart { file: &self.tier.file, start: self.tier.start, bytes: self.layout.bytes }
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
        let done = self.tier.file.reserve(self.tier.start + from, to - from).is_ok();
        if done {
            backed.store(to, Relaxed);
        }
        done
    }
}

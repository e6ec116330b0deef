//! Statistics of an index that is open for reading only: what its file says of the engraved segments.

use spirit_index::memory::Memory;
use spirit_mem::PinSlot;

use crate::follower::Follower;
use crate::index::Index;
use crate::section_stats::add_sections;
use crate::stats::{PartitionStats, SegmentStats, Stats, describe};

impl Index {
    /// Adds what a process that only reads sees. Rows whose death is not seen yet count as dead.
    pub(crate) fn followed_stats(&self, follower: &Follower, slot: &PinSlot, stats: &mut Stats) {
        self.pins.pin(slot);
        follower.catch_up(&self.pins, &self.parts);
        stats.accepted = self.accepted();
        for (executor, part) in self.parts.iter().enumerate() {
            add(&part.memory, executor, stats);
        }
        self.pins.unpin(slot);
    }
}

fn add(memory: &Memory, executor: usize, stats: &mut Stats) {
    let window = memory.window();
    for position in (window.oldest..window.end).rev() {
        let Some((descriptor, state)) = memory.table().get(position) else { continue };
        let segment = describe(memory, descriptor, state);
        stats.segments.push(SegmentStats { executor, position, ..segment });
    }
    stats.dram_bytes += memory.geometry().bytes;
    add_sections(memory, stats);
    let Some(nvm) = memory.nvm() else { return };
    let layout = nvm.layout();
    stats.nvm_bytes += layout.bytes;
    let (mut long, mut short) = (0, 0);
    for position in window.oldest..window.end {
        let Ok((entry, _)) = nvm.sections(memory.region(), position) else { continue };
        long += entry.long_bytes;
        short += if position < memory.merged() { 0 } else { entry.short_bytes };
    }
    let partitions =
        [("nvm short-term", short, layout.short.1), ("nvm long-term", long, layout.long.1)];
    let named = |(name, used, bytes)| PartitionStats { executor, name, used, bytes };
    stats.partitions.extend(partitions.map(named));
}

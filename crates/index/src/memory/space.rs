//! The allocation of an executor's space, and its reclamation when no reader can hold it any more.

use std::collections::VecDeque;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::Ring;

use crate::ground::geometry::Geometry;
use crate::ground::ids::{Partition, Position, SegmentId};
use crate::ground::layout::NvmLayout;
use crate::ground::roots::Gauge;
use crate::memory::Memory;

/// Largest number of blocks of the long-term ring at a time, as a bound of its book-keeping.
const BLOCKS_PER_SEGMENT_MAX: u64 = 1024;
const BLOCKS_MAX: u64 = 1 << 18;

/// Space that waits for its last reader.
#[derive(Clone, Copy, Debug)]
enum Garbage {
    /// The blocks of a segment in one partition.
    Blocks(Partition, SegmentId),
    /// A position of the descriptor table.
    Slot(Position),
}

pub(super) struct Rings {
    short: Ring,
    long: Ring,
    nvm_short: Ring,
    nvm_long: Ring,
    limbo: VecDeque<(u64, Garbage)>,
}

/// The use of an executor's partitions, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionUse {
    /// Short-term: allocated, and in all.
    pub short: (u64, u64),
    /// Long-term: allocated, and in all.
    pub long: (u64, u64),
    /// The second tier's short-term: allocated, and in all.
    pub nvm_short: (u64, u64),
    /// The second tier's long-term: allocated, and in all.
    pub nvm_long: (u64, u64),
}

/// The largest free block of each partition that gives out blocks, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargestFree {
    /// Short-term.
    pub short: u64,
    /// Long-term.
    pub long: u64,
    /// The DRAM dictionary.
    pub dictionary: u64,
    /// The second tier's short-term.
    pub nvm_short: u64,
    /// The second tier's long-term.
    pub nvm_long: u64,
}

impl Memory {
    /// Restores a block that was allocated before the last stop, in the order of allocation.
    /// Returns true if such blocks can have been allocated.
    pub(crate) fn restore(
        &self,
        partition: Partition,
        start: u64,
        bytes: u64,
        owner: SegmentId,
    ) -> bool {
        let mut rings = self.rings();
        let possible = rings.ring(partition).restore(start, bytes, owner.0 as u64);
        self.note_use(&rings);
        possible
    }

    /// Wakes threads that wait for space, because there may be some, for example in the log.
    pub fn notify_space(&self) {
        self.space.notify_all();
    }

    /// Returns the position below which positions are gone and no reader holds them.
    pub(crate) fn reclaimed(&self) -> Position {
        self.reclaimed.load(Acquire) as Position
    }

    /// True if the table has a slot for `position`.
    pub fn has_slot(&self, position: Position) -> bool {
        (position as u64) < self.reclaimed.load(Acquire) + self.footing.geometry.segments_max
    }

    fn rings(&self) -> MutexGuard<'_, Rings> {
        // A panic while the lock is held leaves the rings as they were between two calls, or
        // poisons the index through the stage that panicked. Readers do not take this lock.
        self.rings.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Allocates a block of at least `bytes` bytes in `partition` for `owner` and returns its
    /// offset. Returns `None` while there is no room.
    pub fn allocate(&self, partition: Partition, bytes: u64, owner: SegmentId) -> Option<u64> {
        let mut rings = self.rings();
        self.collect(&mut rings);
        let reserve = if partition == Partition::Long { self.reserve.load(Relaxed) } else { 0 };
        let ring = rings.ring(partition);
        if ring.used() + bytes + reserve > ring.bytes() {
            return None;
        }
        let place = ring.allocate(bytes, owner.0 as u64)?;
        let is_nvm = matches!(partition, Partition::NvmShort | Partition::NvmLong);
        if is_nvm && !self.nvm.as_ref().is_some_and(|nvm| nvm.back(partition, place + bytes)) {
            ring.release(owner.0 as u64);
            return None;
        }
        self.note_use(&rings);
        Some(place)
    }

    /// Like [`allocate`](Self::allocate), but in the long-term partition with its reserve. For a
    /// rewrite, which frees more.
    pub fn allocate_reserved(&self, bytes: u64, owner: SegmentId) -> Option<u64> {
        let mut rings = self.rings();
        self.collect(&mut rings);
        let place = rings.long.allocate(bytes, owner.0 as u64);
        self.note_use(&rings);
        place
    }

    /// Stores the use of the partitions for statistics.
    fn note_use(&self, rings: &Rings) {
        let beyond = |ring: &Ring| ring.bytes() - ring.largest_free();
        self.set_gauges(&[
            (Gauge::Short, rings.short.used()),
            (Gauge::Long, rings.long.used()),
            (Gauge::NvmShort, rings.nvm_short.used()),
            (Gauge::NvmLong, rings.nvm_long.used()),
            (Gauge::ShortBeyond, beyond(&rings.short)),
            (Gauge::LongBeyond, beyond(&rings.long)),
            (Gauge::NvmShortBeyond, beyond(&rings.nvm_short)),
            (Gauge::NvmLongBeyond, beyond(&rings.nvm_long)),
        ]);
    }

    /// Keeps `bytes` bytes of the long-term partition for rewrites.
    pub fn set_reserve(&self, bytes: u64) {
        self.reserve.store(bytes, Relaxed);
    }

    /// Returns the bytes that are kept for rewrites.
    pub fn reserve(&self) -> u64 {
        self.reserve.load(Relaxed)
    }

    /// Frees `owner`'s blocks in `partition` once no reader can hold them. They are unlinked
    /// already.
    pub fn retire_blocks(&self, partition: Partition, owner: SegmentId) {
        self.retire(Garbage::Blocks(partition, owner));
    }

    /// Frees the table slot of `position` once no reader can hold it.
    pub fn retire_slot(&self, position: Position) {
        self.retire(Garbage::Slot(position));
    }

    fn retire(&self, garbage: Garbage) {
        let mut rings = self.rings();
        let stamp = self.footing.pins.retire();
        rings.limbo.push_back((stamp, garbage));
        self.collect(&mut rings);
    }

    /// True if the fresh extent at `extent`, just allocated, is used for the first time. Then it
    /// holds zeros, and a start need not wait for its pages. Ingest role only.
    pub(crate) fn is_untouched(&self, extent: u64) -> bool {
        let untouched = extent >= self.extents_end.load(Relaxed);
        if untouched {
            self.extents_end.store(extent + self.footing.geometry.extent_bytes, Relaxed);
        }
        untouched
    }

    /// Shrinks the newest block in `partition`, which is `owner`'s, to `bytes` bytes.
    pub(crate) fn shrink(&self, partition: Partition, bytes: u64, owner: SegmentId) {
        let mut rings = self.rings();
        let shrunk = rings.ring(partition).shrink(bytes, owner.0 as u64);
        self.note_use(&rings);
        debug_assert!(shrunk, "only the owner of the newest block takes others");
        self.space.notify_all();
    }

    /// Frees blocks of `owner` that no reader was ever shown.
    pub fn give_back(&self, partition: Partition, owner: SegmentId) {
        let mut rings = self.rings();
        rings.ring(partition).release(owner.0 as u64);
        self.note_use(&rings);
        self.space.notify_all();
    }

    fn collect(&self, rings: &mut Rings) {
        if rings.limbo.is_empty() {
            return;
        }
        let horizon = self.footing.pins.horizon();
        while let Some((_, garbage)) = rings.limbo.pop_front_if(|(stamp, _)| *stamp < horizon) {
            match garbage {
                Garbage::Blocks(partition, owner) => rings.ring(partition).release(owner.0 as u64),
                Garbage::Slot(position) => self.reclaimed.store(position as u64 + 1, Release),
            }
            self.returned.fetch_add(1, Release);
            self.note_use(rings);
            self.space.notify_all();
        }
    }

    /// Returns how often space came back after readers had left. A thread that found none before has to
    /// look again: any thread that allocates takes back what readers have left.
    pub fn returned(&self) -> u64 {
        self.returned.load(Acquire)
    }

    /// True if space will come back as soon as readers leave that are still there.
    pub fn is_reclaiming(&self) -> bool {
        let mut rings = self.rings();
        self.collect(&mut rings);
        !rings.limbo.is_empty()
    }

    /// Returns the bytes of the long-term partition that come back once readers have left that are
    /// still there.
    pub fn awaited(&self) -> u64 {
        let mut rings = self.rings();
        self.collect(&mut rings);
        let Rings { long, limbo, .. } = &*rings;
        let is_gone = |owner| {
            let mut owners = limbo.iter().filter_map(|(_, garbage)| match garbage {
                Garbage::Blocks(Partition::Long, id) => Some(u64::from(id.0)),
                _ => None,
            });
            owners.any(|gone| gone == owner)
        };
        long.used() - long.used_without(is_gone)
    }

    /// Waits until space may have come back, or for a millisecond. A reader that unpins does not
    /// notify.
    pub fn wait_for_space(&self) {
        let rings = self.rings();
        let _ = self.space.wait_timeout(rings, std::time::Duration::from_millis(1));
    }

    /// Returns the segment whose blocks keep the ring's space from coming back.
    pub fn oldest_owner(&self, partition: Partition) -> Option<SegmentId> {
        self.rings().ring(partition).oldest_owner().map(|owner| SegmentId(owner as u32))
    }

    /// Returns the use of the partitions.
    pub fn partition_use(&self) -> PartitionUse {
        let used = |gauge| self.gauge(gauge).load(Relaxed);
        let nvm = |partition: fn(&NvmLayout) -> (u64, u64)| {
            self.footing.geometry.nvm.as_ref().map_or(0, |layout| partition(layout).1)
        };
        PartitionUse {
            short: (used(Gauge::Short), self.footing.geometry.short.1),
            long: (used(Gauge::Long), self.footing.geometry.long.1),
            nvm_short: (used(Gauge::NvmShort), nvm(|layout| layout.short)),
            nvm_long: (used(Gauge::NvmLong), nvm(|layout| layout.long)),
        }
    }

    /// Returns the largest free block of each partition.
    pub fn largest_free(&self) -> LargestFree {
        let all = self.partition_use();
        let pool = self.footing.geometry.dictionary_pool.bytes();
        let left = |bytes: u64, beyond| bytes.saturating_sub(self.gauge(beyond).load(Relaxed));
        LargestFree {
            short: left(all.short.1, Gauge::ShortBeyond),
            long: left(all.long.1, Gauge::LongBeyond),
            dictionary: left(pool, Gauge::DictionaryBeyond),
            nvm_short: left(all.nvm_short.1, Gauge::NvmShortBeyond),
            nvm_long: left(all.nvm_long.1, Gauge::NvmLongBeyond),
        }
    }

    /// Returns the bytes that `owner` has in `partition`.
    pub fn owned(&self, partition: Partition, owner: SegmentId) -> u64 {
        let mut rings = self.rings();
        rings.ring(partition).owned(owner.0 as u64)
    }
}

impl Rings {
    /// Makes empty rings.
    pub(super) fn new(geometry: &Geometry) -> Rings {
        let blocks = (geometry.segments_max * BLOCKS_PER_SEGMENT_MAX).min(BLOCKS_MAX);
        let ring = |partition: fn(&NvmLayout) -> (u64, u64)| {
            let (start, bytes) = geometry.nvm.as_ref().map_or((0, 0), partition);
            Ring::new(start, bytes, geometry.segments_max as usize)
        };
        Rings {
            short: Ring::new(geometry.short.0, geometry.short.1, 16),
            long: Ring::new(geometry.long.0, geometry.long.1, blocks as usize),
            nvm_short: ring(|layout| layout.short),
            nvm_long: ring(|layout| layout.long),
            limbo: VecDeque::with_capacity(geometry.segments_max as usize * 4),
        }
    }

    fn ring(&mut self, partition: Partition) -> &mut Ring {
        match partition {
            Partition::Short => &mut self.short,
            Partition::Long => &mut self.long,
            Partition::NvmShort => &mut self.nvm_short,
            Partition::NvmLong => &mut self.nvm_long,
        }
    }
}

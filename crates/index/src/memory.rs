//! An executor's memory: the region, its partitions' allocators, and the few words that readers start from.
//!
//! # Roots and their orderings
//!
//! A reader pins, then loads, in this order (all acquire): the *window* of segments that the dictionary holds,
//! what is *superseded* by a rewrite (see [`rewrite`](crate::rewrite)), and the number of *visible* rows. The rest
//! follows from those three, so a snapshot is three loads whatever the index holds.
//!
//! * `visible` is stored (release) by the ingest role when all postings, rows and death stamps of an operation
//!   are written. A segment is in the descriptor table before its first row is visible, so a reader that sees
//!   a row finds its segment.
//! * `window.end` is raised (release) by the flush stage when all of a segment's terms are registered. A reader
//!   with the old window reads that segment in its fresh form, whose memory is kept until no such reader is
//!   left: the window, not the descriptor's state, decides how a term is found, so no segment is seen twice
//!   or missed.
//! * `window.oldest` is raised when the oldest segment is dropped: one store, whatever the segment holds.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use spirit_mem::{Pins, Region, Ring};

use crate::descriptor::{Descriptor, DescriptorTable, Position, SegmentId, Superseded, Window};
use crate::geometry::{Geometry, GeometryError, Settings};

/// Blocks of the long-term ring that can be alive at once, as a bound for its book-keeping.
const BLOCKS_PER_SEGMENT_MAX: u64 = 1024;
const BLOCKS_MAX: u64 = 1 << 18;

/// One word alone on its cache lines.
#[repr(align(128))]
struct Root(AtomicU64);

/// Memory of one executor, shared by its ingest role, its flush stage and all readers.
pub struct Memory {
    region: Region,
    geometry: Geometry,
    pins: Arc<Pins>,
    visible: Root,
    window: Root,
    superseded: Root,
    /// Rows that died, or were never documents, over the executor's life.
    dead: AtomicU64,
    /// Bytes of the long-term partition that only a rewrite may take.
    reserve: AtomicU64,
    /// Positions below this are gone and no reader holds them: their table slots can be used again.
    reclaimed: AtomicU64,
    rings: Mutex<Rings>,
    space: Condvar,
}

/// Which partition a ring serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Fresh extents.
    Short,
    /// Rows, vectors and posting arrays.
    Long,
}

/// What waits for its last reader.
#[derive(Clone, Copy, Debug)]
enum Garbage {
    /// The blocks of a segment in one partition.
    Blocks(Partition, SegmentId),
    /// A position of the descriptor table.
    Slot(Position),
}

struct Rings {
    short: Ring,
    long: Ring,
    limbo: VecDeque<(u64, Garbage)>,
}

/// How full the partitions of an executor are, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionUse {
    /// Short-term: given out, and in all.
    pub short: (u64, u64),
    /// Long-term: given out, and in all.
    pub long: (u64, u64),
}

impl Memory {
    /// Reserves and divides the memory. `pins` is shared by all executors of an index.
    pub fn new(settings: Settings, pins: Arc<Pins>) -> Result<Memory, GeometryError> {
        let geometry = Geometry::new(settings)?;
        let region = geometry.reserve()?;
        let blocks = (geometry.segments_max * BLOCKS_PER_SEGMENT_MAX).min(BLOCKS_MAX);
        let rings = Rings {
            short: Ring::new(geometry.short.0, geometry.short.1, 16),
            long: Ring::new(geometry.long.0, geometry.long.1, blocks as usize),
            limbo: VecDeque::with_capacity(geometry.segments_max as usize * 4),
        };
        Ok(Memory {
            region,
            geometry,
            pins,
            visible: Root(AtomicU64::new(0)),
            window: Root(AtomicU64::new(Window::default().word())),
            superseded: Root(AtomicU64::new(Superseded::NOTHING.word())),
            dead: AtomicU64::new(0),
            reserve: AtomicU64::new(0),
            reclaimed: AtomicU64::new(0),
            rings: Mutex::new(rings),
            space: Condvar::new(),
        })
    }

    /// The region.
    #[inline(always)]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Where everything is.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The index's reader slots.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// The descriptor table.
    #[inline]
    pub fn table(&self) -> DescriptorTable<'_> {
        DescriptorTable::new(&self.region, &self.geometry)
    }

    /// Rows that queries see.
    #[inline(always)]
    pub fn visible(&self) -> u64 {
        self.visible.0.load(Acquire)
    }

    /// Makes the rows below `rows` visible, all at once. Ingest role only.
    #[inline(always)]
    pub fn publish(&self, rows: u64) {
        self.visible.0.store(rows, Release);
    }

    /// The segments that the dictionary holds.
    #[inline(always)]
    pub fn window(&self) -> Window {
        Window::from_word(self.window.0.load(Acquire))
    }

    /// Moves the window. Flush stage only.
    pub fn set_window(&self, window: Window) {
        self.window.0.store(window.word(), Release);
    }

    /// What readers skip.
    #[inline(always)]
    pub fn superseded(&self) -> Superseded {
        Superseded::from_word(self.superseded.0.load(Acquire))
    }

    /// Says what readers skip. Flush stage only, one rewrite at a time.
    pub fn supersede(&self, superseded: Superseded) {
        self.superseded.0.store(superseded.word(), Release);
    }

    /// Notes that a row of `descriptor`'s segment is dead. Ingest role only, before the death is visible.
    pub fn note_dead(&self, descriptor: Descriptor<'_>) {
        descriptor.set_dead(descriptor.dead() + 1);
        self.dead.fetch_add(1, Release);
    }

    /// Whether any row ever died.
    #[inline]
    pub fn has_dead(&self) -> bool {
        self.dead.load(Acquire) > 0
    }

    /// Whether the table has a slot for `position`.
    pub fn has_slot(&self, position: Position) -> bool {
        (position as u64) < self.reclaimed.load(Acquire) + self.geometry.segments_max
    }

    fn rings(&self) -> MutexGuard<'_, Rings> {
        // A panic while the lock is held leaves the rings as they were between two calls, or poisons the
        // index through the stage that panicked; readers do not come here.
        self.rings.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A block of at least `bytes` bytes in `partition` for `owner`: its offset. `None` while there is none.
    pub fn allocate(&self, partition: Partition, bytes: u64, owner: SegmentId) -> Option<u64> {
        let mut rings = self.rings();
        self.collect(&mut rings);
        let reserve = if partition == Partition::Long { self.reserve.load(Relaxed) } else { 0 };
        let ring = rings.ring(partition);
        if ring.used() + bytes + reserve > ring.bytes() {
            return None;
        }
        ring.allocate(bytes, owner.0 as u64)
    }

    /// The same in the long-term partition, out of the reserve too: for a rewrite, which gives more back.
    pub fn allocate_reserved(&self, bytes: u64, owner: SegmentId) -> Option<u64> {
        let mut rings = self.rings();
        self.collect(&mut rings);
        rings.long.allocate(bytes, owner.0 as u64)
    }

    /// Keeps `bytes` bytes of the long-term partition for rewrites.
    pub fn set_reserve(&self, bytes: u64) {
        self.reserve.store(bytes, Relaxed);
    }

    /// What is kept for rewrites, in bytes.
    pub fn reserve(&self) -> u64 {
        self.reserve.load(Relaxed)
    }

    /// Returns `owner`'s blocks in `partition` once no reader can hold them. They are unlinked already.
    pub fn retire_blocks(&self, partition: Partition, owner: SegmentId) {
        self.retire(Garbage::Blocks(partition, owner));
    }

    /// Returns the table slot of `position` once no reader can hold it.
    pub fn retire_slot(&self, position: Position) {
        self.retire(Garbage::Slot(position));
    }

    fn retire(&self, garbage: Garbage) {
        let mut rings = self.rings();
        let stamp = self.pins.retire();
        rings.limbo.push_back((stamp, garbage));
        self.collect(&mut rings);
    }

    /// Returns blocks of `owner` that no reader was ever shown.
    pub fn give_back(&self, partition: Partition, owner: SegmentId) {
        self.rings().ring(partition).release(owner.0 as u64);
        self.space.notify_all();
    }

    fn collect(&self, rings: &mut Rings) {
        if rings.limbo.is_empty() {
            return;
        }
        let horizon = self.pins.horizon();
        while let Some((_, garbage)) = rings.limbo.pop_front_if(|(stamp, _)| *stamp < horizon) {
            match garbage {
                Garbage::Blocks(partition, owner) => rings.ring(partition).release(owner.0 as u64),
                Garbage::Slot(position) => self.reclaimed.store(position as u64 + 1, Release),
            }
            self.space.notify_all();
        }
    }

    /// Waits until space may have come back, or a millisecond (a reader that unpins tells nobody).
    pub fn wait_for_space(&self) {
        let rings = self.rings();
        let _ = self.space.wait_timeout(rings, std::time::Duration::from_millis(1));
    }

    /// The segment whose blocks keep the ring's space from coming back.
    pub fn oldest_owner(&self, partition: Partition) -> Option<SegmentId> {
        self.rings().ring(partition).oldest_owner().map(|owner| SegmentId(owner as u32))
    }

    /// How full the rings are.
    pub fn partition_use(&self) -> PartitionUse {
        let rings = self.rings();
        PartitionUse {
            short: (rings.short.used(), rings.short.bytes()),
            long: (rings.long.used(), rings.long.bytes()),
        }
    }

    /// Bytes that `owner` has in `partition`.
    pub fn owned(&self, partition: Partition, owner: SegmentId) -> u64 {
        let mut rings = self.rings();
        rings.ring(partition).owned(owner.0 as u64)
    }
}

impl Rings {
    fn ring(&mut self, partition: Partition) -> &mut Ring {
        match partition {
            Partition::Short => &mut self.short,
            Partition::Long => &mut self.long,
        }
    }
}

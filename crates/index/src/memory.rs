//! An executor's memory: the region, its partitions' allocators, and the few words that readers start from.
//!
//! # Roots and their orderings
//!
//! A reader pins, then loads, in this order (all acquire): the *window* of segments that are registered,
//! what is *superseded* by a rewrite (see [`rewrite`](crate::rewrite)), the number of *visible* rows, and how many of the
//! segments the dictionary *covers* (see [`coverage`](crate::nvm::coverage)). The rest follows from those four, so a snapshot is
//! four loads whatever the index holds.
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
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use spirit_door::Site;
use spirit_mem::{Pins, Region, Residency, Ring};

use crate::descriptor::{Descriptor, DescriptorTable, Position, SegmentId, Superseded, Window};
use crate::dictionary_writer::DictionaryWriter;
use crate::geometry::{Geometry, GeometryError, ROW_BYTES, Settings};
use crate::nvm::coverage::Coverage;
use crate::nvm::layout::NvmLayout;
use crate::nvm::slot::Slots;
use crate::nvm::tier::{Nvm, Tier};
use crate::snapshot::Segment;

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
    nvm: Option<Nvm>,
    pins: Arc<Pins>,
    visible: Root,
    window: Root,
    superseded: Root,
    /// Rows that died, or were never documents, over the executor's life.
    dead: AtomicU64,
    /// Bytes of the long-term partition that only a rewrite may take.
    reserve: AtomicU64,
    /// Documents that lived when their segment was dropped.
    expired: AtomicU64,
    /// One past the last byte of the short-term partition that was ever given out.
    extents_end: AtomicU64,
    /// Positions below this are gone and no reader holds them: their table slots can be used again.
    reclaimed: AtomicU64,
    rings: Mutex<Rings>,
    space: Condvar,
    dictionary: Mutex<DictionaryWriter>,
    /// How much of the second tier is in DRAM too.
    coverage: Coverage,
    /// Segments before this position are merged.
    merged: AtomicU32,
    /// Another process writes: what is visible follows from the window.
    follows: bool,
}

/// Which partition a ring serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Fresh extents.
    Short,
    /// Rows, vectors and posting arrays.
    Long,
    /// Terms of engraved segments.
    NvmShort,
    /// The rest of engraved segments.
    NvmLong,
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
    nvm_short: Ring,
    nvm_long: Ring,
    limbo: VecDeque<(u64, Garbage)>,
}

/// How full the partitions of an executor are, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionUse {
    /// Short-term: given out, and in all.
    pub short: (u64, u64),
    /// Long-term: given out, and in all.
    pub long: (u64, u64),
    /// The second tier's short-term: given out, and in all.
    pub nvm_short: (u64, u64),
    /// The second tier's long-term: given out, and in all.
    pub nvm_long: (u64, u64),
}

impl Memory {
    /// Reserves and divides the memory. `pins` is shared by all executors of an index; `tier` is given if the settings
    /// have a second tier.
    pub fn new(
        settings: Settings,
        tier: Option<Tier>,
        pins: Arc<Pins>,
    ) -> Result<Memory, GeometryError> {
        let geometry = Geometry::new(settings)?;
        let nvm = geometry.nvm.zip(tier).map(|(layout, tier)| Nvm::new(layout, tier));
        let region = geometry.reserve(nvm.as_ref().map(Nvm::file_part))?;
        if let (Some(nvm), Residency::Prefault) = (&nvm, settings.residency) {
            // Of the second tier the ingest role stores to the log alone.
            let (start, bytes) = nvm.layout().log;
            region.make_resident(start, bytes).map_err(GeometryError::Reserve)?;
        }
        let blocks = (geometry.segments_max * BLOCKS_PER_SEGMENT_MAX).min(BLOCKS_MAX);
        let ring = |partition: fn(&NvmLayout) -> (u64, u64)| {
            let (start, bytes) = geometry.nvm.as_ref().map_or((0, 0), partition);
            Ring::new(start, bytes, geometry.segments_max as usize)
        };
        let rings = Rings {
            short: Ring::new(geometry.short.0, geometry.short.1, 16),
            long: Ring::new(geometry.long.0, geometry.long.1, blocks as usize),
            nvm_short: ring(|layout| layout.short),
            nvm_long: ring(|layout| layout.long),
            limbo: VecDeque::with_capacity(geometry.segments_max as usize * 4),
        };
        let dictionary = Mutex::new(DictionaryWriter::new(&geometry));
        Ok(Memory {
            region,
            geometry,
            nvm,
            pins,
            visible: Root(AtomicU64::new(0)),
            window: Root(AtomicU64::new(Window::default().word())),
            superseded: Root(AtomicU64::new(Superseded::NOTHING.word())),
            dead: AtomicU64::new(0),
            reserve: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            extents_end: AtomicU64::new(0),
            reclaimed: AtomicU64::new(0),
            rings: Mutex::new(rings),
            space: Condvar::new(),
            dictionary,
            coverage: Coverage::default(),
            merged: AtomicU32::new(0),
            follows: false,
        })
    }

    /// For a process that only reads: nothing but [`follow`](crate::nvm::follow::follow) changes what is found.
    pub fn following(mut self) -> Memory {
        self.follows = true;
        self.coverage.begin_following();
        self
    }

    /// Whether another process writes. Then one root is loaded, the window, and readers see its rows.
    #[inline(always)]
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// One past the last row of a window of engraved segments.
    pub(crate) fn row_end(&self, window: Window) -> u64 {
        let last = window.end.checked_sub(1).filter(|last| *last >= window.oldest);
        last.map_or(0, |last| {
            let descriptor = self.table().descriptor(SegmentId::first(last));
            descriptor.base_row() + descriptor.rows()
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

    /// The second tier, if there is one.
    #[inline(always)]
    pub fn nvm(&self) -> Option<&Nvm> {
        self.nvm.as_ref()
    }

    /// The dictionary's writer.
    pub fn dictionary(&self) -> MutexGuard<'_, DictionaryWriter> {
        // A panic while it is held poisons the index through the stage that panicked.
        self.dictionary.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// How much of the second tier is in DRAM too.
    #[inline(always)]
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// One past the last merged segment.
    pub fn merged(&self) -> Position {
        self.merged.load(Acquire)
    }

    /// Segments before `end` are merged.
    pub(crate) fn set_merged(&self, end: Position) {
        self.merged.store(end, Release);
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
        self.add_dead(descriptor, 1);
    }

    /// Notes that `rows` rows of `descriptor`'s segment are dead.
    pub(crate) fn add_dead(&self, descriptor: Descriptor<'_>, rows: u64) {
        descriptor.set_dead(descriptor.dead() + rows);
        self.dead.fetch_add(rows, Release);
    }

    /// Says how many rows of `descriptor`'s segment are dead, as it was found.
    pub(crate) fn set_dead(&self, descriptor: Descriptor<'_>, dead: u64) {
        if descriptor.dead() != dead {
            descriptor.set_dead(dead);
            // More than nothing, once there was one: that is all it is asked for.
            self.dead.fetch_add(dead, Release);
        }
    }

    /// Says how many rows of `descriptor`'s segment, which is engraved, are dead. The key lock is held.
    /// Says how many more that is than were counted before.
    pub fn correct_dead(&self, descriptor: Descriptor<'_>, dead: u64) -> i64 {
        let Some(nvm) = self.nvm.as_ref().filter(|_| descriptor.dead() != dead) else { return 0 };
        let more = dead.cast_signed() - descriptor.dead().cast_signed();
        descriptor.set_dead(dead);
        let position = SegmentId(descriptor.id() as u32).position();
        let sites = [Site::Stamp, Site::StampWriteBack];
        Slots::new(&self.region, nvm.layout()).set_dead(nvm.door(), sites, position, dead as u32);
        more
    }

    /// The living documents of `descriptor`'s segment are dropped with it. The key lock is held.
    pub(crate) fn note_expired(&self, descriptor: Descriptor<'_>) {
        let living = descriptor.rows().saturating_sub(descriptor.dead());
        self.expired.fetch_add(living, Relaxed);
    }

    /// Documents that lived when their segment was dropped, over the index's life.
    pub fn expired(&self) -> u64 {
        self.expired.load(Relaxed)
    }

    /// So many had been before the start.
    pub(crate) fn set_expired(&self, expired: u64) {
        self.expired.store(expired, Relaxed);
    }

    /// Kills a row by the operation that is row `by` of the executor, in every copy that there is of it; takes effect when
    /// that operation becomes visible. Its record is durable. Ingest role only, with the key lock held. Says whether a copy
    /// in the second tier was stamped: then [`fence_deaths`](Self::fence_deaths) comes before the operation is visible.
    pub fn kill(&self, segment: &Segment<'_>, local: u32, by: u64) -> bool {
        let (descriptor, rows) = (segment.descriptor(), segment.row_table());
        let row = rows.row(local);
        let by = by - segment.base_row();
        let word = row.killed(by);
        if rows.place(local).is_some_and(|place| place >= self.region.nvm_bytes()) {
            row.kill(by);
        }
        self.note_dead(descriptor);
        let copy = descriptor.nvm_rows();
        let Some(nvm) = self.nvm.as_ref().filter(|_| copy != 0) else { return false };
        let at = copy + local as u64 * ROW_BYTES + 8;
        nvm.door().store(Site::Stamp, &self.region, at, word);
        nvm.door().write_back(Site::StampWriteBack, &self.region, at, 8);
        let slots = Slots::new(&self.region, nvm.layout());
        let sites = [Site::Stamp, Site::StampWriteBack];
        slots.set_dead(nvm.door(), sites, segment.id().position(), descriptor.dead() as u32);
        true
    }

    /// Waits until deaths that were stamped in the second tier are durable: their record may be trimmed by another thread
    /// as soon as their segment is engraved.
    pub fn fence_deaths(&self) {
        if let Some(nvm) = &self.nvm {
            nvm.door().fence(Site::StampFence, &self.region);
        }
    }

    /// Begins with the segments of `window`, all of them committed. Before any reader.
    pub(crate) fn start_at(&self, window: Window, merged: Position) {
        self.set_merged(merged);
        self.coverage.begin(window.end);
        self.set_window(window);
        self.reclaimed.store(window.oldest as u64, Release);
    }

    /// A block that was given out before the last stop, in the order in which they were.
    /// Says whether such blocks can have been given out.
    pub(crate) fn restore(
        &self,
        partition: Partition,
        start: u64,
        bytes: u64,
        owner: SegmentId,
    ) -> bool {
        self.rings().ring(partition).restore(start, bytes, owner.0 as u64)
    }

    /// Tells who waits for space that there may be some, in the log for instance.
    pub(crate) fn notify_space(&self) {
        self.space.notify_all();
    }

    /// Whether any row ever died.
    #[inline]
    pub fn has_dead(&self) -> bool {
        self.dead.load(Acquire) > 0
    }

    /// Positions below this are gone and no reader holds them.
    pub(crate) fn reclaimed(&self) -> Position {
        self.reclaimed.load(Acquire) as Position
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
        let place = ring.allocate(bytes, owner.0 as u64)?;
        let is_nvm = matches!(partition, Partition::NvmShort | Partition::NvmLong);
        if is_nvm && !self.nvm.as_ref().is_some_and(|nvm| nvm.back(partition, place + bytes)) {
            ring.release(owner.0 as u64);
            return None;
        }
        Some(place)
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

    /// Whether the fresh extent at `extent`, which was just allocated, is given out for the first time: then it holds zeros, and a start
    /// need not wait for its pages. Ingest role only.
    pub(crate) fn is_untouched(&self, extent: u64) -> bool {
        let untouched = extent >= self.extents_end.load(Relaxed);
        if untouched {
            self.extents_end.store(extent + self.geometry.settings.segment_bytes, Relaxed);
        }
        untouched
    }

    /// Gives back what the newest block in `partition`, which is `owner`'s, has beyond `bytes`.
    pub(crate) fn shrink(&self, partition: Partition, bytes: u64, owner: SegmentId) {
        let shrunk = self.rings().ring(partition).shrink(bytes, owner.0 as u64);
        debug_assert!(shrunk, "whoever shrinks a block is the only one that takes any");
        self.space.notify_all();
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
            nvm_short: (rings.nvm_short.used(), rings.nvm_short.bytes()),
            nvm_long: (rings.nvm_long.used(), rings.nvm_long.bytes()),
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
            Partition::NvmShort => &mut self.nvm_short,
            Partition::NvmLong => &mut self.nvm_long,
        }
    }
}

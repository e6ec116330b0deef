//! An executor's memory: the region, its partitions' allocators, and the [few words](crate::ground::roots) that readers start from.
//!
//! # Roots and their orderings
//!
//! A reader pins, then loads, in this order (all acquire): the *window* of segments that are registered,
//! what is *superseded* by a rewrite (see [`rewrite`](crate::rewrite)), the number of *visible* rows, and how many of the
//! segments the dictionary *covers* (see [`coverage`]). The rest follows from those four, so a snapshot is
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

pub mod coverage;
pub mod descriptor;
pub mod expired;
pub mod flush_stop;
pub mod flushed;
mod pages;
mod space;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use spirit_door::{Barrier, Site};
use spirit_mem::{Dram, Pins, Region};

use crate::ground::footing::Footing;
use crate::ground::geometry::{Geometry, GeometryError, Settings};
use crate::ground::ids::{Position, SegmentId};
use crate::ground::roots::{Gauge, Roots};
use crate::ground::slot::Slots;
use crate::memory::coverage::Coverage;
use crate::memory::descriptor::{Descriptor, DescriptorTable, Superseded, Window};
use crate::memory::expired::Expired;
use crate::terms::dictionary_writer::DictionaryWriter;
use crate::tier::{Nvm, Tier};

pub use space::PartitionUse;
use space::Rings;

/// Memory of one executor, shared by its ingest role, its flush stage and all readers.
pub struct Memory {
    footing: Footing,
    nvm: Option<Nvm>,
    /// Bytes of the long-term partition that only a rewrite may take.
    reserve: AtomicU64,
    /// One past the last byte of the short-term partition that was ever given out.
    extents_end: AtomicU64,
    /// Positions below this are gone and no reader holds them: their table slots can be used again.
    reclaimed: AtomicU64,
    rings: Mutex<Rings>,
    space: Condvar,
    dictionary: Mutex<DictionaryWriter>,
}

impl Memory {
    /// Reserves and divides the memory. `pins` is shared by all executors of an index; `tier` is given if the settings
    /// have a second tier.
    pub fn new(
        settings: Settings,
        tier: Option<Tier>,
        dram: Dram<'_>,
        pins: Arc<Pins>,
    ) -> Result<Memory, GeometryError> {
        let memory = Self::attach(settings, tier, dram, pins)?;
        memory.set_window(Window::default());
        memory.supersede(Superseded::NOTHING);
        memory.roots().packed().store(Window::default().word(), Relaxed);
        Ok(memory)
    }

    /// Maps memory that another process divided so, and goes on storing to. Nothing is stored to it here.
    pub fn attach(
        settings: Settings,
        tier: Option<Tier>,
        dram: Dram<'_>,
        pins: Arc<Pins>,
    ) -> Result<Memory, GeometryError> {
        let geometry = Geometry::fitting(settings)?;
        let nvm = geometry.nvm.zip(tier).map(|(layout, tier)| Nvm::new(layout, tier));
        let mut region = geometry.reserve(nvm.as_ref().map(Nvm::file_part), dram)?;
        if let Some(nvm) = &nvm {
            nvm.prove(&mut region);
        }
        if let Some(nvm) = nvm.as_ref().filter(|nvm| nvm.door().barrier() == Barrier::Sync) {
            // Slots, log and dictionary, which are stored to word by word or record by record.
            region.use_single_pages(0, nvm.layout().short.0);
        }
        let dictionary = Mutex::new(DictionaryWriter::new(&geometry));
        Ok(Memory {
            footing: Footing { region, geometry, pins },
            nvm,
            reserve: AtomicU64::new(0),
            extents_end: AtomicU64::new(0),
            reclaimed: AtomicU64::new(0),
            rings: Mutex::new(Rings::new(&geometry)),
            space: Condvar::new(),
            dictionary,
        })
    }

    /// The words that readers start from.
    #[inline(always)]
    pub(crate) fn roots(&self) -> Roots<'_> {
        Roots::new(self.footing.region.dram(self.footing.geometry.roots))
    }

    /// A number that statistics tell.
    pub fn gauge(&self, gauge: Gauge) -> &AtomicU64 {
        self.roots().gauge(gauge)
    }

    /// Stores some of them.
    pub fn set_gauges(&self, gauges: &[(Gauge, u64)]) {
        let roots = self.roots();
        gauges.iter().for_each(|(gauge, value)| roots.gauge(*gauge).store(*value, Relaxed));
    }

    /// What the dictionary's writer needs of it.
    #[inline(always)]
    pub fn footing(&self) -> &Footing {
        &self.footing
    }

    /// The region.
    #[inline(always)]
    pub fn region(&self) -> &Region {
        &self.footing.region
    }

    /// Where everything is.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.footing.geometry
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
    pub fn coverage(&self) -> Coverage<'_> {
        Coverage(self.roots())
    }

    /// One past the last merged segment.
    pub fn merged(&self) -> Position {
        self.roots().merged().load(Acquire) as Position
    }

    /// Segments before `end` are merged.
    pub(crate) fn set_merged(&self, end: Position) {
        self.roots().merged().store(end.into(), Release);
    }

    /// Where the segments are that have packed terms; others may be between them.
    pub(crate) fn packed(&self) -> Window {
        Window::from_word(self.roots().packed().load(Acquire))
    }

    /// The segment at `position`, which is newer than all that were noted, has packed terms: before readers are led to them.
    pub(crate) fn note_packed(&self, position: Position) {
        let before = self.packed();
        let oldest = if before.end == 0 { position } else { before.oldest };
        let packed = Window { oldest, end: position + 1 };
        self.roots().packed().store(packed.word(), Release);
    }

    /// The index's reader slots.
    pub fn pins(&self) -> &Pins {
        &self.footing.pins
    }

    /// The descriptor table.
    #[inline]
    pub fn table(&self) -> DescriptorTable<'_> {
        DescriptorTable::new(&self.footing.region, &self.footing.geometry)
    }

    /// When the newest document of the segment at `position` arrived, in milliseconds of the index's time. It never falls
    /// from one segment to the next.
    #[inline]
    pub fn arrived(&self, position: Position) -> u64 {
        self.arrival(position).load(Acquire)
    }

    /// Says it, before the document is visible. Ingest role only.
    pub fn set_arrived(&self, position: Position, ms: u64) {
        self.arrival(position).store(ms, Release);
    }

    fn arrival(&self, position: Position) -> &AtomicU64 {
        let arrivals = self.footing.region.dram(self.footing.geometry.arrivals);
        &arrivals[(position as u64 & (self.footing.geometry.segments_max - 1)) as usize]
    }

    /// Rows that queries see.
    #[inline(always)]
    pub fn visible(&self) -> u64 {
        self.roots().visible().load(Acquire)
    }

    /// Makes the rows below `rows` visible, all at once; their operations' sequence numbers are below `sequence`. Ingest role only.
    #[inline(always)]
    pub fn publish(&self, rows: u64, sequence: u64) {
        let roots = self.roots();
        // The release store that follows publishes it together with the rows.
        roots.sequence().store(sequence, Relaxed);
        roots.visible().store(rows, Release);
    }

    /// One past the sequence number of the newest operation that queries which begin now see, at least.
    #[inline]
    pub fn sequence(&self) -> u64 {
        let roots = self.roots();
        roots.visible().load(Acquire);
        roots.sequence().load(Relaxed)
    }

    /// The segments that the dictionary holds.
    #[inline(always)]
    pub fn window(&self) -> Window {
        Window::from_word(self.roots().window().load(Acquire))
    }

    /// Moves the window. Flush stage only.
    pub fn set_window(&self, window: Window) {
        self.roots().window().store(window.word(), Release);
    }

    /// Says what readers skip. Flush stage only, one rewrite at a time.
    pub fn supersede(&self, superseded: Superseded) {
        self.roots().superseded().store(superseded.word(), Release);
    }

    /// Notes that a row of `descriptor`'s segment is dead. Ingest role only, before the death is visible.
    pub fn note_dead(&self, descriptor: Descriptor<'_>) {
        self.add_dead(descriptor, 1);
    }

    /// Notes that `rows` rows of `descriptor`'s segment are dead.
    pub(crate) fn add_dead(&self, descriptor: Descriptor<'_>, rows: u64) {
        descriptor.set_dead(descriptor.dead() + rows);
        self.roots().dead().fetch_add(rows, Release);
    }

    /// Says how many rows of `descriptor`'s segment, which is engraved, are dead. The key lock is held.
    /// Says how many more that is than were counted before.
    pub fn correct_dead(&self, descriptor: Descriptor<'_>, dead: u64) -> i64 {
        let Some(nvm) = self.nvm.as_ref().filter(|_| descriptor.dead() != dead) else { return 0 };
        let more = dead.cast_signed() - descriptor.dead().cast_signed();
        descriptor.set_dead(dead);
        let position = SegmentId(descriptor.id() as u32).position();
        let sites = [Site::Stamp, Site::StampWriteBack];
        Slots::new(&self.footing.region, nvm.layout()).set_dead(
            nvm.door(),
            sites,
            position,
            dead as u32,
        );
        more
    }

    /// The living documents of `descriptor`'s segment, the oldest, are dropped with it: that is said before the window passes it. The
    /// key lock is held.
    pub(crate) fn note_expired(&self, descriptor: Descriptor<'_>) {
        let living = descriptor.rows().saturating_sub(descriptor.dead());
        let next = SegmentId(descriptor.id() as u32).position() + 1;
        self.set_expired(Expired::new(self.expired().documents() + living, next));
    }

    /// Documents that lived when their segment was dropped. A caller who finds the same before and after it takes a snapshot
    /// knows whether the oldest segment there [is among them](Expired::has).
    pub fn expired(&self) -> Expired {
        Expired(self.gauge(Gauge::Expired).load(Acquire))
    }

    /// Sets it. The release store of the window that follows publishes it.
    pub(crate) fn set_expired(&self, expired: Expired) {
        self.gauge(Gauge::Expired).store(expired.0, Relaxed);
    }

    /// Begins with the segments of `window`, all of them committed. Before any reader.
    pub(crate) fn start_at(&self, window: Window, merged: Position) {
        self.set_merged(merged);
        self.coverage().begin(window.end);
        self.set_window(window);
        self.reclaimed.store(window.oldest as u64, Release);
    }

    /// Notes that the key table is about to lose rows which snapshots of fewer than `rows` rows may
    /// see alive. Ingest role only.
    pub fn note_forgotten(&self, rows: u64) {
        self.roots().forgotten().fetch_max(rows, Release);
    }

    /// The number of rows from which on a snapshot finds all its keys in the key table.
    pub(crate) fn forgotten(&self) -> u64 {
        self.roots().forgotten().load(Acquire)
    }

    /// Whether any row ever died.
    #[inline]
    pub fn has_dead(&self) -> bool {
        self.roots().dead().load(Acquire) > 0
    }
}

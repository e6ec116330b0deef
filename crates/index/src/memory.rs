//! An executor's memory: the region, its partitions' allocators, and the [few
//! words](crate::ground::roots) that readers start from.
//!
//! # Roots and their orderings
//!
//! A reader pins, then makes five loads, in this order. It loads the *window* of registered
//! segments. It loads the word *superseded*, of a rewrite (see [`rewrite`](crate::rewrite)). It
//! loads the number of *visible* rows. It loads *superseded* once more, and begins again if it
//! changed. Last it loads the first segment that the dictionary *covers* (see [`coverage`]). All
//! else follows from these. So a snapshot takes five loads, for any contents of the index.
//!
//! * `visible` is stored (release) by the ingest role when all postings, rows and death stamps of
//!   an operation are written. A segment is in the descriptor table before its first row is
//!   visible. So a reader that sees a row finds its segment.
//! * `window.end` is raised (release) by the flush stage when all of a segment's terms are
//!   registered. A reader with the old window reads that segment in its fresh form. Its fresh
//!   memory is kept until no such reader is left. The window decides how a term is found, not the
//!   descriptor's state. So no segment is seen twice or missed.
//! * `window.oldest` is raised when the oldest segment is dropped: one store, for a segment of any
//!   size.
//! * `superseded` is stored (release) when readers are moved to a segment's new version. An
//!   operation that comes later stamps deaths in the new version alone. So a reader that sees the
//!   operation must not read the old version: its second load sees the store that came before. The
//!   load of `visible` must not come first either, since the copy lacks rows that died meanwhile.

pub(crate) mod coverage;
pub(crate) mod descriptor;
pub(crate) mod expired;
pub(crate) mod flush_stop;
pub(crate) mod flushed;
mod pages;
mod space;

pub use descriptor::{Descriptor, Window};
pub use flush_stop::FlushStop;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use spirit_door::{Barrier, Site};
use spirit_mem::{Dram, Pins, Region};

use crate::ground::durations::Durations;
use crate::ground::footing::Footing;
use crate::ground::geometry::{Geometry, GeometryError, Settings};
use crate::ground::ids::{Position, SegmentId};
use crate::ground::roots::{Gauge, Roots};
use crate::ground::slot::Slots;
use crate::memory::coverage::Coverage;
use crate::memory::descriptor::{DescriptorTable, Superseded};
use crate::memory::expired::Expired;
use crate::terms::dictionary_writer::DictionaryWriter;
use crate::tier::{Nvm, Tier};

use space::Rings;
pub use space::{LargestFree, PartitionUse};

/// Memory of one executor, shared by its ingest role, its flush stage and all readers.
pub struct Memory {
    footing: Footing,
    nvm: Option<Nvm>,
    /// Bytes of the long-term partition that only a rewrite may take.
    reserve: AtomicU64,
    /// One past the last byte of the short-term partition that was ever allocated.
    extents_end: AtomicU64,
    /// Positions below this are gone, and no reader holds them. Their table slots can be reused.
    reclaimed: AtomicU64,
    /// How often space came back after readers had left.
    returned: AtomicU64,
    rings: Mutex<Rings>,
    space: Condvar,
    dictionary: Mutex<DictionaryWriter>,
}

impl Memory {
    /// Reserves and divides the memory. All executors of an index share `pins`. `tier` is given if
    /// the settings have a second tier.
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

    /// Maps memory that another process divided with these settings and still stores to. Stores
    /// nothing to it.
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
            // Slots, log and dictionary are stored to by single words or records.
            region.use_single_pages(0, nvm.layout().short.0);
        }
        let dictionary = Mutex::new(DictionaryWriter::new(&geometry));
        Ok(Memory {
            footing: Footing { region, geometry, pins },
            nvm,
            reserve: AtomicU64::new(0),
            extents_end: AtomicU64::new(0),
            reclaimed: AtomicU64::new(0),
            returned: AtomicU64::new(0),
            rings: Mutex::new(Rings::new(&geometry)),
            space: Condvar::new(),
            dictionary,
        })
    }

    /// Returns the words that readers start from.
    #[inline(always)]
    pub(crate) fn roots(&self) -> Roots<'_> {
        Roots::new(self.footing.region.dram(self.footing.geometry.roots))
    }

    /// Returns a number for statistics.
    pub fn gauge(&self, gauge: Gauge) -> &AtomicU64 {
        self.roots().gauge(gauge)
    }

    /// Returns the durations of the log's syncs since the start. Its writer adds to them.
    pub fn log_syncs(&self) -> Durations<'_> {
        self.roots().log_syncs()
    }

    /// Stores some gauges.
    pub fn set_gauges(&self, gauges: &[(Gauge, u64)]) {
        let roots = self.roots();
        gauges.iter().for_each(|(gauge, value)| roots.gauge(*gauge).store(*value, Relaxed));
    }

    /// Returns the parts that the dictionary's writer needs.
    #[inline(always)]
    pub fn footing(&self) -> &Footing {
        &self.footing
    }

    /// Returns the region.
    #[inline(always)]
    pub fn region(&self) -> &Region {
        &self.footing.region
    }

    /// Returns the layout.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.footing.geometry
    }

    /// Returns the second tier, if there is one.
    #[inline(always)]
    pub fn nvm(&self) -> Option<&Nvm> {
        self.nvm.as_ref()
    }

    /// Returns the dictionary's writer.
    pub fn dictionary(&self) -> MutexGuard<'_, DictionaryWriter> {
        // A panic while it is held poisons the index through the stage that panicked.
        self.dictionary.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the view of the segments that structures in DRAM cover.
    #[inline(always)]
    pub fn coverage(&self) -> Coverage<'_> {
        Coverage(self.roots())
    }

    /// Returns one past the last merged segment.
    pub fn merged(&self) -> Position {
        self.roots().merged().load(Acquire) as Position
    }

    /// Notes that segments before `end` are merged.
    pub(crate) fn set_merged(&self, end: Position) {
        self.roots().merged().store(end.into(), Release);
    }

    /// Returns a range that contains all segments with packed terms; others may be between them.
    pub(crate) fn packed(&self) -> Window {
        Window::from_word(self.roots().packed().load(Acquire))
    }

    /// Notes that the segment at `position` has packed terms, before readers are led to them. It is
    /// newer than all that were noted.
    pub(crate) fn note_packed(&self, position: Position) {
        let before = self.packed();
        let oldest = if before.end == 0 { position } else { before.oldest };
        let packed = Window { oldest, end: position + 1 };
        self.roots().packed().store(packed.word(), Release);
    }

    /// Returns the index's reader slots.
    pub fn pins(&self) -> &Pins {
        &self.footing.pins
    }

    /// Returns the descriptor table.
    #[inline]
    pub fn table(&self) -> DescriptorTable<'_> {
        DescriptorTable::new(&self.footing.region, &self.footing.geometry)
    }

    /// Returns the arrival of the newest document of the segment at `position`, in milliseconds of
    /// the index's time. It never falls from one segment to the next.
    #[inline]
    pub fn arrived(&self, position: Position) -> u64 {
        self.arrival(position).load(Acquire)
    }

    /// Stores the arrival, before the document is visible. Ingest role only.
    pub fn set_arrived(&self, position: Position, ms: u64) {
        self.arrival(position).store(ms, Release);
    }

    fn arrival(&self, position: Position) -> &AtomicU64 {
        let arrivals = self.footing.region.dram(self.footing.geometry.arrivals);
        &arrivals[(position as u64 & (self.footing.geometry.segments_max - 1)) as usize]
    }

    /// Returns the number of rows that queries see.
    #[inline(always)]
    pub fn visible(&self) -> u64 {
        self.roots().visible().load(Acquire)
    }

    /// Makes the rows below `rows` visible, all at once. Their operations' sequence numbers are
    /// below `sequence`. Ingest role only.
    #[inline(always)]
    pub fn publish(&self, rows: u64, sequence: u64) {
        let roots = self.roots();
        // The release store that follows publishes it together with the rows.
        roots.sequence().store(sequence, Relaxed);
        roots.visible().store(rows, Release);
    }

    /// Returns a lower bound of the sequence numbers' end that queries which begin now see.
    #[inline]
    pub fn sequence(&self) -> u64 {
        let roots = self.roots();
        roots.visible().load(Acquire);
        roots.sequence().load(Relaxed)
    }

    /// Returns the segments that the dictionary holds.
    #[inline(always)]
    pub fn window(&self) -> Window {
        Window::from_word(self.roots().window().load(Acquire))
    }

    /// Moves the window. Flush stage only.
    pub fn set_window(&self, window: Window) {
        self.roots().window().store(window.word(), Release);
    }

    /// Returns the versions that readers skip.
    pub(crate) fn superseded(&self) -> Superseded {
        Superseded::from_word(self.roots().superseded().load(Acquire))
    }

    /// Stores the versions that readers skip. Flush stage only, one rewrite at a time.
    pub fn supersede(&self, superseded: Superseded) {
        self.roots().superseded().store(superseded.word(), Release);
    }

    /// Notes that a row of `descriptor`'s segment is dead. Ingest role only, before the death is
    /// visible.
    pub fn note_dead(&self, descriptor: Descriptor<'_>) {
        self.add_dead(descriptor, 1);
    }

    /// Notes that `rows` rows of `descriptor`'s segment are dead.
    pub(crate) fn add_dead(&self, descriptor: Descriptor<'_>, rows: u64) {
        descriptor.set_dead(descriptor.dead() + rows);
        self.roots().dead().fetch_add(rows, Release);
    }

    /// Corrects the number of dead rows of `descriptor`'s segment, which is engraved. The caller
    /// holds the key lock. Returns the difference from the number before.
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

    /// Notes that the living documents of `descriptor`'s segment, the oldest, are dropped with it.
    /// It runs before the window passes the segment. The caller holds the key lock.
    pub(crate) fn note_expired(&self, descriptor: Descriptor<'_>) {
        let living = descriptor.rows().saturating_sub(descriptor.dead());
        let next = SegmentId(descriptor.id() as u32).position() + 1;
        self.set_expired(Expired::new(self.expired().documents() + living, next));
    }

    /// Returns the documents that lived when their segment was dropped. A caller that finds equal
    /// values before and after its snapshot knows whether the oldest segment there [is among
    /// them](Expired::has).
    pub fn expired(&self) -> Expired {
        Expired(self.gauge(Gauge::Expired).load(Acquire))
    }

    /// Sets them. The release store of the window that follows publishes them.
    pub(crate) fn set_expired(&self, expired: Expired) {
        self.gauge(Gauge::Expired).store(expired.0, Relaxed);
    }

    /// Begins with the segments of `window`, all of them committed. Runs before any reader.
    pub(crate) fn start_at(&self, window: Window, merged: Position) {
        self.set_merged(merged);
        self.coverage().begin(window.end);
        self.set_window(window);
        self.reclaimed.store(window.oldest as u64, Release);
    }

    /// Notes that the key table is about to lose rows that snapshots of fewer than `rows` rows may
    /// see alive. Ingest role only.
    pub fn note_forgotten(&self, rows: u64) {
        self.roots().forgotten().fetch_max(rows, Release);
    }

    /// Returns the number of rows from which on a snapshot finds all its keys in the key table.
    pub(crate) fn forgotten(&self) -> u64 {
        self.roots().forgotten().load(Acquire)
    }

    /// Returns one past the row of the newest operation that killed a document, visible or not.
    pub(crate) fn newest_death(&self) -> u64 {
        self.roots().newest_death().load(Acquire)
    }

    /// True if any row ever died.
    #[inline]
    pub fn has_dead(&self) -> bool {
        self.roots().dead().load(Acquire) > 0
    }
}

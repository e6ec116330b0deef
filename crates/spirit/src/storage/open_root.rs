//! The root of an open index, and when it is written: before anything else is stored, and not
//! earlier. So a start that stores nothing leaves the file unchanged, even if its process is
//! killed. `docs/durability.md` lists what a start stores on its own, at "An untouched file".

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spirit_door::{Barrier, Door, Gate, Site};
use spirit_index::form::root;
use spirit_index::form::root::Root;
use spirit_mem::{HeapFile, HeapFileError, Region};

use crate::config::clock::{Clock, ClockReading};
use crate::storage::bulk_mark::{BulkMark, BulkPlace};
use crate::storage::trust::{self, CLOSED, OPEN};

pub(crate) struct OpenRoot {
    file: Arc<HeapFile>,
    region: Region,
    door: Door,
    /// The index's time, if documents are kept for a time.
    clock: Option<Arc<Clock>>,
    state: Mutex<State>,
}

struct State {
    /// The newest root; before it is written, the next root.
    root: Root,
    /// The root that was found, which counts until something is stored.
    found: Option<Root>,
    /// True if the root on the medium says that the index is open, by this start.
    said: bool,
    /// True if the root that was found says that the index is closed. It still is, unless something
    /// was stored.
    is_closed: bool,
    /// The error of writing the root.
    failure: Option<String>,
}

impl OpenRoot {
    /// Makes the open root. `next` is written when something is stored, and replaces the root that
    /// was `found`.
    pub(crate) fn new(
        file: Arc<HeapFile>,
        region: Region,
        door: Door,
        next: Root,
        found: Option<Root>,
        clock: Option<Arc<Clock>>,
    ) -> OpenRoot {
        let is_closed = found.is_some_and(|found| found.state == CLOSED);
        let state = State { root: next, found, said: false, is_closed, failure: None };
        OpenRoot { file, region, door, clock, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the salt of the logs' checksums, and the incarnation of this start.
    pub(crate) fn log_identity(&self) -> (u32, u32) {
        let root = self.state().root;
        (root.salt as u32, root.incarnation as u32)
    }

    /// Returns the start number: the random number that this start has drawn for the root.
    pub(crate) fn start(&self) -> u64 {
        self.state().root.start
    }

    /// Returns the index's time, if documents are kept for a time.
    pub(crate) fn clock(&self) -> Option<&Arc<Clock>> {
        self.clock.as_ref()
    }

    /// Writes the wall clock's offset to the index's time, if the wall clock was set since the root
    /// was written. A start after a crash needs it. The root's state, open or closed, stays as it
    /// is.
    pub(crate) fn keep_time(&self) {
        self.write_time(&mut self.state());
    }

    fn write_time(&self, state: &mut State) {
        let counts = if state.said { Some(&mut state.root) } else { state.found.as_mut() };
        let Some((clock, root)) = self.clock.as_ref().zip(counts) else { return };
        // The next store reports a failed write.
        if self.door.failure().is_none() && clock.was_set_since(reading(root)) {
            root.generation += 1;
            self.tell_time(root);
            root::write(&self.region, &self.door, root);
            let next = root.generation + u64::from(!state.said);
            state.root.generation = next;
        }
    }

    fn tell_time(&self, root: &mut Root) {
        if let Some(ClockReading { time_ms, wall_ms }) =
            self.clock.as_ref().map(|clock| clock.read())
        {
            (root.time_ms, root.wall_ms) = (time_ms, wall_ms);
        }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the least generation that the list of fields has.
    pub(crate) fn fields_generation(&self) -> u64 {
        self.state().root.fields
    }

    /// Writes the generation of the list of fields, which is durable, to the root. This precedes
    /// any document that has a new field. So a start refuses a damaged list instead of falling back
    /// to the earlier one.
    pub(crate) fn note_fields(&self, generation: u64) {
        let state = &mut *self.state();
        state.root.fields = generation;
        if state.said {
            state.root.generation += 1;
            root::write(&self.region, &self.door, &state.root);
        }
    }

    /// Returns what the root says of an unfinished bulk load, or else the place at the end of the
    /// last one.
    pub(crate) fn bulk(&self) -> (Option<BulkMark>, BulkPlace) {
        let root = self.state().root;
        (BulkMark::of(&root), BulkMark::finished(&root))
    }

    /// Writes to the root how far a bulk load is, or that it has ended. Durable on
    /// return.
    pub(crate) fn note_bulk(
        &self,
        mark: Option<BulkMark>,
        finished: BulkPlace,
    ) -> Result<(), HeapFileError> {
        let state = &mut *self.state();
        BulkMark::put(mark, finished, &mut state.root);
        if !state.said {
            return self.write_open(state);
        }
        state.root.generation += 1;
        root::write(&self.region, &self.door, &state.root);
        self.check_synced()
    }

    /// True if the root that was found says that the index is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// True if the root on the medium says that the index is open.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.state();
        state.said || !state.is_closed
    }

    /// Makes all that was found durable, before the start relies on it.
    ///
    /// A killed process leaves stores that it had not fenced: in the page cache, or in caches of the
    /// processor. The start reads them like any others. It would repeat none of them, and a power
    /// cut after it would lose them alone, and keep what was built on them.
    pub(crate) fn sync_found(&self) -> Result<(), HeapFileError> {
        if self.state().found.is_none() {
            return Ok(());
        }
        self.door.sync_file(Site::OpenSync, || match self.door.barrier() {
            // Whatever the index must survive, these caches survive too.
            Barrier::Order => Ok(()),
            Barrier::WriteBack | Barrier::Sync => self.file.sync_all(),
        })
    }

    /// Writes to the root that the index is open, and where.
    pub(crate) fn say_open(&self) -> Result<(), HeapFileError> {
        self.write_open(&mut self.state())
    }

    fn write_open(&self, state: &mut State) -> Result<(), HeapFileError> {
        let root = &mut state.root;
        trust::note_place(root, self.file.identity()?);
        root.state = OPEN;
        self.tell_time(root);
        root::write(&self.region, &self.door, root);
        state.said = true;
        self.check_synced()
    }

    /// Returns an error if a sync has failed through any door to the file. A later sync may succeed
    /// although an earlier one failed.
    pub(crate) fn check_synced(&self) -> Result<(), HeapFileError> {
        let Some(why) = self.door.failure() else { return Ok(()) };
        let (path, reason) = (self.file.path().into(), std::io::Error::other(why.to_owned()));
        Err(HeapFileError::System { path, action: "sync it", reason })
    }

    /// Writes to the root that the index was closed in an orderly way, once everything else is on
    /// the medium. Writes nothing if the medium says so already.
    pub(crate) fn say_closed(&self) -> Result<(), HeapFileError> {
        let state = &mut *self.state();
        if state.is_closed && !state.said {
            self.write_time(state);
            return Ok(());
        }
        self.check_synced()?;
        self.sync_all()?;
        state.root.generation += u64::from(state.said);
        state.root.state = CLOSED;
        self.tell_time(&mut state.root);
        root::write(&self.region, &self.door, &state.root);
        (state.said, state.is_closed, state.found) = (false, true, None);
        self.check_synced()?;
        self.sync_all()
    }

    fn sync_all(&self) -> Result<(), HeapFileError> {
        self.door.sync_file(Site::CloseSync, || self.file.sync_all())
    }
}

/// Returns the clock reading in a root.
pub(crate) fn reading(root: &Root) -> ClockReading {
    ClockReading { time_ms: root.time_ms, wall_ms: root.wall_ms }
}

impl Gate for OpenRoot {
    fn pass(&self) -> Result<(), String> {
        // Other threads that store meanwhile wait for the lock.
        let state = &mut *self.state();
        if !state.said && state.failure.is_none() {
            state.failure = self.write_open(state).map_err(|error| error.to_string()).err();
        }
        state.failure.clone().map_or(Ok(()), Err)
    }
}

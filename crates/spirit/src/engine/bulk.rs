//! Bulk loads: the documents of a collection that does not change go in, and nothing is logged.
//!
//! The collection can be read again, in the same order. So it is the log, and `docs/batch.md` says
//! what follows from that:
//!
//! - The documents have consecutive sequence numbers. An executor engraves its documents in their
//!   order. So one that it has already is known by its number, and passed over.
//! - The place of a document in the collection is kept in the root once all executors have engraved
//!   what comes before it. A later run reads on from there.
//! - Nobody else draws a number until the load is finished or given up.
//!
//! A run that was killed may have stamped deaths in engraved segments, by documents that it had not
//! engraved. The next run's rows are above all of its rows, which the log reserves. So these stamps
//! count from then on, and the documents that set them come again.

mod collection;

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Engine;
use super::executor::Executor;
use super::rounds::Source;
use super::side_by_side::side_by_side;
use super::spread::Spread;
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::storage::bulk_mark::{BulkMark, BulkPlace, KeyKinds};
use collection::{Collection, Stopped};

/// A bulk load under way. [`Index::bulk`](crate::Index::bulk) begins one, or goes on with the one
/// that was not finished.
///
/// The documents of a collection are added in its order, from [`place`](Self::place) on. They cost
/// no log. Queries find them within moments, and they are durable with their segments.
///
/// After a crash, in [`Mode::Crash`](crate::Mode::Crash), the next run reads the collection again from the last place that
/// was kept, and what is in already is passed over. The index is then as if nothing had happened. Until
/// the load is [finished](Self::finish), the index accepts nothing else.
///
/// While this value lives, other calls that write, and `flush`, `offset` and `next_number`, wait: on other
/// threads until it is gone, on its own thread for ever. Queries do not.
///
/// ```
/// use spirit::Index;
///
/// let index = Index::in_memory()?;
/// let mut bulk = index.bulk()?;
/// bulk.add_all(["to be", "or not to be"])?;
/// bulk.finish()?;
/// assert_eq!(index.accepted(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Bulk<'i> {
    engine: &'i Engine,
    /// The ingest roles, until the load ends.
    spread: Option<Spread<'i>>,
    /// How far it is.
    mark: BulkMark,
    /// Places before which not everything is engraved, the first at the front.
    places: VecDeque<BulkMark>,
}

impl fmt::Debug for Bulk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulk").field("mark", &self.mark).finish_non_exhaustive()
    }
}

impl<'i> Bulk<'i> {
    pub(crate) fn begin(engine: &'i Engine) -> Result<Bulk<'i>, WriteError> {
        let mut spread = Spread::begin_anyhow(engine)?;
        let unfinished = engine.bulk.state().mark;
        let mark = unfinished.unwrap_or_else(|| engine.first_mark());
        engine.keep_bulk(mark)?;
        spread.roles.iter_mut().for_each(|role| role.begin_collection());
        Ok(Bulk { engine, spread: Some(spread), mark, places: VecDeque::new() })
    }

    /// Returns the place from which on documents are to be added: the last that was kept of those that
    /// were [noted](Self::note_place). Zeros at the collection's beginning.
    pub fn place(&self) -> [u64; 6] {
        self.mark.place
    }

    /// Returns the number of documents of the collection before the next one.
    pub fn documents(&self) -> u64 {
        self.mark.next - self.mark.first
    }

    /// Adds the next documents of the collection, and returns their number. Those that an earlier run
    /// has engraved are passed over.
    ///
    /// # Errors
    /// [`WriteError::AfterSome`], with the number of documents before the one that was refused. Go
    /// on with this document, changed, or [leave it out](Self::leave_out), and go on with the next.
    pub fn add_all<'d, D: Into<Document<'d>>>(
        &mut self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<u64, WriteError> {
        let given = Cell::new(0);
        let documents = documents.into_iter().map(|document| {
            given.set(given.get() + 1);
            document.into()
        });
        match self.add(documents) {
            Ok(()) => {
                self.mark.next += given.get();
                Ok(given.get())
            }
            Err((added, error)) => {
                self.mark.next += added;
                Err(WriteError::AfterSome { added, error: error.into() })
            }
        }
    }

    /// Leaves out the next document of the collection. Its number is not given to another one.
    pub fn leave_out(&mut self) {
        self.mark.next += 1;
        self.engine.raise_numbers(&self.mark, self.mark.next);
    }

    /// Notes the place of the next document in the collection. It is kept once all documents before
    /// it are engraved.
    ///
    /// # Errors
    /// If the disk failed.
    pub fn note_place(&mut self, place: [u64; 6]) -> Result<(), WriteError> {
        self.mark.place = place;
        if self.mark.next == self.mark.first {
            return self.engine.keep_bulk(self.mark);
        }
        self.places.push_back(self.mark);
        let ends = self.engine.executors.iter().map(|executor| executor.shared.engraved_to());
        let engraved = ends.min().unwrap_or(0);
        let count = self.places.iter().take_while(|mark| mark.next <= engraved).count();
        match self.places.drain(..count).next_back() {
            Some(mark) => self.engine.keep_bulk(mark),
            None => Ok(()),
        }
    }

    /// Ends the load: engraves and merges everything. Then the index accepts other documents, and
    /// [`finished_bulk`](crate::Index::finished_bulk) returns the place that was noted last.
    ///
    /// # Errors
    /// If there is no room, or the disk failed. The load is not finished then.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.place_all()?;
        if self.engine.store.is_some() {
            self.each_executor(Executor::merge_all)?;
        }
        self.engine.end_bulk(self.mark.place)
    }

    /// Leaves the load unfinished, to be gone on with later: engraves everything, and keeps the place
    /// that was noted last.
    ///
    /// # Errors
    /// If there is no room, or the disk failed.
    pub fn suspend(mut self) -> Result<(), WriteError> {
        self.place_all()?;
        match self.places.pop_back() {
            Some(mark) => self.engine.keep_bulk(mark),
            None => Ok(()),
        }
    }

    /// Gives the roles back, and engraves everything if there is a file.
    fn place_all(&mut self) -> Result<(), WriteError> {
        let Some(mut spread) = self.spread.take() else { return Ok(()) };
        let in_file = self.engine.store.is_some();
        let mut roles = spread.roles.iter_mut().filter(|_| in_file);
        let ended = roles.try_for_each(|role| role.end_segment());
        spread.end();
        ended?;
        if in_file { self.each_executor(Executor::engrave_rest) } else { Ok(()) }
    }

    /// Does `work` for all executors side by side.
    fn each_executor(
        &self,
        work: impl Fn(&Executor) -> Result<(), WriteError> + Sync,
    ) -> Result<(), WriteError> {
        side_by_side(self.engine.executors.iter().collect(), work).into_iter().collect()
    }

    /// Adds documents. An error has the number of those before the one that was refused.
    fn add<'d>(&mut self, documents: impl Iterator<Item = Document<'d>>) -> Result<(), Stopped> {
        let Some(spread) = &mut self.spread else { return Err((0, WriteError::Poisoned)) };
        let ends = spread.roles.iter().map(|role| role.sequence_end()).collect();
        let collection = Collection::new(self.engine, self.mark, ends);
        let mut source = Source::new(self.engine, collection.missing(documents));
        let added = collection.add(&mut source, &mut spread.roles);
        self.mark.keys = collection.keys();
        added.and_then(|()| collection.check_keys())
    }
}

impl Drop for Bulk<'_> {
    fn drop(&mut self) {
        if let Some(spread) = self.spread.take() {
            spread.end();
        }
    }
}

/// The bulk load of an index that is unfinished, if there is one. The ingest roles know too, and refuse
/// all that is not from its collection.
#[derive(Debug, Default)]
pub(crate) struct Unfinished(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    mark: Option<BulkMark>,
    /// The place at the end of the load that was finished last.
    finished: BulkPlace,
}

impl Unfinished {
    pub(crate) fn is_any(&self) -> bool {
        self.state().mark.is_some()
    }

    /// Returns the place at the end of the load that was finished last.
    pub(crate) fn finished(&self) -> BulkPlace {
        self.state().finished
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Goes on with a load that an earlier process did not finish, if there is one: nothing else is
    /// accepted.
    pub(super) fn find_bulk(&self) -> Result<(), WriteError> {
        let found = self.store.as_ref().map(|store| store.root().bulk());
        let (mark, finished) = found.unwrap_or_default();
        *self.bulk.state() = State { mark, finished };
        if mark.is_some() {
            let mut spread = Spread::begin_anyhow(self)?;
            spread.roles.iter_mut().for_each(|role| role.begin_collection());
        }
        Ok(())
    }

    /// Returns the mark of a new load. The caller has all ingest roles, so nobody draws numbers.
    fn first_mark(&self) -> BulkMark {
        let numbers = &self.numbers;
        let first = numbers.sequence.load(Relaxed);
        // No automatic key is the explicit key of a document that is in.
        let document = numbers.documents.load(Relaxed).max(numbers.explicit_end.load(Relaxed));
        let (keys, place) = (KeyKinds::default(), BulkPlace::default());
        BulkMark { first, document, next: first, keys, place }
    }

    /// Raises the numbers that are drawn next above those of a load's documents before `sequence`.
    fn raise_numbers(&self, mark: &BulkMark, sequence: u64) {
        self.numbers.sequence.fetch_max(sequence, Relaxed);
        self.numbers.documents.fetch_max(mark.document_of(sequence), Relaxed);
    }

    /// Keeps how far a load is. Durable on return.
    fn keep_bulk(&self, mark: BulkMark) -> Result<(), WriteError> {
        self.keep(State { mark: Some(mark), finished: BulkPlace::default() })
    }

    fn keep(&self, state: State) -> Result<(), WriteError> {
        if let Some(store) = &self.store {
            let kept = store.root().note_bulk(state.mark, state.finished);
            kept.map_err(|_| WriteError::SyncFailed)?;
        }
        *self.bulk.state() = state;
        Ok(())
    }

    /// Ends a load at a place: the index accepts other operations again.
    pub(crate) fn end_bulk(&self, finished: BulkPlace) -> Result<(), WriteError> {
        if !self.bulk.is_any() {
            return Ok(());
        }
        let mut spread = Spread::begin_anyhow(self)?;
        self.keep(State { mark: None, finished })?;
        spread.roles.iter_mut().for_each(|role| role.end_collection());
        spread.end();
        Ok(())
    }
}

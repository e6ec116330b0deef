//! The index, as its users see it: this process writes it, or follows another one that does.

mod documents;
pub(crate) mod engine;
pub(crate) mod executor;
mod follower;
mod group;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::fresh::batch::KEY_BYTES_MAX;
use spirit_index::ground::roots::Gauge;
use spirit_index::log::REFERENCE_BYTES_MAX;
use spirit_index::memory::Memory;
use spirit_mem::Medium;
use spirit_schema::Schema;

use crate::config::durability::{Durability, Mode};
use crate::config::error::{AddError, OpenError};
use crate::config::options::Options;
use crate::config::recovering::StartReport;
use crate::storage::store::Store;
use crate::storage::view::View;
use crate::write::contents::Contents;
use crate::write::ingest::{Committed, Ingester};
use engine::Engine;
use executor::Executor;
use follower::Follower;

/// A live index. Any number of threads may add, delete and search at once.
pub struct Index {
    side: Side,
    pub(crate) options: Options,
}

/// What this process does with the index.
enum Side {
    Writes(Box<Engine>),
    /// Follows another process that writes, or wrote.
    Follows(Box<Follower>),
}

impl Options {
    /// Reserves the memory and starts the stages.
    pub fn open(self) -> Result<Index, OpenError> {
        if self.read_only { Index::follow(self) } else { Index::write(self) }
    }
}

impl Index {
    fn write(options: Options) -> Result<Index, OpenError> {
        let engine = Box::new(Engine::open(options)?);
        let options = engine.options.clone();
        Ok(Index { side: Side::Writes(engine), options })
    }

    fn follow(mut options: Options) -> Result<Index, OpenError> {
        let directory = options.directory.clone().filter(|_| options.mode != Mode::Volatile);
        let directory = directory.ok_or(OpenError::NothingToRead)?;
        let follower = Follower::open(&directory, &mut options)?;
        Ok(Index { side: Side::Follows(Box::new(follower)), options })
    }

    /// What writes the index; none in a process that only reads.
    pub(crate) fn written(&self) -> Option<&Engine> {
        match &self.side {
            Side::Writes(engine) => Some(engine),
            Side::Follows(_) => None,
        }
    }

    /// The same, for an operation that is refused in such a process.
    fn engine(&self) -> Result<&Engine, AddError> {
        self.written().ok_or(AddError::ReadOnly)
    }

    pub(crate) fn executors(&self) -> &[Executor] {
        self.written().map_or(&[], |engine| &engine.executors)
    }

    /// The current view.
    pub(crate) fn view(&self) -> Arc<View> {
        match &self.side {
            Side::Writes(engine) => engine.view.clone(),
            Side::Follows(follower) => follower.view(),
        }
    }

    /// The view of the writer that made `outdated` out of date.
    pub(crate) fn view_after(&self, outdated: &Arc<View>) -> Result<Arc<View>, OpenError> {
        match &self.side {
            Side::Writes(engine) => Ok(engine.view.clone()),
            Side::Follows(follower) => follower.view_after(outdated),
        }
    }

    /// True if it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        matches!(self.side, Side::Follows(_))
    }

    /// Closes the index in an orderly way, as dropping it does; says if that could not be done.
    pub fn close(mut self) -> Result<(), AddError> {
        match &mut self.side {
            Side::Writes(engine) => engine.shut(),
            Side::Follows(_) => Ok(()),
        }
    }

    /// Does beforehand what closing has to do, while the index can still be asked: where the oldest may be dropped, closing may drop
    /// some. An index in memory only finishes what its stages have begun. Nothing is added any more.
    pub fn prepare_close(&self) -> Result<(), AddError> {
        self.written().map_or(Ok(()), Engine::prepare_close)
    }

    /// Adds a document under an automatic key, a number in decimal, and says which. When this returns, every query that
    /// starts afterwards, on any thread, finds it.
    ///
    /// The number is that of the documents which the index had accepted before, those with keys of their own included. No
    /// two documents are ever given the same one. An index of several executors to which several threads add at once may
    /// leave some out: those of documents that were refused, or that were on their way when the process was killed, once
    /// another thread had a later one.
    pub fn add(&self, text: &str) -> Result<u64, AddError> {
        let engine = self.engine()?;
        match &*engine.executors {
            [only] => only.add(None, Contents::text(text)),
            _ => add_numbered(engine, text),
        }
    }

    /// Adds a document under `key`, replacing the one that has this key, in one visible step.
    pub fn put(&self, key: &str, text: &str) -> Result<(), AddError> {
        self.engine()?.route(key).add(Some(key), Contents::text(text)).map(|_| ())
    }

    /// Adds documents in order; each is visible soon after it is taken from the iterator, all of them when
    /// this returns. Faster than one at a time: their cache misses overlap.
    pub fn add_all<'a>(
        &self,
        documents: impl IntoIterator<Item = (Option<&'a str>, &'a str)>,
    ) -> Result<u64, AddAllError> {
        let mut added = 0;
        let engine = self.engine().map_err(|error| AddAllError { added, error })?;
        if let [only] = &*engine.executors {
            let mut role = only.role().map_err(|error| AddAllError { added, error })?;
            let mut documents = documents.into_iter();
            let mut collected = Ok(true);
            while collected == Ok(true) {
                collected = collect(&mut role, &mut documents);
                commit(only, &mut role, &mut added)?;
            }
            return collected.map(|_| added).map_err(|error| AddAllError { added, error });
        }
        for (key, text) in documents {
            let result = match key {
                Some(key) => self.put(key, text),
                None => add_numbered(engine, text).map(|_| ()),
            };
            result.map_err(|error| AddAllError { added, error })?;
            added += 1;
        }
        Ok(added)
    }

    /// Adds a document, under `key` or else an automatic one, whose text can be read again at `place`: at most 64 bytes of the
    /// application's own words, for a file and an offset in it, say. The log holds these instead of the text, until the
    /// document's segment is in the second tier. A start that finds the place in the log asks the index's
    /// [source](crate::Options::source), and fails if the text is not there any more. Says the automatic key.
    pub fn add_from(
        &self,
        key: Option<&str>,
        text: &str,
        place: &[u8],
    ) -> Result<Option<u64>, AddError> {
        let engine = self.engine()?;
        // Before a number is drawn that would be left out.
        engine.check_length(text.len())?;
        if place.len() > REFERENCE_BYTES_MAX {
            return Err(AddError::ReferenceTooLong { bytes: place.len() });
        }
        add_here(engine, key, Contents { place: Some(place), ..Contents::text(text) })
    }

    /// Deletes the document that has `key`. Says whether there was one. When this returns, no query that starts
    /// afterwards finds it.
    pub fn delete(&self, key: &str) -> Result<bool, AddError> {
        let engine = self.engine()?;
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            // No document can have it.
            return Ok(false);
        }
        engine.route(key).role()?.delete(key.as_bytes())
    }

    /// Flushes the segments being filled as well, full or not, and waits until that is done. Never needed for
    /// visibility: it is for a stream that pauses, since flushed segments answer fastest and take the least memory, and
    /// for measurements. Called often it makes many small segments.
    pub fn flush(&self) -> Result<(), AddError> {
        let engine = self.engine()?;
        engine.executors.iter().try_for_each(Executor::flush)?;
        engine.settle();
        Ok(())
    }

    /// True if an operation has found no room and waits, and the index can make none: until something is deleted, the disk has
    /// room again, or a reader lets go of what was deleted. For another thread.
    pub fn is_waiting_for_room(&self) -> bool {
        self.executors().iter().any(Executor::is_waiting_for_room)
    }

    /// Ends all waiting for room that cannot be made. Operations that wait for it, and later ones that
    /// would, return [`AddError::HeapFull`]. For another thread: it lets an index that
    /// [waits](crate::OnFull::Wait) be closed while an operation waits.
    pub fn stop_waiting(&self) {
        self.executors().iter().for_each(|executor| executor.shared.stop_waiting());
    }

    /// Waits until every full segment has been flushed. Never needed for visibility; benchmarks call it.
    pub fn settle(&self) {
        self.executors().iter().for_each(Executor::settle);
    }

    /// What the start found and did.
    pub fn start_report(&self) -> StartReport {
        self.written().map(|engine| engine.start_report).unwrap_or_default()
    }

    /// What survives.
    pub fn mode(&self) -> Mode {
        self.options.mode
    }

    /// What an acknowledged operation survives in [`Mode::Crash`].
    pub fn durability(&self) -> Durability {
        self.options.durability
    }

    /// What the index's file lies on, if it has one.
    pub fn medium(&self) -> Option<Medium> {
        let followed = self.view().followed().map(|followed| followed.medium);
        self.written().and_then(|engine| engine.store.as_ref()).map(Store::medium).or(followed)
    }

    /// The fields of its documents, as they are now. More may come with documents.
    pub fn schema(&self) -> Arc<Schema> {
        self.view().fields.current()
    }

    /// What the index was opened with, or made with if it was there.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The memory of each executor: for measurements of parts of it.
    #[doc(hidden)]
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.executors().iter().map(|executor| &executor.shared.memory)
    }

    /// Documents ever accepted: exactly, over the index's life.
    pub fn accepted(&self) -> u64 {
        self.gauges(Gauge::Accepted)
    }

    /// Documents that were replaced or deleted, over the index's life. After a start that followed a kill it may be off by those of
    /// the last moments, until the keys of all segments have been looked at in the background.
    pub fn deleted(&self) -> u64 {
        self.gauges(Gauge::Deleted)
    }

    fn gauges(&self, gauge: Gauge) -> u64 {
        self.view().parts.iter().map(|part| part.memory.gauge(gauge).load(Relaxed)).sum()
    }
}

/// Adds under an automatic key when there are several executors: the number decides which. Within an executor
/// automatic keys must ascend with the rows, so the role is taken in the order of the numbers; the ingestion
/// itself goes on side by side.
fn add_numbered(engine: &Engine, text: &str) -> Result<u64, AddError> {
    engine.check_length(text.len())?;
    let (executor, called, mut role) = engine.admit(None)?;
    role.collector().collect(called, text)?;
    let Committed { number, result, .. } = role.commit();
    executor.serve(&mut role);
    result.map(|()| number)
}

/// Adds a document in the executor that its key, or the number drawn for it, decides; says the automatic key.
fn add_here(
    engine: &Engine,
    key: Option<&str>,
    contents: Contents<'_>,
) -> Result<Option<u64>, AddError> {
    let (executor, called, mut role) = engine.admit(key)?;
    role.collector().collect_document(called, contents)?;
    let Committed { number, result, .. } = role.commit();
    executor.serve(&mut role);
    result.map(|()| key.is_none().then_some(number))
}

/// Cuts documents until the batch is full; says whether there may be more of them.
#[inline]
fn collect<'a>(
    role: &mut Ingester,
    documents: &mut impl Iterator<Item = (Option<&'a str>, &'a str)>,
) -> Result<bool, AddError> {
    let mut collector = role.collector();
    while !collector.is_full() {
        match documents.next() {
            Some((key, text)) => collector.collect(key.into(), text)?,
            None => return Ok(false),
        }
    }
    Ok(true)
}

fn commit(executor: &Executor, role: &mut Ingester, added: &mut u64) -> Result<(), AddAllError> {
    let Committed { added: count, result, .. } = role.commit();
    *added += count;
    executor.serve(role);
    result.map_err(|error| AddAllError { added: *added, error })
}

/// A document of many was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddAllError {
    /// How many were added before it.
    pub added: u64,
    /// Why it was not.
    pub error: AddError,
}

impl std::fmt::Display for AddAllError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after {} documents: {}", self.added, self.error)
    }
}

impl std::error::Error for AddAllError {}

//! The index, as its users see it: this process writes it, or follows another one that does.

pub(crate) mod builder;
pub(crate) mod settings;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::fresh::batch::KEY_BYTES_MAX;
use spirit_index::ground::roots::Gauge;
use spirit_mem::Medium;
use spirit_query::{Operator, Parser};
use spirit_schema::Schema;

use crate::config::batch::Batch;
use crate::config::document::Document;
use crate::config::durability::Mode;
use crate::config::error::{AddAllError, OpenError, WriteError};
use crate::config::options::Options;
use crate::config::recovering::StartReport;
use crate::engine::Engine;
use crate::engine::executor::Executor;
use crate::engine::follower::Follower;
use crate::engine::readable::Readable;
use crate::search::error::TooManyReaders;
use crate::search::pool::Pool;
use crate::search::query_pool::{PoolError, QueryPool};
use crate::search::reader::Reader;
use crate::search::searcher::Searcher;
use crate::storage::store::Store;
use crate::storage::view::View;
use builder::Builder;
use settings::Settings;

/// A live index. Any number of threads may add, delete and search at once.
///
/// Dropping it closes it in an orderly way, as [`close`](Self::close) does.
pub struct Index {
    /// What writes it; none in a process that only reads.
    engine: Option<Box<Engine>>,
    pub(crate) readable: Arc<Readable>,
    /// The idle desks of its searchers.
    pool: Arc<Pool>,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("settings", &self.settings()).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index in `directory`, or makes one there with the default settings.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Index, OpenError> {
        Index::builder().directory(directory).open()
    }

    /// Makes an index in memory with the default settings. It is gone when it is dropped.
    pub fn in_memory() -> Result<Index, OpenError> {
        Index::builder().open()
    }

    /// Returns a builder of an index with other settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with(mut options: Options) -> Result<Index, OpenError> {
        if options.read_only {
            let directory = options.directory.clone().filter(|_| options.mode != Mode::Volatile);
            let directory = directory.ok_or(OpenError::NothingToRead)?;
            let follower = Follower::open(&directory, &mut options)?;
            return Ok(Index::of(None, Readable::followed(follower, options)));
        }
        let engine = Box::new(Engine::open(options)?);
        let readable = Readable::written(&engine);
        Ok(Index::of(Some(engine), readable))
    }

    fn of(engine: Option<Box<Engine>>, readable: Readable) -> Index {
        let readable = Arc::new(readable);
        Index { engine, pool: Arc::new(Pool::new(readable.clone())), readable }
    }

    /// What writes the index; none in a process that only reads.
    pub(crate) fn written(&self) -> Option<&Engine> {
        self.engine.as_deref()
    }

    /// Like [`written`](Self::written), for an operation that is refused in a process that only reads.
    fn engine(&self) -> Result<&Engine, WriteError> {
        self.written().ok_or(WriteError::ReadOnly)
    }

    pub(crate) fn executors(&self) -> &[Executor] {
        self.written().map_or(&[], |engine| &engine.executors)
    }

    /// The current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.readable.view()
    }

    /// Returns a searcher, which any number of threads can share.
    pub fn searcher(&self) -> Searcher {
        Searcher::new(self.pool.clone())
    }

    /// Returns a reader for one thread, with a slot and memory of its own.
    pub fn reader(&self) -> Result<Reader, TooManyReaders> {
        match Reader::new(self.readable.clone()) {
            Ok(reader) => Ok(reader),
            // Searchers may have left some idle.
            Err(refused) => self.pool.take_idle().map(Reader::at).ok_or(refused),
        }
    }

    /// Starts `threads` threads that answer questions, each with a reader of its own. `queue` questions can wait before the
    /// next one blocks its caller.
    pub fn query_pool(&self, threads: usize, queue: usize) -> Result<QueryPool, PoolError> {
        QueryPool::start(&self.readable, threads, queue)
    }

    /// Returns a parser of queries for this index's fields, as they are now.
    pub fn parser(&self, operator: Operator) -> Parser {
        self.readable.parser(operator)
    }

    /// Adds a document under an automatic key, a number in decimal, unless it has a [key](Document::key) of its own; returns the
    /// number. When this returns, every query that starts afterwards, on any thread, finds the document.
    ///
    /// The number counts the documents that the index had accepted before, those with keys of their own included. No two
    /// documents are ever given the same one. An index of several executors to which several threads add at once may leave some
    /// out: those of documents that were refused, or that were on their way when the process was killed, once another thread had
    /// a later one.
    ///
    /// A field that is not in the [schema](Self::schema) joins it, with the kind of its first value, unless the index is
    /// [strict](Builder::strict). A document with a value that does not fit its field is refused whole.
    #[inline]
    pub fn add<'d>(&self, document: impl Into<Document<'d>>) -> Result<u64, WriteError> {
        self.engine()?.add(&document.into())
    }

    /// Adds a document under `key`. It replaces the one that has this key, in one visible step.
    #[inline]
    pub fn put<'d>(
        &self,
        key: &'d str,
        document: impl Into<Document<'d>>,
    ) -> Result<(), WriteError> {
        self.engine()?.add(&document.into().key(key)).map(|_| ())
    }

    /// Adds a stream of documents in order; each is visible soon after it is taken from the iterator, all of them when
    /// this returns. Returns their number. Faster than one at a time: their cache misses overlap.
    pub fn add_all<'d, D: Into<Document<'d>>>(
        &self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<u64, AddAllError> {
        let engine = self.engine().map_err(|error| AddAllError { added: 0, error })?;
        engine.add_all(documents.into_iter().map(Into::into))
    }

    /// Adds the documents of a batch in order, all of them or none. After a crash all of them are there and
    /// [`offset`](Self::offset) returns the batch's, or none are: an application that goes on from there adds everything
    /// exactly once.
    ///
    /// Queries see all documents of an executor at once. Those of several executors are seen within the time of a few stores,
    /// and have the order of the executors, not of the batch. The documents for one executor must fit into a segment, and into
    /// half of its log if it has one.
    ///
    /// # Errors
    /// None of the documents was added, except with [`WriteError::SyncFailed`]: then the next start tells whether they are
    /// there.
    pub fn write(&self, batch: Batch<'_>) -> Result<(), WriteError> {
        self.engine()?.write(&batch.documents, batch.offset)
    }

    /// Returns the offset of the last [batch](Self::write) that had one, in this process or before.
    pub fn offset(&self) -> Result<Option<Vec<u8>>, WriteError> {
        self.written().map_or(Ok(None), Engine::offset)
    }

    /// Deletes the document that has `key`. Returns whether there was one. When this returns, no query that starts
    /// afterwards finds it.
    pub fn delete(&self, key: &str) -> Result<bool, WriteError> {
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
    pub fn flush(&self) -> Result<(), WriteError> {
        let engine = self.engine()?;
        engine.executors.iter().try_for_each(Executor::flush)?;
        engine.settle();
        Ok(())
    }

    /// Waits until every full segment has been flushed. Never needed for visibility; benchmarks call it.
    pub fn settle(&self) {
        self.executors().iter().for_each(Executor::settle);
    }

    /// Closes the index in an orderly way, as dropping it does, and returns what went wrong. Its searchers and readers are
    /// answered no more.
    pub fn close(mut self) -> Result<(), WriteError> {
        self.engine.as_deref_mut().map_or(Ok(()), Engine::shut)
    }

    /// Does beforehand what closing has to do, while the index can still be asked. An index that drops its oldest when it is
    /// full may drop some. An index in memory only finishes what its stages have begun. Nothing is added any more.
    pub fn prepare_close(&self) -> Result<(), WriteError> {
        self.written().map_or(Ok(()), Engine::prepare_close)
    }

    /// True if an operation has found no room and waits, and the index can make none: until something is deleted, the disk has
    /// room again, or a reader lets go of what was deleted. For another thread.
    pub fn is_waiting_for_room(&self) -> bool {
        self.executors().iter().any(Executor::is_waiting_for_room)
    }

    /// Ends all waiting for room that cannot be made. Operations that wait for it, and later ones that
    /// would, return [`WriteError::HeapFull`]. For another thread: it lets an index that
    /// [waits](crate::OnFull::Wait) be closed while an operation waits.
    pub fn stop_waiting(&self) {
        self.executors().iter().for_each(|executor| executor.shared.stop_waiting());
    }

    /// True if it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.engine.is_none()
    }

    /// The directory that it is kept in, if it is.
    pub fn directory(&self) -> Option<&Path> {
        self.readable.options.directory.as_deref()
    }

    /// The settings that are in force: those that it was made with, if it was there.
    pub fn settings(&self) -> Settings {
        Settings::of(&self.readable.options)
    }

    /// The fields of its documents, as they are now. More may come with documents.
    pub fn schema(&self) -> Arc<Schema> {
        self.view().fields.current()
    }

    /// What the start found and did.
    pub fn start_report(&self) -> StartReport {
        self.written().map(|engine| engine.start_report).unwrap_or_default()
    }

    /// What the index's file lies on, if it has one.
    pub fn medium(&self) -> Option<Medium> {
        let followed = self.view().followed().map(|followed| followed.medium);
        self.written().and_then(|engine| engine.store.as_ref()).map(Store::medium).or(followed)
    }

    /// The number of documents ever accepted: exactly, over the index's life.
    pub fn accepted(&self) -> u64 {
        self.gauges(Gauge::Accepted)
    }

    /// The number of documents that were replaced or deleted, over the index's life. After a start that followed a kill it may
    /// be off by those of the last moments, until the keys of all segments have been looked at in the background.
    pub fn deleted(&self) -> u64 {
        self.gauges(Gauge::Deleted)
    }

    fn gauges(&self, gauge: Gauge) -> u64 {
        self.view().parts.iter().map(|part| part.memory.gauge(gauge).load(Relaxed)).sum()
    }
}

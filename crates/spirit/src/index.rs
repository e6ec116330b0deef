//! The public index. This process writes it, or follows a process that does.

pub(crate) mod builder;
pub(crate) mod settings;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::fresh::KEY_BYTES_MAX;
use spirit_index::ground::Gauge;
use spirit_query::{Operator, Query};
use spirit_schema::Schema;

use crate::config::batch::Batch;
use crate::config::document::Document;
use crate::config::durability::Mode;
use crate::config::error::{OpenError, WriteError};
use crate::config::operation::{Applied, Operation};
use crate::config::options::Options;
use crate::config::recovering::StartReport;
use crate::engine::Engine;
use crate::engine::bulk::Bulk;
use crate::engine::executor::Executor;
use crate::engine::follower::Follower;
use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::into_query::{IntoQuery, Parsing};
use crate::search::pool::Pool;
use crate::search::reader::Reader;
use crate::search::searcher::Searcher;
use crate::standing::{Percolator, StandingQueries, Tail, Tailing};
use crate::storage::bulk_mark::BulkPlace;
use crate::storage::store::Store;
use crate::storage::view::View;
use builder::Builder;
use settings::Settings;

/// A live index. Any number of threads may add, delete and search at once.
///
/// Dropping it closes it in an orderly way, like [`close`](Self::close).
pub struct Index {
    /// The writing side; none in a process that only reads.
    engine: Option<Box<Engine>>,
    pub(crate) readable: Arc<Readable>,
    /// The idle desks of its searchers.
    pool: Arc<Pool>,
    /// Its standing queries; none in a process that only reads.
    standing: Option<Arc<StandingQueries>>,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("settings", &self.settings()).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index in `directory`, or makes one there with the default settings.
    ///
    /// # Errors
    /// If the directory or its file cannot be made or opened, or if the index is damaged or in use.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Index, OpenError> {
        Index::builder().directory(directory).open()
    }

    /// Makes an index in memory with the default settings. It is gone when it is dropped.
    ///
    /// # Errors
    /// If the memory cannot be reserved or a thread cannot be started.
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
            return Ok(Index::of(None, Readable::followed(follower, options)?));
        }
        let engine = Box::new(Engine::open(options)?);
        let readable = Readable::written(&engine)?;
        Ok(Index::of(Some(engine), readable))
    }

    fn of(engine: Option<Box<Engine>>, readable: Readable) -> Index {
        let readable = Arc::new(readable);
        let pool = Arc::new(Pool::new(readable.clone()));
        let numbers = engine.as_ref().map(|engine| engine.numbers.clone());
        let standing = |numbers| Arc::new(StandingQueries::new(readable.clone(), numbers));
        Index { engine, pool, standing: numbers.map(standing), readable }
    }

    /// Returns the writing side; none in a process that only reads.
    pub(crate) fn written(&self) -> Option<&Engine> {
        self.engine.as_deref()
    }

    /// Like [`written`](Self::written), but returns an error in a process that only reads.
    fn engine(&self) -> Result<&Engine, WriteError> {
        self.written().ok_or(WriteError::ReadOnly)
    }

    pub(crate) fn executors(&self) -> &[Executor] {
        self.written().map_or(&[], |engine| &engine.executors)
    }

    /// Returns the current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.readable.view()
    }

    /// Returns a searcher, which any number of threads can share.
    pub fn searcher(&self) -> Searcher {
        Searcher::new(self.pool.clone())
    }

    /// Returns a reader for one thread, with a slot and memory of its own.
    ///
    /// # Errors
    /// [`SearchError::Readers`] if all [`readers_max`](Builder::readers_max) slots are in use.
    pub fn reader(&self) -> Result<Reader, SearchError> {
        match Reader::new(self.readable.clone()) {
            Ok(reader) => Ok(reader),
            // Searchers may have left idle slots.
            Err(refused) => self.pool.take_idle().map(Reader::at).ok_or(refused),
        }
    }

    /// Listens to what arrives and matches a query: documents that are added after this returns.
    ///
    /// The tail of the first query takes one of the [readers](Builder::readers_max) for good. A time
    /// like `now-1h` is that of this call.
    ///
    /// # Errors
    /// If the query is invalid. In a process that only reads.
    pub fn tail<'q>(&self, query: impl IntoQuery<'q>, how: Tailing) -> Result<Tail, SearchError> {
        let standing = self.standing.as_ref().ok_or(SearchError::ReadOnly)?;
        let mut parser = self.readable.parser(Operator::Or);
        let (mut own, mut warnings) = (Query::new(), Vec::new());
        let mut parsing = Parsing { parser: &mut parser, query: &mut own, warnings: &mut warnings };
        let query = query.into_query(&mut parsing)?.unwrap_or(&own);
        if query.needs_positions() && !self.readable.options.positions {
            return Err(SearchError::NoPositions);
        }
        standing.tail(query, how)
    }

    /// Returns a set of queries that single documents are held against, without being added: which of the
    /// queries does a document match? It has the fields that the index has now.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn percolator(&self) -> crate::Result<Percolator> {
        Percolator::new(&self.readable.options, self.schema())
    }

    /// Adds a document, and returns its number. Numbers begin with 0, and each document has one
    /// more than the document before.
    ///
    /// A document without a [key](Document::key) gets its number, in decimal, as its automatic key.
    /// It passes over numbers that other documents have as their keys. So it replaces none. Once `add` returns, every query that starts afterwards, on any thread, finds the
    /// document.
    ///
    /// Documents with keys of their own draw numbers too. No two documents get the same number.
    /// If several threads add to an index of several executors, numbers may be left out. Those are
    /// numbers of refused documents, and of documents in progress when the process was killed, if
    /// another thread had a later number by then.
    ///
    /// A field that is not in the [schema](Self::schema) joins it, with the kind of its first
    /// value. A [strict](Builder::strict) index refuses the document instead.
    ///
    /// # Errors
    /// If a value does not fit its field, if the document is too long, or if there is no room. The
    /// document is not added then.
    #[inline]
    pub fn add<'d>(&self, document: impl Into<Document<'d>>) -> Result<u64, WriteError> {
        self.engine()?.add(&document.into())
    }

    /// Returns the number that the next document gets if it has no key and no other is added before.
    /// [`add`](Self::add) says how numbers are drawn.
    ///
    /// # Errors
    /// If the index is closed or poisoned, or if another process writes it.
    pub fn next_number(&self) -> Result<u64, WriteError> {
        self.engine()?.next_number()
    }

    /// Adds a document with key `key`. It replaces the document that has this key, in one visible
    /// step.
    ///
    /// # Errors
    /// As [`add`](Self::add). Also, if `key` is empty or longer than 512 bytes.
    #[inline]
    pub fn put<'d>(
        &self,
        key: &'d str,
        document: impl Into<Document<'d>>,
    ) -> Result<(), WriteError> {
        self.engine()?.add(&document.into().key(key)).map(|_| ())
    }

    /// Adds a stream of documents in order, and returns their number.
    ///
    /// Each is visible soon after it is taken from the iterator. All of them are visible when this
    /// returns. Faster than one document at a time: their cache misses overlap. Several executors
    /// add them side by side, each on a thread, up to 50,000 documents behind the iterator; their
    /// order is the iterator's. Documents that other threads add wait for that, some tens of
    /// milliseconds, and while the iterator waits for its next document. The iterator itself must not
    /// use the index.
    ///
    /// # Errors
    /// The first document that fails ends the stream: [`WriteError::AfterSome`] has the number of
    /// documents added before, which stay. With several executors, some behind one that found no
    /// room may be there too. [`WriteError::ReadOnly`] if nothing can be added.
    pub fn add_all<'d, D: Into<Document<'d>>>(
        &self,
        documents: impl IntoIterator<Item = D>,
    ) -> Result<u64, WriteError> {
        let engine = self.engine()?;
        engine.add_all(documents.into_iter().map(Into::into))
    }

    /// Adds the documents of a batch in order: all of them or none.
    ///
    /// After a crash, either all of them are there and [`offset`](Self::offset) returns the batch's
    /// offset, or none are. An application that continues from that offset adds everything exactly
    /// once.
    ///
    /// Queries see all documents of one executor at once. Documents of several executors become
    /// visible within the time of a few stores. Their order is that of the executors, not of the
    /// batch. The documents for one executor must fit into one segment, and into half of its log if
    /// it has one.
    ///
    /// # Errors
    /// None of the documents was added. The exception is [`WriteError::SyncFailed`]: the next start
    /// tells whether they are there.
    pub fn write(&self, batch: Batch<'_>) -> Result<(), WriteError> {
        self.engine()?.write(&batch.documents, batch.offset)
    }

    /// Begins a bulk load, or goes on with one that was not finished: documents of a collection that
    /// does not change. [`Bulk`] says how.
    ///
    /// # Errors
    /// In a process that only reads, and if a stage of the pipeline failed.
    pub fn bulk(&self) -> Result<Bulk<'_>, WriteError> {
        Bulk::begin(self.engine()?)
    }

    /// True if a bulk load was begun, in this process or before, and not finished. The index accepts
    /// nothing else then.
    pub fn has_unfinished_bulk(&self) -> bool {
        self.written().is_some_and(|engine| engine.bulk.is_any())
    }

    /// Gives up a bulk load that was not finished. What is in stays in: some documents of the
    /// collection, in no order. Does nothing without one.
    ///
    /// # Errors
    /// In a process that only reads, or if the disk failed.
    pub fn give_up_bulk(&self) -> Result<(), WriteError> {
        self.engine()?.end_bulk(BulkPlace::default())
    }

    /// Returns the place that was noted last in the bulk load that was finished last: of a run that was
    /// killed at its end, it says that all is in. Zeros without one, or in a process that only reads.
    pub fn finished_bulk(&self) -> [u64; 6] {
        self.written().map(|engine| engine.bulk.finished()).unwrap_or_default()
    }

    /// Applies operations in order, each if its condition holds, and returns the result of each.
    ///
    /// Operations with a condition are decided one after the other, also beside those of other
    /// threads. What was applied is visible, and as durable as any document, when this returns.
    /// Operations are independent of each other: those behind a refused one are tried. Those on one
    /// key keep their order. A document that is refused for its condition may have brought fields to
    /// the schema.
    ///
    /// Faster than one operation at a time: they share records of the log, and syncs. A delete has its
    /// own.
    ///
    /// # Errors
    /// Of each operation: [`WriteError::Conflict`] if its condition does not hold, or as
    /// [`put`](Self::put) and [`delete`](Self::delete).
    pub fn apply(&self, operations: &[Operation<'_>]) -> Vec<Result<Applied, WriteError>> {
        match self.engine() {
            Ok(engine) => engine.apply(operations),
            Err(error) => vec![Err(error); operations.len()],
        }
    }

    /// Returns the offset of the last [batch](Self::write) that had one, in this process or before;
    /// none if no batch had one.
    pub fn offset(&self) -> Result<Option<Vec<u8>>, WriteError> {
        self.written().map_or(Ok(None), Engine::offset)
    }

    /// Deletes the document with key `key`. Returns true if there was one. No query that starts
    /// after this returns finds it.
    pub fn delete(&self, key: &str) -> Result<bool, WriteError> {
        let engine = self.engine()?;
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            // No document can have such a key.
            return Ok(false);
        }
        engine.route(key).role()?.delete(key.as_bytes())
    }

    /// Flushes all segments, even those that are not full, and waits until that is done.
    ///
    /// Visibility never needs this. It helps a stream that pauses: flushed segments answer fastest
    /// and take the least memory. It also serves measurements. Frequent calls make many small
    /// segments.
    pub fn flush(&self) -> Result<(), WriteError> {
        let engine = self.engine()?;
        engine.executors.iter().try_for_each(Executor::flush)?;
        engine.settle();
        Ok(())
    }

    /// Waits until every full segment is flushed. Visibility never needs this; benchmarks use it.
    pub fn settle(&self) {
        self.executors().iter().for_each(Executor::settle);
    }

    /// Closes the index in an orderly way, like dropping it, and returns the error if there was
    /// one. Its searchers and readers fail from then on.
    pub fn close(mut self) -> Result<(), WriteError> {
        self.engine.as_deref_mut().map_or(Ok(()), Engine::shut)
    }

    /// Does the work of closing beforehand, while queries are still answered. No documents
    /// may be added afterwards.
    ///
    /// An index with [`OnFull::DropOldest`](crate::OnFull::DropOldest) may drop its oldest
    /// segments. An index in memory only finishes the work that its stages have begun.
    pub fn prepare_close(&self) -> Result<(), WriteError> {
        self.written().map_or(Ok(()), Engine::prepare_close)
    }

    /// True if an operation waits for room that the index cannot make. It waits until a document is
    /// deleted, the disk has room again, or a reader releases deleted memory. For another thread.
    pub fn is_waiting_for_room(&self) -> bool {
        self.executors().iter().any(Executor::is_waiting_for_room)
    }

    /// Ends all waiting for room that cannot be made. Waiting and later operations return
    /// [`WriteError::HeapFull`] instead.
    ///
    /// For another thread: an index that [waits](crate::OnFull::Wait) can then be closed while an
    /// operation waits.
    pub fn stop_waiting(&self) {
        self.executors().iter().for_each(|executor| executor.shared.stop_waiting());
    }

    /// True if the index was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.engine.is_none()
    }

    /// Returns the directory of the index; none for an index in memory.
    pub fn directory(&self) -> Option<&Path> {
        self.readable.options.directory.as_deref()
    }

    /// Returns the settings in force. An existing index keeps most of those that it was made with.
    pub fn settings(&self) -> Settings {
        Settings::of(&self.readable.options)
    }

    /// Returns the current fields of its documents. Later documents may add more.
    pub fn schema(&self) -> Arc<Schema> {
        self.view().fields.current()
    }

    /// Returns the report of the start; an empty one in a process that only reads.
    pub fn start_report(&self) -> StartReport {
        self.written().map(|engine| engine.start_report).unwrap_or_default()
    }

    /// Returns the medium of the index's file: `file`, `dax` or `tmpfs`; none for an index in memory.
    pub fn medium(&self) -> Option<String> {
        let followed = self.view().followed().map(|followed| followed.medium);
        let written = self.written().and_then(|engine| engine.store.as_ref()).map(Store::medium);
        written.or(followed).map(|medium| medium.to_string())
    }

    /// Returns the exact number of documents accepted over the index's life.
    pub fn accepted(&self) -> u64 {
        self.gauges(Gauge::Accepted)
    }

    /// Returns the number of documents replaced or deleted over the index's life.
    ///
    /// After a kill, it may be off by the operations of the last moments. It is exact again once
    /// the background has read the keys of all segments.
    pub fn deleted(&self) -> u64 {
        self.gauges(Gauge::Deleted)
    }

    fn gauges(&self, gauge: Gauge) -> u64 {
        self.view().parts.iter().map(|part| part.memory.gauge(gauge).load(Relaxed)).sum()
    }
}

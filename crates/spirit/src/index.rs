//! The index: executors side by side, one order over all of them.

mod documents;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use spirit_index::batch::KEY_BYTES_MAX;
use spirit_index::memory::Memory;
use spirit_index::nvm::log::REFERENCE_BYTES_MAX;
use spirit_index::roots::Gauge;
use spirit_mem::{Medium, Pins};
use spirit_schema::Schema;

use crate::clock::{Clock, ClockReading};
use crate::collector::{Called, Contents};
use crate::durability::{Durability, Mode};
use crate::error::{AddError, OpenError};
use crate::executor::{Common, Executor, Place};
use crate::fields::Fields;
use crate::follower::Follower;
use crate::ingest::{Committed, Ingester};
use crate::live::Host;
use crate::options::Options;
use crate::recovering::StartReport;
use crate::retention::Retention;
use crate::shared::Numbers;
use crate::store::Store;
use crate::view::View;

/// A live index. Any number of threads may add, delete and search at once.
pub struct Index {
    /// What ingests; none in a process that only reads.
    pub(crate) executors: Box<[Executor]>,
    seen: Seen,
    pub(crate) options: Options,
    pub(crate) numbers: Arc<Numbers>,
    /// Held while an automatic number finds its executor.
    admission: Mutex<()>,
    start_report: StartReport,
    /// Where the index is kept, if it is. Behind the executors: it outlives them.
    pub(crate) store: Option<Store>,
    /// The thread that lets other processes read, if they can.
    host: Option<Host>,
}

/// How often a start doubles its DRAM when the log does not fit.
const DOUBLINGS_MAX: u32 = 3;

/// The view of its readers.
enum Seen {
    /// Memory of this process, which writes it.
    Own(Arc<View>),
    /// Follows another process that writes, or wrote.
    Followed(Box<Follower>),
}

impl Index {
    pub(crate) fn open(mut options: Options) -> Result<Index, OpenError> {
        if options.read_only {
            return Self::follow(options);
        }
        // Replay may fill other segments than before. On a full disk all of them stay in DRAM and need more of it. With less DRAM
        // than before segments are smaller, and a document or a group may need a larger one.
        let (asked, mut doublings) = (options.dram_bytes, 0);
        loop {
            match Self::start(options.clone()) {
                Err(OpenError::Recovery(
                    AddError::HeapFull
                    | AddError::DocumentTooLarge { .. }
                    | AddError::GroupBeyondSegment { .. },
                )) if doublings < DOUBLINGS_MAX => {
                    options.dram_bytes *= 2;
                    doublings += 1;
                }
                started => {
                    let mut index = started?;
                    index.start_report.dram_beyond = options.dram_bytes - asked;
                    return Ok(index);
                }
            }
        }
    }

    fn start(mut options: Options) -> Result<Index, OpenError> {
        let begun = Instant::now();
        let mut store = match options.directory.clone() {
            // What an index that is there was made with counts.
            Some(directory) if options.mode != Mode::Volatile => {
                options.check()?;
                Some(Store::open(&directory, &mut options)?)
            }
            _ => {
                (options.mode, options.directory) = (Mode::Volatile, None);
                None
            }
        };
        options.check()?;
        // One for each reader, each ingest role, and `stats`, which must never go without.
        let pins = Pins::new(options.readers_max + options.executors + 1);
        let live = store.as_mut().and_then(Store::take_live);
        let pins = Arc::new(match &live {
            Some(live) => pins.shared(live.words()),
            None => pins,
        });
        let stats_pin = pins.acquire().expect("no slot is taken yet");
        let numbers = Arc::new(Numbers::default());
        let fields = match &store {
            Some(store) => store.fields().clone(),
            None => Arc::new(Fields::in_memory(&options)?),
        };
        let clock = match &store {
            Some(store) => store.root().clock().cloned(),
            None => Some(Arc::new(Clock::since(ClockReading::default(), options.clock.as_ref()))),
        };
        let retention = clock.as_ref().and_then(|clock| Retention::new(&options, clock));
        let retention = retention.as_ref();
        let (mut executors, mut report) = (Vec::new(), StartReport::default());
        for number in 0..options.executors {
            let common = Common { numbers: &numbers, fields: &fields, pins: &pins, retention };
            let place = Place { store: store.as_ref(), live: live.as_ref() };
            let started = Executor::start(&options, number, common, place)?;
            executors.push(started.0);
            report.add(started.1);
        }
        let executors = executors.into_boxed_slice();
        let start_report = StartReport { time: begun.elapsed(), ..report };
        let parts: Box<[_]> = executors.iter().map(|executor| executor.shared.clone()).collect();
        let host = match (live, &store) {
            (Some(live), Some(store)) => {
                let geometry = parts[0].memory.geometry();
                let welcome = store.welcome(&options, geometry)?;
                Some(live.serve(welcome, clock).map_err(OpenError::Thread)?)
            }
            _ => None,
        };
        let view = View::new(parts, pins, fields, stats_pin, None);
        let (admission, seen) = (Mutex::new(()), Seen::Own(Arc::new(view)));
        Ok(Index { executors, seen, options, numbers, admission, start_report, store, host })
    }

    /// Opens an index for reading only.
    fn follow(mut options: Options) -> Result<Index, OpenError> {
        let directory = options.directory.clone().filter(|_| options.mode != Mode::Volatile);
        let directory = directory.ok_or(OpenError::NothingToRead)?;
        let follower = Follower::open(&directory, &mut options)?;
        Ok(Index {
            executors: Box::default(),
            seen: Seen::Followed(Box::new(follower)),
            options,
            numbers: Arc::default(),
            admission: Mutex::new(()),
            start_report: StartReport::default(),
            store: None,
            host: None,
        })
    }

    /// Opens a copy of an index that nobody writes, of which nothing is ever stored: for a process that only reads.
    pub(crate) fn open_private(options: Options) -> Result<Index, OpenError> {
        Self::open(Options { read_only: false, private: true, ..options })
    }

    /// The current view.
    pub(crate) fn view(&self) -> Arc<View> {
        match &self.seen {
            Seen::Own(view) => view.clone(),
            Seen::Followed(follower) => follower.view(),
        }
    }

    /// The fields of the documents that are added; none in a process that only reads.
    pub(crate) fn fields(&self) -> Option<&Fields> {
        match &self.seen {
            Seen::Own(view) => Some(&view.fields),
            Seen::Followed(_) => None,
        }
    }

    /// The view of the writer that made `outdated` out of date.
    pub(crate) fn view_after(&self, outdated: &Arc<View>) -> Result<Arc<View>, OpenError> {
        match &self.seen {
            Seen::Own(view) => Ok(view.clone()),
            Seen::Followed(follower) => follower.view_after(outdated),
        }
    }

    /// True if it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        matches!(self.seen, Seen::Followed(_))
    }

    pub(crate) fn check_writable(&self) -> Result<(), AddError> {
        if self.is_read_only() { Err(AddError::ReadOnly) } else { Ok(()) }
    }

    /// Closes the index in an orderly way, as dropping it does; says if that could not be done.
    pub fn close(mut self) -> Result<(), AddError> {
        self.shut()
    }

    /// Does beforehand what closing has to do, while the index can still be asked: where the oldest may be dropped, closing may drop
    /// some. An index in memory only finishes what its stages have begun. Nothing is added any more.
    pub fn prepare_close(&self) -> Result<(), AddError> {
        if self.store.is_none() || self.options.private {
            self.settle();
            return Ok(());
        }
        self.executors.iter().try_for_each(|one| one.close(&self.options))
    }

    fn shut(&mut self) -> Result<(), AddError> {
        let Some(store) = self.store.take() else { return Ok(()) };
        if self.options.private {
            self.executors.iter_mut().for_each(Executor::stop);
            return Ok(());
        }
        for executor in &self.executors {
            executor.close(&self.options)?;
        }
        // What is stored after the file says that the index is closed could be lost with the machine.
        self.executors.iter_mut().for_each(Executor::stop);
        if store.is_open() {
            let sealed = |one: &Executor| one.seal(&store, &self.options);
            self.executors.iter().try_for_each(sealed)?;
        }
        let closed = store.close().map_err(|_| AddError::SyncFailed);
        // Before the file is unlocked: who comes meanwhile waits for one or the other.
        self.host = None;
        closed
    }

    /// Adds a document under an automatic key, a number in decimal, and says which. When this returns, every query that
    /// starts afterwards, on any thread, finds it.
    ///
    /// The number is that of the documents which the index had accepted before, those with keys of their own included. No
    /// two documents are ever given the same one. An index of several executors to which several threads add at once may
    /// leave some out: those of documents that were refused, or that were on their way when the process was killed, once
    /// another thread had a later one.
    pub fn add(&self, text: &str) -> Result<u64, AddError> {
        match &*self.executors {
            [only] => only.add(None, Contents::text(text)),
            _ => self.add_numbered(text),
        }
    }

    /// Adds a document under `key`, replacing the one that has this key, in one visible step.
    pub fn put(&self, key: &str, text: &str) -> Result<(), AddError> {
        self.check_writable()?;
        self.route(key).add(Some(key), Contents::text(text)).map(|_| ())
    }

    /// Adds documents in order; each is visible soon after it is taken from the iterator, all of them when
    /// this returns. Faster than one at a time: their cache misses overlap.
    pub fn add_all<'a>(
        &self,
        documents: impl IntoIterator<Item = (Option<&'a str>, &'a str)>,
    ) -> Result<u64, AddAllError> {
        self.check_writable().map_err(|error| AddAllError { added: 0, error })?;
        let mut added = 0;
        if let [only] = &*self.executors {
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
                None => self.add_numbered(text).map(|_| ()),
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
        self.check_writable()?;
        // Before a number is drawn that would be left out.
        self.check_length(text.len())?;
        if place.len() > REFERENCE_BYTES_MAX {
            return Err(AddError::ReferenceTooLong { bytes: place.len() });
        }
        self.add_here(key, Contents { place: Some(place), ..Contents::text(text) })
    }

    /// Adds under an automatic key when there are several executors: the number decides which. Within an executor
    /// automatic keys must ascend with the rows, so the role is taken in the order of the numbers; the ingestion
    /// itself goes on side by side.
    fn add_numbered(&self, text: &str) -> Result<u64, AddError> {
        self.check_writable()?;
        self.check_length(text.len())?;
        let (executor, called, mut role) = self.admit(None)?;
        role.collector().collect(called, text)?;
        let Committed { number, result, .. } = role.commit();
        executor.serve(&mut role);
        result.map(|()| number)
    }

    fn check_length(&self, bytes: usize) -> Result<(), AddError> {
        let bytes_max = self.options.document_bytes_max;
        if bytes > bytes_max { Err(AddError::DocumentTooLong { bytes, bytes_max }) } else { Ok(()) }
    }

    /// Held while whoever has drawn an automatic number waits for the ingest role that it decides.
    pub(crate) fn admission(&self) -> MutexGuard<'_, ()> {
        self.admission.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ingest role of the executor that a document goes to, and what the document is called there.
    fn admit<'k>(
        &self,
        key: Option<&'k str>,
    ) -> Result<(&Executor, Called<'k>, MutexGuard<'_, Ingester>), AddError> {
        let (executor, called) = match (key, &*self.executors) {
            (Some(key), _) => (self.route(key), Called::By(key)),
            (None, [only]) => (only, Called::Next),
            (None, _) => {
                let admission = self.admission();
                let number = self.numbers.documents.fetch_add(1, Relaxed);
                let executor = &self.executors[self.executor_of(number)];
                let role = executor.role()?;
                drop(admission);
                return Ok((executor, Called::Number(number), role));
            }
        };
        Ok((executor, called, executor.role()?))
    }

    pub(crate) fn executor_of(&self, number: u64) -> usize {
        (number % self.executors.len() as u64) as usize
    }

    /// The executor of a key: a number's is that of the automatic key which it could be.
    pub(crate) fn executor_of_key(&self, key: &str) -> usize {
        match spirit_index::keys::as_number(key.as_bytes()) {
            Some(number) => self.executor_of(number),
            None => self.executor_of(spirit_index::keys::hash(key.as_bytes()) >> 32),
        }
    }

    fn route(&self, key: &str) -> &Executor {
        &self.executors[self.executor_of_key(key)]
    }

    /// Deletes the document that has `key`. Says whether there was one. When this returns, no query that starts
    /// afterwards finds it.
    pub fn delete(&self, key: &str) -> Result<bool, AddError> {
        self.check_writable()?;
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            // No document can have it.
            return Ok(false);
        }
        self.route(key).role()?.delete(key.as_bytes())
    }

    /// Flushes the segments being filled as well, full or not, and waits until that is done. Never needed for
    /// visibility: it is for a stream that pauses, since flushed segments answer fastest and take the least memory, and
    /// for measurements. Called often it makes many small segments.
    pub fn flush(&self) -> Result<(), AddError> {
        self.check_writable()?;
        for executor in &self.executors {
            executor.flush()?;
        }
        self.settle();
        Ok(())
    }

    /// True if an operation has found no room and waits, and the index can make none: until something is deleted, the disk has
    /// room again, or a reader lets go of what was deleted. For another thread.
    pub fn is_waiting_for_room(&self) -> bool {
        self.executors.iter().any(Executor::is_waiting_for_room)
    }

    /// Ends all waiting for room that cannot be made. Operations that wait for it, and later ones that
    /// would, return [`AddError::HeapFull`]. For another thread: it lets an index that
    /// [waits](crate::OnFull::Wait) be closed while an operation waits.
    pub fn stop_waiting(&self) {
        self.executors.iter().for_each(|executor| executor.shared.stop_waiting());
    }

    /// Waits until every full segment has been flushed. Never needed for visibility; benchmarks call it.
    pub fn settle(&self) {
        for executor in &self.executors {
            executor.settle();
        }
    }

    /// What the start found and did.
    pub fn start_report(&self) -> StartReport {
        self.start_report
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
        self.store.as_ref().map(Store::medium).or(followed)
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
        self.executors.iter().map(|executor| &executor.shared.memory)
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

impl Drop for Index {
    fn drop(&mut self) {
        // What fails here is what the next start repairs; who wants to know calls `close`.
        let _ = self.shut();
    }
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

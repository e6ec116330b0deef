//! The engine: executors side by side, with one order over all of them. Also the readable side of
//! an index, for this process's writer or another one's.

mod adding;
mod applying;
pub(crate) mod bulk;
mod encoded;
pub(crate) mod executor;
pub(crate) mod follower;
mod group;
pub(crate) mod readable;
mod rounds;
mod side_by_side;
mod spread;

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use spirit_mem::Pins;

use crate::config::clock::{Clock, ClockReading};
use crate::config::document::Document;
use crate::config::durability::Mode;
use crate::config::error::{OpenError, WriteError};
use crate::config::options::Options;
use crate::config::recovering::StartReport;
use crate::storage::fields::Fields;
use crate::storage::live::Host;
use crate::storage::retention::Retention;
use crate::storage::shared::Numbers;
use crate::storage::store::Store;
use crate::storage::view::View;
use bulk::Unfinished;
use executor::{Common, Executor, Place};
use side_by_side::side_by_side;

/// The most times that a start doubles its DRAM because the log does not fit.
const DOUBLINGS_MAX: u32 = 3;

/// An index that this process writes. Dropping it closes it in an orderly way.
pub(crate) struct Engine {
    pub(crate) executors: Box<[Executor]>,
    /// The view of its readers.
    pub(crate) view: Arc<View>,
    pub(crate) options: Options,
    pub(crate) numbers: Arc<Numbers>,
    /// The lock held while an automatic number finds its executor.
    admission: Mutex<()>,
    /// The number of threads that wait for it.
    admission_wanted: AtomicU32,
    /// The bulk load that is unfinished, if there is one.
    pub(crate) bulk: Unfinished,
    pub(crate) start_report: StartReport,
    /// The file of the index, if any. Declared after the executors, so it is dropped after them.
    pub(crate) store: Option<Store>,
    /// The thread that serves processes that only read, if any.
    host: Option<Host>,
}

impl Engine {
    /// Opens the index that `options` describe, or makes it.
    pub(crate) fn open(mut options: Options) -> Result<Engine, OpenError> {
        // A replay may divide the log into other segments. On a full disk all of them stay in DRAM,
        // which then needs more memory. With less DRAM than before, segments are smaller, and a
        // document or a group may need a larger one. The loop ends after `DOUBLINGS_MAX` attempts.
        let (asked, mut doublings) = (options.dram_bytes, 0);
        loop {
            match Self::start(options.clone()) {
                Err(OpenError::Recovery(
                    WriteError::HeapFull
                    | WriteError::DocumentTooLarge { .. }
                    | WriteError::GroupBeyondSegment { .. },
                )) if doublings < DOUBLINGS_MAX => {
                    options.dram_bytes *= 2;
                    doublings += 1;
                }
                started => {
                    let mut engine = started?;
                    engine.start_report.dram_beyond = options.dram_bytes - asked;
                    return Ok(engine);
                }
            }
        }
    }

    fn start(mut options: Options) -> Result<Engine, OpenError> {
        let begun = Instant::now();
        let mut store = match options.directory.clone() {
            // The settings of an existing index count.
            Some(directory) => {
                options.check()?;
                Some(Store::open(&directory, &mut options)?)
            }
            None => {
                options.mode = Mode::Volatile;
                None
            }
        };
        options.check()?;
        // One slot for each reader, each ingest role, and `stats`, which must always have one.
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
        let view = Arc::new(View::new(parts, pins, fields, stats_pin, None));
        let (admission, admission_wanted) = (Mutex::new(()), AtomicU32::new(0));
        let engine = Engine {
            executors,
            view,
            options,
            numbers,
            admission,
            admission_wanted,
            bulk: Unfinished::default(),
            start_report,
            store,
            host,
        };
        engine.find_bulk().map_err(OpenError::Recovery)?;
        Ok(engine)
    }

    /// Does the work of closing beforehand, while queries are still answered.
    pub(crate) fn prepare_close(&self) -> Result<(), WriteError> {
        if self.options.keeps_nothing() {
            self.settle();
            return Ok(());
        }
        self.close_executors()
    }

    /// Closes the index in an orderly way, once.
    pub(crate) fn shut(&mut self) -> Result<(), WriteError> {
        self.numbers.watch.end();
        let Some(store) = self.store.take() else {
            self.view.close();
            return Ok(());
        };
        if self.options.keeps_nothing() {
            self.executors.iter_mut().for_each(Executor::stop);
            if !self.options.private {
                self.view.close();
            }
            return Ok(());
        }
        self.close_executors()?;
        // Threads must stop first: a store after the file says that it is closed could be lost with
        // the machine.
        self.executors.iter_mut().for_each(Executor::stop);
        if store.is_open() {
            let sealed = |one: &Executor| one.seal(&store, &self.options);
            self.executors.iter().try_for_each(sealed)?;
        }
        let closed = store.close().map_err(|_| WriteError::SyncFailed);
        // Another process may write the file from now on, so no thread here reads it any more.
        self.view.close();
        // Before the file is unlocked: a process that comes meanwhile waits for the host or for the
        // lock.
        self.host = None;
        closed.and(store.unlock().map_err(|_| WriteError::SyncFailed))
    }

    /// Lets all executors engrave and merge side by side, so that the next start need not.
    fn close_executors(&self) -> Result<(), WriteError> {
        let close = |executor: &Executor| executor.close(&self.options);
        side_by_side(self.executors.iter().collect(), close).into_iter().collect()
    }

    /// Waits until every full segment is flushed.
    pub(crate) fn settle(&self) {
        self.executors.iter().for_each(Executor::settle);
    }

    /// Locks the admission. A thread holds it between drawing an automatic number and getting the
    /// ingest role of that number's executor.
    pub(crate) fn admission(&self) -> MutexGuard<'_, ()> {
        if let Ok(free) = self.admission.try_lock() {
            return free;
        }
        self.admission_wanted.fetch_add(1, Relaxed);
        let held = self.admission.lock().unwrap_or_else(PoisonError::into_inner);
        self.admission_wanted.fetch_sub(1, Relaxed);
        held
    }

    /// True if a thread waits for the admission or for an ingest role. Relaxed: who has them only
    /// gives them back earlier.
    pub(crate) fn is_wanted(&self) -> bool {
        self.admission_wanted.load(Relaxed) > 0
            || self.executors.iter().any(|executor| executor.is_wanted())
    }

    pub(crate) fn executor_of(&self, number: u64) -> usize {
        (number % self.executors.len() as u64) as usize
    }

    /// Returns the executor of a key. A key that is a number has the executor of that automatic
    /// key.
    pub(crate) fn executor_of_key(&self, key: &str) -> usize {
        match spirit_index::keys::as_number(key.as_bytes()) {
            Some(number) => self.executor_of(number),
            None => self.executor_of(spirit_index::keys::hash(key.as_bytes()) >> 32),
        }
    }

    /// Returns the executor of a document: that of its key, or else of its number.
    pub(crate) fn executor_of_document(&self, document: &Document<'_>, number: u64) -> usize {
        document.key.map_or_else(|| self.executor_of(number), |key| self.executor_of_key(key))
    }

    pub(crate) fn route(&self, key: &str) -> &Executor {
        &self.executors[self.executor_of_key(key)]
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The next start repairs a failed close. A caller that wants the error calls `close`.
        let _ = self.shut();
    }
}

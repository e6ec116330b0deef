//! Executors: each is a pipeline with its memory. Calling threads take the ingest role; flush is a
//! thread.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use spirit_index::ground::{Geometry, GeometryError};
use spirit_index::log::seal;
use spirit_index::memory::Memory;
use spirit_mem::{Dram, Pins};

use crate::config::corrupt::Corrupt;
use crate::config::durability::Mode;
use crate::config::error::{OpenError, WriteError};
use crate::config::media::Media;
use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::config::progress::Progress;
use crate::config::recovering::StartReport;
use crate::stages::background::Background;
use crate::stages::background_stage::{BackgroundStage, Bench};
use crate::stages::flush_stage::FlushStage;
use crate::stages::late::Lateness;
use crate::start::recovery::Recovery;
use crate::start::replay::LOG_BYTES_LEFT;
use crate::storage::fields::Fields;
use crate::storage::live::Live;
use crate::storage::retention::Retention;
use crate::storage::shared::{Numbers, Shared};
use crate::storage::store::Store;
use crate::write::contents::Contents;
use crate::write::ingest::Ingester;
use crate::write::task::Task;
use crate::write::waiting::Waiting;

/// The bytes of log from which another thread takes pages ahead of the replay (experiment
/// `restart`).
const PAGES_AHEAD: u64 = 256 << 10;

/// The most segments that wait between ingest and flush.
const QUEUE: usize = 1;

pub(crate) struct Executor {
    pub(crate) shared: Arc<Shared>,
    role: Arc<Mutex<Ingester>>,
    /// The number of threads that wait for the role.
    role_wanted: AtomicU32,
    waiting: Waiting,
    tasks: SyncSender<Task>,
    /// The threads behind the ingest role.
    stages: Vec<JoinHandle<()>>,
}

/// The parts that all executors of an index share.
#[derive(Clone, Copy)]
pub(crate) struct Common<'a> {
    pub(crate) numbers: &'a Arc<Numbers>,
    pub(crate) fields: &'a Arc<Fields>,
    pub(crate) pins: &'a Arc<Pins>,
    pub(crate) retention: Option<&'a Retention>,
}

/// The place of an executor's memory.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The file of its second tier, if it has one.
    pub(crate) store: Option<&'a Store>,
    /// The memory of its DRAM, if other processes can map it.
    pub(crate) live: Option<&'a Live>,
}

impl Place<'_> {
    fn memory(
        &self,
        number: usize,
        options: &Options,
        pins: Arc<Pins>,
    ) -> Result<Memory, GeometryError> {
        let settings = options.memory();
        let tier = self.store.zip(settings.nvm).map(|(store, nvm)| store.tier(number, nvm));
        let geometry = Geometry::fitting(settings)?;
        let Media { table, partial, dictionary, .. } = &options.media;
        let directories = [table, partial, dictionary].map(Option::as_deref);
        let pieces = geometry.pieces(directories);
        let dram = match self.live {
            Some(live) => live.dram(&geometry, number),
            None => Dram::Pieces(&pieces),
        };
        Memory::new(settings, tier, dram, pins)
    }
}

impl Executor {
    pub(crate) fn start(
        options: &Options,
        number: usize,
        common: Common<'_>,
        place: Place<'_>,
    ) -> Result<(Executor, StartReport), OpenError> {
        let Common { numbers, fields, pins, retention } = common;
        let pin = pins.acquire().expect("the index reserves a slot for each executor");
        let memory = place
            .memory(number, options, pins.clone())
            .map_err(|error| OpenError::from(options.as_asked(error)))?;
        let (numbers, fields) = (numbers.clone(), fields.clone());
        let shared = Shared::new(memory, numbers, fields, options, retention.cloned());
        let (shared, store) = (Arc::new(shared), place.store);
        let (tasks, inbox) = sync_channel(QUEUE);
        let recovery =
            Recovery::begin(&shared, options, store).map_err(OpenError::corrupt(number))?;
        let role =
            Ingester::new(shared.clone(), options, tasks.clone(), pin, recovery.start(options))
                .expect("the geometry leaves room for the first segment");
        let role = Arc::new(Mutex::new(role));
        let processes = place.live.map(Live::processes);
        let lateness = Lateness::new(options.late_watcher.clone(), processes);
        let root = store.map(|store| store.root().clone());
        let background = Background::new(shared.clone(), options, role.clone(), lateness, root);
        let has_thread = options.stage_threads > 1;
        let bench = Arc::new(Bench::new(background, has_thread));
        let mut stages = Vec::new();
        if has_thread {
            let stage = BackgroundStage::new(shared.clone(), bench.clone());
            stages.push(thread(format!("spirit-place-{number}"), move || stage.run())?);
        }
        let flush = FlushStage::new(shared.clone(), bench.clone(), inbox);
        let flush = thread(format!("spirit-flush-{number}"), move || flush.run());
        // Without the flush stage nobody would end the other thread.
        stages.push(flush.inspect_err(|_| bench.close())?);
        let executor = Executor {
            shared,
            role,
            role_wanted: AtomicU32::new(0),
            waiting: Waiting::new(options),
            tasks,
            stages,
        };
        let mut role = executor.role().map_err(OpenError::Recovery)?;
        let watch = |done, bytes| {
            let executors = options.executors;
            if let Some(watcher) = &options.watcher {
                watcher.tell(Progress::of_replay(number, executors, done, bytes));
            }
        };
        let (shared, bytes) = (&executor.shared, recovery.log_bytes());
        let finish = || recovery.finish(shared, &mut role, watch);
        let report = match place.live {
            Some(_) if bytes >= PAGES_AHEAD => with_pages_ahead(shared, bytes, finish),
            _ => finish(),
        };
        let report = report.map_err(OpenError::Recovery)?;
        drop(role);
        // Not a task: a full queue may stay full for as long as the disk does, and a start must not
        // wait for that.
        executor.shared.note_replayed();
        Ok((executor, report))
    }

    /// Engraves and merges for the closing index, so that the next start need not.
    pub(crate) fn close(&self, options: &Options) -> Result<(), WriteError> {
        match self.engrave_all(options).and_then(|()| self.merge_all()) {
            // The log has everything that found no room in segments.
            Err(WriteError::HeapFull) if options.is_logged() => Ok(()),
            ended => ended,
        }
    }

    /// Engraves the segments in DRAM, unless the log has them and is short.
    fn engrave_all(&self, options: &Options) -> Result<(), WriteError> {
        let mut role = self.role()?;
        let has_short_log = !role.has_unlogged() && role.log_bytes() <= LOG_BYTES_LEFT;
        if options.mode == Mode::Crash && has_short_log {
            return Ok(());
        }
        role.end_last_segment()?;
        drop(role);
        self.engrave_rest()
    }

    /// Waits until all segments that were handed over are engraved.
    pub(crate) fn engrave_rest(&self) -> Result<(), WriteError> {
        while self.shared.is_anything_unplaced() {
            if self.shared.is_poisoned() {
                return Err(self.shared.refusal());
            }
            // A stage that is at work engraves anyway.
            let _ = self.tasks.try_send(Task::EngraveAll);
            self.settle();
            if self.shared.is_stuck() && self.shared.on_full != OnFull::DropOldest {
                return Err(WriteError::HeapFull);
            }
        }
        Ok(())
    }

    /// Waits until all engraved segments are merged, if there is room. Segments left unmerged are
    /// merged at the next start. If nothing was engraved in this session, returns at once.
    pub(crate) fn merge_all(&self) -> Result<(), WriteError> {
        let memory = &self.shared.memory;
        let none = self.shared.engraved().count.load(Relaxed) == 0;
        if none || memory.merged() == memory.window().end {
            return Ok(());
        }
        self.ask(Task::MergeAll);
        self.settle();
        if self.shared.is_poisoned() { Err(self.shared.refusal()) } else { Ok(()) }
    }

    /// Takes the ingest role, and waits for its holder.
    pub(crate) fn role(&self) -> Result<MutexGuard<'_, Ingester>, WriteError> {
        if self.shared.is_poisoned() {
            return Err(self.shared.refusal());
        }
        if let Ok(free) = self.role.try_lock() {
            return Ok(free);
        }
        self.role_wanted.fetch_add(1, Relaxed);
        let held = self.role.lock();
        self.role_wanted.fetch_sub(1, Relaxed);
        held.map_err(|_| {
            self.shared.poison();
            WriteError::Poisoned
        })
    }

    /// True if a thread waits for the role, or documents wait for its holder.
    pub(crate) fn is_wanted(&self) -> bool {
        self.role_wanted.load(Relaxed) > 0 || self.waiting.has_any()
    }

    /// Adds one document, and returns its number. It is added at once if the role is free, else
    /// together with others that wait.
    pub(crate) fn add(&self, key: Option<&str>, contents: Contents<'_>) -> Result<u64, WriteError> {
        if self.shared.is_poisoned() {
            return Err(self.shared.refusal());
        }
        let added = self.waiting.add(&self.role, key, contents);
        if self.role.is_poisoned() {
            self.shared.poison();
        }
        added
    }

    /// Ingests the documents that other threads left while the caller had the role.
    pub(crate) fn serve(&self, role: &mut Ingester) {
        self.waiting.serve(role);
    }

    /// Hands the segment being filled to the flush stage, unless it is empty.
    pub(crate) fn flush(&self) -> Result<(), WriteError> {
        self.role()?.end_segment()
    }

    /// True if an operation waits for room, and the flush stage can make none.
    pub(crate) fn is_waiting_for_room(&self) -> bool {
        let is_under_way = || matches!(self.role.try_lock(), Err(TryLockError::WouldBlock));
        self.shared.has_waited_in_vain() && is_under_way()
    }

    /// Waits until all full segments are flushed, or wait for room themselves.
    pub(crate) fn settle(&self) {
        let (done, wait) = sync_channel(1);
        if !self.ask(Task::Report(done)) {
            return;
        }
        while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(Duration::from_millis(1)) {
            if self.shared.is_stuck() {
                return;
            }
        }
    }

    /// Sends a task to the flush stage. False if the stage is stuck or poisoned.
    fn ask(&self, mut task: Task) -> bool {
        while let Err(TrySendError::Full(again)) = self.tasks.try_send(task) {
            if self.shared.is_stuck() || self.shared.is_poisoned() {
                return false;
            }
            task = again;
            self.shared.memory.wait_for_space();
        }
        true
    }

    /// Writes to the second tier where log and segments end. Nothing is stored afterwards.
    pub(crate) fn seal(&self, store: &Store, options: &Options) -> Result<(), WriteError> {
        let memory = &self.shared.memory;
        let Some(nvm) = memory.nvm() else { return Ok(()) };
        let sealed = seal::write(memory.region(), nvm, store.log_of(nvm, options));
        sealed.map_err(|what| WriteError::Damaged(Corrupt::new(None, what)))
    }

    /// Ends the stages. Nothing is stored afterwards.
    pub(crate) fn stop(&mut self) {
        self.shared.close();
        if !self.stages.is_empty() {
            let _ = self.tasks.send(Task::Stop);
        }
        for stage in self.stages.drain(..) {
            // A stage that panicked has poisoned the index and printed the reason.
            let _ = stage.join();
        }
    }
}

/// Starts a thread.
fn thread(name: String, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    std::thread::Builder::new().name(name).spawn(run).map_err(OpenError::Thread)
}

/// Runs `work`, which replays a log of `bytes` bytes. Another thread takes the pages that it will
/// store to.
fn with_pages_ahead<T>(shared: &Shared, bytes: u64, work: impl FnOnce() -> T) -> T {
    let wanted = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| shared.memory.take_pages_ahead(bytes, || wanted.load(Relaxed)));
        let done = work();
        wanted.store(false, Relaxed);
        done
    })
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.stop();
    }
}

//! Documents that wait for the ingest role, and how the thread that has the role takes them along.
//!
//! A thread that finds the role taken does not sleep on a lock. It leaves its document in a slot.
//! The holder ingests it in a batch with others that wait (flat combining). So `add` from many
//! threads costs no thread switch, and short documents share their cache misses.
//!
//! This holds for documents with a key, and for all documents if there is one executor. Deletes,
//! batches and groups wait for the role itself. So does a document without a key if there are
//! several executors: automatic keys ascend with the rows.
//!
//! The waiting thread checks now and then if its document is in, and if the role is free. If it is
//! free, the thread takes it and serves all that wait, itself included. So no document is left
//! behind.
//!
//! The number of slots is fixed. A thread that finds none free waits for the role itself.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::config::error::WriteError;
use crate::config::options::Options;
use crate::write::collector::Collector;
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Committed, Ingester};

/// The most documents that can wait at once.
const SLOTS: usize = 64;
/// The number of looks at the slot before the thread yields its core.
const SPINS: u32 = 200;

/// The time between two looks of the holder at the documents that have come.
const GATHER_LOOK: Duration = Duration::from_micros(100);

/// No thread owns the slot.
const FREE: u32 = 0;
/// Its owner is filling or reading the slot.
const OWNED: u32 = 1;
/// The document waits to be ingested.
const READY: u32 = 2;
/// The document was ingested or refused; the answer is in the slot.
const DONE: u32 = 3;

/// A waiting document. The strings keep their memory from one document to the next.
#[derive(Default)]
struct Request {
    key: Option<()>,
    key_bytes: String,
    text: String,
    fields: Vec<u8>,
    /// The document's number.
    answer: Option<Result<u64, WriteError>>,
}

#[derive(Default)]
#[repr(align(64))]
struct Slot {
    /// `READY` and `DONE` are stored with release after the request was written, and loaded with
    /// acquire before it is read. The mutex is never contended: the state decides whose turn it is.
    state: AtomicU32,
    request: Mutex<Request>,
}

impl Slot {
    fn request(&self) -> MutexGuard<'_, Request> {
        self.request.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The slots of an executor.
pub(crate) struct Waiting {
    slots: Box<[Slot]>,
    /// The number of documents that wait or are about to. The holder looks at the slots only if it
    /// is above 0. A hint, so relaxed: every waiting thread also tries to take the role.
    pending: AtomicU32,
    /// The bytes of their texts and fields.
    pending_bytes: AtomicU64,
    /// The time for which the holder waits for more, and the bytes from which it does not.
    group_wait: Duration,
    group_bytes: u64,
}

impl Waiting {
    pub(crate) fn new(options: &Options) -> Waiting {
        Waiting {
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            pending: AtomicU32::new(0),
            pending_bytes: AtomicU64::new(0),
            group_wait: options.group_wait,
            group_bytes: options.group_bytes,
        }
    }

    /// Adds a document through `role`: takes it, or waits for its holder. Returns the document's
    /// number.
    pub(crate) fn add(
        &self,
        role: &Mutex<Ingester>,
        key: Option<&str>,
        contents: Contents<'_>,
    ) -> Result<u64, WriteError> {
        if self.group_wait.is_zero()
            && let Ok(mut held) = role.try_lock()
        {
            let answer = add_one(&mut held, key, contents);
            self.serve(&mut held);
            return answer;
        }
        let Some(slot) = self.claim() else {
            let mut held = role.lock().map_err(|_| WriteError::Poisoned)?;
            return add_one(&mut held, key, contents);
        };
        let bytes = (contents.text.len() + contents.fields.len()) as u64;
        slot.request().fill(key, contents);
        self.pending.fetch_add(1, Relaxed);
        self.pending_bytes.fetch_add(bytes, Relaxed);
        slot.state.store(READY, Release);
        let answer = self.wait(role, slot);
        self.pending_bytes.fetch_sub(bytes, Relaxed);
        self.pending.fetch_sub(1, Relaxed);
        answer
    }

    /// True if documents wait.
    pub(crate) fn has_any(&self) -> bool {
        self.pending.load(Relaxed) > 0
    }

    /// Waits for other documents, if group commit is on. The loop ends when there are enough, or in
    /// time.
    fn gather(&self) {
        if self.group_wait.is_zero() {
            return;
        }
        let end = Instant::now() + self.group_wait;
        let is_full = || {
            self.pending.load(Relaxed) as usize >= SLOTS
                || self.pending_bytes.load(Relaxed) >= self.group_bytes
        };
        while !is_full() && Instant::now() < end {
            std::thread::sleep(GATHER_LOOK.min(end.saturating_duration_since(Instant::now())));
        }
    }

    fn claim(&self) -> Option<&Slot> {
        let free =
            |slot: &&Slot| slot.state.compare_exchange(FREE, OWNED, Acquire, Relaxed).is_ok();
        self.slots.iter().find(free)
    }

    fn wait(&self, role: &Mutex<Ingester>, slot: &Slot) -> Result<u64, WriteError> {
        let mut spins = 0;
        while slot.state.load(Acquire) != DONE {
            match role.try_lock() {
                Ok(mut held) => {
                    self.gather();
                    self.serve(&mut held);
                }
                Err(std::sync::TryLockError::Poisoned(_)) => {
                    // The holder died. It may have been reading the slot; no thread will again.
                    return Err(WriteError::Poisoned);
                }
                Err(std::sync::TryLockError::WouldBlock) => {
                    spins += 1;
                    if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
                }
            }
        }
        let answer = slot.request().answer.take().unwrap_or(Err(WriteError::Poisoned));
        slot.state.store(FREE, Release);
        answer
    }

    /// Ingests all documents that wait.
    pub(crate) fn serve(&self, role: &mut Ingester) {
        while self.pending.load(Relaxed) > 0 {
            let mut taken = [0; SLOTS];
            let count = self.collect(&mut role.collector(), &mut taken);
            if count == 0 {
                return;
            }
            self.commit(role, &taken[..count]);
        }
    }

    /// Cuts waiting documents into the batch until it is full. Returns their number.
    fn collect(&self, collector: &mut Collector<'_>, taken: &mut [usize; SLOTS]) -> usize {
        let mut count = 0;
        for (i, slot) in self.slots.iter().enumerate() {
            if collector.is_full() {
                break;
            }
            if slot.state.load(Acquire) == READY {
                let request = slot.request();
                match collector.collect(request.key().into(), request.contents()) {
                    Ok(()) => {
                        taken[count] = i;
                        count += 1;
                    }
                    Err(error) => slot.answer(request, Err(error)),
                }
            }
        }
        count
    }

    /// Commits the batch and answers. If one of its documents is refused, those after it are tried
    /// again.
    fn commit(&self, role: &mut Ingester, taken: &[usize]) {
        let Committed { added, result } = role.commit();
        let (added, refused) = taken.split_at((added as usize).min(taken.len()));
        for (i, number) in added.iter().zip(role.numbers()) {
            self.slots[*i].answer(self.slots[*i].request(), Ok(*number));
        }
        if let (Err(error), Some(first)) = (result, refused.first()) {
            // The others are still `READY`: the next round takes them.
            self.slots[*first].answer(self.slots[*first].request(), Err(error));
        }
    }
}

impl Slot {
    fn answer(&self, mut request: MutexGuard<'_, Request>, answer: Result<u64, WriteError>) {
        request.answer = Some(answer);
        drop(request);
        self.state.store(DONE, Release);
    }
}

impl Request {
    fn fill(&mut self, key: Option<&str>, contents: Contents<'_>) {
        self.key = key.map(|_| ());
        self.key_bytes.clear();
        self.key_bytes.push_str(key.unwrap_or_default());
        self.text.clear();
        self.text.push_str(contents.text);
        self.fields.clear();
        self.fields.extend_from_slice(contents.fields);
        self.answer = None;
    }

    fn contents(&self) -> Contents<'_> {
        Contents { text: &self.text, fields: &self.fields, place: None }
    }

    fn key(&self) -> Option<&str> {
        self.key.map(|()| self.key_bytes.as_str())
    }
}

fn add_one(
    role: &mut Ingester,
    key: Option<&str>,
    contents: Contents<'_>,
) -> Result<u64, WriteError> {
    role.collector().collect(Called::from(key), contents)?;
    role.commit().result?;
    Ok(role.numbers()[0])
}

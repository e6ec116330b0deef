//! The door: all stores to the second tier pass it.
//!
//! Reads bypass it. Every store passes it, so one place knows what a medium needs to keep stores. A
//! proof can see every store in order, and each can be counted. A call names its [`Site`]. So a
//! proof can drop the effect of one site and demand that some test fails.
//!
//! | call | meaning |
//! |---|---|
//! | [`copy`](Door::copy), [`write`](Door::write), [`stream`](Door::stream) | bulk; may tear; no durable word leads there |
//! | [`store`](Door::store) | 8 bytes, atomic; makes nothing reachable, or is idempotent |
//! | [`publish`](Door::publish) | 8 bytes that make data reachable, which is durable already |
//! | [`write_back`](Door::write_back) | starts to write these lines back |
//! | [`fence`](Door::fence) | waits until this thread's write-backs are durable, or [syncs](Barrier::Sync) |
//! | [`sync_file`](Door::sync_file) | waits until all stores of all threads are durable |
//!
//! Only one aligned 8-byte word is atomic. The order in which stores become durable before the
//! fence is not defined, not even within a line (model T of the [simulator](sim)).
#![forbid(unsafe_code)]

mod gate;
pub mod sim;
mod site;
pub mod trace;
mod unsynced;

use std::fmt;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, compiler_fence};
use std::sync::{Arc, OnceLock};

use spirit_mem::{HeapFile, Region, Span};

pub use gate::Gate;
use gate::Passage;
use sim::{Brake, SlowMedium};
pub use site::{SITES, Site};
use trace::{Action, Trace};
use unsynced::Unsynced;

/// The means by which a store becomes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Program order is enough: the page cache outlives the process.
    Order,
    /// Lines are written back and fenced: for persistent memory, or to measure its cost elsewhere.
    WriteBack,
    /// Pages are synced: for a file whose page cache does not outlive the event to be survived. The
    /// kernel may write any page earlier, which model T allows too.
    ///
    /// A fence syncs the ranges that any thread wrote back, coalesced. The fence of the log syncs
    /// the log's ranges alone. The fence of deaths syncs nothing: the log has their operations
    /// until a segment is engraved. All other fences sync all ranges but the log's.
    Sync,
}

/// The counts of one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// The number of calls.
    pub calls: u64,
    /// The number of bytes stored or written back.
    pub bytes: u64,
}

/// Bytes that are copied at once to a file.
const PIECE_BYTES: usize = 64 << 10;

/// The reason of the first failed sync, once one has failed. All doors to one file share it. The
/// kernel reports unwritable pages once, to the next sync of the file, whichever door's pages they
/// are.
pub type Failure = Arc<OnceLock<String>>;

/// The door to one region's second tier.
pub struct Door {
    barrier: Barrier,
    passed: [[AtomicU64; 2]; SITES],
    unsynced: Unsynced,
    /// The reason of a failed sync. Nothing is published afterwards.
    failure: Failure,
    /// The gate that is passed before the first store.
    passage: Passage,
    /// The number of the region, for a trace that sees several.
    space: u8,
    trace: Option<Arc<Trace>>,
    /// Slows stores and barriers, for measurements.
    brake: Option<Brake>,
    /// The file, and the offset of the region in it, if runs of bytes are written and not stored.
    written: Option<(Arc<HeapFile>, u64)>,
}

impl Door {
    /// Returns a door for a medium that needs `barrier`.
    pub fn new(barrier: Barrier) -> Door {
        let passed = std::array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)]);
        let (unsynced, failure) = (Unsynced::default(), Failure::default());
        let passage = Passage::default();
        let (space, trace, brake, written) = (0, None, None, None);
        Door { barrier, passed, unsynced, failure, passage, space, trace, brake, written }
    }

    /// Writes runs of bytes to `file`, in which the region begins at `start`, instead of storing
    /// them to the mapping. Both show the same pages. Single words are stored as before.
    pub fn writing(mut self, file: Arc<HeapFile>, start: u64) -> Door {
        self.written = Some((file, start));
        self
    }

    /// Writes a run of bytes to the file, if that is how it is done. False otherwise.
    fn write_to_file(&self, at: u64, bytes: &[u8]) -> bool {
        let Some((file, start)) = &self.written else { return false };
        if let Err(error) = file.write_at(start + at, bytes) {
            self.fail(error.to_string());
        }
        true
    }

    /// Copies a run of words within the region, a piece at a time if they are written to the file.
    fn copy_run(&self, region: &Region, to: u64, from: u64, bytes: u64) {
        if self.written.is_none() {
            return region.copy_words(to, from, bytes / 8);
        }
        let mut piece = Vec::new();
        for done in (0..bytes).step_by(PIECE_BYTES) {
            piece.clear();
            region.read_words(from + done, (bytes - done).min(PIECE_BYTES as u64), &mut piece);
            self.write_to_file(to + done, &piece);
        }
    }

    /// Sets the gate that is passed before the first store. If it returns an error, nothing is
    /// stored.
    pub fn behind(mut self, gate: Arc<dyn Gate>) -> Door {
        self.passage = Passage::through(gate);
        self
    }

    /// True if stores are allowed. A caller that is about to change the index asks first, even if
    /// the store comes later.
    #[inline]
    pub fn begin(&self) -> bool {
        self.passage.is_passed() || self.pass()
    }

    #[cold]
    fn pass(&self) -> bool {
        if let Err(why) = self.passage.pass() {
            let _ = self.failure.set(why);
            return false;
        }
        true
    }

    /// Shares `failure` with the other doors to the file.
    pub fn sharing(mut self, failure: Failure) -> Door {
        self.failure = failure;
        self
    }

    /// Records everything that passes the door in `trace`, as of region `space`.
    pub fn traced(mut self, space: u8, trace: Arc<Trace>) -> Door {
        self.space = space;
        self.trace = Some(trace);
        self
    }

    /// Slows stores and barriers to those of another medium.
    pub fn slowed(mut self, medium: SlowMedium) -> Door {
        self.brake = Some(Brake::new(medium));
        self
    }

    /// Copies `bytes` bytes within the region. Offsets and length are multiples of 8; the ranges do
    /// not overlap.
    pub fn copy(&self, site: Site, region: &Region, to: u64, from: u64, bytes: u64) {
        if !self.begin() {
            return;
        }
        self.count_store(site, bytes);
        let copy = || self.copy_run(region, to, from, bytes);
        self.seen(site, copy, || Action::Store { at: to, words: words(region, to, bytes / 8) });
    }

    /// Writes `bytes`, whole words of 8 bytes, at `to`, a multiple of 8.
    pub fn write(&self, site: Site, region: &Region, to: u64, bytes: &[u8]) {
        if !self.begin() {
            return;
        }
        let count = bytes.len() as u64;
        self.count_store(site, count);
        let write = || {
            if !self.write_to_file(to, bytes) {
                region.write_bytes(to, bytes);
            }
        };
        self.seen(site, write, || Action::Store { at: to, words: words(region, to, count / 8) });
    }

    /// Writes parts of whole words, one after the other, at `to`, a multiple of 8, and writes them
    /// back. Bypasses the caches where the processor can, since they are not read soon.
    pub fn stream(&self, [store, back]: [Site; 2], region: &Region, to: u64, parts: [&[u8]; 2]) {
        if !self.begin() {
            return;
        }
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        self.count_store(store, bytes);
        self.count(back, bytes);
        let write = || match self.written {
            Some(_) => {
                self.write_to_file(to, parts[0]);
                self.write_to_file(to + parts[0].len() as u64, parts[1]);
            }
            None => region.stream_bytes(to, parts),
        };
        self.seen(store, write, || Action::Store { at: to, words: words(region, to, bytes / 8) });
        // Stores that bypassed the caches need no write-back.
        let write_back = || match self.barrier {
            Barrier::Order | Barrier::WriteBack => {}
            Barrier::Sync => self.unsynced.add(back, to, bytes),
        };
        self.seen(back, write_back, || Action::WriteBack { at: to, bytes });
    }

    /// Writes words at `to`, a multiple of 8.
    pub fn write_words<const N: usize>(
        &self,
        site: Site,
        region: &Region,
        to: u64,
        words: &[u64; N],
    ) {
        self.write(site, region, to, words.map(u64::to_le_bytes).as_flattened());
    }

    /// Stores a word at `at`, a multiple of 8.
    #[inline]
    pub fn store(&self, site: Site, region: &Region, at: u64, word: u64) {
        if !self.begin() {
            return;
        }
        self.count_store(site, 8);
        let store = || region.view(Span::<AtomicU64>::new(at, 1))[0].store(word, Release);
        self.seen(site, store, || Action::Store { at, words: [word].into() });
    }

    /// Changes the word at `at`, a multiple of 8, atomically. The loop ends when no other thread
    /// has changed it meanwhile.
    #[inline]
    pub fn update(&self, site: Site, region: &Region, at: u64, change: impl Fn(u64) -> u64) {
        if !self.begin() {
            return;
        }
        self.count_store(site, 8);
        let update = || {
            let word = &region.view(Span::<AtomicU64>::new(at, 1))[0];
            let mut old = word.load(Acquire);
            while let Err(now) = word.compare_exchange_weak(old, change(old), AcqRel, Acquire) {
                old = now;
            }
        };
        self.seen(site, update, || Action::Store { at, words: words(region, at, 1) });
    }

    /// Stores a word at `at`, a multiple of 8, that makes data reachable. Does nothing once a sync
    /// has failed: it is unknown then what is durable.
    pub fn publish(&self, site: Site, region: &Region, at: u64, word: u64) {
        if self.failure().is_some() || !self.begin() {
            return;
        }
        self.count_store(site, 8);
        let store = || region.view(Span::<AtomicU64>::new(at, 1))[0].store(word, Release);
        self.seen(site, store, || Action::Publish { at, word });
    }

    /// Starts to write back the lines of `bytes` bytes at `at`.
    #[inline]
    pub fn write_back(&self, site: Site, region: &Region, at: u64, bytes: u64) {
        self.count(site, bytes);
        let write_back = || match self.barrier {
            Barrier::Order => {}
            Barrier::WriteBack => region.write_back(at, bytes),
            Barrier::Sync => self.unsynced.add(site, at, bytes),
        };
        self.seen(site, write_back, || Action::WriteBack { at, bytes });
    }

    /// Waits until the lines that this thread has written back are durable. On a disk the site
    /// decides which lines: see [`Barrier::Sync`].
    #[inline]
    pub fn fence(&self, site: Site, region: &Region) {
        self.count(site, 0);
        let fence = || match self.barrier {
            // Stores of this thread reach the page cache in program order, if the compiler keeps
            // it.
            Barrier::Order => compiler_fence(Release),
            Barrier::WriteBack => {
                spirit_mem::persist::fence();
                if let Some(brake) = &self.brake {
                    brake.fenced();
                }
            }
            Barrier::Sync => self.sync(site, region),
        };
        self.seen(site, fence, || Action::Fence);
    }

    fn sync(&self, site: Site, region: &Region) {
        for (at, bytes) in self.unsynced.take(site) {
            if !self.sync_part(region, at, bytes) {
                return;
            }
        }
    }

    /// Syncs `bytes` bytes at `at`. True if they are on the disk. After one sync has failed, no
    /// other is tried: the kernel may have dropped the dirty pages, and the next sync would
    /// succeed.
    pub fn sync_part(&self, region: &Region, at: u64, bytes: u64) -> bool {
        if self.failure().is_some() {
            return false;
        }
        let synced = region.sync(at, bytes);
        synced.map_err(|reason| self.fail(reason.to_string())).is_ok()
    }

    /// Syncs the whole file by `sync`: all stores of all threads and of earlier processes are
    /// durable then. An error has the effect of a failed sync.
    pub fn sync_file<E: fmt::Display>(
        &self,
        site: Site,
        sync: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.count(site, 0);
        let mut synced = Ok(());
        self.seen(site, || synced = sync(), || Action::Sync);
        synced.inspect_err(|reason| self.fail(reason.to_string()))
    }

    /// Records that the disk failed in another call, such as reserving blocks. It has the effect of
    /// a failed sync.
    pub fn fail(&self, why: String) {
        let _ = self.failure.set(why);
    }

    /// Returns the reason of a failed sync, if one failed. Stores since the last fence before it
    /// may not be durable, and nothing may be acknowledged any more.
    #[inline]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Returns the counts of `site` since the door was made. Approximate while other threads use
    /// it.
    pub fn passed(&self, site: Site) -> Passed {
        let [calls, bytes] = &self.passed[site as usize];
        Passed { calls: calls.load(Relaxed), bytes: bytes.load(Relaxed) }
    }

    /// Returns the barrier of the medium.
    pub fn barrier(&self) -> Barrier {
        self.barrier
    }

    fn count(&self, site: Site, bytes: u64) {
        let [calls, total] = &self.passed[site as usize];
        // A site has one thread at a time, so no locked instruction is needed.
        calls.store(calls.load(Relaxed) + 1, Relaxed);
        total.store(total.load(Relaxed) + bytes, Relaxed);
    }

    /// Counts a store that is about to be done.
    fn count_store(&self, site: Site, bytes: u64) {
        self.count(site, bytes);
        if let Some(brake) = &self.brake {
            brake.stored(bytes);
        }
    }

    /// Runs `act`. With a trace, running and recording are one step.
    #[inline(always)]
    fn seen(&self, site: Site, act: impl FnOnce(), action: impl FnOnce() -> Action) {
        match &self.trace {
            None => act(),
            Some(trace) => trace.record(self.space, site, || {
                act();
                action()
            }),
        }
    }
}

fn words(region: &Region, at: u64, count: u64) -> Box<[u64]> {
    region.view(Span::<AtomicU64>::new(at, count)).iter().map(|word| word.load(Relaxed)).collect()
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door")
            .field("barrier", &self.barrier)
            .field("space", &self.space)
            .finish_non_exhaustive()
    }
}

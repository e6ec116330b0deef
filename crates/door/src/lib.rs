//! The one door for stores to the second tier.
//!
//! Reading goes past it; every store goes through it, so that one place knows what a medium needs to keep what was stored,
//! a proof can see every store in order, and a figure can be given for each. A call names its [`Site`], so that a proof
//! can drop what one site does and demand that some test turns red.
//!
//! | call | means |
//! |---|---|
//! | [`copy`](Door::copy), [`write`](Door::write), [`stream`](Door::stream) | bulk; may tear between words; the target is something that no durable word leads to |
//! | [`store`](Door::store) | 8 bytes, atomic; nothing becomes reachable by it, or storing it twice is storing it once |
//! | [`publish`](Door::publish) | 8 bytes that make data reachable; all that it covers is durable already |
//! | [`write_back`](Door::write_back) | these lines are on their way |
//! | [`fence`](Door::fence) | what this thread has written back has arrived |
//!
//! Only one aligned 8-byte word is atomic, and nothing is promised of the order in which stores become durable before the
//! fence, not even within a line (model T of the [simulator](sim)).
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

use spirit_mem::{Region, Span};

pub use gate::Gate;
use gate::Passage;
pub use site::{SITES, Site};
use trace::{Action, Trace};
use unsynced::Unsynced;

/// What makes a store durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Program order is enough: the page cache outlives the process.
    Order,
    /// Lines are written back and fenced: persistent memory, or the cost of it on any other.
    WriteBack,
    /// Pages are synced: a file whose page cache does not outlive what is to be survived. What was sent on its way is
    /// synced by the fence, coalesced. The kernel may write any page earlier, which is no more than model T allows.
    Sync,
}

/// What went through a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Calls.
    pub calls: u64,
    /// Bytes stored or written back.
    pub bytes: u64,
}

/// Why a sync failed, once one has. All doors to one file share it: the kernel tells of pages that could not be written to
/// anyone who syncs the file next, once, whosever pages they are.
pub type Failure = Arc<OnceLock<String>>;

/// The door to one region's second tier.
pub struct Door {
    barrier: Barrier,
    passed: [[AtomicU64; 2]; SITES],
    unsynced: Unsynced,
    /// Why a sync failed. Nothing is published from then on.
    failure: Failure,
    /// What was asked before the first store.
    passage: Passage,
    /// Which region this is, where a trace sees several.
    space: u8,
    trace: Option<Arc<Trace>>,
}

impl Door {
    /// A door for a medium that needs `barrier`.
    pub fn new(barrier: Barrier) -> Door {
        let passed = std::array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)]);
        let (unsynced, failure) = (Unsynced::default(), Failure::default());
        let passage = Passage::default();
        Door { barrier, passed, unsynced, failure, passage, space: 0, trace: None }
    }

    /// The same; `gate` is asked before the first store. Should it not let it pass, nothing is stored.
    pub fn behind(mut self, gate: Arc<dyn Gate>) -> Door {
        self.passage = Passage::through(gate);
        self
    }

    /// Whether something may be stored: anyone who is about to change what the index holds asks before, whether that is stored
    /// at once or later.
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

    /// The same, to a file whose other doors share `failure`.
    pub fn sharing(mut self, failure: Failure) -> Door {
        self.failure = failure;
        self
    }

    /// The same, with everything that goes through it written down in `trace` as of region `space`.
    pub fn traced(mut self, space: u8, trace: Arc<Trace>) -> Door {
        self.space = space;
        self.trace = Some(trace);
        self
    }

    /// Copies `bytes` bytes within the region. Offsets and length are multiples of 8; the ranges do not overlap.
    pub fn copy(&self, site: Site, region: &Region, to: u64, from: u64, bytes: u64) {
        if !self.begin() {
            return;
        }
        self.count(site, bytes);
        let copy = || region.copy_words(to, from, bytes / 8);
        self.seen(site, copy, || Action::Store { at: to, words: words(region, to, bytes / 8) });
    }

    /// Writes `bytes`, whole words of 8, at `to`, a multiple of 8.
    pub fn write(&self, site: Site, region: &Region, to: u64, bytes: &[u8]) {
        if !self.begin() {
            return;
        }
        let count = bytes.len() as u64;
        self.count(site, count);
        let write = || region.write_bytes(to, bytes);
        self.seen(site, write, || Action::Store { at: to, words: words(region, to, count / 8) });
    }

    /// Writes parts of whole words, one behind the other, at `to`, a multiple of 8, and sends them on their way: past the caches
    /// where the processor can, since nobody reads them soon.
    pub fn stream(&self, [store, back]: [Site; 2], region: &Region, to: u64, parts: [&[u8]; 2]) {
        if !self.begin() {
            return;
        }
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        self.count(store, bytes);
        self.count(back, bytes);
        let write = || region.stream_bytes(to, parts);
        self.seen(store, write, || Action::Store { at: to, words: words(region, to, bytes / 8) });
        // What went past the caches need not be written back.
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
        self.count(site, 8);
        let store = || region.view(Span::<AtomicU64>::new(at, 1))[0].store(word, Release);
        self.seen(site, store, || Action::Store { at, words: [word].into() });
    }

    /// Changes the word at `at`, a multiple of 8, in one step, no matter who else changes it.
    #[inline]
    pub fn update(&self, site: Site, region: &Region, at: u64, change: impl Fn(u64) -> u64) {
        if !self.begin() {
            return;
        }
        self.count(site, 8);
        let update = || {
            let word = &region.view(Span::<AtomicU64>::new(at, 1))[0];
            let mut old = word.load(Acquire);
            while let Err(now) = word.compare_exchange_weak(old, change(old), AcqRel, Acquire) {
                old = now;
            }
        };
        self.seen(site, update, || Action::Store { at, words: words(region, at, 1) });
    }

    /// Stores a word at `at`, a multiple of 8, that makes data reachable; does nothing once a sync has failed, since nobody
    /// knows then what is durable.
    pub fn publish(&self, site: Site, region: &Region, at: u64, word: u64) {
        if self.failure().is_some() || !self.begin() {
            return;
        }
        self.count(site, 8);
        let store = || region.view(Span::<AtomicU64>::new(at, 1))[0].store(word, Release);
        self.seen(site, store, || Action::Publish { at, word });
    }

    /// Sends the lines of `bytes` bytes at `at` on their way.
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

    /// Waits until what this thread has written back has arrived.
    #[inline]
    pub fn fence(&self, site: Site, region: &Region) {
        self.count(site, 0);
        let fence = || match self.barrier {
            // Stores of this thread reach the page cache in the order of the program, if the compiler keeps it.
            Barrier::Order => compiler_fence(Release),
            Barrier::WriteBack => spirit_mem::persist::fence(),
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

    /// Syncs `bytes` bytes at `at` and returns whether they are on the disk. After one sync has failed no other is tried: the kernel
    /// may have dropped the dirty pages, and the next sync would succeed.
    pub fn sync_part(&self, region: &Region, at: u64, bytes: u64) -> bool {
        if self.failure().is_some() {
            return false;
        }
        let synced = region.sync(at, bytes);
        synced.map_err(|reason| self.fail(reason.to_string())).is_ok()
    }

    /// Records that the disk failed in another call, such as reserving blocks. Has the effect of a failed sync.
    pub fn fail(&self, why: String) {
        let _ = self.failure.set(why);
    }

    /// Why a sync failed, if one did: what was stored since the last fence before it may not be durable, and nothing may be
    /// acknowledged any more.
    #[inline]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// What went through `site` since the door was made. Approximate while other threads are in it.
    pub fn passed(&self, site: Site) -> Passed {
        let [calls, bytes] = &self.passed[site as usize];
        Passed { calls: calls.load(Relaxed), bytes: bytes.load(Relaxed) }
    }

    /// What makes a store durable here.
    pub fn barrier(&self) -> Barrier {
        self.barrier
    }

    fn count(&self, site: Site, bytes: u64) {
        let [calls, total] = &self.passed[site as usize];
        // A site has one thread at a time, so no locked instruction is needed.
        calls.store(calls.load(Relaxed) + 1, Relaxed);
        total.store(total.load(Relaxed) + bytes, Relaxed);
    }

    /// Does it; if somebody keeps a trace, as one step with writing it down.
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

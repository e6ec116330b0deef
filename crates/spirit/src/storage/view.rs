//! What readers see of an index: the memory of its executors, and the slots that protect it from reuse.
//!
//! The process that writes has one view for ever. One that only reads has the view of a writer's memory, or of its own copy of
//! what the file holds, and takes another when a writer has started since ([`follower`](crate::engine::follower)).

use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spirit_index::form::root;
use spirit_index::ground::corrupt::Corrupt;
use spirit_index::ground::damage;
use spirit_index::snapshot::Snapshot;
use spirit_mem::{Medium, PinSlot, Pins, Region};
use spirit_query::Address;

use crate::storage::fields::Fields;
use crate::storage::retention::Retention;
use crate::storage::shared::Shared;

/// A view of an index.
pub(crate) struct View {
    /// The shared state of each executor.
    pub(crate) parts: Box<[Arc<Shared>]>,
    pub(crate) pins: Arc<Pins>,
    pub(crate) fields: Arc<Fields>,
    /// The reader slot for statistics.
    stats_pin: Mutex<PinSlot>,
    /// How it knows that it is out of date; none in the process that writes.
    followed: Option<Followed>,
    /// True once this process has closed the index.
    closed: AtomicBool,
}

/// What a process that only reads compares to know that a writer has started.
pub(crate) struct Followed {
    /// The first pages of the index's file.
    pub(crate) roots: Region,
    /// The start that either slot of the root may say, and the one of the writer.
    pub(crate) starts: [u64; 2],
    pub(crate) start: u64,
    pub(crate) medium: Medium,
    /// The view keeps it alive.
    pub(crate) source: Source,
}

/// Where a process that only reads finds the index.
#[expect(dead_code, reason = "what is in it is kept, and ends with the view")]
pub(crate) enum Source {
    /// In the memory of the process that writes it, which ends the connection when it ends.
    Writer(UnixStream),
    /// In memory of its own, and in the file: an index that is open there.
    Own(Box<dyn Send + Sync>),
}

impl View {
    pub(crate) fn new(
        parts: Box<[Arc<Shared>]>,
        pins: Arc<Pins>,
        fields: Arc<Fields>,
        stats_pin: PinSlot,
        followed: Option<Followed>,
    ) -> View {
        View {
            parts,
            pins,
            fields,
            stats_pin: Mutex::new(stats_pin),
            followed,
            closed: AtomicBool::new(false),
        }
    }

    /// Returns once no reader of this process reads the view any more, nor will: later questions are refused, and
    /// what was found before is given up.
    ///
    /// The flag is what [`Pins::drain`] calls unlinked: a reader pins before it looks at the flag.
    pub(crate) fn close(&self) {
        self.closed.store(true, Release);
        self.pins.drain();
    }

    /// True once this process has closed the index. The reader that asks is pinned.
    #[inline(always)]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// True in a process that only reads.
    #[inline(always)]
    pub(crate) fn follows(&self) -> bool {
        self.followed.is_some()
    }

    pub(crate) fn followed(&self) -> Option<&Followed> {
        self.followed.as_ref()
    }

    /// True if the memory is this process's own copy of what the file holds.
    pub(crate) fn is_private_copy(&self) -> bool {
        matches!(&self.followed, Some(Followed { source: Source::Own(_), .. }))
    }

    /// True if another process has started to write since. Then the loads before this call may have read its stores.
    ///
    /// A writer stores its start number in the root before anything else. If a load before this call read one of its later
    /// stores, the loads here read the number: the writer's stores are in order, and the fence keeps our loads in order.
    #[inline]
    pub(crate) fn is_outdated(&self) -> bool {
        let Some(Followed { roots, starts, start, .. }) = &self.followed else { return false };
        fence(Acquire);
        let now = root::starts(roots);
        now != *starts && (0..2).any(|slot| now[slot] != starts[slot] && now[slot] != *start)
    }

    /// A query that begins now leaves out segments whose documents all arrived at this time or before; 0: none.
    #[inline(always)]
    pub(crate) fn over_ms(&self) -> u64 {
        self.parts[0].retention.as_ref().map_or(0, Retention::over_ms)
    }

    /// Damage that this thread has come upon in the index since it cleared its notes: the executor, and what is wrong.
    pub(crate) fn damage(&self) -> Option<(usize, Corrupt)> {
        if !damage::is_any() {
            return None;
        }
        let found = |part: &Arc<Shared>| damage::found(part.memory.region());
        self.parts.iter().enumerate().find_map(|(executor, part)| Some((executor, found(part)?)))
    }

    /// One past the sequence number of the newest operation that a query which begins now sees, at least.
    #[inline]
    pub(crate) fn sequence(&self) -> u64 {
        self.parts.iter().fold(0, |sequence, part| sequence.max(part.memory.sequence()))
    }

    /// The sequence number of a hit. The reader that has it is pinned.
    pub(crate) fn sequence_of(&self, hit: Address) -> u64 {
        let memory = &self.parts[hit.executor as usize].memory;
        Snapshot::take(memory).of(hit.segment).sequence(hit.local)
    }

    /// Locks the reader slot for statistics.
    pub(crate) fn stats_pin(&self) -> MutexGuard<'_, PinSlot> {
        self.stats_pin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

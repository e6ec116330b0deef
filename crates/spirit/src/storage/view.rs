//! Views: the memory of an index's executors, and the slots that protect it from reuse.
//!
//! The process that writes has one view for ever. A process that only reads has the view of a
//! writer's memory or of its private copy. It takes another when a writer has started since
//! ([`follower`](crate::engine::follower)).

use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spirit_index::form::root;
use spirit_index::ground::Corrupt;
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
    /// The state by which a view finds that it is outdated; none in the process that writes.
    followed: Option<Followed>,
    /// True once this process has closed the index.
    closed: AtomicBool,
    /// Another number than that of any other view of this process.
    pub(crate) number: u64,
}

/// The number of the next view.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The state by which a process that only reads finds that a writer has started.
pub(crate) struct Followed {
    /// The first pages of the index's file.
    pub(crate) roots: Region,
    /// The start numbers in both slots of the root, and the writer's start number.
    pub(crate) starts: [u64; 2],
    pub(crate) start: u64,
    pub(crate) medium: Medium,
    /// The source of the memory. The view keeps it alive.
    pub(crate) source: Source,
}

/// The memory of a process that only reads.
#[expect(dead_code, reason = "what is in it is kept, and ends with the view")]
pub(crate) enum Source {
    /// The memory of the process that writes. When that ends, it closes the connection.
    Writer(UnixStream),
    /// A private copy: an index that is open in this process.
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
            number: NEXT.fetch_add(1, Relaxed),
        }
    }

    /// Closes the view, and returns once no reader of this process reads it any more. Later
    /// questions fail, and hits are invalidated.
    ///
    /// The flag is the unlinking in the sense of [`Pins::drain`]: a reader pins before it reads the
    /// flag.
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

    /// True if the memory is this process's private copy.
    pub(crate) fn is_private_copy(&self) -> bool {
        matches!(&self.followed, Some(Followed { source: Source::Own(_), .. }))
    }

    /// True if another process has started to write since. The loads before this call may then have
    /// read its stores.
    ///
    /// A writer stores its start number in the root before anything else. Suppose a load before
    /// this call read one of its later stores. Then the loads here read the number: the writer's
    /// stores are in order, and the fence keeps our loads in order.
    #[inline]
    pub(crate) fn is_outdated(&self) -> bool {
        let Some(Followed { roots, starts, start, .. }) = &self.followed else { return false };
        fence(Acquire);
        let now = root::starts(roots);
        now != *starts && (0..2).any(|slot| now[slot] != starts[slot] && now[slot] != *start)
    }

    /// Returns the arrival, in milliseconds since 1970, up to which a query that begins now leaves
    /// out segments. It leaves out those whose documents all arrived at this time or before. 0:
    /// none.
    #[inline(always)]
    pub(crate) fn over_ms(&self) -> u64 {
        self.parts[0].retention.as_ref().map_or(0, Retention::over_ms)
    }

    /// Returns damage that this thread has read since it cleared its notes: the executor, and the
    /// error.
    pub(crate) fn damage(&self) -> Option<(usize, Corrupt)> {
        if !damage::is_any() {
            return None;
        }
        let found = |part: &Arc<Shared>| damage::found(part.memory.region());
        self.parts.iter().enumerate().find_map(|(executor, part)| Some((executor, found(part)?)))
    }

    /// Returns the sequence number below which a query that begins now sees all operations.
    #[inline]
    pub(crate) fn sequence(&self) -> u64 {
        self.parts.iter().fold(0, |sequence, part| sequence.max(part.memory.sequence()))
    }

    /// Returns the sequence number of a hit. The reader that has it is pinned.
    pub(crate) fn sequence_of(&self, hit: Address) -> u64 {
        let memory = &self.parts[hit.executor as usize].memory;
        Snapshot::take(memory).of(hit.segment).sequence(hit.local)
    }

    /// Locks the reader slot for statistics.
    pub(crate) fn stats_pin(&self) -> MutexGuard<'_, PinSlot> {
        self.stats_pin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

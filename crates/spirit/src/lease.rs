//! The readers' lease: how long results that nobody looks at may keep memory from being used again.
//!
//! Results stay readable while they are kept, since their reader's slot is held. If memory that was retired since waits
//! for one and the same hold for longer than the lease, the flush stage revokes it, and whoever comes back to those
//! results gets [`LeaseExpired`]. A query that is being answered is never disturbed, so a reader reads nothing that
//! was reused.
//!
//! The same goes for readers in other processes; and slots of a process that has ended are taken back.

use std::fmt;
use std::time::{Duration, Instant};

use spirit_mem::{Hold, Pins};

/// How often slots of processes that have ended are taken back.
const REAP: Duration = Duration::from_millis(50);
/// Looks at the slots in the time of a lease.
const LOOKS_PER_LEASE: u32 = 8;

/// The results were kept for longer than the lease of their reader, and what they lead to is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseExpired {
    /// The lease.
    pub lease: Duration,
}

impl fmt::Display for LeaseExpired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the results were kept for longer than the reader's lease of {:?} while the index needed the memory: \
             search again, read results sooner, or open the index with a longer reader_lease",
            self.lease
        )
    }
}

impl std::error::Error for LeaseExpired {}

/// Who has kept memory waiting, and since when. One for each flush stage.
pub(crate) struct Leases {
    lease: Duration,
    looked: Instant,
    reaped: Instant,
    seen: Box<[Option<(Hold, Instant)>]>,
    /// What was free at the start, if readers in other processes were there and may still read it.
    start_stamp: Option<u64>,
}

impl Leases {
    pub(crate) fn new(lease: Duration, pins: &Pins) -> Leases {
        let now = Instant::now();
        Leases {
            lease,
            looked: now,
            reaped: now,
            seen: vec![None; pins.slots()].into(),
            start_stamp: pins.start_stamp(),
        }
    }

    /// Whether readers that were there before this start may still read what was free then. For as long as they may, nothing
    /// new is put in the second tier.
    pub(crate) fn awaits_readers(&mut self, pins: &Pins) -> bool {
        self.start_stamp.take_if(|stamp| pins.horizon() > *stamp);
        self.start_stamp.is_some()
    }

    /// Revokes what was held for too long. Cheap if it was called a moment ago.
    pub(crate) fn enforce(&mut self, pins: &Pins) {
        let now = Instant::now();
        if now - self.reaped >= REAP {
            self.reaped = now;
            pins.reap();
        }
        if now - self.looked < self.lease / LOOKS_PER_LEASE {
            return;
        }
        self.looked = now;
        for (index, seen) in self.seen.iter_mut().enumerate() {
            *seen = match (pins.hold_in_the_way(index), *seen) {
                (Some(hold), Some((same, since))) if hold == same => {
                    if now - since >= self.lease {
                        pins.revoke(index, hold);
                    }
                    Some((same, since))
                }
                (hold, _) => hold.map(|hold| (hold, now)),
            };
        }
    }
}

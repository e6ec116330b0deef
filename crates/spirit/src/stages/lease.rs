//! The readers' lease: how long results that nobody looks at may keep memory from being used again.
//!
//! Results stay readable while they are kept, since their reader's slot is held. If memory that was retired since waits
//! for one and the same hold for longer than the lease, the flush stage revokes it, and the next look at those
//! results returns [`LeaseExpired`]. A query of this process that is being answered is never disturbed, so a reader reads nothing
//! that was reused.
//!
//! Results in other processes have the same lease. Such a process may be stopped in the middle of a query as well. If it is in the way
//! for [three leases](PINNED_LEASES) its slot is revoked, and it asks again when it goes on.

use std::fmt;
use std::time::{Duration, Instant};

use spirit_mem::{Hold, Pins};

/// Leases after which a query of another process is let go of.
const PINNED_LEASES: u32 = 3;
/// Looks at the slots in the time of a lease; and the longest time between two.
const LOOKS_PER_LEASE: u32 = 8;
const LOOK: Duration = Duration::from_millis(500);

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
    seen: Box<[Option<(Hold, Instant)>]>,
}

impl Leases {
    pub(crate) fn new(lease: Duration, pins: &Pins) -> Leases {
        Leases { lease, looked: Instant::now(), seen: vec![None; pins.slots()].into() }
    }

    /// Revokes what was in the way for too long. Cheap if it was called a moment ago.
    pub(crate) fn enforce(&mut self, pins: &Pins) {
        let now = Instant::now();
        if now - self.looked < LOOK.min(self.lease / LOOKS_PER_LEASE) {
            return;
        }
        self.looked = now;
        for (index, seen) in self.seen.iter_mut().enumerate() {
            let held = pins.hold_in_the_way(index).map(|hold| (hold, self.lease));
            let pinned = || pins.pin_in_the_way(index).map(|pin| (pin, self.lease * PINNED_LEASES));
            *seen = match (held.or_else(pinned), *seen) {
                (Some((hold, longest)), Some((same, since))) if hold == same => {
                    if now - since >= longest {
                        pins.revoke(index, hold);
                    }
                    Some((same, since))
                }
                (found, _) => found.map(|(hold, _)| (hold, now)),
            };
        }
    }

    /// How long results are kept at least.
    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    /// The slot that has been in the way for longest, and since when.
    pub(crate) fn longest(&self) -> Option<(usize, Instant)> {
        let seen = self.seen.iter().enumerate();
        seen.filter_map(|(index, seen)| Some((index, (*seen)?.1))).min_by_key(|(_, since)| *since)
    }
}

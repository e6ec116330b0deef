//! The readers' lease: how long idle hits may keep memory from being reused.
//!
//! Hits stay readable while they are kept, since their reader's slot is held. Retired memory may
//! wait for one and the same hold for longer than the lease. The flush stage then revokes the hold,
//! and the next read of those hits returns [`HitError::Lease`](crate::HitError::Lease). A running
//! query of this process is never disturbed, so a reader never reads reused memory.
//!
//! Hits in other processes have the same lease. Such a process may also be stopped during a query.
//! If it blocks memory for [three leases](PINNED_LEASES), its slot is revoked, and it repeats the
//! query when it continues.

use std::time::{Duration, Instant};

use spirit_mem::{Hold, Pins};

/// The number of leases after which a running query of another process is revoked.
const PINNED_LEASES: u32 = 3;
/// The number of looks at the slots in the time of a lease, and the longest time between two looks.
const LOOKS_PER_LEASE: u32 = 8;
const LOOK: Duration = Duration::from_millis(500);

/// The slots that have blocked memory, and since when. Each flush stage has its own.
pub(crate) struct Leases {
    lease: Duration,
    looked: Instant,
    seen: Box<[Option<(Hold, Instant)>]>,
}

impl Leases {
    pub(crate) fn new(lease: Duration, pins: &Pins) -> Leases {
        Leases { lease, looked: Instant::now(), seen: vec![None; pins.slots()].into() }
    }

    /// Revokes slots that blocked memory for too long. Cheap if the last call was a moment ago.
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

    /// Returns the time for which hits are kept at least.
    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    /// Returns the slot that has blocked memory for longest, and since when.
    pub(crate) fn longest(&self) -> Option<(usize, Instant)> {
        let seen = self.seen.iter().enumerate();
        seen.filter_map(|(index, seen)| Some((index, (*seen)?.1))).min_by_key(|(_, since)| *since)
    }
}

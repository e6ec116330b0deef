//! The memory of all bodies of requests, of which each takes its part.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of the budget's unit.
const UNIT_BYTES: usize = 64 << 10;

/// The memory of all bodies.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<Semaphore>);

/// A part of the budget. It returns when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Room(Option<OwnedSemaphorePermit>);

impl Budget {
    /// Returns a budget of this many bytes.
    pub(crate) fn of(bytes: u64) -> Budget {
        let units = (bytes as usize).div_ceil(UNIT_BYTES).min(Semaphore::MAX_PERMITS);
        Budget(Arc::new(Semaphore::new(units)))
    }

    /// Enlarges a part to this many bytes, once there is room.
    pub(crate) async fn take(&self, room: &mut Room, bytes: usize) {
        let held = room.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.div_ceil(UNIT_BYTES).saturating_sub(held);
        if more == 0 {
            return;
        }
        // Nobody closes the budget.
        let Ok(taken) = self.0.clone().acquire_many_owned(more as u32).await else { return };
        match &mut room.0 {
            Some(held) => held.merge(taken),
            none => *none = Some(taken),
        }
    }
}

//! Shared desks: a question takes an idle one, and its hits return it.
//!
//! Desks pass through a lock-free queue, so no question waits for another one. If no desk is idle,
//! a new one is made, as long as the index has a free reader slot.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crossbeam_queue::ArrayQueue;

use crate::engine::readable::Readable;
use crate::search::desk::Desk;
use crate::search::error::SearchError;

/// The attempts to find an idle desk or a free slot before a question is refused. One takes about
/// 100 ns, an answer takes microseconds.
const LOOKS: usize = 1_000;

/// The idle desks of an index.
pub(crate) struct Pool {
    index: Arc<Readable>,
    idle: ArrayQueue<Box<Desk>>,
}

/// A desk that returns to its pool when dropped.
pub(crate) struct Pooled {
    /// The desk; none once it is dropped.
    desk: Option<Box<Desk>>,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(index: Arc<Readable>) -> Pool {
        let idle = ArrayQueue::new(index.options.readers_max);
        Pool { index, idle }
    }

    /// Returns the index of these desks.
    pub(crate) fn index(&self) -> &Arc<Readable> {
        &self.index
    }

    /// Takes an idle desk out of the pool for good.
    pub(crate) fn take_idle(&self) -> Option<Box<Desk>> {
        self.idle.pop()
    }

    /// Takes an idle desk, or makes one. Returns an error if neither is possible within `LOOKS`
    /// attempts.
    pub(crate) fn take(self: &Arc<Pool>) -> Result<Pooled, SearchError> {
        let desk = match self.idle.pop() {
            Some(desk) => desk,
            None => self.make()?,
        };
        Ok(Pooled { desk: Some(desk), pool: self.clone() })
    }

    #[cold]
    fn make(&self) -> Result<Box<Desk>, SearchError> {
        let mut looks = 0..LOOKS;
        loop {
            let made = Desk::new(self.index.clone()).map(Box::new);
            let Err(refused) = made else { return made };
            if let Some(desk) = self.idle.pop() {
                return Ok(desk);
            }
            looks.next().ok_or(refused)?;
            std::hint::spin_loop();
        }
    }
}

impl Deref for Pooled {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        self.desk.as_ref().expect("the desk is taken only on drop")
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Desk {
        self.desk.as_mut().expect("the desk is taken only on drop")
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        // The queue has a place for each slot. A desk that does not fit gives its slot back.
        self.desk.take().map(|desk| self.pool.idle.push(desk));
    }
}

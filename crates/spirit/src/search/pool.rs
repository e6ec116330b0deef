//! Desks that are shared: a question takes one that is idle, and its hits give it back.
//!
//! A desk goes through a lock-free queue, so a question never waits for another one. If no desk is idle a new one is made, as
//! long as the index has a reader slot for it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crossbeam_queue::ArrayQueue;

use crate::engine::readable::Readable;
use crate::search::desk::Desk;
use crate::search::error::TooManyReaders;

/// Looks for an idle desk or a free slot before a question is refused. A look takes some 100 ns, an answer microseconds.
const LOOKS: usize = 1_000;

/// The idle desks of an index.
pub(crate) struct Pool {
    index: Arc<Readable>,
    idle: ArrayQueue<Box<Desk>>,
}

/// A desk that its pool gets back.
pub(crate) struct Pooled {
    /// There is one until it is dropped.
    desk: Option<Box<Desk>>,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(index: Arc<Readable>) -> Pool {
        let idle = ArrayQueue::new(index.options.readers_max);
        Pool { index, idle }
    }

    /// Returns the index whose desks these are.
    pub(crate) fn index(&self) -> &Arc<Readable> {
        &self.index
    }

    /// Takes an idle desk out of the pool for good.
    pub(crate) fn take_idle(&self) -> Option<Box<Desk>> {
        self.idle.pop()
    }

    /// Takes an idle desk, or makes one. Fails after [`LOOKS`] looks without an idle desk or a free slot.
    pub(crate) fn take(self: &Arc<Pool>) -> Result<Pooled, TooManyReaders> {
        let desk = match self.idle.pop() {
            Some(desk) => desk,
            None => self.make()?,
        };
        Ok(Pooled { desk: Some(desk), pool: self.clone() })
    }

    #[cold]
    fn make(&self) -> Result<Box<Desk>, TooManyReaders> {
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
        self.desk.as_ref().expect("it is there until the end")
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Desk {
        self.desk.as_mut().expect("it is there until the end")
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        // The queue has a place for each slot. A desk that it refused would release its slot.
        self.desk.take().map(|desk| self.pool.idle.push(desk));
    }
}

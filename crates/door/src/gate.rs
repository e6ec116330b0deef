//! What has to be said before anything is stored.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Asked before the first store that goes through a door: afterwards the medium says that there are some. Every door of an
/// index asks the same one, on any thread.
pub trait Gate: Send + Sync {
    /// Returns when that is durable; an error says why it is not, and comes again.
    fn pass(&self) -> Result<(), String>;
}

/// Whether a door's gate was passed.
#[derive(Default)]
pub(crate) struct Passage {
    gate: Option<Arc<dyn Gate>>,
    passed: AtomicBool,
}

impl Passage {
    pub(crate) fn through(gate: Arc<dyn Gate>) -> Passage {
        Passage { gate: Some(gate), passed: AtomicBool::new(false) }
    }

    #[inline]
    pub(crate) fn is_passed(&self) -> bool {
        self.passed.load(Acquire)
    }

    #[cold]
    pub(crate) fn pass(&self) -> Result<(), String> {
        self.gate.as_ref().map_or(Ok(()), |gate| gate.pass())?;
        self.passed.store(true, Release);
        Ok(())
    }
}

impl fmt::Debug for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Passage").field(&self.is_passed()).finish()
    }
}

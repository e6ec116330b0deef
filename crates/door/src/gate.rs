//! The gate: what must be durable before anything else is stored.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A gate, passed before the first store through a door: it makes the medium say that there are
/// stores. All doors of an index ask one gate, on any thread.
pub trait Gate: Send + Sync {
    /// Returns once that is durable. An error has the reason, and a later call returns it again.
    fn pass(&self) -> Result<(), String>;
}

/// The state of a door's gate: passed or not.
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

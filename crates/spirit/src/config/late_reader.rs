//! Readers that memory waits for, and the callback that names them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A reader that keeps memory from being used again, of this process or of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateReader {
    /// The number that its process has here; none if it is this one, or has no number here.
    pub process: Option<i32>,
    /// How long memory has waited for it.
    pub waited: Duration,
    /// After how long it is let go of: results that are kept, after a lease; a query of another process that was stopped, after
    /// three.
    pub lease: Duration,
}

/// The callback for late readers.
#[derive(Clone)]
pub(crate) struct LateWatcher(Arc<dyn Fn(LateReader) + Send + Sync>);

impl LateWatcher {
    pub(crate) fn new(watch: impl Fn(LateReader) + Send + Sync + 'static) -> LateWatcher {
        LateWatcher(Arc::new(watch))
    }

    pub(crate) fn tell(&self, late: LateReader) {
        (self.0)(late);
    }
}

impl fmt::Debug for LateWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateWatcher")
    }
}

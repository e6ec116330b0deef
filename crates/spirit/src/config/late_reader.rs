//! Readers that block the reuse of memory, and the callback that reports them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A reader that blocks the reuse of memory, in this process or in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateReader {
    /// The process id; none for this process, and for one that has no id here.
    pub process: Option<i32>,
    /// The time for which memory has waited for it.
    pub waited: Duration,
    /// The time after which it is released. Hits that are kept are released after one lease. A
    /// query of another process that was stopped is released after three.
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

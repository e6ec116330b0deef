//! A process, or an index, that only reads what another writes: how it is opened, and how long it is waited for.

use std::path::Path;
use std::time::{Duration, Instant};

use spirit::Index;
use spirit::cache::Cache;

/// How long a call that may hang, or something that takes milliseconds, is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Opens the index in `directory` for reading only.
pub(crate) fn follow(directory: impl AsRef<Path>) -> Index {
    // Answers of memory that a writer reused meanwhile must not be kept.
    let cache = Cache::new(1 << 20).cost_min(Duration::ZERO);
    let builder = Index::builder().directory(directory.as_ref()).read_only(true);
    builder.cache(cache).open().unwrap()
}

/// Waits until something is so.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

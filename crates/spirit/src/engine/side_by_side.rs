//! Work that several threads of one call do side by side.
//!
//! The threads live as long as the call, so they may borrow from it. Starting one takes some 20 µs.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The cores that this process may use. Finding out reads files.
static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));

/// Fewer documents are written by the calling thread alone: to start another one takes as long as
/// some 60 documents (experiment `executors`).
pub(super) const SIDE_BY_SIDE_MIN: usize = 512;

/// Does `work` for each task, on as many threads as there are cores for. Returns the results in the
/// order of the tasks.
pub(super) fn side_by_side<X: Send, T: Send>(
    tasks: Vec<X>,
    work: impl Fn(X) -> T + Sync,
) -> Vec<T> {
    let threads = match tasks.len() {
        0 | 1 => 1,
        count => CORES.min(count),
    };
    let tasks = Mutex::new(tasks.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let run = || {
        // The loop ends when all tasks are taken.
        loop {
            let next = locked(&tasks).next();
            let Some((number, task)) = next else { break };
            let result = work(task);
            locked(&done).push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that cannot be started leaves its task to the others.
            let named = thread::Builder::new().name("spirit-add".to_owned());
            let _ = named.spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Locks a mutex that no panic leaves half changed.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

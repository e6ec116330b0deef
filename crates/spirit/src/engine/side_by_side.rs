//! Work that several threads of one call do side by side.
//!
//! The threads live as long as the call, so they may borrow from it. Starting one takes some 20 µs.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

/// The cores that this process may use. Finding out reads files.
pub(super) static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));

/// Fewer documents are written by the calling thread alone: to start another one takes as long as
/// some 60 documents (experiment `executors`).
pub(super) const SIDE_BY_SIDE_MIN: usize = 512;

/// Does `work` for each task, on as many threads as there are cores for. Returns the results in the
/// order of the tasks.
///
/// The threads are joined one by one. A checker of races that does not see into the standard library
/// knows what that orders, unlike the end of a scope, or a lock that a thread had to wait for.
pub(super) fn side_by_side<X: Send, T: Send>(
    tasks: Vec<X>,
    work: impl Fn(X) -> T + Sync,
) -> Vec<T> {
    let threads = match tasks.len() {
        0 | 1 => 1,
        count => CORES.min(count),
    };
    let tasks: Vec<_> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            // Relaxed: the tasks were there before the threads. Each number is drawn once, so no
            // thread waits for a task's lock, and the loop ends behind the last one.
            let number = next.fetch_add(1, Relaxed);
            let Some(task) = tasks.get(number) else { return done };
            let task = task.lock().unwrap_or_else(PoisonError::into_inner).take();
            done.extend(task.map(|task| (number, work(task))));
        }
    };
    let mut done = thread::scope(|scope| {
        let start = |_| {
            // A thread that cannot be started leaves its tasks to the others.
            let named = thread::Builder::new().name("spirit-add".to_owned());
            named.spawn_scoped(scope, run).ok()
        };
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut done = run();
        done.extend(joined(others).into_iter().flatten());
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Waits for threads, and returns their results.
pub(super) fn joined<T>(threads: Vec<ScopedJoinHandle<'_, T>>) -> Vec<T> {
    let ended = |thread: ScopedJoinHandle<'_, T>| thread.join();
    threads.into_iter().map(|thread| ended(thread).unwrap_or_else(|p| resume_unwind(p))).collect()
}

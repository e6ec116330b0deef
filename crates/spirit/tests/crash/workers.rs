//! Threads that take one job after the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{available_parallelism, scope};

/// Does `job` for each number below `count`, on as many threads as keep the processors busy; what the jobs gave, in
/// order.
pub(crate) fn each<T: Send>(count: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    until(|_| false, count, job)
}

/// Does `job` for one number after the other, below `count`, until what they gave is enough; the jobs that have begun by
/// then are done to their end and count too. There are no rounds: none waits for the longest of another.
pub(crate) fn until<T: Send>(
    is_enough: impl Fn(&[(usize, T)]) -> bool + Sync,
    count: usize,
    job: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    keep_memory();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while !is_enough(&done.lock().unwrap()) {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                return;
            }
            let given = job(number);
            done.lock().unwrap().push((number, given));
        }
    };
    scope(|scope| {
        // An index that starts and closes waits for its own threads: with one worker to a processor this one would have
        // nothing to do for half of the time.
        for _ in 0..4 * available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, given)| given).collect()
}

/// An open index and its readers take megabytes and give them back, thousands of times: the allocator keeps them, since
/// fresh pages from the kernel would cost more than everything else together.
fn keep_memory() {
    const NUMBERS: [(i32, i32); 3] = [
        (libc::M_MMAP_THRESHOLD, 1 << 30),
        (libc::M_TRIM_THRESHOLD, 1 << 30),
        (libc::M_TOP_PAD, 16 << 20),
    ];
    for (name, value) in NUMBERS {
        // SAFETY: it sets a number of the allocator's and touches nothing of ours.
        unsafe { libc::mallopt(name, value) };
    }
}

//! What a server takes of the machine: memory, file descriptors, threads.

use std::fs;

/// What it may take at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    descriptors: usize,
    /// Beside one for each core.
    threads: usize,
    /// Memory of its own, in bytes. Pages of files are not counted: the kernel takes them back.
    memory: u64,
}

/// The bound under load. In three minutes it was 50 descriptors, 15 threads and 176 MiB at most.
pub(crate) const UNDER_LOAD: Bound = Bound { descriptors: 80, threads: 24, memory: 320 << 20 };
/// The bound while nobody asks, and clients have gone.
pub(crate) const QUIET: Bound = Bound { descriptors: 56, threads: 24, memory: 320 << 20 };

/// A process.
pub(crate) struct Process(pub(crate) i32);

impl Process {
    /// Checks what it takes now; nothing if it has ended.
    pub(crate) fn check(&self, bound: Bound) {
        let Process(id) = self;
        let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) else { return };
        let Ok(descriptors) = fs::read_dir(format!("/proc/{id}/fd")) else { return };
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse::<u64>().ok()
        };
        // A process that has just ended has none of them.
        let (Some(threads), Some(anonymous), Some(shared)) =
            (number("Threads:"), number("RssAnon:"), number("RssShmem:"))
        else {
            return;
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (threads as usize).saturating_sub(cores);
        let descriptors = descriptors.count();
        let memory = (anonymous + shared) << 10;
        let taken = Bound { descriptors, threads, memory };
        let is_within =
            descriptors <= bound.descriptors && threads <= bound.threads && memory <= bound.memory;
        assert!(is_within, "{taken:?} beyond {bound:?}");
    }
}

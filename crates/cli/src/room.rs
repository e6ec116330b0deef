//! DRAM for files that are indexed in memory: what they need, up to what the machine has.

use std::fs;
use std::path::{Path, PathBuf};

use spirit_forms::size::Size;

use crate::format::Format;

/// DRAM that an index has unless it is said how much.
const USUAL: u64 = 1 << 30;
/// Bytes of DRAM for a byte of text. Posts take 4 to 8; lines of a few rare words take more, and are then indexed again with all
/// free memory.
const OF_TEXT: u64 = 16;
/// How much longer than compressed a text is taken to be.
const OF_COMPRESSED: u64 = 10;
/// The share of free memory that is left to other processes.
const LEFT: u64 = 16;
/// The share of free memory that an index of a collection takes, and the most of it.
const OF_FREE: u64 = 8;
const COLLECTION_MAX: u64 = 4 << 30;
/// The most that an executor can address.
const EXECUTOR_MAX: u64 = 60 << 30;

/// Sizes to try in turn, a larger one if the files did not fit. Files that can be read only once get all free memory.
pub(crate) fn sizes(files: &[PathBuf], executors: u64) -> Vec<u64> {
    let most = free_bytes().unwrap_or(USUAL);
    let most =
        most.saturating_sub(most / LEFT).clamp(USUAL, EXECUTOR_MAX.saturating_mul(executors));
    match needed(files) {
        Some(needed) if needed < most => vec![needed.max(USUAL), most],
        _ => vec![most],
    }
}

/// DRAM for an index of a collection: a part of what is free. More than that gains little, and a second
/// tier of a given size would be too small for the segments.
pub(crate) fn of_collections(nvm: Option<Size>) -> Size {
    let free = free_bytes().unwrap_or(0);
    let bytes = (free / OF_FREE).clamp(USUAL, COLLECTION_MAX);
    Size(nvm.map_or(bytes, |nvm| bytes.min(nvm.0.saturating_mul(2))))
}

/// The size to try first for files that can be read again.
fn needed(files: &[PathBuf]) -> Option<u64> {
    let of = |path: &PathBuf| {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let is_compressed = Format::is_packed(path);
        Some(metadata.len().saturating_mul(if is_compressed { OF_COMPRESSED } else { 1 }))
    };
    let bytes = files.iter().map(of).try_fold(0u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
    Some(bytes?.saturating_mul(OF_TEXT))
}

/// Memory that the machine has free, or the control group that the process is in, if that is less.
fn free_bytes() -> Option<u64> {
    let machine = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    Some(of_groups().into_iter().fold(machine, u64::min))
}

/// Available memory, by `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory that the control groups (version 1 or 2) leave, from the process's own up to the root.
fn of_groups() -> Vec<u64> {
    let Ok(groups) = fs::read_to_string("/proc/self/cgroup") else { return Vec::new() };
    let mut left = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, names) = if controllers.is_empty() {
            ("/sys/fs/cgroup", ["memory.max", "memory.current"])
        } else if controllers.split(',').any(|name| name == "memory") {
            ("/sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes"])
        } else {
            continue;
        };
        let group = Path::new(root).join(path.trim_start_matches('/'));
        left.extend(group.ancestors().take_while(|at| at.starts_with(root)).filter_map(|at| {
            let [limit, used] = names.map(|name| number(&at.join(name)));
            Some(limit?.saturating_sub(used?))
        }));
    }
    left
}

/// The number that a file consists of; without a limit it has a word.
fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The remedy if `dram_bytes` are not enough for an index in memory.
pub(crate) fn remedy(dram_bytes: u64) -> String {
    format!(
        "all {} of DRAM are full: give more with --dram, keep the index in a directory (`spirit \
         ingest -d DIR`), or drop the oldest documents with --on-full drop",
        Size(dram_bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_what_is_free() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   1000 kB\n";
        assert_eq!(available(text), Some(1_024_000));
        assert_eq!(available("MemFree: 1 kB\n"), None);
        assert!(free_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn small_files_get_the_usual_and_those_that_are_read_once_all_there_is() {
        let own = PathBuf::from(file!()).file_name().map(|name| Path::new("src").join(name));
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(own.unwrap());
        let small = sizes(&[own], 1);
        assert_eq!(small[0], USUAL);
        let once = sizes(&[PathBuf::from("/dev/null")], 1);
        assert_eq!(once.len(), 1);
        assert!(once[0] >= small[0]);
    }
}

//! Names the part of an index that is full when a document finds no room, and what helps.

use std::path::Path;

use spirit::lab::disk_free;
use spirit::stats::Stats;
use spirit::{Index, Mode, WriteError};
use spirit_forms::size::Size;

use crate::interrupt::Interrupt;
use crate::note::note;
use crate::room;

/// A disk with less than this is full, however small segments are.
const DISK_FREE_MIN: u64 = 8 << 20;
/// A partition counts as full from this share on: the rest is too small for a segment.
const FULL_SHARE: [u64; 2] = [3, 4];
/// A wait is reported when this many looks in a row have seen it: after half a second.
const LOOKS: u32 = 10;

/// What is full.
enum Full<'a> {
    /// The disk that a directory is on: this many bytes are free.
    Disk(&'a Path, u64),
    /// An index that was made for this many bytes.
    Index(&'a Path, u64),
    /// An index that has as many segments as it has slots for, though there are bytes left.
    Slots(&'a Path),
    /// An index whose second tier has no place for one more segment's new terms.
    Terms(&'a Path),
    /// DRAM, of which an index in a directory was given so much.
    Dram(u64),
    /// DRAM, of which an index in memory was given so much.
    Memory(u64),
}

impl Full<'_> {
    fn of(index: &Index) -> Full<'_> {
        let stats = index.stats().unwrap_or_default();
        let Some(directory) = index.directory() else {
            return Full::Memory(stats.dram_bytes);
        };
        // Room is taken in steps of about a segment.
        let step = DISK_FREE_MIN.max(index.settings().segment_bytes);
        match disk_free(directory) {
            Ok(free) if free < step => Full::Disk(directory, free),
            _ if is_full(&stats, &["nvm long-term", "nvm short-term"]) => {
                Full::Index(directory, stats.nvm_bytes)
            }
            _ if is_full(&stats, &["nvm slots"]) => Full::Slots(directory),
            _ if is_full(&stats, &["nvm dictionary"]) => Full::Terms(directory),
            _ => Full::Dram(stats.dram_bytes),
        }
    }
}

/// True if segments fill one of the partitions of these names.
fn is_full(stats: &Stats, names: &[&str]) -> bool {
    let [share, of] = FULL_SHARE;
    let mut named = stats.partitions.iter().filter(|partition| names.contains(&partition.name));
    named.any(|partition| partition.used / share * of >= partition.bytes)
}

/// Why `index` takes nothing more.
pub(crate) fn said(index: &Index, error: &WriteError) -> String {
    let mode = index.settings().mode;
    let kept = kept(mode);
    match Full::of(index) {
        Full::Disk(directory, free) => format!(
            "the disk of {} is full, {} are free; make room on it and ingest {} again; {kept}",
            directory.display(),
            Size(free),
            if mode == Mode::Volatile { "everything" } else { "the rest" },
        ),
        Full::Index(directory, bytes) => format!(
            "the index in {} is full at its limit of {}; make one with a larger --nvm, or with \
             --on-full drop, which drops the oldest documents",
            directory.display(),
            Size(bytes)
        ),
        Full::Slots(directory) => format!(
            "the index in {} is full: it has no slot for another segment, and less --dram makes \
             segments smaller; make one with a larger --nvm, or with --on-full drop, which drops \
             the oldest documents",
            directory.display()
        ),
        Full::Terms(directory) => format!(
            "the index in {} is full: its dictionary has no room for more terms; make one with a \
             larger --nvm, or with --on-full drop, which drops the oldest documents",
            directory.display()
        ),
        Full::Dram(bytes) => {
            format!("{error}; --dram is {} now", Size(bytes))
        }
        Full::Memory(bytes) => room::remedy(bytes),
    }
}

/// What becomes of the documents that are in, if the process ends now.
fn kept(mode: Mode) -> &'static str {
    match mode {
        Mode::Volatile => "a volatile index ends with this process",
        _ => "acknowledged documents are kept",
    }
}

/// Why `index` waits, and what ends that. Nobody else adds to it or deletes from it.
fn waits(index: &Index) -> String {
    let kept = kept(index.settings().mode);
    match Full::of(index) {
        Full::Disk(directory, free) => format!(
            "waiting: the disk of {} is full, {} are free; make room on it, or stop with Ctrl-C; \
             {kept}",
            directory.display(),
            Size(free)
        ),
        Full::Index(directory, bytes) => format!(
            "waiting: the index in {} is full at its limit of {}; stop with Ctrl-C and make one \
             with a larger --nvm; {kept}",
            directory.display(),
            Size(bytes)
        ),
        Full::Slots(directory) => format!(
            "waiting: the index in {} has no slot for another segment; stop with Ctrl-C and make \
             one with a larger --nvm; {kept}",
            directory.display()
        ),
        Full::Terms(directory) => format!(
            "waiting: the dictionary of the index in {} has no room for more terms; stop with \
             Ctrl-C and make one with a larger --nvm; {kept}",
            directory.display()
        ),
        Full::Dram(bytes) | Full::Memory(bytes) => format!(
            "waiting: all {} of DRAM are full; stop with Ctrl-C and give more with --dram",
            Size(bytes)
        ),
    }
}

/// Runs `work`, which changes `index`. Reports on standard error if it waits for room. Its waits end when the process is asked to end.
pub(crate) fn reported<T>(index: &Index, interrupt: &Interrupt, work: impl FnOnce() -> T) -> T {
    let mut looks = 0;
    let look = || {
        looks = if index.is_waiting_for_room() { looks + 1 } else { 0 };
        if looks == LOOKS {
            note(waits(index));
        }
    };
    interrupt.during(look, || index.stop_waiting(), work)
}

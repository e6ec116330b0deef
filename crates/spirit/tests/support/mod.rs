//! What several proofs share: tiny indexes that turn over all the time, a repeatable source of chance, and
//! the size of a run.
#![allow(dead_code, reason = "each test binary uses some of this")]

pub(crate) mod columns;
pub(crate) mod directory;
pub(crate) mod disk;
pub(crate) mod field_lengths;
pub(crate) mod fields;
pub(crate) mod following;
pub(crate) mod proximity;
pub(crate) mod roots;
pub(crate) mod steps;
pub(crate) mod stream;
pub(crate) mod valued;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, ScopedJoinHandle};

use following::PATIENCE;
use spirit::lab::Random;
use spirit::{Analyzer, Builder, Index, OnFull};
use spirit_index::memory::Memory;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::{Segment, Snapshot};

/// The smallest segment there is.
pub(crate) const SEGMENT_BYTES: u64 = 64 << 10;

/// Builder for an index of the smallest segments, with this much heap for each executor, which drops the oldest when that is full.
pub(crate) fn tiny(executors: usize, bytes_each: u64) -> Builder {
    Index::builder()
        .dram_bytes(executors as u64 * bytes_each)
        .segment_bytes(SEGMENT_BYTES)
        .executors(executors)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::DropOldest)
}

/// Looks at a snapshot that keeps what it sees. An assertion that fails ends the pin too: the index would wait for it when it is
/// closed.
pub(crate) fn pinned<T>(memory: &Memory, look: impl FnOnce(&Snapshot<'_>) -> T) -> T {
    let pin = memory.pins().acquire().unwrap();
    memory.pins().pin(&pin);
    let looked = catch_unwind(AssertUnwindSafe(|| look(&Snapshot::take(memory))));
    memory.pins().unpin(&pin);
    memory.pins().release(pin);
    looked.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Checks an index while its documents are fresh, flushed, in the second tier, and after a start. Returns it as it is then.
pub(crate) fn in_each_form(
    index: Index,
    options: impl Fn() -> Builder,
    check: impl Fn(&Index),
) -> Index {
    check(&index);
    index.flush().unwrap();
    check(&index);
    index.settle();
    check(&index);
    index.close().unwrap();
    let index = options().open().unwrap();
    check(&index);
    index
}

/// How large a run is: what the environment variable `name` says, else `bounded`.
pub(crate) fn size_of_run(name: &str, bounded: u64) -> u64 {
    std::env::var(name).ok().map_or(bounded, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}: give a number"))
    })
}

/// Waits for threads of a scope by hand. The scope would wait as well, but ThreadSanitizer does not see it do so
/// unless the standard library is instrumented.
pub(crate) fn join<'s, T>(handles: impl IntoIterator<Item = ScopedJoinHandle<'s, T>>) -> Vec<T> {
    let ended =
        |handle: ScopedJoinHandle<'s, T>| handle.join().unwrap_or_else(|e| resume_unwind(e));
    handles.into_iter().map(ended).collect()
}

/// The same numbers in every run.
pub(crate) struct Chance(Random);

impl Chance {
    /// A sequence that depends on `seed` only.
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(Random::new(seed))
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Runs `work` on a thread of its own, and fails if it does not come back: a bound on hanging, not on speed.
pub(crate) fn comes_back(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = channel();
    let thread = thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match wait.recv_timeout(PATIENCE) {
        Err(RecvTimeoutError::Timeout) => panic!("a call does not come back"),
        // Done, or it panicked: the join tells.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}

/// 120 keys whose hashes have the same highest bits: too many of one group for their lines of the key table.
pub(crate) fn crowd() -> Vec<String> {
    let keys = (0..u64::MAX).map(|number| format!("c{number:x}"));
    let alike = |key: &String| spirit_index::keys::hash(key.as_bytes()) as u32 >> 18 == 1;
    keys.filter(alike).take(120).collect()
}

/// The rows of groups that were refused. They may go with their segments later.
pub(crate) fn rows_given_up(memory: &Memory) -> usize {
    let in_segment = |segment: Segment<'_>| {
        let row = |local| segment.row_table().row(local);
        let is_given_up = |local: &u32| {
            row(*local).key().kind() != KeyKind::None && !row(*local).has_lived(*local)
        };
        (0..segment.rows()).filter(is_given_up).count()
    };
    Snapshot::take(memory).segments().map(in_segment).sum()
}

//! No stream of updates stalls, whatever the sizes, the policy and the place: each operation ends, done
//! or refused, and where the living documents fit, all of them are done.

use std::fmt::Write as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use spirit::lab::EngravePolicy;
use spirit::{Analyzer, Builder, Index, Mode, OnFull, WriteError};

use crate::support::directory::Directory;
use crate::support::{Chance, comes_back};

/// Bytes of DRAM, and of a segment.
type Sizes = (u64, u64);
const IN_MEMORY: [Sizes; 5] = [
    (2 << 20, 64 << 10),
    (3 << 20, 128 << 10),
    (8 << 20, 64 << 10),
    (8 << 20, 128 << 10),
    (10 << 20, 512 << 10),
];
const IN_A_DIRECTORY: [Sizes; 4] =
    [(5 << 20, 64 << 10), (6 << 20, 128 << 10), (8 << 20, 64 << 10), (16 << 20, 512 << 10)];
const POLICIES: [OnFull; 3] = [OnFull::DropOldest, OnFull::Refuse, OnFull::Wait];
/// Updates of a stream: more than each of the sizes has room for.
const UPDATES: u64 = 30_000;
/// Documents added together.
const BATCH: usize = 50;
/// Refused batches after which a stream has seen enough.
const REFUSED_MAX: u64 = 20;
/// Bytes of DRAM for each living document: room for all of them, or for few.
const ROOMY: u64 = 8 << 10;
const TIGHT: u64 = 512;
/// Different words of a stream, of which most documents have one that few others have.
const WORDS: u64 = 5000;

fn options((dram_bytes, segment_bytes): Sizes, on_full: OnFull) -> Builder {
    Index::builder()
        .dram_bytes(dram_bytes)
        .segment_bytes(segment_bytes)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(on_full)
}

fn text(chance: &mut Chance) -> String {
    let mut text = String::new();
    for i in 0..12 {
        let word = chance.below(WORDS >> (i % 6 * 2));
        write!(text, "w{word} ").unwrap();
    }
    text
}

/// Replaces the documents of `keys` keys at random. Returns how often it was refused.
fn update(index: &Index, keys: u64) -> u64 {
    let mut chance = Chance::new(keys);
    let mut refused = 0;
    for _ in 0..UPDATES / BATCH as u64 {
        let batch = (0..BATCH)
            .map(|_| (format!("k{}", chance.below(keys)), text(&mut chance)))
            .collect::<Vec<_>>();
        let batch = batch.iter().map(|(key, text)| (Some(key.as_str()), text.as_str()));
        match index.add_all(batch) {
            Ok(_) => {}
            Err(WriteError::AfterSome { error, .. })
                if matches!(*error, WriteError::HeapFull | WriteError::KeysFull) =>
            {
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
        if refused == REFUSED_MAX {
            break;
        }
    }
    refused
}

/// Streams of many living documents and of few, over all sizes, by each policy.
fn streams_end(
    all_sizes: &'static [Sizes],
    place: impl Fn(Builder) -> (Builder, Option<Directory>) + Send + 'static,
) {
    comes_back(move || {
        for sizes in all_sizes.iter().copied() {
            for on_full in POLICIES {
                for bytes_each in [ROOMY, TIGHT] {
                    if (on_full, bytes_each) == (OnFull::Wait, TIGHT) {
                        // It rightly waits for ever.
                        continue;
                    }
                    let (options, _directory) = place(options(sizes, on_full));
                    let index = options.open().unwrap();
                    let refused = update(&index, sizes.0 / bytes_each);
                    let fits = bytes_each == ROOMY || on_full == OnFull::DropOldest;
                    assert!(refused == 0 || !fits, "{sizes:?} {on_full:?}: refused {refused}");
                    index.close().unwrap();
                }
            }
        }
    });
}

#[test]
fn streams_of_updates_in_memory_end() {
    streams_end(&IN_MEMORY, |options| (options, None));
}

#[test]
fn streams_of_updates_in_memory_end_with_two_stage_threads() {
    streams_end(&IN_MEMORY, |options| (options.stage_threads(2), None));
}

#[test]
fn streams_of_updates_in_a_directory_end() {
    streams_end(&IN_A_DIRECTORY, in_a_directory);
}

#[test]
fn streams_of_updates_in_a_directory_end_with_two_stage_threads() {
    streams_end(&IN_A_DIRECTORY, |options| in_a_directory(options.stage_threads(2)));
}

/// Segments stay in DRAM until an operation needs room, so each one asks for it.
#[test]
fn streams_of_updates_end_where_segments_are_engraved_late() {
    streams_end(&IN_A_DIRECTORY, |options| in_a_directory(options.engrave(EngravePolicy::Lazy)));
}

fn in_a_directory(options: Builder) -> (Builder, Option<Directory>) {
    let directory = Directory::new();
    let options = options.directory(directory.path()).mode(Mode::Graceful);
    (options.nvm_bytes(64 << 20), Some(directory))
}

/// Adds until there is no room; another thread then calls `stop_waiting`.
fn waits_until_told(options: Builder) {
    let index = Arc::new(options.open().unwrap());
    let stopper = index.clone();
    let stopping = thread::spawn(move || {
        let (mut before, mut now) = (0, stopper.accepted());
        // Until nothing more is accepted for a while, which is when the adder waits.
        while before == 0 || now > before {
            thread::sleep(Duration::from_millis(200));
            (before, now) = (now, stopper.accepted());
        }
        stopper.stop_waiting();
    });
    let full = (0..).find_map(|n| index.add(&format!("own{n} mine{n}")).err());
    assert!(matches!(full, Some(WriteError::HeapFull)), "{full:?}");
    stopping.join().unwrap();
    assert!(matches!(index.add("later"), Ok(_) | Err(WriteError::HeapFull)));
}

#[test]
fn an_operation_that_waits_for_room_ends_when_it_is_told_to() {
    comes_back(|| {
        waits_until_told(options(IN_MEMORY[0], OnFull::Wait));
        let directory = Directory::new();
        let options = options(IN_A_DIRECTORY[0], OnFull::Wait).directory(directory.path());
        waits_until_told(options.mode(Mode::Graceful).nvm_bytes(2 << 20));
    });
}

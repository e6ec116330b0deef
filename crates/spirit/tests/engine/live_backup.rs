//! Backups of an index while threads add, replace and delete: each is the state at one point. Of each thread it has the first
//! operations, up to one: all that were acknowledged before it began, none that was asked for after it ended. And it has no operation of a
//! thread without those of others that were acknowledged before that one was asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

use spirit::backup::Backup;
use spirit::lab::Postings;
use spirit::{Analyzer, Index, OnFull, Search};

use crate::support::directory::Directory;
use crate::support::{Chance, join, size_of_run};

/// Explicit keys of a thread.
const KEYS: u64 = 300;
/// Operations of a thread.
const OPERATIONS: u64 = 8_000;

/// What a thread does as its `number`th operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Put(u64),
    Delete(u64),
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    executors: usize,
    threads: usize,
    nvm_bytes: u64,
    keys: u64,
    on_full: OnFull,
    postings: Postings,
}

/// One thread, one executor, and room for all.
const ONE: Setting = Setting {
    executors: 1,
    threads: 1,
    nvm_bytes: 64 << 20,
    keys: KEYS,
    on_full: OnFull::Refuse,
    postings: Postings::Raw,
};

impl Setting {
    fn open(self, directory: &Directory) -> Index {
        Index::builder()
            .directory(directory.path())
            .executors(self.executors)
            .dram_bytes(self.executors as u64 * (32 << 20))
            .nvm_bytes(self.executors as u64 * self.nvm_bytes)
            .segment_bytes(64 << 10)
            .log_bytes(64 << 10)
            .document_bytes_max(4 << 10)
            .analyzer(Analyzer::Simple)
            .on_full(self.on_full)
            .postings(self.postings)
            .open()
            .unwrap()
    }

    fn operation(self, thread: usize, number: u64) -> Operation {
        let mut chance = Chance::new(thread as u64 * 1_000_003 + number);
        let key = chance.below(self.keys);
        // A key in seven is deleted; the others are given to documents again and again.
        if chance.below(7) == 0 { Operation::Delete(key) } else { Operation::Put(key) }
    }
}

fn key(thread: usize, key: u64) -> String {
    // Some are stored apart from their rows.
    if key.is_multiple_of(3) {
        format!("t{thread}k{key}")
    } else {
        format!("thread{thread}key{key}")
    }
}

fn text(thread: usize, number: u64) -> String {
    format!(
        "all t{thread} t{thread}v{number} a{} b{} averyveryverylongword{}",
        number % 7,
        number % 97,
        number % 11
    )
}

/// What the threads have done, and knew of each other.
struct Threads {
    setting: Setting,
    asked: Vec<AtomicU64>,
    acknowledged: Vec<AtomicU64>,
}

/// Operations of each thread.
type Counts = Vec<u64>;

impl Threads {
    fn new(setting: Setting) -> Threads {
        let counts = || (0..setting.threads).map(|_| AtomicU64::new(0)).collect();
        Threads { setting, asked: counts(), acknowledged: counts() }
    }

    fn counts(counts: &[AtomicU64]) -> Counts {
        counts.iter().map(|count| count.load(Acquire)).collect()
    }

    /// Does a thread's operations; says what of the others was acknowledged before each was asked for.
    fn work(&self, index: &Index, thread: usize, operations: u64) -> Vec<Counts> {
        let mut known = Vec::new();
        for number in 0..operations {
            known.push(Self::counts(&self.acknowledged));
            self.asked[thread].store(number + 1, Release);
            match self.setting.operation(thread, number) {
                Operation::Put(k) => index.put(&key(thread, k), &text(thread, number)).unwrap(),
                Operation::Delete(k) => drop(index.delete(&key(thread, k)).unwrap()),
            }
            self.acknowledged[thread].store(number + 1, Release);
        }
        known
    }
}

/// What was known when a backup was made.
struct Taken {
    kept: Directory,
    before: Counts,
    after: Counts,
}

/// Makes backups until the threads are done.
fn take(
    index: &Index,
    threads: &Threads,
    by_path: &Directory,
    are_done: impl Fn() -> bool,
) -> Vec<Taken> {
    let mut taken = Vec::new();
    while !are_done() {
        let kept = Directory::new();
        let file = kept.path().join("backup");
        let before = Threads::counts(&threads.acknowledged);
        // By the index itself, and as another process would.
        let backup = match taken.len() % 2 {
            0 => index.backup(file),
            _ => Backup::at(file).make(by_path.path()),
        };
        assert!(backup.unwrap().in_use);
        taken.push(Taken { kept, before, after: Threads::counts(&threads.asked) });
        // The last ones are as good as all of them.
        if taken.len() > 24 {
            taken.remove(8);
        }
    }
    taken
}

/// What a restored index has of a thread: the number of each operation whose document is there, and its key.
fn found(index: &Index, thread: usize, asked: u64) -> BTreeMap<u64, String> {
    // What is replayed may take the place of the oldest, after the index was opened: then it is looked at again.
    let mut dropped = None;
    loop {
        index.settle();
        let answers = Answers::of(index, thread, asked);
        let now = Some(index.stats().unwrap().dropped_segments);
        if now == dropped {
            return answers.judged(thread);
        }
        dropped = now;
    }
}

/// What an index says of a thread's documents.
struct Answers {
    /// The keys of all, newest first.
    all: Vec<String>,
    /// Of each operation: keys of its document, whether it is found by all its words, and by its key.
    each: Vec<(Vec<String>, u64, u64)>,
}

impl Answers {
    fn of(index: &Index, thread: usize, asked: u64) -> Answers {
        let mut reader = index.reader().unwrap();
        let mut keys =
            |query: &str, k| reader.search(query, Search::newest(k)).unwrap().keys().unwrap();
        let all = keys(&format!("t{thread} AND all"), 10_000);
        assert!(all.len() < 10_000, "the test asks for no more");
        let mut counts = index.reader().unwrap();
        let each = (0..asked).map(|number| {
            let word = format!("t{thread}v{number}");
            let keys = keys(&word, 2);
            let Some(key) = keys.first() else { return (keys, 0, 0) };
            let by_key = counts.count(&format!("key:{key}")).unwrap();
            let rest = text(thread, number).replace(' ', " AND ");
            let whole = counts.count(&format!("{word} AND {rest}")).unwrap();
            (keys, whole, by_key)
        });
        let each = each.collect();
        Answers { all, each }
    }

    fn judged(self, thread: usize) -> BTreeMap<u64, String> {
        let mut found = BTreeMap::new();
        for (number, (keys, whole, by_key)) in (0u64..).zip(self.each) {
            assert!(keys.len() <= 1, "t{thread}v{number} is there twice");
            if let Some(key) = keys.into_iter().next() {
                assert_eq!((whole, by_key), (1, 1), "half of t{thread}v{number}, {key}");
                found.insert(number, key);
            }
        }
        let mut expected: Vec<&String> = found.values().rev().collect();
        assert_eq!(self.all.iter().collect::<Vec<_>>(), expected, "newest first, each once");
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(expected.len(), found.len(), "a key has two documents");
        found
    }
}

/// After how many operations of a thread these are the documents that it has, of those from `oldest` on.
fn states(
    setting: Setting,
    thread: usize,
    found: &BTreeMap<u64, String>,
    range: std::ops::RangeInclusive<u64>,
    oldest: u64,
) -> Vec<u64> {
    // Operation by operation: which document each key has, and in how many the two differ.
    let mut live: BTreeMap<u64, u64> = BTreeMap::new();
    let mut same = Vec::new();
    let mut differ = found.len() as i64;
    let weight = |number: u64| if found.contains_key(&number) { -1 } else { 1 };
    for number in 0..=*range.end() {
        if range.contains(&number) && differ == 0 {
            same.push(number);
        }
        let operation = setting.operation(thread, number);
        let (Operation::Put(k) | Operation::Delete(k)) = operation;
        if let Some(old) = live.remove(&k).filter(|old| *old >= oldest) {
            differ -= weight(old);
        }
        if operation == Operation::Put(k) {
            live.insert(k, number);
            if number >= oldest {
                differ += weight(number);
            }
            if let Some(said) = found.get(&number) {
                assert_eq!(*said, key(thread, k));
            }
        }
    }
    same
}

fn restore(backup: &Path, setting: Setting) -> (Directory, Index) {
    let verified = Backup::at(backup).verify().unwrap();
    assert!(verified.is_sound(), "{verified}");
    let directory = Directory::new();
    Backup::at(backup).restore(directory.path()).unwrap();
    let index = setting.open(&directory);
    (directory, index)
}

/// Judges a backup.
fn judge(taken: &Taken, setting: Setting, known: &[Vec<Counts>]) {
    let (_directory, index) = restore(&taken.kept.path().join("backup"), setting);
    let drops = setting.on_full == OnFull::DropOldest;
    let mut states_of = Vec::new();
    for thread in 0..setting.threads {
        let found = found(&index, thread, taken.after[thread]);
        // On a slow machine all of them may have been dropped before they were copied.
        let oldest = if drops { found.keys().next().copied().unwrap_or(u64::MAX) } else { 0 };
        let range = taken.before[thread]..=taken.after[thread];
        let states = states(setting, thread, &found, range.clone(), oldest);
        assert!(!states.is_empty(), "thread {thread}: no state of {range:?} is {found:?}");
        states_of.push(states);
    }
    for (thread, states) in states_of.iter().enumerate() {
        let Some(last) = states[0].checked_sub(1) else { continue };
        for (other, count) in known[thread][last as usize].iter().enumerate() {
            let most = states_of[other].last().unwrap();
            assert!(most >= count, "thread {thread} at {last} knew {count} of {other}: {most}");
        }
    }
}

fn run(setting: Setting, backups_min: usize) {
    let operations = size_of_run("SPIRIT_BACKUP_OPERATIONS", OPERATIONS);
    let directory = Directory::new();
    let index = setting.open(&directory);
    let threads = Threads::new(setting);
    let (known, taken) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..setting.threads)
            .map(|thread| {
                let (threads, index) = (&threads, &index);
                scope.spawn(move || threads.work(index, thread, operations))
            })
            .collect();
        let are_done = || workers.iter().all(|worker| worker.is_finished());
        let taken = take(&index, &threads, &directory, are_done);
        (join(workers), taken)
    });
    assert!(taken.len() >= backups_min, "only {} backups", taken.len());
    for taken in &taken {
        judge(taken, setting, &known);
    }
    if setting.on_full == OnFull::DropOldest {
        assert!(index.stats().unwrap().dropped_segments > 0, "nothing was dropped");
    }
}

#[test]
fn one_executor() {
    run(ONE, 5);
}

#[test]
fn threads_that_share_an_executor() {
    run(Setting { threads: 3, ..ONE }, 5);
}

#[test]
fn several_executors_are_cut_at_one_point() {
    run(Setting { executors: 3, threads: 4, ..ONE }, 5);
}

#[test]
fn a_full_index_that_drops_its_oldest() {
    let on_full = OnFull::DropOldest;
    run(Setting { nvm_bytes: 512 << 10, keys: 100_000, on_full, ..ONE }, 5);
}

#[test]
fn packed_segments() {
    let postings = Postings::Packed;
    run(Setting { executors: 2, threads: 3, postings, ..ONE }, 5);
    let on_full = OnFull::DropOldest;
    run(Setting { nvm_bytes: 512 << 10, keys: 100_000, on_full, postings, ..ONE }, 5);
}

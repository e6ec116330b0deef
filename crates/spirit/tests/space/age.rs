//! Documents that are kept for a time: they are there for all of it and not for much longer, in all processes, over restarts, and
//! whatever the machine's clock is set to.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use spirit::lab::ManualClock;
use spirit::{Builder, Index, Mode, OnFull, OpenError, Search};

use crate::support::Chance;
use crate::support::directory::Directory;

const AGE: Duration = Duration::from_millis(400);
/// A machine may be busy, but not for so long.
const PATIENCE: Duration = Duration::from_secs(60);

fn options() -> Builder {
    Index::builder().dram_bytes(4 << 20).segment_bytes(64 << 10).nvm_bytes(16 << 20).retain(AGE)
}

fn count(index: &Index, query: &str) -> u64 {
    index.reader().unwrap().count(query).unwrap()
}

/// Waits until nothing is left of some documents.
fn wait_until_gone(index: &Index, query: &str) {
    let begun = Instant::now();
    let mut left = count(index, query);
    while left > 0 {
        assert!(begun.elapsed() < PATIENCE, "they are not going");
        std::thread::sleep(Duration::from_millis(5));
        let now = count(index, query);
        assert!(now <= left, "none comes back");
        left = now;
    }
}

/// Nothing of what is younger is gone.
fn check_young(index: &Index) {
    for round in 0..40 {
        let begun = Instant::now();
        index.add(&format!("young{round}")).unwrap();
        let found = count(index, &format!("young{round}"));
        assert!(found == 1 || begun.elapsed() >= AGE, "a document is gone before its time");
        let before = count(index, &format!("young{}", round / 2));
        assert!(before <= 1);
    }
}

#[test]
fn documents_go_when_their_time_has_passed_and_not_before() {
    let directory = Directory::new();
    for options in [options(), options().directory(directory.path())] {
        let index = options.open().unwrap();
        let begun = Instant::now();
        for number in 0..3000 {
            index.add(&format!("old w{number}")).unwrap();
        }
        let found = count(&index, "old");
        assert!(found == 3000 || begun.elapsed() >= AGE);
        wait_until_gone(&index, "old");
        assert!(begun.elapsed() >= AGE);
        assert_eq!(index.accepted(), 3000);
        check_young(&index);
        index.close().unwrap();
    }
}

#[test]
fn what_is_over_when_an_index_is_opened_goes_then() {
    let directory = Directory::new();
    let index = options().directory(directory.path()).open().unwrap();
    for number in 0..500 {
        index.add(&format!("old w{number}")).unwrap();
    }
    index.flush().unwrap();
    index.settle();
    for number in 0..500 {
        index.add(&format!("old w{number}")).unwrap();
    }
    // About half of it is engraved, and half is in the log.
    let killed = directory.killed();
    index.close().unwrap();
    // A document may be there for a sixteenth of its time longer.
    std::thread::sleep(AGE + AGE / 8);
    for directory in [directory, killed] {
        // The time is kept with the index.
        let options = Index::builder().dram_bytes(4 << 20).directory(directory.path());
        let index = options.open().unwrap();
        assert_eq!(count(&index, "old"), 0);
    }
}

/// An index that has become empty is not a new one: it knows what it gave out, and its log begins where it was. Records of a round do
/// not fit in the log, so no start can know that from the log.
#[test]
fn what_has_all_gone_is_remembered() {
    let mut directory = Directory::new();
    for round in 0..3 {
        let options = || options().log_bytes(16 << 10).document_bytes_max(4 << 10);
        let open = || options().directory(directory.path()).open().unwrap();
        let index = open();
        assert_eq!((index.accepted(), count(&index, "old")), (500 * round, 0));
        for number in 0..500 {
            index.add(&format!("old w{number}")).unwrap();
        }
        wait_until_gone(&index, "old");
        index.settle();
        let killed = directory.killed();
        index.close().unwrap();
        let index = open();
        assert_eq!((index.accepted(), count(&index, "old")), (500 * (round + 1), 0));
        drop(index);
        directory = killed;
    }
}

#[test]
fn a_time_that_is_no_time_is_refused() {
    for age in [Duration::ZERO, Duration::MAX] {
        let refused = options().retain(age).open();
        assert!(matches!(refused, Err(OpenError::Setting { name: "retain in ms", .. })));
    }
}

/// How long documents are kept by clocks that tests set, and how long a segment takes documents.
const KEPT_MS: u64 = 1600;
const SEGMENT_MS: u64 = 100;
const NOON_MS: u64 = 1_764_064_800_000;

fn manual(clock: &ManualClock) -> Builder {
    options().retain(Duration::from_millis(KEPT_MS)).clock(clock)
}

/// The numbers of all documents that are found, in their order, by every way there is to ask.
fn found(index: &Index) -> Vec<u64> {
    let mut reader = index.reader().unwrap();
    let keys = reader.search("all", Search::newest(10_000)).unwrap().keys().unwrap();
    let mut numbers: Vec<u64> = keys.iter().map(|key| key.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(reader.count("all").unwrap(), numbers.len() as u64);
    assert_eq!(reader.search("all", Search::best(10_000)).unwrap().len(), numbers.len());
    let stats = index.stats().unwrap();
    assert_eq!(stats.documents, numbers.len() as u64);
    assert_eq!(stats.documents + stats.expired, stats.accepted);
    numbers
}

#[test]
fn an_answer_leaves_out_what_is_older_whether_or_not_it_was_dropped() {
    let directory = Directory::new();
    for (executors, kept) in [(1, false), (1, true), (2, false)] {
        let clock = ManualClock::new(NOON_MS);
        let mut options = manual(&clock).dram_bytes(executors as u64 * (4 << 20));
        options = options.executors(executors);
        let options = if kept { options.directory(directory.path()) } else { options };
        let index = options.open().unwrap();
        for number in 0..30 {
            index.add(&format!("all w{number}")).unwrap();
        }
        clock.pass(KEPT_MS - 1);
        assert_eq!(found(&index).len(), 30);
        index.add("all young").unwrap();
        clock.pass(1);
        assert_eq!(found(&index), [30]);
        for query in ["w7", "key:7", "w7 AND all", "w*"] {
            assert_eq!(count(&index, query), 0, "{query}");
        }
        assert_eq!((count(&index, "young"), count(&index, "key:30")), (1, 1));
        assert_eq!(index.stats().unwrap().expired, 30);
        clock.pass(KEPT_MS);
        assert_eq!(found(&index), []);
        // All are dropped, too.
        let begun = Instant::now();
        while index.stats().unwrap().dropped_segments < executors as u64 {
            assert!(begun.elapsed() < PATIENCE);
            index.settle();
        }
        assert_eq!((found(&index), index.stats().unwrap().expired), (vec![], 31));
    }
}

/// Each document is counted once, also while segments are sealed and dropped.
#[test]
fn statistics_add_up_at_every_moment() {
    let clock = ManualClock::new(NOON_MS);
    let index = manual(&clock).open().unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut seen = 0;
            while !is_done.load(Relaxed) {
                let before = index.accepted();
                let stats = index.stats().unwrap();
                // One is visible shortly before it is counted as accepted.
                let (counted, after) = (stats.documents + stats.expired, index.accepted() + 1);
                assert!(before <= counted && counted <= after, "{before} {counted} {after}");
                seen += 1;
            }
            seen
        });
        let begun = Instant::now();
        let mut rounds = 0;
        while rounds < 100 || begun.elapsed() < Duration::from_millis(500) {
            for number in 0..20 {
                index.add(&format!("all w{number}")).unwrap();
            }
            clock.pass(SEGMENT_MS);
            rounds += 1;
        }
        is_done.store(true, Relaxed);
        assert!(asker.join().unwrap() > 100);
    });
    assert!(index.stats().unwrap().dropped_segments > 50);
}

#[test]
fn processes_that_only_read_leave_out_the_same() {
    let directory = Directory::new();
    let clock = ManualClock::new(NOON_MS);
    let writer = manual(&clock).directory(directory.path()).open().unwrap();
    let follow = |directory: &Directory| {
        manual(&clock).directory(directory.path()).read_only(true).open().unwrap()
    };
    writer.add("all engraved").unwrap();
    writer.flush().unwrap();
    clock.pass(KEPT_MS / 2);
    // The time is the writer's, whatever the wall clock says.
    clock.set(NOON_MS * 2);
    let follower = follow(&directory);
    writer.add("all logged").unwrap();
    assert_eq!(found(&follower), [0, 1]);
    clock.pass(KEPT_MS / 2);
    assert_eq!((found(&writer), found(&follower)), (vec![1], vec![1]));
    writer.settle();
    let killed = directory.killed();
    let copy = follow(&killed);
    assert_eq!(found(&copy), [1]);
    clock.pass(KEPT_MS / 2);
    assert_eq!([found(&writer), found(&follower), found(&copy)], [vec![], vec![], vec![]]);
    // Also after a kill in between, and for an index that no process has open.
    assert_eq!(found(&follow(&killed)), []);
    writer.close().unwrap();
    assert_eq!((found(&follower), found(&follow(&directory))), (vec![], vec![]));
}

/// An index, and when its documents arrived.
struct Kept {
    directory: Directory,
    mode: Mode,
    stage_threads: usize,
    clock: ManualClock,
    /// The index's time.
    now_ms: u64,
    arrived_ms: Vec<u64>,
    /// Something was stored since it was opened, so its root says what the time was when it is closed.
    stored: bool,
}

impl Kept {
    fn open(&self) -> Index {
        let options = manual(&self.clock).directory(self.directory.path()).mode(self.mode);
        options.stage_threads(self.stage_threads).on_full(OnFull::DropOldest).open().unwrap()
    }

    fn pass(&mut self, ms: u64) {
        self.clock.pass(ms);
        self.now_ms += ms;
    }

    /// Each is there for its time, and not for much longer.
    fn check(&self, index: &Index) {
        let found = found(index);
        for (number, arrived) in (0..).zip(&self.arrived_ms) {
            let age = self.now_ms - arrived;
            let is_there = found.binary_search(&number).is_ok();
            assert!(is_there || age >= KEPT_MS, "{number} is gone after {age}");
            assert!(!is_there || age < KEPT_MS + SEGMENT_MS, "{number} is there after {age}");
        }
    }

    fn add(&mut self, index: &Index, count: u64) {
        for _ in 0..count {
            index.add(&format!("all w{}", self.arrived_ms.len())).unwrap();
            self.arrived_ms.push(self.now_ms);
        }
        self.stored = true;
    }

    /// The wall clock is set to some other time.
    fn set_wall_clock(&self, chance: &mut Chance) {
        let (by, wall_ms) = (1000 + chance.below(1 << 34), self.clock.wall_ms());
        self.clock.set(if chance.below(2) == 0 { wall_ms + by } else { wall_ms - by });
    }

    /// The index is killed, and opened again after a while.
    fn kill(&mut self, index: Index, chance: &mut Chance) -> Index {
        // The root says how the clocks are.
        index.settle();
        let killed = self.directory.killed();
        drop(index);
        self.directory = killed;
        self.stored = false;
        self.pass(chance.below(KEPT_MS));
        self.open()
    }

    /// Like the one above, for a closed index. The wall clock may be set back meanwhile: then no time has passed.
    fn close(&mut self, index: Index, chance: &mut Chance) -> Index {
        index.close().unwrap();
        if std::mem::take(&mut self.stored) && chance.below(3) == 0 {
            self.clock.set(self.clock.wall_ms() - chance.below(1 << 34));
        } else {
            self.pass(chance.below(KEPT_MS));
        }
        self.open()
    }
}

#[test]
fn documents_are_there_for_their_time_whatever_the_clock_does() {
    for (seed, mode) in (0..40).zip([Mode::Crash, Mode::Crash, Mode::Graceful].into_iter().cycle())
    {
        let mut chance = Chance::new(seed);
        let clock = ManualClock::new(NOON_MS);
        let (directory, arrived_ms) = (Directory::new(), Vec::new());
        let (now_ms, stored) = (NOON_MS, false);
        let stage_threads = 1 + seed as usize % 2;
        let mut kept = Kept { directory, mode, stage_threads, clock, now_ms, arrived_ms, stored };
        let mut index = kept.open();
        for _ in 0..150 {
            match chance.below(16) {
                0..8 => kept.add(&index, 1 + chance.below(3)),
                8..12 => kept.pass(chance.below(SEGMENT_MS)),
                12 => kept.pass(chance.below(KEPT_MS)),
                13 => kept.set_wall_clock(&mut chance),
                14 if mode == Mode::Crash => index = kept.kill(index, &mut chance),
                _ => index = kept.close(index, &mut chance),
            }
            kept.check(&index);
        }
        assert!(kept.arrived_ms.len() > 50);
    }
}

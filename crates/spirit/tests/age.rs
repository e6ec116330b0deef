//! Documents that are kept for a time: they are there for all of it, and go by themselves, whether more come in or not.

mod support;

use std::time::{Duration, Instant};

use spirit::{Index, OpenError, Options};
use support::directory::Directory;

const AGE: Duration = Duration::from_millis(400);
/// A machine may be busy, but not for so long.
const PATIENCE: Duration = Duration::from_secs(60);

fn options() -> Options {
    Options::default().dram_bytes(4 << 20).segment_bytes(64 << 10).nvm_bytes(16 << 20).retain(AGE)
}

fn count(index: &Index, query: &str) -> u64 {
    index.reader().unwrap().count_text(query).unwrap()
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
    // What the log has arrives anew.
    index.flush().unwrap();
    index.close().unwrap();
    std::thread::sleep(AGE);
    // The time is kept with the index.
    let index = Options::default().dram_bytes(4 << 20).directory(directory.path()).open().unwrap();
    wait_until_gone(&index, "old");
}

/// An index that has become empty is not a new one: it knows what it gave out, and its log begins where it was.
#[test]
fn what_has_all_gone_is_remembered() {
    let mut directory = Directory::new();
    for round in 0..3 {
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

//! What a reader holds stays as it was, whatever happens to the index meanwhile; and holding it costs other
//! readers nothing.
//!
//! A reader keeps the hits of a query while a writer pushes several heaps' worth of documents at the index.
//! The memory behind the hits must not be used again, so the writer has to wait. It waits for *that reader*: the
//! index must not throw away everything else it holds meanwhile, because no segment that is dropped now
//! gives a byte back before the reader has gone.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::Duration;

use spirit::{HitError, Index, Search};

use crate::support::{join, tiny};

/// Questions asked while the hits are held.
const QUESTIONS: usize = 50_000;

/// Words of its own as well, so that a segment needs room in the dictionary that an older one has to leave.
fn text(n: u64) -> String {
    format!("common word{} own{n} owned{n} ownest{n} unown{n}", n % 40)
}

/// A lease that no test outlives.
const LONG: Duration = Duration::from_secs(3600);

/// An index that has dropped many segments already, and how many documents it was given.
fn full_index(lease: Duration) -> (Index, u64) {
    let index = tiny(1, 2 << 20).reader_lease(lease).open().unwrap();
    let mut n = 0;
    while index.stats().unwrap().dropped_segments < 20 {
        for _ in 0..1000 {
            index.add(&text(n)).unwrap();
            n += 1;
        }
    }
    index.settle();
    (index, n)
}

#[test]
fn what_a_reader_holds_is_not_used_again() {
    let (index, n) = full_index(LONG);
    let mut reader = index.reader().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let hits = reader.search("common", Search::newest(10_000)).unwrap();
        let (keys, sequences) = (
            hits.keys().unwrap(),
            hits.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>().unwrap(),
        );
        assert_eq!(keys[0], (n - 1).to_string());
        let (index, done, first) = (&index, &done, n);
        let writer = scope.spawn(move || {
            (first..first + 20_000).for_each(|n| index.add(&text(n)).map(drop).unwrap());
            done.store(true, Release);
        });
        let mut other = index.reader().unwrap();
        for _ in 0..QUESTIONS / 100 {
            other.count("common").unwrap();
            assert_eq!(
                hits.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>().unwrap(),
                sequences
            );
            assert_eq!(hits.keys().unwrap(), keys);
        }
        assert!(!done.load(Acquire), "the writer used memory that a reader holds");
        drop(hits);
        join([writer]);
    });
}

#[test]
fn statistics_say_how_far_a_reader_is_behind() {
    let (index, n) = full_index(LONG);
    let lag = || index.stats().unwrap().epoch_lag;
    assert_eq!(lag(), 0);
    let mut reader = index.reader().unwrap();
    thread::scope(|scope| {
        let hits = reader.search("common", Search::newest(10)).unwrap();
        let (index, first) = (&index, n);
        let writer = scope.spawn(move || {
            (first..first + 20_000).for_each(|n| index.add(&text(n)).map(drop).unwrap())
        });
        while lag() == 0 {
            assert!(!writer.is_finished(), "nothing was retired");
            thread::yield_now();
        }
        drop(hits);
        join([writer]);
    });
    assert_eq!(lag(), 0);
}

#[test]
fn largest_free_blocks_are_within_what_is_free() {
    let (index, n) = full_index(LONG);
    let mut smallest = u64::MAX;
    for n in n..n + 5_000 {
        index.add(&text(n)).unwrap();
        if n % 50 > 0 {
            continue;
        }
        for partition in index.stats().unwrap().partitions {
            let free = partition.bytes - partition.used;
            match (partition.name, partition.largest_free) {
                ("short-term" | "long-term", Some(largest)) => {
                    assert!(largest <= partition.bytes, "{partition:?}");
                    smallest = smallest.min(largest);
                }
                ("dictionary", Some(largest)) => {
                    assert!(largest <= free && largest.is_power_of_two(), "{partition:?}");
                }
                ("keys", None) => {}
                (..) => panic!("{partition:?}"),
            }
        }
    }
    assert!(smallest < 1 << 19, "a full heap has a block of {smallest} bytes");
}

#[test]
fn a_reader_that_holds_on_costs_no_documents() {
    let (index, n) = full_index(LONG);
    let mut reader = index.reader().unwrap();
    let held = reader.count("*").unwrap();
    let least = thread::scope(|scope| {
        let hits = reader.search("common", Search::newest(10)).unwrap();
        let (index, first) = (&index, n);
        let writer = scope.spawn(move || {
            (first..first + 20_000).for_each(|n| index.add(&text(n)).map(drop).unwrap())
        });
        let mut other = index.reader().unwrap();
        let least = (0..QUESTIONS).map(|_| other.count("common").unwrap()).min();
        drop(hits);
        join([writer]);
        least.unwrap()
    });
    assert!(least * 2 > held, "of {held} documents, {least} were left while a reader held ten");
}

#[test]
fn results_that_nobody_looks_at_give_way_after_their_lease() {
    let lease = Duration::from_millis(20);
    let (index, n) = full_index(lease);
    let mut reader = index.reader().unwrap();
    let hits = reader.search("common", Search::newest(10)).unwrap();
    let keys = hits.keys().unwrap();
    // Nothing but the lease lets the writer go on.
    (n..n + 20_000).for_each(|n| index.add(&text(n)).map(drop).unwrap());
    let expired = || HitError::Lease { lease };
    assert_eq!(hits.keys(), Err(expired()));
    assert_eq!(
        hits.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>(),
        Err(expired())
    );
    assert_eq!(hits.cursor(), Err(expired()));
    assert_eq!(hits.get(0).unwrap().write_key(&mut Vec::new()), Err(expired()));
    assert_eq!(hits.len(), keys.len(), "how many there were is known");
    drop(hits);
    let again = reader.search("common", Search::newest(1)).unwrap();
    assert_eq!(again.keys().unwrap(), [(n + 19_999).to_string()]);
}

#[test]
fn results_are_kept_past_their_lease_while_nothing_waits_for_them() {
    let lease = Duration::from_millis(5);
    let (index, n) = full_index(lease);
    let mut reader = index.reader().unwrap();
    let hits = reader.search("common", Search::newest(1)).unwrap();
    thread::sleep(20 * lease);
    assert_eq!(hits.keys().unwrap(), [(n - 1).to_string()]);
}

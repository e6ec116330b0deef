//! Read your writes, and never half of one: what `add` or `put` has acknowledged is found by every query that
//! starts afterwards on any other thread, by each of its words, once.
//!
//! Writers hand each acknowledged document to a reader on another thread, which asks at once. Segments are the
//! smallest there are, so within a run thousands of them fill, are flushed, move the window, are dropped and
//! have their extents used again under the readers' feet. Writers wait for one another every [`STRIDE`]
//! documents, so a document that a reader still has to ask for is among the newest [`OUTSTANDING`], which the
//! heap holds many times over (checked at the end): one that is not found is lost, not old.
//!
//! 300,000 documents by default; `SPIRIT_FRESHNESS_ADDS=10000000` for a long run.

use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use spirit::{Index, Reader, Search};

use crate::support::{Chance, join, size_of_run, tiny};

const PAIRS: usize = 3;
/// Documents that wait for a reader.
const WAITING: usize = 8;
/// Documents between two meetings of the writers.
const STRIDE: u64 = 64;
/// A reader asks again for one of this many documents that it found before.
const REMEMBERED: u64 = 64;
/// No reader asks for a document that is followed by more than this many.
const OUTSTANDING: u64 = PAIRS as u64 * (2 * STRIDE + REMEMBERED + WAITING as u64 + 2);
const BYTES_EACH: u64 = 4 << 20;

fn adds() -> u64 {
    size_of_run("SPIRIT_FRESHNESS_ADDS", 300_000)
}

/// The words that only document `id` has: short, long enough to be stored apart, and repeated ones.
fn own_words(id: u64) -> [String; 4] {
    [
        format!("u{id}"),
        format!("left{id}"),
        format!("right{id}"),
        format!("averylongwordoftheownkind{id}"),
    ]
}

fn text(id: u64) -> String {
    let [unique, left, right, long] = own_words(id);
    let (a, b) = (id % 3, id % 50);
    format!("{left} common {unique} shared{a} {right} shared{b} {left} {long}")
}

/// Every third document has a key of its own.
fn key(id: u64) -> Option<String> {
    id.is_multiple_of(3)
        .then(|| if id.is_multiple_of(2) { format!("k{id}") } else { format!("alongishkey{id}") })
}

fn write(index: &Index, ids: impl Iterator<Item = u64>, hand: SyncSender<u64>, meet: &Barrier) {
    for (n, id) in ids.enumerate() {
        match key(id) {
            Some(key) => index.put(&key, &text(id)).unwrap(),
            None => index.add(&text(id)).map(drop).unwrap(),
        }
        // A reader that panicked has hung up, and its message is the one to read.
        if hand.send(id).is_err() {
            std::process::abort();
        }
        if (n as u64 + 1).is_multiple_of(STRIDE) {
            meet.wait();
        }
    }
}

fn must_be_there(reader: &mut Reader, query: &mut String, id: u64) {
    let words = own_words(id);
    for word in &words {
        assert_eq!(reader.count(word).unwrap(), 1, "count of {word}");
    }
    let hits = reader.search(&words[0], Search::newest(10)).unwrap();
    assert_eq!(hits.len(), 1, "hits of {}", words[0]);
    if let Some(key) = key(id) {
        assert_eq!(hits.keys().unwrap(), [key]);
    }
    drop(hits);
    for (text, expected) in [
        (format!("{} AND {} AND {} AND common", words[1], words[2], words[3]), 1),
        (format!("{} OR {} OR {}", words[0], words[1], words[2]), 1),
        (format!("+{} -{}", words[0], words[3]), 0),
        (format!("+{} -shared{}", words[2], id % 50), 0),
    ] {
        query.clear();
        query.push_str(&text);
        assert_eq!(reader.count(&*query).unwrap(), expected, "count of {query}");
    }
}

fn read(index: &Index, seed: u64, inbox: Receiver<u64>) -> u64 {
    let mut reader = index.reader().unwrap();
    let mut chance = Chance::new(seed);
    let mut query = String::new();
    let mut found = Vec::new();
    for id in inbox {
        must_be_there(&mut reader, &mut query, id);
        found.push(id);
        let again = found.len() as u64 - 1 - chance.below(REMEMBERED.min(found.len() as u64));
        must_be_there(&mut reader, &mut query, found[again as usize]);
    }
    found.len() as u64
}

fn acknowledged_documents_are_found(executors: usize, adds: u64) {
    let index = tiny(executors, BYTES_EACH).open().unwrap();
    let each = (adds / PAIRS as u64).next_multiple_of(STRIDE);
    let meet = Barrier::new(PAIRS);
    let checked: u64 = thread::scope(|scope| {
        let readers: Vec<_> = (0..PAIRS as u64)
            .map(|pair| {
                let (hand, inbox) = sync_channel(WAITING);
                let (index, meet) = (&index, &meet);
                let writer =
                    scope.spawn(move || write(index, pair * each..(pair + 1) * each, hand, meet));
                (writer, scope.spawn(move || read(index, pair, inbox)))
            })
            .collect();
        let (writers, readers): (Vec<_>, Vec<_>) = readers.into_iter().unzip();
        join(writers);
        join(readers).into_iter().sum()
    });
    assert_eq!(checked, each * PAIRS as u64);
    assert_eq!(index.accepted(), checked);
    let stats = index.stats().unwrap();
    assert!(stats.documents > OUTSTANDING, "the heap holds too little for this proof: {stats:?}");
    // A short run (under a sanitizer) may end before the heap is full.
    let turned_over = checked < 50_000 || stats.dropped_segments > checked / 1000;
    assert!(turned_over, "hardly anything was dropped: {stats:?}");
}

#[test]
fn what_one_executor_acknowledged_is_found_at_once() {
    acknowledged_documents_are_found(1, adds() / 2);
}

#[test]
fn what_three_executors_acknowledged_is_found_at_once() {
    acknowledged_documents_are_found(3, adds() / 2);
}

/// Readers ask for documents that have one word of a pair and not the other, while pairs come, are flushed and
/// are replaced. There never is such a document.
fn no_half_documents(executors: usize, adds: u64, classes: u64) {
    // Tiny segments waste most of their rows and vectors: this is what a document takes in them.
    let index = tiny(executors, (adds * 1500).max(256 << 20)).open().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [0, 1].map(|seed| {
            let (index, over) = (&index, &over);
            scope.spawn(move || {
                let mut reader = index.reader().unwrap();
                let mut chance = Chance::new(seed);
                // Once more after the last document, so that a short run asks as well.
                while !over.load(Relaxed) || chance.below(100) > 0 {
                    ask_for_halves(&mut reader, &mut chance, classes);
                }
            })
        });
        for n in 0..adds {
            let (own, class) = (n % classes, n % 7);
            let text = format!("a{own} all{class} filler every{class} b{own}");
            match n % 5 {
                0 => index.put(&format!("k{}", n % 500), &text).unwrap(),
                _ => index.add(&text).map(drop).unwrap(),
            }
        }
        over.store(true, Relaxed);
        join(readers);
    });
    let stats = index.stats().unwrap();
    assert_eq!(stats.dropped_segments, 0, "the heap was to hold all of them: {stats:?}");
}

fn ask_for_halves(reader: &mut Reader, chance: &mut Chance, classes: u64) {
    let class = chance.below(7);
    for query in [format!("+all{class} -every{class}"), format!("+every{class} -all{class}")] {
        assert_eq!(reader.count(&query).unwrap(), 0, "{query}");
    }
    // Many pairs in one query, so that much can happen between the look-ups of one pair's words.
    let start = chance.next();
    let mut query = String::new();
    for i in 0..100 {
        let own = start.wrapping_add(i * 17) % classes;
        query.push_str(&format!("(+a{own} -b{own}) "));
    }
    assert_eq!(reader.count(&query).unwrap(), 0, "{query}");
}

#[test]
fn no_query_sees_half_a_document_that_arrives() {
    no_half_documents(1, adds() / 4, 3000);
    no_half_documents(3, adds() / 4, 3000);
}

/// A reader watches the document that retention takes next: as long as one of its words finds it, the others
/// must. Between the first and the last word of the document, and of the query, lie many others, so that
/// much can happen between the two look-ups.
#[test]
fn no_query_sees_half_a_document_that_is_dropped() {
    let index = tiny(1, 1 << 20).open().unwrap();
    let fillers =
        |prefix: &str, count: u64| (0..count).map(|i| format!("{prefix}{i} ")).collect::<String>();
    let (between, absent) = (fillers("filler", 30), fillers("-absent", 900));
    let over = AtomicBool::new(false);
    let watched = thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut reader = index.reader().unwrap();
            let mut watched = 0;
            while !over.load(Relaxed) {
                let hits = reader.search("common", Search::newest(10_000)).unwrap();
                let Some(n) = hits.keys().unwrap().pop() else { continue };
                drop(hits);
                watched += 1;
                while reader.count(&format!("first{n}")).unwrap() > 0 && !over.load(Relaxed) {
                    for (yes, no) in [("first", "last"), ("last", "first")] {
                        let query = format!("+{yes}{n} {absent} -{no}{n}");
                        assert_eq!(reader.count(&query).unwrap(), 0, "half of document {n}");
                    }
                }
            }
            watched
        });
        for n in 0..adds() * 2 {
            index.add(&format!("common first{n} {between} {n} last{n}")).unwrap();
            if watching.is_finished() {
                break;
            }
        }
        over.store(true, Relaxed);
        join([watching])[0]
    });
    assert!(watched > 20, "only {watched} documents were watched as they went");
}

/// An automatic key calls one document, whatever runs beside: it is found under it, and deleted under it.
#[test]
fn automatic_keys_call_one_document_each() {
    const THREADS: u64 = 4;
    let each = adds() / 5;
    let index = tiny(3, (each * THREADS * 500).max(128 << 20)).open().unwrap();
    thread::scope(|scope| {
        join(
            [(); THREADS as usize].map(|()| {
                scope.spawn(|| (0..each).for_each(|_| index.add("w").map(drop).unwrap()))
            }),
        );
    });
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("w").unwrap(), THREADS * each);
    let called = |reader: &mut Reader, n| reader.count(&format!("key:{n}")).unwrap();
    let wrong = (0..THREADS * each).filter(|n| called(&mut reader, *n) != 1).count();
    let missed = (0..THREADS * each).filter(|n| !index.delete(&n.to_string()).unwrap()).count();
    assert_eq!((wrong, missed), (0, 0), "keys that call none or two, and that cannot be deleted");
    assert_eq!(reader.count("*").unwrap(), 0);
}

//! Reading an index beside the one that writes it. Here both are in one process, which maps the memory twice;
//! `crates/cli/tests/follow.rs` has two processes.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use spirit::lab::Postings;
use spirit::{
    Builder, Document, FieldKind, HitError, Index, Mode, OnFull, OpenError, Reader, Search,
    WriteError,
};

use spirit_index::ground::PARTS_START;

use crate::support::directory::Directory;
use crate::support::following::follow;
use crate::support::{Chance, comes_back, join, size_of_run, tiny};

/// So small that segments are dropped, and their place is taken, all the time.
fn options(directory: &Path) -> Builder {
    tiny(1, 4 << 20)
        .directory(directory)
        .nvm_bytes(1 << 20)
        .log_bytes(128 << 10)
        .document_bytes_max(4 << 10)
}

/// Says that all is done, whatever happened.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The numbers of the documents that `query` finds, newest first: as many as an answer has.
fn numbers(reader: &mut Reader, query: &str) -> Vec<u64> {
    let found = reader.search(query, Search::newest(Search::HITS_MAX)).unwrap().keys();
    found.unwrap().iter().map(|key| key.parse().unwrap()).collect()
}

fn text(number: u64) -> String {
    format!("all m{} x{number} some more words to fill segments", number % 7)
}

fn add(writer: &Index, number: u64) {
    assert_eq!(writer.add(&text(number)).unwrap(), number);
}

/// Every document of a range, each once, found by whatever it has.
fn check_range(reader: &mut Reader, seen: &mut u64) {
    let all = numbers(reader, "all");
    assert!(all.windows(2).all(|pair| pair[0] == pair[1] + 1), "{all:?}");
    let Some(newest) = all.first().copied() else { return };
    assert!(newest >= *seen, "{newest} after {seen}");
    *seen = newest;
    let of_seven = numbers(reader, "m3 AND all");
    assert!(of_seven.iter().all(|n| n % 7 == 3), "{of_seven:?}");
    assert!(of_seven.windows(2).all(|pair| pair[0] == pair[1] + 7), "{of_seven:?}");
    // The first of them is the fourth document.
    let is_newest = |n: &u64| *n + 7 > newest;
    assert!(newest < 3 || of_seven.first().is_some_and(is_newest), "{of_seven:?}, {newest}");
    for query in [format!("x{newest}"), format!("key:{newest}")] {
        let found = numbers(reader, &query);
        // Unless it was dropped since: others may have had the processor for a while.
        let mut gone = || numbers(reader, "all").last().is_some_and(|oldest| *oldest > newest);
        assert!(found == [newest] || (found.is_empty() && gone()), "{query}: {found:?}");
    }
    let whole = reader.count("all AND NOT m3").unwrap() as usize;
    // What was there before and is there afterwards was there meanwhile.
    let later = numbers(reader, "all");
    let rest = |range: RangeInclusive<u64>| range.filter(|n| n % 7 != 3).count();
    let (Some(first), Some(last)) = (later.first(), later.last()) else { return };
    // A full answer does not say what the oldest is.
    let oldest = if all.len() < Search::HITS_MAX { all[all.len() - 1] } else { 0 };
    let (kept, possible) = (rest(*last..=newest), rest(oldest..=*first));
    assert!((kept..=possible).contains(&whole), "{whole}: {kept} to {possible}");
}

#[test]
fn what_is_acknowledged_is_found_while_it_is_written_and_dropped() {
    [Postings::Raw, Postings::Packed].into_iter().for_each(is_found_while_it_is_written);
}

fn is_found_while_it_is_written(postings: Postings) {
    let directory = Directory::new();
    let documents = size_of_run("SPIRIT_FOLLOWED", 60_000);
    let writer = options(directory.path()).postings(postings).open().unwrap();
    let followers = [follow(directory.path()), follow(directory.path())];
    let done = AtomicBool::new(false);
    let acknowledged = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let (done, followers, acknowledged) = (&done, &followers, &acknowledged);
        let _end = AtEnd(done);
        let readers = (0..4).map(|n| {
            scope.spawn(move || {
                let mut reader = followers[n % 2].reader().unwrap();
                let (mut seen, mut looks) = (0, 0);
                while !done.load(Relaxed) {
                    // A query finds all that was acknowledged before it.
                    seen = seen.max(acknowledged.load(Acquire).saturating_sub(1));
                    check_range(&mut reader, &mut seen);
                    looks += 1;
                }
                (seen, looks)
            })
        });
        let readers: Vec<_> = readers.collect();
        for number in 0..documents {
            writer.add(&text(number)).unwrap();
            acknowledged.store(number + 1, Release);
        }
        done.store(true, Relaxed);
        for (seen, looks) in join(readers) {
            assert!(looks > 5 && seen > documents / 4, "{looks} looks, up to {seen}");
        }
    });
    assert!(writer.stats().unwrap().dropped_segments > 10);
    for follower in &followers {
        let newest = numbers(&mut follower.reader().unwrap(), "all")[0];
        assert_eq!(newest, documents - 1);
        writer.settle();
        let [stats, own] = [follower, &writer].map(|index| index.stats().unwrap());
        assert_eq!(stats.documents, own.documents);
        assert_eq!((stats.accepted, stats.sequence), (documents, own.sequence));
        assert_eq!(stats.segments.len(), own.segments.len());
        assert_eq!(stats.partitions.len(), own.partitions.len());
    }
}

/// After each operation of every kind a follower's answers equal the writer's.
#[test]
fn a_follower_answers_as_the_writer_after_each_operation() {
    for (seed, executors) in [(1, 1), (2, 1), (3, 2)] {
        let directory = Directory::new();
        let index = options(directory.path()).executors(executors).dram_bytes(16 << 20);
        let index = index.field("n", FieldKind::Integer).field("kind", FieldKind::Keyword);
        let writer = index.nvm_bytes(8 << 20).store(true).open().unwrap();
        let follower = follow(directory.path());
        let (mut own, mut reader) = (writer.reader().unwrap(), follower.reader().unwrap());
        let mut random = Chance::new(seed);
        for step in 0..size_of_run("SPIRIT_FOLLOWER_STEPS", 3_000) {
            operate(&writer, step, &mut random);
            let query =
                ["all", "m3 AND all", "x7*", "kind:odd", "n:[10 TO 90]", "key:k7", "\"m1 x8\""];
            let query = query[random.below(7) as usize];
            for order in [Search::newest(20), Search::best(20)] {
                let [expected, found] = [&mut own, &mut reader].map(|reader| {
                    let hits = reader.search(query, order.clone()).unwrap();
                    (
                        hits.keys().unwrap(),
                        hits.iter()
                            .map(|hit| hit.sequence())
                            .collect::<Result<Vec<_>, _>>()
                            .unwrap(),
                        hits.texts().unwrap(),
                    )
                });
                assert_eq!(found, expected, "step {step}: {query}");
            }
            let counts = [&mut own, &mut reader].map(|reader| reader.count(query).unwrap());
            assert_eq!(counts[0], counts[1], "step {step}: {query}");
        }
        let [expected, found] = [&writer, &follower].map(|index| index.stats().unwrap());
        assert_eq!(
            (found.documents, found.accepted, found.deleted, found.sequence),
            (expected.documents, expected.accepted, expected.deleted, expected.sequence)
        );
    }
}

/// Adds, replaces, deletes, or flushes.
fn operate(writer: &Index, step: u64, random: &mut Chance) {
    let key = format!("k{}", random.below(50));
    match random.below(20) {
        0 => writer.flush().unwrap(),
        1 => writer.settle(),
        2..5 => drop(writer.delete(&key).unwrap()),
        5..12 => writer.put(&key, &text(step)).unwrap(),
        12..15 => {
            let kind = if step.is_multiple_of(2) { "even" } else { "odd" };
            let text = text(step);
            let document = Document::new().key(&key).text(&text).field("n", step as i64 % 100);
            writer.add(document.field("kind", kind)).map(drop).unwrap();
        }
        _ => drop(writer.add(&text(step)).unwrap()),
    }
}

#[test]
fn a_follower_changes_nothing() {
    let directory = Directory::new();
    let writer = options(directory.path()).open().unwrap();
    writer.put("a", "red").unwrap();
    writer.flush().unwrap();
    let heap = std::fs::read(directory.path().join("heap")).unwrap();
    let index = follow(directory.path());
    assert!(index.is_read_only() && !writer.is_read_only());
    assert_eq!(index.add("blue"), Err(WriteError::ReadOnly));
    assert_eq!(index.put("a", "blue"), Err(WriteError::ReadOnly));
    assert_eq!(index.delete("a"), Err(WriteError::ReadOnly));
    assert_eq!(index.flush(), Err(WriteError::ReadOnly));
    assert_eq!(index.add_all([(None, "blue")]), Err(WriteError::ReadOnly));
    index.settle();
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.search("key:a", Search::newest(1)).unwrap().keys().unwrap(), ["a"]);
    assert_eq!(index.medium(), writer.medium());
    index.stats().unwrap();
    drop(reader);
    index.close().unwrap();
    assert_eq!(std::fs::read(directory.path().join("heap")).unwrap(), heap);
}

#[test]
fn an_index_that_nobody_writes_can_be_read() {
    let directory = Directory::new();
    let open = || Index::builder().directory(directory.path()).read_only(true).open();
    assert!(matches!(open(), Err(OpenError::File { .. })), "no index exists");
    assert!(matches!(Index::builder().read_only(true).open(), Err(OpenError::NothingToRead)));
    let writer = options(directory.path()).executors(2).open().unwrap();
    for number in 0..2000 {
        writer.put(&format!("k{number}"), "red").unwrap();
    }
    writer.flush().unwrap();
    writer.close().unwrap();
    // Any number at once, and none keeps a writer out.
    let heap = std::fs::read(directory.path().join("heap")).unwrap();
    let indexes: Vec<_> = (0..40).map(|_| open().unwrap()).collect();
    for index in &indexes {
        let mut reader = index.reader().unwrap();
        assert_eq!(reader.count("red").unwrap(), 2000);
        assert_eq!(reader.count("key:k7").unwrap(), 1);
        let found = reader.search("key:k7 OR red", Search::newest(3)).unwrap();
        assert_eq!(found.keys().unwrap(), ["k1999", "k1998", "k1997"]);
    }
    assert!(std::fs::read(directory.path().join("heap")).unwrap() == heap, "a byte has changed");
    // They find what it adds, as soon as it is acknowledged.
    let mut reader = indexes[0].reader().unwrap();
    let writer = options(directory.path()).open().unwrap();
    for number in 2000..2100 {
        writer.put(&format!("k{number}"), "red").unwrap();
        assert_eq!(reader.count("red").unwrap(), number + 1);
    }
}

/// A private copy finds operations that only the log holds, and its replay leaves the directory unchanged.
#[test]
fn what_a_killed_writer_acknowledged_is_read_without_one() {
    let directory = Directory::new();
    let writer = options(directory.path()).nvm_bytes(8 << 20).open().unwrap();
    (0..3_000).for_each(|n| add(&writer, n));
    writer.put("7", "replaced all").unwrap();
    let killed = directory.killed();
    let before = std::fs::read(killed.path().join("heap")).unwrap();
    let follower = follow(killed.path());
    let mut reader = follower.reader().unwrap();
    let (mut found, mut expected) = (numbers(&mut reader, "all"), (0..3_000).collect::<Vec<_>>());
    assert_eq!(found[0], 7, "it is the newest");
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    drop(reader);
    follower.close().unwrap();
    assert!(std::fs::read(killed.path().join("heap")).unwrap() == before, "a byte has changed");
    let names: Vec<_> = std::fs::read_dir(killed.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_follower_goes_on_without_its_writer_and_moves_to_the_next() {
    let directory = Directory::new();
    let open = || options(directory.path()).nvm_bytes(8 << 20).open().unwrap();
    let writer = open();
    (0..1_000).for_each(|n| add(&writer, n));
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    let mut end = 1_000;
    assert_eq!(reader.count("all").unwrap(), end);
    drop(writer);
    for _ in 0..5 {
        assert_eq!(reader.count("all").unwrap(), end);
        assert_eq!(follower.stats().unwrap().documents, end);
        let writer = open();
        assert_eq!(reader.count("all").unwrap(), end);
        for number in end..end + 500 {
            add(&writer, number);
            assert_eq!(reader.count("all").unwrap(), number + 1);
        }
        end += 500;
    }
}

/// Two writers, of which the first has stored nothing.
#[test]
fn a_writer_that_stored_nothing_is_not_taken_for_the_next() {
    let directory = Directory::new();
    let open = || options(directory.path()).nvm_bytes(8 << 20).open().unwrap();
    let writer = open();
    (0..100).for_each(|n| add(&writer, n));
    writer.close().unwrap();
    let writer = open();
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), 100);
    writer.close().unwrap();
    let writer = open();
    add(&writer, 100);
    assert_eq!(reader.count("all").unwrap(), 101);
}

/// Fields that a document brings along are known to a query as soon as the document is found.
#[test]
fn fields_are_seen_with_the_documents_that_bring_them() {
    let directory = Directory::new();
    let writer = options(directory.path()).nvm_bytes(8 << 20).open().unwrap();
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    for number in 0..50 {
        let name = format!("f{number}");
        assert!(reader.count(&format!("{name}:7")).is_err());
        writer.add(Document::new().text("all").field(&name, 7)).unwrap();
        assert_eq!(reader.count(&format!("{name}:7")).unwrap(), 1);
    }
}

#[test]
fn what_a_writer_would_not_trust_is_refused() {
    let directory = Directory::new();
    let writer = options(directory.path()).mode(Mode::Graceful).open().unwrap();
    writer.add("red").unwrap();
    // While somebody writes it, it is as good as it will be.
    follow(directory.path());
    let killed = directory.killed();
    let open = || Index::builder().directory(killed.path()).read_only(true).open();
    assert!(matches!(open(), Err(OpenError::Unclean { .. })));
}

/// Each query sees each key once, from every writer, while writers are killed and replaced.
#[test]
fn a_death_is_seen_with_the_version_that_follows() {
    const KEYS: u64 = 300;
    let directory = Directory::new();
    let settings =
        |path: &Path| options(path).nvm_bytes(8 << 20).log_bytes(2 << 20).on_full(OnFull::Refuse);
    let writer = settings(directory.path()).open().unwrap();
    let put = |n: u64| {
        let text = format!("all v{n} {}", "some words to fill a segment ".repeat(4));
        writer.put(&format!("k{}", n % KEYS), &text).unwrap();
    };
    (0..KEYS).for_each(put);
    writer.flush().unwrap();
    (KEYS..4 * KEYS).for_each(put);
    writer.settle();
    // A copy is what a kill leaves only if nothing changes meanwhile.
    let killed = directory.killed();
    let follower = follow(killed.path());
    let check = |follower: &Index| {
        let mut reader = follower.reader().unwrap();
        loop {
            let found = reader.search("all", Search::newest(10_000)).unwrap();
            // A writer that has started meanwhile takes them away.
            let (Ok(keys), Ok(sequences)) = (
                found.keys(),
                found.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>(),
            ) else {
                continue;
            };
            assert_eq!(keys.iter().collect::<HashSet<_>>().len() as u64, KEYS, "{sequences:?}");
            assert_eq!(keys.len() as u64, KEYS);
            assert_eq!(sequences[0] - sequences.last().unwrap(), KEYS - 1, "{sequences:?}");
            return sequences[0];
        }
    };
    let before = check(&follower);
    assert_eq!(before, 4 * KEYS - 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (done, follower) = (&done, &follower);
        let _end = AtEnd(done);
        let looking = scope.spawn(move || {
            while !done.load(Relaxed) {
                check(follower);
            }
        });
        let again = settings(killed.path()).open().unwrap();
        again.settle();
        check(follower);
        let text = format!("all {}", "some words to fill a segment ".repeat(4));
        (0..2 * KEYS).for_each(|n| again.put(&format!("k{}", n % KEYS), &text).unwrap());
        again.flush().unwrap();
        assert_eq!(check(follower), before + 2 * KEYS);
        done.store(true, Relaxed);
        join([looking]);
    });
}

#[test]
fn kept_results_are_given_up_after_the_writers_lease() {
    comes_back(|| {
        let directory = Directory::new();
        let lease = Duration::from_millis(100);
        let writer = options(directory.path()).reader_lease(lease).open().unwrap();
        let fill = |from: u64| (from..from + 20_000).for_each(|n| add(&writer, n));
        fill(0);
        let follower = follow(directory.path());
        let mut reader = follower.reader().unwrap();
        let kept = reader.search("all", Search::newest(100)).unwrap();
        fill(20_000);
        assert!(matches!(kept.keys(), Err(HitError::Lease { .. })));
        drop(kept);
        check_range(&mut reader, &mut 20_000);
    });
}

/// Results of a writer that is gone are good until the next one stores something; then they are given up, and never wrong.
#[test]
fn results_of_a_writer_that_is_gone_are_right_or_given_up() {
    let directory = Directory::new();
    let open = || options(directory.path()).open().unwrap();
    let writer = open();
    (0..20_000).for_each(|n| add(&writer, n));
    writer.flush().unwrap();
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    let kept = reader.search("all", Search::newest(10_000)).unwrap();
    let keys = kept.keys().unwrap();
    drop(writer);
    assert_eq!(kept.keys().unwrap(), keys);
    let writer = open();
    let mut number = 20_000;
    while let Ok(same) = kept.keys() {
        assert_eq!(same, keys);
        add(&writer, number);
        number += 1;
    }
    drop(kept);
    assert!(number <= 20_001, "{number}");
    (number..number + 20_000).for_each(|n| add(&writer, n));
    check_range(&mut reader, &mut number);
}

#[test]
fn too_many_are_told_how_many_there_can_be() {
    let directory = Directory::new();
    let _writer = options(directory.path()).open().unwrap();
    let mut followers: Vec<_> = (0..32).map(|_| follow(directory.path())).collect();
    let open = || Index::builder().directory(directory.path()).read_only(true).open();
    let error = open().expect_err("there are as many as there can be");
    assert!(error.to_string().starts_with("32 processes have this index open"), "{error}");
    let readers: Vec<_> = (0..31).map(|_| followers[0].reader().unwrap()).collect();
    let error = followers[0].reader().expect_err("there are as many as there can be");
    assert!(error.to_string().starts_with("all 31 readers are in use"), "{error}");
    drop(readers);
    followers.clear();
    open().unwrap();
}

#[test]
fn what_is_damaged_is_not_shown() {
    let directory = Directory::new();
    let writer = options(directory.path()).open().unwrap();
    writer.add("red").unwrap();
    writer.flush().unwrap();
    let killed = directory.killed();
    let damage = |at: usize| {
        use std::os::unix::fs::FileExt;
        let heap = killed.path().join("heap");
        let file = std::fs::File::options().read(true).write(true).open(heap).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at as u64).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at as u64).unwrap();
    };
    let open = || Index::builder().directory(killed.path()).read_only(true).open();
    // The first word of the first segment's slot behind its mark.
    let part = PARTS_START as usize;
    damage(part + 8);
    assert!(matches!(open(), Err(OpenError::Corrupt(damage)) if damage.executor == Some(0)));
    damage(part + 8);
    assert_eq!(open().unwrap().reader().unwrap().count("red").unwrap(), 1);
}

#[test]
fn texts_are_read_too() {
    let directory = Directory::new();
    let writer = options(directory.path()).nvm_bytes(8 << 20).store(true).open().unwrap();
    (0..2_000).for_each(|n| add(&writer, n));
    writer.flush().unwrap();
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    let hits = reader.search("m3", Search::newest(1_000)).unwrap();
    let expected: Vec<_> = (0..2_000).rev().filter(|n| n % 7 == 3).map(text).collect();
    assert_eq!(hits.texts().unwrap(), expected);
}

//! Standing queries: a tail gives what a search finds, each match once and in order, however slow the
//! listener, and whatever place it begins at.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use spirit::{
    Analyzer, Builder, Document, FieldKind, Index, OnFull, Reader, Search, SearchError, Tail,
    Tailing,
};

use crate::support::{Chance, tiny};

const LONG: Duration = Duration::from_secs(60);

/// One of each kind of query: terms, what has necessary terms, and what has none.
const QUERIES: [&str; 16] = [
    "common",
    "w3",
    "w3 w5",
    "w1 AND w2",
    "+w1 w2 -w4",
    "\"w1 w2\"",
    "\"w1 w2\"~3",
    "(w1 OR w9) AND (w2 OR w8)",
    "w1*",
    "*",
    "* -common",
    "w2 OR w7*",
    "by:ann AND w1",
    "size:>50",
    "size:[10 TO 20] AND w3",
    "a-word-that-is-longer-than-a-key-has-room-for",
];

fn fields(options: Builder) -> Builder {
    options.field("by", FieldKind::Keyword).field("size", FieldKind::Integer)
}

/// Returns the text of a document: a few words of ten, and rarer ones.
fn text(chance: &mut Chance) -> String {
    let mut words = Vec::new();
    for _ in 0..1 + chance.below(6) {
        words.push(format!("w{}", chance.below(10)));
    }
    if chance.below(3) > 0 {
        words.push("common".to_owned());
    }
    if chance.below(50) == 0 {
        words.push("a-word-that-is-longer-than-a-key-has-room-for".to_owned());
    }
    words.join(" ")
}

fn document<'t>(text: &'t str, chance: &mut Chance) -> Document<'t> {
    let by = ["ann", "bo"][chance.below(2) as usize];
    Document::new().text(text).field("by", by).field("size", chance.below(100) as i64)
}

fn add(index: &Index, chance: &mut Chance) {
    let text = text(chance);
    index.add(document(&text, chance)).unwrap();
}

/// Keys and sequence numbers.
type Found = BTreeSet<(String, u64)>;

/// Takes what comes, until all that is expected has come and nothing more waits.
fn take_all(
    tail: &mut Tail,
    reader: &mut Reader,
    mut expected: Found,
) -> Vec<(String, u64, String)> {
    let mut taken = Vec::new();
    while tail.has_more() || (!expected.is_empty() && tail.wait(LONG)) {
        let hits = tail.take(reader, 1_000).unwrap();
        let places: Vec<String> = tail.places().collect();
        assert_eq!(places.len(), hits.len());
        for (hit, place) in hits.iter().zip(places) {
            let (key, sequence) = (hit.key().unwrap().to_string(), hit.sequence().unwrap());
            taken.push((key.clone(), sequence, place));
            expected.remove(&(key, sequence));
        }
    }
    taken
}

/// Nothing more comes for a moment.
fn assert_over<'t>(tails: impl IntoIterator<Item = &'t Tail>) {
    thread::sleep(Duration::from_millis(300));
    assert!(tails.into_iter().all(|tail| !tail.has_more()), "more came than a search finds");
}

/// Returns what a search finds.
fn found(reader: &mut Reader, query: &str) -> Found {
    let mut found = Found::new();
    let mut search = Search::newest(10_000);
    loop {
        let hits = reader.search(query, search.clone()).unwrap();
        found.extend(
            hits.iter().map(|hit| (hit.key().unwrap().to_string(), hit.sequence().unwrap())),
        );
        match hits.cursor().unwrap() {
            Some(cursor) if !hits.is_empty() => search = Search::newest(10_000).after(cursor),
            _ => return found,
        }
    }
}

fn assert_is_what_a_search_finds(
    reader: &mut Reader,
    query: &str,
    taken: &[(String, u64, String)],
    executors: usize,
) {
    let came: Found = taken.iter().map(|(key, sequence, _)| (key.clone(), *sequence)).collect();
    assert_eq!(came.len(), taken.len(), "{query}: some came twice");
    assert_eq!(came, found(reader, query), "{query}");
    if executors == 1 {
        assert!(taken.windows(2).all(|two| two[0].1 < two[1].1), "{query}: in another order");
    }
}

/// Tails of all queries while threads add: each gives what a search finds at the end.
fn tails_give_what_searches_find(executors: usize, positions: bool, capacity: usize) {
    let options = fields(tiny(executors, 256 << 20)).positions(positions);
    let index = options.open().unwrap();
    let queries = QUERIES.iter().filter(|query| positions || !query.contains('"'));
    let tails = queries.map(|query| {
        let how = Tailing::default().capacity(capacity);
        (*query, index.tail(*query, how).unwrap())
    });
    let mut tails: Vec<(&str, Tail)> = tails.collect();
    thread::scope(|scope| {
        for seed in 0..2 {
            let index = &index;
            scope.spawn(move || {
                let mut chance = Chance::new(seed);
                for n in 0..4_000 {
                    add(index, &mut chance);
                    if n % 1_000 == 999 {
                        thread::sleep(Duration::from_millis(5));
                    }
                }
            });
        }
    });
    let mut reader = index.reader().unwrap();
    for (query, tail) in &mut tails {
        let expected = found(&mut reader, query);
        let taken = take_all(tail, &mut reader, expected);
        assert_is_what_a_search_finds(&mut reader, query, &taken, executors);
        assert_eq!(tail.missed(), 0, "{query}");
    }
    assert_over(tails.iter().map(|(_, tail)| tail));
}

#[test]
fn tails_of_one_executor_give_what_searches_find() {
    tails_give_what_searches_find(1, true, 1 << 20);
}

#[test]
fn tails_of_three_executors_give_what_searches_find() {
    tails_give_what_searches_find(3, true, 1 << 20);
}

#[test]
fn tails_without_positions_give_what_searches_find() {
    tails_give_what_searches_find(1, false, 1 << 20);
}

#[test]
fn slow_listeners_lose_nothing() {
    tails_give_what_searches_find(1, true, 3);
    tails_give_what_searches_find(2, true, 3);
}

/// Returns a query of a few words, phrases, ranges and patterns, within each other.
fn any_query(chance: &mut Chance, depth: u32) -> String {
    let word = |chance: &mut Chance| format!("w{}", chance.below(11));
    if depth > 0 && chance.below(3) > 0 {
        let joint = [" ", " AND ", " OR "][chance.below(3) as usize];
        let clauses = (0..1 + chance.below(4)).map(|_| {
            let sign = ["", "", "", "+", "-"][chance.below(5) as usize];
            format!("{sign}{}", any_query(chance, depth - 1))
        });
        let clauses: Vec<String> = clauses.collect();
        let clauses = match joint {
            " " => clauses.join(joint),
            _ => clauses.join(joint).replace(['+', '-'], ""),
        };
        return format!("({clauses})");
    }
    match chance.below(12) {
        0 => format!("{}*", word(chance)),
        1 => format!("size:>{}", chance.below(100)),
        2 => "by:bo".to_owned(),
        3 => format!("\"{} {}\"", word(chance), word(chance)),
        4 => format!("\"{} {} {}\"~{}", word(chance), word(chance), word(chance), chance.below(5)),
        5 => "a-word-that-is-longer-than-a-key-has-room-for".to_owned(),
        6 => "common".to_owned(),
        _ => word(chance),
    }
}

/// Queries of any form, while a thread adds: each tail gives what a search finds at the end.
#[test]
fn tails_of_any_query_give_what_searches_find() {
    let index = fields(tiny(1, 256 << 20)).open().unwrap();
    let mut chance = Chance::new(11);
    let queries: Vec<String> = (0..200).map(|_| any_query(&mut chance, 3)).collect();
    let tails = queries.iter().map(|query| index.tail(query, Tailing::default()).unwrap());
    let mut tails: Vec<Tail> = tails.collect();
    for n in 0..3_000 {
        add(&index, &mut chance);
        if n % 10 == 0 {
            // Most rows are looked at in fresh segments.
            thread::sleep(Duration::from_micros(300));
        }
    }
    let mut reader = index.reader().unwrap();
    for (query, tail) in queries.iter().zip(&mut tails) {
        let expected = found(&mut reader, query);
        let taken = take_all(tail, &mut reader, expected);
        assert_is_what_a_search_finds(&mut reader, query, &taken, 1);
    }
    assert_over(&tails);
}

/// A document matches the queries that find it once it is added. Queries come and go meanwhile.
fn percolation_is_what_searches_find(positions: bool) {
    let index = fields(tiny(1, 256 << 20)).positions(positions).open().unwrap();
    let mut chance = Chance::new(5);
    let mut percolator = index.percolator().unwrap();
    let queries = (0..300).map(|_| any_query(&mut chance, 3));
    let queries: Vec<String> = queries.filter(|query| positions || !query.contains('"')).collect();
    let mut numbers = Vec::new();
    for query in &queries {
        let gone = percolator.add("w1 OR w2").unwrap();
        numbers.push(percolator.add(query).unwrap());
        percolator.remove(gone);
    }
    let mut matched = vec![BTreeSet::new(); queries.len() + 1];
    for n in 0..500 {
        let text = text(&mut chance);
        let document = document(&text, &mut chance);
        let key = index.add(document.clone()).unwrap().to_string();
        // No query can ask for this field.
        for number in percolator.matching(document.field("more", n)).unwrap() {
            matched[number as usize].insert(key.clone());
        }
    }
    let mut reader = index.reader().unwrap();
    for (query, number) in queries.iter().zip(numbers) {
        let found = found(&mut reader, query).into_iter().map(|(key, _)| key);
        assert_eq!(matched[number as usize], found.collect(), "{query}");
    }
}

#[test]
fn a_document_matches_the_queries_that_would_find_it() {
    percolation_is_what_searches_find(true);
    percolation_is_what_searches_find(false);
}

/// A document that does not fit is refused, one that widens a field is compared as a number, and a long one
/// has room.
#[test]
fn a_percolator_keeps_its_fields() {
    let index = Index::builder().dram_bytes(64 << 20).open().unwrap();
    index.add(Document::new().text("a").field("rating", 3)).unwrap();
    let mut percolator = index.percolator().unwrap();
    let high = percolator.add("rating:>2").unwrap();
    let removed = percolator.add("rating:>1").unwrap();
    let heron = percolator.add("heron").unwrap();
    percolator.remove(removed);
    percolator.remove(removed);
    percolator.remove(99);
    assert!(matches!(percolator.add("colour:red"), Err(SearchError::Parse(_))));
    let rated = |rating: f64| Document::new().text("heron").field("rating", rating);
    assert_eq!(percolator.matching(Document::new().field("rating", 3)).unwrap(), [high]);
    assert_eq!(percolator.matching(rated(2.5)).unwrap(), [high, heron]);
    assert_eq!(percolator.matching(rated(1.5)).unwrap(), [heron]);
    assert_eq!(percolator.matching(Document::new().field("rating", 3)).unwrap(), [high]);
    assert!(percolator.matching(Document::new().field("rating", "high")).is_err());
    let long = "gull ".repeat((Document::BYTES_MAX - 100) / 5) + "heron";
    for _ in 0..20 {
        assert_eq!(percolator.matching(&*long).unwrap(), [heron]);
    }
    let new = percolator.add("gull").unwrap();
    assert_eq!(new, removed);
    assert_eq!(percolator.matching("a gull").unwrap(), [new]);
}

/// A listener that goes away and comes back at the last place that it saw, again and again, while threads
/// add, flush and settle.
fn places_have_no_gap(executors: usize) {
    let index = fields(tiny(executors, 256 << 20)).open().unwrap();
    let query = "common";
    let over = AtomicU64::new(0);
    let (index, over) = (&index, &over);
    let taken = thread::scope(|scope| {
        let listener = scope.spawn(move || {
            let mut reader = index.reader().unwrap();
            let mut taken: Vec<(String, u64, String)> = Vec::new();
            let mut chance = Chance::new(7);
            loop {
                let ends = over.load(Relaxed) == 2;
                let place = taken.last().map_or("0".to_owned(), |(.., place)| place.clone());
                // The first document is no match, so that the place before all of them has a number.
                let mut tail = index.tail(query, Tailing::default().since(place)).unwrap();
                for _ in 0..1 + chance.below(8) {
                    if tail.wait(Duration::from_millis(2)) {
                        let most = 1 + chance.below(300) as usize;
                        let hits = tail.take(&mut reader, most).unwrap();
                        let of = |(hit, place): (spirit::Hit<'_>, String)| {
                            (hit.key().unwrap().to_string(), hit.sequence().unwrap(), place)
                        };
                        taken.extend(hits.iter().zip(tail.places()).map(of));
                    }
                }
                if ends {
                    let mut expected = found(&mut reader, query);
                    taken.iter().for_each(|(key, sequence, _)| {
                        expected.remove(&(key.clone(), *sequence));
                    });
                    taken.extend(take_all(&mut tail, &mut reader, expected));
                    assert_over([&tail]);
                    return taken;
                }
            }
        });
        index.add("the first").unwrap();
        for seed in 0..2 {
            scope.spawn(move || {
                let mut chance = Chance::new(seed);
                for n in 0..6_000 {
                    add(index, &mut chance);
                    if n % 500 == 0 {
                        thread::sleep(Duration::from_millis(3));
                    }
                }
                over.fetch_add(1, Relaxed);
            });
        }
        listener.join().unwrap()
    });
    let mut reader = index.reader().unwrap();
    assert_is_what_a_search_finds(&mut reader, query, &taken, executors);
}

#[test]
fn places_of_one_executor_have_no_gap() {
    places_have_no_gap(1);
}

#[test]
fn places_of_three_executors_have_no_gap() {
    places_have_no_gap(3);
}

/// A query whose terms the segment that is being filled has already.
#[test]
fn a_query_that_comes_late_finds_what_comes_later() {
    let index = fields(tiny(1, 64 << 20)).open().unwrap();
    let mut reader = index.reader().unwrap();
    let mut first = index.tail("w1", Tailing::default()).unwrap();
    index.add("w1 w2 w3").unwrap();
    assert!(first.wait(LONG));
    assert_eq!(first.take(&mut reader, 10).unwrap().len(), 1);
    for (number, query) in ["w2", "w3 AND w1"].into_iter().enumerate() {
        let mut late = index.tail(query, Tailing::default()).unwrap();
        index.add("w1 w2 w3").unwrap();
        assert!(late.wait(LONG), "{query}");
        assert_eq!(late.take(&mut reader, 10).unwrap().keys().unwrap(), [(number + 1).to_string()]);
    }
}

/// Updates and deletes: the last state of each document that still lives is reported, behind its others.
#[test]
fn the_last_state_of_each_document_comes() {
    let index = tiny(1, 64 << 20).open().unwrap();
    let mut reader = index.reader().unwrap();
    let mut tail = index.tail("state", Tailing::default()).unwrap();
    let mut chance = Chance::new(3);
    for n in 0..20_000 {
        let key = format!("k{}", chance.below(300));
        match chance.below(10) {
            0 => _ = index.delete(&key).unwrap(),
            _ => index.put(&key, &format!("state {n}")).unwrap(),
        }
    }
    let mut last = std::collections::BTreeMap::new();
    let expected = found(&mut reader, "state");
    for (key, sequence, _) in take_all(&mut tail, &mut reader, expected) {
        assert!(last.insert(key, sequence).is_none_or(|before| before < sequence));
    }
    assert_over([&tail]);
    let hits = reader.search("state", Search::newest(1_000)).unwrap();
    for hit in &hits {
        assert_eq!(last.get(&*hit.key().unwrap()), Some(&hit.sequence().unwrap()));
    }
}

/// What is dropped before it is taken is left out, and counted.
#[test]
fn what_was_dropped_is_counted() {
    let index = tiny(1, 1 << 20).on_full(OnFull::DropOldest).open().unwrap();
    let mut reader = index.reader().unwrap();
    let mut tail = index.tail("common", Tailing::default().capacity(10)).unwrap();
    let mut late = index.tail("common", Tailing::default().since("0")).unwrap();
    let mut chance = Chance::new(1);
    for n in 0..200_000 {
        index.add(&format!("common {n} {}", text(&mut chance))).unwrap();
    }
    let left = reader.count("*").unwrap();
    // The place 0 is behind the first document.
    for (tail, all) in [(&mut tail, 200_000), (&mut late, 199_999)] {
        let (mut taken, mut last) = (0, 0);
        // The newest document is there in any case.
        while last + 1 < 200_000 && tail.wait(LONG) {
            let hits = tail.take(&mut reader, 10_000).unwrap();
            taken += hits.len() as u64;
            last = hits.iter().last().map_or(last, |hit| hit.sequence().unwrap());
        }
        assert_eq!(taken + tail.missed(), all, "{taken} of {left}");
        assert!(taken < 200_000 / 2 && taken + 2_000 > left, "{taken} of {left}");
    }
}

/// So is what is dropped before anyone has looked at it.
#[test]
fn what_nobody_looked_at_is_counted() {
    const ALL: u64 = 100_000;
    let index = tiny(1, 1 << 20).on_full(OnFull::DropOldest).open().unwrap();
    let mut reader = index.reader().unwrap();
    let (rung, heard) = std::sync::mpsc::sync_channel(0);
    // Who rings is the thread that looks, and it rings twice here: it is held up in between.
    let ring = move || {
        // Nobody hears it any more in the end.
        let _ = rung.send(()).and_then(|()| rung.send(()));
    };
    let mut tail = index.tail("common", Tailing::default().bell(ring)).unwrap();
    let mut other = index.tail("common", Tailing::default()).unwrap();
    index.add("common").unwrap();
    heard.recv().unwrap();
    let mut chance = Chance::new(1);
    for n in 1..ALL {
        index.add(&format!("common {n} {}", text(&mut chance))).unwrap();
    }
    heard.recv().unwrap();
    drop(heard);
    for tail in [&mut tail, &mut other] {
        let (mut taken, mut last) = (0, 0);
        while last + 1 < ALL && tail.wait(LONG) {
            let hits = tail.take(&mut reader, 10_000).unwrap();
            taken += hits.len() as u64;
            last = hits.iter().last().map_or(last, |hit| hit.sequence().unwrap());
        }
        assert_eq!(taken + tail.missed(), ALL, "{taken} of {}", reader.count("*").unwrap());
    }
}

#[test]
fn a_bell_rings_once_until_all_is_taken() {
    let index = Index::builder().dram_bytes(64 << 20).open().unwrap();
    let mut reader = index.reader().unwrap();
    let rings = Arc::new(AtomicU64::new(0));
    let bell = rings.clone();
    let how = Tailing::default().bell(move || _ = bell.fetch_add(1, Relaxed));
    let mut tail = index.tail("heron", how).unwrap();
    for round in 1..=3 {
        for _ in 0..5 {
            index.add("a heron").unwrap();
        }
        index.add("a gull").unwrap();
        let mut taken = 0;
        while taken < 5 {
            assert!(tail.wait(LONG));
            taken += tail.take(&mut reader, 2).unwrap().len();
        }
        // It rings behind the match, so a listener that looks may be faster.
        let end = Instant::now() + LONG;
        while rings.load(Relaxed) < round {
            assert!(Instant::now() < end, "it does not ring");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(rings.load(Relaxed) <= round * 5);
        assert!(!tail.wait(Duration::from_millis(5)));
    }
}

/// A listener that looks only when it is rung, as a server's are: with a queue of any size it gets all.
#[test]
fn who_waits_for_the_bell_misses_nothing() {
    for capacity in [1, 5, 1_000] {
        let index = tiny(1, 64 << 20).open().unwrap();
        let mut reader = index.reader().unwrap();
        let (ring, rung) = std::sync::mpsc::channel();
        let how = Tailing::default().capacity(capacity).since("start");
        index.add("common, before").unwrap();
        let how = how.bell(move || _ = ring.send(()));
        let mut tail = index.tail("common", how).unwrap();
        let taken = thread::scope(|scope| {
            let (index, tail, reader) = (&index, &mut tail, &mut reader);
            scope.spawn(move || {
                (1..5_000).for_each(|n| _ = index.add(&format!("common {n}")).unwrap())
            });
            let mut taken = 0;
            while taken < 5_000 {
                while tail.has_more() {
                    taken += tail.take(reader, 7).unwrap().len();
                }
                if taken < 5_000 {
                    rung.recv_timeout(LONG).expect("a ring");
                }
            }
            taken
        });
        assert_eq!((taken, tail.has_more(), tail.missed()), (5_000, false, 0), "{capacity}");
    }
}

#[test]
fn wrong_queries_places_and_readers_are_refused() {
    let index = Index::in_memory().unwrap();
    let other = Index::in_memory().unwrap();
    assert!(matches!(index.tail("nobody:x", Tailing::default()), Err(SearchError::Parse(_))));
    for place in ["", "x", "1.2", "-1", "18446744073709551615", "1.x"] {
        let refused = index.tail("a", Tailing::default().since(place));
        assert!(matches!(refused, Err(SearchError::Place { text }) if text == place), "{place}");
    }
    let mut tail = index.tail("a", Tailing::default()).unwrap();
    let mut reader = other.reader().unwrap();
    assert!(matches!(tail.take(&mut reader, 1), Err(SearchError::OtherIndex)));
}

#[test]
fn a_closed_index_ends_its_tails() {
    let index = Index::builder().analyzer(Analyzer::Simple).open().unwrap();
    let mut reader = index.reader().unwrap();
    let mut tail = index.tail("a", Tailing::default()).unwrap();
    let started = Arc::new(Barrier::new(2));
    let closer = thread::spawn({
        let started = started.clone();
        move || {
            started.wait();
            index.close().unwrap();
        }
    });
    started.wait();
    assert!(tail.wait(LONG), "nothing says that the index is closed");
    assert!(matches!(tail.take(&mut reader, 1), Err(SearchError::Closed)));
    closer.join().unwrap();
}

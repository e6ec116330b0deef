//! An update stream on a heap that holds a fraction of it: dead versions must give their space back, living
//! documents must all stay, and every answer must be the naive index's.

use spirit::{Analyzer, Clause, Index, OnFull, Search};
use spirit_oracle::Oracle;

const KEYS: usize = 60;
const KEPT: usize = 300;

fn words(seed: usize) -> String {
    (0..8).map(|i| format!("w{} ", (seed * 31 + i * i * 7) % 97)).collect()
}

#[test]
fn dead_versions_give_their_space_back() {
    run(false);
}

#[test]
fn dead_versions_give_the_space_of_their_texts_back() {
    run(true);
}

fn run(store: bool) {
    let options = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10).store(store);
    let index = options.analyzer(Analyzer::Simple).on_full(OnFull::Wait).open().unwrap();
    let mut oracle = Oracle::default();
    let mut put = |key: String, text: String| {
        index.put(&key, &text).unwrap();
        oracle.add(Some(&key), &text);
        if oracle.added() % 20_000 == 0 {
            compare(&index, &oracle);
        }
    };
    for n in 0..KEPT {
        put(format!("kept-for-ever-{n}"), format!("{} kept kept{n}", words(n)));
    }
    for n in 0..120_000 {
        put(format!("k{}", n % KEYS), format!("{} version", words(n)));
    }
    let stats = index.stats().unwrap();
    assert!(stats.rewritten_segments > 10, "{} rewrites", stats.rewritten_segments);
    assert_eq!(stats.dropped_segments, 0);
    assert_eq!(stats.documents, (KEPT + KEYS) as u64);
    compare(&index, &oracle);
}

#[test]
fn words_that_died_leave_room_for_others() {
    let options = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10);
    let index = options.analyzer(Analyzer::Simple).on_full(OnFull::Wait).open().unwrap();
    for number in 0..60_000 {
        // Each word is new, so the dictionary is full long before anything else is.
        index.put(&format!("k{}", number % KEYS), &format!("version fresh{number}")).unwrap();
    }
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("version").unwrap(), KEYS as u64);
    assert_eq!(reader.count("fresh59999").unwrap(), 1);
    assert_eq!(reader.count("fresh17").unwrap(), 0);
    assert!(index.stats().unwrap().rewritten_segments > 10);
}

fn compare(index: &spirit::Index, oracle: &Oracle) {
    let mut reader = index.reader().unwrap();
    let word = Clause::term;
    let asked = [
        word("version"),
        word("kept"),
        word("kept17"),
        word("w3"),
        Clause::all([word("w3"), word("w10")]),
        Clause::all([word("kept"), word("w10")]),
        Clause::any([word("w1"), word("kept200")]),
        word("w5").and_not(word("version")),
        Clause::key("k7"),
        Clause::key("kept-for-ever-7"),
        Clause::Everything,
    ];
    for asked in asked {
        let expected = oracle.search(&asked);
        let query = format!("{asked:#}");
        let found = reader.search(&query, Search::newest(10_000)).unwrap().keys().unwrap();
        assert_eq!(found, expected, "{query}");
        if index.settings().store {
            let texts = reader.search(&query, Search::newest(10_000)).unwrap().texts().unwrap();
            assert!(oracle.matches(&asked).map(|d| &d.text).eq(&texts), "texts of {query}");
        }
        assert_eq!(reader.count(&query).unwrap(), expected.len() as u64, "count of {query}");
    }
}

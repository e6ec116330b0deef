//! An index whose dictionary is many times what DRAM has room for: nothing is lost for that, and every query finds the same
//! as with room for all, while documents come in, afterwards, and after a start.

use spirit::lab::{DictionaryTier, Postings};
use spirit::{Analyzer, Builder, Index, OnFull, Search};

use crate::support::directory::Directory;

const DOCUMENTS: u64 = 40_000;

fn open(directory: &Directory, dram_bytes: u64, dictionary: DictionaryTier) -> Index {
    options(directory, dram_bytes, dictionary).open().unwrap()
}

fn options(directory: &Directory, dram_bytes: u64, dictionary: DictionaryTier) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(dram_bytes)
        .nvm_bytes(64 << 20)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
        .dictionary(dictionary)
}

fn text(number: u64) -> String {
    format!("all unique{number} seven{} many{} few{}", number % 7, number % 1009, number / 1000)
}

/// How many numbers below `added` there are that `keep` keeps.
fn count(added: u64, keep: impl Fn(u64) -> bool) -> u64 {
    (0..added).filter(|number| keep(*number)).count() as u64
}

/// Every kind of query, over all segments.
fn check(index: &Index, added: u64) {
    let mut reader = index.reader().unwrap();
    let mut counted = |query: &str| reader.count(query).unwrap();
    assert_eq!(counted("all"), added);
    assert_eq!(counted("seven3"), count(added, |n| n % 7 == 3));
    assert_eq!(counted("seven3 AND many5"), count(added, |n| n % 7 == 3 && n % 1009 == 5));
    assert_eq!(counted("all AND seven3 AND few2"), count(added, |n| n % 7 == 3 && n / 1000 == 2));
    assert_eq!(counted("many5 OR many6"), count(added, |n| matches!(n % 1009, 5 | 6)));
    let not = count(added, |n| n / 1000 == 1 && n % 7 != 0);
    assert_eq!(counted("few1 AND NOT seven0"), not);
    assert_eq!(counted("NOT seven0"), count(added, |n| n % 7 != 0));
    assert_eq!(counted("nowhere"), 0);
    assert_eq!(counted("nowhere AND all"), 0);
    for number in (0..added).step_by(997).chain([added - 1]) {
        assert_eq!(counted(&format!("unique{number}")), 1, "{number}");
        assert_eq!(counted(&format!("unique{number} AND seven{}", number % 7)), 1, "{number}");
        assert_eq!(counted(&format!("unique{number} AND seven{}", (number + 1) % 7)), 0);
    }
    for query in ["many5", "all AND many5", "many5 OR nowhere"] {
        page(index, query, &(0..added).rev().filter(|n| n % 1009 == 5).collect::<Vec<_>>());
    }
}

/// All pages of a query hold these documents, in this order.
fn page(index: &Index, query: &str, numbers: &[u64]) {
    let mut reader = index.reader().unwrap();
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let mut search = Search::newest(7);
        if let Some(cursor) = cursor {
            search = search.after(cursor);
        }
        let hits = reader.search(query, search).unwrap();
        found.extend(hits.keys().unwrap());
        cursor = hits.cursor().unwrap();
        if cursor.is_none() {
            break;
        }
    }
    let wanted: Vec<_> = numbers.iter().map(u64::to_string).collect();
    assert_eq!(found, wanted, "{query}");
}

#[test]
fn a_dictionary_that_dram_has_no_room_for_is_read_where_it_lies() {
    is_read_where_it_lies([Postings::Raw; 4]);
}

#[test]
fn packed_terms_that_dram_has_no_room_for_are_read_where_they_lie() {
    is_read_where_it_lies([Postings::Packed; 4]);
}

#[test]
fn terms_of_both_forms_are_read_where_they_lie() {
    use Postings::{Packed, Raw};
    is_read_where_it_lies([Raw, Packed, Raw, Packed]);
}

/// `forms`: of each fourth of the documents.
fn is_read_where_it_lies(forms: [Postings; 4]) {
    for tier in [DictionaryTier::Dram, DictionaryTier::Nvm] {
        let directory = Directory::new();
        let begin = |form| options(&directory, 5 << 20, tier).postings(form).open().unwrap();
        let mut index = begin(forms[0]);
        for number in 0..DOCUMENTS {
            index.add(&text(number)).unwrap();
            if number % 10_000 == 9_999 {
                check(&index, number + 1);
            }
            let part = (number + 1) / (DOCUMENTS / 4);
            if index.settings().packed != (forms[part.min(3) as usize] == Postings::Packed) {
                index.close().unwrap();
                index = begin(forms[part as usize]);
            }
        }
        check(&index, DOCUMENTS);
        index.settle();
        check(&index, DOCUMENTS);
        assert!(covered(&index) < 0.7, "the test is of a dictionary that has no room");
        index.close().unwrap();
        // As it was, with the least DRAM that its tables take, and with room for all.
        for (dram_bytes, tier) in [
            (5 << 20, tier),
            (5 << 20, DictionaryTier::Dram),
            (64 << 20, DictionaryTier::Dram),
            (64 << 20, DictionaryTier::Nvm),
        ] {
            let index = open(&directory, dram_bytes, tier);
            check(&index, DOCUMENTS);
            index.settle();
            check(&index, DOCUMENTS);
            let has_room = dram_bytes == 64 << 20 && tier == DictionaryTier::Dram;
            assert_eq!(covered(&index) == 1.0, has_room);
            index.close().unwrap();
        }
    }
}

/// The part of the registered segments whose terms are in the DRAM dictionary.
fn covered(index: &Index) -> f64 {
    let segments = index.stats().unwrap().segments;
    let registered = segments.iter().filter(|s| s.state != "ingested");
    let covered = registered.clone().filter(|s| s.in_dictionary).count();
    covered as f64 / registered.count() as f64
}

#[test]
fn readers_find_all_while_entries_leave_dram() {
    let directory = Directory::new();
    let index = open(&directory, 5 << 20, DictionaryTier::Dram);
    let added = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = index.reader().unwrap();
                let mut last = 0;
                while last < DOCUMENTS {
                    let before = added.load(std::sync::atomic::Ordering::Acquire);
                    let found = reader.count("all").unwrap();
                    assert!(found >= before && found >= last, "{found} of {before}");
                    last = found;
                    if let Some(number) = before.checked_sub(1).map(|n| n / 2) {
                        let query = format!("unique{number} AND all");
                        assert_eq!(reader.count(&query).unwrap(), 1, "{query}");
                        let hits = reader.search(&query, Search::newest(2)).unwrap();
                        assert_eq!(hits.keys().unwrap(), [number.to_string()]);
                    }
                }
            });
        }
        for number in 0..DOCUMENTS {
            index.add(&text(number)).unwrap();
            added.store(number + 1, std::sync::atomic::Ordering::Release);
        }
    });
    check(&index, DOCUMENTS);
}

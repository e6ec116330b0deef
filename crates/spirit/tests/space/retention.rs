//! A stream many times the second tier: the newest documents stay, the oldest go, across closing and opening; where nothing may
//! be dropped, a full second tier refuses and goes on once there is room.

use spirit::lab::Postings;
use spirit::{Analyzer, Builder, Index, OnFull, Search, WriteError};

use crate::support::directory::Directory;

const NVM_BYTES: u64 = 1 << 20;

fn open(directory: &Directory, on_full: OnFull) -> Index {
    options(directory, on_full).open().unwrap()
}

fn options(directory: &Directory, on_full: OnFull) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(2 << 20)
        .nvm_bytes(NVM_BYTES)
        .log_bytes(64 << 10)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(on_full)
}

fn text(number: u64) -> String {
    format!("all w{} w{} unique{number}", number % 7, number % 1000)
}

/// The newest documents are there, whole; what is older than the oldest is gone.
fn check(index: &Index, added: u64) -> u64 {
    let mut reader = index.reader().unwrap();
    let held = reader.count("all").unwrap();
    assert!(held > 0 && held <= added);
    let numbers = added - held..added;
    for number in [numbers.start, numbers.start + held / 2, numbers.end - 1] {
        let hits = reader.search(&format!("unique{number}"), Search::newest(2)).unwrap();
        assert_eq!(hits.keys().unwrap(), [number.to_string()], "of {numbers:?}");
        drop(hits);
        let both = format!("w{} AND w{} AND unique{number}", number % 7, number % 1000);
        assert_eq!(reader.count(&both).unwrap(), 1);
        assert_eq!(reader.count(&format!("key:{number}")).unwrap(), 1);
    }
    if let Some(before) = numbers.start.checked_sub(1) {
        assert_eq!(reader.count(&format!("unique{before}")).unwrap(), 0);
        assert_eq!(reader.count(&format!("key:{before}")).unwrap(), 0);
    }
    let sevenths: u64 = (0..7).map(|n| reader.count(&format!("w{n}")).unwrap()).sum();
    // Words w0 to w6 are also the second word of one document in a thousand each.
    assert!(sevenths >= held && sevenths <= held + held / 100 + 14, "{sevenths} of {held}");
    held
}

#[test]
fn a_stream_many_times_the_second_tier_keeps_its_newest() {
    keeps_its_newest([Postings::Raw; 2]);
}

#[test]
fn a_packed_stream_keeps_its_newest() {
    keeps_its_newest([Postings::Packed; 2]);
}

#[test]
fn a_stream_of_both_forms_keeps_its_newest() {
    keeps_its_newest([Postings::Packed, Postings::Raw]);
}

/// `forms`: of segments after each start, in turn.
fn keeps_its_newest(forms: [Postings; 2]) {
    let directory = Directory::new();
    let begin = |round: usize| {
        let form = forms[round / 3 % 2];
        options(&directory, OnFull::DropOldest).postings(form).open().unwrap()
    };
    let mut index = begin(0);
    let mut held = Vec::new();
    let mut added = 0;
    for round in 0..12 {
        for _ in 0..10_000 {
            index.add(&text(added)).unwrap();
            added += 1;
        }
        // Until then the oldest may go while they are counted.
        index.settle();
        held.push(check(&index, added));
        if round % 3 == 2 {
            assert!(index.stats().unwrap().dropped_segments > 0);
            index.close().unwrap();
            index = begin(round + 1);
            // What the log had is engraved, for which the oldest may have to go.
            index.settle();
            check(&index, added);
            assert_eq!(index.accepted(), added);
        }
    }
    assert!(index.stats().unwrap().expired > 0);
    // Full after the first rounds, and no less at the end than then.
    let least = held[4..].iter().min().unwrap();
    assert!(forms[0] != forms[1] || *least * 2 > held[3], "documents held: {held:?}");
}

#[test]
fn where_nothing_may_be_dropped_a_full_second_tier_refuses() {
    for _ in 0..10 {
        refuses_and_goes_on_refusing();
    }
}

fn refuses_and_goes_on_refusing() {
    let directory = Directory::new();
    let index = open(&directory, OnFull::Refuse);
    let mut added = 0;
    let refused = loop {
        match index.add(&text(added)) {
            Ok(_) => added += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, WriteError::HeapFull);
    assert_eq!(check(&index, added), added);
    // Said when there is no room and none is to come: not while the stage is at work.
    for _ in 0..200 {
        assert_eq!(index.add(&text(added)), Err(WriteError::HeapFull), "and again");
    }
    drop(index);
    let index = open(&directory, OnFull::Refuse);
    assert_eq!(check(&index, added), added);
}

#[test]
fn replaced_documents_are_found_once_while_the_oldest_go() {
    let directory = Directory::new();
    let mut index = open(&directory, OnFull::DropOldest);
    for round in 0..40u64 {
        for key in 0..1000 {
            let key_name = format!("key_with_a_long_name_{key}");
            index.put(&key_name, &format!("all round{round} w{}", key % 50)).unwrap();
        }
        if round % 8 == 7 {
            index.close().unwrap();
            index = open(&directory, OnFull::DropOldest);
        }
        let mut reader = index.reader().unwrap();
        assert_eq!(reader.count(&format!("round{round}")).unwrap(), 1000);
        assert_eq!(reader.count("all").unwrap(), 1000, "round {round}");
        assert_eq!(reader.count("w7").unwrap(), 20);
        let key = format!("key:key_with_a_long_name_{}", round * 13 % 1000);
        assert_eq!(reader.count(&key).unwrap(), 1, "{key}");
    }
}

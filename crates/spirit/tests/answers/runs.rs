//! Segments that are merged as one: each term leads to its postings in all of them.

use std::collections::BTreeMap;

use spirit::lab::{DictionaryTier, EngravePolicy, PointerUpdate};
use spirit::{Analyzer, Index};
use spirit_index::ground::{FieldId, Term};

use crate::support::directory::Directory;
use crate::support::tiny;

const SEGMENTS: usize = 7;
const RUN: usize = 4;

/// Readers go by the merged dictionary as soon as there is one.
fn open(directory: &Directory) -> Index {
    tiny(1, 8 << 20)
        .directory(directory.path())
        .nvm_bytes(32 << 20)
        .log_bytes(1 << 20)
        .document_bytes_max(64 << 10)
        .dictionary(DictionaryTier::Nvm)
        .merge_after(RUN)
        .open()
        .unwrap()
}

/// Terms, short and long ones, that share the half of their hash that they are sorted by with another.
fn colliding() -> Vec<String> {
    let names = (0..300_000).map(|n| match n % 2 {
        0 => format!("w{n}"),
        _ => format!("longerthanarecordholds{n}"),
    });
    let mut by_hash = BTreeMap::<u32, Vec<String>>::new();
    for name in names {
        let hash = Term::new(FieldId(0), name.as_bytes()).unwrap().key.hash();
        by_hash.entry(hash as u32).or_default().push(name);
    }
    by_hash.into_values().filter(|same| same.len() > 1).flatten().collect()
}

/// Which segments have the term: each in its own way.
fn is_in(term: usize, segment: usize) -> bool {
    (term * 37 + 11) >> segment & 1 == 1
}

/// As many segments have each term as should.
fn check(index: &Index, terms: &[String], segments: usize) {
    let mut reader = index.reader().unwrap();
    for (number, term) in terms.iter().enumerate() {
        let expected = (0..segments).filter(|segment| is_in(number, *segment)).count() as u64;
        assert_eq!(reader.count(term).unwrap(), expected, "{term} of {segments} segments");
    }
    assert_eq!(reader.count("all").unwrap(), segments as u64);
}

#[test]
fn terms_of_equal_hashes_lead_to_their_own_postings() {
    let terms = colliding();
    assert!(terms.len() > 8, "{terms:?}");
    let directory = Directory::new();
    let index = open(&directory);
    for segment in 0..SEGMENTS {
        let here = terms.iter().enumerate().filter(|(number, _)| is_in(*number, segment));
        let text: String = here.map(|(_, term)| format!("{term} ")).collect();
        index.add(&format!("all {text}")).unwrap();
        index.flush().unwrap();
        index.settle();
        check(&index, &terms, segment + 1);
        let merged = if segment + 1 < RUN { 0 } else { RUN };
        assert_eq!(index.stats().unwrap().merged.0, merged as u64, "after {segment}");
    }
    index.close().unwrap();
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
    let index = open(&directory);
    check(&index, &terms, SEGMENTS);
    index.settle();
    assert_eq!(index.stats().unwrap().merged.0, 0, "the end of the last has merged the rest");
    check(&index, &terms, SEGMENTS);
}

/// A start merges what it finds, and queries read its own tables until then.
#[test]
fn what_had_not_come_together_is_merged_by_the_next_start() {
    let directory = Directory::new();
    let index = open(&directory);
    for segment in 0..RUN + 2 {
        index.add(&format!("all s{segment} t{}", segment % 2)).unwrap();
        index.flush().unwrap();
    }
    index.settle();
    assert_eq!(index.stats().unwrap().merged.0, RUN as u64);
    let killed = directory.killed();
    drop(index);
    let index = open(&killed);
    let count = |text: &str| index.reader().unwrap().count(text).unwrap();
    let counts = || ["all", "s0", "s5", "t1"].map(count);
    assert_eq!(counts(), [6, 1, 1, 3]);
    index.settle();
    assert_eq!(index.stats().unwrap().merged.0, 2);
    assert_eq!(counts(), [6, 1, 1, 3]);
}

/// The third run of three segments has no place in the dictionary. It is shortened to its first segment, which has one as soon as
/// what the run had entered is taken back.
#[test]
fn a_run_that_is_too_long_leaves_nothing_in_the_dictionary() {
    let directory = Directory::new();
    let options = Index::builder().dram_bytes(20 * (64 << 10)).segment_bytes(64 << 10);
    let options = options.nvm_bytes((32 << 10) + 5 * (64 << 10)).log_bytes(16 << 10);
    let options = options.directory(directory.path()).document_bytes_max(6 << 10);
    let options = options.engrave(EngravePolicy::Eager).pointer_update(PointerUpdate::Eager);
    // As in a file whose segments were engraved before there were too few lines.
    let options = options.keeps_raw(true);
    let index = options.merge_after(3).analyzer(Analyzer::Simple).open().unwrap();
    let words = |name: &str, count: usize| -> String {
        (0..count).map(|n| format!("{name}w{n} ")).collect()
    };
    let common = words("c", 50);
    for segment in 0..9 {
        index.add(&format!("{common} {}", words(&format!("n{segment}"), 60))).unwrap();
        index.flush().unwrap();
        index.settle();
    }
    let stats = index.stats().unwrap();
    assert_eq!(stats.merged.0, 7, "two runs, and of the third one segment");
    let dictionary = stats.partitions.iter().find(|part| part.name == "nvm dictionary").unwrap();
    assert!(dictionary.used + 60 * 64 < dictionary.bytes, "there is room again");
}

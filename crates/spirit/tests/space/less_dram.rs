//! An index is opened with less DRAM than it was made with, down to an eighth: fresh segments are smaller then, and nothing else
//! differs. Documents are replaced, deleted and found as before, by followers too, and over kills.

use std::collections::BTreeMap;
use std::path::Path;

use spirit::lab::Postings;
use spirit::{Batch, Builder, Index, OnFull, OpenError, Search, WriteError};

use crate::support::Chance;
use crate::support::directory::Directory;
use crate::support::following::follow;

const SEGMENT_BYTES: u64 = 512 << 10;
/// What segments of that size need, and more.
const DRAM_BYTES: u64 = 16 << 20;
const KEYS: u64 = 3000;

/// How an index is made.
#[derive(Clone, Copy, Debug)]
struct Made {
    executors: usize,
    store: bool,
    postings: Postings,
}

impl Made {
    fn options(self, directory: &Path) -> Builder {
        Index::builder()
            .directory(directory)
            .executors(self.executors)
            .dram_bytes(self.executors as u64 * DRAM_BYTES)
            .segment_bytes(SEGMENT_BYTES)
            .nvm_bytes(self.executors as u64 * (64 << 20))
            .store(self.store)
            .postings(self.postings)
            .on_full(OnFull::Refuse)
    }

    /// The least DRAM that an error names for the index in `directory`.
    fn least(self, directory: &Path) -> u64 {
        match self.options(directory).dram_bytes(1 << 20).open() {
            Err(OpenError::DramTooSmall { dram_bytes_min, .. }) => dram_bytes_min,
            other => panic!("{:?}", other.err()),
        }
    }
}

/// What the index holds: each key's version, and documents without one.
#[derive(Default)]
struct Model {
    versions: BTreeMap<u64, u64>,
    unkeyed: u64,
}

impl Model {
    /// Does some operations, to `index` too.
    fn change(&mut self, index: &Index, operations: u64, chance: &mut Chance) {
        for _ in 0..operations {
            let key = chance.below(KEYS);
            match chance.below(10) {
                0 => {
                    index.delete(&format!("k{key}")).unwrap();
                    self.versions.remove(&key);
                }
                1 => {
                    index.add(&format!("all w{} unkeyed", chance.below(500))).unwrap();
                    self.unkeyed += 1;
                }
                _ => {
                    let version = self.versions.get(&key).map_or(0, |version| version + 1);
                    let text =
                        format!("all of{key} v{version} w{} w{}", key % 500, chance.below(500));
                    index.put(&format!("k{key}"), &text).unwrap();
                    self.versions.insert(key, version);
                }
            }
        }
    }

    #[track_caller]
    fn check(&self, index: &Index) {
        let mut reader = index.reader().unwrap();
        let all = self.versions.len() as u64 + self.unkeyed;
        for query in ["*", "all"] {
            assert_eq!(reader.count(query).unwrap(), all, "{query}");
        }
        assert_eq!(reader.count("unkeyed").unwrap(), self.unkeyed);
        for key in (0..KEYS).step_by(7) {
            let query = format!("+of{key} +v{}", self.versions.get(&key).copied().unwrap_or(0));
            let hits = reader.search(&query, Search::newest(10)).unwrap();
            let is_there = self.versions.contains_key(&key);
            let expected: Vec<String> = is_there.then(|| format!("k{key}")).into_iter().collect();
            assert_eq!(hits.keys().unwrap(), expected, "{query}");
            drop(hits);
            assert_eq!(reader.count(&format!("of{key}")).unwrap(), u64::from(is_there));
        }
    }
}

fn check_sound(directory: &Path) {
    let checked = Index::check(directory).unwrap();
    assert!(checked.is_sound(), "{checked:?}");
}

#[test]
fn nothing_is_lost_with_less_dram_and_documents_come_in_as_before() {
    let kinds = [
        Made { executors: 1, store: false, postings: Postings::Raw },
        Made { executors: 2, store: true, postings: Postings::Packed },
    ];
    for made in kinds {
        let (mut directory, mut model) = (Directory::new(), Model::default());
        let chance = &mut Chance::new(made.executors as u64);
        let index = made.options(directory.path()).open().unwrap();
        model.change(&index, 30_000, chance);
        index.close().unwrap();
        let least = made.least(directory.path());
        assert!(least * 6 < made.executors as u64 * DRAM_BYTES, "{least} bytes");
        for (number, dram_bytes) in [least * 4, least * 2, least, least * 3].into_iter().enumerate()
        {
            let options = made.options(directory.path()).dram_bytes(dram_bytes);
            let index = options.clone().open().unwrap();
            model.check(&index);
            let follower = follow(directory.path());
            model.change(&index, 20_000, chance);
            model.check(&index);
            model.check(&follower);
            drop(follower);
            // Every second time it is killed.
            if number % 2 == 0 {
                index.close().unwrap();
            } else {
                let killed = directory.killed();
                drop(index);
                directory = killed;
            }
        }
        model.check(&follow(directory.path()));
        let index = made.options(directory.path()).open().unwrap();
        model.change(&index, 20_000, chance);
        model.check(&index);
        index.close().unwrap();
        check_sound(directory.path());
    }
}

/// With less DRAM a document may be too large for a fresh segment. One that the log has was acknowledged, and is not lost.
#[test]
fn a_large_document_of_the_log_takes_the_dram_that_it_needs() {
    let made = Made { executors: 1, store: false, postings: Postings::Raw };
    let directory = Directory::new();
    let index = made.options(directory.path()).open().unwrap();
    let large: Vec<String> = (0..2500).map(|number| format!("x{number}")).collect();
    let large = large.join(" ");
    index.put("large", &large).unwrap();
    let killed = directory.killed();
    drop(index);

    let least = made.least(killed.path());
    let options = made.options(killed.path()).dram_bytes(least);
    let index = options.clone().open().unwrap();
    let beyond = index.start_report().dram_beyond;
    assert_eq!(beyond, index.stats().unwrap().dram_bytes - least);
    assert!(beyond > 0);
    let found = |index: &Index| index.reader().unwrap().count("x7 AND key:large").unwrap();
    assert_eq!(found(&index), 1);
    // It leaves the log.
    index.flush().unwrap();
    index.settle();
    index.close().unwrap();

    let index = options.open().unwrap();
    assert_eq!(index.start_report().dram_beyond, 0);
    let refused = index.put("large", &large);
    assert!(matches!(refused, Err(WriteError::DocumentTooLarge { .. })), "{refused:?}");
    index.put("small", "x7").unwrap();
    assert_eq!(found(&index), 1);
    assert_eq!(index.reader().unwrap().count("x7").unwrap(), 2);
    index.close().unwrap();
    check_sound(killed.path());
}

/// The documents of a group come back together, though they do not fit into one of the smaller segments.
#[test]
fn a_large_group_of_the_log_comes_back_whole() {
    for executors in [1, 3] {
        let made = Made { executors, store: true, postings: Postings::Packed };
        let directory = Directory::new();
        let index = made.options(directory.path()).open().unwrap();
        let texts: Vec<String> = (0..1200).map(|n| format!("all t{n}")).collect();
        let documents = texts.iter().map(|text| (None, text.as_str()));
        index.write(Batch::from_iter(documents).offset(b"here")).unwrap();
        let killed = directory.killed();
        drop(index);
        let least = made.least(killed.path());
        let index = made.options(killed.path()).dram_bytes(least).open().unwrap();
        assert_eq!(index.reader().unwrap().count("all").unwrap(), 1200);
        assert_eq!(index.offset().unwrap().as_deref(), Some(&b"here"[..]));
        index.close().unwrap();
        check_sound(killed.path());
    }
}

/// Far more terms than the DRAM dictionary takes: each start brings more, and the second tier takes them.
#[test]
fn new_terms_come_in_after_each_start_however_many_are_merged() {
    const TERMS: u64 = 60_000;
    let made = Made { executors: 1, store: false, postings: Postings::Raw };
    let directory = Directory::new();
    let options = made.options(directory.path()).nvm_bytes(256 << 20);
    drop(options.clone().open().unwrap());
    let least = made.least(directory.path());
    let mut end = 0;
    for dram_bytes in [DRAM_BYTES, least * 2, least, least * 3 / 2, least] {
        let index = options.clone().dram_bytes(dram_bytes).open().unwrap();
        for term in end..end + TERMS {
            let added = index.add(&format!("all t{term}"));
            assert!(added.is_ok(), "{added:?} at {term} with {dram_bytes}");
        }
        end += TERMS;
        let mut reader = index.reader().unwrap();
        assert_eq!(reader.count("all").unwrap(), end);
        for term in (0..end).step_by(997) {
            assert_eq!(reader.count(&format!("t{term}")).unwrap(), 1, "{term}");
        }
        drop(reader);
        index.close().unwrap();
    }
    check_sound(directory.path());
}

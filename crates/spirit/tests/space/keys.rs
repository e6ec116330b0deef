//! An index with many times the keys that its key table in DRAM has room for: each key has one document, while keys come,
//! are replaced and deleted, for readers of this and of another process, and after starts with more or less DRAM.

use std::collections::HashMap;

use spirit::lab::Postings;
use spirit::{Analyzer, Builder, Index, OnFull, Search};

use crate::support::Chance;
use crate::support::directory::Directory;
use crate::support::following::{follow, wait_until};

/// DRAM whose key table has room for some 36,000 keys.
const DRAM: u64 = 5 << 20;
const KEYS: u64 = 60_000;

fn options(directory: &Directory, dram_bytes: u64, executors: usize) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(dram_bytes)
        .nvm_bytes((64 << 20) * executors as u64)
        .executors(executors)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
}

/// The version that each key's document has.
#[derive(Default)]
struct Model(HashMap<u64, u64>);

impl Model {
    fn put(&mut self, index: &Index, key: u64, version: u64) {
        let text = format!("all v{version} of{}", key % 13);
        index.put(&format!("key-{key}"), &text).unwrap();
        self.0.insert(key, version);
    }

    fn delete(&mut self, index: &Index, key: u64) {
        let was_there = self.0.remove(&key).is_some();
        assert_eq!(index.delete(&format!("key-{key}")).unwrap(), was_there, "{key}");
    }

    /// Puts and deletes random keys.
    fn change(&mut self, index: &Index, chance: &mut Chance, operations: u64, version: u64) {
        for _ in 0..operations {
            let key = chance.below(KEYS * 11 / 10);
            match chance.below(4) {
                0 => self.delete(index, key),
                _ => self.put(index, key, version),
            }
        }
    }

    fn check(&self, index: &Index, chance: &mut Chance) {
        let mut reader = index.reader().unwrap();
        assert_eq!(reader.count("all").unwrap(), self.0.len() as u64);
        for _ in 0..300 {
            let key = chance.below(KEYS * 11 / 10);
            let found = |reader: &mut spirit::Reader, query: &str| reader.count(query);
            let version = self.0.get(&key);
            let expected = u64::from(version.is_some());
            assert_eq!(found(&mut reader, &format!("key:key-{key}")).unwrap(), expected, "{key}");
            if let Some(version) = version {
                let query = format!("key:key-{key} AND v{version}");
                assert_eq!(found(&mut reader, &query).unwrap(), 1, "{key} {version}");
            }
        }
    }
}

fn run(executors: usize, postings: Postings) {
    let directory = Directory::new();
    let dram = DRAM * executors as u64;
    let index = options(&directory, dram, executors).postings(postings).open().unwrap();
    let (mut model, mut chance) = (Model::default(), Chance::new(executors as u64));
    for key in 0..KEYS {
        model.put(&index, key, 0);
    }
    let follower = follow(directory.path());
    model.check(&index, &mut chance);
    model.check(&follower, &mut chance);
    for round in 1..6 {
        model.change(&index, &mut chance, 2000, round);
        model.check(&index, &mut chance);
        model.check(&follower, &mut chance);
    }
    drop(index);
    model.check(&follower, &mut chance);
    // Killed, as it were; then closed, and opened with more and with less.
    for dram in [dram, dram * 16, dram] {
        let index = options(&directory, dram, executors).open().unwrap();
        // The start estimates how many died; that is put right whether or not keys have room.
        let living = model.0.len() as u64;
        wait_until(|| index.stats().unwrap().documents == living);
        model.check(&index, &mut chance);
        model.change(&index, &mut chance, 3000, dram);
        model.check(&index, &mut chance);
        model.check(&follower, &mut chance);
        index.close().unwrap();
    }
    let alone = follow(directory.path());
    model.check(&alone, &mut chance);
}

#[test]
fn keys_are_bounded_by_the_second_tier_alone() {
    run(1, Postings::Raw);
}

#[test]
fn so_are_those_of_several_executors_and_packed_segments() {
    run(2, Postings::Packed);
}

/// Every key twice, and the versions of the second round are found after a start, newest first.
#[test]
fn newest_first_finds_one_document_a_key() {
    const FIRST: usize = 10_000;
    const ROOMY: u64 = 8 << 20;
    let directory = Directory::new();
    let index = options(&directory, ROOMY, 1).nvm_bytes(256 << 20).open().unwrap();
    for key in 0..2 * KEYS {
        index.put(&format!("{}", key % KEYS), "all").unwrap();
    }
    index.close().unwrap();
    let index = options(&directory, ROOMY, 1).open().unwrap();
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), KEYS);
    let hits = reader.search("all", Search::newest(FIRST)).unwrap();
    let keys = hits.keys().unwrap();
    let keys: Vec<u64> = keys.iter().map(|key| key.parse().unwrap()).collect();
    assert!(keys.iter().copied().eq((KEYS - FIRST as u64..KEYS).rev()));
}

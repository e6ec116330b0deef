//! Salvage brings back the whole parts of a damaged index, lists the rest, and invents nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use spirit::backup::Report;
use spirit::error::BackupError;
use spirit::lab::Postings;
use spirit::{Analyzer, Batch, Builder, Document, Index, OnFull, OpenError, Search};

use crate::damage::atlas::{Atlas, Promise};
use crate::damage::flips::flips;
use crate::damage::image::Image;
use crate::damage::sample;
use crate::support::directory::Directory;
use crate::support::{Chance, size_of_run};

/// Where the salvaged index is to be.
fn target(base: &Directory) -> PathBuf {
    let out = base.path().join("salvaged");
    let _ = fs::remove_dir_all(&out);
    out
}

fn salvage(directory: &Path, base: &Directory) -> (Report, PathBuf) {
    let out = target(base);
    let salvaged = Index::salvage(directory, &out, |_| {}).unwrap();
    assert!(!base.path().join("salvaged.salvage").exists());
    let report = Index::check(&out).unwrap();
    assert!(report.is_sound() && report.closed, "{report}");
    (salvaged, out)
}

/// Opens a sample, or what was salvaged of it.
fn open(folder: &Path) -> Index {
    let directory = Directory::new();
    sample::options(&directory).directory(folder).open().unwrap()
}

#[test]
fn an_index_without_damage_comes_back_whole() {
    let base = Directory::new();
    for directory in sample::all() {
        let before = fs::read(directory.path().join("heap")).unwrap();
        let (salvaged, out) = salvage(directory.path(), &base);
        assert_eq!((salvaged.findings, salvaged.doubt), (vec![], None));
        assert!(fs::read(directory.path().join("heap")).unwrap() == before);
        let answers = [&out, directory.path()].map(|folder| sample::answers(&open(folder)));
        assert_eq!(answers[0], answers[1]);
    }
}

type Texts = BTreeMap<String, Option<String>>;

/// True if all that is salvaged was there, and all that is not is said to be missing.
fn judge(what: &str, promise: Promise, before: &Texts, after: &Texts, salvaged: &Report) {
    let lost = before.keys().filter(|key| !after.contains_key(*key)).count() as u64;
    let counts: Option<Vec<u64>> = salvaged.findings.iter().map(|m| m.documents_max).collect();
    if let Some(counts) = counts {
        let said: u64 = counts.into_iter().sum();
        assert!(
            lost <= said || promise == Promise::Uncovered,
            "{what}: {lost} are missing, {said} are said to be: {:?}",
            salvaged.findings
        );
    }
    // Operations of the log that are lost may leave what they replaced or deleted.
    if what.starts_with("log") || promise == Promise::Uncovered {
        return;
    }
    for (key, text) in after {
        assert_eq!(Some(text), before.get(key), "{what}: {key}");
    }
}

/// Single bits of every kind of place. What is promised of each is said in the [atlas](crate::damage::atlas).
#[test]
fn whatever_bit_is_flipped_the_rest_comes_back() {
    let (each, base) = (size_of_run("SPIRIT_SALVAGE_FLIPS", 6), Directory::new());
    let (mut chance, mut made, mut lost) = (Chance::new(17), 0, 0);
    for directory in sample::all() {
        let image = Image::of(&directory);
        let before = {
            let copy = Image::of(&directory);
            sample::texts(&copy.open().unwrap())
        };
        for flip in flips(&Atlas::of(&image.bytes).places, each, &mut chance) {
            image.flip(flip);
            match Index::salvage(image.path(), target(&base), |_| {}) {
                Ok(salvaged) => {
                    let after = sample::texts(&open(&base.path().join("salvaged")));
                    judge(flip.what, flip.promise, &before, &after, &salvaged);
                    made += 1;
                    lost += u64::from(!salvaged.findings.is_empty());
                }
                // Without root or list of fields there is nothing to go by.
                Err(error) => {
                    let is_head =
                        flip.what.contains("root") || flip.what.contains("list of fields");
                    assert!(is_head, "{flip:x?}: {error}");
                }
            }
            image.undo(flip.at, 1);
        }
    }
    assert!(made > 100 && lost > made / 4, "{lost} of {made}");
}

fn logging(folder: &Path) -> Builder {
    let options = Index::builder().directory(folder).analyzer(Analyzer::Simple).store(true);
    let options = options.dram_bytes(24 << 20).segment_bytes(256 << 10).nvm_bytes(32 << 20);
    options.on_full(OnFull::Refuse)
}

fn keys(folder: &Path, options: Builder) -> Vec<String> {
    let index = options.directory(folder).open().unwrap();
    let mut reader = index.reader().unwrap();
    let mut keys = reader.search("*", Search::newest(10_000)).unwrap().keys().unwrap();
    keys.sort_unstable();
    keys
}

/// The records of the log, by their place in the file.
fn records(bytes: &[u8]) -> Vec<(usize, usize)> {
    let atlas = Atlas::of(bytes);
    atlas.log_records.iter().map(|record| (record.at as usize, record.bytes as usize)).collect()
}

/// It made all of the index unusable.
#[test]
fn one_damaged_record_of_the_log_costs_what_is_in_it_and_nothing_else() {
    let (directory, base) = (Directory::new(), Directory::new());
    let index = sample::options(&directory).open().unwrap();
    for number in 0..60 {
        let key = format!("k{number:02}");
        let document = Document::new().key(&key).text("all of it");
        index.add(document.field("n", number)).unwrap();
    }
    index.close().unwrap();
    let image = Image::of(&directory);
    let records = records(&image.bytes);
    assert_eq!(records.len(), 60);
    for damaged in [0, 1, 17, 58, 59] {
        let (at, bytes) = records[damaged];
        image.write(at as u64 + bytes as u64 / 2, &[0xA5; 4]);
        assert!(!image.check().unwrap().is_sound(), "{damaged}");
        // A start takes the last one for one that was not written whole.
        assert!(damaged == 59 || image.open().is_err(), "{damaged}");
        let (salvaged, out) = salvage(image.path(), &base);
        assert_eq!(salvaged.findings.len(), 1, "{:?}", salvaged.findings);
        let expected = (0..60).filter(|number| *number != damaged);
        let expected: Vec<_> = expected.map(|number| format!("k{number:02}")).collect();
        assert_eq!(keys(&out, sample::options(&directory)), expected);
        image.restore();
    }
    // A hole of several.
    let (from, to) = (records[20].0, records[30].0 + records[30].1);
    image.write(from as u64, &vec![0; to - from]);
    let (salvaged, out) = salvage(image.path(), &base);
    assert_eq!(salvaged.findings.len(), 1, "{:?}", salvaged.findings);
    assert!(salvaged.findings[0].documents_max.unwrap() >= 11);
    assert_eq!(keys(&out, sample::options(&directory)).len(), 49);
    // It goes on like any other.
    let index = open(&out);
    index.put("k25", "all again").unwrap();
    assert!(index.delete("k00").unwrap());
    index.close().unwrap();
    assert_eq!(keys(&out, sample::options(&directory)).len(), 49);
}

/// Each segment in turn.
#[test]
fn a_damaged_segment_costs_what_is_in_it_and_nothing_else() {
    for postings in [Postings::Raw, Postings::Packed] {
        let (directory, base) = (Directory::new(), Directory::new());
        let options = sample::options(&directory).postings(postings).nvm_bytes(2 << 20);
        let index = options.clone().open().unwrap();
        for segment in 0..4 {
            for number in 0..100 {
                let (key, text) = (format!("s{segment}n{number}"), format!("all s{segment}"));
                let document = Document::new().key(&key).text(&text);
                index.add(document.field("n", number)).unwrap();
            }
            // Replaces one of each segment before, and deletes one.
            for before in 0..segment {
                index.put(&format!("s{before}n{segment}"), "all replaced").unwrap();
                assert!(index.delete(&format!("s{before}n{}", 50 + segment)).unwrap());
            }
            index.flush().unwrap();
        }
        index.add("all in the log").unwrap();
        index.close().unwrap();
        let image = Image::of(&directory);
        let before = sample::texts(&Image::of(&directory).open().unwrap());
        for segment in Atlas::of(&image.bytes).segments {
            for (kind, at, bytes) in segment.sections {
                if bytes == 0 || matches!(kind, 14) {
                    continue;
                }
                image.write(at + bytes / 2 / 8 * 8, &[0xA5; 4]);
                let (salvaged, out) = salvage(image.path(), &base);
                assert!(salvaged.findings.len() <= 1, "section {kind}: {:?}", salvaged.findings);
                let after = sample::texts(&open(&out));
                judge("segment", Promise::Found, &before, &after, &salvaged);
                let lost = before.len() - after.len();
                assert!(lost <= 110, "section {kind}: {lost} of {}", before.len());
                image.restore();
            }
        }
    }
}

#[test]
fn several_executors_and_groups_come_back_without_what_is_damaged() {
    let (directory, base) = (Directory::new(), Directory::new());
    let options = logging(directory.path()).executors(3);
    let index = options.clone().open().unwrap();
    for group in 0..40u64 {
        let keys: Vec<_> = (0..6).map(|n| format!("g{group:02}n{n}")).collect();
        let documents = keys.iter().map(|key| (Some(key.as_str()), "all"));
        index.write(Batch::from_iter(documents).offset(&group.to_le_bytes())).unwrap();
    }
    index.close().unwrap();
    let heap = directory.path().join("heap");
    let whole = fs::read(&heap).unwrap();
    let (_, out) = salvage(directory.path(), &base);
    assert_eq!(keys(&out, options.clone()).len(), 240);
    let mut chance = Chance::new(5);
    let (mut damaged, mut lost) = (0, 0);
    while damaged < 20 {
        let at = chance.below(whole.len() as u64) as usize / 8 * 8;
        if whole[at..at + 8] == [0; 8] || at < 204800 {
            continue;
        }
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&heap, bytes).unwrap();
        let (salvaged, out) = salvage(directory.path(), &base);
        let there = keys(&out, options.clone()).len();
        assert!(there >= 200, "{there} after {at:#x}: {:?}", salvaged.findings);
        assert!(there == 240 || !salvaged.findings.is_empty());
        (damaged, lost) = (damaged + 1, lost + u64::from(there < 240));
    }
    assert!(lost > 0);
}

#[test]
fn what_is_in_use_and_what_is_there_is_not_touched() {
    let (directory, base) = (Directory::new(), Directory::new());
    let index = logging(directory.path()).open().unwrap();
    index.put("k", "all").unwrap();
    let refused = Index::salvage(directory.path(), target(&base), |_| {}).unwrap_err();
    let is_locked = matches!(&refused, BackupError::Index(OpenError::Locked { .. }));
    assert!(is_locked, "{refused}");
    index.close().unwrap();
    let before = fs::read(directory.path().join("heap")).unwrap();
    let refused = Index::salvage(directory.path(), directory.path(), |_| {}).unwrap_err();
    assert!(matches!(refused, BackupError::Exists { .. }), "{refused}");
    assert!(fs::read(directory.path().join("heap")).unwrap() == before);
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}

/// An index that would be refused even without damage is salvaged too, and the doubt is reported.
#[test]
fn a_copy_of_an_open_index_comes_back_with_a_doubt() {
    let (directory, base) = (Directory::new(), Directory::new());
    let index = logging(directory.path()).open().unwrap();
    (0..50).for_each(|number| index.put(&format!("k{number}"), "all").unwrap());
    let copy = base.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(directory.path().join("heap"), copy.join("heap")).unwrap();
    drop(index);
    assert!(matches!(logging(&copy).open(), Err(OpenError::Copied { .. })));
    let (salvaged, out) = salvage(&copy, &base);
    assert!(salvaged.doubt.is_some_and(|doubt| doubt.contains("a copy")));
    assert_eq!(salvaged.findings, []);
    assert_eq!(keys(&out, logging(&out)).len(), 50);
}

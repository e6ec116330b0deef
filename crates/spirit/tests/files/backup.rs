//! A backup of an index at rest is that index; one that was damaged or cut is refused, and so is what cannot be backed up.
//! What comes while an index changes is `live_backup`'s matter.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spirit::backup::Backup;
use spirit::error::BackupError;
use spirit::lab::{EngravePolicy, PointerUpdate, Postings};
use spirit::{Analyzer, Clause, Index, Mode, OnFull, Search};
use spirit_oracle::Oracle;

use crate::damage::sample;
use crate::support::directory::Directory;
use crate::support::fields::declared;
use crate::support::steps::{Step, apply, check, postings, step};
use crate::support::{Chance, size_of_run};

#[derive(Clone, Copy, Debug)]
struct Policy {
    mode: Mode,
    engrave: EngravePolicy,
    merge_after: usize,
    executors: usize,
    positions: bool,
    store: bool,
    nvm_bytes: u64,
    postings: Postings,
}

fn policy() -> impl Strategy<Value = Policy> {
    let mode = prop_oneof![4 => Just(Mode::Crash), 1 => Just(Mode::Graceful)];
    let engrave = prop_oneof![
        Just(EngravePolicy::Eager),
        Just(EngravePolicy::Lazy),
        Just(EngravePolicy::Opportunistic)
    ];
    let nvm_bytes = prop_oneof![Just(8u64 << 20), Just(16 << 20)];
    let engrave = (engrave, 1usize..6);
    (mode, engrave, 1usize..4, any::<bool>(), any::<bool>(), nvm_bytes, postings()).prop_map(
        |(mode, (engrave, merge_after), executors, positions, store, nvm_bytes, postings)| Policy {
            mode,
            engrave,
            merge_after,
            executors,
            positions,
            store,
            nvm_bytes,
            postings,
        },
    )
}

fn open(directory: &Directory, policy: Policy) -> Index {
    declared(Index::builder())
        .directory(directory.path())
        .mode(policy.mode)
        .engrave(policy.engrave)
        .merge_after(policy.merge_after)
        .pointer_update(PointerUpdate::Eager)
        .executors(policy.executors)
        .positions(policy.positions)
        .store(policy.store)
        .postings(policy.postings)
        .dram_bytes(policy.executors as u64 * (5 << 19))
        .nvm_bytes(policy.executors as u64 * policy.nvm_bytes)
        .log_bytes(512 << 10)
        .document_bytes_max(64 << 10)
        .segment_bytes(64 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
        .open()
        .unwrap()
}

fn file(directory: &Directory) -> PathBuf {
    directory.path().join("backup")
}

/// Restores a backup next to it.
fn restored(backup: &Path) -> Directory {
    let directory = Directory::new();
    let verified = Backup::at(backup).verify().unwrap();
    assert!(verified.is_sound(), "{verified}");
    let made = Backup::at(backup).restore(directory.path()).unwrap();
    assert_eq!(
        (verified.segments, verified.rows, verified.dead_rows, verified.log_operations),
        (made.segments, made.rows, made.dead_rows, made.log_operations),
    );
    directory
}

/// What is restored is what the oracle says, at once and after it went on.
fn is_restored(backup: &Path, policy: Policy, oracle: &Oracle, asked: &[Clause]) {
    let directory = restored(backup);
    let index = open(&directory, policy);
    check(&index, oracle, &Clause::Everything);
    asked.iter().for_each(|asked| check(&index, oracle, asked));
    assert_eq!(index.accepted(), oracle.accepted());
    let mut oracle = oracle.clone();
    let again = [
        Step::Put(3, "w1 w2 again".into(), Vec::new()),
        Step::Delete(5),
        Step::Fill(400),
        Step::Flush,
    ];
    again.iter().for_each(|step| apply(&index, &mut oracle, step));
    check(&index, &oracle, &Clause::term("again"));
    index.close().unwrap();
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
    let index = open(&directory, policy);
    check(&index, &oracle, &Clause::Everything);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(size_of_run("SPIRIT_BACKUP_CASES", 50) as u32))]

    #[test]
    fn what_is_restored_is_what_was_there(
        policy in policy(),
        steps in prop::collection::vec((step(), 0u8..16), 1..50),
    ) {
        let mut directory = Directory::new();
        let mut index = open(&directory, policy);
        let (mut oracle, mut asked) = (Oracle::default(), Vec::new());
        for (step, then) in &steps {
            match step {
                Step::Ask(question) => asked.push(question.clone()),
                step => apply(&index, &mut oracle, step),
            }
            let kept = Directory::new();
            match then {
                0 => {
                    index.close().unwrap();
                    let backup = Backup::at(file(&kept)).make(directory.path()).unwrap();
                    prop_assert!(!backup.in_use);
                    is_restored(&file(&kept), policy, &oracle, &asked);
                    index = open(&directory, policy);
                }
                // As it is, with the stage at work.
                1 | 2 if policy.mode == Mode::Crash => {
                    let backup = index.backup(file(&kept)).unwrap();
                    prop_assert!(backup.in_use);
                    prop_assert_eq!(file(&kept).metadata().unwrap().len(), backup.bytes);
                    is_restored(&file(&kept), policy, &oracle, &asked);
                }
                // Killed; and started, which is backed up before anything is added.
                3 if policy.mode == Mode::Crash && policy.engrave != EngravePolicy::Opportunistic => {
                    index.settle();
                    let killed = directory.killed();
                    drop(index);
                    Backup::at(file(&kept)).make(killed.path()).unwrap();
                    is_restored(&file(&kept), policy, &oracle, &asked);
                    directory = killed;
                    index = open(&directory, policy);
                    std::fs::remove_file(file(&kept)).unwrap();
                    index.backup(file(&kept)).unwrap();
                    is_restored(&file(&kept), policy, &oracle, &asked);
                }
                4 => {
                    // A backup of what was restored is one too.
                    index.close().unwrap();
                    Backup::at(file(&kept)).make(directory.path()).unwrap();
                    directory = restored(&file(&kept));
                    index = open(&directory, policy);
                }
                _ => {}
            }
        }
    }
}

/// The keys of all documents, newest first.
fn keys(directory: &Directory) -> Vec<String> {
    let index = sample::options(directory).open().unwrap();
    let mut reader = index.reader().unwrap();
    reader.search("*", Search::newest(10_000)).unwrap().keys().unwrap()
}

#[test]
fn merged_segments_are_restored_as_merged_ones() {
    let directory = sample::settled();
    let before = Index::check(directory.path()).unwrap();
    assert!(before.merged_terms > 0);
    let backup = Backup::at(file(&directory)).make(directory.path()).unwrap();
    let restored = restored(&file(&directory));
    let after = Index::check(restored.path()).unwrap();
    assert_eq!(
        (after.segments, after.rows, after.merged_terms, after.log_records),
        (before.segments, before.rows, before.merged_terms, before.log_records)
    );
    assert_eq!((backup.segments, backup.log_operations), (before.segments, before.log_operations));
    assert_eq!(keys(&restored), keys(&directory));
}

/// An empty index, and one whose documents have all gone.
#[test]
fn what_has_no_documents_is_restored_too() {
    let directory = Directory::new();
    sample::options(&directory).open().unwrap().close().unwrap();
    Backup::at(file(&directory)).make(directory.path()).unwrap();
    let restored = restored(&file(&directory));
    assert_eq!(keys(&restored), [""; 0]);
    let index = sample::options(&restored).open().unwrap();
    index.add("one").unwrap();
    assert_eq!(index.reader().unwrap().count("one").unwrap(), 1);
}

/// A backup in a file of its own.
fn sample_backup() -> (Directory, Vec<u8>) {
    let directory = sample::settled();
    Backup::at(file(&directory)).make(directory.path()).unwrap();
    let bytes = std::fs::read(file(&directory)).unwrap();
    (directory, bytes)
}

/// Verifying and restoring say that these bytes are no backup, and where; and leave nothing behind.
fn is_refused(place: &Directory, bytes: &[u8], what: &str) {
    let path = place.path().join("damaged");
    std::fs::write(&path, bytes).unwrap();
    let target = place.path().join("target");
    let verified = Backup::at(&path).verify().expect_err(what).to_string();
    let restored = Backup::at(&path).restore(&target).expect_err(what).to_string();
    assert_eq!(verified, restored);
    assert!(verified.starts_with(path.to_str().unwrap()), "{what}: {verified}");
    let said = ["at 0x", "not a backup", "version", "byte order"];
    assert!(said.iter().any(|words| verified.contains(words)), "{what}: {verified}");
    assert!(!target.exists(), "{what}");
}

#[test]
fn every_truncation_is_refused() {
    let (directory, bytes) = sample_backup();
    let mut chance = Chance::new(11);
    let sampled =
        (0..size_of_run("SPIRIT_BACKUP_CUTS", 300)).map(|_| chance.below(bytes.len() as u64));
    for len in (0..200).chain(sampled).chain([bytes.len() as u64 - 1]) {
        is_refused(&directory, &bytes[..len as usize], &format!("{len} bytes of it"));
    }
    is_refused(&directory, &[&bytes[..], &[0]].concat(), "one byte more");
    is_refused(&directory, &[&bytes[..], &bytes[..]].concat(), "the same again");
}

#[test]
fn every_flip_is_refused() {
    let (directory, bytes) = sample_backup();
    let mut chance = Chance::new(12);
    let sampled = (0..size_of_run("SPIRIT_BACKUP_FLIPS", 500))
        .map(|_| chance.below(bytes.len() as u64 * 8) as usize);
    for bit in (0..16 * 8).chain(sampled) {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        is_refused(&directory, &other, &format!("bit {bit}"));
    }
}

/// Whatever is damaged in an index: there is no backup of it, or one that has none of the damage.
#[test]
fn what_was_damaged_before_is_not_backed_up() {
    let directory = sample::settled();
    let heap = directory.path().join("heap");
    let bytes = std::fs::read(&heap).unwrap();
    let before = keys(&restored_of(&directory));
    let (mut chance, mut refused) = (Chance::new(13), 0);
    for _ in 0..size_of_run("SPIRIT_BACKUP_DAMAGE", 200) {
        let bit = chance.below(bytes.len() as u64 * 8) as usize;
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&heap, &other).unwrap();
        let found = Index::check(directory.path()).map_or(true, |report| !report.is_sound());
        match Backup::at(file(&directory)).make(directory.path()) {
            Ok(_) if found => assert_eq!(keys(&restored(&file(&directory))), before, "bit {bit}"),
            // Death stamps are covered by nothing.
            Ok(_) => {
                assert!(Backup::at(file(&directory)).verify().unwrap().is_sound(), "bit {bit}")
            }
            Err(error) => {
                assert!(found, "bit {bit}: {error}");
                refused += 1;
            }
        }
        assert!(!directory.path().join("backup.new").exists());
        let _ = std::fs::remove_file(file(&directory));
    }
    assert!(refused > 20, "only {refused} flips mattered");
}

fn restored_of(directory: &Directory) -> Directory {
    let kept = Directory::new();
    Backup::at(file(&kept)).make(directory.path()).unwrap();
    restored(&file(&kept))
}

#[test]
fn nothing_is_overwritten() {
    let (directory, bytes) = sample_backup();
    let error = Backup::at(file(&directory)).make(directory.path()).unwrap_err();
    assert!(matches!(error, BackupError::Exists { .. }), "{error}");
    let heap = std::fs::read(directory.path().join("heap")).unwrap();
    let error = Backup::at(file(&directory)).restore(directory.path()).unwrap_err();
    assert!(matches!(error, BackupError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read(file(&directory)).unwrap(), bytes);
    assert_eq!(std::fs::read(directory.path().join("heap")).unwrap(), heap);
}

#[test]
fn what_a_backup_that_was_cut_left_is_taken_away_and_one_under_way_is_not() {
    let directory = sample::settled();
    let new = directory.path().join("backup.new");
    std::fs::write(&new, "left behind").unwrap();
    let held = std::fs::File::open(&new).unwrap();
    held.lock().unwrap();
    let error = Backup::at(file(&directory)).make(directory.path()).unwrap_err();
    assert!(matches!(error, BackupError::Busy { .. }), "{error}");
    assert_eq!(std::fs::read(&new).unwrap(), b"left behind");
    drop(held);
    Backup::at(file(&directory)).make(directory.path()).unwrap();
    assert!(!new.exists());
    restored(&file(&directory));
}

#[test]
fn who_cannot_be_backed_up_says_why() {
    let kept = Directory::new();
    let error = sample::options(&kept).mode(Mode::Volatile).open().unwrap().backup(file(&kept));
    assert!(matches!(error, Err(BackupError::Volatile)));
    let directory = Directory::new();
    let graceful = sample::options(&directory).mode(Mode::Graceful).open().unwrap();
    graceful.add("in memory").unwrap();
    let error = graceful.backup(file(&kept)).unwrap_err();
    assert!(matches!(error, BackupError::Graceful { .. }), "{error}");
    let unclean = directory.killed();
    let error = Backup::at(file(&kept)).make(unclean.path()).unwrap_err();
    assert!(error.to_string().contains("was not closed in an orderly way"), "{error}");
    graceful.close().unwrap();
    Backup::at(file(&kept)).make(directory.path()).unwrap();
    assert_eq!(keys(&restored(&file(&kept))), ["0"]);
    let error = Backup::at(file(&directory)).make(kept.path()).unwrap_err();
    assert!(error.to_string().contains("heap"), "{error}");
    let error = Backup::at(directory.path().join("heap")).verify().unwrap_err();
    assert!(error.to_string().contains("not a backup"), "{error}");
}

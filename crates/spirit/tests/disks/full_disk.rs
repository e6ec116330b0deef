//! A disk that is full: an index that does not fit is not made and leaves nothing, and one whose space is taken by others
//! waits, refuses or drops, as its policy says, and goes on when there is space.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use spirit::settings::StartReport;
use spirit::{Builder, Index, OnFull, OpenError, Reader, WriteError};

use crate::support::comes_back;
use crate::support::disk::{Disk, not_measured};

const DISK_BYTES: u64 = 64 << 20;
const DRAM_BYTES: u64 = 4 << 20;
const NVM_BYTES: u64 = 32 << 20;

/// A disk of each kind that the machine can have.
fn disks(what: &str) -> Vec<Disk> {
    let disks = [Disk::new(DISK_BYTES), Disk::in_memory(DISK_BYTES)];
    let measured =
        |disk: Result<Disk, String>| disk.inspect_err(|why| not_measured(what, why)).ok();
    disks.into_iter().filter_map(measured).collect()
}

fn options(disk: &Disk, on_full: OnFull) -> Builder {
    Index::builder()
        .directory(disk.path().join("index"))
        .dram_bytes(DRAM_BYTES)
        .segment_bytes(64 << 10)
        .nvm_bytes(NVM_BYTES)
        .on_full(on_full)
}

/// Of few terms, so that DRAM has room for them, and of many postings.
fn document(number: u64) -> String {
    let words = (1..40).map(|factor| format!(" w{}", number * factor % WORDS));
    format!("all{}", words.collect::<String>())
}

const WORDS: u64 = 61;

/// Adds documents, the first of them with this number, until one is refused; gives its number.
fn add_until_full(index: &Index, mut number: u64) -> u64 {
    while index.add(&document(number)).is_ok() {
        number += 1;
        assert!(number < 1_000_000, "it is not full");
    }
    assert_eq!(index.add(&document(number)), Err(WriteError::HeapFull));
    number
}

#[track_caller]
fn check(index: &Index, documents: u64) {
    let mut reader = index.reader().unwrap();
    assert_eq!(reader.count("all").unwrap(), documents);
    check_each(&mut reader, 0..documents, documents);
}

/// Of the documents before `end` those of `numbers` are there, whole, and no others.
#[track_caller]
fn check_each(reader: &mut Reader, numbers: Range<u64>, end: u64) {
    for number in (0..end).step_by(97).chain([numbers.start, numbers.end - 1]) {
        let expected = u64::from(numbers.contains(&number));
        for factor in [1, 17, 39] {
            let query = format!("w{} AND key:{number}", number * factor % WORDS);
            assert_eq!(reader.count(&query).unwrap(), expected, "{query}");
        }
    }
    let with_word = numbers.filter(|number| (1..40).any(|f| number * f % WORDS == 3)).count();
    assert_eq!(reader.count("w3").unwrap(), with_word as u64);
}

#[test]
fn an_index_that_does_not_fit_is_not_made_and_leaves_nothing() {
    for disk in disks("an index larger than its disk") {
        let free = disk.free();
        let executors = 3;
        let options = options(&disk, OnFull::Refuse)
            .executors(executors)
            .dram_bytes(executors as u64 * (5 << 20))
            .nvm_bytes(2 * DISK_BYTES);
        let refused = options.clone().reserve_full(true).open().err();
        let Some(OpenError::File { path, reason, .. }) = &refused else { panic!("{refused:?}") };
        assert_eq!(*path, disk.path().join("index/heap.new"));
        assert_eq!(reason.kind(), std::io::ErrorKind::StorageFull);
        let left = std::fs::read_dir(disk.path().join("index")).unwrap().count();
        assert_eq!(left, 0);
        // The directory itself takes a block.
        assert!(disk.free() + (64 << 10) >= free, "{} of {free} bytes are free", disk.free());
        // Less of it fits.
        let index = options.open().unwrap();
        index.add("all").unwrap();
        index.close().unwrap();
    }
}

#[test]
fn an_index_refuses_while_others_fill_its_disk_and_then_goes_on() {
    for disk in disks("refusing on a full disk") {
        let options = options(&disk, OnFull::Refuse);
        let index = options.clone().open().unwrap();
        let filler = disk.fill(1 << 20);
        let full = add_until_full(&index, 0);
        check(&index, full);
        // Killed and started, it is as full. What this takes beyond the DRAM that was asked for is reported.
        drop(index);
        let index = options.clone().open().unwrap();
        let StartReport { dram_beyond, .. } = index.start_report();
        assert_eq!(dram_beyond, index.stats().unwrap().dram_bytes - DRAM_BYTES);
        check(&index, full);
        let full = add_until_full(&index, full);
        std::fs::remove_file(filler).unwrap();
        let end = full + 5000;
        for number in full..end {
            add_soon(&index, &document(number));
        }
        check(&index, end);
        index.close().unwrap();
        check(&options.open().unwrap(), end);
    }
}

/// Adds a document to an index that may not have noticed yet that there is space.
#[track_caller]
fn add_soon(index: &Index, text: &str) {
    let since = Instant::now();
    while let Err(error) = index.add(text) {
        assert_eq!(error, WriteError::HeapFull);
        assert!(since.elapsed() < Duration::from_secs(20), "it does not go on");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_index_waits_while_others_fill_its_disk() {
    waits(OnFull::Wait);
}

#[test]
fn an_index_that_drops_has_to_wait_while_none_of_it_is_on_the_disk() {
    waits(OnFull::DropOldest);
}

fn waits(on_full: OnFull) {
    for disk in disks("waiting on a full disk") {
        comes_back(move || {
            let index = options(&disk, on_full).open().unwrap();
            let filler = disk.fill(1 << 20);
            let end = 40_000;
            std::thread::scope(|scope| {
                let add_all = || add(&index, 0..end);
                let adding = scope.spawn(add_all);
                let waits_at = stands_still(&index);
                assert!(waits_at < end, "it does not wait");
                check_newest(&index, waits_at);
                std::fs::remove_file(&filler).unwrap();
                adding.join().unwrap();
            });
            check(&index, end);
        });
    }
}

/// Waits until nothing goes in any more; says how many are.
fn stands_still(index: &Index) -> u64 {
    let mut before = u64::MAX;
    loop {
        let now = index.accepted();
        if now == before && now > 0 {
            return now;
        }
        before = now;
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// The last of the visible documents is found; the one that waits may be counted or not.
fn check_newest(index: &Index, accepted: u64) {
    let mut reader = index.reader().unwrap();
    let found = reader.count("all").unwrap();
    assert!(found <= accepted && found + 1024 >= accepted, "{found} of {accepted}");
    check_each(&mut reader, 0..found, found);
}

#[test]
fn an_index_drops_its_oldest_while_others_fill_its_disk() {
    for disk in disks("dropping on a full disk") {
        let options = options(&disk, OnFull::DropOldest);
        let index = options.clone().open().unwrap();
        add(&index, 0..5000);
        let filler = disk.fill(1 << 20);
        add(&index, 5000..60_000);
        let held = check_dropping(&index, 60_000);
        std::fs::remove_file(filler).unwrap();
        add(&index, 60_000..120_000);
        assert!(check_dropping(&index, 120_000) > held, "the space that came back is not used");
        index.close().unwrap();
        check_dropping(&options.open().unwrap(), 120_000);
    }
}

fn add(index: &Index, numbers: Range<u64>) {
    for number in numbers {
        index.add(&document(number)).unwrap();
    }
}

/// The newest are there, as many as there are, and no others; says how many.
#[track_caller]
fn check_dropping(index: &Index, end: u64) -> u64 {
    index.settle();
    let mut reader = index.reader().unwrap();
    let held = reader.count("all").unwrap();
    assert!((1..=end).contains(&held));
    check_each(&mut reader, end - held..end, end);
    held
}

#[test]
fn an_index_that_is_refused_leaves_nothing() {
    let Some(disk) = disks("what a refused index leaves").pop() else { return };
    let free = disk.free();
    let refused = |options: Builder| {
        let error = options.open().expect_err("it is refused");
        assert!(!disk.path().join("index/heap").exists(), "{error}");
        assert!(!disk.path().join("index/heap.new").exists(), "{error}");
        assert!(disk.free() + (64 << 10) >= free, "{error}");
    };
    let made = || options(&disk, OnFull::Refuse);
    refused(made().nvm_bytes(1 << 20));
    refused(made().dram_bytes(64 << 10));
    refused(made().segment_bytes(1 << 10));
    assert!(is_tmpfs(&disk.path()));
    refused(made().durability(spirit::Durability::Os));
}

fn is_tmpfs(path: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    rustix::fs::statfs(path).unwrap().f_type as i64 == TMPFS
}

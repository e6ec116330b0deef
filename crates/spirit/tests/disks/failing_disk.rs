//! A disk that fails while the index is open: nothing is acknowledged from then on, queries go on, and what was
//! acknowledged is there when the disk is back.

use spirit::{Builder, Durability, Index, OpenError, Reader, WriteError};

use crate::support::disk::{Disk, not_measured};

const DISK_BYTES: u64 = 128 << 20;

fn options(disk: &Disk) -> Builder {
    Index::builder()
        .directory(disk.path().join("index"))
        .durability(Durability::Os)
        .dram_bytes(4 << 20)
        .segment_bytes(64 << 10)
        .nvm_bytes(32 << 20)
}

/// A disk, unless the machine can have none.
fn disk(what: &str) -> Option<Disk> {
    Disk::new(DISK_BYTES).inspect_err(|why| not_measured(what, why)).ok()
}

fn add_numbered(index: &Index, numbers: std::ops::Range<u64>) {
    for number in numbers {
        index.put(&format!("k{number}"), &format!("all u{number} v{}", number % 7)).unwrap();
    }
}

/// What `numbers` added is there, whole and once, and nothing of what came after.
#[track_caller]
fn check(reader: &mut Reader, numbers: std::ops::Range<u64>) {
    assert_eq!(reader.count("all").unwrap(), numbers.end);
    for number in numbers.clone() {
        let found = reader.count(&format!("u{number} AND v{} AND key:k{number}", number % 7));
        assert_eq!(found.unwrap(), 1, "{number}");
    }
    for remainder in 0..7 {
        let expected = numbers.clone().filter(|number| number % 7 == remainder).count() as u64;
        assert_eq!(reader.count(&format!("v{remainder}")).unwrap(), expected);
    }
}

/// Everything that changes the index says that the disk failed, however often it is tried.
fn refuses(index: &Index, executors: usize) {
    for number in 0..2 * executors {
        assert_eq!(index.add("late"), Err(WriteError::SyncFailed));
        assert_eq!(index.put(&format!("late{number}"), "late"), Err(WriteError::SyncFailed));
        assert_eq!(index.delete(&format!("k{number}")), Err(WriteError::SyncFailed));
        let many = index.add_all([(None, "late"), (Some("late"), "late")]).unwrap_err();
        let failed = WriteError::SyncFailed.into();
        assert_eq!(many, WriteError::AfterSome { added: 0, error: failed });
    }
    assert_eq!(index.flush(), Err(WriteError::SyncFailed));
}

fn fails_and_comes_back(executors: usize, added: u64) {
    let Some(disk) = disk("failed syncs") else { return };
    let sizes = |options: Builder| {
        let count = executors as u64;
        options.executors(executors).dram_bytes(count * (4 << 20)).nvm_bytes(count * (16 << 20))
    };
    let index = sizes(options(&disk)).open().unwrap();
    add_numbered(&index, 0..added);
    disk.cut();
    let mut reader = index.reader().unwrap();
    check(&mut reader, 0..added);
    refuses(&index, executors);
    check(&mut reader, 0..added);
    check(&mut index.reader().unwrap(), 0..added);
    assert_eq!(reader.count("late").unwrap(), 0);
    drop(reader);
    assert_eq!(index.close(), Err(WriteError::SyncFailed));
    disk.restart();
    let index = options(&disk).dram_bytes(executors as u64 * (4 << 20)).open().unwrap();
    // The first that was refused was logged, perhaps: it may be in, as a whole.
    let late = index.reader().unwrap().count("late").unwrap();
    assert!(late <= 1, "{late}");
    check(&mut index.reader().unwrap(), 0..added);
    index.add("after").unwrap();
    index.close().unwrap();
}

#[test]
fn an_index_whose_disk_fails_takes_nothing_more_and_answers() {
    fails_and_comes_back(1, 50);
}

#[test]
fn segments_that_were_engraved_before_the_failure_answer_too() {
    fails_and_comes_back(1, 4000);
}

#[test]
fn every_executor_knows_of_a_failure() {
    fails_and_comes_back(3, 3000);
}

#[test]
fn what_was_not_synced_is_gone_after_a_power_cut() {
    // The control: a cut that took nothing would prove nothing.
    let Some(disk) = disk("what a power cut takes") else { return };
    let (kept, lost) = (disk.path().join("kept"), disk.path().join("lost"));
    std::fs::write(&kept, "synced").unwrap();
    std::fs::File::open(&kept).unwrap().sync_all().unwrap();
    std::fs::write(&lost, "not synced").unwrap();
    disk.cut();
    disk.restart();
    assert_eq!(std::fs::read(&kept).unwrap(), b"synced");
    assert!(std::fs::read(&lost).unwrap_or_default().is_empty());
}

#[test]
fn at_level_process_an_index_whose_disk_lost_power_is_refused() {
    let Some(disk) = disk("trust after a power cut") else { return };
    let options = options(&disk).durability(Durability::Process);
    for added in [0, 50, 3000] {
        let index = options.clone().open().unwrap();
        add_numbered(&index, 0..added);
        // A segment that is being engraved may make the file grow, which needs the disk.
        index.settle();
        disk.cut();
        // Otherwise level process needs nothing of the disk but at the end.
        index.put("k0", "all u0 v0").unwrap();
        check(&mut index.reader().unwrap(), 0..added.max(1));
        assert_eq!(index.close(), Err(WriteError::SyncFailed));
        disk.restart();
        let refused = options.clone().open();
        assert!(matches!(refused, Err(OpenError::Untrusted { .. })), "{:?}", refused.err());
        std::fs::remove_file(disk.path().join("index/heap")).unwrap();
    }
    // What was closed before is whole, and a start that does nothing else leaves it so.
    let index = options.clone().open().unwrap();
    add_numbered(&index, 0..50);
    index.close().unwrap();
    disk.cut();
    disk.restart();
    check(&mut options.open().unwrap().reader().unwrap(), 0..50);
}

#[test]
fn an_index_on_a_failed_disk_is_not_opened_and_not_made() {
    let Some(disk) = disk("opening on a failed disk") else { return };
    let options = options(&disk);
    options.clone().open().unwrap().close().unwrap();
    disk.cut();
    for options in [options.clone(), options.clone().directory(disk.path().join("other"))] {
        let refused = options.open().err();
        assert!(matches!(refused, Some(OpenError::File { .. })), "{refused:?}");
    }
    disk.restart();
    options.open().unwrap().add("after").unwrap();
}

/// A disk that cannot keep some of what is written, and says so once: the file that it lies in has no space.
#[test]
fn a_sync_that_fails_once_is_not_tried_again() {
    for executors in [1, 3] {
        let thin = Disk::in_memory(256 << 20).and_then(|base| Disk::within(base, DISK_BYTES));
        let Ok(disk) = thin.inspect_err(|why| not_measured("a sync that fails once", why)) else {
            return;
        };
        let count = executors as u64;
        let sizes = move |options: Builder| {
            options.executors(executors).dram_bytes(count * (4 << 20)).nvm_bytes(count * (16 << 20))
        };
        let index = sizes(options(&disk)).open().unwrap();
        add_numbered(&index, 0..50);
        let filler = disk.base().unwrap().fill(0);
        let mut added = 50;
        let failed = loop {
            match index.put(&format!("k{added}"), &format!("all u{added} v{}", added % 7)) {
                Ok(()) => added += 1,
                Err(failed) => break failed,
            }
            assert!(added < 100_000, "the disk takes everything");
        };
        assert_eq!(failed, WriteError::SyncFailed);
        // There is space again, and the kernel has forgotten what it could not write.
        std::fs::remove_file(filler).unwrap();
        refuses(&index, executors);
        check(&mut index.reader().unwrap(), 0..added);
        assert_eq!(index.close(), Err(WriteError::SyncFailed));
        disk.cut();
        disk.restart();
        let index = sizes(options(&disk)).open().unwrap();
        let late = index.reader().unwrap().count(&format!("u{added}")).unwrap();
        check(&mut index.reader().unwrap(), 0..added + late);
        index.add("after").unwrap();
        index.close().unwrap();
    }
}

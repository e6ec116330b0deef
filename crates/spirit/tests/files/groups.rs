//! Groups with the application's offset: all or nothing, whatever happens to the index in between.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spirit::backup::Backup;
use spirit::backup::Progress;
use spirit::{Analyzer, Batch, Builder, Document, Index, Mode, OnFull, Search, WriteError};

use crate::support::Chance;
use crate::support::directory::Directory;

fn options(directory: &Directory) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(8 << 20)
        .nvm_bytes(16 << 20)
        .log_bytes(64 << 10)
        .segment_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::DropOldest)
}

fn count(index: &Index, query: &str) -> u64 {
    index.reader().unwrap().count(query).unwrap()
}

/// Adds `documents` documents, each with the group's number.
fn add(index: &Index, group: u64, documents: usize) -> Result<(), WriteError> {
    let text = format!("all group{group}");
    let documents = (0..documents).map(|_| (None, &*text));
    index.write(Batch::from_iter(documents).offset(&group.to_le_bytes()))
}

/// The same for several executors.
fn side_by_side(directory: &Directory, executors: usize) -> Builder {
    let bytes = executors as u64;
    let options = options(directory).executors(executors);
    options.dram_bytes(bytes * (8 << 20)).nvm_bytes(bytes * (16 << 20))
}

#[test]
fn the_offset_is_that_of_the_last_group_that_is_there() {
    let found = offsets(1);
    // Segments of groups that came before are gone, and a group lies in one.
    let gone = found.iter().rposition(|(found, size)| found < size).unwrap();
    assert!(gone < 390 && found[..=gone].iter().all(|(found, _)| *found == 0), "{found:?}");
    offsets(3);
}

/// Adds groups, with kills and whatever else in between; how many documents of each are there in the end, and were added.
fn offsets(executors: usize) -> Vec<(u64, u64)> {
    let bytes = executors as u64 * (1 << 20);
    let options = |directory: &Directory| side_by_side(directory, executors).nvm_bytes(bytes);
    let mut directory = Directory::new();
    let mut index = options(&directory).open().unwrap();
    assert_eq!(index.offset(), Ok(None));
    let chance = &mut Chance::new(5);
    let mut sizes = Vec::new();
    for group in 0..400u64 {
        // Now and then none at all, and now and then more than fit into what is left of a segment.
        let documents = [0, 3, 60, 400][chance.below(4) as usize];
        assert_eq!(add(&index, group, documents), Ok(()));
        sizes.push(documents as u64);
        match chance.below(12) {
            0 => {
                if chance.below(2) == 0 {
                    // The record that has the offset leaves the log.
                    index.flush().unwrap();
                    index.add("something behind it").unwrap();
                }
                let killed = directory.killed();
                drop(index);
                directory = killed;
                index = options(&directory).open().unwrap();
            }
            1 => {
                index.close().unwrap();
                index = options(&directory).open().unwrap();
            }
            2 => index.flush().unwrap(),
            3 => drop(index.add("something between").unwrap()),
            _ => {}
        }
        assert_eq!(index.offset(), Ok(Some(group.to_le_bytes().to_vec())), "{group}");
        assert_eq!(count(&index, &format!("group{group}")), sizes[group as usize]);
    }
    let found = (0..400).map(|group| count(&index, &format!("group{group}")));
    found.zip(sizes).collect()
}

#[test]
fn a_group_that_is_refused_leaves_nothing() {
    let directory = Directory::new();
    let index = options(&directory).open().unwrap();
    add(&index, 1, 5).unwrap();
    let accepted = index.accepted();
    let long = "x ".repeat(4000);
    let refused = [
        index.write(Batch::from_iter([(None, "all"), (Some(""), "all")]).offset(b"2")).unwrap_err(),
        index.write(Batch::from_iter([(None, "all"), (None, &*long)]).offset(b"2")).unwrap_err(),
        index.write(Batch::from_iter([(None, "all")]).offset(&[0; 4097])).unwrap_err(),
        index.write(Batch::from_iter((0..4000).map(|_| (None, "all"))).offset(b"2")).unwrap_err(),
    ];
    let is_expected = [
        refused[0] == WriteError::Key { bytes: 0 },
        matches!(refused[1], WriteError::DocumentTooLong { .. }),
        refused[2] == WriteError::OffsetTooLong { bytes: 4097, bytes_max: 4096 },
        matches!(refused[3], WriteError::GroupTooLarge { .. }),
    ];
    assert_eq!(is_expected, [true; 4], "{refused:?}");
    assert_eq!((count(&index, "all"), index.accepted()), (5, accepted));
    assert_eq!(index.offset(), Ok(Some(1u64.to_le_bytes().to_vec())));
    // What they would have been called others are.
    assert_eq!(index.add("all").unwrap(), 5);
}

#[test]
fn a_group_that_fills_a_segment_goes_whole_into_the_next() {
    let directory = Directory::new();
    let index = options(&directory).log_bytes(1 << 20).open().unwrap();
    // Terms of their own: some hundred of them fill a segment.
    for group in 0..30u64 {
        let texts: Vec<String> = (0..70).map(|n| format!("all own{group}x{n}")).collect();
        let documents = texts.iter().map(|text| (None, &**text));
        index.write(Batch::from_iter(documents).offset(&group.to_le_bytes())).unwrap();
    }
    index.settle();
    let stats = index.stats().unwrap();
    assert!(stats.segments.len() > 2, "{}", stats.segments.len());
    assert!(stats.segments.iter().all(|segment| segment.dead == 0), "no row was given up");
    assert_eq!((stats.documents, count(&index, "all")), (2100, 2100));
    let too_many: Vec<String> = (0..3000).map(|n| format!("never{n}")).collect();
    let refused = index
        .write(Batch::from_iter(too_many.iter().map(|text| (None, &**text))).offset(b"x"))
        .unwrap_err();
    assert!(matches!(refused, WriteError::GroupBeyondSegment { .. }), "{refused:?}");
    assert_eq!((count(&index, "never1"), index.accepted()), (0, 2100));
}

/// A group that a segment has no room for leaves no postings there, which frequencies would count.
#[test]
fn frequencies_are_those_of_documents_that_are_there() {
    for (executors, size) in [(1, 40), (1, 300), (1, 1000), (2, 1000)] {
        let directory = Directory::new();
        let options = side_by_side(&directory, executors).segment_bytes(256 << 10);
        let options = options.log_bytes(1 << 20);
        let index = options.dram_bytes(32 << 20).nvm_bytes(64 << 20).open().unwrap();
        let mut chance = Chance::new(size);
        let (mut documents, mut often) = (0, 0);
        let mut text = |n: u64| {
            let words: String = (0..12).map(|_| format!(" w{}", chance.below(780))).collect();
            documents += 1;
            often += n % 2;
            format!("all{words}{}", if n % 2 == 1 { " often" } else { "" })
        };
        for group in 0..12_000 / size {
            let texts: Vec<_> = (0..size).map(&mut text).collect();
            let documents = texts.iter().map(|text| (None, text.as_str()));
            index.write(Batch::from_iter(documents).offset(&group.to_le_bytes())).unwrap();
        }
        let asked = |word: &str| {
            let mut reader = index.reader().unwrap();
            let hits = reader.search(word, Search::best(1)).unwrap();
            hits.counts().unwrap().with_term[0]
        };
        assert_eq!([asked("all"), asked("often")], [documents, often], "{executors} {size}");
    }
}

/// A key may come several times in a group, and before it: the last one counts.
#[test]
fn what_a_group_replaces_is_dead_when_it_is_there() {
    for executors in [1, 2] {
        let directory = Directory::new();
        let index = side_by_side(&directory, executors).open().unwrap();
        let keys: Vec<String> = (0..40).map(|n| format!("key{}", n % 10)).collect();
        let texts: Vec<String> = (0..40).map(|n| format!("all turn{}", n / 10)).collect();
        for round in 0..3 {
            let documents = keys.iter().zip(&texts).map(|(key, text)| (Some(&**key), &**text));
            index.write(Batch::from_iter(documents).offset(&[round])).unwrap();
            let found = ["all", "turn3", "key:key3"].map(|query| count(&index, query));
            assert_eq!(found, [10, 10, 1]);
            assert_eq!(index.stats().unwrap().documents, 10);
            if round == 1 {
                index.flush().unwrap();
            }
        }
        let killed = directory.killed();
        let index = side_by_side(&killed, executors).open().unwrap();
        assert_eq!((count(&index, "all"), count(&index, "turn3")), (10, 10));
        assert_eq!((index.offset(), index.accepted()), (Ok(Some(vec![2])), 120));
        index.put("key3", "all").unwrap();
        assert_eq!((count(&index, "all"), index.delete("key3")), (10, Ok(true)));
        assert_eq!(count(&index, "all"), 9);
    }
}

/// Keys find no place when the key table is full: whatever of the group had found one is taken back.
#[test]
fn a_group_whose_keys_find_no_place_leaves_nothing() {
    for executors in [1, 2] {
        let directory = Directory::new();
        let options = |directory: &Directory| {
            let options = side_by_side(directory, executors).log_bytes(256 << 10);
            options.dram_bytes(executors as u64 * (2 << 20)).on_full(OnFull::Refuse)
        };
        let index = options(&directory).open().unwrap();
        let keys = |group: u64| (0..30).map(move |n| format!("g{group:x}n{n}"));
        let add = |group: u64| {
            let new: Vec<String> = keys(group).collect();
            let old = keys(group.saturating_sub(1)).take(3).collect::<Vec<_>>();
            let documents = new.iter().chain(&old).map(|key| (Some(&**key), "all"));
            index.write(Batch::from_iter(documents).offset(&group.to_le_bytes()))
        };
        let groups = 40;
        (0..groups).for_each(|group| add(group).unwrap());
        // Its own keys fall on the same lines of the table.
        let crowd = crate::support::crowd();
        let documents = crowd.iter().map(|key| (Some(&**key), "all"));
        assert_eq!(
            index.write(Batch::from_iter(documents).offset(b"x")).unwrap_err(),
            WriteError::KeysFull
        );
        let check = |index: &Index| {
            let there = groups * 30;
            let replaced = (groups - 1) * 3;
            assert_eq!((count(index, "all"), index.accepted()), (there, there + replaced + 3));
            assert_eq!(index.offset(), Ok(Some((groups - 1).to_le_bytes().to_vec())));
            for key in &crowd {
                assert_eq!(count(index, &format!("key:{key}")), 0);
            }
            for key in keys(groups - 1) {
                assert_eq!(count(index, &format!("key:{key}")), 1);
            }
        };
        check(&index);
        let killed = directory.killed();
        let started = options(&killed).open().unwrap();
        check(&started);
        for key in keys(groups - 1) {
            assert_eq!([&index, &started].map(|index| index.delete(&key)), [Ok(true), Ok(true)]);
        }
        assert!(Index::check(killed.path()).unwrap().is_sound());
    }
}

#[test]
fn groups_of_several_threads_are_whole_beside_other_documents() {
    const GROUPS: u64 = 200;
    let directory = Directory::new();
    let options = |directory: &Directory| side_by_side(directory, 3).log_bytes(1 << 20);
    let index = options(&directory).open().unwrap();
    std::thread::scope(|scope| {
        let threads = (0..3u64).map(|thread| {
            let index = &index;
            scope.spawn(move || {
                for group in 0..GROUPS {
                    let text = format!("all t{thread}g{group}");
                    let keys = [None, Some("k1"), None, Some("k2"), None, Some("7")];
                    let documents = keys.iter().cycle().take(1 + group as usize % 20);
                    let offset = (thread * GROUPS + group).to_le_bytes();
                    index
                        .write(
                            Batch::from_iter(documents.map(|key| (*key, &*text))).offset(&offset),
                        )
                        .unwrap();
                    index.add("all alone").unwrap();
                    index.put("k3", "all alone").unwrap();
                }
            })
        });
        crate::support::join(threads.collect::<Vec<_>>());
    });
    let killed = directory.killed();
    let started = options(&killed).open().unwrap();
    assert_eq!((started.accepted(), started.offset()), (index.accepted(), index.offset()));
    for key in ["k1", "k2", "k3", "7"] {
        assert_eq!(count(&started, &format!("key:{key}")), 1);
    }
    let groups = (0..3).flat_map(|thread| (0..GROUPS).map(move |group| (thread, group)));
    for (thread, group) in groups {
        // Those with a key may have been replaced, and so may the automatic one of 7.
        let automatic = (0..1 + group % 20).filter(|n| n % 2 == 0).count() as u64;
        let found = count(&started, &format!("t{thread}g{group}"));
        assert!((automatic - 1..=automatic + 3).contains(&found), "{thread} {group}: {found}");
        assert_eq!(found, count(&index, &format!("t{thread}g{group}")));
    }
    assert_eq!(count(&started, "all"), count(&index, "all"));
}

#[test]
fn a_backup_has_the_last_offset_whatever_is_behind_it() {
    let directory = Directory::new();
    let index = options(&directory).open().unwrap();
    let check = |group: u64| {
        let kept = Directory::new();
        let file = kept.path().join("backup");
        index.backup(&file).unwrap();
        let restored = Directory::new();
        Backup::at(&file).restore(restored.path()).unwrap();
        let restored = options(&restored).open().unwrap();
        assert_eq!(restored.offset(), Ok(Some(group.to_le_bytes().to_vec())));
        assert_eq!(restored.accepted(), index.accepted());
    };
    add(&index, 1, 3).unwrap();
    // The offset alone is left in the log, then one without documents, then the same again.
    index.flush().unwrap();
    index.settle();
    check(1);
    (2..5).for_each(|group| assert_eq!(add(&index, group, 0), Ok(())));
    check(4);
    index.flush().unwrap();
    index.settle();
    check(4);
}

/// Each executor's log is copied for itself.
#[test]
fn a_backup_has_the_groups_up_to_its_offset_and_nothing_of_others() {
    const BACKUPS: usize = 16;
    let directory = Directory::new();
    let index = side_by_side(&directory, 3).open().unwrap();
    let done = AtomicBool::new(false);
    // The first executor has none of every other group's documents: their keys are numbers of the others.
    let keys =
        |group: u64| [1, 2].map(|executor| (300_000_000_000 + 3 * group + executor).to_string());
    let size = |group: u64| if group.is_multiple_of(2) { 2 } else { 1 + group % 13 };
    let add = |group: u64| {
        let (keys, text) = (keys(group), format!("all group{group}"));
        let called = keys.iter().map(|key| Some(&**key)).chain(std::iter::repeat(None));
        let skipped = if group.is_multiple_of(2) { 0 } else { keys.len() };
        let documents = called.skip(skipped).take(size(group) as usize).map(|key| (key, &*text));
        index.write(Batch::from_iter(documents).offset(&group.to_le_bytes())).unwrap();
    };
    let kept: Vec<Directory> = std::thread::scope(|scope| {
        let adder = scope.spawn(|| {
            (0..).take_while(|_| !done.load(Relaxed)).for_each(add);
        });
        let back_up = |_| {
            let kept = Directory::new();
            index.backup(kept.path().join("backup")).unwrap();
            kept
        };
        let kept = (0..BACKUPS).map(back_up).collect();
        done.store(true, Relaxed);
        crate::support::join([adder]);
        kept
    });
    for kept in kept {
        let restored = Directory::new();
        Backup::at(kept.path().join("backup")).restore(restored.path()).unwrap();
        let index = side_by_side(&restored, 3).open().unwrap();
        let offset = index.offset().unwrap().map(|bytes| bytes.try_into().unwrap());
        let groups = offset.map_or(0, |bytes| u64::from_le_bytes(bytes) + 1);
        let held: Vec<u64> =
            (0..groups).map(|group| count(&index, &format!("group{group}"))).collect();
        let gone = (0..groups).rev().find(|group| held[*group as usize] < size(*group));
        // Only retention takes some of them, the oldest.
        assert!(gone.is_none_or(|gone| gone + 200 < groups), "{gone:?} of {groups}");
        assert_eq!(count(&index, "all"), held.iter().sum());
    }
}

#[test]
fn where_no_offset_is_kept_no_group_is_taken() {
    let (volatile, graceful) = (Directory::new(), Directory::new());
    let indexes = [
        options(&volatile).mode(Mode::Volatile).open().unwrap(),
        options(&graceful).mode(Mode::Graceful).open().unwrap(),
    ];
    for index in indexes {
        assert_eq!(add(&index, 1, 1), Err(WriteError::OffsetNotKept));
        assert_eq!((index.offset(), index.accepted()), (Ok(None), 0));
    }
}

/// Records of the log that eight threads needed for forty documents each, added one at a time.
fn records(group_wait: Duration, group_bytes: u64) -> u64 {
    let directory = Directory::new();
    let options = options(&directory).group_wait(group_wait).group_bytes(group_bytes);
    let index = options.open().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..40 {
                    index.add("some words").unwrap();
                }
            });
        }
    });
    assert_eq!(count(&index, "words"), 320);
    let fences = index.stats().unwrap().fences;
    fences.iter().find(|(name, _)| *name == "log.fence").unwrap().1
}

#[test]
fn who_waits_for_others_shares_records_with_them() {
    // All of them come within so long a time, or nearly.
    assert!((40..160).contains(&records(Duration::from_millis(20), 1 << 20)));
    // Where one document is enough nobody waits, or this would take for ever.
    assert!(records(Duration::from_secs(3600), 1) >= 40);
}

/// A batch that may have no bytes was full before it had a document, so adding never ended.
#[test]
fn groups_of_no_bytes_are_of_one_document_each() {
    let directory = Directory::new();
    let index = options(&directory).group_bytes(0).open().unwrap();
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let texts = (0..20).map(|_| (None, "some words"));
        let added = index.add_all(texts);
        let documents: Vec<_> = (0..20).map(|_| Document::new().text("some words")).collect();
        let more = index.add_all(&documents);
        index.add("some words").unwrap();
        done.send((added, more, count(&index, "words"))).unwrap();
    });
    let found = is_done.recv_timeout(Duration::from_secs(60)).expect("adding comes to an end");
    assert_eq!(found, (Ok(20), Ok(20), 41));
}

#[test]
fn a_start_says_how_far_it_is_and_what_it_did() {
    let directory = Directory::new();
    let index = options(&directory).open().unwrap();
    assert_eq!(index.start_report().replayed, 0);
    for n in 0..500 {
        index.put(&format!("k{}", n % 50), "some words").unwrap();
    }
    index.delete("k1").unwrap();
    let killed = directory.killed();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let reporter = reported.clone();
    let watch = move |recovering: Progress| reporter.lock().unwrap().push(recovering.percent());
    let started = options(&killed).while_recovering(watch).open().unwrap();
    let report = started.start_report();
    let reported = reported.lock().unwrap();
    assert!(
        reported.is_sorted() && reported.last() == Some(&100) && reported.len() > 100,
        "{reported:?}"
    );
    assert!(
        report.replayed <= 501 && (report.segments > 0 || report.replayed == 501),
        "{report:?}"
    );
    assert!(report.log_bytes > 0 && !report.time.is_zero());
}

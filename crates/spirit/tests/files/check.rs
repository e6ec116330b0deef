//! `check` against what the engine leaves behind: it finds nothing in a file at rest, and every damage that anything covers in
//! one that was damaged.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use proptest::prelude::*;
use spirit::lab::{EngravePolicy, PointerUpdate, Postings};
use spirit::{Analyzer, Index, Mode, OnFull, OpenError};
use spirit_oracle::Oracle;

use crate::damage::atlas::{Atlas, Promise};
use crate::damage::flips::flips;
use crate::damage::image::Image;
use crate::damage::sample;
use crate::support::directory::Directory;
use crate::support::fields::declared;
use crate::support::steps::{Step, apply, postings, step};
use crate::support::{Chance, size_of_run};

/// What is different from history to history.
#[derive(Clone, Copy, Debug)]
struct Policy {
    mode: Mode,
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    merge_after: usize,
    executors: usize,
    positions: bool,
    store: bool,
    postings: Postings,
}

fn policy() -> impl Strategy<Value = Policy> {
    let mode = prop_oneof![3 => Just(Mode::Crash), 1 => Just(Mode::Graceful)];
    let engrave = prop_oneof![Just(EngravePolicy::Eager), Just(EngravePolicy::Lazy)];
    let update = prop_oneof![Just(PointerUpdate::Eager), Just(PointerUpdate::Lazy)];
    let updates = (update, 1usize..6);
    (mode, engrave, updates, 1usize..3, any::<bool>(), any::<bool>(), postings()).prop_map(
        |(mode, engrave, (pointer_update, merge_after), executors, positions, store, postings)| {
            Policy {
                mode,
                engrave,
                pointer_update,
                merge_after,
                executors,
                positions,
                store,
                postings,
            }
        },
    )
}

fn open(directory: &Directory, policy: Policy) -> Index {
    declared(Index::builder())
        .directory(directory.path())
        .mode(policy.mode)
        .engrave(policy.engrave)
        .pointer_update(policy.pointer_update)
        .merge_after(policy.merge_after)
        .executors(policy.executors)
        .positions(policy.positions)
        .store(policy.store)
        .postings(policy.postings)
        .dram_bytes(policy.executors as u64 * (2 << 20))
        .nvm_bytes(policy.executors as u64 * (4 << 20))
        .log_bytes(128 << 10)
        .document_bytes_max(32 << 10)
        .segment_bytes(64 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
        .open()
        .unwrap()
}

fn finds_nothing(directory: &Directory) {
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound() && !report.in_use, "{report}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(80), ..ProptestConfig::default() })]

    #[test]
    fn in_a_file_at_rest_it_finds_nothing(
        policy in policy(),
        steps in prop::collection::vec((step(), 0u8..12), 1..60),
    ) {
        let mut directory = Directory::new();
        let mut index = open(&directory, policy);
        let mut oracle = Oracle::default();
        for (step, then) in &steps {
            if !matches!(step, Step::Ask(_)) {
                apply(&index, &mut oracle, step);
            }
            match then {
                0 => {
                    index.close().unwrap();
                    finds_nothing(&directory);
                    index = open(&directory, policy);
                }
                1 if policy.mode == Mode::Crash => {
                    index.settle();
                    let killed = directory.killed();
                    finds_nothing(&killed);
                    drop(index);
                    directory = killed;
                    index = open(&directory, policy);
                }
                2 => {
                    let report = Index::check(directory.path()).unwrap();
                    prop_assert!(report.is_sound() && report.in_use, "{}", report);
                }
                _ => {}
            }
        }
        drop(index);
        finds_nothing(&directory);
    }
}

#[test]
fn it_counts_what_is_there() {
    let report = Index::check(sample::settled().path()).unwrap();
    assert!(report.is_sound() && report.closed && !report.in_use);
    assert_eq!(report.executors, 1);
    assert!(report.segments >= 4, "{report}");
    assert!(report.rows > 1000 && report.dead_rows > 40, "{report}");
    assert!(report.merged_terms > 150 && report.terms > report.merged_terms, "{report}");
    assert!(report.postings > 3000 && report.log_operations == 90, "{report}");
    assert!(report.bytes > 50_000 && report.text_bytes > 40_000, "{report}");
}

#[test]
fn where_the_oldest_go_and_where_terms_have_no_room_it_finds_nothing() {
    let packed = [sample::packed(), sample::packed_unmerged()];
    let raw = [sample::retained(), sample::unmerged(), sample::small()];
    for directory in raw.into_iter().chain(packed) {
        finds_nothing(&directory);
    }
}

#[test]
fn while_documents_come_in_it_finds_nothing_and_says_what_it_left_out() {
    let directory = Directory::new();
    let index = sample::options(&directory).open().unwrap();
    let is_enough = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let adding = scope.spawn(|| {
            // On a busy machine checks take longer than the documents do. If a check fails, this ends too.
            let goes_on = |number: &u32| *number < 30_000 || !is_enough.load(Relaxed);
            for number in (0..3_000_000).take_while(goes_on) {
                index.add(&format!("all w{} unique{number}", number % 50)).unwrap();
                index.put(&format!("k{}", number % 70), "all replaced").unwrap();
            }
        });
        let mut segments = 0;
        while !adding.is_finished() {
            let report = Index::check(directory.path()).unwrap();
            assert!(report.is_sound() && report.in_use, "{report}");
            assert_eq!((report.log_records, report.merged_terms), (0, 0));
            segments += report.segments;
            is_enough.store(segments > 100, Relaxed);
        }
        assert!(segments > 100, "{segments} segments were checked");
        crate::support::join([adding]);
    });
    assert!(index.stats().unwrap().dropped_segments > 10);
    drop(index);
    finds_nothing(&directory);
}

#[test]
fn nobody_writes_while_it_is_checked_and_nothing_is_changed() {
    let directory = sample::small();
    let before = std::fs::read(directory.path().join("heap")).unwrap();
    finds_nothing(&directory);
    finds_nothing(&directory);
    assert!(std::fs::read(directory.path().join("heap")).unwrap() == before);
}

#[test]
fn what_is_no_index_is_an_error() {
    let directory = Directory::new();
    assert!(matches!(Index::check(directory.path()), Err(OpenError::File { .. })));
    for bytes in [vec![], vec![0; 100], vec![0; 8192], vec![0xA5; 1 << 20]] {
        std::fs::write(directory.path().join("heap"), bytes).unwrap();
        assert!(matches!(Index::check(directory.path()), Err(OpenError::Root { .. })));
    }
}

/// Single bits of every kind of place. What is promised of each is said in the [atlas](crate::damage::atlas).
#[test]
fn every_flipped_bit_that_is_covered_is_found() {
    let each = size_of_run("SPIRIT_CHECK_FLIPS", 200);
    let mut chance = Chance::new(11);
    for directory in sample::all() {
        let image = Image::of(&directory);
        for flip in flips(&Atlas::of(&image.bytes).places, each, &mut chance) {
            image.flip(flip);
            let found = image.is_found_out();
            match flip.promise {
                Promise::Refused | Promise::Found => assert!(found, "{flip:x?}"),
                Promise::Harmless => assert!(!found, "{flip:x?}"),
                // What then becomes of answers is the engine's test.
                Promise::FoundOrHarmless | Promise::Uncovered => {}
            }
            image.undo(flip.at, 1);
        }
        assert!(!image.is_found_out());
    }
}

/// A death and its count are stored together, and a cut may part them. As long as the log has the deletion a start expects
/// that; later nobody would, so the start says so in the file.
#[test]
fn a_death_whose_count_a_cut_took_stays_a_death() {
    let directory = Directory::new();
    let index = sample::options(&directory).open().unwrap();
    for number in 0..100 {
        index.add(&format!("all n{number}")).unwrap();
    }
    index.flush().unwrap();
    index.delete("7").unwrap();
    let image = Image::of(&directory);
    drop(index);
    let at = Atlas::of(&image.bytes).segments[0].slot + 30 * 8;
    let none = (crc32c::crc32c(&[0; 8]) as u64) << 32;
    image.write(at, &none.to_le_bytes());
    assert!(!image.is_found_out(), "the log has the deletion");
    let live = |index: &Index| {
        let mut reader = index.reader().unwrap();
        (reader.count("all").unwrap(), reader.count("n7").unwrap())
    };
    let index = image.open().unwrap();
    assert_eq!(live(&index), (99, 0));
    index.flush().unwrap();
    index.close().unwrap();
    assert!(!image.is_found_out());
    assert_eq!(live(&image.open().unwrap()), (99, 0), "the log has it no more");
    image.write(at, &none.to_le_bytes());
    assert!(image.is_found_out());
}

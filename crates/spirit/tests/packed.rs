//! Packed segments are held equal to the naive index, and to raw ones beside them: while segments move to the second tier, when they
//! are merged, and after a start.

mod support;

use proptest::prelude::*;
use spirit::{
    Analyzer, EngravePolicy, Index, Level, Mode, OnFull, Options, PointerUpdate, Postings,
};
use spirit_oracle::Oracle;
use support::directory::Directory;
use support::steps::{Step, apply, check, step};

#[derive(Clone, Copy, Debug)]
struct Policy {
    mode: Mode,
    pointer_update: PointerUpdate,
    merge_after: usize,
    executors: usize,
    positions: bool,
    store: bool,
    level: Level,
}

fn policy() -> impl Strategy<Value = Policy> {
    let mode = prop_oneof![Just(Mode::Crash), Just(Mode::Graceful)];
    let update = prop_oneof![Just(PointerUpdate::Eager), Just(PointerUpdate::Lazy)];
    let level = prop_oneof![Just(Level::Portable), Just(Level::Avx2), Just(Level::Avx512)];
    let flags = (prop::bool::weighted(0.8), any::<bool>());
    (mode, update, 1usize..6, 1usize..3, flags, level).prop_map(
        |(mode, pointer_update, merge_after, executors, (positions, store), level)| Policy {
            mode,
            pointer_update,
            merge_after,
            executors,
            positions,
            store,
            level,
        },
    )
}

fn open(directory: &Directory, policy: Policy, postings: Option<Postings>) -> Index {
    let options = Options::default()
        .directory(directory.path())
        .mode(policy.mode)
        .engrave(EngravePolicy::Eager)
        .pointer_update(policy.pointer_update)
        .merge_after(policy.merge_after)
        .executors(policy.executors)
        .positions(policy.positions)
        .store(policy.store)
        .vectors(policy.level)
        .dram_bytes(policy.executors as u64 * (2 << 20))
        .nvm_bytes(policy.executors as u64 * (8 << 20))
        .log_bytes(128 << 10)
        .document_bytes_max(32 << 10)
        .segment_bytes(64 << 10)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse);
    match postings {
        Some(postings) => options.postings(postings).open().unwrap(),
        None => options.open().unwrap(),
    }
}

fn is_sound(directory: &Directory) {
    let report = spirit::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(100), ..ProptestConfig::default() })]

    #[test]
    fn packed_segments_are_the_naive_index(
        policy in policy(),
        steps in prop::collection::vec((step(), 0u8..16), 1..60),
    ) {
        let directory = Directory::new();
        let mut index = open(&directory, policy, Some(Postings::Packed));
        let mut oracle = Oracle::default();
        for (step, then) in &steps {
            apply(&index, &mut oracle, step);
            let next = match then {
                0 => None,
                1 => Some(Postings::Raw),
                2 => Some(Postings::Packed),
                _ => continue,
            };
            index.close().unwrap();
            is_sound(&directory);
            index = open(&directory, policy, next);
        }
        for at_rest in [false, true] {
            if at_rest {
                index.close().unwrap();
                is_sound(&directory);
                index = open(&directory, policy, None);
            }
            index.settle();
            for (step, _) in &steps {
                if let Step::Ask(asked) = step {
                    check(&index, &oracle, asked);
                }
            }
        }
    }
}

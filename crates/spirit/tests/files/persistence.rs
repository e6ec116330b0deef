//! The engine in a directory against the naive index: every mode and policy, closed and killed between the operations, with
//! DRAM that holds a part of the index only.

use proptest::prelude::*;
use spirit::lab::{DictionaryTier, EngravePolicy, PointerUpdate, Postings};
use spirit::{Analyzer, Index, Mode, OnFull};
use spirit_oracle::Oracle;

use crate::support::directory::Directory;
use crate::support::fields::declared;
use crate::support::steps::{Step, apply, check, postings, step};

#[derive(Clone, Debug)]
enum Act {
    Do(Step),
    /// Closed and opened.
    Reopen,
    /// Killed and started, from a copy of the file as it is.
    Kill,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => step().prop_map(Act::Do),
        1 => Just(Act::Reopen),
        1 => Just(Act::Kill),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Policy {
    mode: Mode,
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    merge_after: usize,
    dictionary: DictionaryTier,
    executors: usize,
    dram_bytes: u64,
    barriers: bool,
    store: bool,
    analyzer: Analyzer,
    postings: Postings,
}

impl Policy {
    /// A copy takes its time: what it copies must not change meanwhile, as an opportunist would. Kills in the middle of
    /// everything are the crash explorer's matter.
    fn is_still_when_settled(&self) -> bool {
        self.mode == Mode::Crash && self.engrave != EngravePolicy::Opportunistic
    }
}

fn policy() -> impl Strategy<Value = Policy> {
    let mode = prop_oneof![3 => Just(Mode::Crash), 1 => Just(Mode::Graceful)];
    let engrave = prop_oneof![
        Just(EngravePolicy::Eager),
        Just(EngravePolicy::Lazy),
        Just(EngravePolicy::Opportunistic),
    ];
    let update = prop_oneof![Just(PointerUpdate::Eager), Just(PointerUpdate::Lazy)];
    let dictionary = prop_oneof![Just(DictionaryTier::Dram), Just(DictionaryTier::Nvm)];
    let dram = prop_oneof![Just(5u64 << 19), Just(8 << 20)];
    let analyzer = prop_oneof![Just(Analyzer::Simple), Just(Analyzer::Standard)];
    let flags = (any::<bool>(), any::<bool>(), analyzer, postings());
    let updates = (update, 1usize..6);
    (mode, engrave, updates, dictionary, 1usize..3, dram, flags).prop_map(
        |(
            mode,
            engrave,
            (pointer_update, merge_after),
            dictionary,
            executors,
            dram_bytes,
            flags,
        )| Policy {
            mode,
            engrave,
            pointer_update,
            merge_after,
            dictionary,
            executors,
            dram_bytes,
            barriers: flags.0,
            store: flags.1,
            analyzer: flags.2,
            postings: flags.3,
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
        .dictionary(policy.dictionary)
        .force_barriers(policy.barriers)
        .store(policy.store)
        .postings(policy.postings)
        .executors(policy.executors)
        .dram_bytes(policy.executors as u64 * policy.dram_bytes)
        .nvm_bytes(policy.executors as u64 * (16 << 20))
        .log_bytes(512 << 10)
        .document_bytes_max(64 << 10)
        .segment_bytes(64 << 10)
        .analyzer(policy.analyzer)
        .on_full(OnFull::Refuse)
        .open()
        .unwrap()
}

fn run(policy: Policy, acts: &[Act]) {
    let mut directory = Directory::new();
    let mut index = open(&directory, policy);
    let mut oracle = Oracle::default();
    for act in acts {
        match act {
            Act::Do(step) => apply(&index, &mut oracle, step),
            Act::Kill if policy.is_still_when_settled() => {
                index.settle();
                let killed = directory.killed();
                drop(index);
                directory = killed;
                index = open(&directory, policy);
            }
            Act::Kill | Act::Reopen => {
                index.close().unwrap();
                index = open(&directory, policy);
            }
        }
    }
    for act in acts {
        if let Act::Do(Step::Ask(asked)) = act {
            check(&index, &oracle, asked);
        }
    }
    index.settle();
    assert_eq!(index.accepted(), oracle.accepted());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(200), ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_policy_it_is_the_naive_index(
        policy in policy(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        run(policy, &acts);
    }
}

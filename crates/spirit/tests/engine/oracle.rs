//! The engine against the naive index: random documents, updates, deletes and queries, over small segments so
//! that every run crosses many of them, with one executor and with several.

use proptest::prelude::*;
use spirit::lab::Level;
use spirit::{Analyzer, Index, OnFull};
use spirit_oracle::Oracle;

use crate::support::fields::declared;
use crate::support::size_of_run;
use crate::support::steps::{Step, apply, check, step};

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Portable), Just(Level::Avx2), Just(Level::Avx512)]
}

fn small(executors: usize, fixed: bool, level: Level, store: bool) -> Index {
    declared(Index::builder())
        .dram_bytes((executors as u64) << 23)
        .segment_bytes(64 << 10)
        .executors(executors)
        .fixed_blocks(fixed)
        .vectors(level)
        .store(store)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
        .open()
        .unwrap()
}

fn run(index: &Index, steps: &[Step]) {
    let mut oracle = Oracle::default();
    for step in steps {
        apply(index, &mut oracle, step);
    }
    index.settle();
    for step in steps {
        if let Step::Ask(asked) = step {
            check(index, &oracle, asked);
        }
    }
}

proptest! {
    // PROPTEST_CASES asks for more, or for fewer where all takes longer.
    #![proptest_config(ProptestConfig::with_cases(size_of_run("PROPTEST_CASES", 200) as u32))]

    #[test]
    fn one_executor_is_the_naive_index(
        steps in prop::collection::vec(step(), 1..60),
        fixed: bool,
        store: bool,
        level in level(),
    ) {
        run(&small(1, fixed, level, store), &steps);
    }

    #[test]
    fn three_executors_are_the_naive_index(
        steps in prop::collection::vec(step(), 1..60),
        store: bool,
        level in level(),
    ) {
        run(&small(3, false, level, store), &steps);
    }
}

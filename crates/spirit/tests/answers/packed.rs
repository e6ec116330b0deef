//! Packed segments are held equal to the naive index, and to raw ones beside them: while segments move to the second tier, when they
//! are merged, and after a start.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use proptest::prelude::*;
use spirit::lab::Level;
use spirit::lab::{EngravePolicy, PointerUpdate, Postings};
use spirit::query::Bool;
use spirit::{Analyzer, Clause, Index, Mode, OnFull, Search};
use spirit_oracle::Oracle;

use crate::support::directory::Directory;
use crate::support::fields::declared;
use crate::support::steps::{Step, apply, check, step};
use crate::support::{Chance, join};

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

const PLAIN: Policy = Policy {
    mode: Mode::Crash,
    pointer_update: PointerUpdate::Eager,
    merge_after: 3,
    executors: 1,
    positions: true,
    store: false,
    level: Level::Portable,
};

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
    let options = declared(Index::builder())
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
    let report = Index::check(directory.path()).unwrap();
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

fn without(all: &[&str], none: &[&str]) -> Clause {
    let [must, not] =
        [all, none].map(|terms| terms.iter().map(|term| Clause::term(term)).collect());
    Clause::Bool(Bool { must, not, ..Bool::default() })
}

/// What goes wrong in postings, skips and unions where a list ends with a block, or one document before or behind it: a cursor at its end is
/// asked to go on, one is to find the last of a block or what is not there, all scores are equal, and what was found has died.
#[test]
fn lists_that_end_with_a_block_are_the_naive_index() {
    let all = || Clause::term("all");
    let asked = [
        Clause::all([all(), Clause::term("edge")]),
        Clause::all([Clause::term("edge"), Clause::term("far")]),
        Clause::any([Clause::term("far"), Clause::term("edge")]),
        Clause::any([all(), Clause::term("edge"), Clause::term("far")]),
        all().and_not(Clause::term("edge")),
        Clause::term("edge").and_not(all()),
        without(&["all"], &["edge", "far"]),
        without(&["all", "edge"], &["far"]),
        Clause::all([all(), Clause::any([Clause::term("edge"), Clause::term("far")])]),
        Clause::at_least(2, [all(), Clause::term("edge"), Clause::term("far")]),
        Clause::phrase(&["all", "edge"]),
        Clause::phrase_prefix(&["all"], "e"),
        all(),
    ];
    let both = [Postings::Raw, Postings::Packed];
    // In the longest, lists are dense.
    let lists =
        [127, 128, 129, 256, 257, 640].into_iter().flat_map(|count| both.map(|p| (count, p)));
    for (count, postings) in lists {
        let directory = Directory::new();
        let index = open(&directory, PLAIN, Some(postings));
        let mut oracle = Oracle::default();
        for number in 0..count {
            let edge = if (number + 1) % 128 < 2 || number + 1 == count { " edge" } else { "" };
            let far = if number == 0 || number + 1 == count { " far" } else { "" };
            let text = format!("all{edge}{far}");
            index.add(&text).unwrap();
            oracle.add(None, &text);
        }
        index.flush().unwrap();
        index.settle();
        asked.iter().for_each(|asked| check(&index, &oracle, asked));
        for dead in [0, 126, 127, 128, count - 1] {
            assert_eq!(index.delete(&dead.to_string()), Ok(oracle.delete(&dead.to_string())));
        }
        asked.iter().for_each(|asked| check(&index, &oracle, asked));
    }
}

/// Documents in which words are there more often than a posting says, with keys of every length.
fn fill(index: &Index) {
    let mut chance = Chance::new(3);
    for number in 0..3000 {
        let repeated = if number % 97 == 0 { 250 + chance.below(40) } else { chance.below(3) };
        let mut text = "sea ".repeat(repeated as usize);
        for _ in 0..chance.below(30) {
            let words = 1 << chance.below(12);
            text += &format!("w{} ", chance.below(words));
        }
        text += ["sky", "sky sky", "sea sky", ""][chance.below(4) as usize];
        match number % 4 {
            0 => index.put(&format!("a_key_that_does_not_fit_in_a_row_{number}"), &text).unwrap(),
            1 => index.put(&format!("k{number}"), &text).unwrap(),
            _ => index.add(&text).map(drop).unwrap(),
        }
        if number % 50 == 7 {
            index.delete(&format!("k{}", number - 6)).unwrap();
        }
    }
    // Short ones, so that lists have several blocks in a segment.
    for number in 0..3000 {
        index.add(["sea sky", "sea w1", "sky w0 w1", "sea"][number % 4]).unwrap();
    }
    index.flush().unwrap();
    index.settle();
}

/// What is found, the newest and the best, with scores.
fn answers(index: &Index, query: &str) -> (u64, Vec<String>, Vec<(String, f32)>) {
    let mut reader = index.reader().unwrap();
    let count = reader.count(query).unwrap();
    let newest = reader.search(query, Search::newest(40)).unwrap().keys().unwrap();
    let hits = reader.search(query, Search::best(40)).unwrap();
    let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
    (count, newest, hits.keys().unwrap().into_iter().zip(scores).collect())
}

#[test]
fn packed_segments_answer_and_score_as_raw_ones() {
    let policy = Policy { level: Level::detect(), ..PLAIN };
    let directories = [Directory::new(), Directory::new()];
    let kinds = [Postings::Raw, Postings::Packed];
    let made = |kind: usize| open(&directories[kind], policy, Some(kinds[kind]));
    let mut indexes = [made(0), made(1)];
    indexes.iter().for_each(fill);
    for start in 0..2 {
        for query in [
            "sea",
            "sky",
            "w0",
            "w7",
            "sea AND sky",
            "sea AND w3",
            "w0 AND w1 AND sky",
            "sea OR w100 OR w2000",
            "w0 w1 w2 w3 w4",
            "\"sea sea\"",
            "\"sea sky\"",
            "\"sky sky\"",
            "\"sea w1\"",
            "\"w0 w0 w1\"",
            "\"sea sea sea sky\"~3",
            "\"sky sea\"~4",
            "\"w1 w0\"~2",
            "\"sea * sky\"",
            "\"sea w\"*",
            "\"sea s\"*",
            "\"sky w0 w\"*",
            "\"w0 w\"*",
            "\"sea * w1\"*",
            "+w0 -\"sea s\"*",
            "w1*",
            "w?5",
            "w*5?",
            "w20??",
            "*99",
            "?ky",
            "w1234~1",
            "w12~2",
            "skx~1",
            "sea -w0",
            "+w0 -sky sea",
            "key:a_key_that_does_not_fit_in_a_row_1004",
            "(sea \"w0 w1\"^3 w2)~2",
        ] {
            let [raw, packed] = indexes.each_ref().map(|index| answers(index, query));
            assert_eq!(raw, packed, "{query}, start {start}");
            assert!(raw.0 > 0, "{query} finds something");
        }
        let bytes = indexes.each_ref().map(|index| index.stats().unwrap().bytes);
        assert!(bytes[1].postings + bytes[1].vectors < (bytes[0].postings + bytes[0].vectors) / 2);
        drop(indexes);
        directories.iter().for_each(is_sound);
        indexes = [made(0), made(1)];
        indexes.iter().for_each(Index::settle);
    }
}

/// A query goes through segments of which some entries lead to packed lists already and others do not yet.
#[test]
fn phrases_hold_while_readers_are_moved() {
    const DOCUMENTS: u64 = 8000;
    const PAIRS: u64 = 400;
    let policies = [PointerUpdate::Eager, PointerUpdate::Lazy].map(|pointer_update| Policy {
        mode: Mode::Crash,
        pointer_update,
        merge_after: 2,
        executors: 1,
        positions: true,
        store: false,
        level: Level::detect(),
    });
    for policy in policies {
        let directory = Directory::new();
        let index = open(&directory, policy, Some(Postings::Packed));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let (mut reader, mut chance) = (index.reader().unwrap(), Chance::new(8));
                let mut found = 0;
                while !over.load(Relaxed) {
                    let (rare, pair) = (chance.below(DOCUMENTS), chance.below(PAIRS));
                    let prefixes = [
                        format!("p{pair} -\"p{pair} left ri\"*"),
                        format!("u{rare} -\"u{rare} e\"*"),
                        format!("u{rare} -\"right u{rare}\"*"),
                        format!("\"p{pair} ri\"*"),
                    ];
                    for nothing in [
                        "all -\"left right\"".into(),
                        "\"right left\"".into(),
                        format!("u{rare} -\"u{rare} end\""),
                        format!("p{pair} -\"p{pair} left right\""),
                        format!("p{pair} -\"end p{pair}\"~5"),
                        prefixes[chance.below(4) as usize].clone(),
                    ] {
                        assert_eq!(reader.count(&nothing), Ok(0), "{nothing}");
                    }
                    found += reader.count(&format!("\"u{rare} end\"")).unwrap();
                }
                found
            });
            for number in 0..DOCUMENTS {
                let pair = number % PAIRS;
                index.add(&format!("all p{pair} left right u{number} end")).unwrap();
            }
            index.flush().unwrap();
            over.store(true, Relaxed);
            assert!(join([asking])[0] > 0);
        });
        assert_eq!(index.reader().unwrap().count("\"all * left right\""), Ok(DOCUMENTS));
        index.close().unwrap();
        is_sound(&directory);
    }
}

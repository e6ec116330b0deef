//! Phrases against a reading token by token, over every level.

mod common;

use common::shared_units;
use proptest::prelude::*;
use spirit_kernel::{
    Level, Token, each_occurrence, each_occurrence_among, each_of_tokens, phrase_count, token_units,
};
use std::ops::ControlFlow::{Break, Continue};

const WIDE: u16 = 0x8000;

/// Where each token begins, and where the last one ends; a head at the end is a token on its own.
fn token_starts(units: &[u16]) -> Vec<usize> {
    let (mut starts, mut at) = (Vec::new(), 0);
    while at < units.len() {
        starts.push(at);
        at += if units[at] & WIDE == 0 { 1 } else { 2 };
    }
    starts
}

fn check(units: &[u16], pattern: &[u16]) {
    let starts = token_starts(units);
    let found: Vec<usize> = starts
        .iter()
        .copied()
        .filter(|start| !pattern.is_empty() && units[*start..].starts_with(pattern))
        .collect();
    let shared = shared_units(units);
    for level in Level::all_supported() {
        assert_eq!(phrase_count(level, &shared, pattern), found.len(), "{level:?} {units:x?}");
        let mut visited = Vec::new();
        each_occurrence(level, &shared, pattern, |token, unit| {
            assert_eq!(starts[token], unit, "{level:?} {units:x?}");
            visited.push(unit);
            if visited.len() == 3 { Break(()) } else { Continue(()) }
        });
        assert_eq!(visited, found[..found.len().min(3)], "{level:?} {units:x?}");
        for tokens in 0..starts.len() + 2 {
            let end = starts.get(tokens).copied().unwrap_or(units.len());
            assert_eq!(token_units(level, &shared, tokens), end, "{level:?} {tokens} {units:x?}");
            let mut visited = Vec::new();
            each_occurrence_among(level, &shared, tokens, pattern, |token, unit| {
                assert_eq!(starts[token], unit, "{level:?} {units:x?}");
                visited.push(unit);
                Continue(())
            });
            let among = |start: &&usize| {
                let before = starts.partition_point(|other| other < *start);
                before + token_starts(pattern).len() <= tokens
            };
            assert!(visited.iter().eq(found.iter().filter(among)), "{level:?} {tokens} {units:x?}");
        }
        assert_eq!(token_units(level, &shared, usize::MAX), units.len());
    }
}

/// Which of `wanted` the first tokens are, and whether none of those that are read is overlong; as far as `room` reaches.
fn read_tokens(
    units: &[u16],
    tokens: usize,
    wanted: &[Token],
    room: usize,
) -> (Vec<(usize, usize)>, bool) {
    let mut found = Vec::new();
    for (token, at) in token_starts(units).into_iter().take(tokens).enumerate() {
        let (first, second) = (units[at], units.get(at + 1).copied());
        if first == WIDE && second.is_none_or(|second| second < WIDE) {
            return (found, false);
        }
        let is_it =
            |(own, count): &Token| own[0] == first && (*count == 1 || second == Some(own[1]));
        if let Some(which) = wanted.iter().position(is_it) {
            found.push((token, which));
            if found.len() == room {
                break;
            }
        }
    }
    (found, true)
}

#[test]
fn a_second_that_looks_like_a_token_is_none() {
    check(&[WIDE, 7, 8, 7, 8], &[7, 8]);
    check(&[WIDE, WIDE, 7, 8], &[7, 8]);
    check(&[WIDE, WIDE, WIDE, 7, 8], &[7, 8]);
    check(&[WIDE, WIDE, WIDE, 7, 8], &[WIDE, 7]);
}

#[test]
fn long_runs_of_heads_and_seconds_cross_blocks() {
    for lead in 0..3 {
        for len in 60..70 {
            let units = [vec![1; lead], vec![WIDE | 1; len], vec![5, 6]].concat();
            check(&units, &[5, 6]);
            check(&units, &[6]);
            check(&units, &[WIDE | 1, 5]);
            check(&units, &[WIDE | 1, WIDE | 1]);
        }
    }
}

#[test]
fn phrases_reach_from_block_to_block() {
    for lead in 50..70 {
        let units = [vec![9; lead], (1..=20).collect()].concat();
        check(&units, &(1..=20).collect::<Vec<_>>());
        check(&units, &(1..=21).collect::<Vec<_>>());
        check(&units, &[]);
    }
    check(&[], &[1]);
    check(&[3; 130], &[3, 3]);
}

proptest! {
    #[test]
    fn occurrences_equal_a_reading(
        units in prop::collection::vec(prop_oneof![0..4_u16, WIDE..WIDE + 3], 0..200),
        pattern in prop::collection::vec(prop_oneof![0..4_u16, WIDE..WIDE + 3], 0..4),
    ) {
        check(&units, &pattern);
    }

    #[test]
    fn text_like_vectors_equal_a_reading(
        units in prop::collection::vec(prop_oneof![20 => 0..12_u16, 1 => any::<u16>()], 0..300),
        pattern in prop::collection::vec(0..12_u16, 1..3),
    ) {
        check(&units, &pattern);
    }

    #[test]
    fn tokens_are_where_a_reading_finds_them(
        units in prop::collection::vec(
            prop_oneof![20 => 0..5_u16, 5 => WIDE + 1..WIDE + 3, 2 => WIDE..WIDE + 1, 1 => any::<u16>()],
            0..200,
        ),
        wanted in prop::collection::vec(
            prop_oneof![
                3 => (0..5_u16).prop_map(|unit| ([unit, 0], 1)),
                2 => (WIDE..WIDE + 3, prop_oneof![0..5_u16, WIDE..WIDE + 3]).prop_map(|(a, b)| ([a, b], 2)),
            ],
            0..5,
        ),
        tokens in 0usize..220,
        room in 1usize..60,
    ) {
        let expected = read_tokens(&units, tokens, &wanted, room);
        for level in Level::all_supported() {
            let mut found = Vec::new();
            let are_whole = each_of_tokens(level, &shared_units(&units), tokens, &wanted, |token, which| {
                found.push((token, which));
                if found.len() == room { Break(()) } else { Continue(()) }
            });
            prop_assert_eq!((found, are_whole), expected.clone(), "{:?}", level);
        }
    }
}

//! Scores against the formula, bit by bit, over every level.

mod common;

use common::{RANK_MAX, is_set, shared, shared_units, words_of};
use proptest::prelude::*;
use spirit_kernel::{
    Bar, Bm25, Frequencies, Lengths, Level, Rest, add_scores, add_scores_where, frequent,
    max_scores, score_above, score_run,
};

const BM25: Bm25 = Bm25 { weight: 7.3, c0: 0.3, c1: 0.0123, term: 0 };

/// The formula, operation by operation.
fn score(word: u32, lengths: &[u16], base: u32, bm25: Bm25) -> f32 {
    let index = i64::from(word >> 8) - i64::from(base);
    let length = usize::try_from(index).ok().and_then(|i| lengths.get(i)).copied().unwrap_or(0);
    let frequency = (word & 0xFF) as f32;
    let of_length = bm25.c1 * f32::from(length);
    let below = frequency + bm25.c0;
    let share = frequency / (below + of_length);
    bm25.weight * share
}

/// Equal to the bit; all that is not a number is one.
fn same(a: &[f32], b: &[f32]) -> bool {
    let bits = |scores: &[f32]| {
        let canonical = |score: &f32| if score.is_nan() { f32::NAN } else { *score };
        scores.iter().map(|score| canonical(score).to_bits()).collect::<Vec<_>>()
    };
    bits(a) == bits(b)
}

fn check(run: &[u32], lengths: &[u16], base: u32, bm25: Bm25) {
    let units_of = lengths;
    let (shared_run, units) = (shared(run), shared_units(lengths));
    let scores: Vec<f32> = run.iter().map(|word| score(*word, lengths, base, bm25)).collect();
    for level in Level::all_supported() {
        let lengths = Lengths::new(&units, base);
        for room in [0, 1, 15, 17, run.len() + 3] {
            let count = room.min(run.len());
            let mut out = vec![-1.0; room];
            assert_eq!(score_run(level, &shared_run, lengths, bm25, &mut out), count);
            assert!(same(&out[..count], &scores[..count]), "{level:?} {run:x?} base {base}");
            assert!(out[count..].iter().all(|score| *score == -1.0));
        }
        let highest = scores.iter().copied().fold(0.0, f32::max);
        for threshold in [f32::NEG_INFINITY, 0.0, 2.0, highest.next_down(), highest] {
            let bars = vec![threshold; run.len()];
            check_above(level, run, lengths, bm25, &scores, (Bar::at(threshold), &bars));
            let rest = Rest { weight: 1.7, frequency: 3.0, most: 1.2 };
            let others = Bm25 { weight: rest.weight, ..bm25 };
            let added = |word: &u32| score(word & !0xFF | 3, units_of, base, others).min(rest.most);
            let bars: Vec<f32> = run.iter().map(|word| threshold - added(word)).collect();
            let bar = Bar { threshold, rest: Some(rest) };
            check_above(level, run, lengths, bm25, &scores, (bar, &bars));
        }
    }
}

/// `scores` are those of the run, and `bars` what each has to beat.
fn check_above(
    level: Level,
    run: &[u32],
    lengths: Lengths,
    bm25: Bm25,
    scores: &[f32],
    (bar, bars): (Bar, &[f32]),
) {
    let shared_run = shared(run);
    let hits: Vec<usize> = (0..run.len()).filter(|i| scores[*i] > bars[*i]).collect();
    for room in [1, 2, 20, 5_000] {
        let (mut words, mut out) = (vec![0; room], vec![0.0; room + 1]);
        let (mut at, mut found) = (0, 0);
        while at < run.len() {
            let p = score_above(level, &shared_run[at..], lengths, bm25, bar, &mut words, &mut out);
            let expected = &hits[found..hits.len().min(found + room)];
            assert_eq!(p.found, expected.len(), "{level:?}");
            for (i, hit) in expected.iter().enumerate() {
                assert_eq!((words[i], out[i].to_bits()), (run[*hit], scores[*hit].to_bits()));
            }
            found += p.found;
            at += p.left;
            let end = if p.found == room { hits[found - 1] + 1 } else { run.len() };
            assert_eq!((at, p.right), (end, 0), "{level:?} room {room}");
        }
        assert_eq!(found, hits.len());
    }
    let full = score_above(level, &shared_run, lengths, bm25, bar, &mut [], &mut [0.0]);
    assert_eq!(full, spirit_kernel::Progress::default());
}

fn check_window(run: &[u32], lengths: &[u16], base: u32, window: u32, bits: &[u64], size: usize) {
    let (shared_run, units) = (shared(run), shared_units(lengths));
    let offset = |word: u32| i64::from(word >> 8) - i64::from(window);
    let consumed = run.iter().filter(|word| offset(**word) < size as i64).count();
    let before: Vec<f32> = (0..size).map(|i| i as f32 * 0.1).collect();
    let (mut all, mut some, mut most) = (before.clone(), before.clone(), before.clone());
    for word in run {
        let Some(i) = usize::try_from(offset(*word)).ok().filter(|i| *i < size) else { continue };
        let score = score(*word, lengths, base, BM25);
        all[i] += score;
        most[i] = most[i].max(score);
        some[i] = if is_set(bits, i) { all[i] } else { before[i] };
    }
    for level in Level::all_supported() {
        let lengths = Lengths::new(&units, base);
        let mut sums = before.clone();
        assert_eq!(add_scores(level, &shared_run, lengths, BM25, window, &mut sums), consumed);
        assert!(same(&sums, &all), "{level:?} window {window}");
        let mut best = before.clone();
        assert_eq!(max_scores(level, &shared_run, lengths, BM25, window, &mut best), consumed);
        assert!(same(&best, &most), "{level:?} window {window}");
        let mut sums = before.clone();
        let got = add_scores_where(level, &shared_run, lengths, BM25, window, bits, &mut sums);
        assert_eq!(got, consumed);
        assert!(same(&sums, &some), "{level:?} window {window}");
    }
}

/// Lengths of a byte each score as others do.
fn check_bytes(run: &[u32], bytes: &[u8], base: u32) {
    let pairs =
        bytes.chunks(2).map(|pair| pair[0] as u16 | (*pair.get(1).unwrap_or(&0) as u16) << 8);
    let (shared_run, pairs) = (shared(run), shared_units(&pairs.collect::<Vec<_>>()));
    let lengths: Vec<u16> = bytes.iter().copied().map(u16::from).collect();
    let scores: Vec<f32> = run.iter().map(|word| score(*word, &lengths, base, BM25)).collect();
    for level in Level::all_supported() {
        let lengths = Lengths::of_bytes(&pairs, base);
        let mut out = vec![-1.0; run.len()];
        assert_eq!(score_run(level, &shared_run, lengths, BM25, &mut out), run.len());
        assert!(same(&out, &scores), "{level:?} {run:x?} base {base}");
    }
}

#[test]
fn lengths_of_a_byte_at_both_ends_of_the_slice() {
    let run = words_of((0..100).chain([RANK_MAX - 1, RANK_MAX]), 5);
    for count in [0, 1, 2, 3, 4, 5, 31, 32, 33, 99, 100, 101, 255] {
        let bytes: Vec<u8> = (0..count).map(|i| 255 - i).collect();
        for base in [0, 1, 50, 98, 99, RANK_MAX - 2, RANK_MAX, RANK_MAX + 1, u32::MAX - 3, u32::MAX]
        {
            check_bytes(&run, &bytes, base);
        }
    }
}

/// Of some ranks only, each a unit or a byte.
#[test]
fn lengths_of_some_ranks_are_those_of_all() {
    let run = words_of(0..100, 5);
    for step in [1_u32, 2, 7, 99, 1000] {
        let has = |index: u32| index.is_multiple_of(step);
        let length = |index: u32| (index % 200 + 1) as u16;
        let indices: Vec<u32> = (0..100).filter(|index| has(*index)).collect();
        let all: Vec<u16> =
            (0..100).map(|index| if has(index) { length(index) } else { 0 }).collect();
        let listed: Vec<u16> = indices.iter().map(|index| length(*index)).collect();
        let pairs: Vec<u16> =
            listed.chunks(2).map(|pair| pair[0] | pair.get(1).copied().unwrap_or(0) << 8).collect();
        let (indices, run) = (shared(&indices), shared(&run));
        for base in [0, 1, 50, RANK_MAX, u32::MAX] {
            let (all, listed, pairs) =
                (shared_units(&all), shared_units(&listed), shared_units(&pairs));
            for level in Level::all_supported() {
                let scores = |lengths: Lengths<'_>| {
                    let mut out = vec![-1.0; run.len()];
                    score_run(level, &run, lengths, BM25, &mut out);
                    out
                };
                let expected = scores(Lengths::new(&all, base));
                assert!(same(&scores(Lengths::new(&listed, base).of_rows(&indices)), &expected));
                let listed = Lengths::of_bytes(&pairs, base).of_rows(&indices);
                assert!(same(&scores(listed), &expected), "{level:?} base {base} step {step}");
            }
        }
    }
}

fn any_lengths() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(prop_oneof![0..100_u16, any::<u16>()], 0..700)
}

#[test]
fn lengths_at_both_ends_of_the_slice() {
    let run = words_of((0..100).chain([RANK_MAX - 1, RANK_MAX]), 5);
    for count in [0, 1, 2, 3, 16, 17, 99, 100, 101] {
        let lengths: Vec<u16> = (0..count).map(|i| 0xFFFF - i).collect();
        for base in [0, 1, 50, 98, 99, RANK_MAX - 2, RANK_MAX, RANK_MAX + 1, u32::MAX - 3, u32::MAX]
        {
            check(&run, &lengths, base, BM25);
        }
    }
}

#[test]
fn numbers_that_are_none_are_so_everywhere() {
    let run = words_of(0..40, 0).iter().map(|word| word & !0xFF | word & 1).collect::<Vec<_>>();
    check(&run, &[0; 30], 0, Bm25 { weight: 0.0, c0: 0.0, c1: 0.0, term: 0 });
    check(&run, &[9; 30], 0, Bm25 { weight: 1.0, c0: 0.0, c1: f32::INFINITY, term: 0 });
    check(&run, &[9; 30], 0, Bm25 { weight: -1.0, c0: -1.0, c1: -1e-30, term: 0 });
}

#[test]
fn words_are_told_by_their_frequency() {
    for count in [0, 1, 7, 8, 16, 31, 32, 33, 100] {
        let run: Vec<u32> =
            (0..count).map(|rank| (rank << 8) | ((rank * 37 + 255) % 256)).collect();
        for (least, room) in
            [(0, 128), (1, 128), (9, 128), (255, 128), (256, 128), (u32::MAX, 128), (9, 0), (9, 17)]
        {
            let looked_at = run.iter().take(room).copied();
            let expected: Vec<u32> = looked_at.filter(|word| word & 0xFF >= least).collect();
            for level in Level::all_supported() {
                let mut out = vec![7; room];
                let found = frequent(level, &shared(&run), least, &mut out);
                assert_eq!(out[..found], expected, "{level:?}, at least {least}");
            }
        }
    }
}

/// Every term is in the document of rank `r` so often as `r` and its number say.
struct Given;

impl Frequencies for Given {
    fn frequency(&self, term: u32, rank: u32) -> u32 {
        255 + term * 1000 + rank
    }
}

/// Where a word says 255 somebody who knows is asked, in every lane and whatever is done with scores.
#[test]
fn frequencies_that_words_do_not_say_are_asked_for() {
    let bm25 = Bm25 { term: 3, ..BM25 };
    for unsaid in (0..40_u32).step_by(7).chain([39]) {
        let frequency =
            |rank: u32| if rank % 40 == unsaid || rank == 20 { 255 } else { rank % 9 + 1 };
        let run: Vec<u32> = (0..40).map(|rank| rank << 8 | frequency(rank)).collect();
        let expected: Vec<f32> = (0..40)
            .map(|rank| match frequency(rank) {
                255 => (3255 + rank) as f32,
                said => said as f32,
            })
            .map(|frequency| BM25.weight * (frequency / (frequency + BM25.c0 + BM25.c1 * 500.0)))
            .collect();
        let (shared_run, units) = (shared(&run), shared_units(&[500; 40]));
        for level in Level::all_supported() {
            let lengths = Lengths::new(&units, 0).with(&Given);
            let mut out = vec![0.0; 40];
            score_run(level, &shared_run, lengths, bm25, &mut out);
            assert!(same(&out, &expected), "{level:?}");
            // Above what 255 occurrences would score.
            let bars = vec![7.0; 40];
            check_above(level, &run, lengths, bm25, &expected, (Bar::at(7.0), &bars));
            let mut sums = vec![0.0; 40];
            add_scores(level, &shared_run, lengths, bm25, 0, &mut sums);
            assert!(same(&sums, &expected), "{level:?}");
            let mut sums = vec![0.0; 40];
            add_scores_where(level, &shared_run, lengths, bm25, 0, &[u64::MAX], &mut sums);
            assert!(same(&sums, &expected), "{level:?}");
        }
    }
}

proptest! {
    #[test]
    fn scores_equal_the_formula(
        run in common::any_run(3),
        lengths in any_lengths(),
        base in prop_oneof![0..700_u32, any::<u32>()],
        bm25 in (0.1..20.0_f32, 0.0..2.0_f32, 0.0..0.5_f32),
    ) {
        let (weight, c0, c1) = bm25;
        check(&run, &lengths, base, Bm25 { weight, c0, c1, term: 0 });
    }

    #[test]
    fn garbage_has_scores_too(run in common::any_words(200), lengths in any_lengths(), base in any::<u32>()) {
        check(&run, &lengths, base >> 10, BM25);
        for level in Level::all_supported() {
            let lengths = shared_units(&lengths);
            let lengths = Lengths::new(&lengths, base);
            let mut sums = [0.0; 100];
            prop_assert!(add_scores(level, &shared(&run), lengths, BM25, base >> 12, &mut sums) <= run.len());
        }
    }

    #[test]
    fn sums_equal_the_formula(
        run in common::any_run(3),
        lengths in any_lengths(),
        base in 0..700_u32,
        window in prop_oneof![0..2_000_u32, any::<u32>()],
        bits in common::any_bits(),
        size in 0..2_000_usize,
    ) {
        check_window(&run, &lengths, base, window, &bits, size);
    }
}

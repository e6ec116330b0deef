//! Intersection and search against the oracle, over every level and algorithm.

mod common;

use common::{RANK_MAX, implementations, plain, scattered, shared, words_of};
use proptest::prelude::*;
use spirit_kernel::{Level, Progress, Run, intersect_count, intersect_into, seek};

/// Output sizes that end inside, at and behind vectors.
const ROOMS: [usize; 11] = [0, 1, 2, 7, 8, 10, 15, 16, 17, 33, 5_000];

/// Words that no kernel may touch, behind the output.
const UNTOUCHED: u32 = 0xDEAD_BEEF;

/// The largest block of a kernel, in words: what it may leave behind of the run that did not end.
const BLOCK_MAX: usize = 32;

/// Whether a kernel came as far as the oracle: exactly, if the output became full; else one run to its end and the
/// other not further, and less than a block behind.
fn agrees(got: Progress, expected: Progress, room: usize, [a, b]: [&[u32]; 2]) -> bool {
    if got.found != expected.found || got.left > expected.left || got.right > expected.right {
        return false;
    }
    if got.found == room {
        return got == expected;
    }
    if expected.left - got.left > BLOCK_MAX || expected.right - got.right > BLOCK_MAX {
        return false;
    }
    got.left == a.len() || got.right == b.len()
}

fn check(a: &[u32], b: &[u32]) {
    let (run_a, run_b) = (shared(a), shared(b));
    for (level, algorithm) in implementations() {
        let label = format!("{level:?} {algorithm:?} a={a:x?} b={b:x?}");
        let (_, unlimited) = common::intersect(a, b, usize::MAX);
        let counted = intersect_count(level, algorithm, &run_a, &run_b);
        assert!(agrees(counted, unlimited, usize::MAX, [a, b]), "{counted:?} {label}");
        for room in ROOMS {
            let (words, progress) = common::intersect(a, b, room);
            let mut out = vec![UNTOUCHED; room + 20];
            let got = intersect_into(level, algorithm, &run_a, &run_b, &mut out[..room]);
            assert!(
                agrees(got, progress, room, [a, b]),
                "room {room} {got:?} {progress:?} {label}"
            );
            assert_eq!(out[..got.found], words, "room {room} {label}");
            assert!(out[room..].iter().all(|word| *word == UNTOUCHED), "room {room} {label}");
        }
    }
}

#[test]
fn seeds() {
    let every = |step: usize, len: u32| words_of((0..len).step_by(step), 3);
    let seeds = [
        vec![],
        words_of([0], 1),
        words_of([RANK_MAX], 2),
        words_of([0, RANK_MAX], 9),
        every(1, 15),
        every(1, 16),
        every(1, 17),
        every(2, 64),
        every(3, 1_000),
        every(1, 1_000),
        words_of(RANK_MAX - 200..=RANK_MAX, 5),
        words_of((0..40).chain(RANK_MAX - 40..=RANK_MAX), 6),
        scattered(31, 90, 1, 7),
        scattered(33, 3, 2, 7),
        scattered(700, 5, 3, 8),
        scattered(4_000, 2, 4, 9),
    ];
    for a in &seeds {
        for b in &seeds {
            check(a, b);
        }
    }
}

#[test]
fn output_words_are_the_left_runs() {
    let (a, b) = (shared(&[5 << 8 | 1, 9 << 8 | 2]), shared(&[5 << 8 | 0xFF, 9 << 8]));
    for (level, algorithm) in implementations() {
        let mut out = [0; 2];
        intersect_into(level, algorithm, &a, &b, &mut out);
        assert_eq!(out, [5 << 8 | 1, 9 << 8 | 2]);
        intersect_into(level, algorithm, &b, &a, &mut out);
        assert_eq!(out, [5 << 8 | 0xFF, 9 << 8]);
    }
}

#[test]
fn one_block_against_each_lane() {
    for lane in 0..32 {
        for len in [1, 8, 16, 32] {
            check(&words_of(100..132, 1), &words_of([100 + lane], 2));
            check(&words_of(100..100 + len, 1), &words_of([7, 50, 99 + lane, 4_000], 2));
        }
    }
}

/// A kernel may compare halves of ranks where these tell ranks apart: just there and just beyond.
#[test]
fn ranks_with_equal_low_halves_are_told_apart() {
    const HALF: u32 = 1 << 16;
    for lowest in [0, 1, HALF - 1, 3 * HALF, RANK_MAX - 2 * HALF] {
        for span in HALF - 3..=HALF + 3 {
            for len in [1, 8, 15, 16, 17, 40] {
                let low = || lowest..lowest + len;
                let high = || lowest + span - len..=lowest + span;
                let (both, left) = (words_of(low().chain(high()), 1), words_of(low(), 2));
                check(&both, &left);
                check(&left, &words_of(high(), 3));
                check(&both, &words_of(low().step_by(2).chain(high().step_by(3)), 4));
            }
        }
    }
}

#[test]
fn seek_in_seeds() {
    for run in [vec![], words_of([5, RANK_MAX], 1), scattered(300, 4, 5, 1)] {
        let shared = shared(&run);
        for level in Level::all_supported() {
            for from in [0, 1, 2, 31, 32, 33, 290, 300, 301, usize::MAX] {
                for rank in (0..1_300).chain([RANK_MAX - 1, RANK_MAX, RANK_MAX + 1, u32::MAX]) {
                    let expected = common::seek(&run, from, rank);
                    assert_eq!(
                        seek(level, &shared, from, rank),
                        expected,
                        "{level:?} {from} {rank}"
                    );
                }
            }
        }
    }
}

/// Where a run ends and its list goes on in the next one.
fn pieces<'a>(run: Run<'a>, cuts: &[usize]) -> Vec<Run<'a>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (run.len() + 1)).collect();
    cuts.extend([0, run.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &run[pair[0]..pair[1]]).collect()
}

/// Intersects two lists of runs through an output of `room` words at a time.
fn resumed(
    mut one: impl FnMut(Run, Run, &mut [u32]) -> Progress,
    a: &[Run],
    b: &[Run],
    room: usize,
) -> Vec<u32> {
    let (mut all, mut out) = (Vec::new(), vec![0; room]);
    let (mut a, mut b) = (a.iter(), b.iter());
    let (mut x, mut y): (Run, Run) = (&[], &[]);
    loop {
        while x.is_empty() {
            let Some(next) = a.next() else { return all };
            x = next;
        }
        while y.is_empty() {
            let Some(next) = b.next() else { return all };
            y = next;
        }
        let p = one(x, y, &mut out);
        all.extend_from_slice(&out[..p.found]);
        assert!(p.found == room || p.left == x.len() || p.right == y.len());
        (x, y) = (&x[p.left..], &y[p.right..]);
    }
}

proptest! {
    #[test]
    fn equals_the_oracle(a in common::any_run(1), b in common::any_run(2)) {
        check(&a, &b);
    }

    #[test]
    fn similar_runs_equal_the_oracle(
        ranks in prop::collection::vec((0..900_u32, 0..4_u8), 0..600),
    ) {
        let side = |bit| ranks.iter().filter(move |r| r.1 != bit).map(|r| r.0);
        check(&words_of(side(1), 1), &words_of(side(2), 2));
    }

    #[test]
    fn resuming_gives_the_whole_answer(
        a in common::any_run(1),
        b in common::any_run(2),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        more_cuts in prop::collection::vec(any::<usize>(), 0..6),
        room in 1..40_usize,
    ) {
        let (run_a, run_b) = (shared(&a), shared(&b));
        let (expected, _) = common::intersect(&a, &b, usize::MAX);
        let (pieces_a, pieces_b) = (pieces(&run_a, &cuts), pieces(&run_b, &more_cuts));
        for (level, algorithm) in implementations() {
            let one = |x: Run, y: Run, out: &mut [u32]| intersect_into(level, algorithm, x, y, out);
            prop_assert_eq!(&resumed(one, &pieces_a, &pieces_b, room), &expected);
        }
    }

    #[test]
    fn seek_equals_the_oracle(
        run in common::any_run(1),
        from in 0..4_000_usize,
        rank in prop_oneof![0..4_000_u32, RANK_MAX - 120..=RANK_MAX, any::<u32>()],
    ) {
        let shared = shared(&run);
        for level in Level::all_supported() {
            prop_assert_eq!(seek(level, &shared, from, rank), common::seek(&run, from, rank));
        }
    }

    #[test]
    fn garbage_ends_and_stays_in_bounds(
        a in common::any_words(700),
        b in common::any_words(700),
        room in 0..40_usize,
        from in any::<usize>(),
        rank in any::<u32>(),
    ) {
        let (run_a, run_b) = (shared(&a), shared(&b));
        let mut out = vec![0; room];
        for (level, algorithm) in implementations() {
            let p = intersect_into(level, algorithm, &run_a, &run_b, &mut out);
            prop_assert!(p.left <= a.len() && p.right <= b.len() && p.found <= room);
            prop_assert!(p.found == room || p.left == a.len() || p.right == b.len());
            let p = intersect_count(level, algorithm, &run_a, &run_b);
            prop_assert!(p.left == a.len() || p.right == b.len());
            prop_assert!(seek(level, &run_a, from, rank) <= a.len());
        }
        prop_assert_eq!(plain(&run_a), a);
    }
}

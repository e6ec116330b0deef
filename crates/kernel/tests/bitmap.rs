//! Bitmaps, alone and against runs, against the oracle over every level.

mod common;

use common::{RANK_MAX, bits_of, common_bits, shared, shared_bits, words_of};
use proptest::prelude::*;
use spirit_kernel::{
    Level, Progress, and_count, and_into, look_up, probe_count, probe_into, write_bitmap,
};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

fn check_pair(a: &[u64], b: &[u64], base: u32) {
    let (shared_a, shared_b) = (shared_bits(a), shared_bits(b));
    let common = common_bits(a, b);
    let total = a.len().min(b.len()) * 64;
    for level in Level::all_supported() {
        assert_eq!(and_count(level, &shared_a, &shared_b), common.len() as u64, "{level:?}");
        for from in [0, 1, 63, 64, 65, total / 2, total.saturating_sub(1), total, usize::MAX] {
            for room in [0, 1, 3, 10, 10_000] {
                let rest: Vec<usize> = common.iter().copied().filter(|bit| *bit >= from).collect();
                let fits = &rest[..rest.len().min(room)];
                let next = match fits.last() {
                    _ if room == 0 => from.min(total),
                    Some(last) if fits.len() == room => last + 1,
                    _ => total,
                };
                let mut out = vec![0; room];
                let got = and_into(level, &shared_a, &shared_b, base, from, &mut out);
                assert_eq!(got, (fits.len(), next), "{level:?} from {from} room {room}");
                let words: Vec<u32> =
                    fits.iter().map(|bit| base.wrapping_add(*bit as u32) << 8).collect();
                assert_eq!(out[..got.0], words, "{level:?} from {from} room {room}");
            }
        }
    }
}

fn check_probe(run: &[u32], bits: &[u64], base: u32) {
    let (shared_run, shared_bits) = (shared(run), shared_bits(bits));
    let hits = common::probe(run, bits, base);
    for level in Level::all_supported() {
        assert_eq!(probe_count(level, &shared_run, &shared_bits, base), hits.len() as u64);
        for room in [0, 1, 5, 10_000] {
            let (mut all, mut out, mut at) = (Vec::new(), vec![0; room], 0);
            while at < run.len() {
                let p = probe_into(level, &shared_run[at..], &shared_bits, base, &mut out);
                all.extend_from_slice(&out[..p.found]);
                assert!(p.right == 0 && (p.found == room || at + p.left == run.len()));
                at += p.left;
                if room == 0 {
                    assert_eq!(p, Progress::default());
                    break;
                }
            }
            assert!(room == 0 || all == hits, "{level:?} room {room} base {base}");
        }
    }
}

#[test]
fn pairs_of_seeds() {
    let seeds =
        [vec![], vec![1 << 63], vec![0; 20], vec![u64::MAX; 33], [vec![0; 70], vec![5]].concat()];
    for a in &seeds {
        for b in &seeds {
            check_pair(a, b, 0);
            check_pair(a, b, RANK_MAX - 10);
            check_pair(a, b, u32::MAX);
        }
    }
}

#[test]
fn ranks_outside_of_a_bitmap_have_no_bit() {
    let run = words_of([0, 5, 99, 100, 163, 164, 228, RANK_MAX], 1);
    for base in [0, 1, 100, RANK_MAX - 63, RANK_MAX, RANK_MAX + 1, u32::MAX - 5, u32::MAX] {
        check_probe(&run, &[u64::MAX, u64::MAX], base);
        check_probe(&run, &[], base);
    }
}

#[test]
fn a_run_written_to_a_bitmap_is_found_there() {
    let run = words_of([3, 64, 65, 127, 128, 700, RANK_MAX], 1);
    let bits = shared_bits(&[0, 1 << 5, 0, 0]);
    write_bitmap(&shared(&run), &bits, 1);
    let plain: Vec<u64> = bits.iter().map(|word| word.load(Relaxed)).collect();
    assert_eq!(bits_of(&plain), [2, 63, 64, 126, 127], "what was there before is gone");
}

proptest! {
    #[test]
    fn pairs_equal_the_oracle(a in common::any_bits(), b in common::any_bits(), base in any::<u32>()) {
        check_pair(&a, &b, base);
    }

    #[test]
    fn probes_equal_the_oracle(run in common::any_run(1), bits in common::any_bits(), base in 0..700_u32) {
        check_probe(&run, &bits, base);
    }

    #[test]
    fn garbage_probes_equal_the_oracle(
        run in common::any_words(300),
        bits in common::any_bits(),
        base in any::<u32>(),
    ) {
        check_probe(&run, &bits, base);
        check_probe(&run, &bits, base >> 20);
    }

    #[test]
    fn a_bitmap_is_that_of_its_run(
        run in common::any_run(1),
        before in common::any_bits(),
        base in prop_oneof![0..200_u32, any::<u32>()],
    ) {
        prop_assert_eq!(written(&run, &before, base), expected(&run, &before, base));
    }

    #[test]
    fn a_bitmap_of_garbage_has_no_bit_of_its_own(
        words in common::any_words(300),
        before in common::any_bits(),
        base in any::<u32>(),
    ) {
        let expected = expected(&words, &before, base);
        for bit in written(&words, &before, base) {
            prop_assert!(expected.contains(&bit), "{}", bit);
        }
    }
}

/// The bits after a run was written over `before`.
fn written(run: &[u32], before: &[u64], base: u32) -> Vec<usize> {
    let bits = shared_bits(before);
    write_bitmap(&shared(run), &bits, base);
    bits_of(&bits.iter().map(|word| word.load(Relaxed)).collect::<Vec<u64>>())
}

/// The bits that a run has in a bitmap of that size.
fn expected(run: &[u32], size: &[u64], base: u32) -> Vec<usize> {
    let bits: BTreeSet<usize> = run
        .iter()
        .map(|word| i64::from(word >> 8) - i64::from(base))
        .filter(|bit| (0..size.len() as i64 * 64).contains(bit))
        .map(|bit| bit as usize)
        .collect();
    bits.into_iter().collect()
}

/// A run with its bitmap, from a base that is not above its first rank.
fn run_and_bits(gaps: &[u32], before: u32) -> (Vec<u32>, Vec<u64>, u32) {
    let ranks: Vec<u32> = gaps
        .iter()
        .scan(before, |rank, gap| {
            Some({
                *rank += gap;
                *rank
            })
        })
        .collect();
    let run = words_of(ranks.iter().copied(), 3);
    let base = ranks.first().map_or(0, |first| first - first % 7);
    let words = ranks.last().map_or(0, |last| (last - base) as usize / 64 + 1);
    let bits = common::bits_where(words, |bit| ranks.contains(&(base + bit as u32)));
    (run, bits, base)
}

proptest! {
    #[test]
    fn what_is_looked_up_is_what_a_search_finds(
        gaps in prop::collection::vec(prop_oneof![8 => 1u32..40, 1 => 3_000u32..9_000], 0..60),
        before in 0u32..1_000,
        asked in prop::collection::vec((any::<prop::sample::Index>(), 0u32..3), 0..40),
        from in any::<prop::sample::Index>(),
        room in 0usize..50,
    ) {
        let (run, bits, base) = run_and_bits(&gaps, before);
        let near = |(index, beside): &(prop::sample::Index, u32)| {
            (run.get(index.index(run.len().max(1))).map_or(base, |word| word >> 8) + beside).max(1) - 1
        };
        let ranks: BTreeSet<u32> = asked.iter().map(near).collect();
        let ranks: Vec<u32> = ranks.into_iter().collect();
        let not_behind = ranks.first().map_or(0, |first| common::seek(&run, 0, *first));
        let from = from.index(not_behind + 1);
        let found = ranks.iter().map(|rank| {
            run.iter().copied().find(|word| word >> 8 == *rank).unwrap_or(0)
        });
        let found: Vec<u32> = found.take(room).collect();
        for level in Level::all_supported() {
            let mut out = vec![u32::MAX; room];
            let count = look_up(level, &shared(&run), &shared_bits(&bits), base, from, &ranks, &mut out);
            prop_assert_eq!(&out[..count], &found[..], "{:?}", level);
        }
    }

    /// Of a run, a bitmap and ranks that do not belong together, answers are wrong and nothing else.
    #[test]
    fn looking_up_nonsense_is_safe(
        run in prop::collection::vec(any::<u32>(), 0..40),
        bits in prop::collection::vec(any::<u64>(), 0..8),
        base in any::<u32>(),
        from in any::<usize>(),
        ranks in prop::collection::vec(any::<u32>(), 0..20),
        near in prop::collection::vec(0u32..600, 0..20),
    ) {
        let near = near.iter().map(|near| base.wrapping_add(*near));
        let ranks: Vec<u32> = ranks.into_iter().chain(near).collect();
        for level in Level::all_supported() {
            let mut out = vec![0; ranks.len()];
            look_up(level, &shared(&run), &shared_bits(&bits), base, from, &ranks, &mut out);
            let are_asked = out.iter().zip(&ranks).all(|(word, rank)| *word == 0 || word >> 8 == *rank);
            prop_assert!(are_asked);
        }
    }
}

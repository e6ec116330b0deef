//! Windows against their definition, over every level.

mod common;

use common::{RANK_MAX, bits_where, is_set, shared, shared_bits, words_of};
use proptest::prelude::*;
use spirit_kernel::{
    Level, and_bits, and_not_bits, and_not_window, and_window, copy_bits, count_bits, or_bits,
    or_window, range_bits, set_bits,
};
use spirit_kernel::{Width, above};

/// Sizes that end inside, at and behind vectors.
const SIZES: [usize; 8] = [0, 1, 3, 4, 5, 8, 17, 40];

fn check_run(run: &[u32], base: u32) {
    let shared_run = shared(run);
    for size in SIZES {
        let before = bits_where(size, |bit| bit % 5 == 0);
        let offset = |word: &u32| i64::from(word >> 8) - i64::from(base);
        let end = size as i64 * 64;
        let consumed = run.iter().take_while(|word| offset(word) < end).count();
        let added: Vec<i64> = run.iter().map(offset).collect();
        let expected = bits_where(size, |bit| bit % 5 == 0 || added.contains(&(bit as i64)));
        for level in Level::all_supported() {
            let mut bits = before.clone();
            assert_eq!(set_bits(level, &shared_run, base, &mut bits), consumed, "{level:?}");
            assert_eq!(bits, expected, "{level:?} base {base}");
        }
    }
}

fn check_shifted(from: &[u64], from_bit: usize) {
    let shared_from = shared_bits(from);
    let new = |bit: usize| from_bit.checked_add(bit).is_some_and(|bit| is_set(from, bit));
    let old = |bit: usize| bit.is_multiple_of(3);
    for size in SIZES {
        let expected = [
            bits_where(size, new),
            bits_where(size, |bit| old(bit) || new(bit)),
            bits_where(size, |bit| old(bit) && new(bit)),
            bits_where(size, |bit| old(bit) && !new(bit)),
        ];
        for level in Level::all_supported() {
            for (op, expected) in [copy_bits, or_bits, and_bits, and_not_bits].iter().zip(&expected)
            {
                let mut bits = bits_where(size, old);
                op(level, &shared_from, from_bit, &mut bits);
                assert_eq!(&bits, expected, "{level:?} from {from_bit} size {size}");
            }
        }
    }
}

fn check_windows(a: &[u64], b: &[u64]) {
    let size = a.len();
    let expected = [
        bits_where(size, |bit| is_set(a, bit) && is_set(b, bit)),
        bits_where(size, |bit| is_set(a, bit) || is_set(b, bit)),
        bits_where(size, |bit| is_set(a, bit) && !is_set(b, bit)),
    ];
    for level in Level::all_supported() {
        for (op, expected) in [and_window, or_window, and_not_window].iter().zip(&expected) {
            let mut bits = a.to_vec();
            op(level, &mut bits, b);
            assert_eq!(&bits, expected, "{level:?}");
        }
        assert_eq!(count_bits(level, a), common::bits_of(a).len() as u64, "{level:?}");
    }
}

/// A column's words, of values of `width` bytes, the last one filled with zeros.
fn column(values: &[u64], width: usize) -> Vec<u64> {
    let mut bytes: Vec<u8> =
        values.iter().flat_map(|value| value.to_le_bytes()[..width].to_vec()).collect();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn check_range(values: &[u64], from: usize, low: u64, high: u64) {
    for (width, bytes) in [(Width::One, 1), (Width::Two, 2), (Width::Four, 4), (Width::Eight, 8)] {
        let words = column(values, bytes);
        let stored: Vec<u64> = words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
            .chunks(bytes)
            .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            .collect();
        let inside = |bit: usize| {
            from.checked_add(bit)
                .and_then(|index| stored.get(index))
                .is_some_and(|value| low <= *value && *value <= high)
        };
        for size in SIZES {
            let expected = bits_where(size, inside);
            for level in Level::all_supported() {
                let mut bits = vec![0x5555; size];
                range_bits(level, &shared_bits(&words), width, from, low..=high, &mut bits);
                assert_eq!(bits, expected, "{level:?} {width:?} from {from} {low}..={high}");
            }
        }
    }
}

fn check_above(scores: &[f32], bits: &[u64], threshold: f32) {
    let total = scores.len().min(bits.len() * 64);
    let all: Vec<u32> = (0..total)
        .filter(|i| is_set(bits, *i) && scores[*i] > threshold)
        .map(|i| i as u32)
        .collect();
    for level in Level::all_supported() {
        for room in [1, 3, 64, 5_000] {
            let (mut got, mut from, mut out) = (Vec::new(), 0, vec![0; room]);
            loop {
                let (found, next) = above(level, scores, bits, threshold, from, &mut out);
                got.extend_from_slice(&out[..found]);
                from = next;
                if found < room {
                    break;
                }
                assert_eq!(next, out[room - 1] as usize + 1, "just behind the last one");
            }
            assert_eq!((&got, from), (&all, total), "{level:?} room {room}");
        }
        assert_eq!(above(level, scores, bits, threshold, 1, &mut []).1, total.min(1));
        assert_eq!(above(level, scores, bits, threshold, usize::MAX, &mut [0]), (0, total));
    }
}

#[test]
fn seeds() {
    for base in [0, 1, 64, RANK_MAX - 64, RANK_MAX, RANK_MAX + 1, u32::MAX] {
        check_run(&words_of([0, 1, 63, 64, 200, RANK_MAX - 3, RANK_MAX], 3), base);
    }
    for from in [0, 1, 63, 64, 65, 640, 641, 1_000, usize::MAX - 63, usize::MAX] {
        check_shifted(&[0xF0F0_1234_5678_9ABC; 10], from);
        check_shifted(&[], from);
        check_range(&[1, 2, 255, 256, 65_535, 65_536, u64::MAX, 0], from, 2, 65_535);
    }
    for (low, high) in [(0, u64::MAX), (0, 0), (255, 255), (256, 256), (5, 4), (u64::MAX, u64::MAX)]
    {
        let values: Vec<u64> = (0..300).map(|i| [i, u64::MAX - i][i as usize % 2]).collect();
        check_range(&values, 7, low, high);
    }
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0];
    let scores: Vec<f32> = special.iter().cycle().take(200).copied().collect();
    for threshold in special {
        check_above(&scores, &[u64::MAX; 4], threshold);
        check_above(&scores, &[0xFFF; 2], threshold);
    }
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "an empty range is what is tested")]
fn an_empty_range_has_no_value() {
    let mut exhausted = 3..=3;
    exhausted.next();
    for range in [exhausted, 4..=3] {
        let mut bits = [u64::MAX; 2];
        range_bits(Level::detect(), &shared_bits(&[3; 20]), Width::Eight, 0, range, &mut bits);
        assert_eq!(bits, [0; 2]);
    }
}

proptest! {
    #[test]
    fn runs_set_their_bits(run in common::any_run(1), base in prop_oneof![0..3_000_u32, RANK_MAX - 200..=RANK_MAX]) {
        check_run(&run, base);
    }

    #[test]
    fn garbage_sets_bits_of_the_window_only(words in common::any_words(100), base in any::<u32>()) {
        for level in Level::all_supported() {
            let mut bits = [0; 4];
            prop_assert!(set_bits(level, &shared(&words), base, &mut bits) <= words.len());
        }
    }

    #[test]
    fn shared_bitmaps_are_shifted(from in common::any_bits(), from_bit in 0..5_000_usize) {
        check_shifted(&from, from_bit);
    }

    #[test]
    fn windows_combine(a in common::any_bits(), b in common::any_bits()) {
        check_windows(&a, &b);
    }

    #[test]
    fn ranges_hold_their_values(
        values in prop::collection::vec(prop_oneof![0..300_u64, any::<u64>(), 60_000..70_000_u64], 0..300),
        from in 0..200_usize,
        low in prop_oneof![0..300_u64, any::<u64>()],
        span in prop_oneof![0..300_u64, any::<u64>()],
    ) {
        check_range(&values, from, low, low.saturating_add(span));
    }

    #[test]
    fn sums_above_a_threshold_are_found(
        scores in prop::collection::vec(0.0..4.0_f32, 0..400),
        bits in common::any_bits(),
        threshold in 0.0..4.0_f32,
    ) {
        check_above(&scores, &bits, threshold);
    }
}

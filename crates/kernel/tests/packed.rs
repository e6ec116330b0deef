//! Packed lists against a reading of their format bit by bit, over every level.

mod common;

use common::{RANK_MAX, plain, shared};
use proptest::prelude::*;
use spirit_kernel::packed::*;
use spirit_kernel::{Level, run_of};

/// Number `i` of bits of that width, by the format's words: lane, stream, lowest bit first.
fn number_in_bits(words: &[u32], width: u32, i: usize) -> u32 {
    let bit = |k: u32| {
        let at = (i as u32 / 4) * width + k;
        words[(at / 32 * 4) as usize + i % 4] >> (at % 32) & 1
    };
    (0..width).map(|k| bit(k) << k).sum()
}

/// The bytes of words.
fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The number in the first variable bytes, which are taken away.
fn take_number(bytes: &mut &[u8]) -> u32 {
    let len = bytes.iter().position(|byte| *byte < 0x80).unwrap() + 1;
    let (own, rest) = bytes.split_at(len);
    *bytes = rest;
    own.iter().rev().fold(0, |number, byte| number << 7 | u32::from(byte & 0x7F))
}

/// Bits and exceptions, by the format.
fn numbers_in(words: &[u32], width: u32, exceptions: u8) -> Vec<u32> {
    let (bits, behind) = words.split_at(4 * width as usize);
    let mut numbers: Vec<u32> = (0..BLOCK).map(|i| number_in_bits(bits, width, i)).collect();
    let behind = bytes_of(behind);
    let mut bytes = behind.as_slice();
    for _ in 0..exceptions {
        let index = usize::from(bytes[0]);
        bytes = &bytes[1..];
        numbers[index] += take_number(&mut bytes) << width;
    }
    assert!(bytes.len() < 4 && bytes.iter().all(|byte| *byte == 0), "filled with zeros");
    numbers
}

fn check_bits(values: &[u32; BLOCK], width: u32) {
    let kept = values.map(|value| if width < 32 { value & ((1 << width) - 1) } else { value });
    let mut words = vec![0xDEAD_BEEF; packed_words(width) + 1];
    let count = pack(values, width, &mut words);
    assert_eq!((count, words[count]), (4 * width as usize, 0xDEAD_BEEF));
    let by_format: Vec<u32> = (0..BLOCK).map(|i| number_in_bits(&words, width, i)).collect();
    assert_eq!(by_format, kept, "width {width}");
    for level in Level::all_supported() {
        // As the last of the words, and with others behind them.
        for end in [count, count + 1] {
            let mut out = [7; BLOCK];
            unpack(level, &shared(&words[..end]), width, &mut out);
            assert_eq!(out, kept, "{level:?} width {width}");
        }
    }
}

fn check_sums(ids: &[u32; BLOCK], start: u32) {
    for level in Level::all_supported() {
        let mut sums = gaps(ids, start);
        sum_gaps(level, start, &mut sums);
        assert_eq!(&sums, ids, "{level:?}");
    }
}

/// Returns the block's words.
fn check_numbers(values: &[u32; BLOCK]) -> usize {
    let mut words = [0xDEAD_BEEF; NUMBERS_WORDS_MAX];
    let count = pack_numbers(values, &mut words);
    let [zero, width, exceptions, _] = words[0].to_le_bytes();
    assert_eq!(zero, 0);
    assert_eq!(numbers_in(&words[1..count], width.into(), exceptions), values);
    assert!(count <= 1 + packed_words(width_of(values)), "no larger than without exceptions");
    for level in Level::all_supported() {
        let mut out = [7; BLOCK];
        assert_eq!(unpack_numbers(level, &shared(&words[..count]), &mut out), count);
        assert_eq!(&out, values, "{level:?}");
    }
    count
}

/// Returns the block's words.
fn check_postings(words: &[u32; BLOCK], start: u32) -> usize {
    let mut packed = [0xDEAD_BEEF; POSTINGS_WORDS_MAX];
    let count = pack_postings(words, start, &mut packed);
    let [width, of_frequencies, exceptions, _] = packed[0].to_le_bytes();
    let of_gaps = 4 * usize::from(width);
    let gap = |i: usize| number_in_bits(&packed[1..], width.into(), i);
    let mut lowest = start;
    for (i, word) in words.iter().enumerate() {
        assert_eq!(lowest.wrapping_add(gap(i)), word >> 8);
        lowest = (word >> 8) + 1;
    }
    let frequencies = numbers_in(&packed[1 + of_gaps..count], of_frequencies.into(), exceptions);
    assert_eq!(frequencies, words.map(|word| word & 0xFF));
    for level in Level::all_supported() {
        let shared = shared(&packed[..count]);
        let mut out = [7; BLOCK];
        assert_eq!(unpack_postings(level, &shared, start, &mut out), count);
        assert_eq!(&out, words, "{level:?}");
        assert_eq!(unpack_ranks(level, &shared, start, &mut out), count);
        assert_eq!(out, words.map(|word| word & !0xFF), "{level:?}");
    }
    count
}

fn check_tails(words: &[u32], start: u32) {
    let mut tail = [0xDEAD_BEEF; POSTING_TAIL_WORDS_MAX];
    let count = pack_posting_tail(words, start, &mut tail);
    let mut out = vec![7; words.len().min(TAIL_MAX)];
    assert_eq!(unpack_posting_tail(&shared(&tail[..count]), start, &mut out), count);
    assert_eq!(out, words[..out.len()]);

    let mut tail = [0xDEAD_BEEF; NUMBER_TAIL_WORDS_MAX];
    let count = pack_number_tail(words, &mut tail);
    let bytes = bytes_of(&tail[..count]);
    let mut bytes = bytes.as_slice();
    assert!(words.iter().take(TAIL_MAX).all(|word| take_number(&mut bytes) == *word));
    let mut out = vec![7; words.len().min(TAIL_MAX)];
    assert_eq!(unpack_number_tail(&shared(&tail[..count]), &mut out), count);
    assert_eq!(out, words[..out.len()]);
}

/// Whatever the words are, readers come to an end, and all levels to the same.
fn check_damaged(words: &[u32], width: u32, start: u32) {
    let words = shared(words);
    let outcomes: Vec<_> = Level::all_supported()
        .map(|level| {
            let (mut bits, mut numbers, mut postings) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
            unpack(level, &words, width, &mut bits);
            let ends = [
                unpack_numbers(level, &words, &mut numbers),
                unpack_postings(level, &words, start, &mut postings),
            ];
            (bits, numbers, postings, ends)
        })
        .collect();
    assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
    let mut out = [0; TAIL_MAX];
    assert!(unpack_number_tail(&words, &mut out) <= NUMBER_TAIL_WORDS_MAX);
    // A number of five bytes, and one of frequency.
    assert!(unpack_posting_tail(&words, start, &mut out) <= (TAIL_MAX * 6).div_ceil(4));
}

/// A word of these ranks with ascending gaps.
fn ascending(first: u32, gap: u32) -> [u32; BLOCK] {
    std::array::from_fn(|i| (first + i as u32 * gap) << 8 | (1 + i as u32 % 3))
}

#[test]
fn every_width() {
    for width in 0..=32 {
        for values in [[0; BLOCK], [1; BLOCK], [u32::MAX; BLOCK]] {
            check_bits(&values, width);
        }
        check_bits(&std::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9E37_79B9)), width);
    }
    assert_eq!(packed_words(33), packed_words(32), "there is no wider number");
    assert_eq!([0, 1, 255, 256].map(|value| width_of(&[0, value])), [0, 1, 8, 9]);
    assert_eq!((width_of(&[]), width_of(&[u32::MAX])), (0, 32));
}

#[test]
#[should_panic(expected = "out holds 27 words, 7 bits a number take 28")]
fn too_little_room_is_refused() {
    pack(&[0; BLOCK], 7, &mut [0; 27]);
}

#[test]
fn sizes_are_those_of_the_format() {
    assert_eq!(check_numbers(&[0; BLOCK]), 1, "nothing but a header");
    assert_eq!(check_numbers(&[1; BLOCK]), 1 + 4);
    assert_eq!(check_numbers(&[u32::MAX; BLOCK]), 1 + 128);
    let mut one_large = [1; BLOCK];
    one_large[77] = u32::MAX;
    assert_eq!(check_numbers(&one_large), 1 + 4 + 2, "an index and five bytes");
    let consecutive = ascending(5, 1).map(|word| word & !0xFF | 1);
    assert_eq!(check_postings(&consecutive, 5), 1 + 4, "no bits of gaps, one of frequencies");
}

#[test]
fn ranks_at_both_ends() {
    check_postings(&ascending(0, 1), 0);
    check_postings(&ascending(RANK_MAX - 127, 1), 0);
    check_postings(&ascending(RANK_MAX - 127, 1), RANK_MAX - 127);
    check_postings(&ascending(RANK_MAX % 127, RANK_MAX / 127), 0);
    check_postings(&[RANK_MAX << 8 | 0xFF; BLOCK], RANK_MAX);
    check_sums(&[u32::MAX; BLOCK], u32::MAX);
}

#[test]
fn tails_of_every_length() {
    for len in 0..BLOCK + 2 {
        for gap in [1, 50, 10_000, RANK_MAX / 130] {
            let words: Vec<u32> = (1..=len as u32).map(|i| ((i * gap) << 8) + i % 7).collect();
            check_tails(&words, 0);
            check_tails(&words, gap.min(1));
        }
        check_tails(&vec![u32::MAX; len], 0);
    }
}

#[test]
fn a_block_in_bytes() {
    // Gaps of 1 (2 bits in all) but for one of 3; frequencies of 1 but for one of 200, which is an exception.
    let mut words: [u32; BLOCK] = std::array::from_fn(|i| (2 * i as u32 + 1) << 8 | 1);
    words[127] += 2 << 8;
    words[1] = words[1] & !0xFF | 200;
    let mut packed = [0; POSTINGS_WORDS_MAX];
    let count = pack_postings(&words, 0, &mut packed);
    let gaps = [0x5555_5555; 7].into_iter().chain([0xD555_5555]);
    let expected: Vec<u32> = [u32::from_le_bytes([2, 1, 1, 1])]
        .into_iter()
        .chain(gaps)
        .chain([u32::MAX, u32::MAX - 1, u32::MAX, u32::MAX])
        .chain([u32::from_le_bytes([1, 100, 0, 0])])
        .collect();
    assert_eq!(packed[..count], expected);

    let mut tail = [0; POSTING_TAIL_WORDS_MAX];
    let count = pack_posting_tail(&[3 << 8 | 1, 4 << 8 | 9, 204 << 8 | 1], 3, &mut tail);
    // 2 * 0; 2 * 0 + 1 and 9; 2 * 199 = 0b11_0001110.
    assert_eq!(bytes_of(&tail[..count]), [0, 1, 9, 0x8E, 3, 0, 0, 0]);
}

#[test]
fn an_unpacked_block_is_a_run() {
    let mut words = ascending(10, 3);
    assert_eq!(plain(run_of(&mut words)), ascending(10, 3));
}

/// Numbers of which few are large.
fn any_numbers() -> impl Strategy<Value = [u32; BLOCK]> {
    let full = (0..32).prop_map(|shift| u32::MAX >> shift);
    let skewed = prop_oneof![40 => 0..4_u32, 4 => 0..300_u32, 1 => any::<u32>(), 1 => full];
    prop_oneof![
        prop::collection::vec(skewed, BLOCK),
        prop::collection::vec(any::<u32>(), BLOCK),
        prop::collection::vec(0..1_000_u32, BLOCK),
    ]
    .prop_map(|numbers| numbers.try_into().unwrap())
}

/// Words that ascend by rank.
fn any_postings(len: usize) -> impl Strategy<Value = Vec<u32>> {
    let gap = prop_oneof![Just(0..2_u32), Just(0..100), Just(0..RANK_MAX / 130)];
    let frequency = prop_oneof![20 => 1..4_u32, 1 => 0..=0xFF_u32];
    gap.prop_flat_map(move |gap| prop::collection::vec((gap, frequency.clone()), len)).prop_map(
        |postings| {
            let mut lowest = 0;
            let word = |(gap, frequency): (u32, u32)| {
                let rank = lowest + gap;
                lowest = rank + 1;
                rank << 8 | frequency
            };
            postings.into_iter().map(word).collect()
        },
    )
}

proptest! {
    #[test]
    fn bits_come_back(values in any_numbers(), width in 0..=32_u32) {
        check_bits(&values, width);
        check_bits(&values, width_of(&values));
    }

    #[test]
    fn ids_come_back(ids in any_numbers(), start in any::<u32>()) {
        check_sums(&ids, start);
    }

    #[test]
    fn numbers_come_back(values in any_numbers()) {
        check_numbers(&values);
    }

    #[test]
    fn postings_come_back(words in any_postings(BLOCK), start in any::<u32>()) {
        let words: [u32; BLOCK] = words.try_into().unwrap();
        check_postings(&words, 0);
        check_postings(&words, words[0] >> 8);
        check_postings(&words, start);
    }

    #[test]
    fn tails_come_back(words in (0..BLOCK).prop_flat_map(any_postings), garbage in common::any_words(BLOCK)) {
        check_tails(&words, 0);
        check_tails(&garbage, 0);
    }

    #[test]
    fn damaged_words_are_read_to_an_end(
        words in prop::collection::vec(any::<u32>(), 0..300),
        header in any::<[u8; 4]>(),
        width in any::<u32>(),
        start in any::<u32>(),
    ) {
        check_damaged(&words, width, start);
        let damaged: Vec<u32> = [u32::from_le_bytes(header)].into_iter().chain(words).collect();
        check_damaged(&damaged, width, start);
    }
}

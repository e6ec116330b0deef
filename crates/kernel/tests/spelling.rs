//! Which words are spelt nearly as wanted, against asking byte by byte, over every level.

use proptest::prelude::*;
use spirit_kernel::{Level, Spelling, spelt};
use std::sync::atomic::AtomicU64;

fn is_spelt(word: u64, spelling: Spelling) -> bool {
    let byte = |word: u64, place: usize| word.to_be_bytes()[place];
    let is_wanted = |place: usize| {
        spelling.choices.iter().any(|choice| byte(*choice, place) == byte(word, place))
    };
    let is_free = |place: usize| byte(spelling.free, place) != 0;
    let ascii = (1..8).take_while(|place| byte(word, *place) < 0x80);
    let misses = ascii.filter(|place| !is_free(*place) && !is_wanted(*place)).count();
    let foreign = (1..8).filter(|place| byte(word, *place) >= 0xC0).count();
    let few = misses <= spelling.misses as usize && foreign <= spelling.foreign as usize;
    word & spelling.mask == spelling.begin && few
}

/// Words of few letters, so that many are nearly alike.
fn word() -> impl Strategy<Value = u64> {
    let byte = prop_oneof![6 => 0u8..4, 1 => any::<u8>(), 1 => 0x80u8..=0xFF, 1 => Just(0x7F)];
    prop_oneof![4 => prop::array::uniform8(byte).prop_map(u64::from_be_bytes), 1 => any::<u64>()]
}

proptest! {
    #[test]
    fn it_is_what_each_byte_says(
        words in prop::collection::vec(word(), 0..80),
        choices in prop::collection::vec(word(), 0..7),
        free in prop::array::uniform8(prop_oneof![1 => Just(0u8), 1 => Just(0xFF)]),
        mask in prop_oneof![3 => Just(0u64), 2 => Just(0xFF << 56), 1 => any::<u64>()],
        begin in prop_oneof![4 => Just(0u64), 1 => any::<u64>()],
        misses in prop_oneof![6 => 0u32..8, 1 => any::<u32>()],
        foreign in prop_oneof![6 => 0u32..8, 1 => any::<u32>()],
    ) {
        let (free, begin) = (u64::from_be_bytes(free), begin & mask);
        let spelling = Spelling { mask, begin, choices: &choices, free, misses, foreign };
        let looked_at = words.iter().take(64).enumerate();
        let bits = looked_at.map(|(i, word)| u64::from(is_spelt(*word, spelling)) << i);
        let expected = bits.fold(0, |bits, bit| bits | bit);
        let shared: Vec<AtomicU64> = words.iter().map(|word| AtomicU64::new(*word)).collect();
        for level in Level::all_supported() {
            prop_assert_eq!(spelt(level, &shared, spelling), expected, "{:?}", level);
        }
    }
}

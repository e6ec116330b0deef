//! Which documents of a window are short, against asking for each length, over every form and level.

mod common;

use common::{is_set, shared, shared_units};
use proptest::prelude::*;
use spirit_kernel::{Lengths, Level, short_bits};

/// The lengths of ranks from `first` on, some of which may have none.
fn check(lengths: Lengths, of: impl Fn(u32) -> u16, base: u32, words: usize, most: u16) {
    for level in Level::all_supported() {
        let mut bits = vec![0x5555; words];
        short_bits(level, lengths, base, most, &mut bits);
        for i in 0..words as u32 * 64 {
            let expected = of(base + i) <= most;
            assert_eq!(
                is_set(&bits, i as usize),
                expected,
                "{level:?}: bit {i} from {base}, at most {most}"
            );
        }
    }
}

/// What stands at an index, or 0.
fn at(lengths: &[u16], rank: u32, first: u32) -> u16 {
    rank.checked_sub(first).and_then(|i| lengths.get(i as usize)).copied().unwrap_or(0)
}

proptest! {
    #[test]
    fn it_is_what_each_length_says(
        lengths in prop::collection::vec(prop_oneof![0u16..40, 0u16..600, any::<u16>()], 0..700),
        first in prop_oneof![Just(0u32), 0u32..1000],
        before in prop_oneof![4 => Just(0u32), 1 => 0u32..90],
        skipped in prop_oneof![3 => (0u32..10).prop_map(|n| n * 64), 1 => 0u32..700],
        words in 0usize..14,
        most in prop_oneof![0u16..40, 0u16..600, any::<u16>()],
    ) {
        let base = (first + skipped).saturating_sub(before);
        let units = shared_units(&lengths);
        check(Lengths::new(&units, first), |rank| at(&lengths, rank, first), base, words, most);
        // The same numbers as bytes, two a unit.
        let bytes: Vec<u16> = lengths.iter().flat_map(|unit| unit.to_le_bytes()).map(u16::from).collect();
        let of_bytes = Lengths::of_bytes(&units, first);
        check(of_bytes, |rank| at(&bytes, rank, first), base, words, most);
        // Lengths that every third rank has.
        let listed: Vec<u32> = (0..lengths.len() as u32).map(|i| i * 3).collect();
        let listed = shared(&listed);
        let of_listed = |lengths: &[u16], rank: u32| match rank.checked_sub(first) {
            Some(index) if index % 3 == 0 => at(lengths, index / 3, 0),
            _ => 0,
        };
        let own = Lengths::new(&units, first).of_rows(&listed);
        check(own, |rank| of_listed(&lengths, rank), base, words, most);
        let own = of_bytes.of_rows(&listed);
        check(own, |rank| of_listed(&bytes[..lengths.len()], rank), base, words, most);
    }
}

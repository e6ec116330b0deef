//! Codecs of sorted lists of document numbers, as they are published, to compare ours with. None is part of the engine.
//!
//! Each counts what two lists have in common, from the packed form: all that a list needs for it is part of its bytes.
//!
//! | codec | a list is |
//! |---|---|
//! | [raw] | words of 4 bytes, as our raw lists |
//! | [bitmap] | a bit for each document of the collection |
//! | [variable bytes](variable_bytes) | blocks of 128 gaps, 7 bits a byte |
//! | [FOR-delta](for_delta) | blocks of 128 gaps, as wide as the block's widest |
//! | [PFOR](pfor) | blocks of 128 gaps of one width, the wider ones apart |
//! | [Elias-Fano](elias_fano) | low bits, and high bits in unary |
//!
//! [Blocks](blocks) have the same skip data, and meet by the same kernel, whatever their codec: what differs is how they are unpacked.

pub(crate) mod bitmap;
pub(crate) mod blocks;
pub(crate) mod elias_fano;
pub(crate) mod for_delta;
pub(crate) mod pfor;
pub(crate) mod raw;
pub(crate) mod variable_bytes;

/// The highest document number: our kernels' posting words have 24 bits for it.
pub(crate) const NUMBER_MAX: u32 = (1 << 24) - 1;

/// A list of ascending numbers in one form.
pub(crate) trait List: Sized {
    const NAME: &'static str;

    /// Makes a list of ascending numbers, which are below `end`.
    fn of(numbers: &[u32], end: u32) -> Self;

    /// Returns the bytes of the list, with what leads into it.
    fn bytes(&self) -> usize;

    /// Counts the numbers that both lists have. Fastest if this one is the shorter.
    fn and_count(&self, other: &Self) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Ascending numbers from gaps.
    fn numbers(gaps: &[u32]) -> Vec<u32> {
        let mut next = 0;
        let number = |gap: &u32| {
            let number = next + gap;
            next = number + 1;
            number
        };
        gaps.iter().map(number).collect()
    }

    /// Gaps of lists that are dense in places and sparse in others.
    fn gaps() -> impl Strategy<Value = Vec<u32>> {
        let run = prop_oneof![
            vec(Just(0u32), 0..300),
            vec(0u32..4, 0..300),
            vec(0u32..600, 0..150),
            vec(prop_oneof![9 => 0u32..8, 1 => 0u32..20_000], 0..200),
        ];
        vec(run, 0..4).prop_map(|runs| runs.concat())
    }

    fn check<L: List>(a: &[u32], b: &[u32]) -> Result<(), TestCaseError> {
        let end = a.iter().chain(b).max().map_or(1, |max| max + 1);
        let (one, two) = (L::of(a, end), L::of(b, end));
        let set: BTreeSet<u32> = a.iter().copied().collect();
        let both = b.iter().filter(|number| set.contains(number)).count();
        prop_assert_eq!(one.and_count(&two), both, "{}", L::NAME);
        prop_assert_eq!(two.and_count(&one), both, "{}", L::NAME);
        // Every number comes back: each alone is in the list, and the list in itself.
        prop_assert_eq!(one.and_count(&one), a.len(), "{}", L::NAME);
        for number in a.iter().step_by(37) {
            prop_assert_eq!(L::of(&[*number], end).and_count(&one), 1, "{}", L::NAME);
        }
        Ok(())
    }

    proptest! {
        /// Every codec counts what plain sets have in common.
        #[test]
        fn lists_meet_as_sets_do(a in gaps(), b in gaps()) {
            let (a, b) = (numbers(&a), numbers(&b));
            check::<raw::Raw>(&a, &b)?;
            check::<bitmap::Bitmap>(&a, &b)?;
            check::<variable_bytes::VariableBytes>(&a, &b)?;
            check::<for_delta::ForDelta>(&a, &b)?;
            check::<pfor::Pfor>(&a, &b)?;
            check::<elias_fano::EliasFano>(&a, &b)?;
        }

        /// One list is a part of the other, a few numbers of it or most.
        #[test]
        fn parts_are_found(a in gaps(), step in 1usize..400) {
            let a = numbers(&a);
            let part: Vec<u32> = a.iter().copied().step_by(step).collect();
            check::<raw::Raw>(&part, &a)?;
            check::<bitmap::Bitmap>(&part, &a)?;
            check::<variable_bytes::VariableBytes>(&part, &a)?;
            check::<for_delta::ForDelta>(&part, &a)?;
            check::<pfor::Pfor>(&part, &a)?;
            check::<elias_fano::EliasFano>(&part, &a)?;
        }
    }

    #[test]
    fn packed_lists_have_the_bytes_of_their_gaps() {
        // 1,280 numbers, every 16th: gaps of 15 are 4 bits, or a byte.
        let all: Vec<u32> = (0..1280).map(|number| number * 16 + 15).collect();
        let end = 1280 * 16;
        let skip_data = 10 * 8;
        assert_eq!(raw::Raw::of(&all, end).bytes(), 1280 * 4);
        assert_eq!(bitmap::Bitmap::of(&all, end).bytes(), end as usize / 8);
        let bytes = variable_bytes::VariableBytes::of(&all, end).bytes();
        assert_eq!(bytes, 1280 + skip_data);
        let words = 1 + 128 * 4 / 32;
        assert_eq!(for_delta::ForDelta::of(&all, end).bytes(), 10 * words * 4 + skip_data);
        assert_eq!(pfor::Pfor::of(&all, end).bytes(), 10 * words * 4 + skip_data);
        // 4 low bits each, and 2 high ones.
        let elias_fano = elias_fano::EliasFano::of(&all, end).bytes();
        assert!((1280 * 6 / 8..1280).contains(&elias_fano), "{elias_fano}");
    }

    #[test]
    fn wide_gaps_are_apart_in_pfor_alone() {
        let mut gaps = vec![1; 1280];
        gaps.iter_mut().step_by(128).for_each(|gap| *gap = 5000);
        let all = numbers(&gaps);
        let end = all[1279] + 1;
        let (patched, plain) = (pfor::Pfor::of(&all, end), for_delta::ForDelta::of(&all, end));
        assert!(patched.bytes() * 4 < plain.bytes());
        assert_eq!(patched.and_count(&patched), plain.and_count(&plain));
    }
}

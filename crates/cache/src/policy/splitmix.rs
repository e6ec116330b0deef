//! SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): seeded random numbers, equal on all machines, and
//! the mixing function that they are made with.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns the stream of a seed.
    pub(super) fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Returns the next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// Returns a number below `end`, which is at least 1. All are equally likely, but for one part
    /// in 2^32 or less.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        scaled(self.next(), u64::from(end)) as u32
    }
}

/// Mixes all bits of a word. A bijection.
pub(super) fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Scales a word of random bits to a number below `end`. The high bits decide.
pub(super) fn scaled(word: u64, end: u64) -> u64 {
    ((u128::from(word) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut stream = SplitMix64::new(1_234_567);
        let first = [(); 3].map(|()| stream.next());
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn words_are_scaled_to_all_numbers_below_the_end() {
        assert_eq!([0, 1 << 62, u64::MAX].map(|word| scaled(word, 4)), [0, 1, 3]);
        let mut stream = SplitMix64::new(7);
        assert!((0..100).all(|_| stream.below(1) == 0));
    }
}

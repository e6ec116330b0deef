//! Seeded pseudo-random numbers: SplitMix64 (Steele, Lea, Flood 2014), equal on all machines and for
//! ever. Simulations, experiments and the demo draw from it.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the stream of a seed for a purpose. Streams of different names do not depend on each
    /// other.
    pub fn named(seed: u64, name: &str) -> Random {
        // FNV-1a.
        let mix = |state: u64, byte: u8| (state ^ byte as u64).wrapping_mul(0x0000_0100_0000_01B3);
        Random(name.bytes().fold(seed ^ 0xCBF2_9CE4_8422_2325, mix))
    }

    /// Returns the next number.
    #[expect(clippy::should_implement_trait, reason = "a stream without an end is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// Returns a number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns an index below `end`, which is not 0.
    pub fn index(&mut self, end: usize) -> usize {
        self.below(end as u64) as usize
    }

    /// Returns one of several, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// True once in `of` times.
    pub fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Returns a number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Mixes all bits of a word. A bijection.
pub(super) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

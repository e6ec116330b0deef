//! A repeatable stream of choices.

use spirit::lab::Random;

pub(crate) struct Chance(Random);

impl Chance {
    pub(crate) fn named(seed: u64, name: &str) -> Chance {
        Chance(Random::named(seed, name))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// Returns a number from `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least) as u64 + 1) as i64
    }

    /// Returns true in that many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        self.0.pick(of)
    }

    /// Returns a number below `end` that is more often small.
    pub(crate) fn early(&mut self, end: u64) -> u64 {
        let most = self.below(end) + 1;
        let most = self.below(most) + 1;
        self.below(most)
    }
}

//! Random replacement: each entry is equally likely to leave. The control for other policies.
//!
//! `order` is a permutation of all entry numbers: first the `len` entries, then the free numbers.
//! `places` is its inverse. An entry that leaves changes places with the last one.

use super::splitmix::SplitMix64;
use super::{Policy, possible, require};

/// The policy that draws its victims.
pub struct Random {
    order: Box<[u32]>,
    places: Box<[u32]>,
    len: u32,
    draws: SplitMix64,
}

impl Random {
    /// Returns an empty policy for `capacity` entries, at least 1 and at most
    /// [`CAPACITY_MAX`](super::CAPACITY_MAX). The seed and the calls decide all draws.
    pub fn new(capacity: u32, seed: u64) -> Random {
        let numbers = || (0..possible(capacity)).collect();
        Random { order: numbers(), places: numbers(), len: 0, draws: SplitMix64::new(seed) }
    }

    /// Returns a rule that is broken, if one is. Walks all entries: for tests.
    pub fn check(&self) -> Result<(), &'static str> {
        require(self.len <= self.capacity(), "there are at most as many entries as allowed")?;
        for (place, entry) in (0..).zip(&self.order) {
            require(self.places[*entry as usize] == place, "places are the inverse of the order")?;
        }
        Ok(())
    }
}

impl Policy for Random {
    fn touch(&mut self, _entry: u32) {}

    fn admit(&mut self, _key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32> {
        if self.len == self.capacity() {
            evicted(self.evict()?);
        }
        self.len += 1;
        Some(self.order[self.len as usize - 1])
    }

    fn evict(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let victim = self.order[self.draws.below(self.len) as usize];
        self.remove(victim);
        Some(victim)
    }

    fn remove(&mut self, entry: u32) {
        self.len -= 1;
        let (place, last_place) = (self.places[entry as usize], self.len);
        let last = self.order[last_place as usize];
        self.order.swap(place as usize, last_place as usize);
        self.places[entry as usize] = last_place;
        self.places[last as usize] = place;
    }

    fn len(&self) -> u32 {
        self.len
    }

    fn capacity(&self) -> u32 {
        self.order.len() as u32
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&*self.order) + size_of_val(&*self.places)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws 60,000 victims from 10 entries. Chi-squared has 9 degrees of freedom; 27.9 is its
    /// 99.9th percentile.
    #[test]
    fn all_entries_are_equally_likely_to_leave() {
        let mut random = Random::new(10, 3);
        let mut evictions = [0u32; 10];
        for key in 0..60_010 {
            random.admit(key, &mut |entry| evictions[entry as usize] += 1);
        }
        let parts = evictions.map(|n| (f64::from(n) - 6000.0).powi(2) / 6000.0);
        let chi_squared: f64 = parts.iter().sum();
        assert!(chi_squared < 27.9, "{chi_squared}");
        println!("chi-squared of 60,000 draws from 10 entries: {chi_squared:.1}");
    }

    #[test]
    fn the_seed_decides_all_draws() {
        let victims = |seed| {
            let mut random = Random::new(8, seed);
            let mut victims = Vec::new();
            (0..100).for_each(|key| {
                random.admit(key, &mut |entry| victims.push(entry));
            });
            victims
        };
        assert_eq!(victims(1), victims(1));
        assert_ne!(victims(1), victims(2));
    }
}

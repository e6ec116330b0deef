//! Twins of LRU and of random replacement: a vector of keys each.

use super::Naive;

/// Keys by recency.
pub(super) struct NaiveLru {
    capacity: usize,
    keys: Vec<u64>,
}

impl NaiveLru {
    pub(super) fn new(capacity: u32) -> NaiveLru {
        NaiveLru { capacity: capacity as usize, keys: Vec::new() }
    }
}

impl Naive for NaiveLru {
    fn ask(&mut self, key: u64) -> (bool, Vec<u64>) {
        let is_hit = self.keys.contains(&key);
        self.keys.retain(|k| *k != key);
        self.keys.push(key);
        let surplus = self.keys.len().saturating_sub(self.capacity);
        (is_hit, self.keys.drain(..surplus).collect())
    }

    fn evict(&mut self) -> Option<u64> {
        (!self.keys.is_empty()).then(|| self.keys.remove(0))
    }

    fn remove(&mut self, key: u64) {
        self.keys.retain(|k| *k != key);
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}

/// Keys in the order in which they were admitted, but that the last one fills each gap.
pub(super) struct NaiveRandom {
    capacity: usize,
    keys: Vec<u64>,
    state: u64,
}

impl NaiveRandom {
    pub(super) fn new(capacity: u32, seed: u64) -> NaiveRandom {
        NaiveRandom { capacity: capacity as usize, keys: Vec::new(), state: seed }
    }

    /// The next number of SplitMix64, as its reference has it.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
}

impl Naive for NaiveRandom {
    fn ask(&mut self, key: u64) -> (bool, Vec<u64>) {
        if self.keys.contains(&key) {
            return (true, Vec::new());
        }
        let is_full = self.keys.len() == self.capacity;
        let left = if is_full { self.evict() } else { None };
        self.keys.push(key);
        (false, left.into_iter().collect())
    }

    fn evict(&mut self) -> Option<u64> {
        if self.keys.is_empty() {
            return None;
        }
        let place = (u128::from(self.draw()) * self.keys.len() as u128) >> 64;
        Some(self.keys.swap_remove(place as usize))
    }

    fn remove(&mut self, key: u64) {
        let place = self.keys.iter().position(|k| *k == key).unwrap();
        self.keys.swap_remove(place);
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}

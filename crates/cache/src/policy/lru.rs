//! LRU: the entry that was not found for the longest time leaves.
//!
//! One list has all entries, by recency: first the one that leaves next, last the one that was
//! found or admitted last. The numbers that are not in the list are free.

use super::lists::Lists;
use super::numbers::Numbers;
use super::{Policy, possible, require};

/// The only list.
const RECENCY: u32 = 0;

/// The policy LRU.
pub struct Lru {
    entries: Lists,
    free: Numbers,
    capacity: u32,
}

impl Lru {
    /// Returns an empty policy for `capacity` entries, at least 1 and at most
    /// [`CAPACITY_MAX`](super::CAPACITY_MAX).
    pub fn new(capacity: u32) -> Lru {
        let capacity = possible(capacity);
        Lru { entries: Lists::new(capacity, 1), free: Numbers::new(capacity), capacity }
    }

    /// Returns a rule that is broken, if one is. Walks all entries: for tests.
    pub fn check(&self) -> Result<(), &'static str> {
        let mut entries = 0;
        for entry in self.entries.nodes(RECENCY) {
            require(!self.free.is_free(entry), "a listed entry is not free")?;
            entries += 1;
        }
        require(entries == self.len(), "all entries are listed")
    }
}

impl Policy for Lru {
    fn touch(&mut self, entry: u32) {
        self.entries.renew(RECENCY, entry);
    }

    fn admit(&mut self, _key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32> {
        if self.free.is_used_up() {
            evicted(self.evict()?);
        }
        let entry = self.free.take()?;
        self.entries.push(RECENCY, entry);
        Some(entry)
    }

    fn evict(&mut self) -> Option<u32> {
        let oldest = self.entries.first(RECENCY)?;
        self.remove(oldest);
        Some(oldest)
    }

    fn remove(&mut self, entry: u32) {
        self.entries.remove(entry);
        self.free.give(entry);
    }

    fn len(&self) -> u32 {
        self.free.used()
    }

    fn capacity(&self) -> u32 {
        self.capacity
    }

    fn bytes(&self) -> u64 {
        self.entries.bytes() + self.free.bytes()
    }
}

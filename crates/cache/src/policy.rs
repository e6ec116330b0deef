//! Replacement policies: which entries a full cache keeps.
//!
//! A policy knows entries by numbers below its capacity, which it hands out itself, and keys by
//! their 64-bit hashes. All its memory is reserved when it is made, in boxed slices, which cannot
//! grow. Every call takes constant time, amortized. Calls name only entries that are in use. A
//! policy belongs to one owner at a time.
//!
//! Some policies remember keys that have no entry any more: their *ghosts*.

mod ghosts;
mod index;
mod lists;
mod numbers;
mod sketch;
mod splitmix;
mod watch;

pub mod dlirs;
pub mod lru;
pub mod random;
pub mod s3_fifo;
pub mod tiny_lfu;

#[cfg(test)]
mod tests;

/// The largest capacity. Numbers of nodes and slots have 32 bits, and a policy may use several of
/// each for an entry.
pub const CAPACITY_MAX: u32 = 1 << 28;

/// Returns the nearest capacity that a policy can have.
fn possible(capacity: u32) -> u32 {
    capacity.clamp(1, CAPACITY_MAX)
}

/// Returns `rule` as an error if it is broken.
fn require(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}

/// A replacement policy.
pub trait Policy: Send {
    /// Notes that an entry was found.
    fn touch(&mut self, entry: u32);

    /// Admits a key that has no entry. Calls `evicted` for each entry that must leave for it, and
    /// returns the key's entry, which may be one of these. Returns `None` if the key is not worth
    /// an entry; then nothing leaves.
    fn admit(&mut self, key: u64, evicted: &mut dyn FnMut(u32)) -> Option<u32>;

    /// Chooses an entry that leaves because the heap lacks room for its size, and lets it go.
    /// Returns `None` if there are no entries.
    fn evict(&mut self) -> Option<u32>;

    /// Lets an entry go that is no longer valid.
    fn remove(&mut self, entry: u32);

    /// Returns the number of entries.
    fn len(&self) -> u32;

    /// True if there are no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the largest number of entries.
    fn capacity(&self) -> u32;

    /// Returns the bytes of its memory.
    fn bytes(&self) -> u64;
}

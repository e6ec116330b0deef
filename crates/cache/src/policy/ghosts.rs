//! Ghosts in the order in which they left: keys that had an entry, the oldest forgotten first.
//!
//! A ghost is a node of a list and of a hash table. Its key stands in `keys`, in the place of the
//! node's number.

use super::index::Index;
use super::lists::Lists;
use super::numbers::Numbers;
use super::require;

/// The only list.
const AGE: u32 = 0;

/// A bounded queue of keys that can be searched.
pub(super) struct Ghosts {
    keys: Box<[u64]>,
    queue: Lists,
    index: Index,
    free: Numbers,
}

impl Ghosts {
    /// Returns an empty queue for `ghosts_max` keys.
    pub(super) fn new(ghosts_max: u32) -> Ghosts {
        Ghosts {
            keys: vec![0; ghosts_max as usize].into(),
            queue: Lists::new(ghosts_max, 1),
            index: Index::new(ghosts_max),
            free: Numbers::new(ghosts_max),
        }
    }

    /// Appends a key. Forgets the oldest if the queue is full.
    pub(super) fn push(&mut self, key: u64) {
        if self.free.is_used_up()
            && let Some(oldest) = self.queue.first(AGE)
        {
            self.forget(oldest);
        }
        if let Some(node) = self.free.take() {
            self.keys[node as usize] = key;
            self.queue.push(AGE, node);
            self.index.insert(key, node);
        }
    }

    /// Takes a key out. True if it was in the queue.
    pub(super) fn take(&mut self, key: u64) -> bool {
        let found = self.index.find(|node| self.keys[node as usize], key);
        if let Some(node) = found {
            self.forget(node);
        }
        found.is_some()
    }

    fn forget(&mut self, node: u32) {
        self.index.remove(|node| self.keys[node as usize], node);
        self.queue.remove(node);
        self.free.give(node);
    }

    /// Returns a rule that is broken, if one is.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let queued = self.queue.nodes(AGE).count();
        require(queued == self.index.len(), "all ghosts are in the table")?;
        require(queued == self.free.used() as usize, "all ghosts are in the queue")
    }

    /// Returns the bytes of its memory.
    pub(super) fn bytes(&self) -> u64 {
        let keys = size_of_val(&*self.keys) as u64;
        keys + self.queue.bytes() + self.index.bytes() + self.free.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_ghost_is_forgotten_first() {
        let mut ghosts = Ghosts::new(2);
        [1, 2, 3].into_iter().for_each(|key| ghosts.push(key));
        assert!(!ghosts.take(1) && ghosts.take(2) && !ghosts.take(2));
        [4, 5].into_iter().for_each(|key| ghosts.push(key));
        assert!(!ghosts.take(3) && ghosts.take(4) && ghosts.take(5));
        assert_eq!(ghosts.check(), Ok(()));
    }

    #[test]
    fn a_key_may_be_there_twice_and_no_ghost_is_kept_without_room() {
        let mut ghosts = Ghosts::new(2);
        [1, 1].into_iter().for_each(|key| ghosts.push(key));
        assert!(ghosts.take(1) && ghosts.take(1) && !ghosts.take(1));
        let mut none = Ghosts::new(0);
        none.push(1);
        assert!(!none.take(1));
    }
}

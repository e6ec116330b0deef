//! A hash table from key to node, over reserved memory.
//!
//! It has slots for node numbers only: the keys stand in an array of its owner, in the place of
//! the node's number. A node is in the first slot that was free from its key's *home* on, around
//! the end if need be. At most half of the slots are in use, so a free one ends every search. A
//! node that leaves makes the following ones move up; no slot is marked as deleted.
//!
//! Keys are hashes already. They are multiplied once more, so that weak ones do no harm. Two nodes
//! may have one key: [`Index::find`] returns either.

/// No node: the slot is free.
const NONE: u32 = u32::MAX;

/// A hash table from key to node.
pub(super) struct Index {
    slots: Box<[u32]>,
    /// How far a product is shifted so that it is a slot.
    shift: u32,
}

impl Index {
    /// Returns an empty table for `nodes_max` nodes at most.
    pub(super) fn new(nodes_max: u32) -> Index {
        let slots = (2 * nodes_max as usize).next_power_of_two().max(2);
        Index { slots: vec![NONE; slots].into(), shift: u64::BITS - slots.ilog2() }
    }

    /// Finds a node by its key.
    pub(super) fn find(&self, keys: impl Fn(u32) -> u64, key: u64) -> Option<u32> {
        let slot = self.search(self.home(key), |node| keys(node) == key);
        Some(self.slots[slot]).filter(|node| *node != NONE)
    }

    /// Inserts a node.
    pub(super) fn insert(&mut self, key: u64, node: u32) {
        let slot = self.search(self.home(key), |_| false);
        self.slots[slot] = node;
    }

    /// Removes a node, which is in the table. Nodes behind it move into the gap, unless the gap is
    /// before their home. The loop ends at a free slot.
    pub(super) fn remove(&mut self, keys: impl Fn(u32) -> u64, node: u32) {
        let mut gap = self.search(self.home(keys(node)), |other| other == node);
        debug_assert_eq!(self.slots[gap], node);
        let mut slot = gap;
        loop {
            slot = self.after(slot);
            let other = self.slots[slot];
            if other == NONE {
                break;
            }
            if self.steps(self.home(keys(other)), slot) >= self.steps(gap, slot) {
                self.slots[gap] = other;
                gap = slot;
            }
        }
        self.slots[gap] = NONE;
    }

    /// Returns the number of nodes. Looks at all slots: for checks.
    pub(super) fn len(&self) -> usize {
        self.slots.iter().filter(|node| **node != NONE).count()
    }

    /// Returns the bytes of its memory.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.slots) as u64
    }

    /// Returns the first slot from `slot` on that is free or has a node that is sought.
    fn search(&self, mut slot: usize, is_sought: impl Fn(u32) -> bool) -> usize {
        while self.slots[slot] != NONE && !is_sought(self.slots[slot]) {
            slot = self.after(slot);
        }
        slot
    }

    /// Returns the slot at which the search for a key begins (Knuth, 1973: multiplicative hashing).
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// Returns the number of steps from one slot forward to another.
    fn steps(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The table agrees with a vector of pairs, also with keys that share a home or are equal.
        #[test]
        fn a_table_is_a_vector_of_pairs(
            bits in 0u32..64,
            steps in prop::collection::vec((0u32..6, 0u64..5), 1..200),
        ) {
            let mut index = Index::new(6);
            let mut keys = [0; 6];
            let mut naive: Vec<(u64, u32)> = Vec::new();
            for (node, key) in steps {
                if let Some(at) = naive.iter().position(|(_, n)| *n == node) {
                    index.remove(|node| keys[node as usize], node);
                    naive.remove(at);
                } else {
                    keys[node as usize] = key << bits;
                    index.insert(key << bits, node);
                    naive.push((key << bits, node));
                }
                prop_assert_eq!(index.len(), naive.len());
                for key in 0..5 {
                    let found = index.find(|node| keys[node as usize], key << bits);
                    let is_right = |node| naive.contains(&(key << bits, node));
                    let exists = naive.iter().any(|(k, _)| *k == key << bits);
                    prop_assert_eq!(found.map(is_right), exists.then_some(true));
                }
            }
        }
    }
}

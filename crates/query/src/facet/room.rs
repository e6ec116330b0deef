//! What facets take of memory: nearly, by what tables say that they have room for, and without going through them.

/// What an allocation takes besides what is in it.
pub(super) const ALLOCATION: usize = 16;
/// Of a search tree's nodes, half full at the worst, each entry takes so much besides another one's room.
const NODE_SHARE: usize = 16;

/// Bytes of a hash table with room for `capacity` entries: one in eight of its slots stays free, and each has a byte of its own.
pub(super) fn table(capacity: usize, entry_bytes: usize) -> usize {
    (capacity + capacity.div_ceil(7)) * (entry_bytes + 1)
}

/// Bytes of a search tree of this many entries, at most.
pub(super) fn tree(entries: usize, entry_bytes: usize) -> usize {
    entries * (2 * entry_bytes + NODE_SHARE)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_table_takes_a_power_of_two_of_slots() {
        for slots in [8, 64, 1 << 20] {
            let table_of: HashMap<u64, u64> = HashMap::with_capacity(slots / 8 * 7);
            assert_eq!(table(table_of.capacity(), 16), slots * 17);
        }
        assert_eq!(table(0, 16), 0);
    }
}

//! Estimates of the memory that facets take, by the capacity of their tables, without reading the
//! tables.

/// Bytes of an allocation besides its content.
pub(super) const ALLOCATION: usize = 16;
/// Bytes of a search tree's nodes for each entry. Nodes may be half full, so each entry also takes
/// another one's room.
const NODE_SHARE: usize = 16;

/// Returns the bytes of a hash table with room for `capacity` entries. One in eight slots stays
/// free, and each slot has one more byte.
pub(super) fn table(capacity: usize, entry_bytes: usize) -> usize {
    (capacity + capacity.div_ceil(7)) * (entry_bytes + 1)
}

/// Returns the bytes of a search tree of this many entries, at most.
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

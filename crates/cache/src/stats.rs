//! Statistics of a cache.

use std::ops::Add;

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// Sizes and counts of a cache, or of several.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct CacheStats {
            $($(#[$doc])* pub $name: $kind,)*
        }

        impl CacheStats {
            /// Yields all figures with their names.
            pub fn figures(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), u64::from(self.$name)),)*].into_iter()
            }
        }

        impl Add for CacheStats {
            type Output = CacheStats;

            fn add(self, other: CacheStats) -> CacheStats {
                CacheStats { $($name: self.$name + other.$name,)* }
            }
        }
    };
}

stats! {
    /// All bytes that are reserved: those of the table, the policy and the heap.
    bytes: u64,
    /// Bytes of the table of entries.
    table_bytes: u64,
    /// Bytes of the policy's lists.
    policy_bytes: u64,
    /// Bytes of the heap.
    heap_bytes: u64,
    /// Bytes of keys and values in the heap.
    kept_bytes: u64,
    /// Bytes of the blocks that they lie in.
    block_bytes: u64,
    /// Bytes of the heap that are free.
    free_bytes: u64,
    /// Bytes of the largest block that could be allocated.
    largest_free_bytes: u64,
    /// Entries.
    entries: u32,
    /// The largest number of entries.
    entries_max: u32,
    /// Look-ups that found an entry.
    found: u64,
    /// Those of them that found the entry of another question by an alias.
    found_by_alias: u64,
    /// Look-ups that found none, or one that was being changed or of no use.
    missed: u64,
    /// Values that were kept.
    filled: u64,
    /// Entries that left for others.
    evicted: u64,
    /// Values that were not kept since another thread was filling something in.
    busy: u64,
    /// Values that were not kept since there was no room for them.
    without_room: u64,
}

//! Questions, as the result cache tells them apart.

use spirit_query::SortBy;

/// A question about a query's matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Their number.
    Count,
    /// Their number, up to a limit.
    Total(u64),
    /// The newest of them, as many.
    Newest(usize),
    /// Facets of them.
    Facets,
    /// The first of them in the order of a number.
    First(Wanted),
    /// The best of them.
    Best {
        /// The number of them.
        k: usize,
        /// The bits of BM25's `k1` and `b`.
        parameters: [u32; 2],
        /// True if places and closeness count.
        proximity: bool,
    },
}

/// The order of matches, and the number that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) by: SortBy,
    pub(crate) k: usize,
}

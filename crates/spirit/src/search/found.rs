//! The order of hits, from which a cursor is made.

use spirit_query::{Ranking, SortBy};

/// The order in which hits were found.
#[derive(Clone, Copy, Default)]
pub(crate) enum Found {
    #[default]
    Newest,
    Best(Ranked),
    Sorted(Sorted),
    /// In the order of several keys.
    Keyed {
        /// The exclusive upper bound of sequence numbers when the first page was requested.
        limit: u64,
        /// The fingerprint of the query and its order.
        fingerprint: u32,
    },
}

/// The ranking of the best hits.
#[derive(Clone, Copy)]
pub(crate) struct Ranked {
    pub(crate) by: Ranking,
    /// The exclusive upper bound of sequence numbers when the first page was requested.
    pub(crate) limit: u64,
}

/// The field and direction by which hits were sorted.
#[derive(Clone, Copy)]
pub(crate) struct Sorted {
    pub(crate) by: SortBy,
    /// The exclusive upper bound of sequence numbers when the first page was requested.
    pub(crate) limit: u64,
}

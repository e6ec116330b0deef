//! The memory of a desk for the lists of two terms.

use spirit_query::{Address, Query, term_query};

/// The memory of both lists.
pub(super) struct Pair {
    /// The query for one of the terms.
    pub(super) query: Query,
    pub(super) lists: [Vec<Address>; 2],
}

impl Pair {
    /// Reserves lists of at most `matches` each.
    pub(super) fn new(matches: usize) -> Pair {
        Pair { query: term_query(), lists: [(); 2].map(|()| Vec::with_capacity(matches)) }
    }
}

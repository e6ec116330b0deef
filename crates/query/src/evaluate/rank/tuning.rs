//! Thresholds of the ranked evaluators.

/// At most this many candidates of a block are looked up one by one in the next list.
pub(super) const LOOKED_UP_ONE_BY_ONE: usize = 8;

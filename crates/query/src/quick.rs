//! Queries that are answered in less time than a look-up in a cache takes, by their shape.

use crate::query::{Kind, Query};

/// True if the newest matches are found at once: the query has two terms at most, and nothing else.
#[inline]
pub fn has_quick_newest(query: &Query) -> bool {
    query.terms.len() <= 2 && query.patterns.is_empty() && query.ranges.is_empty()
}

/// True if the matches are one term's documents, whose number is kept.
#[inline]
pub fn has_quick_count(query: &Query) -> bool {
    let root = query.nodes.get(query.root as usize);
    root.is_none_or(|root| matches!(root.kind, Kind::Term(_)))
}

/// True if the query looks for documents by their keys.
pub fn asks_for_keys(query: &Query) -> bool {
    query.has_keys()
}

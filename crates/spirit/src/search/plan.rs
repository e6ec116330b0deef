//! Plans and explanations, as users read them.

use std::fmt;

/// A description of how a search is evaluated. [`Display`](fmt::Display) writes it as a tree: for
/// each executor the evaluators that the planner chose, and the clauses with the sizes of their
/// lists.
#[derive(Clone, Debug)]
pub struct QueryPlan(pub(crate) spirit_query::QueryPlan);

impl fmt::Display for QueryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason for a document's score. [`Display`](fmt::Display) writes it as a tree: for each
/// clause its part of the score, and the numbers of BM25 that it comes from.
#[derive(Clone, Debug)]
pub struct Explanation(pub(crate) spirit_query::Explanation);

impl Explanation {
    /// Returns the score, to the bit.
    pub fn score(&self) -> f32 {
        self.0.value
    }

    /// True if the document matches.
    pub fn matches(&self) -> bool {
        self.0.matches
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

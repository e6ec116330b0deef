//! Terms that a query contains more than once: `to be or not to be`.
//!
//! All occurrences add equal scores. So the first one stays, with the sum of the boosts, like in
//! Lucene's rewriting of a disjunction. One list is read instead of two. Where matching clauses are
//! counted, each occurrence stays a clause. Nodes with more than [`RANKED_INLINE`] clauses are left as
//! they are: each is compared with each, and they are not ranked list by list anyway.

use crate::plan::RANKED_INLINE;
use crate::query::{Kind, NONE, Node, NodeId, Query};

impl Query {
    /// Joins duplicate terms. All clauses have their minimum by now.
    pub(crate) fn join_repeated(&mut self) {
        for parent in 0..self.nodes.len() as NodeId {
            let Node { kind, tie, .. } = self.nodes[parent as usize];
            // The best of equal scores is not their sum.
            let is_summed = matches!(kind, Kind::Clauses { minimum: 0 | 1 }) && tie.is_none();
            if !is_summed || self.children(parent).nth(RANKED_INLINE).is_some() {
                continue;
            }
            let mut first = self.nodes[parent as usize].child;
            while first != NONE {
                self.join_later(first);
                first = self.nodes[first as usize].next;
            }
        }
    }

    /// Removes the later siblings that repeat a node's term.
    fn join_later(&mut self, first: NodeId) {
        let mut before = first;
        // Terminates: each round removes a sibling or moves `before` on.
        loop {
            let later = self.nodes[before as usize].next;
            if later == NONE {
                return;
            }
            if !self.repeats(first, later) {
                before = later;
                continue;
            }
            let Node { boost, next, .. } = self.nodes[later as usize];
            let node = &mut self.nodes[first as usize];
            node.boost = (node.boost + boost).min(f32::MAX);
            self.nodes[before as usize].next = next;
        }
    }

    /// True if a sibling repeats an earlier one's term, and takes part in the same role.
    fn repeats(&self, first: NodeId, later: NodeId) -> bool {
        let [one, other] = [first, later].map(|id| &self.nodes[id as usize]);
        let alike = one.occur == other.occur && !one.constant && !other.constant;
        let terms = self.term_of(first).zip(self.term_of(later));
        alike
            && terms.is_some_and(|terms| {
                let [one, other] = [terms.0, terms.1].map(|term| &self.terms[term as usize]);
                one.key == other.key
                    && one.is_word == other.is_word
                    && self.bytes_of(one) == self.bytes_of(other)
            })
    }
}

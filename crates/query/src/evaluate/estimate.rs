//! A rough upper bound on the number of documents of a segment that a node matches. Required
//! clauses are evaluated from the rarest one on.

use super::{Evaluation, Place};
use crate::collect::Limit;
use crate::leaf::END;
use crate::query::{Kind, NodeId, Occur};

impl<C: Limit> Evaluation<'_, C> {
    /// Returns the required clause with the lowest estimate.
    pub(super) fn cheapest(&self, place: &Place<'_>, node: NodeId) -> Option<NodeId> {
        let query = self.query;
        let must = query.children(node).filter(|c| query.counts(*c, Occur::Must));
        must.min_by_key(|child| self.estimate(place, *child))
    }

    /// Returns a rough upper bound on the number of documents of the segment that a node matches.
    pub(super) fn estimate(&self, place: &Place<'_>, node: NodeId) -> u32 {
        if let Some(count) = self.scratch.kept.count(node) {
            return count;
        }
        let query = self.query;
        let all = END - place.base;
        match query.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank => 0,
            Kind::Everything | Kind::Pattern(_) => all,
            Kind::Key(_) => 1,
            Kind::Term(term) => self.scratch.leaves[term as usize].postings,
            Kind::Range(range) => self.estimate_of_range(place, range),
            Kind::Phrase { .. } | Kind::PhrasePrefix(_) => self.estimate_of_all(place, node),
            Kind::Clauses { .. } if self.has(node, Occur::Must) => {
                self.estimate_of_all(place, node)
            }
            Kind::Clauses { .. } if self.has(node, Occur::Should) => {
                let should = query.children(node).filter(|c| query.counts(*c, Occur::Should));
                should.fold(0, |sum, c| self.estimate(place, c).saturating_add(sum)).min(all)
            }
            Kind::Clauses { .. } => all,
        }
    }

    fn estimate_of_all(&self, place: &Place<'_>, node: NodeId) -> u32 {
        let query = self.query;
        let must = query.children(node).filter(|c| query.counts(*c, Occur::Must));
        must.map(|child| self.estimate(place, child)).min().unwrap_or(0)
    }
}

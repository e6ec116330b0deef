//! Any tree of clauses: cursors that leapfrog.

use spirit_index::descriptor::Window;
use spirit_index::posting::rank_of;
use spirit_index::snapshot::Segment;

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;
use crate::query::{Kind, NodeId, Occur};

impl<C: Collector> Evaluation<'_, C> {
    /// Offers what the tree matches.
    pub(super) fn tree(&mut self, bounded: bool) {
        for term in 0..self.query.terms.len() {
            self.look_up(term);
        }
        for segment in self.snapshot.fresh() {
            let Some(place) = self.place(segment, true) else { continue };
            for term in 0..self.query.terms.len() {
                self.open_fresh(&place, term);
            }
            self.walk(&place);
            if self.done() {
                return;
            }
        }
        self.tree_registered(bounded);
    }

    /// The same in the registered segments at hand.
    pub(super) fn tree_registered(&mut self, bounded: bool) {
        let Window { oldest, mut end } = self.part;
        while !self.done() {
            let next = if bounded { self.newest_entry() } else { end.checked_sub(1) };
            let Some(position) = next.filter(|p| *p >= oldest) else { return };
            end = position;
            let Some(segment) = self.snapshot.segment(position) else { return };
            self.open_at(&segment);
            if let Some(place) = self.place(segment, false) {
                self.walk(&place);
            }
        }
    }

    /// The newest position at which a term has an entry that was not visited.
    fn newest_entry(&self) -> Option<u32> {
        let lists = self.lists();
        let leaves = &self.scratch.leaves[..self.query.terms.len()];
        leaves
            .iter()
            .filter_map(|leaf| {
                (0..leaf.left)
                    .rev()
                    .map(|i| leaf.entries(lists).segment(i))
                    .find(|segment| !self.snapshot.skips(*segment))
            })
            .map(|segment| segment.position())
            .max()
    }

    /// Opens the lists of all terms that have an entry for a segment.
    fn open_at(&mut self, segment: &Segment<'_>) {
        let lists = self.lists();
        let id = segment.id();
        for leaf in &mut self.scratch.leaves[..self.query.terms.len()] {
            leaf.close();
            while let Some(index) = leaf.left.checked_sub(1) {
                let entry = leaf.entries(lists).get(index);
                if entry.segment.position() < id.position() {
                    break;
                }
                leaf.left = index;
                if entry.segment == id {
                    leaf.open_entry(segment, index, entry);
                }
            }
        }
    }

    /// Offers every row of a segment that the tree matches.
    fn walk(&mut self, place: &Place<'_>) {
        self.scratch.reached[..self.query.nodes.len()].fill(0);
        let mut rank = self.next(place, self.query.root, place.first);
        while rank != END {
            self.offer(place, rank_of(rank));
            if self.done() {
                return;
            }
            rank = self.next(place, self.query.root, rank + 1);
        }
    }

    /// The first rank at or after `target` that a node matches, or [`END`].
    ///
    /// Depth is bounded by the parser. Each call's `target` is at least the one before it, for every node.
    fn next(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        match self.query.nodes[node as usize].kind {
            Kind::Nothing => END,
            Kind::Everything => target.min(END),
            Kind::Term(term) => self.seek(place, term as usize, target),
            Kind::Key(term) => self.next_key(place, term, target),
            Kind::Clauses => self.next_clauses(place, node, target),
        }
    }

    /// The same for an inner node. What it found last holds for every target up to there, and must be kept: its
    /// leaves have gone on to it, so a clause that excludes could not be asked again about ranks before it.
    fn next_clauses(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let reached = self.scratch.reached[node as usize];
        if target < reached {
            return reached - 1;
        }
        let found = self.find_clauses(place, node, target);
        self.scratch.reached[node as usize] = found + 1;
        found
    }

    fn find_clauses(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let has = |occur| query.children(node).any(|c| query.counts(c, occur));
        let (must, should) = (has(Occur::Must), has(Occur::Should));
        if !must && !should && !has(Occur::Not) {
            return END;
        }
        let mut target = target;
        loop {
            let candidate = if must {
                self.next_of_all(place, node, target)
            } else if should {
                self.next_of_any(place, node, target)
            } else {
                target.min(END)
            };
            if candidate >= END || !self.excluded(place, node, candidate) {
                return candidate.min(END);
            }
            target = candidate + 1;
        }
    }

    /// Leapfrog: each clause raises the target until all agree. Terminates, since the target only grows.
    fn next_of_all(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let mut target = target;
        loop {
            let start = target;
            for child in query.children(node).filter(|c| query.counts(*c, Occur::Must)) {
                target = self.next(place, child, target);
                if target == END {
                    return END;
                }
            }
            if target == start {
                return target;
            }
        }
    }

    fn next_of_any(&mut self, place: &Place<'_>, node: NodeId, target: u32) -> u32 {
        let query = self.query;
        let mut nearest = END;
        for child in query.children(node).filter(|c| query.counts(*c, Occur::Should)) {
            nearest = nearest.min(self.next(place, child, target));
            if nearest == target {
                break;
            }
        }
        nearest
    }

    fn excluded(&mut self, place: &Place<'_>, node: NodeId, rank: u32) -> bool {
        let query = self.query;
        query
            .children(node)
            .filter(|c| query.counts(*c, Occur::Not))
            .any(|child| self.next(place, child, rank) == rank)
    }
}

//! Groups of nothing but words without terms: `sea AND (the of)` in an English text.
//!
//! A word without terms takes no part in a query, and so does a group that has no other members.
//! This is settled once, when the tree is whole, so that no evaluator and no plan has to look into
//! groups for it.

use crate::query::{Kind, NONE, NodeId, Query};

impl Query {
    /// Settles a tree that is whole: blanks groups without members that take part, and joins
    /// duplicate terms.
    pub(crate) fn settle(&mut self) {
        if self.root != NONE {
            self.blank_groups(self.root);
        }
        self.join_repeated();
    }

    /// Blanks a group, and those within it, if all their members are blank. A group that has no
    /// members at all, such as an empty set, matches nothing instead. Terminates: the tree's depth
    /// is bounded.
    fn blank_groups(&mut self, group: NodeId) {
        let mut child = self.nodes[group as usize].child;
        if !matches!(self.nodes[group as usize].kind, Kind::Clauses { .. }) || child == NONE {
            return;
        }
        let mut all_blank = true;
        while child != NONE {
            self.blank_groups(child);
            all_blank &= self.nodes[child as usize].kind == Kind::Blank;
            child = self.nodes[child as usize].next;
        }
        if all_blank {
            let node = &mut self.nodes[group as usize];
            (node.kind, node.child) = (Kind::Blank, NONE);
        }
    }
}

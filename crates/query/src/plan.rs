//! The planner: which way of evaluation a query takes.

use crate::query::{Kind, NONE, NodeId, Occur, Query};

/// Terms of an AND that goes the kernels' way; longer ones go as trees.
pub(crate) const TERMS_INLINE: usize = 8;

/// A way of evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Matches nothing.
    Nothing,
    /// The document with a key.
    Key(u32),
    /// One term's list.
    Term(u32),
    /// An AND of this many terms.
    All([u32; TERMS_INLINE], usize),
    /// A tree of cursors. If it is bounded, only documents with one of its terms match.
    Tree { bounded: bool },
}

impl Plan {
    /// The plan for a query.
    pub(crate) fn of(query: &Query) -> Plan {
        if query.root == NONE {
            return Plan::Nothing;
        }
        match query.nodes[query.root as usize].kind {
            Kind::Nothing => Plan::Nothing,
            Kind::Key(term) => Plan::Key(term),
            Kind::Term(term) => Plan::Term(term),
            Kind::Everything => Plan::Tree { bounded: false },
            Kind::Clauses => Plan::of_clauses(query),
        }
    }

    fn of_clauses(query: &Query) -> Plan {
        let mut terms = [0; TERMS_INLINE];
        let mut count = 0;
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            match node.kind {
                Kind::Nothing => {}
                Kind::Term(term) if node.occur == Occur::Must && count < TERMS_INLINE => {
                    terms[count] = term;
                    count += 1;
                }
                _ => return Plan::Tree { bounded: query.is_bounded(query.root) },
            }
        }
        match count {
            0 => Plan::Nothing,
            1 => Plan::Term(terms[0]),
            _ => Plan::All(terms, count),
        }
    }
}

impl Query {
    /// Whether a child takes part as `occur`. Words without terms (stop words) take no part.
    pub(crate) fn counts(&self, child: NodeId, occur: Occur) -> bool {
        let node = &self.nodes[child as usize];
        node.occur == occur && node.kind != Kind::Nothing
    }

    /// Whether every match has one of the query's terms.
    fn is_bounded(&self, node: NodeId) -> bool {
        match self.nodes[node as usize].kind {
            Kind::Nothing | Kind::Term(_) => true,
            Kind::Everything | Kind::Key(_) => false,
            Kind::Clauses => {
                let clauses = |occur| self.children(node).filter(move |c| self.counts(*c, occur));
                if clauses(Occur::Must).next().is_some() {
                    clauses(Occur::Must).any(|c| self.is_bounded(c))
                } else if clauses(Occur::Should).next().is_some() {
                    clauses(Occur::Should).all(|c| self.is_bounded(c))
                } else {
                    clauses(Occur::Not).next().is_none()
                }
            }
        }
    }
}

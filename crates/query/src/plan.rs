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
    /// A phrase: an AND of this many terms, and where they have to be.
    Phrase(NodeId, [u32; TERMS_INLINE], usize),
    /// An OR of this many terms.
    Any([u32; TERMS_INLINE], usize),
    /// A tree of cursors. If it is bounded, only documents with one of its terms match.
    Tree { bounded: bool },
}

impl Plan {
    /// The plan for a query. `windows` are good for every shape, and can be had for each.
    pub(crate) fn of(query: &Query, windows: bool) -> Plan {
        if query.root == NONE {
            return Plan::Nothing;
        }
        if windows {
            return Plan::Tree { bounded: query.is_bounded(query.root) };
        }
        match query.nodes[query.root as usize].kind {
            Kind::Nothing => Plan::Nothing,
            Kind::Key(term) => Plan::Key(term),
            Kind::Term(term) => Plan::Term(term),
            Kind::Everything => Plan::Tree { bounded: false },
            Kind::Clauses { minimum: 0 | 1 } => Plan::of_clauses(query),
            Kind::Clauses { .. } => Plan::Tree { bounded: query.is_bounded(query.root) },
            Kind::Phrase { .. } => match query.terms_of_phrase(query.root) {
                Some((terms, count)) => Plan::Phrase(query.root, terms, count),
                None => Plan::Tree { bounded: true },
            },
            Kind::Pattern(_) | Kind::Range(_) => Plan::Tree { bounded: false },
        }
    }

    fn of_clauses(query: &Query) -> Plan {
        let tree = || Plan::Tree { bounded: query.is_bounded(query.root) };
        let (mut terms, mut count, mut occur) = ([0; TERMS_INLINE], 0, None);
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            match node.kind {
                Kind::Nothing => {}
                Kind::Term(term)
                    if count < TERMS_INLINE && *occur.get_or_insert(node.occur) == node.occur =>
                {
                    terms[count] = term;
                    count += 1;
                }
                _ => return tree(),
            }
        }
        let plain = query.nodes[query.root as usize].kind == Kind::CLAUSES;
        match occur {
            None => Plan::Nothing,
            Some(Occur::Must) if plain && count == 1 => Plan::Term(terms[0]),
            Some(Occur::Must) if plain => Plan::All(terms, count),
            Some(Occur::Should) if count == 1 => Plan::Term(terms[0]),
            Some(Occur::Should) => Plan::Any(terms, count),
            Some(_) => tree(),
        }
    }
}

/// Terms of an OR that goes a way of its own.
pub(crate) const RANKED_INLINE: usize = 32;

/// A way of evaluation by relevance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RankedPlan {
    /// Matches nothing.
    Nothing,
    /// One term.
    Term(u32),
    /// All of this many terms.
    All([u32; RANKED_INLINE], usize),
    /// A phrase of this many terms.
    Phrase(NodeId, [u32; TERMS_INLINE], usize),
    /// Any of this many terms.
    Any([u32; RANKED_INLINE], usize),
    /// Anything else. If it is bounded, only documents with one of its terms match.
    Tree { bounded: bool },
}

impl RankedPlan {
    /// The plan for a query, by `windows` if that is asked for.
    pub(crate) fn of(query: &Query, windows: bool) -> RankedPlan {
        let Some(root) = query.nodes.get(query.root as usize) else { return RankedPlan::Nothing };
        let tree = || RankedPlan::Tree { bounded: query.is_bounded(query.root) };
        match root.kind {
            _ if root.constant || windows => tree(),
            Kind::Nothing => RankedPlan::Nothing,
            Kind::Term(term) => RankedPlan::Term(term),
            Kind::Phrase { .. } => match query.terms_of_phrase(query.root) {
                Some((terms, count)) => RankedPlan::Phrase(query.root, terms, count),
                None => tree(),
            },
            Kind::Clauses { minimum: 0 | 1 } => {
                RankedPlan::of_clauses(query, root.kind).unwrap_or_else(tree)
            }
            _ => tree(),
        }
    }

    /// That for several terms which all must match, or of which any may.
    fn of_clauses(query: &Query, kind: Kind) -> Option<RankedPlan> {
        let mut terms = [0; RANKED_INLINE];
        let (mut count, mut occur) = (0, None);
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            match node.kind {
                Kind::Nothing => continue,
                Kind::Term(term)
                    if !node.constant && *occur.get_or_insert(node.occur) == node.occur =>
                {
                    *terms.get_mut(count)? = term;
                    count += 1;
                }
                _ => return None,
            }
        }
        match occur? {
            Occur::Must if (2..=TERMS_INLINE).contains(&count) && kind == Kind::CLAUSES => {
                Some(RankedPlan::All(terms, count))
            }
            Occur::Should if count > 1 => Some(RankedPlan::Any(terms, count)),
            _ => None,
        }
    }
}

impl Query {
    /// The different terms of a phrase, if they are at least two and few enough for the ways of an AND.
    fn terms_of_phrase(&self, phrase: NodeId) -> Option<([u32; TERMS_INLINE], usize)> {
        let (mut terms, mut count) = ([0; TERMS_INLINE], 0);
        for term in self.children(phrase).filter_map(|child| self.term_of(child)) {
            if !terms[..count].contains(&term) {
                *terms.get_mut(count)? = term;
                count += 1;
            }
        }
        (count > 1).then_some((terms, count))
    }

    /// Whether a child takes part as `occur`. Words without terms (stop words) take no part.
    pub(crate) fn counts(&self, child: NodeId, occur: Occur) -> bool {
        let node = &self.nodes[child as usize];
        node.occur == occur && node.kind != Kind::Nothing
    }

    /// Whether every match has one of the query's terms.
    pub(crate) fn is_bounded(&self, node: NodeId) -> bool {
        match self.nodes[node as usize].kind {
            Kind::Nothing | Kind::Term(_) => true,
            Kind::Phrase { .. } => true,
            Kind::Everything | Kind::Key(_) | Kind::Pattern(_) | Kind::Range(_) => false,
            Kind::Clauses { .. } => {
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

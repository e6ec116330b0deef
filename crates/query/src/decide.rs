//! Deciding a query for one document, by the terms that the document has.
//!
//! An evaluator opens lists, which pays when a query is asked about many documents. A standing query is
//! asked about each document that has one of its terms. The terms of such a document are known, so
//! that most queries can be decided without a list. What else a query asks for, such as a range, is left
//! undecided.

use spirit_index::ground::TermKey;

use crate::query::{Kind, NONE, NodeId, Occur, Query};
use crate::slop::{self, OCCURRENCES_MAX, Occurrence, SLOTS_MAX, Slot};

/// The terms of a document, each by a number that the caller gave it.
pub trait DocumentTerms {
    /// True if the document has a term.
    fn has(&self, number: u32) -> bool;

    /// Returns the positions of the terms, ascending, each with the term's number.
    fn occurrences(&self) -> &[(u32, u32)];
}

/// Decides queries, with memory that is used again.
#[derive(Debug)]
pub struct Decider {
    occurrences: Vec<Occurrence>,
    slots: Vec<Slot>,
}

impl Default for Decider {
    fn default() -> Decider {
        Decider {
            occurrences: Vec::with_capacity(OCCURRENCES_MAX),
            slots: Vec::with_capacity(SLOTS_MAX),
        }
    }
}

impl Query {
    /// Returns the keys of the query's terms, in the order of their numbers for a [`Decider`].
    pub fn term_keys(&self) -> impl Iterator<Item = TermKey> + '_ {
        self.terms.iter().map(|term| term.key)
    }

    /// True if each document that has one of the query's terms matches: it is a short term, or an OR of
    /// some.
    pub fn is_any_of_terms(&self) -> bool {
        let is_term = |node: NodeId| match self.nodes[node as usize].kind {
            Kind::Term(term) => self.terms[term as usize].key.is_whole(),
            _ => false,
        };
        let is_optional = |child| self.counts(child, Occur::Should) && is_term(child);
        match self.nodes.get(self.root as usize).map(|root| root.kind) {
            Some(Kind::Term(_)) => is_term(self.root),
            Some(Kind::Clauses { minimum: 0 | 1 }) => self.children(self.root).all(is_optional),
            _ => false,
        }
    }

    /// True if a document's terms always decide the query: it asks for nothing but short terms and phrases
    /// of them.
    pub fn is_decided_by_terms(&self) -> bool {
        self.nodes.iter().all(|node| match node.kind {
            Kind::Term(term) => self.terms[term as usize].key.is_whole(),
            Kind::Nothing | Kind::Blank | Kind::Everything => true,
            Kind::Clauses { .. } | Kind::Phrase { .. } => true,
            Kind::Key(_) | Kind::Pattern(_) | Kind::PhrasePrefix(_) | Kind::Range(_) => false,
        })
    }
}

impl Decider {
    /// Returns whether a document matches, or `None` if its terms do not say. `numbers` has the caller's
    /// number of each of the query's [terms](Query::term_keys).
    pub fn decide(
        &mut self,
        query: &Query,
        numbers: &[u32],
        document: &impl DocumentTerms,
    ) -> Option<bool> {
        if query.root == NONE {
            return Some(false);
        }
        Decision { query, numbers, document, memory: self }.of(query.root)
    }
}

/// A query that is being decided.
struct Decision<'d, D> {
    query: &'d Query,
    numbers: &'d [u32],
    document: &'d D,
    memory: &'d mut Decider,
}

impl<D: DocumentTerms> Decision<'_, D> {
    /// Returns whether a node matches. The parser bounds the depth.
    fn of(&mut self, node: NodeId) -> Option<bool> {
        match self.query.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank => Some(false),
            Kind::Everything => Some(true),
            Kind::Term(term) => self.of_term(term),
            Kind::Phrase { slop } => self.of_phrase(node, slop),
            Kind::Clauses { minimum } => self.of_clauses(node, minimum),
            Kind::Key(_) | Kind::Pattern(_) | Kind::PhrasePrefix(_) | Kind::Range(_) => None,
        }
    }

    fn of_term(&self, term: u32) -> Option<bool> {
        let has = self.document.has(self.numbers[term as usize]);
        // Long terms may share a key.
        (!has || self.query.terms[term as usize].key.is_whole()).then_some(has)
    }

    fn of_phrase(&mut self, node: NodeId, slop: u32) -> Option<bool> {
        let query = self.query;
        // The words alone decide most: nearly no document has all of them.
        let words = self.of_all(query.children(node));
        if words != Some(true) {
            return words;
        }
        self.memory.slots.clear();
        for child in query.children(node) {
            let (Some(term), at) = (query.term_of(child), query.nodes[child as usize].at) else {
                return None;
            };
            let term = self.numbers[term as usize];
            self.memory.slots.push(Slot { term, at });
        }
        let Decider { occurrences, slots } = self.memory;
        let is_in = |number: u32| slots.iter().any(|slot| slot.term == number);
        let all = self.document.occurrences().iter().filter(|(_, number)| is_in(*number));
        occurrences.clear();
        // As many as an evaluator looks at.
        let all = all.take(OCCURRENCES_MAX);
        occurrences.extend(all.map(|(position, number)| Occurrence::new(*position, *number)));
        let mut is_there = false;
        slop::matches(occurrences, slots, slop, |_| {
            is_there = true;
            false
        });
        Some(is_there)
    }

    fn of_clauses(&mut self, node: NodeId, minimum: u32) -> Option<bool> {
        let query = self.query;
        let of = |occur| query.children(node).filter(move |child| query.counts(*child, occur));
        let [has_must, has_should, has_not] =
            [Occur::Must, Occur::Should, Occur::Not].map(|occur| of(occur).next().is_some());
        let positive = match (has_must, has_should) {
            (true, _) => {
                let must = self.of_all(of(Occur::Must));
                if must == Some(false) || minimum == 0 {
                    must
                } else {
                    both(must, self.at_least(minimum, of(Occur::Should)))
                }
            }
            (false, true) => self.at_least(minimum.max(1), of(Occur::Should)),
            (false, false) => Some(minimum == 0 && has_not),
        };
        if positive == Some(false) || !has_not {
            return positive;
        }
        let excluded = self.at_least(1, of(Occur::Not));
        both(positive, excluded.map(|excluded| !excluded))
    }

    fn of_all(&mut self, nodes: impl Iterator<Item = NodeId>) -> Option<bool> {
        let mut all = Some(true);
        for node in nodes {
            all = both(all, self.of(node));
            if all == Some(false) {
                break;
            }
        }
        all
    }

    /// Returns whether at least `minimum` of some nodes match.
    fn at_least(&mut self, minimum: u32, nodes: impl Iterator<Item = NodeId>) -> Option<bool> {
        let (mut matching, mut undecided) = (0, 0);
        for node in nodes {
            match self.of(node) {
                Some(matches) => matching += u32::from(matches),
                None => undecided += 1,
            }
            if matching >= minimum {
                return Some(true);
            }
        }
        if matching + undecided < minimum { Some(false) } else { None }
    }
}

/// Returns whether two things hold, each of which may be undecided.
fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

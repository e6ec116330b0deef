//! The parts of a query that are marked in the texts of one field: terms and patterns everywhere,
//! phrases where they match.
//!
//! Clauses under NOT, keys, and clauses for other fields are left out. Bytes are copied, so the
//! query may be parsed into again.

use std::collections::HashMap;
use std::sync::Arc;

use spirit_index::ground::FieldId;

use crate::automaton::Automaton;
use crate::fuzzy::FuzzyMatcher;
use crate::pattern::{Matcher, PatternKind};
use crate::query::{Kind, NONE, NodeId, Occur, Query};
use crate::slop::Slot;

/// The terms and patterns to mark. Terms are numbered from 0, and patterns after them.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    numbers: HashMap<Box<[u8]>, u32>,
    /// For each term, true if it is marked everywhere; otherwise only where a phrase matches.
    anywhere: Vec<bool>,
    pub(super) patterns: Vec<Pattern>,
    /// The prefixes that are the last words of phrases. Each has a number like a term.
    prefixes: Vec<(u32, Box<[u8]>)>,
    pub(super) phrases: Vec<Phrase>,
}

/// A phrase to mark where it matches.
#[derive(Debug)]
pub(super) struct Phrase {
    /// The terms by their numbers, in the order of their places.
    pub(super) slots: Vec<Slot>,
    pub(super) slop: u32,
}

/// A prefix, wildcard, fuzzy word or regular expression, and its memory.
#[derive(Debug)]
pub(super) struct Pattern {
    kind: PatternKind,
    bytes: Box<[u8]>,
    automaton: Option<Arc<Automaton>>,
    fuzzy: FuzzyMatcher,
}

impl Pattern {
    /// Returns the matcher to test terms with; `None` if nothing can match.
    pub(super) fn matcher(&mut self) -> Option<Matcher<'_>> {
        Matcher::new(self.kind, &self.bytes, self.automaton.as_slice(), &mut self.fuzzy)
    }
}

impl Wanted {
    /// Returns the terms and patterns of `query` in `field`.
    pub(super) fn of(query: &Query, field: FieldId) -> Wanted {
        let mut wanted = Wanted::default();
        if query.root != NONE {
            wanted.add(query, field, query.root);
        }
        wanted
    }

    /// Returns the number of a term, and true if it is marked everywhere.
    pub(super) fn term(&self, bytes: &[u8]) -> Option<(u32, bool)> {
        self.numbers.get(bytes).map(|number| (*number, self.anywhere[*number as usize]))
    }

    /// Returns the numbers of the prefixes with which a term begins.
    pub(super) fn prefixes(&self, term: &[u8]) -> impl Iterator<Item = u32> {
        let begins = move |(_, prefix): &&(u32, Box<[u8]>)| term.starts_with(prefix);
        self.prefixes.iter().filter(begins).map(|(number, _)| *number)
    }

    /// Returns the number of different terms, including the prefixes.
    pub(super) fn terms(&self) -> usize {
        self.anywhere.len()
    }

    /// True if nothing is ever marked.
    pub(super) fn is_nothing(&self) -> bool {
        self.anywhere.is_empty() && self.patterns.is_empty()
    }

    fn add(&mut self, query: &Query, field: FieldId, node: NodeId) {
        match query.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank | Kind::Everything | Kind::Key(_) | Kind::Range(_) => {}
            Kind::Term(term) => {
                if let Some(number) = self.number(query, field, term) {
                    self.anywhere[number as usize] = true;
                }
            }
            Kind::Pattern(first) => {
                let patterns = query.patterns_of(first);
                patterns.for_each(|pattern| self.add_pattern(query, field, pattern));
            }
            Kind::Phrase { slop } => {
                if let Some(slots) = self.slots(query, field, node) {
                    self.phrases.push(Phrase { slots, slop });
                }
            }
            Kind::PhrasePrefix(pattern) => self.add_phrase_prefix(query, field, node, pattern),
            Kind::Clauses { .. } => {
                let not = |child: &NodeId| query.nodes[*child as usize].occur == Occur::Not;
                for child in query.children(node).filter(|child| !not(child)) {
                    self.add(query, field, child);
                }
            }
        }
    }

    fn add_pattern(&mut self, query: &Query, field: FieldId, pattern: u32) {
        let pattern = &query.patterns[pattern as usize];
        if pattern.field == field {
            let bytes = query.pattern_bytes(pattern).into();
            let (kind, automaton) = match pattern.kind {
                PatternKind::Regex(automaton) => {
                    (PatternKind::Regex(0), query.automata.get(automaton as usize).cloned())
                }
                kind => (kind, None),
            };
            let fuzzy = FuzzyMatcher::default();
            self.patterns.push(Pattern { kind, bytes, automaton, fuzzy });
        }
    }

    fn add_phrase_prefix(&mut self, query: &Query, field: FieldId, node: NodeId, pattern: u32) {
        let Some(mut slots) = self.slots(query, field, node) else { return };
        let pattern = &query.patterns[pattern as usize];
        let term = self.anywhere.len() as u32;
        self.anywhere.push(false);
        self.prefixes.push((term, query.pattern_bytes(pattern).into()));
        slots.push(Slot { term, at: query.nodes[node as usize].at });
        self.phrases.push(Phrase { slots, slop: 0 });
    }

    /// Returns the terms of a phrase; `None` if a word is not a term of `field`. Such a phrase
    /// matches nowhere.
    fn slots(&mut self, query: &Query, field: FieldId, node: NodeId) -> Option<Vec<Slot>> {
        let slot = |child| {
            let Kind::Term(term) = query.nodes[child as usize].kind else { return None };
            let at = query.nodes[child as usize].at;
            Some(Slot { term: self.number(query, field, term)?, at })
        };
        query.children(node).map(slot).collect()
    }

    /// Returns the number of one of the query's terms, and assigns it to a new term. `None` if the
    /// term is in another field.
    fn number(&mut self, query: &Query, field: FieldId, term: u32) -> Option<u32> {
        let term = &query.terms[term as usize];
        if term.key.field() != field {
            return None;
        }
        let next = self.anywhere.len() as u32;
        let number = *self.numbers.entry(query.bytes_of(term).into()).or_insert(next);
        if number == next {
            self.anywhere.push(false);
        }
        Some(number)
    }
}

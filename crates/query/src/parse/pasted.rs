//! Text that somebody pasted: a lenient parser's query finds the documents that have it verbatim.
//!
//! A pasted line may contain anything that the language gives a meaning: `-x`, `NOT`, `a:b`, `~1`.
//! So the finished query is tried on the text itself, as if this were a document. If it does not
//! match, the query also finds documents that have the words of the text in a row.
//!
//! Short texts are more often typed than pasted. In `jaguar -car` the sign means what it says. So an
//! exclusion, or a field, is only overruled by a text of several words.

use std::collections::HashMap;

use spirit_index::ground::FieldId;
use spirit_schema::{Field, FieldKind, TEXT};

use super::grammar::Parse;
use crate::fuzzy::FuzzyMatcher;
use crate::query::{Kind, NONE, Node, NodeId, Occur, Query, Siblings, TooLarge};

/// Words of a text whose exclusions and fields may be overruled, at least.
const PASTED_WORDS_MIN: u32 = 4;
/// Words in a row by which a pasted text is recognized, at most.
const WORDS_IN_A_ROW: usize = 32;
/// Words of a text that are looked at, at most. Queries have fewer clauses.
const WORDS_MAX: usize = 4096;

impl Parse<'_> {
    /// Adds the words of the text in a row as an alternative, if the query would not find a
    /// document that has this text. Changes nothing if the query has no room.
    pub(super) fn or_verbatim(&mut self) {
        let Some(pasted) = self.pasted() else { return };
        self.query.settle();
        if pasted.is_found_by(self.query, self.query.root) {
            return;
        }
        let excludes = self.query.nodes.iter().any(|node| node.occur == Occur::Not);
        let overrules = excludes || self.asks_for_fields;
        if overrules && (pasted.positions < PASTED_WORDS_MIN || !self.parser.has_positions) {
            return;
        }
        // An error leaves some nodes that no other leads to.
        let _ = self.link_verbatim(&pasted);
    }

    fn link_verbatim(&mut self, pasted: &Pasted) -> Result<(), TooLarge> {
        let verbatim = self.verbatim_in_each_field(pasted)?;
        let mut list = Siblings::default();
        let root = self.query.root;
        let takes_part = root != NONE && self.query.nodes[root as usize].kind != Kind::Blank;
        for node in [root, verbatim].into_iter().skip(usize::from(!takes_part)) {
            self.query.link(&mut list, node, Occur::Should);
        }
        self.query.root = self.query.group(list)?;
        Ok(())
    }

    /// Returns the words in a row, in any field that the text's analyzer cuts.
    fn verbatim_in_each_field(&mut self, pasted: &Pasted) -> Result<NodeId, TooLarge> {
        let analyzer = self.parser.schema.analyzer();
        let mut list = Siblings::default();
        for number in 0..self.parser.fields().len() {
            let Field { id, kind, .. } = self.parser.fields()[number];
            if kind == FieldKind::Text(analyzer) {
                let row = self.verbatim_in(id, pasted)?;
                self.query.link(&mut list, row, Occur::Should);
            }
        }
        if list.count == 1 {
            return Ok(list.first);
        }
        let kind = Kind::Clauses { minimum: 1 };
        self.query.push(Node { tie: Some(0.0), ..Node::parent(kind, list.first) })
    }

    fn verbatim_in(&mut self, field: FieldId, pasted: &Pasted) -> Result<NodeId, TooLarge> {
        let mut row = Siblings::default();
        let first = pasted.words.first().map_or(0, |(at, _)| *at);
        for (at, word) in pasted.words.iter().take(WORDS_IN_A_ROW) {
            let kind = self.query.term(field, word)?;
            let node = self.query.push(Node { at: at - first, ..Node::leaf(kind) })?;
            self.query.link(&mut row, node, Occur::Must);
        }
        match self.parser.has_positions {
            true => self.query.phrase(row, 0),
            false => self.query.group(row),
        }
    }

    /// Cuts the text into words, like a document; none if there are none.
    fn pasted(&mut self) -> Option<Pasted> {
        let analyzer = self.parser.schema.analyzer();
        let tokenizer = self.parser.tokenizers.iter_mut().find(|t| t.analyzer() == analyzer)?;
        let mut words = Vec::new();
        let cut = tokenizer.for_each(self.text, |token| {
            if words.len() < WORDS_MAX {
                words.push((token.position(), token.bytes().to_vec()));
            }
        });
        let positions = cut.ok().filter(|_| !words.is_empty())?.tokens;
        Some(Pasted::new(words, positions))
    }
}

/// The words of a text, as those of a document.
struct Pasted {
    /// The position and the term of each, in order.
    words: Vec<(u32, Vec<u8>)>,
    /// The number of words, with those that are no terms.
    positions: u32,
    /// The ascending positions of each term.
    places: HashMap<Vec<u8>, Vec<u32>>,
}

impl Pasted {
    fn new(words: Vec<(u32, Vec<u8>)>, positions: u32) -> Pasted {
        let mut places: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
        for (at, word) in &words {
            places.entry(word.clone()).or_default().push(*at);
        }
        Pasted { words, positions, places }
    }

    /// True if the text, as a document, certainly matches a node.
    fn is_found_by(&self, query: &Query, node: NodeId) -> bool {
        let Some(found) = query.nodes.get(node as usize) else { return false };
        match found.kind {
            Kind::Nothing | Kind::Blank | Kind::Key(_) | Kind::Range(_) => false,
            Kind::Everything => true,
            Kind::Term(_) => !self.of_leaf(query, node).is_empty(),
            Kind::Phrase { .. } => self.has_row(query, node, |_| true),
            Kind::Pattern(pattern) => self.matching(query, pattern).next().is_some(),
            Kind::PhrasePrefix(pattern) => {
                let ends: Vec<&[u32]> = self.matching(query, pattern).collect();
                self.has_row(query, node, |start| {
                    ends.iter().any(|places| places.binary_search(&(start + found.at)).is_ok())
                })
            }
            Kind::Clauses { minimum } => self.has_clauses(query, node, minimum),
        }
    }

    fn has_clauses(&self, query: &Query, node: NodeId, minimum: u32) -> bool {
        let of = |occur| query.children(node).filter(move |child| query.counts(*child, occur));
        let is_found = |child: &NodeId| self.is_found_by(query, *child);
        let has_must = of(Occur::Must).next().is_some();
        let needed = if !has_must && of(Occur::Should).next().is_some() { 1 } else { 0 };
        of(Occur::Must).all(|child| is_found(&child))
            && !of(Occur::Not).any(|child| is_found(&child))
            && of(Occur::Should).filter(is_found).count() >= minimum.max(needed) as usize
    }

    /// True if the terms of a phrase stand in a row somewhere, and `ends_well` holds for where the
    /// phrase's place 0 is then.
    fn has_row(&self, query: &Query, phrase: NodeId, ends_well: impl Fn(u32) -> bool) -> bool {
        let place = |child: NodeId| query.nodes[child as usize].at;
        let Some(first) = query.children(phrase).next() else { return false };
        let starts = self.of_leaf(query, first).iter();
        starts.filter_map(|at| at.checked_sub(place(first))).any(|start| {
            let mut words = query.children(phrase);
            words
                .all(|word| self.of_leaf(query, word).binary_search(&(start + place(word))).is_ok())
                && ends_well(start)
        })
    }

    /// Returns the positions of a term's leaf.
    fn of_leaf(&self, query: &Query, leaf: NodeId) -> &[u32] {
        let term = query.term_of(leaf).map(|term| &query.terms[term as usize]);
        let known = term.filter(|term| term.field() == TEXT && !term.is_key());
        known.and_then(|term| self.places.get(query.bytes_of(term))).map_or(&[], Vec::as_slice)
    }

    /// Returns the positions of each term that a pattern matches.
    fn matching<'s>(&'s self, query: &Query, pattern: u32) -> impl Iterator<Item = &'s [u32]> {
        let found = &query.patterns[pattern as usize];
        let mut fuzzy = FuzzyMatcher::default();
        let mut matching = Vec::new();
        if found.field == TEXT
            && let Some(mut matcher) = query.matcher(found, &mut fuzzy)
        {
            let places = self.places.iter().filter(|(word, _)| matcher.matches(word));
            matching.extend(places.map(|(_, places)| places.as_slice()));
        }
        matching.into_iter()
    }
}

//! A query: a tree in flat arrays, with every term hashed once.
//!
//! A query owns its memory and can be parsed into again and again without allocating. Its limits are fixed
//! when it is made, so a hostile query is refused, not suffered.

use std::fmt;

use spirit_index::ground::term::{FieldId, TERM_BYTES_MAX, Term, TermKey};

use crate::interval::{Interval, QueryRange};
use crate::pattern::PatternKind;

/// Clauses of one query, unless set otherwise.
pub const CLAUSES_MAX: usize = 1024;
/// Nesting of one query.
pub const DEPTH_MAX: usize = 32;
/// Prefixes, wildcards, fuzzy words and ranges of words of one query.
pub(crate) const PATTERNS_MAX: usize = 32;
/// Bytes of all terms of one query, for each clause.
const TERM_BYTES_PER_CLAUSE: usize = 16;

/// A node's number.
pub(crate) type NodeId = u32;
/// No node.
pub(crate) const NONE: NodeId = u32::MAX;

/// What must be true of a clause for its parent to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occur {
    /// It must match.
    Must,
    /// One of these must match, if none must.
    Should,
    /// It must not match.
    Not,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Matches nothing: a word that no document can have, say.
    Nothing,
    /// Takes no part, and matches nothing on its own: a word without terms (a stop word), or what a lenient parser passed over.
    Blank,
    /// Every document.
    Everything,
    /// The documents of a term (its index among the query's terms).
    Term(u32),
    /// The document with a key (its index among the query's terms).
    Key(u32),
    /// Clauses, from the first child on. At least `minimum` optional ones must match.
    Clauses { minimum: u32 },
    /// Terms, from the first child on, each at its place; all of them moved by at most `slop` in all.
    Phrase { slop: u32 },
    /// The documents of all terms that a pattern matches (its index among the query's patterns).
    Pattern(u32),
    /// Terms, from the first child on, each at its place, and at the node's own one that a pattern matches.
    PhrasePrefix(u32),
    /// The documents with a value in a range (its index among the query's ranges).
    Range(u32),
}

impl Kind {
    /// Clauses of which, if none must match, one has to.
    pub(crate) const CLAUSES: Kind = Kind::Clauses { minimum: 0 };
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) occur: Occur,
    pub(crate) child: NodeId,
    pub(crate) next: NodeId,
    /// What its score is multiplied by.
    pub(crate) boost: f32,
    /// Whether its score is its boost, by whatever it matches.
    pub(crate) constant: bool,
    /// In a phrase: its place there. Of a phrase prefix: that of its last word.
    pub(crate) at: u32,
}

impl Node {
    /// A node without children, which must match.
    pub(crate) fn leaf(kind: Kind) -> Node {
        let (child, next) = (NONE, NONE);
        Node { kind, occur: Occur::Must, child, next, boost: 1.0, constant: false, at: 0 }
    }

    /// A node with children from `child` on.
    pub(crate) fn parent(kind: Kind, child: NodeId) -> Node {
        Node { child, occur: Occur::Should, ..Node::leaf(kind) }
    }
}

/// A term of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryTerm {
    pub(crate) key: TermKey,
    pub(crate) hash: u64,
    /// Whether it is a word of a text, scored by its frequency; or a whole value, which scores the same for all.
    pub(crate) is_word: bool,
    start: u32,
    len: u32,
}

impl QueryTerm {
    /// The field that it is a term of.
    pub(crate) fn field(&self) -> FieldId {
        self.key.field()
    }

    /// Whether it is a document's key, and no term.
    pub(crate) fn is_key(&self) -> bool {
        self.key == TermKey::default()
    }
}

/// A pattern of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryPattern {
    pub(crate) field: FieldId,
    pub(crate) kind: PatternKind,
    start: u32,
    len: u32,
}

/// A parsed query.
#[derive(Clone, Debug)]
pub struct Query {
    pub(crate) nodes: Vec<Node>,
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) patterns: Vec<QueryPattern>,
    pub(crate) ranges: Vec<QueryRange>,
    /// Those of all ranges.
    pub(crate) intervals: Vec<Interval>,
    bytes: Vec<u8>,
    pub(crate) root: NodeId,
    clauses_max: usize,
}

/// A list of sibling nodes while it is being built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Siblings {
    pub(crate) first: NodeId,
    last: NodeId,
    pub(crate) count: usize,
}

impl Default for Siblings {
    fn default() -> Siblings {
        Siblings { first: NONE, last: NONE, count: 0 }
    }
}

/// The query is larger than its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TooLarge {
    /// Too many clauses.
    Clauses {
        /// The most allowed.
        max: usize,
    },
    /// Its text has too many bytes.
    Text {
        /// The most allowed.
        max: usize,
    },
    /// Its words have too many bytes.
    Bytes {
        /// The most allowed.
        max: usize,
    },
    /// Too many prefixes, wildcards, fuzzy words and ranges of words.
    Patterns {
        /// The most allowed.
        max: usize,
    },
    /// Too many words in a phrase.
    Phrase {
        /// The most allowed.
        max: usize,
    },
    /// Too deeply nested.
    Depth {
        /// The most allowed.
        max: usize,
    },
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Clauses { max } => write!(f, "more than {max} clauses"),
            TooLarge::Text { max } => write!(f, "a text of more than {max} bytes"),
            TooLarge::Bytes { max } => write!(f, "words of more than {max} bytes in all"),
            TooLarge::Patterns { max } => {
                write!(f, "more than {max} prefixes, wildcards, fuzzy words and ranges of words")
            }
            TooLarge::Phrase { max } => write!(f, "a phrase of more than {max} words"),
            TooLarge::Depth { max } => write!(f, "nested more than {max} deep"),
        }
    }
}

impl Default for Query {
    fn default() -> Query {
        Query::new()
    }
}

impl Query {
    /// A query that matches nothing yet, of at most [`CLAUSES_MAX`] clauses.
    pub fn new() -> Query {
        Query::with_limit(CLAUSES_MAX)
    }

    /// A query of at most `clauses_max` clauses. All memory it will ever have is taken here.
    pub(crate) fn with_limit(clauses_max: usize) -> Query {
        Query {
            nodes: Vec::with_capacity(Query::nodes_max(clauses_max)),
            terms: Vec::with_capacity(clauses_max),
            patterns: Vec::with_capacity(PATTERNS_MAX.min(clauses_max)),
            ranges: Vec::with_capacity(clauses_max),
            intervals: Vec::with_capacity(clauses_max),
            bytes: Vec::with_capacity(clauses_max * TERM_BYTES_PER_CLAUSE + TERM_BYTES_MAX),
            root: NONE,
            clauses_max,
        }
    }

    /// Nodes of a query with this many clauses: each is a leaf; groups of one are the exception.
    pub(crate) fn nodes_max(clauses_max: usize) -> usize {
        clauses_max * 2 + DEPTH_MAX
    }

    /// Makes it match nothing.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.terms.clear();
        self.patterns.clear();
        self.ranges.clear();
        self.intervals.clear();
        self.bytes.clear();
        self.root = NONE;
    }

    /// A query for the documents that have all of `words`, which are terms already.
    pub fn all_of(words: &[&str]) -> Result<Query, TooLarge> {
        Query::of(words, Occur::Must)
    }

    /// A query for the documents that have any of `words`, which are terms already.
    pub fn any_of(words: &[&str]) -> Result<Query, TooLarge> {
        Query::of(words, Occur::Should)
    }

    /// A query for the documents that have a term of a field.
    pub fn of_term(field: FieldId, term: &[u8]) -> Result<Query, TooLarge> {
        let mut query = Query::with_limit(1);
        let kind = query.term(field, term)?;
        query.root = query.push(Node::leaf(kind))?;
        Ok(query)
    }

    fn of(words: &[&str], occur: Occur) -> Result<Query, TooLarge> {
        let mut query = Query::with_limit(words.len().clamp(1, CLAUSES_MAX));
        let mut list = Siblings::default();
        for word in words {
            let kind = query.term(FieldId(0), word.as_bytes())?;
            let node = query.push(Node::leaf(kind))?;
            query.link(&mut list, node, occur);
        }
        query.root = query.group(list)?;
        query.join_repeated();
        Ok(query)
    }

    /// A leaf for a term: [`Kind::Nothing`] if it is empty or too long for a term.
    pub(crate) fn term(&mut self, field: FieldId, bytes: &[u8]) -> Result<Kind, TooLarge> {
        match Term::new(field, bytes) {
            Some(term) => Ok(Kind::Term(self.store(term.key, bytes)?)),
            None => Ok(Kind::Nothing),
        }
    }

    /// A leaf for a document's key.
    pub(crate) fn key(&mut self, bytes: &[u8]) -> Result<Kind, TooLarge> {
        Ok(Kind::Key(self.store(TermKey::default(), bytes)?))
    }

    /// A leaf for the terms of a field that a pattern matches.
    pub(crate) fn pattern(
        &mut self,
        field: FieldId,
        kind: PatternKind,
        bytes: &[u8],
    ) -> Result<Kind, TooLarge> {
        self.pattern_of(field, kind, &[bytes])
    }

    /// The same with bytes in several parts.
    pub(crate) fn pattern_of(
        &mut self,
        field: FieldId,
        kind: PatternKind,
        parts: &[&[u8]],
    ) -> Result<Kind, TooLarge> {
        if self.patterns.len() == self.patterns.capacity() {
            return Err(TooLarge::Patterns { max: self.patterns.capacity() });
        }
        let start = self.bytes.len() as u32;
        for bytes in parts {
            self.store_bytes(bytes)?;
        }
        let len = self.bytes.len() as u32 - start;
        self.patterns.push(QueryPattern { field, kind, start, len });
        Ok(Kind::Pattern(self.patterns.len() as u32 - 1))
    }

    fn store(&mut self, key: TermKey, bytes: &[u8]) -> Result<u32, TooLarge> {
        if self.terms.len() >= self.clauses_max {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        let (start, len) = self.store_bytes(bytes)?;
        self.terms.push(QueryTerm { key, hash: key.hash(), is_word: true, start, len });
        Ok(self.terms.len() as u32 - 1)
    }

    fn store_bytes(&mut self, bytes: &[u8]) -> Result<(u32, u32), TooLarge> {
        if self.bytes.len() + bytes.len() > self.bytes.capacity() {
            return Err(TooLarge::Bytes { max: self.bytes.capacity() });
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        Ok((start, bytes.len() as u32))
    }

    pub(crate) fn push(&mut self, node: Node) -> Result<NodeId, TooLarge> {
        if self.nodes.len() == self.nodes.capacity() {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as NodeId - 1)
    }

    /// Appends a node to a list of siblings.
    pub(crate) fn link(&mut self, list: &mut Siblings, node: NodeId, occur: Occur) {
        self.nodes[node as usize].occur = occur;
        if list.count == 0 {
            list.first = node;
        } else {
            self.nodes[list.last as usize].next = node;
        }
        list.last = node;
        list.count += 1;
    }

    /// One node for a list: its only member if that is a plain one.
    pub(crate) fn group(&mut self, list: Siblings) -> Result<NodeId, TooLarge> {
        if list.count == 1 && self.nodes[list.first as usize].occur != Occur::Not {
            return Ok(list.first);
        }
        self.push(Node::parent(Kind::CLAUSES, list.first))
    }

    /// None of a node's children must match any more.
    pub(crate) fn let_each_match(&mut self, node: NodeId) {
        let mut at = self.nodes[node as usize].child;
        while at != NONE {
            let child = &mut self.nodes[at as usize];
            child.occur = Occur::Should;
            at = child.next;
        }
    }

    pub(crate) fn lookup(&self, term: &QueryTerm) -> Term<'_> {
        Term { key: term.key, bytes: self.bytes_of(term) }
    }

    pub(crate) fn bytes_of(&self, term: &QueryTerm) -> &[u8] {
        &self.bytes[term.start as usize..(term.start + term.len) as usize]
    }

    /// What a pattern is made of.
    pub(crate) fn pattern_bytes(&self, pattern: &QueryPattern) -> &[u8] {
        &self.bytes[pattern.start as usize..(pattern.start + pattern.len) as usize]
    }

    /// Whether it asks for documents by their keys.
    pub(crate) fn has_keys(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.kind, Kind::Key(_)))
    }

    /// Whether it asks where in a document terms are.
    pub fn needs_positions(&self) -> bool {
        let has_places = |kind| matches!(kind, Kind::Phrase { .. } | Kind::PhrasePrefix(_));
        self.nodes.iter().any(|node| has_places(node.kind))
    }

    /// The term of a leaf.
    pub(crate) fn term_of(&self, node: NodeId) -> Option<u32> {
        match self.nodes[node as usize].kind {
            Kind::Term(term) => Some(term),
            _ => None,
        }
    }

    /// The field of a term's leaf, or of a phrase; of what is scored otherwise the text.
    pub(crate) fn field_of(&self, node: NodeId) -> FieldId {
        let term = match self.nodes[node as usize].kind {
            Kind::Phrase { .. } => self.children(node).find_map(|child| self.term_of(child)),
            _ => self.term_of(node),
        };
        term.map_or(FieldId::TEXT, |term| self.terms[term as usize].field())
    }

    /// Calls `take` with the fields by whose lengths a node and those below it are scored.
    pub(crate) fn each_field(&self, node: NodeId, take: &mut impl FnMut(FieldId)) {
        match self.nodes[node as usize] {
            Node { constant: true, .. } | Node { kind: Kind::PhrasePrefix(_), .. } => {}
            Node { kind: Kind::Term(term), .. } if !self.terms[term as usize].is_word => {}
            Node { kind: Kind::Term(_) | Kind::Phrase { .. }, .. } => take(self.field_of(node)),
            _ => self.children(node).for_each(|child| self.each_field(child, take)),
        }
    }

    /// Whether a node is a term that is scored by its frequency.
    pub(crate) fn is_plain_term(&self, node: NodeId) -> bool {
        let is_word = |term: u32| self.terms[term as usize].is_word;
        self.term_of(node).is_some_and(is_word) && !self.nodes[node as usize].constant
    }

    /// The children of a node that add to its score.
    pub(crate) fn scored(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let adds =
            |child: &NodeId| self.counts(*child, Occur::Must) || self.counts(*child, Occur::Should);
        self.children(node).filter(adds)
    }

    /// The children of a node.
    pub(crate) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = self.nodes[node as usize].child;
        std::iter::from_fn(move || {
            let child = (next != NONE).then_some(next)?;
            next = self.nodes[child as usize].next;
            Some(child)
        })
    }
}

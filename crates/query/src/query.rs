//! A query: a tree in flat arrays, with every term hashed once.
//!
//! A query owns its memory and can be parsed into again and again without allocating. Its limits
//! are fixed when it is made, so a hostile query is rejected early.

use std::fmt;
use std::sync::Arc;

use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term, TermKey};

use crate::automaton::Automaton;
use crate::interval::{Interval, QueryRange};
use crate::pattern::PatternKind;
use crate::problem::Problem;

/// Clauses of one query at most, unless set otherwise.
pub const CLAUSES_MAX: usize = 1024;
/// Levels of nesting of one query, at most.
pub const DEPTH_MAX: usize = 32;
/// Bytes of all terms of one query at most, for each clause.
const TERM_BYTES_PER_CLAUSE: usize = 16;

/// A node's number.
pub(crate) type NodeId = u32;
/// No node.
pub(crate) const NONE: NodeId = u32::MAX;

/// The part that a clause plays for its parent to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occur {
    /// The clause must match.
    Must,
    /// One of these clauses must match, if no clause has [`Must`](Occur::Must).
    Should,
    /// The clause must not match.
    Not,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Matches nothing, for example a word that no document can contain.
    Nothing,
    /// Takes no part, and matches nothing alone: a word without terms (a stop word), or a part that
    /// a lenient parser skipped.
    Blank,
    /// Every document.
    Everything,
    /// The documents that contain a term (its index among the query's terms).
    Term(u32),
    /// The document with a key (its index among the query's terms).
    Key(u32),
    /// Clauses, from the first child on. At least `minimum` optional ones must match.
    Clauses { minimum: u32 },
    /// Terms, from the first child on, each in its place. Together they may be moved by at most
    /// `slop` places.
    Phrase { slop: u32 },
    /// The documents that contain any term that a pattern matches (its index among the query's
    /// patterns).
    Pattern(u32),
    /// Terms, from the first child on, each in its place. A term that the pattern matches is in the
    /// node's own place.
    PhrasePrefix(u32),
    /// The documents with a value in a range (its index among the query's ranges).
    Range(u32),
}

impl Kind {
    /// Clauses without a minimum: if no clause must match, one optional clause has to.
    pub(crate) const CLAUSES: Kind = Kind::Clauses { minimum: 0 };
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) occur: Occur,
    pub(crate) child: NodeId,
    pub(crate) next: NodeId,
    /// The factor of its score.
    pub(crate) boost: f32,
    /// True if its score is its boost for all its matches.
    pub(crate) constant: bool,
    /// If its score is the best of its clauses' and not their sum, the factor of the others.
    pub(crate) tie: Option<f32>,
    /// In a phrase, its place there. For a phrase prefix, the place of its last word.
    pub(crate) at: u32,
}

impl Node {
    /// Returns a node without children, which must match.
    pub(crate) fn leaf(kind: Kind) -> Node {
        let (child, next) = (NONE, NONE);
        let (boost, constant, tie) = (1.0, false, None);
        Node { kind, occur: Occur::Must, child, next, boost, constant, tie, at: 0 }
    }

    /// Returns a node with children from `child` on.
    pub(crate) fn parent(kind: Kind, child: NodeId) -> Node {
        Node { child, occur: Occur::Should, ..Node::leaf(kind) }
    }
}

/// A term of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryTerm {
    pub(crate) key: TermKey,
    pub(crate) hash: u64,
    /// True for a word of a text, which is scored by frequency. False for a whole value, whose
    /// score is constant.
    pub(crate) is_word: bool,
    start: u32,
    len: u32,
}

impl QueryTerm {
    /// Returns the field of the term.
    pub(crate) fn field(&self) -> FieldId {
        self.key.field()
    }

    /// True if it is a document's key instead of a term.
    pub(crate) fn is_key(&self) -> bool {
        self.key == TermKey::default()
    }
}

/// A pattern of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryPattern {
    pub(crate) field: FieldId,
    pub(crate) kind: PatternKind,
    /// The patterns behind it that belong to the same leaf: it asks for any of them.
    pub(crate) more: u32,
    /// The number of its leaf among those with patterns.
    pub(crate) leaf: u32,
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// A parsed query.
#[derive(Debug)]
pub struct Query {
    pub(crate) nodes: Vec<Node>,
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) patterns: Vec<QueryPattern>,
    /// The number of leaves with patterns.
    pub(crate) pattern_leaves: u32,
    /// The automata of regular expressions.
    pub(crate) automata: Vec<Arc<Automaton>>,
    pub(crate) ranges: Vec<QueryRange>,
    /// The intervals of all ranges.
    pub(crate) intervals: Vec<Interval>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) root: NodeId,
    pub(crate) clauses_max: usize,
}

impl Clone for Query {
    fn clone(&self) -> Query {
        let mut query = Query::without_memory(self.clauses_max);
        query.clone_from(self);
        query
    }

    /// Reuses the memory of `self`.
    fn clone_from(&mut self, from: &Query) {
        let Query { nodes, terms, patterns, automata, ranges, intervals, .. } = from;
        let Query { bytes, root, clauses_max, pattern_leaves, .. } = from;
        self.nodes.clone_from(nodes);
        self.terms.clone_from(terms);
        self.patterns.clone_from(patterns);
        self.automata.clone_from(automata);
        self.ranges.clone_from(ranges);
        self.intervals.clone_from(intervals);
        self.bytes.clone_from(bytes);
        (self.root, self.clauses_max) = (*root, *clauses_max);
        self.pattern_leaves = *pattern_leaves;
    }
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

/// The error of a query that is larger than its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// The query has too many clauses.
    Clauses {
        /// The limit.
        max: usize,
    },
    /// Its text has too many bytes.
    Text {
        /// The limit.
        max: usize,
    },
    /// Its words have too many bytes.
    Bytes {
        /// The limit.
        max: usize,
    },
    /// It has too many prefixes, wildcards, fuzzy words, expressions and ranges of words.
    Patterns {
        /// The limit.
        max: usize,
    },
    /// The texts of its regular expressions have too many bytes.
    Expressions {
        /// The limit.
        max: usize,
    },
    /// The automata of its regular expressions take too many bytes.
    Automata {
        /// The limit.
        max: usize,
    },
    /// A phrase has too many words.
    Phrase {
        /// The limit.
        max: usize,
    },
    /// Its clauses are nested too deeply.
    Depth {
        /// The limit.
        max: usize,
    },
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Clauses { max } => write!(
                f,
                "more than {max} clauses; a word without a field's name is one in each field of text"
            ),
            TooLarge::Text { max } => write!(f, "a text of more than {max} bytes"),
            TooLarge::Bytes { max } => write!(f, "words of more than {max} bytes in all"),
            TooLarge::Patterns { max } => {
                write!(f, "more than {max} prefixes, wildcards, fuzzy words, ")?;
                f.write_str("regular expressions and ranges of words")
            }
            TooLarge::Expressions { max } => {
                write!(f, "regular expressions of more than {max} bytes in all")
            }
            TooLarge::Automata { max } => write!(
                f,
                "regular expressions whose automata take more than {max} bytes; repeat classes \
                 such as `\\w` less often"
            ),
            TooLarge::Phrase { max } => write!(f, "a phrase of more than {max} words"),
            TooLarge::Depth { max } => write!(f, "more than {max} levels of nesting"),
        }
    }
}

impl Default for Query {
    fn default() -> Query {
        Query::new()
    }
}

impl Query {
    /// Returns a query of at most [`CLAUSES_MAX`] clauses that matches nothing yet.
    pub fn new() -> Query {
        Query::with_limit(CLAUSES_MAX)
    }

    /// Returns an empty query that allocates memory when it is needed.
    fn without_memory(clauses_max: usize) -> Query {
        let (nodes, terms, patterns) = (Vec::new(), Vec::new(), Vec::new());
        let (automata, ranges) = (Vec::new(), Vec::new());
        let (intervals, bytes, root) = (Vec::new(), Vec::new(), NONE);
        Query {
            nodes,
            terms,
            patterns,
            pattern_leaves: 0,
            automata,
            ranges,
            intervals,
            bytes,
            root,
            clauses_max,
        }
    }

    /// Returns a query of at most `clauses_max` clauses. Allocates all memory that it will ever
    /// have.
    pub(crate) fn with_limit(clauses_max: usize) -> Query {
        Query {
            nodes: Vec::with_capacity(Query::nodes_max(clauses_max)),
            terms: Vec::with_capacity(clauses_max),
            patterns: Vec::with_capacity(clauses_max),
            pattern_leaves: 0,
            automata: Vec::new(),
            ranges: Vec::with_capacity(clauses_max),
            intervals: Vec::with_capacity(clauses_max),
            bytes: Vec::with_capacity(Query::bytes_max(clauses_max)),
            root: NONE,
            clauses_max,
        }
    }

    /// Returns the number of nodes of a query with this many clauses, at most. Each clause is a
    /// leaf, and nearly all groups have two members or more.
    pub(crate) fn nodes_max(clauses_max: usize) -> usize {
        clauses_max * 2 + DEPTH_MAX
    }

    /// Returns the bytes of its words, at most.
    fn bytes_max(clauses_max: usize) -> usize {
        clauses_max * TERM_BYTES_PER_CLAUSE + TERM_BYTES_MAX
    }

    /// Makes the query match nothing, with room for [`CLAUSES_MAX`] clauses, as a new one. So what it
    /// was before does not limit what it becomes.
    pub fn clear(&mut self) {
        self.clauses_max = CLAUSES_MAX;
        self.nodes.clear();
        self.terms.clear();
        self.patterns.clear();
        self.pattern_leaves = 0;
        self.automata.clear();
        self.ranges.clear();
        self.intervals.clear();
        self.bytes.clear();
        self.root = NONE;
    }

    /// Gives back the memory that it does not use.
    pub(crate) fn release(&mut self) {
        self.nodes.shrink_to_fit();
        self.terms.shrink_to_fit();
        self.patterns.shrink_to_fit();
        self.automata.shrink_to_fit();
        self.ranges.shrink_to_fit();
        self.intervals.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// Returns a query for the documents that contain all of `words`, which are terms already.
    pub fn all_of(words: &[&str]) -> Result<Query, Problem> {
        Query::of(words, Occur::Must)
    }

    /// Returns a query for the documents that contain any of `words`, which are terms already.
    pub fn any_of(words: &[&str]) -> Result<Query, Problem> {
        Query::of(words, Occur::Should)
    }

    /// Returns a query for the documents that contain a term of a field.
    pub fn of_term(field: FieldId, term: &[u8]) -> Result<Query, Problem> {
        let mut query = Query::with_limit(1);
        let kind = query.term(field, term)?;
        query.root = query.push(Node::leaf(kind))?;
        Ok(query)
    }

    fn of(words: &[&str], occur: Occur) -> Result<Query, Problem> {
        let mut query = Query::with_limit(words.len().clamp(1, CLAUSES_MAX));
        let mut list = Siblings::default();
        for word in words {
            let kind = query.term(FieldId(0), word.as_bytes())?;
            let node = query.push(Node::leaf(kind))?;
            query.link(&mut list, node, occur);
        }
        query.root = query.group(list)?;
        query.settle();
        Ok(query)
    }

    /// Returns a leaf for a term; [`Kind::Nothing`] if it is empty or too long for a term.
    pub(crate) fn term(&mut self, field: FieldId, bytes: &[u8]) -> Result<Kind, TooLarge> {
        match Term::new(field, bytes) {
            Some(term) => Ok(Kind::Term(self.store(term.key, bytes)?)),
            None => Ok(Kind::Nothing),
        }
    }

    /// Returns a leaf for a document's key.
    pub(crate) fn key(&mut self, bytes: &[u8]) -> Result<Kind, TooLarge> {
        Ok(Kind::Key(self.store(TermKey::default(), bytes)?))
    }

    fn store(&mut self, key: TermKey, bytes: &[u8]) -> Result<u32, TooLarge> {
        if self.terms.len() >= self.clauses_max {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        let (start, len) = self.store_bytes(bytes)?;
        self.terms.push(QueryTerm { key, hash: key.hash(), is_word: true, start, len });
        Ok(self.terms.len() as u32 - 1)
    }

    pub(crate) fn store_bytes(&mut self, bytes: &[u8]) -> Result<(u32, u32), TooLarge> {
        let max = Query::bytes_max(self.clauses_max);
        if self.bytes.len() + bytes.len() > max {
            return Err(TooLarge::Bytes { max });
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        Ok((start, bytes.len() as u32))
    }

    pub(crate) fn push(&mut self, node: Node) -> Result<NodeId, TooLarge> {
        if self.nodes.len() >= Query::nodes_max(self.clauses_max) {
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

    /// Returns one node for a list. A single member that is not excluded is returned itself.
    pub(crate) fn group(&mut self, list: Siblings) -> Result<NodeId, TooLarge> {
        if list.count == 1 && self.nodes[list.first as usize].occur != Occur::Not {
            return Ok(list.first);
        }
        self.push(Node::parent(Kind::CLAUSES, list.first))
    }

    /// Makes all of a node's children optional.
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

    /// True if two terms are one term of one field.
    pub(crate) fn are_equal(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.terms[one as usize], &self.terms[other as usize]);
        one.hash == other.hash && one.key == other.key && self.bytes_of(one) == self.bytes_of(other)
    }

    /// True if the query looks for documents by their keys.
    pub(crate) fn has_keys(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.kind, Kind::Key(_)))
    }

    /// True if the query needs the positions of terms in documents.
    pub fn needs_positions(&self) -> bool {
        let has_places = |kind| matches!(kind, Kind::Phrase { .. } | Kind::PhrasePrefix(_));
        self.nodes.iter().any(|node| has_places(node.kind))
    }

    /// Returns the term of a leaf.
    pub(crate) fn term_of(&self, node: NodeId) -> Option<u32> {
        match self.nodes[node as usize].kind {
            Kind::Term(term) => Some(term),
            _ => None,
        }
    }

    /// Returns the field of a term's leaf or of a phrase. Returns the text for other nodes.
    pub(crate) fn field_of(&self, node: NodeId) -> FieldId {
        let term = match self.nodes[node as usize].kind {
            Kind::Phrase { .. } => self.children(node).find_map(|child| self.term_of(child)),
            _ => self.term_of(node),
        };
        term.map_or(FieldId::TEXT, |term| self.terms[term as usize].field())
    }

    /// Calls `take` with the fields whose lengths the scores of a node and its descendants depend
    /// on.
    pub(crate) fn each_field(&self, node: NodeId, take: &mut impl FnMut(FieldId)) {
        match self.nodes[node as usize] {
            Node { constant: true, .. } | Node { kind: Kind::PhrasePrefix(_), .. } => {}
            Node { kind: Kind::Term(term), .. } if !self.terms[term as usize].is_word => {}
            Node { kind: Kind::Term(_) | Kind::Phrase { .. }, .. } => take(self.field_of(node)),
            _ => self.children(node).for_each(|child| self.each_field(child, take)),
        }
    }

    /// True if a node is a term that is scored by its frequency.
    pub(crate) fn is_plain_term(&self, node: NodeId) -> bool {
        let is_word = |term: u32| self.terms[term as usize].is_word;
        self.term_of(node).is_some_and(is_word) && !self.nodes[node as usize].constant
    }

    /// Returns the children of a node that add to its score.
    pub(crate) fn scored(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let adds =
            |child: &NodeId| self.counts(*child, Occur::Must) || self.counts(*child, Occur::Should);
        self.children(node).filter(adds)
    }

    /// Returns the children of a node.
    pub(crate) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut next = self.nodes[node as usize].child;
        std::iter::from_fn(move || {
            let child = (next != NONE).then_some(next)?;
            next = self.nodes[child as usize].next;
            Some(child)
        })
    }
}

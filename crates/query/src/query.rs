//! A query: a tree in flat arrays, with every term hashed once.
//!
//! A query owns its memory and can be parsed into again and again without allocating. Its limits are fixed
//! when it is made, so a hostile query is refused, not suffered.

use std::fmt;

use spirit_index::term::{FieldId, TERM_BYTES_MAX, Term, TermKey};

/// Clauses of one query, unless set otherwise.
pub const CLAUSES_MAX: usize = 1024;
/// Nesting of one query.
pub const DEPTH_MAX: usize = 32;
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
    /// Matches nothing: a word without terms.
    Nothing,
    /// Every document.
    Everything,
    /// The documents of a term (its index among the query's terms).
    Term(u32),
    /// The document with a key (its index among the query's terms).
    Key(u32),
    /// Clauses, from the first child on.
    Clauses,
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) occur: Occur,
    pub(crate) child: NodeId,
    pub(crate) next: NodeId,
}

/// A term of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryTerm {
    pub(crate) key: TermKey,
    pub(crate) hash: u64,
    start: u32,
    len: u32,
}

/// A parsed query.
#[derive(Clone, Debug)]
pub struct Query {
    pub(crate) nodes: Vec<Node>,
    pub(crate) terms: Vec<QueryTerm>,
    bytes: Vec<u8>,
    pub(crate) root: NodeId,
    clauses_max: usize,
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
    /// Its words have too many bytes.
    Bytes {
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
            TooLarge::Bytes { max } => write!(f, "words of more than {max} bytes in all"),
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

    fn of(words: &[&str], occur: Occur) -> Result<Query, TooLarge> {
        let mut query = Query::with_limit(words.len().clamp(1, CLAUSES_MAX));
        let mut first = NONE;
        for word in words.iter().rev() {
            let kind = query.term(FieldId(0), word.as_bytes())?;
            first = query.push(Node { kind, occur, child: NONE, next: first })?;
        }
        query.root = match words.len() {
            1 => first,
            _ => query.push(Node {
                kind: Kind::Clauses,
                occur: Occur::Should,
                child: first,
                next: NONE,
            })?,
        };
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

    fn store(&mut self, key: TermKey, bytes: &[u8]) -> Result<u32, TooLarge> {
        if self.terms.len() >= self.clauses_max {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        if self.bytes.len() + bytes.len() > self.bytes.capacity() {
            return Err(TooLarge::Bytes { max: self.bytes.capacity() });
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.terms.push(QueryTerm { key, hash: key.hash(), start, len: bytes.len() as u32 });
        Ok(self.terms.len() as u32 - 1)
    }

    pub(crate) fn push(&mut self, node: Node) -> Result<NodeId, TooLarge> {
        if self.nodes.len() == self.nodes.capacity() {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as NodeId - 1)
    }

    pub(crate) fn lookup(&self, term: &QueryTerm) -> Term<'_> {
        Term { key: term.key, bytes: self.bytes_of(term) }
    }

    pub(crate) fn bytes_of(&self, term: &QueryTerm) -> &[u8] {
        &self.bytes[term.start as usize..(term.start + term.len) as usize]
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

//! Clauses whose matches may be kept, segment by segment: a bitmap of a clause's documents serves
//! every query that has the clause, whatever else the query asks for.
//!
//! The clauses that count are those of a query's root that need more than one list: phrases,
//! patterns, ranges, and clauses within clauses. The evaluator asks a [`ClauseStore`] for their
//! bitmaps, and hands over those that it made. The store decides which are worth it.

use std::fmt::Debug;
use std::time::Duration;

use spirit_index::snapshot::{Segment, Snapshot};

use crate::packed_key::write_clause_key;
use crate::query::{Kind, NONE, NodeId, Occur, Query};

/// Clauses of a query that may be kept, at most.
pub const KEPT_CLAUSES_MAX: usize = 8;
/// Words of all their keys, at most.
const KEY_WORDS: usize = 512;

/// The clauses of a query that may be kept, with their keys.
#[derive(Debug)]
pub struct KeptClauses {
    keys: Vec<u64>,
    /// The node of each clause, and the end of its key.
    clauses: [(NodeId, usize); KEPT_CLAUSES_MAX],
    count: usize,
}

impl KeptClauses {
    /// Reserves room for the clauses of any query.
    pub fn with_room() -> KeptClauses {
        let clauses = [(NONE, 0); KEPT_CLAUSES_MAX];
        KeptClauses { keys: Vec::with_capacity(KEY_WORDS), clauses, count: 0 }
    }

    /// Takes the clauses of a query. Later ones are left out if there is no room.
    pub fn fill(&mut self, query: &Query) {
        self.keys.clear();
        self.count = 0;
        let Some(root) = query.nodes.get(query.root as usize) else { return };
        let Kind::Clauses { minimum } = root.kind else { return };
        let has_must = query.children(query.root).any(|child| query.counts(child, Occur::Must));
        for child in query.children(query.root) {
            let node = &query.nodes[child as usize];
            // Beside a required clause, an optional one only adds to the score.
            let takes_part = node.occur != Occur::Should || minimum > 0 || !has_must;
            if takes_part && may_be_kept(node.kind) && self.count < KEPT_CLAUSES_MAX {
                self.push(query, child);
            }
        }
    }

    fn push(&mut self, query: &Query, node: NodeId) {
        let start = self.keys.len();
        if !write_clause_key(query, node, &mut self.keys) {
            return self.keys.truncate(start);
        }
        self.clauses[self.count] = (node, self.keys.len());
        self.count += 1;
    }

    /// Returns the number of clauses.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are no clauses.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the key of a clause. Equal keys are equal clauses.
    pub fn key(&self, number: usize) -> &[u64] {
        let start = number.checked_sub(1).map_or(0, |before| self.clauses[before].1);
        &self.keys[start..self.clauses[number].1]
    }

    pub(crate) fn node(&self, number: usize) -> NodeId {
        self.clauses[number].0
    }
}

fn may_be_kept(kind: Kind) -> bool {
    match kind {
        Kind::Phrase { .. }
        | Kind::PhrasePrefix(_)
        | Kind::Pattern(_)
        | Kind::Range(_)
        | Kind::Clauses { .. } => true,
        Kind::Nothing | Kind::Blank | Kind::Everything | Kind::Term(_) | Kind::Key(_) => false,
    }
}

/// A clause in a registered segment, as a query sees it.
#[derive(Clone, Copy)]
pub struct ClauseAt<'a> {
    /// The number of the clause among the [kept ones](ClauseStore::clauses).
    pub number: usize,
    /// The snapshot of the query.
    pub snapshot: &'a Snapshot<'a>,
    /// The segment.
    pub segment: Segment<'a>,
}

/// The matches of a clause in a segment, which may be dead.
#[derive(Clone, Copy, Debug)]
pub struct ClauseBits<'b> {
    /// A bit for each row, the newest first.
    pub bits: &'b [u64],
    /// The number of set bits.
    pub count: u32,
    /// The time that the evaluator took to find them.
    pub took: Duration,
}

/// A store of clauses' bitmaps, for one query.
pub trait ClauseStore: Debug {
    /// Returns the clauses that the store is asked for.
    fn clauses(&self) -> &KeptClauses;

    /// True if bitmaps of a clause are worth being made.
    fn wants(&self, number: usize) -> bool;

    /// Overwrites `bits` with the bitmap of a clause in a segment, and returns the number of its
    /// matches. `None` if there is no bitmap. Then `bits` may have any content.
    fn find(&self, at: ClauseAt<'_>, bits: &mut [u64]) -> Option<u32>;

    /// Takes a bitmap that was made.
    fn keep(&self, at: ClauseAt<'_>, made: ClauseBits<'_>);
}

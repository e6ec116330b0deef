//! The working memory of a reader's queries, reserved when the reader is made.

use std::cmp::Reverse;
use std::sync::Arc;

use spirit_index::snapshot::{Seen, Snapshot};
use spirit_query::{
    Address, CLAUSES_MAX, Counts, First, FirstKeyed, Query, Scored, Scratch, Top, Total,
    snapshot_for,
};

use crate::cached::{Recall, ResultCache};
use crate::search::found::Found;
use crate::search::request::HITS_MAX;
use crate::storage::shared::Shared;
use crate::storage::view::View;

/// The working memory of a reader's queries.
pub(crate) struct Workspace {
    pub(crate) scratch: Scratch,
    pub(crate) hits: Vec<Address>,
    /// The order of the hits.
    pub(crate) found: Found,
    /// The number of documents that match, if the search counts them.
    pub(crate) total: Option<Total>,
    /// The hits of several executors, with the keys that they are merged by.
    pub(crate) merge: Vec<(Reverse<u64>, Address)>,
    /// The snapshots of all executors.
    pub(crate) snapshots: Snapshots,
    pub(crate) counts: Counts,
    pub(crate) top: Top,
    pub(crate) scored: Vec<Scored>,
    pub(crate) first: First,
    /// The first of one executor, with those that the result cache has.
    pub(crate) kept_first: First,
    pub(crate) keyed: FirstKeyed,
    pub(crate) recall: Recall,
    /// Likewise, for the number of matches beside the hits.
    pub(crate) total_recall: Recall,
}

/// The memory for the number of matches beside the hits.
pub(crate) struct Totaling<'w> {
    pub(crate) snapshots: &'w Snapshots,
    pub(crate) scratch: &'w mut Scratch,
    pub(crate) recall: &'w mut Recall,
}

impl Workspace {
    pub(crate) fn new(executors: usize, rows_max: u32, cache: Option<&ResultCache>) -> Self {
        let number = cache.map_or(0, ResultCache::assign);
        let merged = if executors > 1 { HITS_MAX * executors } else { 0 };
        Workspace {
            scratch: Scratch::new(CLAUSES_MAX, rows_max),
            // The result cache has those of one executor twice for a moment: newer ones, and its own.
            hits: Vec::with_capacity(HITS_MAX * (executors + usize::from(cache.is_some()))),
            found: Found::default(),
            total: None,
            merge: Vec::with_capacity(merged),
            snapshots: Snapshots(Vec::with_capacity(executors)),
            counts: Counts::with_capacity(CLAUSES_MAX),
            top: Top::with_capacity(HITS_MAX),
            scored: Vec::with_capacity(HITS_MAX),
            first: First::with_capacity(HITS_MAX),
            kept_first: First::with_capacity(if cache.is_some() { HITS_MAX } else { 0 }),
            keyed: FirstKeyed::default(),
            recall: Recall::new(cache, number, executors, HITS_MAX, rows_max),
            total_recall: Recall::new(cache, number, executors, 0, rows_max),
        }
    }
}

/// The words of a snapshot of each executor. All are taken, one after the other, before anything is
/// read.
pub(crate) struct Snapshots(Vec<Seen>);

impl Snapshots {
    /// Removes all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the snapshot of the next executor.
    pub(crate) fn push(&mut self, snapshot: &Snapshot<'_>) {
        self.0.push(snapshot.seen());
    }

    /// Takes the snapshots for a query.
    pub(crate) fn take(&mut self, view: &View, query: &Query) {
        self.0.clear();
        let over_ms = view.over_ms();
        let seen = |part: &Arc<Shared>| snapshot_for(&part.memory, query, over_ms).seen();
        self.0.extend(view.parts.iter().map(seen));
    }

    pub(crate) fn iter<'v>(&self, view: &'v View) -> impl Iterator<Item = Snapshot<'v>> {
        view.parts.iter().zip(&self.0).map(|(part, seen)| Snapshot::again(&part.memory, *seen))
    }
}

//! Rounds: new rows are held against standing queries.
//!
//! A round takes a snapshot of each executor, and asks the queries about the rows since the last one. In a
//! segment that is being filled, the terms of the new rows [lead](super::triggers) to the queries that may
//! match. If the rows are in registered segments already, all queries are asked.
//!
//! The terms of a row [decide](spirit_query::Decider) a query of terms and phrases. Others are asked, by
//! the evaluators that answer searches. So a standing query matches what a search finds.
//!
//! A document that dies before the round that would find it is not found. A replaced document's new
//! version is.

use std::sync::Arc;
use std::sync::atomic::{Ordering::Acquire, fence};

use spirit_index::ground::{TERM_BYTES_MAX, TermKey};
use spirit_index::memory::Memory;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, CLAUSES_MAX, Decider, Query, Scratch, Settings};

use super::row_terms::RowTerms;
use super::triggers::{Numbers, QueryId, Triggers};
use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::request::Limits;
use crate::search::seat::{End, Seat};
use crate::storage::view::View;

/// A match: a row of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matched {
    pub(super) executor: u32,
    pub(super) row: u64,
    pub(super) sequence: u64,
}

/// A standing query, and whose it is.
struct Standing<O> {
    owner: O,
    query: Arc<Query>,
    numbers: Numbers,
    /// True if a row's terms always decide it.
    is_decided_by_terms: bool,
    /// True if a row matches that has any of its terms.
    is_any_of_terms: bool,
    /// The look and the row that led to it last.
    reached: (u64, u64),
    /// The last look that asks it.
    asked: u64,
    /// Its matches of the last round, in the order of executors and rows.
    found: Vec<Matched>,
}

/// Standing queries, the rows that were looked at, and the memory of a round.
pub(super) struct Round<O> {
    queries: Vec<Option<Standing<O>>>,
    unused: Vec<QueryId>,
    triggers: Triggers,
    /// The first row of each executor that was not looked at.
    cursors: Vec<u64>,
    scratch: Scratch,
    row: RowTerms,
    decider: Decider,
    /// The number of this look at an executor.
    look: u64,
    /// The queries to ask.
    wanted: Vec<QueryId>,
    hits: Vec<Address>,
    /// The queries with matches.
    found: Vec<QueryId>,
    /// True if rows were dropped before the last look, which nobody looked at.
    has_lost: bool,
    failed: Vec<(QueryId, SearchError)>,
}

impl<O> Round<O> {
    /// Makes a round of a view, without queries.
    pub(super) fn new(view: &View) -> Round<O> {
        let rows_max = view.parts[0].memory.geometry().rewritten_rows_max();
        Round {
            queries: Vec::new(),
            unused: Vec::new(),
            triggers: Triggers::new(view.parts.len()),
            cursors: vec![0; view.parts.len()],
            scratch: Scratch::new(CLAUSES_MAX, rows_max),
            row: RowTerms::default(),
            decider: Decider::default(),
            look: 0,
            wanted: Vec::new(),
            hits: Vec::new(),
            found: Vec::new(),
            has_lost: false,
            failed: Vec::new(),
        }
    }

    /// True if there are no queries.
    pub(super) fn is_empty(&self) -> bool {
        self.queries.len() == self.unused.len()
    }

    /// Returns the first row of each executor that was not looked at.
    pub(super) fn cursors(&self) -> &[u64] {
        &self.cursors
    }

    /// Begins behind all rows.
    pub(super) fn catch_up(&mut self, view: &View) {
        let rows = view.parts.iter().map(|part| part.memory.visible());
        self.cursors.iter_mut().zip(rows).for_each(|(cursor, rows)| *cursor = rows);
    }

    /// True if an executor has rows that were not looked at.
    pub(super) fn has_new(&self, view: &View) -> bool {
        view.parts.iter().zip(&self.cursors).any(|(part, cursor)| part.memory.visible() > *cursor)
    }

    /// Adds a query, and returns its number. `rarest` are its [necessary terms](rarest_terms).
    pub(super) fn add(
        &mut self,
        owner: O,
        query: Arc<Query>,
        rarest: Option<&[TermKey]>,
    ) -> QueryId {
        let id = self.unused.pop().unwrap_or_else(|| {
            self.queries.push(None);
            self.queries.len() as QueryId - 1
        });
        self.queries[id as usize] = Some(Standing {
            owner,
            numbers: self.triggers.add(id, query.term_keys(), rarest),
            is_decided_by_terms: query.is_decided_by_terms(),
            is_any_of_terms: query.is_any_of_terms(),
            query,
            reached: (0, 0),
            asked: 0,
            found: Vec::new(),
        });
        id
    }

    /// Removes a query, and returns its owner.
    pub(super) fn remove(&mut self, id: QueryId) -> Option<O> {
        let query = self.queries.get_mut(id as usize)?.take()?;
        self.triggers.remove(id, &query.numbers);
        self.unused.push(id);
        Some(query.owner)
    }

    /// Removes all queries, and returns their owners.
    pub(super) fn remove_all(&mut self) -> Vec<O> {
        (0..self.queries.len() as QueryId).filter_map(|id| self.remove(id)).collect()
    }

    /// Looks at the new rows of all executors. False if there are none.
    pub(super) fn look(&mut self, index: &Readable, seat: &mut Seat) -> Result<bool, SearchError> {
        for id in self.found.drain(..) {
            if let Some(query) = &mut self.queries[id as usize] {
                query.found.clear();
            }
        }
        self.failed.clear();
        self.has_lost = false;
        let mut cursors = std::mem::take(&mut self.cursors);
        let looked = seat.ask(index, End::Leave, |view| {
            let mut has_new = false;
            for (executor, cursor) in cursors.iter_mut().enumerate() {
                has_new |= self.look_at(index, view, executor, cursor);
            }
            Ok(has_new)
        });
        self.cursors = cursors;
        looked
    }

    /// Yields the queries with matches of the last look, and these in the order of executors and rows.
    pub(super) fn found(&self) -> impl Iterator<Item = (QueryId, &O, &[Matched])> {
        self.found.iter().filter_map(|id| {
            let query = self.queries[*id as usize].as_ref()?;
            Some((*id, &query.owner, query.found.as_slice()))
        })
    }

    /// True if rows were dropped before the last look, which nobody looked at.
    pub(super) fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// Iterates over the owners of all queries.
    pub(super) fn owners(&self) -> impl Iterator<Item = &O> {
        self.queries.iter().flatten().map(|query| &query.owner)
    }

    /// Returns the queries that the last look could not ask, and the reasons.
    pub(super) fn failed(&mut self) -> Vec<(QueryId, SearchError)> {
        std::mem::take(&mut self.failed)
    }

    /// Looks at an executor's rows from `cursor` on, and moves it behind them. False if there are none.
    fn look_at(
        &mut self,
        index: &Readable,
        view: &View,
        executor: usize,
        cursor: &mut u64,
    ) -> bool {
        let memory = &view.parts[executor].memory;
        let snapshot = Snapshot::take(memory).without_older(view.over_ms());
        let from = *cursor;
        if snapshot.visible() <= from {
            return false;
        }
        *cursor = snapshot.visible();
        let oldest_row = snapshot.segments().last().map(|oldest| oldest.base_row());
        self.has_lost |= oldest_row.is_none_or(|row| row > from);
        let oldest = oldest_since(&snapshot, from);
        let new = snapshot.since(oldest);
        self.wanted.clear();
        self.look += 1;
        let has_vectors = memory.geometry().settings.positions;
        let is_fresh = oldest == snapshot.window().end;
        if !(has_vectors && is_fresh && self.follow_terms(executor, &new, from)) {
            self.forget(executor as u32);
            self.wanted.clear();
            let all = self.queries.iter().enumerate();
            self.wanted.extend(all.filter(|(_, query)| query.is_some()).map(|(id, _)| id as u32));
        }
        self.ask(index, &new, executor as u32, from);
        true
    }

    /// Decides the queries that rows from `from` on lead to, or puts them among those to ask. False if the
    /// rows are not in fresh segments any more: then their vectors may be gone.
    fn follow_terms(&mut self, executor: usize, new: &Snapshot<'_>, from: u64) -> bool {
        self.wanted.extend(self.triggers.always());
        for segment in new.fresh().rev() {
            for local in segment.rows_before(from)..segment.rows() {
                if !segment.is_dead(local) {
                    self.triggers.read(executor, &segment, local, &mut self.row);
                    let (row, sequence) = (segment.row_number(local), segment.sequence(local));
                    self.decide(Matched { executor: executor as u32, row, sequence });
                }
            }
        }
        // The loads of vectors come before that of the window: a segment that is not registered by now
        // was not packed before.
        fence(Acquire);
        new.memory().window().end == new.window().end
    }

    /// Forgets what was found of an executor.
    fn forget(&mut self, executor: u32) {
        let Round { queries, found, .. } = self;
        found.retain(|id| {
            let Some(query) = &mut queries[*id as usize] else { return false };
            query.found.retain(|matched| matched.executor != executor);
            !query.found.is_empty()
        });
    }

    /// Decides the queries that the terms of a row lead to.
    fn decide(&mut self, matched: Matched) {
        let Round { queries, triggers, row, decider, found, wanted, look, .. } = self;
        for id in row.distinct().iter().flat_map(|term| triggers.queries(*term)) {
            let Some(query) = &mut queries[*id as usize] else { continue };
            // Several terms of a row may lead to a query.
            if query.reached == (*look, matched.row) {
                continue;
            }
            query.reached = (*look, matched.row);
            let decided = match query.is_any_of_terms {
                true => Some(true),
                false => decider.decide(&query.query, &query.numbers.terms, row),
            };
            match decided {
                Some(false) => {}
                Some(true) if query.is_decided_by_terms => {
                    if query.found.is_empty() {
                        found.push(*id);
                    }
                    query.found.push(matched);
                }
                _ if query.asked == *look => {}
                _ => {
                    query.asked = *look;
                    wanted.push(*id);
                }
            }
        }
    }

    /// Asks queries about the rows of a snapshot from `from` on.
    fn ask(&mut self, index: &Readable, new: &Snapshot<'_>, executor: u32, from: u64) {
        let limits = Limits::default();
        let level = index.options.vectors;
        for id in self.wanted.drain(..) {
            let Some(query) = &mut self.queries[id as usize] else { continue };
            let settings =
                Settings { level, from_row: from, limits: limits.begin(), ..Settings::default() };
            match rows_of(&query.query, new, settings, &mut self.scratch, executor, &mut self.hits)
            {
                Ok(matches) => {
                    let had = !query.found.is_empty();
                    query.found.extend(matches);
                    self.found.extend((!had && !query.found.is_empty()).then_some(id));
                }
                Err(error) => self.failed.push((id, error)),
            }
        }
    }
}

/// Returns the necessary terms of a query that are rarest in an index. Of terms that are in no registered
/// segment yet, long ones are taken for rare.
pub(super) fn rarest_terms(query: &Query, view: &View) -> Option<Vec<TermKey>> {
    query.necessary_terms(|term, hash| {
        let postings = |memory: &Memory| {
            Snapshot::take(memory).entries(term, hash).view(memory.region()).postings()
        };
        let postings = view.parts.iter().map(|part| u64::from(postings(&part.memory)));
        postings.sum::<u64>() << 8 | (TERM_BYTES_MAX - term.bytes.len()) as u64
    })
}

/// Returns the position of the oldest segment with rows from `from` on.
fn oldest_since(snapshot: &Snapshot<'_>, from: u64) -> u32 {
    let window = snapshot.window();
    let is_before = |position| {
        let segment = snapshot.segment(position);
        segment.is_none_or(|segment| segment.base_row() + segment.row_span() < from)
    };
    let older = (window.oldest..window.end).rev().find(|position| is_before(*position));
    older.map_or(window.oldest, |position| position + 1)
}

/// Finds the matches of a query in a snapshot, in the order of their rows. `hits` is scratch memory.
pub(super) fn rows_of<'s>(
    query: &Query,
    snapshot: &'s Snapshot<'s>,
    settings: Settings<'_>,
    scratch: &mut Scratch,
    executor: u32,
    hits: &'s mut Vec<Address>,
) -> Result<impl Iterator<Item = Matched> + use<'s>, SearchError> {
    hits.clear();
    let rows = snapshot.segments().map(|segment| segment.rows() as usize).sum();
    spirit_query::newest(snapshot, query, settings, scratch, executor, rows, hits)?;
    Ok(hits.iter().rev().map(move |hit| {
        let segment = snapshot.of(hit.segment);
        let (row, sequence) = (segment.row_number(hit.local), segment.sequence(hit.local));
        Matched { executor, row, sequence }
    }))
}

//! The matcher: a thread that holds new rows against standing queries.
//!
//! It looks in *rounds*. A round takes a snapshot of each executor, and asks the queries about the rows
//! since the last one. The ingest role does nothing for it but wake the thread. In a segment that is
//! being filled, the terms of the new rows [lead](super::triggers) to the queries that are asked. If the
//! rows are in registered segments already, since the thread had no time, all queries are asked.
//!
//! The terms of a row [decide](spirit_query::Decider) a query of terms and phrases. Others are asked, by
//! the evaluators that answer searches. So a standing query matches what a search finds.
//!
//! A document that dies before the round that would find it is not reported. A replaced document's new
//! version is.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{Ordering::Acquire, fence};
use std::thread;
use std::time::Duration;

use spirit_index::ground::{TERM_BYTES_MAX, TermKey};
use spirit_index::memory::Memory;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, CLAUSES_MAX, Decider, Query, Scratch, Settings};

use super::listener::{Listener, Matched};
use super::mail::{Letter, Mail};
use super::row_terms::RowTerms;
use super::triggers::{Numbers, QueryId, Triggers};
use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::request::Limits;
use crate::search::seat::{End, Seat};
use crate::storage::shared;
use crate::storage::view::View;

/// The pause after a round that found new rows. A stream fills the next round meanwhile, and its writers
/// need not wake the thread.
const PAUSE: Duration = Duration::from_micros(100);

/// A standing query.
struct Standing {
    listener: Arc<Listener>,
    numbers: Numbers,
    /// True if a row's terms always decide it.
    is_decided_by_terms: bool,
    /// The look and the row that led to it last.
    reached: (u64, u64),
    /// The last look that asks it.
    asked: u64,
}

/// The matcher of an index.
pub(super) struct Matcher {
    index: Arc<Readable>,
    numbers: Arc<shared::Numbers>,
    mail: Arc<Mail>,
    seat: Seat,
    round: Round,
}

/// The memory of a round.
struct Round {
    queries: Vec<Option<Standing>>,
    /// The number of each listener's query.
    places: HashMap<usize, QueryId>,
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
    found: Vec<(QueryId, Matched)>,
    failed: Vec<(QueryId, SearchError)>,
}

impl Matcher {
    /// Returns a matcher that looks at what is added from now on.
    pub(super) fn new(
        index: Arc<Readable>,
        numbers: Arc<shared::Numbers>,
        mail: Arc<Mail>,
    ) -> Result<Matcher, SearchError> {
        let seat = Seat::take(index.view(), index.options.readers_max)?;
        let round = Round::new(seat.view());
        Ok(Matcher { index, numbers, mail, seat, round })
    }

    /// Looks until the index is closed.
    pub(super) fn run(mut self) {
        let watch = &self.numbers.clone().watch;
        watch.begin();
        while !watch.is_over() {
            self.read_mail();
            if self.round.is_empty() {
                watch.rest();
                watch.sleep(|| self.mail.is_waiting() || watch.is_over());
                continue;
            }
            match self.look() {
                Ok(true) => thread::sleep(PAUSE),
                Ok(false) => {
                    let has_new = || self.mail.is_waiting() || self.round.has_new(self.seat.view());
                    watch.sleep(|| has_new() || watch.is_over());
                }
                Err(error) => self.round.end(&error),
            }
        }
    }

    fn read_mail(&mut self) {
        for letter in self.mail.take() {
            match letter {
                Letter::Listen(listener, reply) => {
                    if self.round.is_empty() {
                        self.round.catch_up(self.seat.view());
                        self.numbers.watch.begin();
                    }
                    listener.restart();
                    if self.add(&listener).is_ok() {
                        // A caller that was interrupted has dropped its end.
                        let _ = reply.send(self.round.cursors.clone());
                    }
                }
                Letter::Leave(listener) => self.round.remove(&listener),
            }
        }
    }

    /// Enters a listener, unless it is there. The error is the index's end.
    fn add(&mut self, listener: &Arc<Listener>) -> Result<(), SearchError> {
        let Matcher { index, seat, round, .. } = self;
        if round.places.contains_key(&place_of(listener)) {
            return Ok(());
        }
        let terms = seat.ask(index, End::Leave, |view| Ok(terms_of(&listener.query, view)))?;
        round.add(listener, terms);
        Ok(())
    }

    /// Looks at the new rows of all executors, and reports matches. False if there are no new rows.
    fn look(&mut self) -> Result<bool, SearchError> {
        let Matcher { index, seat, round, .. } = self;
        round.found.clear();
        let mut cursors = std::mem::take(&mut round.cursors);
        let looked = seat.ask(index, End::Leave, |view| {
            let mut has_new = false;
            for (executor, cursor) in cursors.iter_mut().enumerate() {
                has_new |= round.look_at(index, view, executor, cursor);
            }
            Ok(has_new)
        });
        round.cursors = cursors;
        let has_new = looked?;
        round.report();
        Ok(has_new)
    }
}

impl Drop for Matcher {
    /// Ends all listeners, also those whose letters were not read, and also after a bug: nobody waits for
    /// a thread that is gone.
    fn drop(&mut self) {
        self.mail.close();
        drop(self.mail.take());
        self.round.end(&SearchError::Closed);
    }
}

impl Round {
    fn new(view: &View) -> Round {
        let rows_max = view.parts[0].memory.geometry().rewritten_rows_max();
        Round {
            queries: Vec::new(),
            places: HashMap::new(),
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
            failed: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.queries.len() == self.unused.len()
    }

    /// Begins behind all rows, since no query waits.
    fn catch_up(&mut self, view: &View) {
        let rows = view.parts.iter().map(|part| part.memory.visible());
        self.cursors.iter_mut().zip(rows).for_each(|(cursor, rows)| *cursor = rows);
    }

    /// True if an executor has rows that were not looked at.
    fn has_new(&self, view: &View) -> bool {
        view.parts.iter().zip(&self.cursors).any(|(part, cursor)| part.memory.visible() > *cursor)
    }

    fn add(&mut self, listener: &Arc<Listener>, terms: Option<Vec<TermKey>>) {
        let id = self.unused.pop().unwrap_or_else(|| {
            self.queries.push(None);
            self.queries.len() as QueryId - 1
        });
        self.places.insert(place_of(listener), id);
        let query = &listener.query;
        self.queries[id as usize] = Some(Standing {
            listener: listener.clone(),
            numbers: self.triggers.add(id, query.term_keys(), terms.as_deref()),
            is_decided_by_terms: query.is_decided_by_terms(),
            reached: (0, 0),
            asked: 0,
        });
    }

    fn remove(&mut self, listener: &Arc<Listener>) {
        if let Some(id) = self.places.get(&place_of(listener)) {
            self.remove_at(*id);
        }
    }

    fn remove_at(&mut self, id: QueryId) -> Option<Standing> {
        let query = self.queries[id as usize].take()?;
        self.triggers.remove(id, &query.numbers);
        self.places.remove(&place_of(&query.listener));
        self.unused.push(id);
        Some(query)
    }

    /// Ends all queries.
    fn end(&mut self, why: &SearchError) {
        for id in 0..self.queries.len() as QueryId {
            if let Some(query) = self.remove_at(id) {
                query.listener.end(why.clone());
            }
        }
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
        let oldest = oldest_since(&snapshot, from);
        let (new, found) = (snapshot.since(oldest), self.found.len());
        self.wanted.clear();
        self.look += 1;
        let has_vectors = memory.geometry().settings.positions;
        let is_fresh = oldest == snapshot.window().end;
        if !(has_vectors && is_fresh && self.follow_terms(executor, &new, from)) {
            self.found.truncate(found);
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
            match decider.decide(&query.listener.query, &query.numbers.terms, row) {
                Some(false) => {}
                Some(true) if query.is_decided_by_terms => found.push((*id, matched)),
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
            let Some(query) = &self.queries[id as usize] else { continue };
            let settings =
                Settings { level, from_row: from, limits: limits.begin(), ..Settings::default() };
            let query = &query.listener.query;
            match rows_of(query, new, settings, &mut self.scratch, executor, &mut self.hits) {
                Ok(matches) => self.found.extend(matches.map(|matched| (id, matched))),
                Err(error) => self.failed.push((id, error)),
            }
        }
    }

    /// Queues what was found, for each query in the order of its rows.
    fn report(&mut self) {
        // Stable: the matches of a query are in the order of executors and rows.
        self.found.sort_by_key(|(id, _)| *id);
        for matches in self.found.chunk_by(|(one, _), (other, _)| one == other) {
            if let Some(query) = &self.queries[matches[0].0 as usize] {
                query.listener.send(matches.iter().map(|(_, matched)| *matched));
            }
        }
        self.found.clear();
        while let Some((id, error)) = self.failed.pop() {
            if let Some(query) = self.remove_at(id) {
                query.listener.end(error);
            }
        }
    }
}

/// Returns a number that no other listener has while this one is there.
fn place_of(listener: &Arc<Listener>) -> usize {
    Arc::as_ptr(listener).addr()
}

/// Returns the necessary terms of a query that are rarest in an index. Of terms that are in no registered
/// segment yet, long ones are taken for rare.
fn terms_of(query: &Query, view: &View) -> Option<Vec<TermKey>> {
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

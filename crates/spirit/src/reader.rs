//! A reader: a place to ask from, with all the memory that its queries need.
//!
//! A reader belongs to one thread at a time. Its queries take no lock, make no system call and allocate
//! nothing: hits, scratch memory and the parser's buffers are reserved when the reader is made. The few
//! exceptions are in `ARCHITECTURE.md`, at "The house".

mod explain;
mod facets;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::nvm::older::FindOlder;
use spirit_index::snapshot::Snapshot;
use spirit_mem::{PinSlot, Pins};
use spirit_query::{
    Algorithm, CLAUSES_MAX, Counts, First, Hit, Operator, Parameters, ParseError, Parser, Query,
    Ranking as Asked, Scored, Scratch, Settings, Tally, Top, Total, snapshot_for,
};
use spirit_schema::Schema;

use crate::cursor::{self, Cursor, Last, RankedCursor};
use crate::hits::{Found, Hits, Pinned, Ranking, Sorting};
use crate::index::Index;
use crate::recency;
use crate::search::{HITS_MAX, Limits, Order, QUERY_BYTES_MAX, Search, SearchError};
use crate::sorting;

/// All readers that the index was opened for are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyReaders {
    /// How many there can be.
    pub readers_max: usize,
}

impl fmt::Display for TooManyReaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "all {} readers are in use: drop one, or open the index with a larger readers_max",
            self.readers_max
        )
    }
}

impl std::error::Error for TooManyReaders {}

/// Asks an index. Made by [`Index::reader`].
pub struct Reader<'i> {
    pub(crate) index: &'i Index,
    pins: Arc<Pins>,
    slot: Option<PinSlot>,
    memory: Memory<'i>,
    parser: Parser,
    /// How often the schema had grown when the parser was told of it.
    growths: u64,
    pub(crate) query: Query,
}

/// What a reader's queries work in.
pub(crate) struct Memory<'i> {
    pub(crate) limits: Limits,
    pub(crate) scratch: Scratch,
    pub(crate) hits: Vec<Hit>,
    /// Hits of several executors with what they are merged by.
    merge: Vec<(std::cmp::Reverse<u64>, Hit)>,
    /// What is seen of each executor.
    snapshots: Vec<Snapshot<'i>>,
    counts: Counts,
    top: Top,
    scored: Vec<Scored>,
    pub(crate) first: First,
}

impl Memory<'_> {
    fn new(executors: usize, rows_max: u32) -> Self {
        let merged = if executors > 1 { HITS_MAX * executors } else { 0 };
        Memory {
            limits: Limits::default(),
            scratch: Scratch::new(CLAUSES_MAX, rows_max),
            hits: Vec::with_capacity(HITS_MAX * executors),
            merge: Vec::with_capacity(merged),
            snapshots: Vec::with_capacity(executors),
            counts: Counts::with_capacity(CLAUSES_MAX),
            top: Top::with_capacity(HITS_MAX),
            scored: Vec::with_capacity(HITS_MAX),
            first: First::with_capacity(HITS_MAX),
        }
    }
}

impl Index {
    /// A reader for one thread.
    pub fn reader(&self) -> Result<Reader<'_>, TooManyReaders> {
        let readers_max = self.options.readers_max;
        let slot = self.pins.acquire().ok_or(TooManyReaders { readers_max })?;
        Ok(Reader {
            index: self,
            pins: self.pins.clone(),
            slot: Some(slot),
            memory: Memory::new(self.parts.len(), self.parts[0].memory.geometry().rows_max()),
            growths: self.fields.growths(),
            parser: self.parser(Operator::Or),
            query: Query::new(),
        })
    }

    /// The sequence number of a hit. The reader that has it is pinned.
    pub(crate) fn sequence(&self, hit: Hit) -> u64 {
        let memory = &self.parts[hit.executor as usize].memory;
        Snapshot::take(memory).of(hit.segment).sequence(hit.local)
    }

    /// A parser for this index's queries.
    pub fn parser(&self, operator: Operator) -> Parser {
        let parser = Parser::new(self.fields.current(), QUERY_BYTES_MAX, operator);
        if self.options.positions { parser } else { parser.without_positions() }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.pins.release(slot);
        }
    }
}

impl<'i> Reader<'i> {
    /// What two neighbouring words mean in [`search_text`](Self::search_text). Default: either.
    pub fn default_operator(&mut self, operator: Operator) {
        self.parser = self.index.parser(operator);
    }

    /// Parses `text` into the reader's query. The schema is asked for, under a lock, only when it has grown.
    pub(crate) fn parse(&mut self, text: &str) -> Result<&Query, ParseError> {
        self.renew_parser();
        self.parser.parse_into(text, &mut self.query)?;
        Ok(&self.query)
    }

    /// Parses `text` as [`search_text`](Self::search_text) does: for whoever asks several things of one query.
    pub fn parse_text(&mut self, text: &str) -> Result<Query, ParseError> {
        self.parse(text).cloned()
    }

    /// Parses what people type as [`search_typed`](Self::search_typed) does: whatever cannot be understood is passed over, or taken
    /// as words. Says what that was.
    ///
    /// ```
    /// let index = spirit::Options::default().dram_bytes(64 << 20).open()?;
    /// index.add("the old man and the sea")?;
    /// let mut reader = index.reader()?;
    /// let (query, warnings) = reader.parse_typed("(sea AND");
    /// assert_eq!((reader.count(&query)?, warnings.len()), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse_typed(&mut self, text: &str) -> (Query, Vec<ParseError>) {
        self.renew_parser();
        let warnings = self.parser.parse_lenient_into(text, &mut self.query);
        (self.query.clone(), warnings)
    }

    fn renew_parser(&mut self) {
        let growths = self.index.fields.growths();
        if growths != self.growths {
            self.parser.renew(self.index.fields.current());
            self.growths = growths;
        }
    }

    /// What each of its queries may cost.
    pub fn limits(&mut self, limits: Limits) {
        self.memory.limits = limits;
    }

    /// Parses `text` and searches.
    pub fn search_text(&mut self, text: &str, search: Search) -> Result<Hits<'_>, SearchError> {
        self.parse(text)?;
        let Reader { index, pins, slot, memory, query, parser, .. } = self;
        answer(index, pins, slot, memory, parser.schema(), query, search)
    }

    /// The same for what people type: whatever cannot be understood is passed over, or taken as words. Says what that was.
    pub fn search_typed(
        &mut self,
        text: &str,
        search: Search,
    ) -> Result<(Hits<'_>, Vec<ParseError>), SearchError> {
        self.renew_parser();
        let warnings = self.parser.parse_lenient_into(text, &mut self.query);
        let Reader { index, pins, slot, memory, query, parser, .. } = self;
        answer(index, pins, slot, memory, parser.schema(), query, search)
            .map(|hits| (hits, warnings))
    }

    /// Parses `text` and counts.
    pub fn count_text(&mut self, text: &str) -> Result<u64, SearchError> {
        self.parse(text)?;
        let Reader { index, pins, slot, memory, query, .. } = self;
        count(index, pins, slot, memory, query, None)
    }

    /// Parses `text` and counts, exactly up to `up_to` matches.
    pub fn count_text_up_to(&mut self, text: &str, up_to: u64) -> Result<Total, SearchError> {
        self.parse(text)?;
        let Reader { index, pins, slot, memory, query, .. } = self;
        total(index, pins, slot, memory, query, up_to)
    }

    /// The number of matches: exactly up to `up_to`; of more, that there are more. Counting ends as soon as that is known.
    pub fn count_up_to(&mut self, query: &Query, up_to: u64) -> Result<Total, SearchError> {
        let Reader { index, pins, slot, memory, .. } = self;
        total(index, pins, slot, memory, query, up_to)
    }

    /// The first matches in the order of `search`. What they lead to stays until they are dropped, or their lease is over.
    /// Their cursor is good for `query`.
    pub fn search<'r>(
        &'r mut self,
        query: &'r Query,
        search: Search,
    ) -> Result<Hits<'r>, SearchError> {
        self.renew_parser();
        let Reader { index, pins, slot, memory, parser, .. } = self;
        answer(index, pins, slot, memory, parser.schema(), query, search)
    }

    /// The exact number of matches.
    pub fn count(&mut self, query: &Query) -> Result<u64, SearchError> {
        self.count_by(query, None)
    }

    /// The same with an intersection algorithm of the caller's choice, if any.
    pub fn count_by(
        &mut self,
        query: &Query,
        algorithm: Option<Algorithm>,
    ) -> Result<u64, SearchError> {
        let Reader { index, pins, slot, memory, .. } = self;
        count(index, pins, slot, memory, query, algorithm)
    }

    /// The same where `older` finds terms in segments that the DRAM dictionary does not cover: for measurements of other ways
    /// than ours, on an index with one executor.
    #[doc(hidden)]
    pub fn count_finding(&mut self, query: &Query, older: impl FindOlder) -> u64 {
        let Reader { index, pins, slot, memory, .. } = self;
        let _pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
        let settings = Settings { level: index.options.vectors, ..Settings::default() };
        let snapshot = Snapshot::take(&index.parts[0].memory);
        let scratch = &mut memory.scratch;
        spirit_query::count_finding(snapshot, query, settings, scratch, older).unwrap_or(0)
    }
}

fn check(index: &Index, query: &Query) -> Result<(), SearchError> {
    if query.needs_positions() && !index.options.positions {
        return Err(SearchError::NoPositions);
    }
    Ok(())
}

fn check_parameters(parameters: Parameters) -> Result<(), SearchError> {
    if parameters.are_sound() { Ok(()) } else { Err(SearchError::Parameters) }
}

fn count(
    index: &Index,
    pins: &Pins,
    slot: &Option<PinSlot>,
    memory: &mut Memory<'_>,
    query: &Query,
    algorithm: Option<Algorithm>,
) -> Result<u64, SearchError> {
    check(index, query)?;
    let _pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
    let Memory { limits, scratch, .. } = memory;
    let (level, limits) = (index.options.vectors, limits.begin());
    let settings = Settings { level, algorithm, limits, ..Settings::default() };
    let mut count = 0;
    for part in &index.parts {
        count += spirit_query::count(snapshot_for(&part.memory, query), query, settings, scratch)?;
    }
    Ok(count)
}

fn total(
    index: &Index,
    pins: &Pins,
    slot: &Option<PinSlot>,
    memory: &mut Memory<'_>,
    query: &Query,
    up_to: u64,
) -> Result<Total, SearchError> {
    check(index, query)?;
    let _pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
    let Memory { limits, scratch, .. } = memory;
    let (level, limits) = (index.options.vectors, limits.begin());
    let settings = Settings { level, limits, ..Settings::default() };
    let mut tally = Tally::up_to(up_to);
    for part in &index.parts {
        tally.add(snapshot_for(&part.memory, query), query, settings, scratch)?;
    }
    Ok(tally.total())
}

fn answer<'r, 'i>(
    index: &'i Index,
    pins: &'r Pins,
    slot: &'r Option<PinSlot>,
    memory: &'r mut Memory<'i>,
    schema: &Schema,
    query: &'r Query,
    search: Search,
) -> Result<Hits<'r>, SearchError> {
    check(index, query)?;
    let pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
    let (found, total) = match &search.order {
        Order::Newest => (Found::Newest, newest(index, query, &search, memory)?),
        Order::Relevance(parameters) => {
            check_parameters(*parameters)?;
            let after = search.after.as_ref().map(|cursor| ranked(cursor, query)).transpose()?;
            let fading = recency::fading(search.recency.as_ref(), schema, after)?;
            let fingerprint = || cursor::fingerprint(query, *parameters, fading.as_ref());
            cursor::check(after.map(|cursor| cursor.fingerprint), fingerprint)?;
            let asked = Asked { parameters: *parameters, skips: search.skips, fading };
            let (limit, total) = best(index, query, &search, after, asked, memory)?;
            let Memory { scored, counts, .. } = &*memory;
            let parameters = *parameters;
            (Found::Best(Ranking { query, scored, counts, parameters, fading, limit }), total)
        }
        Order::Field { field, direction } => {
            let by = sorting::sort_by(schema, field, *direction)?;
            let (limit, total) = sorting::first(index, query, &search, by, memory)?;
            (Found::Sorted(Sorting { query, first: &memory.first, by, limit }), total)
        }
    };
    Ok(Hits::new(index, &memory.hits, found, total, pinned))
}

fn newest<'i>(
    index: &'i Index,
    query: &Query,
    search: &Search,
    memory: &mut Memory<'i>,
) -> Result<Option<Total>, SearchError> {
    if search.after.as_ref().is_some_and(|cursor| cursor.last != Last::Newest) {
        return Err(SearchError::Cursor);
    }
    let Memory { limits, scratch, hits, merge, .. } = memory;
    let settings = search.settings(index.options.vectors, limits.begin());
    let mut tally = search.total.map(Tally::up_to);
    hits.clear();
    for (number, part) in index.parts.iter().enumerate() {
        let (snapshot, before) = (snapshot_for(&part.memory, query), hits.len());
        spirit_query::newest(snapshot, query, settings, scratch, number as u32, search.k, hits)?;
        let found = hits.len() - before;
        match &mut tally {
            // All that there are.
            Some(tally) if found < search.k && settings.before.is_none() => {
                tally.add_found(found as u64);
            }
            Some(tally) => tally.add(snapshot, query, of_all(settings), scratch)?,
            None => {}
        }
    }
    if index.parts.len() > 1 {
        merge.clear();
        merge.extend(hits.iter().map(|hit| (std::cmp::Reverse(index.sequence(*hit)), *hit)));
        merge.sort_unstable_by_key(|(newest_first, _)| *newest_first);
        merge.truncate(search.k);
        hits.clear();
        hits.extend(merge.iter().map(|(_, hit)| *hit));
    }
    Ok(tally.map(Tally::total))
}

/// Without regard to a cursor.
pub(crate) fn of_all(settings: Settings<'_>) -> Settings<'_> {
    Settings { before: None, ..settings }
}

/// The place that a cursor of the best hits of this query stands for.
fn ranked<'c>(cursor: &'c Cursor, query: &Query) -> Result<&'c RankedCursor, SearchError> {
    match &cursor.last {
        Last::Ranked(ranked) if ranked.counts.are_of(query) => Ok(ranked),
        _ => Err(SearchError::Cursor),
    }
}

/// Counts what scores are computed from; after a cursor it has to be what it was.
fn count_terms(
    query: &Query,
    after: Option<&RankedCursor>,
    snapshots: &[Snapshot<'_>],
    counts: &mut Counts,
) {
    match after {
        Some(RankedCursor { counts: earlier, .. }) => counts.clone_from(earlier),
        None => {
            counts.begin(query);
            snapshots.iter().for_each(|snapshot| counts.add(snapshot, query));
        }
    }
}

/// Finds the best; says where the documents end among which the next pages are, and how many match.
fn best<'i>(
    index: &'i Index,
    query: &Query,
    search: &Search,
    after: Option<&RankedCursor>,
    asked: Asked,
    memory: &mut Memory<'i>,
) -> Result<(u64, Option<Total>), SearchError> {
    // Before the snapshots: what they see and this does not may be in this page only.
    let now = index.numbers.sequence.load(Relaxed);
    let Memory { limits, scratch, hits, snapshots, counts, top, scored, .. } = memory;
    let settings = search.settings(index.options.vectors, limits.begin());
    snapshots.clear();
    snapshots.extend(index.parts.iter().map(|part| snapshot_for(&part.memory, query)));
    count_terms(query, after, snapshots, counts);
    top.begin(search.k, after.map(|last| Scored::place_of(last.score, last.sequence)));
    scratch.weigh(query, counts, asked);
    for (number, snapshot) in snapshots.iter().enumerate() {
        spirit_query::best(*snapshot, query, settings, asked, scratch, number as u32, top)?;
    }
    let mut tally = search.total.map(Tally::up_to);
    if let Some(tally) = &mut tally {
        for snapshot in &*snapshots {
            tally.add(*snapshot, query, of_all(settings), scratch)?;
        }
    }
    top.drain_into(scored);
    hits.clear();
    hits.extend(scored.iter().map(|found| found.hit));
    let limit = search.after.as_ref().map_or(now, |cursor: &Cursor| cursor.limit);
    Ok((limit, tally.map(Tally::total)))
}

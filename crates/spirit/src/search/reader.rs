//! A reader: a place to ask from, with all the memory that its queries need.
//!
//! A reader belongs to one thread at a time. Its queries take no lock, make no system call and allocate
//! nothing: hits, scratch memory and the parser's buffers are reserved when the reader is made. The few
//! exceptions are in `docs/queries.md`, at "What allocates".

mod explain;
mod facets;

use spirit_index::form::older::FindOlder;
use spirit_index::snapshot::Snapshot;
use spirit_query::{
    Algorithm, Counts, Operator, Parameters, ParseError, Parser, Query, Ranking as Asked, Scored,
    Settings, Tally, Total, snapshot_for,
};
use spirit_schema::Schema;

use crate::index::Index;
use crate::search::cursor::{self, Cursor, Last, RankedCursor};
use crate::search::error::SearchError;
use crate::search::hits::{Found, Hits, Ranking, Sorting};
use crate::search::memory::Memory;
use crate::search::recency;
use crate::search::request::{Limits, Order, QUERY_BYTES_MAX, Search, of_all};
use crate::search::seat::{Seat, TooManyReaders};
use crate::search::sorting;
use crate::storage::view::View;

/// Asks an index. Made by [`Index::reader`].
pub struct Reader<'i> {
    pub(crate) index: &'i Index,
    seat: Seat,
    memory: Memory,
    parser: Parser,
    /// How often the schema had grown when the parser got it.
    growths: u64,
    pub(crate) query: Query,
}

impl Index {
    /// A reader for one thread.
    pub fn reader(&self) -> Result<Reader<'_>, TooManyReaders> {
        let view = self.view();
        let geometry = view.parts[0].memory.geometry();
        let memory = Memory::new(view.parts.len(), geometry.rewritten_rows_max());
        let growths = view.fields.growths();
        let seat = Seat::take(view, self.options.readers_max)?;
        let parser = self.parser(Operator::Or);
        Ok(Reader { index: self, seat, memory, growths, parser, query: Query::new() })
    }

    /// A parser for this index's queries.
    pub fn parser(&self, operator: Operator) -> Parser {
        let parser = Parser::new(self.schema(), QUERY_BYTES_MAX, operator);
        if self.options.positions { parser } else { parser.without_positions() }
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

    /// Parses `text` as [`search_text`](Self::search_text) does: for anyone who asks several things of one query.
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
        let fields = &self.seat.view().fields;
        let growths = fields.growths();
        if growths != self.growths {
            self.parser.renew(fields.current());
            self.growths = growths;
        }
    }

    /// As of which sequence number the last question was answered: see [`Hits::as_of`].
    pub fn as_of(&self) -> u64 {
        self.seat.as_of()
    }

    /// What each of its queries may cost.
    pub fn limits(&mut self, limits: Limits) {
        self.memory.limits = limits;
    }

    /// Parses `text` and searches.
    pub fn search_text(&mut self, text: &str, search: Search) -> Result<Hits<'_>, SearchError> {
        self.parse(text)?;
        let Reader { index, seat, memory, query, parser, .. } = self;
        answer(index, seat, memory, parser.schema(), query, search)
    }

    /// The same for what people type: whatever cannot be understood is passed over, or taken as words. Says what that was.
    pub fn search_typed(
        &mut self,
        text: &str,
        search: Search,
    ) -> Result<(Hits<'_>, Vec<ParseError>), SearchError> {
        self.renew_parser();
        let warnings = self.parser.parse_lenient_into(text, &mut self.query);
        let Reader { index, seat, memory, query, parser, .. } = self;
        answer(index, seat, memory, parser.schema(), query, search).map(|hits| (hits, warnings))
    }

    /// Parses `text` and counts.
    pub fn count_text(&mut self, text: &str) -> Result<u64, SearchError> {
        self.parse(text)?;
        let Reader { index, seat, memory, query, .. } = self;
        count(index, seat, memory, query, None)
    }

    /// Parses `text` and counts, exactly up to `up_to` matches.
    pub fn count_text_up_to(&mut self, text: &str, up_to: u64) -> Result<Total, SearchError> {
        self.parse(text)?;
        let Reader { index, seat, memory, query, .. } = self;
        total(index, seat, memory, query, up_to)
    }

    /// The number of matches: exactly up to `up_to`; of more, that there are more. Counting ends as soon as that is known.
    pub fn count_up_to(&mut self, query: &Query, up_to: u64) -> Result<Total, SearchError> {
        let Reader { index, seat, memory, .. } = self;
        total(index, seat, memory, query, up_to)
    }

    /// The first matches in the order of `search`. What they lead to stays until they are dropped, or their lease is over.
    /// Their cursor is good for `query`.
    pub fn search<'r>(
        &'r mut self,
        query: &'r Query,
        search: Search,
    ) -> Result<Hits<'r>, SearchError> {
        self.renew_parser();
        let Reader { index, seat, memory, parser, .. } = self;
        answer(index, seat, memory, parser.schema(), query, search)
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
        let Reader { index, seat, memory, .. } = self;
        count(index, seat, memory, query, algorithm)
    }

    /// The same where `older` finds terms in segments that the DRAM dictionary does not cover: for measurements of other ways
    /// than ours, on an index with one executor.
    #[doc(hidden)]
    pub fn count_finding(&mut self, query: &Query, older: impl FindOlder + Copy) -> u64 {
        let Reader { index, seat, memory, .. } = self;
        let settings = Settings { level: index.options.vectors, ..Settings::default() };
        let scratch = &mut memory.scratch;
        let counted = seat.ask(index, Seat::leave, |view| {
            let snapshot = Snapshot::take(&view.parts[0].memory).without_older(view.over_ms());
            Ok(spirit_query::count_finding(snapshot, query, settings, scratch, older)?)
        });
        counted.unwrap_or(0)
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
    seat: &mut Seat,
    memory: &mut Memory,
    query: &Query,
    algorithm: Option<Algorithm>,
) -> Result<u64, SearchError> {
    check(index, query)?;
    let Memory { limits, scratch, .. } = memory;
    let (level, limits) = (index.options.vectors, limits.begin());
    let settings = Settings { level, algorithm, limits, ..Settings::default() };
    seat.ask(index, Seat::leave, |view| {
        let (mut count, over_ms) = (0, view.over_ms());
        for part in &view.parts {
            let snapshot = snapshot_for(&part.memory, query, over_ms);
            count += spirit_query::count(snapshot, query, settings, scratch)?;
        }
        Ok(count)
    })
}

fn total(
    index: &Index,
    seat: &mut Seat,
    memory: &mut Memory,
    query: &Query,
    up_to: u64,
) -> Result<Total, SearchError> {
    check(index, query)?;
    let Memory { limits, scratch, .. } = memory;
    let (level, limits) = (index.options.vectors, limits.begin());
    let settings = Settings { level, limits, ..Settings::default() };
    seat.ask(index, Seat::leave, |view| {
        let (mut tally, over_ms) = (Tally::up_to(up_to), view.over_ms());
        for part in &view.parts {
            tally.add(snapshot_for(&part.memory, query, over_ms), query, settings, scratch)?;
        }
        Ok(tally.total())
    })
}

/// Finds the first hits in the order of `search`, and the total if it is asked for.
fn answer<'r>(
    index: &'r Index,
    seat: &'r mut Seat,
    memory: &'r mut Memory,
    schema: &Schema,
    query: &'r Query,
    search: Search,
) -> Result<Hits<'r>, SearchError> {
    check(index, query)?;
    let (found, total) = match &search.order {
        Order::Newest => {
            let total =
                seat.ask(index, Seat::hold, |view| newest(index, view, query, &search, memory))?;
            (Found::Newest, total)
        }
        Order::Relevance(parameters) => {
            let asked = ranking(schema, query, &search, *parameters)?;
            let (limit, total) = seat
                .ask(index, Seat::hold, |view| best(index, view, query, &search, asked, memory))?;
            let (Asked { parameters, fading, .. }, Memory { scored, counts, .. }) =
                (asked, &*memory);
            (Found::Best(Ranking { query, scored, counts, parameters, fading, limit }), total)
        }
        Order::Field { field, direction } => {
            let by = sorting::sort_by(schema, field, *direction)?;
            let (limit, total) = seat.ask(index, Seat::hold, |view| {
                sorting::first(index, view, query, &search, by, memory)
            })?;
            (Found::Sorted(Sorting { query, first: &memory.first, by, limit }), total)
        }
    };
    Ok(Hits::new(index, &memory.hits, found, total, seat))
}

/// Returns the ranking of `search`. An error if its cursor was made by another one.
fn ranking(
    schema: &Schema,
    query: &Query,
    search: &Search,
    parameters: Parameters,
) -> Result<Asked, SearchError> {
    check_parameters(parameters)?;
    let after = search.after.as_ref().map(|cursor| ranked(cursor, query)).transpose()?;
    let fading = recency::fading(search.recency.as_ref(), schema, after)?;
    let fingerprint = || cursor::fingerprint(query, parameters, fading.as_ref());
    cursor::check(after.map(|cursor| cursor.fingerprint), fingerprint)?;
    Ok(Asked { parameters, skips: search.skips, fading })
}

fn newest(
    index: &Index,
    view: &View,
    query: &Query,
    search: &Search,
    memory: &mut Memory,
) -> Result<Option<Total>, SearchError> {
    if search.after.as_ref().is_some_and(|cursor| cursor.last != Last::Newest) {
        return Err(SearchError::Cursor);
    }
    let Memory { limits, scratch, hits, merge, .. } = memory;
    let settings = search.settings(index.options.vectors, limits.begin());
    let mut tally = search.total.map(Tally::up_to);
    hits.clear();
    let over_ms = view.over_ms();
    for (number, part) in view.parts.iter().enumerate() {
        let (snapshot, before) = (snapshot_for(&part.memory, query, over_ms), hits.len());
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
    if view.parts.len() > 1 {
        merge.clear();
        merge.extend(hits.iter().map(|hit| (std::cmp::Reverse(view.sequence_of(*hit)), *hit)));
        merge.sort_unstable_by_key(|(newest_first, _)| *newest_first);
        merge.truncate(search.k);
        hits.clear();
        hits.extend(merge.iter().map(|(_, hit)| *hit));
    }
    Ok(tally.map(Tally::total))
}

/// The place that a cursor of the best hits of this query stands for.
fn ranked<'c>(cursor: &'c Cursor, query: &Query) -> Result<&'c RankedCursor, SearchError> {
    match &cursor.last {
        Last::Ranked(ranked) if ranked.counts.are_of(query) => Ok(ranked),
        _ => Err(SearchError::Cursor),
    }
}

/// Counts what scores are computed from; after a cursor it has to be what it was.
fn count_terms<'v>(
    query: &Query,
    after: Option<&RankedCursor>,
    snapshots: impl Iterator<Item = Snapshot<'v>>,
    counts: &mut Counts,
) {
    match after {
        Some(RankedCursor { counts: earlier, .. }) => counts.clone_from(earlier),
        None => {
            counts.begin(query);
            snapshots.for_each(|snapshot| counts.add(&snapshot, query));
        }
    }
}

/// Finds the best; says where the documents end among which the next pages are, and how many match.
fn best(
    index: &Index,
    view: &View,
    query: &Query,
    search: &Search,
    asked: Asked,
    memory: &mut Memory,
) -> Result<(u64, Option<Total>), SearchError> {
    // Before the snapshots: what they see and this does not may be in this page only.
    let now = view.sequence();
    let Memory { limits, scratch, hits, snapshots, counts, top, scored, .. } = memory;
    let after = search.after.as_ref().map(|cursor| ranked(cursor, query)).transpose()?;
    let settings = search.settings(index.options.vectors, limits.begin());
    snapshots.take(view, query);
    count_terms(query, after, snapshots.iter(view), counts);
    top.begin(search.k, after.map(|last| Scored::place_of(last.score, last.sequence)));
    scratch.weigh(query, counts, asked);
    for (number, snapshot) in snapshots.iter(view).enumerate() {
        spirit_query::best(snapshot, query, settings, asked, scratch, number as u32, top)?;
    }
    let mut tally = search.total.map(Tally::up_to);
    if let Some(tally) = &mut tally {
        for snapshot in snapshots.iter(view) {
            tally.add(snapshot, query, of_all(settings), scratch)?;
        }
    }
    top.drain_into(scored);
    hits.clear();
    hits.extend(scored.iter().map(|found| found.hit));
    let limit = search.after.as_ref().map_or(now, |cursor: &Cursor| cursor.limit);
    Ok((limit, tally.map(Tally::total)))
}

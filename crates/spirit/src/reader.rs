//! A reader: a place to ask from, with all the memory that its queries need.
//!
//! A reader belongs to one thread at a time. Its queries take no lock, make no system call and allocate
//! nothing: hits, scratch memory and the parser's buffers are reserved when the reader is made.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use spirit_index::keys;
use spirit_index::nvm::older::FindOlder;
use spirit_index::nvm::text_index::TextScratch;
use spirit_index::snapshot::Snapshot;
use spirit_mem::{PinSlot, Pins};
use spirit_query::{
    Algorithm, CLAUSES_MAX, Hit, Level, Operator, ParseError, Parser, Query, Scratch, Settings,
};
use spirit_text::Tokenizer;

use crate::index::Index;
use crate::lease::LeaseExpired;
use crate::shared::Shared;

/// The most hits of one search.
pub const HITS_MAX: usize = 10_000;
/// Longest query text, in bytes.
pub const QUERY_BYTES_MAX: usize = 1 << 20;

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

/// A place in the order of hits, to go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(u64);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for Cursor {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Cursor, Self::Err> {
        text.parse().map(Cursor)
    }
}

/// What is asked besides the query.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    k: usize,
    after: Option<Cursor>,
    algorithm: Option<Algorithm>,
}

impl Search {
    /// The newest `k` matches; at most [`HITS_MAX`].
    pub fn newest(k: usize) -> Search {
        Search { k: k.min(HITS_MAX), after: None, algorithm: None }
    }

    /// Go on after a hit of an earlier page. Documents that came since are not in the way.
    pub fn after(mut self, cursor: Cursor) -> Search {
        self.after = Some(cursor);
        self
    }

    /// Force an intersection algorithm.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Search {
        self.algorithm = Some(algorithm);
        self
    }

    fn settings(&self, level: Level) -> Settings {
        Settings { level, algorithm: self.algorithm, before: self.after.map(|c| c.0) }
    }
}

/// Hits of several executors with what they are merged by.
type Merge = Vec<(std::cmp::Reverse<u64>, Hit)>;

/// Asks an index. Made by [`Index::reader`].
pub struct Reader<'i> {
    index: &'i Index,
    pins: Arc<Pins>,
    slot: Option<PinSlot>,
    scratch: Scratch,
    hits: Vec<Hit>,
    merge: Merge,
    parser: Parser,
    query: Query,
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
            scratch: Scratch::new(CLAUSES_MAX),
            hits: Vec::with_capacity(HITS_MAX * self.parts.len()),
            merge: Vec::with_capacity(if self.parts.len() > 1 {
                HITS_MAX * self.parts.len()
            } else {
                0
            }),
            parser: self.parser(Operator::Or),
            query: Query::new(),
        })
    }

    /// The sequence number of a hit. The reader that has it is pinned.
    fn sequence(&self, hit: Hit) -> u64 {
        let memory = &self.parts[hit.executor as usize].memory;
        Snapshot::take(memory).of(hit.segment).sequence(hit.local)
    }

    /// A parser for this index's queries.
    pub fn parser(&self, operator: Operator) -> Parser {
        Parser::new(Tokenizer::new(self.options.analyzer, QUERY_BYTES_MAX), operator)
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

    /// Parses `text` and searches.
    pub fn search_text(&mut self, text: &str, search: Search) -> Result<Hits<'_>, ParseError> {
        self.parser.parse_into(text, &mut self.query)?;
        let Reader { index, pins, slot, scratch, hits, merge, query, .. } = self;
        let pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
        collect(index, query, search, scratch, hits, merge);
        Ok(Hits::new(index, hits, pinned))
    }

    /// Parses `text` and counts.
    pub fn count_text(&mut self, text: &str) -> Result<u64, ParseError> {
        self.parser.parse_into(text, &mut self.query)?;
        let Reader { index, pins, slot, scratch, query, .. } = self;
        let _pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
        Ok(count(index, query, None, scratch))
    }

    /// The newest matches. What they lead to stays until they are dropped, or their lease is over.
    pub fn search(&mut self, query: &Query, search: Search) -> Hits<'_> {
        let Reader { index, pins, slot, scratch, hits, merge, .. } = self;
        let pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
        collect(index, query, search, scratch, hits, merge);
        Hits::new(index, hits, pinned)
    }

    /// The exact number of matches.
    pub fn count(&mut self, query: &Query) -> u64 {
        self.count_by(query, None)
    }

    /// The same with an intersection algorithm of the caller's choice, if any.
    pub fn count_by(&mut self, query: &Query, algorithm: Option<Algorithm>) -> u64 {
        let Reader { index, pins, slot, scratch, .. } = self;
        let _pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
        count(index, query, algorithm, scratch)
    }

    /// The same where `older` finds terms in segments that the DRAM dictionary does not cover: for measurements of other ways
    /// than ours, on an index with one executor.
    #[doc(hidden)]
    pub fn count_finding(&mut self, query: &Query, older: impl FindOlder) -> u64 {
        let Reader { index, pins, slot, scratch, .. } = self;
        let _pinned = Pinned::new(index, pins, slot.as_ref().expect("a reader has a slot"));
        let settings = Settings { level: index.options.vectors, ..Settings::default() };
        let snapshot = Snapshot::take(&index.parts[0].memory);
        spirit_query::count_finding(snapshot, query, settings, scratch, older)
    }
}

fn collect(
    index: &Index,
    query: &Query,
    search: Search,
    scratch: &mut Scratch,
    hits: &mut Vec<Hit>,
    merge: &mut Merge,
) {
    hits.clear();
    for (number, part) in index.parts.iter().enumerate() {
        let snapshot = Snapshot::take(&part.memory);
        let settings = search.settings(index.options.vectors);
        spirit_query::newest(snapshot, query, settings, scratch, number as u32, search.k, hits);
    }
    if index.parts.len() > 1 {
        merge.clear();
        merge.extend(hits.iter().map(|hit| (std::cmp::Reverse(index.sequence(*hit)), *hit)));
        merge.sort_unstable_by_key(|(newest_first, _)| *newest_first);
        merge.truncate(search.k);
        hits.clear();
        hits.extend(merge.iter().map(|(_, hit)| *hit));
    }
}

fn count(index: &Index, query: &Query, algorithm: Option<Algorithm>, scratch: &mut Scratch) -> u64 {
    let settings = Settings { level: index.options.vectors, algorithm, before: None };
    let of = |part: &Arc<Shared>| {
        let snapshot = Snapshot::take(&part.memory);
        spirit_query::count(snapshot, query, settings, scratch)
    };
    index.parts.iter().map(of).sum()
}

/// The index stays as it was seen while this lives.
struct Pinned<'r> {
    pins: &'r Pins,
    slot: &'r PinSlot,
}

impl<'r> Pinned<'r> {
    #[inline]
    fn new(index: &Index, pins: &'r Pins, slot: &'r PinSlot) -> Pinned<'r> {
        pins.pin(slot);
        if let Some(follower) = &index.follower {
            follower.catch_up(pins, &index.parts);
        }
        Pinned { pins, slot }
    }
}

impl Drop for Pinned<'_> {
    #[inline]
    fn drop(&mut self) {
        self.pins.unpin(self.slot);
    }
}

/// The newest matches, newest first.
pub struct Hits<'r> {
    pub(crate) index: &'r Index,
    pub(crate) hits: &'r [Hit],
    /// Made when the first text is read.
    pub(crate) scratch: RefCell<Option<Box<TextScratch>>>,
    /// Held, but for the time of a call that reads.
    pinned: Pinned<'r>,
}

/// The slot of some hits is pinned while this lives, and held again afterwards.
pub(crate) struct Reading<'h>(&'h Pinned<'h>);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.pins.hold(self.0.slot);
    }
}

impl<'r> Hits<'r> {
    #[inline]
    fn new(index: &'r Index, hits: &'r [Hit], pinned: Pinned<'r>) -> Hits<'r> {
        pinned.pins.hold(pinned.slot);
        Hits { index, hits, scratch: RefCell::new(None), pinned }
    }

    /// Where the hits lead to can be read while the answer lives.
    pub(crate) fn reading(&self) -> Result<Reading<'_>, LeaseExpired> {
        if self.pinned.pins.resume(self.pinned.slot) {
            return Ok(Reading(&self.pinned));
        }
        Err(LeaseExpired { lease: self.index.options.reader_lease })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// The addresses of the documents, newest first: executor, segment and row. Good while this lives.
    pub fn addresses(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.hits.iter().map(|hit| (hit.executor, hit.segment.0, hit.local))
    }

    /// The sequence number of each hit, newest first: larger is newer, over the whole index.
    pub fn sequences(&self) -> Result<Vec<u64>, LeaseExpired> {
        let _reading = self.reading()?;
        Ok(self.hits.iter().map(|hit| self.index.sequence(*hit)).collect())
    }

    /// Appends the key of the hit at `index` (0 is the newest) to `key`.
    ///
    /// # Panics
    /// If there is no such hit.
    pub fn write_key(&self, index: usize, key: &mut Vec<u8>) -> Result<(), LeaseExpired> {
        let hit = self.hits[index];
        let _reading = self.reading()?;
        let memory = &self.index.parts[hit.executor as usize].memory;
        let segment = Snapshot::take(memory).of(hit.segment);
        keys::write_key(&segment, segment.row_table().row(hit.local).key(), key);
        Ok(())
    }

    /// The keys, newest first.
    pub fn keys(&self) -> Result<Vec<String>, LeaseExpired> {
        let key = |i| {
            let mut key = Vec::new();
            self.write_key(i, &mut key)?;
            Ok(String::from_utf8_lossy(&key).into_owned())
        };
        (0..self.len()).map(key).collect()
    }

    /// Where the next page begins; `None` if there is no hit.
    pub fn cursor(&self) -> Result<Option<Cursor>, LeaseExpired> {
        let _reading = self.reading()?;
        Ok(self.hits.last().map(|hit| Cursor(self.index.sequence(*hit))))
    }
}

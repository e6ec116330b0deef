//! Tails: what arrives and matches a query, from a place in the stream on.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, Settings};

use super::StandingQueries;
use super::listener::{Bell, Listener};
use super::replay::{Asking, Replay};
use super::round::Matched;
use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::found::Found;
use crate::search::hits::Hits;
use crate::search::reader::Reader;
use crate::search::request::{HITS_MAX, Limits};
use crate::search::seat::End;
use crate::storage::view::View;

/// The place before all documents.
const START: &str = "start";

/// How a [`Tail`] listens.
pub struct Tailing {
    pub(super) since: Option<String>,
    pub(super) capacity: usize,
    pub(super) bell: Option<Bell>,
}

impl fmt::Debug for Tailing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tailing = f.debug_struct("Tailing");
        tailing
            .field("since", &self.since)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

impl Default for Tailing {
    fn default() -> Tailing {
        Tailing { since: None, capacity: Tailing::CAPACITY, bell: None }
    }
}

impl Tailing {
    /// The matches that wait for a listener, at most, unless set otherwise.
    pub const CAPACITY: usize = 1024;

    /// Begins behind this place, which [`Tail::places`] returned or which is a document's sequence
    /// number; `start` is before all documents. What was added since comes first, as far as the index
    /// still has it. Default: begins now.
    pub fn since(self, place: impl Into<String>) -> Tailing {
        Tailing { since: Some(place.into()), ..self }
    }

    /// Sets how many matches wait at most. Beyond it they are looked for again in the index.
    pub fn capacity(self, capacity: usize) -> Tailing {
        Tailing { capacity, ..self }
    }

    /// Calls `bell` when the first match waits, on the thread that found it, which must not be kept
    /// from its work.
    pub fn bell(self, bell: impl Fn() + Send + Sync + 'static) -> Tailing {
        Tailing { bell: Some(Box::new(bell)), ..self }
    }
}

/// A standing query's matches, in the order of their arrival. [`Index::tail`](crate::Index::tail) returns
/// one.
///
/// Each executor's matches come in order, without a gap and none twice. A document that is replaced or
/// deleted before it is looked at is left out. One that is dropped before [`take`](Self::take) is left
/// out and [counted](Self::missed). A slow listener takes no memory for what waits: beyond the
/// [capacity](Tailing::capacity), matches are looked for again in the index.
///
/// ```
/// use spirit::{Index, Tailing};
/// use std::time::Duration;
///
/// let index = Index::in_memory()?;
/// let mut reader = index.reader()?;
/// let mut tail = index.tail("heron", Tailing::default())?;
/// index.add("a grey heron")?;
/// index.add("a gull")?;
/// assert!(tail.wait(Duration::from_secs(10)));
/// assert_eq!(tail.take(&mut reader, 100)?.keys()?, ["0"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tail {
    listener: Arc<Listener>,
    queries: Arc<StandingQueries>,
    /// The replay of what was there before, until it is over.
    replay: Option<Replay>,
    pending: VecDeque<Matched>,
    /// For each executor, one past the sequence number of the last match that was taken.
    seen: Vec<u64>,
    /// The same before the last matches were taken, and these.
    before: Vec<u64>,
    taken: Vec<Matched>,
    missed: u64,
}

impl Tail {
    pub(super) fn new(
        queries: Arc<StandingQueries>,
        listener: Arc<Listener>,
        seen: Vec<u64>,
        replay: Option<Replay>,
    ) -> Tail {
        let (pending, taken, before) = (VecDeque::new(), Vec::new(), seen.clone());
        Tail { listener, queries, replay, pending, seen, before, taken, missed: 0 }
    }

    /// Waits until there may be something to take. False if there is nothing in this time.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.is_gathering() || self.listener.wait(timeout)
    }

    /// True if there is something to take without waiting. Who waits for the bell must see `false`
    /// first: it rings for what comes after that.
    pub fn has_more(&self) -> bool {
        self.is_gathering() || self.listener.queue().has_news()
    }

    /// True if there may be matches that were taken out of the queue, or are looked for in the index.
    fn is_gathering(&self) -> bool {
        self.replay.is_some() || !self.pending.is_empty()
    }

    /// Takes the next matches, at most `most`, in the order of their arrival. There may be none while
    /// [more](Self::has_more) are looked for.
    ///
    /// # Errors
    /// [`SearchError::Closed`] once the index is closed and everything was taken. If the reader is of
    /// another index. If the query reaches a limit.
    pub fn take<'r>(
        &mut self,
        reader: &'r mut Reader,
        most: usize,
    ) -> Result<Hits<'r>, SearchError> {
        let index = reader.desk.index.clone();
        if !Arc::ptr_eq(&index, &self.queries.index) {
            return Err(SearchError::OtherIndex);
        }
        self.gather(&index, reader)?;
        let most = most.clamp(1, HITS_MAX).min(self.pending.len());
        self.before.clone_from(&self.seen);
        self.taken.clear();
        self.taken.extend(self.pending.drain(..most));
        for matched in &self.taken {
            self.seen[matched.executor as usize] = matched.sequence + 1;
        }
        let desk = &mut *reader.desk;
        desk.query.clone_from(&self.listener.query);
        let memory = &mut desk.memory;
        (memory.found, memory.total) = (Found::Newest, None);
        let taken = &mut self.taken;
        desk.seat.ask(&index, End::Hold, |view| {
            memory.hits.clear();
            taken.retain(|matched| match address(view, matched) {
                Some(hit) => {
                    memory.hits.push(hit);
                    true
                }
                None => false,
            });
            Ok(())
        })?;
        self.missed += (most - self.taken.len()) as u64;
        Ok(Hits::lent(&reader.desk, None))
    }

    /// Moves what was found to `pending`, if nothing is there.
    fn gather(&mut self, index: &Readable, reader: &mut Reader) -> Result<(), SearchError> {
        if !self.pending.is_empty() {
            return Ok(());
        }
        if self.replay.is_none() && self.take_queue()? {
            let until = self.queries.listen(&self.listener)?;
            self.replay = Some(Replay::new(self.seen.clone(), until));
        }
        let Some(replay) = &mut self.replay else { return Ok(()) };
        let desk = &mut *reader.desk;
        let (memory, limits) = (&mut desk.memory, Limits::default());
        let level = index.options.vectors;
        let mut asking = Asking {
            query: &self.listener.query,
            settings: Settings { level, limits: limits.begin(), ..Settings::default() },
            scratch: &mut memory.scratch,
            hits: &mut memory.hits,
        };
        let pending = &mut self.pending;
        let is_over = !desk.seat.ask(index, End::Leave, |view| {
            pending.clear();
            replay.step(view, &mut asking, pending)
        })?;
        // The list grew for it.
        asking.hits.truncate(0);
        self.missed += std::mem::take(&mut replay.missed);
        if is_over {
            self.replay = None;
        }
        Ok(())
    }

    /// Takes the queue. True if matches are missing behind it.
    fn take_queue(&mut self) -> Result<bool, SearchError> {
        let mut queue = self.listener.queue();
        std::mem::swap(&mut queue.matches, &mut self.pending);
        // The stream may not have reached a place that the caller gave.
        self.pending.retain(|matched| matched.sequence >= self.seen[matched.executor as usize]);
        match &queue.end {
            Some(end) if self.pending.is_empty() => Err(end.clone()),
            _ => Ok(queue.is_behind && self.pending.is_empty()),
        }
    }

    /// Returns how many documents were dropped before they were taken, or before they were looked at.
    /// Of what was dropped before the tail was made, all operations count, whatever their documents.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Yields the place behind each of the matches that were taken last: [`Tailing::since`] takes it. If
    /// the index has one executor, it is the sequence number of the match.
    pub fn places(&self) -> impl Iterator<Item = String> + '_ {
        let mut seen = self.before.clone();
        self.taken.iter().map(move |matched| {
            seen[matched.executor as usize] = matched.sequence + 1;
            match seen.as_slice() {
                [end] => (end - 1).to_string(),
                ends => ends.iter().map(u64::to_string).collect::<Vec<_>>().join("."),
            }
        })
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.queries.leave(&self.listener);
    }
}

/// Parses a place: one past a sequence number for each executor.
pub(super) fn read_place(place: &str, executors: usize) -> Result<Vec<u64>, SearchError> {
    if place == START {
        return Ok(vec![0; executors]);
    }
    let wrong = || SearchError::Place { text: place.to_owned() };
    let read = |number: &str| number.parse::<u64>().map_err(|_| wrong());
    if !place.contains('.') {
        // Of whichever executor it is: operations with lower numbers were acknowledged.
        let end = read(place)?.checked_add(1).ok_or_else(wrong)?;
        return Ok(vec![end; executors]);
    }
    let ends = place.split('.').map(read).collect::<Result<Vec<_>, _>>()?;
    if ends.len() == executors { Ok(ends) } else { Err(wrong()) }
}

/// Returns the place of a match in memory; none if its row was dropped.
fn address(view: &View, matched: &Matched) -> Option<Address> {
    let Matched { executor, row, .. } = *matched;
    let snapshot = Snapshot::take(&view.parts[executor as usize].memory);
    let (segment, local) = snapshot.locate(row)?;
    Some(Address { executor, segment: segment.id(), local })
}

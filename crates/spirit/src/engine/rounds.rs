//! Rounds: many documents for several executors, some thousand at a time.
//!
//! The caller takes the documents of a round, encodes their fields, and draws their numbers. Threads
//! write the parts of the round. Each thread has some executors for itself, so along an executor
//! everything is in order. Meanwhile the caller prepares the next rounds. So no thread waits for
//! another, unless it is some rounds ahead.
//!
//! The roles of all executors, and the admission, are held for a *run* of rounds. It ends when
//! somebody else waits for one of them. A round of which documents may get numbers that are others' keys
//! begins a run, since they are looked up through the roles.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::Engine;
use super::encoded::Encoded;
use super::side_by_side::{CORES, SIDE_BY_SIDE_MIN, joined};
use super::spread::{Drawing, Numbered, Spread};
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::write::ingest::{Committed, Ingester};

/// The most documents of a round: few, so that threads wait a short time for the first, and for the
/// last (experiment `executors`).
const ROUND_DOCUMENTS: usize = 4_096;
/// The most bytes of a round's texts.
const ROUND_BYTES: usize = 4 << 20;
/// A document of this part of a segment's bytes may not fit in what is left of it, or at all.
const LARGE_PART: usize = 256;
/// Rounds that wait for a thread that writes: enough to work on while it shares its core with a flush
/// (experiment `executors`).
const AHEAD: usize = 12;

/// Adds documents to several executors. `added` counts those before the first that was refused.
pub(super) fn add<'d>(
    engine: &Engine,
    documents: impl Iterator<Item = Document<'d>>,
    added: &mut u64,
) -> Result<(), WriteError> {
    let mut source = Source::new(engine, documents);
    loop {
        let mut next = source.next_round(engine.executors.len());
        while let Some(round) = next {
            next = add_run(&mut source, round, added)?;
        }
        match source.behind.take() {
            Some(Behind::Large(document)) => {
                engine.add(&document)?;
                *added += 1;
            }
            Some(Behind::Refused(error)) => return Err(error),
            Some(Behind::Nothing) | None => return Ok(()),
        }
    }
}

/// The documents of a round.
pub(super) struct Round<'d> {
    pub(super) documents: Vec<Document<'d>>,
    encoded: Encoded,
    /// The part of each executor.
    pub(super) parts: Vec<Vec<Numbered>>,
    /// The number of the run's documents before the round.
    first: usize,
}

/// What comes behind the last round.
pub(super) enum Behind<'d> {
    /// A document that is added alone: it may need a segment of its own.
    Large(Document<'d>),
    Refused(WriteError),
    Nothing,
}

/// Documents, of which rounds are made.
pub(super) struct Source<'e, 'd, I> {
    engine: &'e Engine,
    documents: I,
    large_min: usize,
    pub(super) behind: Option<Behind<'d>>,
}

impl<'e, 'd, I: Iterator<Item = Document<'d>>> Source<'e, 'd, I> {
    pub(super) fn new(engine: &'e Engine, documents: I) -> Source<'e, 'd, I> {
        let extent = engine.executors[0].shared.memory.geometry().extent_bytes;
        Source { engine, documents, large_min: extent as usize / LARGE_PART, behind: None }
    }

    /// Takes the documents of the next round, whose fields this many threads encode. None if
    /// something else comes next. A round ends before a document that is refused by its fields, its
    /// key or its length.
    pub(super) fn next_round(&mut self, threads: usize) -> Option<Round<'d>> {
        if self.behind.is_some() {
            return None;
        }
        let mut documents = self.take();
        let mut encoded = Encoded::of(self.engine, &documents, threads);
        if let Some(error) = encoded.refused.take() {
            self.behind = Some(Behind::Refused(error));
            documents.truncate(encoded.count);
        }
        let is_empty = documents.is_empty();
        (!is_empty).then_some(Round { documents, encoded, parts: Vec::new(), first: 0 })
    }

    fn take(&mut self) -> Vec<Document<'d>> {
        let (at_least, _) = self.documents.size_hint();
        let mut documents = Vec::with_capacity(at_least.min(ROUND_DOCUMENTS));
        let mut bytes = 0;
        while documents.len() < ROUND_DOCUMENTS {
            let Some(document) = self.documents.next() else {
                self.behind = Some(Behind::Nothing);
                break;
            };
            let document_bytes = document.text_bytes();
            if document_bytes >= self.large_min || bytes + document_bytes > ROUND_BYTES {
                self.behind = Some(Behind::Large(document));
                break;
            }
            bytes += document_bytes;
            documents.push(document);
        }
        documents
    }
}

/// What stopped a part: the number of the run's documents before the one that was refused.
pub(super) type Stopped = (usize, WriteError);

/// Adds a round, and more rounds of `source` as long as nobody else waits. Returns a round that could
/// not be added in this run, if there is one.
fn add_run<'d, I: Iterator<Item = Document<'d>>>(
    source: &mut Source<'_, 'd, I>,
    mut first: Round<'d>,
    added: &mut u64,
) -> Result<Option<Round<'d>>, WriteError> {
    let engine = source.engine;
    let mut spread = Spread::begin(engine)?;
    let drawn = spread.draw(&first.documents);
    first.parts = drawn.parts;
    let mut explicit_end = drawn.explicit_end;
    let draw = |documents: &[Document<'_>]| {
        let is_free = !engine.is_wanted();
        let drawn = is_free.then(|| Drawing::ahead(engine, documents, explicit_end)).flatten()?;
        explicit_end = explicit_end.max(drawn.explicit_end);
        Some(drawn.parts)
    };
    let run = write(source, first, &mut spread.roles, draw);
    spread.end();
    match run.stopped.into_iter().min_by_key(|(index, _)| *index) {
        Some((index, error)) => {
            *added += index as u64;
            Err(error)
        }
        None => {
            *added += run.count as u64;
            Ok(run.next.or_else(|| source.next_round(source.engine.executors.len())))
        }
    }
}

/// A run that is written.
pub(super) struct Run<'d> {
    count: usize,
    pub(super) stopped: Vec<Stopped>,
    /// The round that the next run begins with, if it was prepared.
    pub(super) next: Option<Round<'d>>,
}

/// Writes a round, and those that follow as long as `draw` returns their parts.
pub(super) fn write<'d, I: Iterator<Item = Document<'d>>>(
    source: &mut Source<'_, 'd, I>,
    first: Round<'d>,
    roles: &mut [MutexGuard<'_, Ingester>],
    draw: impl FnMut(&[Document<'_>]) -> Option<Vec<Vec<Numbered>>>,
) -> Run<'d> {
    match first.documents.len() {
        0..SIDE_BY_SIDE_MIN => write_alone(&first, roles),
        _ => write_run(source, first, roles, draw),
    }
}

/// Writes a small round with the calling thread alone.
fn write_alone<'d>(round: &Round<'d>, roles: &mut [MutexGuard<'_, Ingester>]) -> Run<'d> {
    let limit = AtomicUsize::new(usize::MAX);
    let roles = roles.iter_mut().enumerate();
    let stopped = roles.filter_map(|(executor, role)| round.write(executor, role, &limit));
    Run { stopped: stopped.collect(), count: round.documents.len(), next: None }
}

/// Writes a round side by side, and those that follow.
fn write_run<'d, I: Iterator<Item = Document<'d>>>(
    source: &mut Source<'_, 'd, I>,
    first: Round<'d>,
    roles: &mut [MutexGuard<'_, Ingester>],
    mut draw: impl FnMut(&[Document<'_>]) -> Option<Vec<Vec<Numbered>>>,
) -> Run<'d> {
    let engine = source.engine;
    let lanes = lanes(roles);
    let limit = AtomicUsize::new(usize::MAX);
    let (mut count, mut next, mut under_way) = (0, Some(first), Vec::new());
    let mut stopped = Vec::new();
    thread::scope(|scope| {
        let (mut writers, mut own) = (Vec::new(), Vec::new());
        for lane in &lanes {
            let (send, rounds) = sync_channel(AHEAD);
            let run = || write_lane(take(lane), rounds, &limit);
            let named = thread::Builder::new().name("spirit-add".to_owned());
            match named.spawn_scoped(scope, run) {
                Ok(writer) => writers.push((send, writer)),
                // The caller has the executors of a thread that cannot be started.
                Err(_) => own.extend(take(lane)),
            }
        }
        while let Some(round) = next.take() {
            let round = Arc::new(Round { first: count, ..round });
            count += round.documents.len();
            // A thread that takes no more has panicked, which shows when it is joined.
            writers.iter().for_each(|(send, _)| _ = send.send(round.clone()));
            stopped.extend(own.iter_mut().flat_map(|lane| lane.write(&round, &limit)));
            // What the caller has allocated, it frees: another thread would have to ask for its lock.
            under_way.retain(|round| Arc::strong_count(round) > 1);
            under_way.push(round);
            if limit.load(Relaxed) < usize::MAX {
                break;
            }
            next = source.next_round(engine.executors.len() / 2);
            let parts = next.as_ref().and_then(|next| draw(&next.documents));
            let Some((next, parts)) = next.as_mut().zip(parts) else { break };
            next.parts = parts;
        }
        let (senders, writers): (Vec<_>, Vec<_>) = writers.into_iter().unzip();
        drop(senders);
        stopped.extend(joined(writers).into_iter().flatten());
    });
    Run { count, stopped, next }
}

/// Executors of one thread, with their roles.
struct Lane<'s>(Vec<(usize, &'s mut Ingester)>);

/// Divides the executors among threads, as many as there are cores for.
fn lanes<'s>(roles: &'s mut [MutexGuard<'_, Ingester>]) -> Vec<Mutex<Option<Lane<'s>>>> {
    let threads = CORES.min(roles.len());
    let mut lanes: Vec<_> = (0..threads).map(|_| Lane(Vec::new())).collect();
    for (executor, role) in roles.iter_mut().enumerate() {
        lanes[executor % threads].0.push((executor, &mut **role));
    }
    lanes.into_iter().map(|lane| Mutex::new(Some(lane))).collect()
}

/// Nobody waits for the lock: a lane is taken by its thread, or by the caller if that did not start.
fn take<'s>(lane: &Mutex<Option<Lane<'s>>>) -> Option<Lane<'s>> {
    lane.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn write_lane(
    lane: Option<Lane<'_>>,
    rounds: Receiver<Arc<Round<'_>>>,
    limit: &AtomicUsize,
) -> Vec<Stopped> {
    let Some(mut lane) = lane else { return Vec::new() };
    rounds.into_iter().flat_map(|round| lane.write(&round, limit)).collect()
}

impl Lane<'_> {
    fn write(&mut self, round: &Round<'_>, limit: &AtomicUsize) -> Vec<Stopped> {
        let parts = self.0.iter_mut();
        parts.filter_map(|(executor, role)| round.write(*executor, role, limit)).collect()
    }
}

impl Round<'_> {
    /// Writes the part of an executor, a batch at a time. Once a document was refused anywhere, nothing
    /// behind it is written any more.
    fn write(&self, executor: usize, role: &mut Ingester, limit: &AtomicUsize) -> Option<Stopped> {
        let mut part = &self.parts[executor][..];
        while let Some(next) = part.first() {
            // Relaxed: it only falls, and what is before it is written whenever that is seen.
            if self.first + next.index >= limit.load(Relaxed) {
                return None;
            }
            match self.write_batch(role, part) {
                Ok(count) => part = &part[count..],
                Err((index, error)) => {
                    let before = self.first + index;
                    limit.fetch_min(before, Relaxed);
                    return Some((before, error));
                }
            }
        }
        None
    }

    /// Commits a batch of documents from the front of a part. Returns their number. An error has the
    /// document that was refused.
    fn write_batch(&self, role: &mut Ingester, part: &[Numbered]) -> Result<usize, Stopped> {
        let timer = role.timer();
        let written = self.write_front(role, part);
        role.note_time(timer);
        written
    }

    fn write_front(&self, role: &mut Ingester, part: &[Numbered]) -> Result<usize, Stopped> {
        let index = |at: usize| part.get(at).map_or(self.documents.len(), |one| one.index);
        let (mut collector, mut count) = (role.collector(), 0);
        while let Some(next) = part.get(count).filter(|_| !collector.is_full()) {
            let collected = next.collect(&mut collector, &self.documents, &self.encoded);
            collected.map_err(|error| (index(0), error))?;
            count += 1;
        }
        let Committed { added, result, .. } = role.commit_drawn();
        result.map_err(|error| (index(added as usize), error))?;
        Ok(count)
    }
}

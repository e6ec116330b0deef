//! The ingest role: text in, postings out, visible before `add` returns.
//!
//! The thread that holds the role is the executor's only writer. Documents are collected into a
//! batch: tokens are cut and hashed, and their table slots prefetched. A commit then draws sequence
//! numbers and writes postings and rows. It kills the versions that are replaced. One store makes
//! all of it visible.

mod arrivals;
mod current;
mod group;
mod segments;

use arrivals::Arrivals;
pub(crate) use group::Placed;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use spirit_index::fresh::{Batch, Stop};
use spirit_index::fresh::{FreshCounts, FreshWriter};
use spirit_index::ground::Gauge;
use spirit_index::ground::damage;
use spirit_index::ground::{Position, SegmentId, State};
use spirit_index::keys;
use spirit_index::memory::Memory;
use spirit_index::snapshot::Snapshot;
use spirit_mem::PinSlot;

use crate::config::error::WriteError;
use crate::config::options::Options;
use crate::storage::shared::{Numbers, Shared};
use crate::write::collector::{BatchSize, Collector, KEYS_PREFETCHED, KnownSchema, TEXT_BYTES_MAX};
use crate::write::journal::Journal;
use crate::write::replacement::{
    REPLACED_MAX, Replaced, Stamped, abandon, enter, find_explicit, forget_replaced, kill,
    note_numbers,
};
use crate::write::task::Task;
use crate::write::timer::{Samples, Timer};
use crate::write::tokenizers::Tokenizers;

/// The state in which the role begins.
#[derive(Default)]
pub(crate) struct Start {
    /// The position of the first segment.
    pub(crate) position: Position,
    /// The first row of that segment.
    pub(crate) row: u64,
    /// One past the last sequence number in use.
    pub(crate) sequence: u64,
    /// One past the highest number that a document of this executor took.
    pub(crate) documents: u64,
    /// The number of documents that this executor accepted before.
    pub(crate) accepted: u64,
    /// The arrival of the newest of them, in milliseconds since 1970.
    pub(crate) arrived_ms: u64,
    pub(crate) journal: Option<Journal>,
}

/// The result of a commit.
pub(crate) struct Committed {
    /// The number of documents that were added. [`Ingester::numbers`] returns their numbers.
    pub(crate) added: u64,
    /// The error of the document after those. The rest of the batch is dropped.
    pub(crate) result: Result<(), WriteError>,
}

/// The rows of a batch that were written.
struct Appended {
    /// The number of rows that the segment had before.
    before: u32,
    taken: usize,
    /// The reason why the others were not written.
    stop: Option<Stopped>,
}

/// The reason why rows of a batch were not written.
struct Stopped {
    why: Stop,
    /// True if the segment was empty before.
    untouched: bool,
    /// The flush stage's progress when there was no room.
    progress: u64,
}

impl Stopped {
    /// True if no segment has room for the first document.
    fn is_for_good(&self) -> bool {
        self.untouched && matches!(self.why, Stop::SegmentFull)
    }
}

/// The writer of one executor.
pub(crate) struct Ingester {
    shared: Arc<Shared>,
    tokenizers: Tokenizers,
    /// True if texts are kept and not cut.
    opaque_text: bool,
    schema: KnownSchema,
    batch: Batch,
    batch_size: BatchSize,
    writer: FreshWriter,
    tasks: SyncSender<Task>,
    pin: PinSlot,
    /// The journal, if operations are logged.
    journal: Option<Journal>,
    /// One past the sequence number of the last operation.
    sequence_end: u64,
    /// The sequence number of the first document of the last commit.
    first_sequence: u64,
    /// One past the highest number drawn for documents of the last commit that were added.
    number: u64,
    /// The numbers of the documents that the last commit added.
    numbers: Vec<u64>,
    /// The sequence numbers of the documents that those replaced.
    replaced_sequences: Vec<Option<u64>>,
    /// One past the highest number that a document of this executor took.
    documents_end: u64,
    /// The number of documents that this executor accepted.
    accepted: u64,
    /// True if a document did not fit in the segment any more.
    is_full: bool,
    /// True if the segment was handed over, and there was no room for the next one yet.
    handed_over: bool,
    /// The arrivals, if documents are kept for a time.
    arrivals: Option<Arrivals>,
    /// True if only documents of a collection are accepted, and nothing is logged.
    is_loading: bool,
    /// The timed ones among the documents that are collected.
    collects: Samples,
    /// The timed ones among the commits of one document.
    single_commits: Samples,
    /// True if the log may lack operations that are not engraved.
    has_unlogged: bool,
    /// True once the index closes.
    is_closing: bool,
    /// The sequence number of the current delete.
    delete_sequence: u64,
    /// Key table slots of dead rows. They are freed when no reader can see those rows any more.
    replaced: VecDeque<Replaced>,
}

impl Ingester {
    pub(crate) fn new(
        shared: Arc<Shared>,
        options: &Options,
        tasks: SyncSender<Task>,
        pin: PinSlot,
        start: Start,
    ) -> Option<Ingester> {
        let Start { position, row, sequence, documents, accepted, arrived_ms, journal } = start;
        let arrivals = shared.retention.as_ref();
        let mut arrivals = arrivals.map(|retention| Arrivals::new(retention, arrived_ms));
        if let Some(arrivals) = &mut arrivals {
            arrivals.begin_segment(&shared.memory, position);
        }
        shared.gauge(Gauge::Accepted).store(accepted, Relaxed);
        let batch_size = match (options.is_logged(), options.is_os_level()) {
            (true, true) => BatchSize::SYNCED,
            (true, false) => BatchSize::LOGGED,
            _ => BatchSize::USUAL,
        };
        let id = SegmentId::first(position);
        let writer = FreshWriter::open(&shared.memory, id, row, sequence)?;
        publish_segment(&shared, &writer);
        Some(Ingester {
            tokenizers: Tokenizers::new(
                options.analyzer,
                options.document_bytes_max,
                options.vectors,
            ),
            opaque_text: options.opaque_text,
            schema: KnownSchema::default(),
            batch: Batch::with_capacity(batch_size.tokens * 4, batch_size.documents)
                .with_texts(if options.store { TEXT_BYTES_MAX } else { 0 }),
            batch_size,
            writer,
            tasks,
            pin,
            journal,
            sequence_end: sequence,
            first_sequence: sequence,
            number: documents,
            numbers: Vec::with_capacity(batch_size.documents),
            replaced_sequences: Vec::with_capacity(batch_size.documents),
            documents_end: documents,
            accepted,
            is_full: false,
            handed_over: false,
            arrivals,
            is_loading: false,
            collects: Samples::default(),
            single_commits: Samples::default(),
            has_unlogged: false,
            is_closing: false,
            delete_sequence: sequence,
            replaced: VecDeque::with_capacity(REPLACED_MAX + batch_size.documents),
            shared,
        })
    }

    /// Returns the id and the counts of the segment being filled.
    pub(crate) fn counts(&self) -> (SegmentId, FreshCounts) {
        (self.writer.id(), self.writer.counts())
    }

    /// Returns the collector of the next batch, to be committed afterwards.
    #[inline]
    pub(crate) fn collector(&mut self) -> Collector<'_> {
        let Ingester { shared, tokenizers, schema, batch, writer, journal, collects, .. } = self;
        let (size, opaque_text) = (self.batch_size, self.opaque_text);
        let extent = writer.extent(&shared.memory);
        let journal = journal.as_mut();
        Collector {
            shared,
            extent,
            tokenizers,
            opaque_text,
            schema,
            batch,
            size,
            journal,
            collects,
        }
    }

    /// Returns the journal. There is one while the log is replayed.
    pub(crate) fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("only an index with a log replays")
    }

    /// Returns the bytes of the log that no engraved segment covers.
    pub(crate) fn log_bytes(&self) -> u64 {
        let head = self.shared.memory.nvm().map_or(0, |nvm| nvm.log_head());
        self.journal.as_ref().map_or(0, |journal| journal.end() - head)
    }

    /// True if the log may lack operations that are not engraved.
    pub(crate) fn has_unlogged(&self) -> bool {
        self.has_unlogged
    }

    /// Logs no operations from now on: those that follow can be read again from a collection.
    pub(crate) fn begin_collection(&mut self) {
        (self.is_loading, self.has_unlogged) = (true, true);
        self.batch_size = BatchSize::USUAL;
        self.journal.iter_mut().for_each(Journal::begin_collection);
    }

    /// Logs operations again.
    pub(crate) fn end_collection(&mut self) {
        self.is_loading = false;
        self.journal.iter_mut().for_each(Journal::end_collection);
    }

    /// Returns an error if only documents of a collection are accepted.
    pub(crate) fn check_open(&self) -> Result<(), WriteError> {
        if self.is_loading { Err(WriteError::BulkUnfinished) } else { Ok(()) }
    }

    /// Begins to time a long piece of work.
    pub(crate) fn timer(&self) -> Timer {
        Timer::begin(&self.shared)
    }

    /// Counts the time of a piece of work.
    pub(crate) fn note_time(&self, timer: Timer) {
        timer.end(&self.shared);
    }

    /// Returns one past the sequence number of the last operation.
    pub(crate) fn sequence_end(&self) -> u64 {
        self.sequence_end
    }

    /// Writes the batch and makes it visible.
    pub(crate) fn commit(&mut self) -> Committed {
        if let Err(error) = self.check_open() {
            self.numbers.clear();
            self.clear();
            return Committed { added: 0, result: Err(error) };
        }
        self.shared.begin_change();
        let timer = match self.batch.documents() {
            [_] => self.single_commits.begin(&self.shared),
            _ => Some(self.timer()),
        };
        let drawn_end = self.draw_numbers();
        let committed = self.commit_numbered();
        if let Some(timer) = timer {
            self.note_time(timer);
        }
        if committed.result.is_err() {
            self.shared.numbers.give_back(self.number..drawn_end);
        }
        committed
    }

    /// Writes the batch, whose documents have their numbers, and makes it visible.
    pub(crate) fn commit_drawn(&mut self) -> Committed {
        self.shared.begin_change();
        self.commit_numbered()
    }

    /// Like [`commit_drawn`](Self::commit_drawn), for operations from the log: the file says already
    /// whether the index is open.
    pub(crate) fn commit_numbered(&mut self) -> Committed {
        self.numbers.clear();
        self.replaced_sequences.clear();
        let mut result = Ok(());
        while !self.batch.is_empty() && result.is_ok() {
            result = self.write_some();
        }
        self.batch.clear();
        if let Some(journal) = &mut self.journal {
            journal.clear();
        }
        Committed { added: self.numbers.len() as u64, result }
    }

    /// Draws the numbers of a whole batch at once. A document whose number decided the executor is
    /// alone in its batch. Returns one past the last number.
    fn draw_numbers(&mut self) -> u64 {
        let count = self.batch.documents().len() as u64;
        let numbers = &self.shared.numbers;
        let sequence = numbers.sequence.fetch_add(count, Relaxed);
        self.first_sequence = sequence;
        if let Some(drawn) = self.batch.first_number() {
            self.number = drawn;
        } else if self.may_meet_explicit_keys() {
            return self.draw_free_numbers(sequence);
        } else {
            self.number = numbers.documents.fetch_add(count, Relaxed);
        }
        self.batch.number(sequence, self.number);
        self.number + count
    }

    /// True if a document without a key might get a number that is another document's explicit key.
    fn may_meet_explicit_keys(&self) -> bool {
        let Numbers { documents, explicit_end, .. } = &*self.shared.numbers;
        let is_beyond = || explicit_end.load(Relaxed) <= documents.load(Relaxed);
        self.batch.is_unnamed() && (self.batch.is_keyed() || !is_beyond())
    }

    /// Draws numbers that are no document's explicit key. Returns one past the last number.
    #[cold]
    fn draw_free_numbers(&mut self, sequence: u64) -> u64 {
        let numbers = self.shared.numbers.clone();
        // Documents without a number come here only if there is one executor. Then only the thread
        // with its role draws numbers.
        self.number = numbers.documents.load(Relaxed);
        let mut batch = std::mem::take(&mut self.batch);
        let first = self.number;
        let end = self.with_explicit_numbers(|has| batch.number_around(sequence, first, has));
        self.batch = batch;
        numbers.documents.store(end, Relaxed);
        end
    }

    /// True if a document has this number as its explicit key.
    pub(crate) fn has_number(&self, number: u64) -> bool {
        number < self.shared.numbers.explicit_end.load(Relaxed)
            && self.with_explicit_numbers(|has| has(number))
    }

    /// Calls `look` with a function that is true for numbers that documents have as explicit keys.
    fn with_explicit_numbers<T>(&self, look: impl FnOnce(&dyn Fn(u64) -> bool) -> T) -> T {
        let shared = &self.shared;
        let table = shared.keys();
        // Rows of segments that the flush stage drops meanwhile stay readable while we are pinned.
        shared.memory.pins().pin(&self.pin);
        let snapshot = Snapshot::of_role(&shared.memory, self.row_end());
        let looked = look(&|number| find_explicit(shared, &table, &snapshot, number).is_some());
        shared.memory.pins().unpin(&self.pin);
        looked
    }

    /// Returns the numbers of the documents that the last commit added.
    pub(crate) fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Returns the sequence number of the document that each of them replaced.
    pub(crate) fn replaced(&self) -> &[Option<u64>] {
        &self.replaced_sequences
    }

    /// Sets the arrival of later commits in milliseconds since 1970; 0: the time of the commit.
    pub(crate) fn replay_arrival(&mut self, ms: u64) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.replay(Some(ms).filter(|ms| *ms > 0));
        }
    }

    /// Returns one past the highest number that a document of this executor took.
    pub(crate) fn documents_end(&self) -> u64 {
        self.documents_end
    }

    fn write_some(&mut self) -> Result<(), WriteError> {
        let wanted = self.batch.documents().len();
        self.wait_for_log(|journal, shared| journal.has_room(shared, wanted))?;
        // Read before keys are entered: a segment engraved after this makes room for some.
        let progress = self.shared.progress();
        let Appended { before, taken, stop } = self.append()?;
        let row = self.writer.base_row() + u64::from(before);
        if let Some(journal) = &mut self.journal {
            let arrived_ms = self.arrivals.as_ref().map_or(0, Arrivals::newest_ms);
            journal.log(&self.shared, &self.batch, taken, row, arrived_ms)?;
        }
        damage::clear();
        // Reading the clock would be a part of a single document's time.
        let settling = (self.is_loading && self.batch.is_keyed()).then(Instant::now);
        let settled = self.settle(before, taken);
        if let Some(begun) = settling {
            self.shared.add_time(Gauge::KeysTime, begun.elapsed());
        }
        self.shared.refuse_damage()?;
        let unsettled = taken - settled;
        self.close_group(settled, taken, row)?;
        self.batch.drop_front(settled);
        self.publish_settled(settled);
        if unsettled > 0 {
            return self.wait_for_keys(progress);
        }
        if taken == 0 && stop.as_ref().is_some_and(Stopped::is_for_good) {
            let segment_bytes = self.shared.memory.geometry().extent_bytes;
            return Err(WriteError::DocumentTooLarge { segment_bytes });
        }
        stop.map_or(Ok(()), |stop| self.make_way(stop))
    }

    /// Writes invisible rows of the batch into the segment being filled, or into the next one if
    /// that is full.
    fn append(&mut self) -> Result<Appended, WriteError> {
        self.go_on_if_full()?;
        Ok(self.append_by(|writer, memory, batch| writer.append(memory, batch, 0)))
    }

    /// Begins the next segment if the one being filled takes no more.
    fn go_on_if_full(&mut self) -> Result<(), WriteError> {
        let is_over = self.handed_over || self.is_full || self.is_segment_over();
        if is_over { self.next_segment() } else { Ok(()) }
    }

    /// Writes invisible rows of the batch by `append`, which returns the index behind them.
    fn append_by(
        &mut self,
        append: impl FnOnce(&mut FreshWriter, &Memory, &mut Batch) -> (usize, Result<(), Stop>),
    ) -> Appended {
        let progress = self.shared.progress();
        let (before, untouched) = (self.writer.rows(), self.writer.is_untouched());
        let (taken, stop) = append(&mut self.writer, &self.shared.memory, &mut self.batch);
        if let Some(arrivals) = self.arrivals.as_mut().filter(|_| taken > 0) {
            let ms = arrivals.now_ms();
            arrivals.note(&self.shared.memory, self.writer.id().position(), ms);
        }
        let stop = stop.err().map(|why| Stopped { why, untouched, progress });
        Appended { before, taken, stop }
    }

    /// Makes way after rows of a batch were stopped: begins the next segment, or waits for room.
    fn make_way(&mut self, stopped: Stopped) -> Result<(), WriteError> {
        match stopped.why {
            Stop::SegmentFull => {
                // A broken append has left some words. A second attempt might just fit, after a
                // refusal.
                self.is_full = true;
                self.next_segment()
            }
            Stop::HeapFull => self.wait_for_room(stopped.progress),
        }
    }

    /// Ends the first `taken` documents, which were logged. The first `settled` of them took
    /// effect.
    fn close_group(&mut self, settled: usize, taken: usize, row: u64) -> Result<(), WriteError> {
        if let Some(last) = settled.checked_sub(1) {
            let documents = &self.batch.documents()[..settled];
            self.sequence_end = documents[last].sequence + 1;
            self.number = documents[last].number_end;
            self.numbers.extend(documents.iter().map(|document| document.number_end - 1));
            // A document with an explicit key may have drawn a later number and be in before one
            // that waited for this role.
            self.documents_end = self.documents_end.max(self.number);
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if settled < taken {
            // Other documents may get their numbers, or they are added again themselves.
            let sequence = self.batch.documents()[settled].sequence;
            journal.cancel(&self.shared, sequence, row, self.documents_end)?;
        }
        journal.drop_front(settled);
        Ok(())
    }

    fn publish(&self) {
        self.shared.memory.publish(self.row_end(), self.sequence_end);
        self.shared.numbers.watch.notify();
    }

    /// Stores the counts of the segment being filled for statistics.
    fn gauge_segment(&self) {
        let (id, counts) = self.counts();
        self.shared.memory.set_gauges(&[
            (Gauge::FreshSegment, u64::from(id.0) + 1),
            (Gauge::FreshTerms, counts.terms as u64),
            (Gauge::FreshPostings, counts.postings),
            (Gauge::FreshTokens, counts.tokens),
            (Gauge::FreshBytes, counts.extent_bytes),
            (Gauge::FreshVectorUnits, counts.vector_units),
            (Gauge::FreshTextBytes, counts.text_bytes),
            (Gauge::LogBytes, self.log_bytes()),
        ]);
    }

    /// Makes deaths visible that were stamped by documents whose rows a bulk load had reserved, and
    /// which a crash has forgotten. They would become visible with the next document.
    pub(crate) fn publish_reserved(&self) {
        if self.row_end() > self.shared.memory.visible() {
            self.publish();
        }
    }

    /// Makes the new rows visible, and counts `settled` more documents.
    fn publish_settled(&mut self, settled: usize) {
        self.publish();
        self.accepted += settled as u64;
        self.shared.gauge(Gauge::Accepted).store(self.accepted, Relaxed);
        self.gauge_segment();
    }

    /// Kills the documents that the new rows replace, and enters the rows in the key table. Returns
    /// how many were entered. The loop ends at the first row without room.
    fn settle(&mut self, first: u32, taken: usize) -> usize {
        // An older version's log may have automatic keys that replaced documents.
        let may_replace = self.journal.as_ref().is_some_and(Journal::is_replaying);
        if !self.batch.is_keyed() && !may_replace {
            self.replaced_sequences.resize(self.replaced_sequences.len() + taken, None);
            return taken;
        }
        let shared = &self.shared;
        let table = shared.keys();
        forget_replaced(shared, &table, &mut self.replaced);
        // Rows of segments that the flush stage drops meanwhile stay readable while we are pinned.
        shared.memory.pins().pin(&self.pin);
        note_numbers(shared, &self.batch, &self.batch.documents()[..taken]);
        let first_row = self.writer.base_row() + first as u64;
        let (mut settled, mut stamped) = (0, false);
        for (place, row) in (0..taken).zip(first_row..) {
            let document = &self.batch.documents()[place];
            if let Some(hash) = self.batch.key_hash(place + KEYS_PREFETCHED) {
                table.prefetch(&shared.memory, hash);
            }
            let key = self.batch.key(document);
            let Ok(entered) = enter(shared, &table, key, row, &mut self.replaced) else { break };
            let replaced = entered.and_then(|entered| entered.victim_sequence(shared));
            self.replaced_sequences.push(replaced);
            if let Some(entered) = entered {
                stamped |= entered.bury(shared, &mut self.replaced);
            }
            settled += 1;
        }
        // The row without room, and those after it, never come to life.
        abandon(shared, first_row + settled as u64..first_row + taken as u64);
        self.writer.discount(&shared.memory, (taken - settled) as u32);
        if stamped {
            shared.memory.fence_deaths();
        }
        shared.memory.pins().unpin(&self.pin);
        settled
    }

    /// Deletes the document with key `key`, in one visible step. True if there was one.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Result<bool, WriteError> {
        self.check_open()?;
        self.shared.begin_change();
        let sequence = self.shared.numbers.sequence.fetch_add(1, Relaxed);
        self.delete_at(key, sequence)
    }

    /// Deletes like [`delete`](Self::delete), with the sequence number of an operation from the
    /// log.
    pub(crate) fn delete_at(&mut self, key: &[u8], sequence: u64) -> Result<bool, WriteError> {
        self.delete_sequence = sequence;
        self.wait_for_log(|journal, shared| journal.has_room_for_key(shared, key))?;
        let row = self.append_dead(sequence)?;
        if let Some(journal) = &mut self.journal {
            journal.log_delete(&self.shared, key, sequence, row, self.documents_end)?;
        }
        self.sequence_end = sequence + 1;
        damage::clear();
        let found = self.kill_by_key(key, row);
        self.shared.refuse_damage()?;
        self.publish();
        Ok(found)
    }

    /// Appends a row that never is a document, for an operation without one. The segment with this
    /// row ends after the operation's record.
    fn append_dead(&mut self, sequence: u64) -> Result<u64, WriteError> {
        loop {
            if self.handed_over || self.is_full {
                self.next_segment()?;
            }
            let progress = self.shared.progress();
            match self.writer.append_dead(&self.shared.memory, sequence) {
                Ok(()) => return Ok(self.row_end() - 1),
                Err(Stop::SegmentFull) => self.next_segment()?,
                Err(Stop::HeapFull) => self.wait_for_room(progress)?,
            }
        }
    }

    fn kill_by_key(&mut self, key: &[u8], by: u64) -> bool {
        let shared = &self.shared;
        let table = shared.keys();
        forget_replaced(shared, &table, &mut self.replaced);
        shared.memory.pins().pin(&self.pin);
        let snapshot = Snapshot::of_role(&shared.memory, by);
        let hash = keys::hash(key);
        let found = table.find(&snapshot, &shared.memory, key, hash);
        let row = match found {
            Some(row) => {
                // After a start the row may not have been entered yet.
                table.remove(&shared.memory, hash, row);
                Some(row)
            }
            None => keys::as_number(key).and_then(|n| keys::find_automatic(&snapshot, n)),
        };
        let killed = row.and_then(|row| kill(shared, &snapshot, row, by));
        if killed == Some(Stamped::Engraved) {
            shared.memory.fence_deaths();
        }
        shared.memory.pins().unpin(&self.pin);
        killed.is_some()
    }
}

fn publish_segment(shared: &Shared, writer: &FreshWriter) {
    writer.describe(&shared.memory);
    shared.memory.table().publish(writer.id(), State::Ingested);
}

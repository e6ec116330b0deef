//! Statistics: documents, segments by state, partitions, bytes by structure.

mod log_syncs;
mod sections;

use std::sync::atomic::Ordering::Relaxed;

use spirit_cache::CacheStats;
use spirit_door::Site;
use spirit_index::column::Columns;
use spirit_index::form::Merged;
use spirit_index::form::engraved_bytes;
use spirit_index::ground::Gauge;
use spirit_index::ground::Kind;
use spirit_index::ground::SLOT_BYTES;
use spirit_index::ground::{COUNT_BYTES, ROW_BYTES, TEXT_PLACE_BYTES};
use spirit_index::ground::{Position, SegmentId, State};
use spirit_index::memory::Descriptor;
use spirit_index::memory::Memory;
use spirit_index::rows::LENGTH_BYTES;
use spirit_index::snapshot::{FRESH_MAX, Segment, Snapshot};
use spirit_index::terms::order_bytes;

use crate::config::error::WriteError;
use crate::engine::executor::Executor;
use crate::index::Index;
use crate::stages::key_import::count_all_deaths;
use crate::storage::retention::living_between;
use crate::storage::shared::{Shared, Work};
use crate::storage::view::View;

use log_syncs::add_log_syncs;
use sections::add_sections;

/// The bytes of a row's key word. The rest of a row counts as index.
const ROW_KEY_BYTES: u64 = 8;

/// Bytes by structure. Keys and texts are separate: they are the application's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bytes {
    /// Posting arrays and bitmaps of flushed segments, or their packed lists with positions, in
    /// bytes.
    pub postings: u64,
    /// Tables, term records and blocks of fresh segments, in bytes.
    pub fresh: u64,
    /// Document vectors (positions), in bytes.
    pub vectors: u64,
    /// Rows without their keys, and the documents' lengths, in bytes.
    pub rows: u64,
    /// Maps from a segment's ordinals to dictionary terms, and the byte order of its terms, in
    /// bytes.
    pub term_maps: u64,
    /// Columns, the values of fields in flushed segments, in bytes.
    pub columns: u64,
    /// Keys of documents, in bytes.
    pub keys: u64,
    /// The dictionary, in bytes: records and arrays in use, and its table.
    pub dictionary: u64,
    /// Stored texts as they lie, in bytes: compressed in the second tier.
    pub texts: u64,
    /// Stored texts as given, in bytes.
    pub texts_raw: u64,
}

impl Bytes {
    /// Returns the sum without keys and texts, in bytes.
    pub fn index(&self) -> u64 {
        let segments = self.postings + self.fresh + self.vectors + self.rows;
        segments + self.term_maps + self.columns + self.dictionary
    }

    fn add(&mut self, other: Bytes) {
        self.postings += other.postings;
        self.fresh += other.fresh;
        self.vectors += other.vectors;
        self.rows += other.rows;
        self.term_maps += other.term_maps;
        self.columns += other.columns;
        self.keys += other.keys;
        self.dictionary += other.dictionary;
        self.texts += other.texts;
        self.texts_raw += other.texts_raw;
    }
}

/// The statistics of one segment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SegmentStats {
    /// The number of its executor.
    pub executor: usize,
    /// Its position in the executor's order of segments.
    pub position: u32,
    /// Its state: `ingested`, `flushed`, …
    pub state: String,
    /// True if the DRAM dictionary has its terms. Otherwise they are read in the second tier, or in
    /// the fresh segment itself.
    pub in_dictionary: bool,
    /// The number of rows: documents, including dead ones, and deletes.
    pub rows: u64,
    /// The number of dead rows.
    pub dead: u64,
    /// The number of distinct terms.
    pub terms: u64,
    /// The number of postings.
    pub postings: u64,
    /// The number of tokens.
    pub tokens: u64,
    /// Bytes by structure.
    pub bytes: Bytes,
}

/// A partition of an executor's heap, in bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PartitionStats {
    /// The number of its executor.
    pub executor: usize,
    /// The name: `short-term`, `long-term`, `dictionary` or `keys`. In the second tier `nvm log`,
    /// `nvm dictionary`, `nvm short-term`, `nvm long-term` or `nvm slots`.
    pub name: &'static str,
    /// The bytes in use.
    pub used: u64,
    /// The cap, in bytes.
    pub bytes: u64,
    /// The largest free block, in bytes. None if the partition does not give out blocks of
    /// different sizes: the key table, the log, the dictionary and the slots of the second tier.
    pub largest_free: Option<u64>,
}

/// The statistics of an index, as [`Index::stats`] returns them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The number of documents that queries find.
    pub documents: u64,
    /// The sequence number below which all operations are counted here.
    pub sequence: u64,
    /// The number of documents ever accepted.
    pub accepted: u64,
    /// The number of documents replaced or deleted over the index's life.
    pub deleted: u64,
    /// The number of documents that retention removed over the index's life. It dropped them with
    /// their segments, or they are too old to be found and will be dropped.
    pub expired: u64,
    /// The number of segments that retention dropped since the start.
    pub dropped_segments: u64,
    /// The number of segments engraved since the start, and the time for that in seconds.
    pub engraved: (u64, f64),
    /// The number of segments merged since the start, and the time for that in seconds.
    pub merged: (u64, f64),
    /// The time for which each stage of the pipeline worked since the start, in seconds, in all
    /// executors together: name and time (paper's figure 6). `ingest` is the time of cutting and writing
    /// documents, without that for which it waited for room, which is `ingest waiting`. Of documents
    /// that are collected or come singly, one in 32 is timed, and counts for all of them.
    pub busy: Vec<(&'static str, f64)>,
    /// The fences at each site of the second tier since the start: name and number.
    pub fences: Vec<(&'static str, u64)>,
    /// The durations of the log's syncs to the disk since the start: upper bounds in seconds, the
    /// last one infinite, each with the number of syncs that took at most as long. There are syncs
    /// with [`Durability::Os`](crate::Durability::Os) only.
    pub log_syncs: Vec<(f64, u64)>,
    /// The time of those syncs, in seconds.
    pub log_sync_seconds: f64,
    /// How far the oldest reader is behind: the number of times that memory was retired since it
    /// began. That memory waits for it. 0 without readers. A process that only reads counts the
    /// readers of such processes.
    pub epoch_lag: u64,
    /// The number of rewrites of mostly dead segments.
    pub rewritten_segments: u64,
    /// The number of tokens that were too long to keep.
    pub skipped_tokens: u64,
    /// The number of distinct terms in the dictionaries.
    pub dictionary_terms: u64,
    /// The number of postings.
    pub postings: u64,
    /// The number of tokens.
    pub tokens: u64,
    /// Bytes by structure.
    pub bytes: Bytes,
    /// The reserved heap, in bytes.
    pub dram_bytes: u64,
    /// The second tier, in bytes; 0 without one.
    pub nvm_bytes: u64,
    /// The partitions of each executor.
    pub partitions: Vec<PartitionStats>,
    /// The sections of engraved segments in the second tier: name, and bytes in all segments.
    pub sections: Vec<(&'static str, u64)>,
    /// The segments of each executor, newest first.
    pub segments: Vec<SegmentStats>,
    /// The result cache of this process, if it has one.
    pub cache: Option<CacheStats>,
    /// The answers that were joined from the result cache and newer segments.
    pub joined_answers: u64,
    /// The registered segments that answers took from entries of the result cache.
    pub cached_segments: u64,
    /// The registered segments that questions with an entry evaluated.
    pub evaluated_segments: u64,
}

impl Index {
    /// Returns the current sizes and counts of the index. A process that only reads counts its
    /// current view.
    ///
    /// # Errors
    /// If the index accepts nothing more, because a stage of the pipeline died or its disk or file
    /// failed.
    pub fn stats(&self) -> Result<Stats, WriteError> {
        for Executor { shared, .. } in self.executors() {
            if shared.is_poisoned() {
                return Err(shared.refusal());
            }
        }
        let mut view = self.view();
        let mut stats = self.stats_of(&view);
        // A new writer may have reused the memory that was counted. The loop ends once a view is
        // not outdated, or there is no newer one.
        while let Some(next) =
            view.is_outdated().then(|| self.readable.view_after(&view).ok()).flatten()
        {
            view = next;
            stats = self.stats_of(&view);
        }
        Ok(stats)
    }

    fn stats_of(&self, view: &View) -> Stats {
        let mut stats = Stats { sequence: view.sequence(), ..Stats::default() };
        if let Some(cache) = &self.readable.cache {
            (stats.cache, stats.joined_answers) = (Some(cache.stats()), cache.joined());
            (stats.cached_segments, stats.evaluated_segments) = cache.reuse();
        }
        let slot = view.stats_pin();
        stats.epoch_lag = view.pins.lag();
        view.pins.pin(&slot);
        if view.is_private_copy() {
            view.parts.iter().for_each(|shared| count_all_deaths(shared));
        }
        let over_ms = view.over_ms();
        for (number, shared) in view.parts.iter().enumerate() {
            Adding { shared, number, over_ms }.run(&mut stats);
        }
        view.pins.unpin(&slot);
        for segment in &stats.segments {
            stats.documents += segment.rows - segment.dead.min(segment.rows);
            stats.postings += segment.postings;
            stats.tokens += segment.tokens;
            stats.bytes.add(segment.bytes);
        }
        stats
    }
}

/// An executor to be counted, whose reader is pinned.
struct Adding<'a> {
    shared: &'a Shared,
    number: usize,
    /// The time in milliseconds since 1970 at which, or before which, documents are left out by
    /// their arrival.
    over_ms: u64,
}

impl Adding<'_> {
    fn run(&self, stats: &mut Stats) {
        let (shared, memory) = (self.shared, &self.shared.memory);
        let gauge = |gauge| memory.gauge(gauge).load(Relaxed);
        let (snapshot, expired) = self.snapshot();
        let covered = snapshot.covered();
        let end = snapshot.window().end + FRESH_MAX as Position;
        let mut engraved = 0;
        for position in (snapshot.oldest()..end).rev() {
            let Some(segment) = snapshot.segment(position) else { continue };
            let Some((_, state)) = memory.table().get(position) else { continue };
            // The table may lead to a rewritten segment by now, which has other rows.
            let descriptor = segment.descriptor();
            engraved += u64::from(state >= State::Engraved);
            let is_fresh = descriptor.rows() == u64::MAX;
            let mut described = describe(memory, descriptor, state, u64::from(segment.rows()));
            if is_fresh {
                self.count_fresh(&segment, &mut described);
            }
            let in_dictionary = (covered.oldest..covered.end).contains(&position);
            let executor = self.number;
            stats.segments.push(SegmentStats { executor, position, in_dictionary, ..described });
        }
        self.partitions(engraved, stats);
        add_log_syncs(memory, stats);
        add_sections(memory, stats);
        add_work(&mut stats.engraved, shared.engraved());
        add_work(&mut stats.merged, shared.merged());
        add_busy(memory, stats);
        stats.accepted += gauge(Gauge::Accepted);
        stats.deleted += gauge(Gauge::Deleted);
        stats.expired += expired;
        stats.dropped_segments += gauge(Gauge::DroppedSegments);
        stats.rewritten_segments += gauge(Gauge::RewrittenSegments);
        stats.skipped_tokens += gauge(Gauge::SkippedTokens);
    }

    /// Returns the snapshot of a query that begins now. Also returns the number of documents that
    /// retention has dropped or hides from it.
    fn snapshot(&self) -> (Snapshot<'_>, u64) {
        let memory = &self.shared.memory;
        loop {
            let dropped = memory.expired();
            let all = Snapshot::take(memory).without_dropped(dropped);
            let snapshot = all.without_older(self.over_ms);
            let expired = dropped.documents() + living_between(0, &all, &snapshot);
            // Otherwise a segment that was dropped meanwhile would not be counted at all.
            if memory.expired() == dropped {
                return (snapshot, expired);
            }
        }
    }

    /// Counts the segment being filled by its gauges. They are 0 for a moment after it was begun.
    fn count_fresh(&self, segment: &Segment<'_>, stats: &mut SegmentStats) {
        let memory = &self.shared.memory;
        let rows = stats.rows;
        stats.bytes.rows = rows * (ROW_BYTES - ROW_KEY_BYTES + COUNT_BYTES);
        stats.bytes.keys = rows * ROW_KEY_BYTES;
        let gauge = |gauge| memory.gauge(gauge).load(Relaxed);
        if gauge(Gauge::FreshSegment) != u64::from(segment.id().0) + 1 {
            return;
        }
        stats.terms = gauge(Gauge::FreshTerms);
        stats.postings = gauge(Gauge::FreshPostings);
        stats.tokens = gauge(Gauge::FreshTokens);
        stats.bytes.fresh = gauge(Gauge::FreshBytes);
        stats.bytes.vectors = gauge(Gauge::FreshVectorUnits) * 2;
        let raw = gauge(Gauge::FreshTextBytes);
        stats.bytes.texts = text_bytes(memory, segment.descriptor(), segment.rows(), raw);
        stats.bytes.texts_raw = raw;
    }

    /// Adds the partitions. The second tier has `engraved` segments.
    fn partitions(&self, engraved: u64, stats: &mut Stats) {
        let memory = &self.shared.memory;
        let gauge = |gauge| memory.gauge(gauge).load(Relaxed);
        let geometry = memory.geometry();
        let table = geometry.dictionary_lines.bytes();
        let dictionary = gauge(Gauge::DictionaryBytes) + table;
        stats.dictionary_terms += gauge(Gauge::DictionaryTerms);
        stats.bytes.dictionary += dictionary;
        stats.dram_bytes += geometry.bytes;
        let (rings, free) = (memory.partition_use(), memory.largest_free());
        let dictionary_bytes = table + geometry.dictionary_pool.bytes();
        let mut partitions = vec![
            ("short-term", rings.short, Some(free.short)),
            ("long-term", rings.long, Some(free.long)),
            ("dictionary", (dictionary, dictionary_bytes), Some(free.dictionary)),
            ("keys", (geometry.key_lines.bytes(), geometry.key_lines.bytes()), None),
        ];
        if let Some(nvm) = memory.nvm() {
            let layout = nvm.layout();
            let merged = gauge(Gauge::MergedLines) * 64;
            let buckets = Merged::new(memory.region(), layout).buckets() as u64 * 8;
            let slots = layout.slots.bytes();
            partitions.extend([
                ("nvm log", (gauge(Gauge::LogBytes), layout.log.1), None),
                ("nvm dictionary", (buckets + merged, buckets + layout.lines.bytes()), None),
                ("nvm short-term", rings.nvm_short, Some(free.nvm_short)),
                ("nvm long-term", rings.nvm_long, Some(free.nvm_long)),
                // A dropped segment may still be counted while a new one has its slot already.
                ("nvm slots", ((engraved * SLOT_BYTES).min(slots), slots), None),
            ]);
            stats.nvm_bytes += layout.bytes;
            for site in Site::ALL.iter().filter(|site| site.name().ends_with("fence")) {
                let calls = nvm.door().passed(*site).calls;
                match stats.fences.iter_mut().find(|(name, _)| *name == site.name()) {
                    Some((_, count)) => *count += calls,
                    None => stats.fences.push((site.name(), calls)),
                }
            }
        }
        let executor = self.number;
        let named = partitions.into_iter().map(|(name, (used, bytes), largest_free)| {
            PartitionStats { executor, name, used, bytes, largest_free }
        });
        stats.partitions.extend(named);
    }
}

/// Adds the times of an executor's stages.
fn add_busy(memory: &Memory, stats: &mut Stats) {
    let seconds = |gauge| memory.gauge(gauge).load(Relaxed) as f64 / 1e9;
    let times = [
        ("ingest", seconds(Gauge::WrittenTime)),
        ("ingest waiting", seconds(Gauge::WaitedTime)),
        ("flush", seconds(Gauge::FlushedTime)),
        ("engrave", seconds(Gauge::EngravedTime)),
        ("merge", seconds(Gauge::MergedTime)),
    ];
    stats.busy.resize(times.len(), ("", 0.0));
    for (sum, (stage, time)) in stats.busy.iter_mut().zip(times) {
        *sum = (stage, sum.1 + time);
    }
}

fn add_work((count, seconds): &mut (u64, f64), work: Work<'_>) {
    *count += work.count.load(Relaxed);
    *seconds += work.nanoseconds.load(Relaxed) as f64 / 1e9;
}

/// Describes a segment with this many visible rows.
fn describe(memory: &Memory, descriptor: Descriptor<'_>, state: State, rows: u64) -> SegmentStats {
    let flushed = state >= State::Flushed;
    // The packed lists count only if there are no others: as long as readers are in DRAM, they are
    // a copy.
    let posting_words = match descriptor.posting_words() {
        0 => descriptor.packed_words(),
        words => words,
    };
    let (row_bytes, key_bytes) = row_bytes(memory, descriptor, rows);
    let bytes = Bytes {
        postings: posting_words * 4,
        fresh: if flushed { 0 } else { memory.geometry().extent_bytes },
        vectors: descriptor.vector_units() * 2,
        rows: row_bytes + rows * row_length_bytes(memory, descriptor),
        term_maps: if flushed {
            descriptor.terms() * 4 + order_bytes(descriptor.terms())
        } else {
            0
        },
        columns: column_bytes(memory, descriptor),
        keys: key_bytes,
        dictionary: 0,
        texts: text_bytes(memory, descriptor, rows as u32, descriptor.text_bytes()),
        texts_raw: descriptor.text_bytes(),
    };
    SegmentStats {
        executor: 0,
        position: 0,
        state: state.to_string(),
        in_dictionary: false,
        rows,
        dead: descriptor.dead(),
        terms: if flushed { descriptor.terms() } else { 0 },
        postings: if flushed { descriptor.posting_count() } else { 0 },
        tokens: if flushed { descriptor.tokens() } else { 0 },
        bytes,
    }
}

/// Returns the bytes of the rows without their keys, and the bytes of the keys. Packed rows have a
/// variable number of bits, so the first number includes their keys, and the second is 0.
fn row_bytes(memory: &Memory, descriptor: Descriptor<'_>, rows: u64) -> (u64, u64) {
    let is_committed =
        descriptor.lengths() != 0 && descriptor.lengths() < memory.region().nvm_bytes();
    let position = SegmentId(descriptor.id() as u32).position();
    let sections = memory.nvm().filter(|_| is_committed && descriptor.packed_words() > 0);
    let sections = sections.and_then(|nvm| nvm.sections(memory.region(), position).ok());
    match sections {
        Some((_, sections)) => {
            (sections.get(Kind::Rows).bytes + sections.get(Kind::Deaths).bytes, 0)
        }
        None => (rows * (ROW_BYTES - ROW_KEY_BYTES), rows * ROW_KEY_BYTES),
    }
}

/// Returns the bytes of lengths for each row. Until the segment is in the second tier, they include
/// the running count behind the row.
fn row_length_bytes(memory: &Memory, descriptor: Descriptor<'_>) -> u64 {
    let array = if descriptor.lengths() == 0 { 0 } else { LENGTH_BYTES };
    let is_dram = descriptor.counts() != 0 && descriptor.lengths() >= memory.region().nvm_bytes();
    array + if array == 0 || is_dram { COUNT_BYTES } else { 0 }
}

/// Returns the bytes of a segment's columns, in either tier.
fn column_bytes(memory: &Memory, descriptor: Descriptor<'_>) -> u64 {
    let at = descriptor.columns();
    if at == 0 { 0 } else { Columns::at(memory.region(), at).bytes() }
}

/// Returns the bytes of a segment's texts where they are, with their places. The segment has `rows`
/// rows and `raw` bytes of text.
fn text_bytes(memory: &Memory, descriptor: Descriptor<'_>, rows: u32, raw: u64) -> u64 {
    if descriptor.texts() == 0 {
        return 0;
    }
    engraved_bytes(memory.region(), descriptor.texts())
        .unwrap_or_else(|| raw + rows as u64 * TEXT_PLACE_BYTES)
}

//! The fresh segment: the ingest role writes it while queries read it (paper §4.5, §4.6).
//!
//! Cache misses bound ingest, so it works on batches in three passes. While the text is cut, the
//! home slots of all tokens are prefetched. Then all tokens are *resolved* to ordinals while the
//! term records are prefetched. Then all are *posted*. Posting touches one cache line a token: the
//! term's record, with key, list head and the newest postings.
//!
//! A batch that is larger than the caches takes the last two passes a [`WINDOW`] at a time.
//!
//! The [extent] defines the layout. If a batch does not fit, it is taken up to the last document
//! that does. The rest goes to the next segment. A batch that must stay whole is [checked](fit)
//! before.

pub(crate) mod batch;
pub(crate) mod extent;
pub(crate) mod field_lengths;
mod fit;
pub(crate) mod length_arrays;
mod record;
pub(crate) mod row_writer;
mod terms;
pub(crate) mod text_writer;

pub use batch::{Batch, Document, KEY_BYTES_MAX, Key, Stop};
pub use extent::Extent;

use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

use crate::fresh::batch::BatchToken;
use crate::fresh::field_lengths::FieldCounts;
use crate::fresh::row_writer::RowWriter;
use crate::ground::ids::{Partition, SegmentId};
use crate::ground::posting::posting;
use crate::ground::values::{RowValue, record_words};
use crate::lists::list::Full;
use crate::memory::Memory;
use crate::rows::lengths::{Statistics, TOKENS_LIMIT};
use crate::rows::vector::{self, UNITS_PER_TOKEN_MAX};
use crate::rows::{KEY_INLINE_MAX, RowKey};

/// The tokens that are resolved before they are posted. What is prefetched for them must stay in the
/// cache until then (64 bytes each, in a second-level cache of 512 KiB or more).
const WINDOW: usize = 2048;

/// The writer of a fresh segment.
#[derive(Debug)]
pub struct FreshWriter {
    id: SegmentId,
    extent: u64,
    base_row: u64,
    base_sequence: u64,
    /// Number of distinct terms.
    terms: u32,
    terms_max: u32,
    /// First used word of the area's upper end.
    high: u32,
    rows: RowWriter,
    /// The first and the last automatic key.
    numbers: Option<[u64; 2]>,
    postings: u64,
    tokens: u64,
    vector_units: u64,
    long_bytes: u64,
    table_bytes: u64,
    area_words: u32,
    /// The values of the current row.
    record: Vec<RowValue>,
    /// The rows' counts for each field of text.
    fields: FieldCounts,
}

/// The sizes of a segment, counted while it was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshCounts {
    /// Number of rows.
    pub rows: u32,
    /// Number of distinct terms.
    pub terms: u32,
    /// Number of postings.
    pub postings: u64,
    /// Number of tokens.
    pub tokens: u64,
    /// Statistics of the kept tokens.
    pub kept: Statistics,
    /// Units of document vectors and stored keys.
    pub vector_units: u64,
    /// One past the last of these units: chunks are not always filled.
    pub unit_end: u32,
    /// Bytes of the documents' texts, if they are kept.
    pub text_bytes: u64,
    /// Bytes of long terms, each in whole words of 8.
    pub long_bytes: u64,
    /// Bytes of the extent in use: table, prefixes, records, blocks.
    pub extent_bytes: u64,
}

impl FreshWriter {
    /// Opens an empty segment, or returns `None` while the partitions have no room for one.
    pub fn open(
        memory: &Memory,
        id: SegmentId,
        base_row: u64,
        base_sequence: u64,
    ) -> Option<FreshWriter> {
        let geometry = memory.geometry();
        let extent = memory.allocate(Partition::Short, geometry.extent_bytes, id)?;
        let Some(rows) = RowWriter::open(memory, id) else {
            memory.give_back(Partition::Short, id);
            return None;
        };
        let spans = geometry.fresh(extent);
        if !memory.is_untouched(extent) {
            memory.region().view(spans.table).iter().for_each(|slot| slot.store(0, Relaxed));
        }
        Some(FreshWriter {
            id,
            extent,
            base_row,
            base_sequence,
            terms: 0,
            terms_max: geometry.fresh_terms_max() as u32,
            high: spans.area.len() as u32,
            rows,
            numbers: None,
            postings: 0,
            tokens: 0,
            vector_units: 0,
            long_bytes: 0,
            table_bytes: spans.records.start() - extent,
            area_words: spans.area.len() as u32,
            record: Vec::new(),
            fields: FieldCounts::default(),
        })
    }

    /// Returns the segment's id.
    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// Returns the row number of local id 0.
    pub fn base_row(&self) -> u64 {
        self.base_row
    }

    /// Returns the number of rows written.
    pub fn rows(&self) -> u32 {
        self.rows.rows()
    }

    /// True if no document was ever tried in it. A document that does not fit then never will.
    pub fn is_untouched(&self) -> bool {
        self.rows() == 0 && self.terms == 0
    }

    /// Returns the segment's sizes so far.
    pub fn counts(&self) -> FreshCounts {
        let FreshWriter { terms, postings, tokens, vector_units, long_bytes, .. } = *self;
        let (rows, unit_end, text_bytes) = (self.rows(), self.rows.unit(), self.rows.text_bytes());
        let extent_bytes =
            self.table_bytes + terms as u64 * 64 + (self.area_words - self.high) as u64 * 4;
        FreshCounts {
            rows,
            terms,
            postings,
            tokens,
            kept: self.rows.counted(),
            vector_units,
            unit_end,
            text_bytes,
            long_bytes,
            extent_bytes,
        }
    }

    /// Writes the descriptor's words, before the segment is published.
    pub fn describe(&self, memory: &Memory) {
        let descriptor = memory.table().descriptor(self.id);
        descriptor.set_id(self.id.0 as u64);
        descriptor.set_base_row(self.base_row);
        descriptor.set_base_sequence(self.base_sequence);
        descriptor.set_rows(u64::MAX);
        self.rows.describe(descriptor);
        descriptor.set_text_bytes(0);
        descriptor.set_extent(self.extent);
        descriptor.set_deaths(0);
        descriptor.set_lists(0);
        descriptor.set_lengths(0);
        descriptor.set_term_order(0);
        descriptor.set_columns(0);
        descriptor.set_terms(0);
        descriptor.set_posting_words(0);
        descriptor.set_packed_words(0);
        descriptor.set_row_map(0);
        descriptor.set_stamps(0);
        descriptor.set_numbers_start(0);
        descriptor.set_numbers_end(0);
    }

    /// Returns the view for prefetching while a batch is collected.
    pub fn extent<'a>(&self, memory: &'a Memory) -> Extent<'a> {
        Extent::new(memory.region(), memory.geometry(), self.extent)
    }

    /// Writes documents of `batch` from the one at index `from` on as the next rows, whole ones
    /// only. Returns the index behind them, and the reason if documents are left. The batch keeps
    /// them all. Nothing is visible yet.
    pub fn append(
        &mut self,
        memory: &Memory,
        batch: &mut Batch,
        from: usize,
    ) -> (usize, Result<(), Stop>) {
        let extent = self.extent(memory);
        let room = from + self.rows.reserve_rows(memory, batch.documents().len() - from);
        let (mut resolved, mut stop) = (batch.token_start(from), Ok(()));
        let mut taken = from;
        while taken < batch.documents().len().min(room) {
            let document = batch.documents()[taken];
            let token_end = document.token_end as usize;
            if token_end > resolved && stop.is_ok() {
                (resolved, stop) = self.resolve_window(&extent, batch, resolved, token_end);
            }
            if token_end > resolved {
                break;
            }
            if let Err(why) = self.take(memory, &extent, batch, taken, &document) {
                stop = Err(why);
                break;
            }
            taken += 1;
        }
        self.note(memory);
        let next = batch.documents().get(taken);
        let is_next = |next: &Document| stop.is_ok() || next.token_end as usize <= resolved;
        if taken == room && next.is_some_and(is_next) {
            // A row is missing, although later documents may also have terms that do not fit.
            let full = self.rows() >= memory.geometry().fresh_rows_max();
            stop = Err(if full { Stop::SegmentFull } else { Stop::HeapFull });
        }
        (taken, stop)
    }

    /// Resolves tokens from `first` to `end`, or more of them if that is no [`WINDOW`]. Returns one
    /// past the last one resolved.
    fn resolve_window(
        &mut self,
        extent: &Extent<'_>,
        batch: &mut Batch,
        first: usize,
        end: usize,
    ) -> (usize, Result<(), Stop>) {
        let end = end.max(first + WINDOW).min(batch.token_count());
        if batch.token_count() > WINDOW {
            // What was prefetched while the text was cut may have left the cache.
            batch.tokens(first..end).iter().for_each(|token| extent.prefetch(token.hash));
        }
        self.resolve(extent, batch, first..end)
    }

    /// Shows the automatic keys and the number of terms to readers, before the rows that have them
    /// are visible.
    fn note(&mut self, memory: &Memory) {
        let descriptor = memory.table().descriptor(self.id);
        // This store releases the terms' records: a reader that loads it reads that many.
        descriptor.set_terms(self.terms as u64);
        if let Some([first, last]) = self.numbers {
            descriptor.set_numbers_start(first);
            descriptor.set_numbers_end(last + 1);
        }
    }

    /// Posts one document's tokens, and writes its vector and row.
    fn take(
        &mut self,
        memory: &Memory,
        extent: &Extent<'_>,
        batch: &Batch,
        index: usize,
        document: &Document,
    ) -> Result<(), Stop> {
        let delta =
            u32::try_from(document.sequence - self.base_sequence).map_err(|_| Stop::SegmentFull)?;
        let (tokens, values) = (batch.tokens_of(index), batch.values_of(index));
        if !self.has_room(extent, tokens.len(), values.len()) {
            return Err(Stop::SegmentFull);
        }
        let length = tokens.len() as u32 - document.holes - document.apart;
        let positions = memory.geometry().settings.positions;
        let vector_units = if positions { tokens.len() as u32 * UNITS_PER_TOKEN_MAX } else { 0 };
        let key_units = document.key.stored_units();
        self.rows.reserve_units(memory, vector_units + key_units)?;
        let text = batch.text_of(index);
        self.rows.reserve_text(memory, text.len())?;
        let key = self.write_key(memory, batch.key(document));
        let start = self.rows.unit();
        let posted = if positions {
            self.post_all::<true>(extent, tokens, self.rows.units(memory, vector_units))
        } else {
            self.post_all::<false>(extent, tokens, &[])
        };
        let Ok(units) = posted.and_then(|units| {
            self.put_values(memory, extent, tokens, values)?;
            Ok(units)
        }) else {
            self.abandon(memory, delta);
            return Err(Stop::SegmentFull);
        };
        self.rows.take_units(units);
        self.vector_units += (units + key_units) as u64;
        // Without vectors no reader uses the number of tokens as positions. Store the length: it is
        // exact where the array of lengths is saturated.
        let row_tokens = if positions { tokens.len() as u32 + document.gaps } else { length };
        self.tokens += row_tokens as u64;
        self.rows.put_text(memory, Some(text));
        self.rows.next_row(memory).write(delta, start, row_tokens, key);
        self.rows.end_row(memory, length);
        Ok(())
    }

    /// True if a document of usual size fits with any terms. A document that breaks off leaves a
    /// dead row, and then the segment cannot be counted from statistics. So only documents that are
    /// large for the segment are tried without this guarantee.
    fn has_room(&self, extent: &Extent<'_>, tokens: usize, values: usize) -> bool {
        if self.tokens + tokens as u64 >= TOKENS_LIMIT {
            return false;
        }
        let record = record_words(values) as u64;
        let worst = tokens as u64 * extent.blocks().spill_words_max() + record;
        let free = self.high.saturating_sub(extent.low_after(self.terms)) as u64;
        worst <= free || worst > extent.area().len() as u64 / 16
    }

    /// Writes the record of the next row's values, if it has any. Its tokens are posted already.
    #[inline(always)]
    fn put_values(
        &mut self,
        memory: &Memory,
        extent: &Extent<'_>,
        tokens: &[BatchToken],
        values: &[RowValue],
    ) -> Result<(), Full> {
        if values.is_empty() { Ok(()) } else { self.put_record(memory, extent, tokens, values) }
    }

    /// Posts the tokens of the next row. Returns the units that its vector took.
    #[inline(never)]
    fn post_all<const POSITIONS: bool>(
        &mut self,
        extent: &Extent<'_>,
        tokens: &[BatchToken],
        units: &[AtomicU16],
    ) -> Result<u32, Full> {
        let word = posting(self.rows());
        let (area, blocks) = (extent.area(), extent.blocks());
        // Number of tokens that add no posting: further occurrences of a term, and holes.
        let mut repeated = 0;
        let mut at = 0;
        // Invariant: the tokens before this one are posted, and `at` is the first free unit.
        for token in tokens {
            let mut ordinal = token.ordinal;
            let mut record = extent.record(ordinal);
            if !record.key().is(token.key) {
                let Some(other) = self.resolve_again(extent, token)? else {
                    repeated += 1;
                    if POSITIONS {
                        at = vector::put_holes(units, at, token.holes());
                    }
                    continue;
                };
                (ordinal, record) = (other, extent.record(other));
            }
            let allocate = |words| self.allocate(extent, words);
            if !record.list().append(word, area, blocks, allocate)? {
                repeated += 1;
            }
            if POSITIONS {
                at = vector::put(units, at, ordinal);
            }
        }
        self.postings += tokens.len() as u64 - repeated;
        Ok(at as u32)
    }

    /// Takes `words` words for a block.
    fn allocate(&mut self, extent: &Extent<'_>, words: u32) -> Option<u32> {
        let low = extent.low_after(self.terms);
        let block = self.high.checked_sub(words).filter(|block| *block >= low)?;
        self.high = block;
        Some(block)
    }

    /// Abandons a document that broke off. Its row is dead from birth, so its postings never count.
    fn abandon(&mut self, memory: &Memory, delta: u32) {
        let row = self.rows.next_row(memory);
        row.write(delta, 0, 0, RowKey::default());
        row.kill(0);
        self.rows.put_text(memory, None);
        self.rows.end_row(memory, 0);
        memory.note_dead(memory.table().descriptor(self.id));
    }

    /// Writes a row without a document, for a delete. The caller's batch reserved its space.
    pub fn append_dead(&mut self, memory: &Memory, sequence: u64) -> Result<(), Stop> {
        let delta = u32::try_from(sequence - self.base_sequence).map_err(|_| Stop::SegmentFull)?;
        if self.rows.reserve_rows(memory, 1) == 0 {
            let full = self.rows() >= memory.geometry().fresh_rows_max();
            return Err(if full { Stop::SegmentFull } else { Stop::HeapFull });
        }
        self.abandon(memory, delta);
        Ok(())
    }

    fn write_key(&mut self, memory: &Memory, key: Key<'_>) -> RowKey {
        match key {
            Key::Next => unreachable!("a batch is numbered before it is appended"),
            Key::Automatic(number) => {
                self.numbers.get_or_insert([number; 2])[1] = number;
                RowKey::automatic(number)
            }
            Key::Bytes { bytes, .. } if bytes.len() <= KEY_INLINE_MAX => RowKey::inline(bytes),
            Key::Bytes { bytes, .. } => {
                let count = bytes.len().div_ceil(2) as u32;
                for (unit, pair) in self.rows.units(memory, count).iter().zip(bytes.chunks(2)) {
                    let high = pair.get(1).copied().unwrap_or(0);
                    unit.store(pair[0] as u16 | (high as u16) << 8, Relaxed);
                }
                let first = self.rows.unit();
                self.rows.take_units(count);
                RowKey::stored(first, bytes.len())
            }
        }
    }
}

//! The division of an executor's memory. It is computed once, at start, from a few sizes.
//!
//! First comes the second tier, if there is one ([`layout`](crate::ground::layout)), then DRAM:
//!
//! | partition | contents | allocated by |
//! |---|---|---|
//! | control | the words that readers start from; descriptor table, arrivals | position |
//! | short-term | fresh segments: table, prefixes, records, blocks | ring, an extent a segment |
//! | long-term | rows, vectors, lengths, texts, lists, orders of terms, columns | ring, chunks |
//! | dictionary | the DRAM dictionary's table; a pool of records, arrays, long terms | buddies |
//! | keys | the key table | slot |
//!
//! (Paper §4.4. The paper keeps a flushed segment's hash table in the long-term partition. Ours is
//! not needed once the segment is registered in the dictionary. So it lies in the short-term
//! partition and is freed earlier.)

use std::path::Path;

use spirit_mem::{
    Dram, FilePart, Line, Piece, REGION_ALIGN, Region, ReserveError, Residency, Span,
};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::ground::blocks::Blocks;
use crate::ground::fields::{COLUMNS_MAX, NEWEST_WORDS};
use crate::ground::layout::{NVM_BYTES_MAX, NvmLayout, NvmSettings};
use crate::ground::line_table::LineTable;
use crate::ground::parts::Parts;
use crate::ground::posting::LOCAL_MAX;
use crate::ground::roots::ROOT_WORDS;
use crate::ground::term::hash_bytes;

/// The form of posting lists in the second tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Postings {
    /// Like in DRAM: arrays, bitmaps, document vectors.
    #[default]
    Raw,
    /// Packed, with their positions.
    Packed,
}

/// Number of lines of a block of the key filter.
pub(crate) const KEY_FILTER_BLOCK_LINES: usize = 2;
/// Number of cache lines of a descriptor.
pub(crate) const DESCRIPTOR_LINES: usize = 4;
/// Bytes of the smallest segment.
pub const SEGMENT_BYTES_MIN: u64 = 64 << 10;
/// Bytes of the largest segment: its blocks are addressed by 32-bit word.
pub const SEGMENT_BYTES_MAX: u64 = 4 << 30;
/// Number of fresh extents: one being filled, one being flushed, one that readers may still hold.
const FRESH_EXTENTS: u64 = 3;
/// log2 of the largest ratio of a segment to a fresh extent. A start that needs more DRAM doubles
/// it as often.
const EXTENT_SHIFT_MAX: u32 = 3;
/// Bytes of the largest executor heap: dictionary arrays are addressed in 32-bit units of 16 bytes.
pub const EXECUTOR_BYTES_MAX: u64 = 60 << 30;

/// The sizes that the caller decides.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Bytes of DRAM of one executor.
    pub dram_bytes: u64,
    /// Bytes of a fresh segment's table, records and blocks.
    pub segment_bytes: u64,
    /// Block sizes of fresh lists.
    pub blocks: Blocks,
    /// True if document vectors (token order) are kept.
    pub positions: bool,
    /// True if the documents' texts are kept.
    pub store: bool,
    /// The form of lists in segments that are engraved from now on.
    pub postings: Postings,
    /// The time when pages become resident.
    pub residency: Residency,
    /// The sizes of the partitions of DRAM.
    pub parts: Parts,
    /// The second tier, if there is one.
    pub nvm: Option<NvmSettings>,
}

impl Settings {
    /// Checks that segments of this size are possible, and that the second tier holds those in
    /// flight.
    fn check_tier(&self) -> Result<(), GeometryError> {
        let segment_bytes = self.segment_bytes;
        if !(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&segment_bytes) {
            return Err(GeometryError::SegmentBytes { asked: segment_bytes });
        }
        let Some(nvm @ NvmSettings { bytes: nvm_bytes, .. }) = self.nvm else {
            return Ok(());
        };
        let parts_min = NvmSettings::parts_min(segment_bytes, self.store);
        if let Some((part, asked, least)) = nvm.parts.below(parts_min) {
            return Err(GeometryError::PartTooSmall { tier: "nvm", part, asked, least });
        }
        let nvm_bytes_min = nvm.bytes_min(segment_bytes, self.store);
        if nvm_bytes > NVM_BYTES_MAX {
            return Err(GeometryError::NvmTooLarge { nvm_bytes });
        }
        if nvm_bytes < nvm_bytes_min {
            return Err(GeometryError::NvmTooSmall { nvm_bytes, nvm_bytes_min, segment_bytes });
        }
        Ok(())
    }

    fn extent_bytes(&self, extent_shift: u32) -> u64 {
        let extent_bytes = (self.segment_bytes >> extent_shift).max(SEGMENT_BYTES_MIN);
        extent_bytes / 4096 * 4096
    }

    /// Returns the least heap for fresh extents of a segment's bytes shifted by `extent_shift`. For
    /// documents of any kind, its long-term partition holds one segment that is being filled and
    /// one that is being flushed.
    fn dram_bytes_min(self, extent_shift: u32) -> Result<u64, GeometryError> {
        self.check_tier()?;
        let divided = |dram_bytes| Geometry::divide(Settings { dram_bytes, ..self }, extent_shift);
        let parts_min = divided(0).parts_min();
        if let Some((part, asked, least)) = self.parts.below(parts_min) {
            return Err(GeometryError::PartTooSmall { tier: "dram", part, asked, least });
        }
        let long_bytes_min = self.parts.or(parts_min).long;
        let holds = |dram_bytes| {
            let divided = divided(dram_bytes);
            divided.long.1 >= long_bytes_min && divided.dictionary_bytes() >= parts_min.dictionary
        };
        // A large second tier has many segments, and each has its place in the table. So the loop
        // tries some dozen sizes. With partitions asked for it begins with their sum, and the steps
        // grow with the sizes.
        let extent_bytes = self.extent_bytes(extent_shift);
        let step = |bytes: u64| match self.parts == Parts::default() {
            true => extent_bytes,
            false => (bytes / 256).next_multiple_of(extent_bytes),
        };
        let first = (extent_bytes * 16).max(self.parts.sum());
        let mut sizes = std::iter::successors(Some(first), |bytes| Some(bytes + step(*bytes)));
        Ok(sizes
            .find(|dram_bytes| holds(*dram_bytes))
            .expect("a larger size adds mostly long-term bytes"))
    }
}

/// Returns the number of table slots of a fresh extent.
fn slots_for(extent_bytes: u64) -> u64 {
    (extent_bytes / 128).next_power_of_two()
}

/// The reason why settings cannot be met.
#[derive(Debug)]
pub enum GeometryError {
    /// The segment size is out of range.
    SegmentBytes {
        /// The segment size asked for.
        asked: u64,
    },
    /// The heap does not hold the segments in flight.
    HeapTooSmall {
        /// The bytes asked for.
        dram_bytes: u64,
        /// The least bytes that work with this segment size.
        dram_bytes_min: u64,
        /// The segment size.
        segment_bytes: u64,
        /// True if the segment size may change: the index does not exist yet.
        is_new: bool,
    },
    /// A partition is smaller than segments need.
    PartTooSmall {
        /// The tier: dram or nvm.
        tier: &'static str,
        /// The partition: short, long or dictionary.
        part: &'static str,
        /// The bytes asked for, per executor.
        asked: u64,
        /// The least bytes, per executor.
        least: u64,
    },
    /// The second tier does not hold the segments in flight.
    NvmTooSmall {
        /// The bytes asked for.
        nvm_bytes: u64,
        /// The least bytes that work with this segment size.
        nvm_bytes_min: u64,
        /// The segment size.
        segment_bytes: u64,
    },
    /// The second tier is larger than an executor can address.
    NvmTooLarge {
        /// The bytes asked for, per executor.
        nvm_bytes: u64,
    },
    /// The heap is larger than an executor can address.
    HeapTooLarge {
        /// The bytes asked for, per executor.
        dram_bytes: u64,
    },
    /// The memory could not be reserved.
    Reserve(ReserveError),
}

impl From<ReserveError> for GeometryError {
    fn from(reason: ReserveError) -> GeometryError {
        GeometryError::Reserve(reason)
    }
}

/// The places of an executor's memory.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// The settings asked for.
    pub settings: Settings,
    /// The second tier: the region's first bytes.
    pub nvm: Option<NvmLayout>,
    /// Bytes of DRAM: the region's other bytes.
    pub bytes: u64,
    /// Bytes of a fresh segment's extent. They are as many as a segment may have, or fewer if the
    /// index is opened with less DRAM.
    pub extent_bytes: u64,
    /// The words that readers start from.
    pub roots: Span<AtomicU64>,
    /// Number of descriptor table slots; a power of two.
    pub segments_max: u64,
    /// A word a slot: the pointer to read (GSP).
    pub table: Span<AtomicU64>,
    /// Descriptors: four lines each, two versions a slot.
    pub descriptors: Span<Line>,
    /// The arrival of the newest document of the segment in each table slot.
    pub arrivals: Span<AtomicU64>,
    /// Start and bytes of the short-term partition.
    pub short: (u64, u64),
    /// Start and bytes of the long-term partition.
    pub long: (u64, u64),
    /// The dictionary's table.
    pub dictionary_lines: Span<Line>,
    /// The dictionary's term records, arrays and long terms.
    pub dictionary_pool: Span<Line>,
    /// The key table.
    pub key_lines: Span<Line>,
    /// The filter of keys that have left the key table. Empty without a second tier.
    pub filter_lines: Span<Line>,
    /// Number of table slots of a fresh segment; a power of two.
    pub fresh_slots: u64,
    /// log2 of the rows in a chunk.
    pub row_shift: u32,
    /// log2 of the vector units in a chunk.
    pub vector_shift: u32,
    /// Largest number of row chunks of a segment.
    pub row_chunks_max: u64,
    /// Largest number of vector chunks of a segment.
    pub vector_chunks_max: u64,
    /// Largest number of row chunks of a fresh segment.
    pub fresh_row_chunks_max: u64,
    /// Largest number of vector chunks of a fresh segment.
    pub fresh_vector_chunks_max: u64,
    /// Largest number of row chunks of a rewritten segment. It takes over the living rows of
    /// several segments.
    pub row_entries: u64,
    /// Largest number of vector chunks of a rewritten segment.
    pub vector_entries: u64,
    /// log2 of the words of text in a chunk.
    pub text_shift: u32,
    /// Largest number of chunks of text of a segment being filled: as many as hold an extent's
    /// bytes. 0 if texts are not kept.
    pub text_chunks_max: u64,
    /// Largest number of chunks of text of a rewritten segment, which takes over the living texts
    /// of several.
    pub text_entries: u64,
}

/// Bytes of a row: three words.
pub const ROW_BYTES: u64 = 24;
/// Bytes of the place of a fresh row's values: half a word.
pub(crate) const RECORD_PLACE_BYTES: u64 = 4;
/// Bytes of a fresh row's running count: a word.
pub const COUNT_BYTES: u64 = 8;
/// Bytes of the place of a row's text: a word.
pub const TEXT_PLACE_BYTES: u64 = 8;
/// Bytes of a column besides its values: its entry, and what its parts are rounded up by.
const COLUMN_BYTES: u64 = 48;
/// Bytes of a segment with the most fields, besides their values.
const FIXED_BYTES: u64 = COLUMNS_MAX * COLUMN_BYTES + NEWEST_WORDS * 8;
/// A rewritten segment has room for this many times the rows, vectors and texts of a fresh one.
const REWRITTEN: u64 = 4;
const DESCRIPTOR_BYTES: u64 = (DESCRIPTOR_LINES * size_of::<Line>()) as u64;

impl Geometry {
    /// Divides `settings.dram_bytes` for segments of the size asked for.
    ///
    /// # Errors
    ///
    /// If a size is out of its range, or a tier is too small for segments of that size.
    pub fn new(settings: Settings) -> Result<Geometry, GeometryError> {
        Self::with_extents(settings, 0, true)
    }

    /// Like [`new`](Self::new), but for an index that may exist. With a second tier and less DRAM
    /// than its segments need, fresh segments are smaller than those of the file, down to an
    /// eighth.
    ///
    /// # Errors
    ///
    /// Like those of [`new`](Self::new). The least DRAM that the error names is that for an eighth.
    pub fn fitting(settings: Settings) -> Result<Geometry, GeometryError> {
        let shifts = if settings.nvm.is_some() { EXTENT_SHIFT_MAX } else { 0 };
        let fits = |shift: &u32| {
            let least = settings.dram_bytes_min(*shift);
            least.is_ok_and(|least| least <= settings.dram_bytes)
        };
        let shift = (0..=shifts).find(fits).unwrap_or(shifts);
        Self::with_extents(settings, shift, settings.nvm.is_none())
    }

    fn with_extents(
        settings: Settings,
        extent_shift: u32,
        is_new: bool,
    ) -> Result<Geometry, GeometryError> {
        let Settings { dram_bytes, segment_bytes, .. } = settings;
        let dram_bytes_min = settings.dram_bytes_min(extent_shift)?;
        if dram_bytes < dram_bytes_min {
            return Err(GeometryError::HeapTooSmall {
                dram_bytes,
                dram_bytes_min,
                segment_bytes,
                is_new,
            });
        }
        if dram_bytes > EXECUTOR_BYTES_MAX {
            return Err(GeometryError::HeapTooLarge { dram_bytes });
        }
        Ok(Self::divide(settings, extent_shift))
    }

    /// Returns the least heap for segments of this size and this second tier.
    pub fn dram_bytes_min(settings: Settings) -> Result<u64, GeometryError> {
        settings.dram_bytes_min(0)
    }

    /// Returns the bytes that these two segments take in the long-term partition.
    ///
    /// For each byte of an extent, a segment being filled takes a byte of rows with their running
    /// counts. A row takes 32 bytes, and there is at most one for 32 bytes of the extent. It takes
    /// an eighth of a byte for the places of values, and a byte of document vectors. With texts it
    /// takes one more byte, and a quarter for their places.
    ///
    /// A flush adds a sixteenth, for lengths. It also adds the arrays made of the extent, which
    /// take at most as much again. Columns take at most 12 bytes a value. The records that they are
    /// made of take 10 a value and 4 a row. Where this is less, a row has three values or more.
    /// Then rows leave more of their byte unused than columns lack. A flush writes one contiguous
    /// block, so up to one segment at the partition's end may stay unused.
    ///
    /// Whatever the size of segments, each of the most columns takes 48 bytes more, in the block and
    /// in what may stay unused, and both segments have a line of newest rows. That is counted where
    /// there is a second tier, which documents may wait for. An index in memory may be smaller.
    ///
    /// If an extent is smaller than a segment, chunks and their directories still have a segment's
    /// sizes. They take less than a 32nd of it.
    fn long_bytes_min(&self) -> u64 {
        let texts = if self.settings.store { 10 } else { 0 };
        let (filled, flush, unused) = (17 + texts, 9, 8);
        let segment_bytes = self.settings.segment_bytes;
        let chunks = if self.extent_bytes < segment_bytes { 2 * segment_bytes / 32 } else { 0 };
        let fixed = if self.settings.nvm.is_some() { 2 * FIXED_BYTES } else { 0 };
        (2 * filled + flush + unused) * self.extent_bytes / 8 + chunks + fixed
    }

    /// Returns the least sizes of partitions.
    fn parts_min(&self) -> Parts {
        Parts {
            short: FRESH_EXTENTS * self.extent_bytes,
            long: self.long_bytes_min(),
            // The terms of a segment.
            dictionary: self.extent_bytes,
        }
    }

    /// Returns the bytes of the dictionary.
    fn dictionary_bytes(&self) -> u64 {
        self.dictionary_lines.bytes() + self.dictionary_pool.bytes()
    }

    /// Divides the memory. A fresh extent has a segment's bytes shifted by `extent_shift`.
    fn divide(settings: Settings, extent_shift: u32) -> Geometry {
        let dram = settings.dram_bytes / 4096 * 4096;
        let segment_bytes = settings.segment_bytes / 4096 * 4096;
        let settings = Settings { segment_bytes, ..settings };
        let nvm = settings.nvm.map(|nvm| NvmLayout::new(nvm, segment_bytes));
        let extent_bytes = settings.extent_bytes(extent_shift);
        let segments_max = (dram / extent_bytes * 2).next_power_of_two().clamp(64, 4096);
        // Some segments are not engraved yet, besides those in the second tier.
        let segments_max = nvm.map_or(segments_max, |nvm| segments_max.max(nvm.slots_max * 2));
        let nvm_bytes = nvm.map_or(0, |nvm| nvm.bytes);
        let mut next = nvm_bytes;
        let mut take = |bytes: u64| {
            let start = next;
            next += bytes.next_multiple_of(4096);
            start
        };
        let roots = Span::new(take(ROOT_WORDS * 8), ROOT_WORDS);
        let table = Span::new(take(segments_max * 8), segments_max);
        let descriptors = segments_max * 2 * DESCRIPTOR_BYTES;
        let descriptors = Span::new(take(descriptors), descriptors / 64);
        let arrivals = Span::new(take(segments_max * 8), segments_max);
        let parts = settings.parts;
        let extents = (parts.short / extent_bytes).max(FRESH_EXTENTS);
        let short = (take(extents * extent_bytes), extents * extent_bytes);
        let key_lines = LineTable::lines_in(dram / 16);
        let filter_lines = if nvm.is_some() { key_filter_lines(dram / 32) } else { 0 };
        let dictionary = match (parts.dictionary, parts.long) {
            (0, 0) => dram / 4,
            (0, long) => {
                // Each part begins at a page.
                let others = long + (key_lines + filter_lines) * 64 + 4 * 4096;
                (nvm_bytes + dram).saturating_sub(short.0 + short.1 + others)
            }
            (dictionary, _) => dictionary,
        };
        let lines = LineTable::lines_in(dictionary / 12);
        let dictionary_lines = Span::new(take(lines * 64), lines);
        let pool = (dictionary / 64).saturating_sub(lines);
        let dictionary_pool = Span::new(take(pool * 64), pool);
        let key_lines = Span::new(take(key_lines * 64), key_lines);
        let filter_lines = Span::new(take(filter_lines * 64), filter_lines);
        let start = take(0);
        let rest = (nvm_bytes + dram).saturating_sub(start);
        let long = (
            start,
            if parts.long == 0 { rest } else { rest.min(parts.long.next_multiple_of(4096)) },
        );
        let row_shift = (segment_bytes >> 13).clamp(64, 4096).ilog2();
        let vector_shift = (segment_bytes >> 8).clamp(2048, 128 << 10).ilog2();
        let text_chunk = (extent_bytes >> 6).clamp(4096, 1 << 20).next_power_of_two();
        let text_chunks_max = if settings.store { extent_bytes.div_ceil(text_chunk) } else { 0 };
        let row_chunks = |bytes: u64| (bytes / 32).min(LOCAL_MAX as u64) >> row_shift;
        let vector_chunks = |bytes: u64| (bytes / 2) >> vector_shift;
        let (row_chunks_max, vector_chunks_max) =
            (row_chunks(segment_bytes), vector_chunks(segment_bytes));
        // With a second tier no segment is rewritten, and the file's directories keep their size.
        let rewritten = if nvm.is_some() { 1 } else { REWRITTEN };
        Geometry {
            settings,
            nvm,
            bytes: dram,
            extent_bytes,
            roots,
            segments_max,
            table,
            descriptors,
            arrivals,
            short,
            long,
            dictionary_lines,
            dictionary_pool,
            key_lines,
            filter_lines,
            fresh_slots: slots_for(extent_bytes),
            row_shift,
            vector_shift,
            row_chunks_max,
            vector_chunks_max,
            fresh_row_chunks_max: row_chunks(extent_bytes),
            fresh_vector_chunks_max: vector_chunks(extent_bytes),
            row_entries: row_chunks_max * rewritten,
            vector_entries: vector_chunks_max * rewritten,
            text_shift: (text_chunk / 8).ilog2(),
            text_chunks_max,
            text_entries: text_chunks_max * REWRITTEN,
        }
    }

    /// Returns the bytes of a chunk of rows. It has their running counts, the places of their
    /// values and, if texts are kept, the places of their texts.
    pub fn row_chunk_bytes(&self) -> u64 {
        self.record_places(0) + (RECORD_PLACE_BYTES << self.row_shift)
    }

    /// Returns the offset of the places of values in a chunk of rows that begins at `chunk`.
    pub(crate) fn record_places(&self, chunk: u64) -> u64 {
        let place = if self.settings.store { TEXT_PLACE_BYTES } else { 0 };
        chunk + ((ROW_BYTES + COUNT_BYTES + place) << self.row_shift)
    }

    /// Returns the words of a directory of texts: the beginning of the places for each chunk of
    /// rows, then the chunks of text.
    pub fn text_directory_words(&self) -> u64 {
        if self.settings.store { self.row_entries + self.text_entries } else { 0 }
    }

    /// Returns the largest number of rows of a rewritten segment: no segment has more.
    pub fn rewritten_rows_max(&self) -> u32 {
        (self.row_entries << self.row_shift).min(LOCAL_MAX as u64) as u32
    }

    /// Returns the largest number of rows of a segment.
    pub fn rows_max(&self) -> u32 {
        (self.row_chunks_max << self.row_shift) as u32
    }

    /// Returns the largest number of rows of a fresh segment.
    pub fn fresh_rows_max(&self) -> u32 {
        (self.fresh_row_chunks_max << self.row_shift) as u32
    }

    /// Returns an upper bound of the terms of a segment.
    pub fn terms_max(&self) -> u64 {
        slots_for(self.settings.segment_bytes)
    }

    /// Returns the pieces of DRAM that lie in these directories: the short-term and the long-term
    /// partition, and the dictionary with the keys.
    pub fn pieces(&self, directories: [Option<&Path>; 3]) -> Vec<Piece> {
        let dictionary = self.dictionary_lines.start();
        let dictionary = (dictionary, self.long.0 - dictionary);
        let long = (self.long.0, self.long.1 / 4096 * 4096);
        let placed = [self.short, long, dictionary].into_iter().zip(directories);
        let piece = |((at, bytes), directory): ((u64, u64), Option<&Path>)| {
            let bytes = bytes.next_multiple_of(4096);
            Some(Piece { at, bytes, directory: directory?.into() })
        };
        placed.filter_map(piece).collect()
    }

    /// Reserves the region. `nvm` is the second tier's part of the file.
    pub fn reserve(
        &self,
        nvm: Option<FilePart<'_>>,
        dram: Dram<'_>,
    ) -> Result<Region, GeometryError> {
        let bytes = self.bytes + self.nvm.map_or(0, |nvm| nvm.bytes);
        let region = Region::reserve_tiers(nvm, dram, bytes, self.settings.residency)
            .map_err(GeometryError::Reserve)?;
        // A start writes a few lines of these tables. With huge pages it would wait until one is
        // cleared.
        let tables = self.roots.start();
        region.use_small_pages(tables, self.arrivals.end().next_multiple_of(4096) - tables);
        Ok(region)
    }

    /// Returns the offset of executor `number`'s DRAM in memory that processes share. Its distance
    /// from a huge page is that in the region, so that huge pages can be mapped.
    pub fn shared_start(&self, number: u64) -> u64 {
        let offset = self.nvm.map_or(0, |nvm| nvm.bytes) % REGION_ALIGN;
        number * (self.bytes.next_multiple_of(REGION_ALIGN) + REGION_ALIGN) + offset
    }

    /// Returns a hash that differs if another version or other settings make a geometry of these
    /// sizes.
    pub fn fingerprint(&self) -> u64 {
        // The time when pages come and the form of engraved lists do not affect the layout.
        let (residency, postings) = (Residency::OnTouch, Postings::Raw);
        let settings = Settings { residency, postings, ..self.settings };
        hash_bytes(format!("{:?}", Geometry { settings, ..*self }).as_bytes())
    }

    /// Returns the parts of the fresh extent at `start`.
    #[inline]
    pub fn fresh(&self, start: u64) -> FreshSpans {
        let bytes = self.extent_bytes;
        let table = Span::new(start, self.fresh_slots);
        let prefixes = Span::new(table.end(), self.fresh_terms_max());
        let records = prefixes.end().next_multiple_of(64);
        let end = start + bytes;
        let records = Span::new(records, (end - records) / 64);
        FreshSpans { table, prefixes, records, area: Span::new(start, bytes / 4) }
    }

    /// Returns the largest number of terms of a fresh segment: with more its table would be too
    /// full.
    pub(crate) fn fresh_terms_max(&self) -> u64 {
        self.fresh_slots * 7 / 10
    }
}

/// The parts of a fresh segment's extent. Records grow up from the prefixes. Blocks and long terms'
/// bytes grow down from the end. All are addressed within `area`.
#[derive(Clone, Copy, Debug)]
pub struct FreshSpans {
    /// Tag and ordinal of each term, open addressing.
    pub table: Span<AtomicU32>,
    /// Field and first bytes of each term, in the order of the records.
    pub prefixes: Span<AtomicU64>,
    /// Term records in order of first occurrence: the term log.
    pub records: Span<Line>,
    /// The whole extent as words.
    pub area: Span<AtomicU32>,
}

/// Returns the lines of a key filter of at most `bytes` bytes, in whole blocks; at least one block.
fn key_filter_lines(bytes: u64) -> u64 {
    let block_bytes = (KEY_FILTER_BLOCK_LINES * size_of::<Line>()) as u64;
    (bytes / block_bytes).max(1) * KEY_FILTER_BLOCK_LINES as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ground::values::record_words;

    /// Settings without a heap yet, and without a second tier.
    pub(crate) fn settings(segment_bytes: u64, store: bool) -> Settings {
        Settings {
            dram_bytes: 0,
            segment_bytes,
            blocks: Blocks::Variable { doublings: 1 },
            positions: true,
            store,
            postings: Postings::Raw,
            residency: Residency::OnTouch,
            parts: Parts::default(),
            nvm: None,
        }
    }

    pub(crate) fn tier(bytes: u64) -> NvmSettings {
        NvmSettings { bytes, log_bytes: 64 << 10, parts: Parts::default() }
    }

    /// Rows with values, the places of these, their columns and arrays of lengths take no more than
    /// the share counted for the largest number of rows and for the flush of an extent full of
    /// records. A field of text has two values.
    #[test]
    fn columns_fit_where_their_values_were() {
        for values in 1..=4096 {
            let extent_bytes = u64::from(record_words(values) * 4).max(32);
            let row_bytes = ROW_BYTES + COUNT_BYTES + RECORD_PLACE_BYTES;
            let column_bytes = 12 * values as u64;
            let array_bytes = 4 * (values as u64 / 2);
            let bytes = row_bytes + column_bytes + array_bytes;
            assert!(bytes * 8 <= extent_bytes * (9 + 8), "{values}");
        }
    }

    /// For any second tier, the least heap that is asked for holds two segments, and less is
    /// refused.
    #[test]
    fn the_least_heap_holds_two_segments() {
        for nvm_bytes in [0, 8 << 20, 64 << 20, 128 << 20, 2 << 30, 64 << 30] {
            for (segment_bytes, store) in [(64 << 10, false), (64 << 10, true), (1 << 20, true)] {
                let nvm = tier(nvm_bytes);
                let nvm = (nvm_bytes > 0).then_some(nvm);
                let settings = Settings { nvm, ..settings(segment_bytes, store) };
                let least = Geometry::dram_bytes_min(settings).unwrap();
                assert!((16..130).contains(&(least / segment_bytes)), "{least} for {settings:?}");
                let of = |dram_bytes| Geometry::new(Settings { dram_bytes, ..settings });
                let eighths = if store { 71 } else { 51 };
                let fixed = if nvm_bytes > 0 { 2 * FIXED_BYTES } else { 0 };
                let held = eighths * segment_bytes / 8 + fixed;
                assert!(of(least).unwrap().long.1 >= held, "{settings:?}");
                assert!(matches!(of(least - 4096), Err(GeometryError::HeapTooSmall { .. })));
            }
        }
    }

    /// An existing index fits an eighth of the DRAM that its segments need, with the largest fresh
    /// extents that fit.
    #[test]
    fn less_dram_has_smaller_extents() {
        for (segment_bytes, store) in [(1 << 20, false), (8 << 20, true), (128 << 20, false)] {
            let settings = Settings { nvm: Some(tier(2 << 30)), ..settings(segment_bytes, store) };
            let whole = Geometry::dram_bytes_min(settings).unwrap();
            let of = |dram_bytes| Geometry::fitting(Settings { dram_bytes, ..settings });
            assert_eq!(of(whole).unwrap().extent_bytes, segment_bytes);
            let Err(GeometryError::HeapTooSmall { dram_bytes_min: least, .. }) = of(4096) else {
                panic!("4 KiB were enough")
            };
            assert!(matches!(of(least - 4096), Err(GeometryError::HeapTooSmall { .. })));
            let mut before = 0;
            for dram_bytes in (least..=whole).step_by(64 << 10) {
                let geometry = of(dram_bytes).unwrap();
                let extent_bytes = geometry.extent_bytes;
                assert!(geometry.long.1 >= geometry.long_bytes_min(), "{dram_bytes} {settings:?}");
                assert!((before.max(segment_bytes / 8)..=segment_bytes).contains(&extent_bytes));
                assert!(geometry.fresh_rows_max() as u64 * 32 <= extent_bytes);
                assert_eq!(geometry.rows_max(), of(whole).unwrap().rows_max());
                before = extent_bytes;
            }
        }
    }
}

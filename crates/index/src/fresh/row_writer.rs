//! The part of a fresh segment's writer that writes to the long-term partition: rows, their
//! [running counts](crate::rows::lengths), document vectors and [texts](TextWriter). It takes
//! chunks from the ring as they are needed (paper §4.4).
//!
//! It keeps the places of the next row and the next unit as offsets, so that a document needs no
//! walk through a directory.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU16, AtomicU64};

use spirit_mem::Span;

use crate::fresh::batch::Stop;
use crate::fresh::field_lengths;
use crate::fresh::length_arrays::LengthArrays;
use crate::fresh::text_writer::TextWriter;
use crate::ground::fields::NEWEST_WORDS;
use crate::ground::geometry::{COUNT_BYTES, Geometry, ROW_BYTES};
use crate::ground::ids::{Partition, SegmentId};
use crate::memory::Memory;
use crate::memory::descriptor::Descriptor;
use crate::rows::lengths::{RunningCounts, Statistics, counts_at};
use crate::rows::record_places::RecordPlaces;
use crate::rows::{ROW_WORDS, RowWords};

const UNIT_BYTES: u64 = 2;

/// The writer of a segment's rows and vectors.
#[derive(Debug)]
pub(crate) struct RowWriter {
    id: SegmentId,
    rows: u32,
    /// Offsets of the next row and of its running count. Undefined while no chunk backs them.
    row_place: u64,
    count_place: u64,
    /// Statistics of the rows.
    counted: Statistics,
    row_directory: Span<AtomicU64>,
    row_chunks: u32,
    /// The next unit, and the end of the backed units, which are contiguous.
    unit: u32,
    unit_end: u32,
    /// Offset of the next unit.
    unit_place: u64,
    vector_directory: Span<AtomicU64>,
    /// Offset of the directory of the values' places.
    records: u64,
    /// The writer of texts, if they are kept.
    texts: Option<TextWriter>,
}

impl RowWriter {
    /// Opens a segment without rows, or returns `None` while the partition has no room for its
    /// directories.
    pub(crate) fn open(memory: &Memory, id: SegmentId) -> Option<RowWriter> {
        let geometry = memory.geometry();
        let chunks = geometry.row_entries * 2 + geometry.vector_entries + NEWEST_WORDS;
        let words = chunks + geometry.text_directory_words() + geometry.row_entries;
        let start = memory.allocate(Partition::Long, words * 8, id)?;
        let row_directory = Span::new(start, geometry.row_entries);
        let vector_directory = Span::new(row_directory.end(), geometry.vector_entries);
        let records = vector_directory.end();
        RecordPlaces::new(memory.region(), geometry, records).clear();
        field_lengths::clear(memory.region(), geometry, records);
        LengthArrays::new(memory.region(), geometry, records).clear();
        Some(RowWriter {
            id,
            rows: 0,
            row_place: 0,
            count_place: 0,
            counted: Statistics::default(),
            row_directory,
            row_chunks: 0,
            unit: 0,
            unit_end: 0,
            unit_place: 0,
            vector_directory,
            records,
            texts: geometry.settings.store.then(|| TextWriter::new(id, start + chunks * 8)),
        })
    }

    /// Writes the places of rows and vectors to the segment's descriptor.
    pub(crate) fn describe(&self, descriptor: Descriptor<'_>) {
        descriptor.set_row_directory(self.row_directory.start());
        descriptor.set_counts(self.row_directory.start());
        descriptor.set_vector_directory(self.vector_directory.start());
        descriptor.set_records(self.records);
        descriptor.set_texts(self.texts.as_ref().map_or(0, TextWriter::directory));
    }

    /// Returns the offset of the directory of the values' places.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of rows written.
    #[inline(always)]
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Backs rows for `wanted` more documents. Returns the number of documents that there is room
    /// for.
    pub(crate) fn reserve_rows(&mut self, memory: &Memory, wanted: usize) -> usize {
        let geometry = memory.geometry();
        let directory = memory.region().view(self.row_directory);
        loop {
            let backed = (self.row_chunks as usize) << geometry.row_shift;
            let room = backed - self.rows as usize;
            if room >= wanted || self.row_chunks as u64 == geometry.fresh_row_chunks_max {
                return room.min(wanted);
            }
            let bytes = geometry.row_chunk_bytes();
            let Some(chunk) = memory.allocate(Partition::Long, bytes, self.id) else { return room };
            directory[self.row_chunks as usize].store(chunk, Release);
            if let Some(texts) = &self.texts {
                texts.enter_row_chunk(memory, self.row_chunks, chunk);
            }
            self.row_chunks += 1;
            if room == 0 {
                self.begin_chunk(geometry, chunk);
            }
        }
    }

    /// Returns the next row, which must be backed.
    #[inline(always)]
    pub(crate) fn next_row<'a>(&self, memory: &'a Memory) -> RowWords<'a> {
        RowWords::at(memory.region().view(Span::new(self.row_place, ROW_WORDS)))
    }

    /// Returns the statistics of the rows.
    pub(crate) fn counted(&self) -> Statistics {
        self.counted
    }

    /// Ends the row that was written, with `length` kept tokens, and moves to the next.
    #[inline(always)]
    pub(crate) fn end_row(&mut self, memory: &Memory, length: u32) {
        self.counted += Statistics::of(length);
        let count: Span<AtomicU64> = Span::new(self.count_place, 1);
        memory.region().view(count)[0].store(self.counted.word(), Relaxed);
        self.rows += 1;
        self.row_place += ROW_BYTES;
        self.count_place += COUNT_BYTES;
        let shift = memory.geometry().row_shift;
        if self.rows & ((1 << shift) - 1) == 0 {
            self.enter_row_chunk(memory, self.rows >> shift);
        }
    }

    #[cold]
    fn enter_row_chunk(&mut self, memory: &Memory, chunk: u32) {
        if chunk < self.row_chunks {
            let directory = memory.region().view(self.row_directory);
            self.begin_chunk(memory.geometry(), directory[chunk as usize].load(Relaxed));
        }
    }

    fn begin_chunk(&mut self, geometry: &Geometry, chunk: u64) {
        self.row_place = chunk;
        self.count_place = counts_at(geometry, chunk);
    }

    /// Discounts the newest `rows` rows, which never come to life. No reader has seen them, nor
    /// their counts.
    pub(crate) fn discount(&mut self, memory: &Memory, rows: u32) {
        let directory = self.row_directory.start();
        let counts = RunningCounts::new(memory.region(), memory.geometry(), directory);
        let first = self.rows - rows;
        self.counted = counts.of_first(first);
        for local in first..self.rows {
            counts.word(local).store(self.counted.word(), Relaxed);
        }
    }

    /// Backs a text of `bytes` bytes, if texts are kept.
    #[inline(always)]
    pub(crate) fn reserve_text(&mut self, memory: &Memory, bytes: usize) -> Result<(), Stop> {
        self.texts.as_mut().map_or(Ok(()), |texts| texts.reserve(memory, bytes))
    }

    /// Writes the next row's text, or marks that it has none, if texts are kept.
    #[inline(always)]
    pub(crate) fn put_text(&mut self, memory: &Memory, text: Option<&[u8]>) {
        if let Some(texts) = &mut self.texts {
            match text {
                Some(text) => texts.put(memory, self.rows, text),
                None => texts.put_none(memory, self.rows),
            }
        }
    }

    /// Notes that the next row's values are in the record at word `first` of the segment's area.
    pub(crate) fn put_record(&self, memory: &Memory, first: u32) {
        let geometry = memory.geometry();
        let places = RecordPlaces::new(memory.region(), geometry, self.records);
        let inside = self.rows as u64 & ((1 << geometry.row_shift) - 1);
        places.put(self.rows, self.row_place - inside * ROW_BYTES, first);
    }

    /// Returns the bytes of the texts written.
    pub(crate) fn text_bytes(&self) -> u64 {
        self.texts.as_ref().map_or(0, TextWriter::bytes)
    }

    /// Backs `units` contiguous units.
    #[inline(always)]
    pub(crate) fn reserve_units(&mut self, memory: &Memory, units: u32) -> Result<(), Stop> {
        if self.unit_end - self.unit >= units {
            return Ok(());
        }
        self.enter_unit_chunk(memory, units)
    }

    #[cold]
    fn enter_unit_chunk(&mut self, memory: &Memory, units: u32) -> Result<(), Stop> {
        let geometry = memory.geometry();
        let shift = geometry.vector_shift;
        let chunks = units.div_ceil(1 << shift).max(1);
        let first = self.unit_end >> shift;
        if first as u64 + chunks as u64 > geometry.fresh_vector_chunks_max {
            return Err(Stop::SegmentFull);
        }
        let bytes = (chunks as u64 * UNIT_BYTES) << shift;
        let start = memory.allocate(Partition::Long, bytes, self.id).ok_or(Stop::HeapFull)?;
        let directory = memory.region().view(self.vector_directory);
        for i in 0..chunks {
            let place = start + ((i as u64 * UNIT_BYTES) << shift);
            directory[(first + i) as usize].store(place, Release);
        }
        self.unit = first << shift;
        self.unit_end = (first + chunks) << shift;
        self.unit_place = start;
        Ok(())
    }

    /// Returns the number of the next unit.
    #[inline(always)]
    pub(crate) fn unit(&self) -> u32 {
        self.unit
    }

    /// Returns the next `len` units, which must be backed.
    #[inline(always)]
    pub(crate) fn units<'a>(&self, memory: &'a Memory, len: u32) -> &'a [AtomicU16] {
        memory.region().view(Span::new(self.unit_place, len as u64))
    }

    /// Moves behind units that were written.
    #[inline(always)]
    pub(crate) fn take_units(&mut self, units: u32) {
        self.unit += units;
        self.unit_place += units as u64 * UNIT_BYTES;
    }
}

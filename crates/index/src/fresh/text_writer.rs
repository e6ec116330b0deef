//! The writer of a fresh segment's [texts](crate::rows::texts), if the index keeps them. It takes
//! chunks from the long-term ring as they are needed. No place leads to a text whose row is never
//! written.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use spirit_mem::Span;

use crate::fresh::batch::Stop;
use crate::ground::geometry::{COUNT_BYTES, ROW_BYTES};
use crate::ground::ids::{Partition, SegmentId};
use crate::memory::Memory;
use crate::rows::texts::{TextPlace, Texts};

const WORD: usize = size_of::<u64>();

/// The writer of a segment's texts.
#[derive(Debug)]
pub(crate) struct TextWriter {
    id: SegmentId,
    /// Offset of the directory.
    directory: u64,
    /// The next word, and the end of the backed words, which are contiguous.
    word: u32,
    word_end: u32,
    /// Offset of the next word.
    place: u64,
    bytes: u64,
}

impl TextWriter {
    /// Makes the writer of a segment without rows, whose directory is at `directory`.
    pub(crate) fn new(id: SegmentId, directory: u64) -> TextWriter {
        TextWriter { id, directory, word: 0, word_end: 0, place: 0, bytes: 0 }
    }

    /// Returns the directory's offset.
    pub(crate) fn directory(&self) -> u64 {
        self.directory
    }

    /// Returns the bytes of the texts written.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Enters a chunk of rows that begins at `start`. The places of their texts are behind the rows
    /// and their running counts.
    pub(crate) fn enter_row_chunk(&self, memory: &Memory, chunk: u32, start: u64) {
        let places = start + ((ROW_BYTES + COUNT_BYTES) << memory.geometry().row_shift);
        self.entry(memory, chunk as u64).store(places, Release);
    }

    fn entry<'a>(&self, memory: &'a Memory, index: u64) -> &'a AtomicU64 {
        &memory.region().view(Span::new(self.directory + index * WORD as u64, 1))[0]
    }

    /// Backs a text of `bytes` bytes.
    #[inline]
    pub(crate) fn reserve(&mut self, memory: &Memory, bytes: usize) -> Result<(), Stop> {
        let words = bytes.div_ceil(WORD);
        if (self.word_end - self.word) as usize >= words {
            return Ok(());
        }
        self.enter_chunk(memory, words as u64)
    }

    #[cold]
    fn enter_chunk(&mut self, memory: &Memory, words: u64) -> Result<(), Stop> {
        let geometry = memory.geometry();
        let shift = geometry.text_shift;
        let chunks = words.div_ceil(1 << shift);
        let first = (self.word_end >> shift) as u64;
        if first + chunks > geometry.text_chunks_max {
            return Err(Stop::SegmentFull);
        }
        let chunk_bytes = (WORD as u64) << shift;
        let start = memory.allocate(Partition::Long, chunks * chunk_bytes, self.id);
        let start = start.ok_or(Stop::HeapFull)?;
        for i in 0..chunks {
            let entry = self.entry(memory, geometry.row_entries + first + i);
            entry.store(start + i * chunk_bytes, Release);
        }
        self.word = (first << shift) as u32;
        self.word_end = ((first + chunks) << shift) as u32;
        self.place = start;
        Ok(())
    }

    /// Writes the text of row `local`. Row and text are backed.
    pub(crate) fn put(&mut self, memory: &Memory, local: u32, text: &[u8]) {
        let place = TextPlace { first: self.word, bytes: text.len() as u32 };
        let (whole, rest) = text.split_at(text.len() / WORD * WORD);
        memory.region().write_bytes(self.place, whole);
        if !rest.is_empty() {
            let mut last = [0; WORD];
            last[..rest.len()].copy_from_slice(rest);
            memory.region().write_bytes(self.place + whole.len() as u64, &last);
        }
        self.word += place.words() as u32;
        self.place += place.words() * WORD as u64;
        self.bytes += text.len() as u64;
        self.put_place(memory, local, place);
    }

    /// Marks that row `local`, which is backed, has no text.
    pub(crate) fn put_none(&self, memory: &Memory, local: u32) {
        self.put_place(memory, local, TextPlace::default());
    }

    fn put_place(&self, memory: &Memory, local: u32, place: TextPlace) {
        let texts = Texts::new(memory.region(), memory.geometry(), self.directory);
        let at = texts.place_at(local);
        memory.region().view(Span::<AtomicU64>::new(at, 1))[0].store(place.word(), Relaxed);
    }
}

//! The copy of the living [texts](crate::rows::texts) of a [rewrite](crate::rewrite). The texts lie
//! one behind the other in one piece. A directory leads to them, like in other segments.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use spirit_mem::Span;

use crate::ground::geometry::{Geometry, TEXT_PLACE_BYTES};
use crate::memory::Memory;
use crate::rows::texts::{TextPlace, Texts};

const WORD: u64 = size_of::<AtomicU64>() as u64;

/// The writer of a rewritten segment's texts.
#[derive(Default)]
pub(crate) struct TextCopy {
    /// Offset of the directory; 0 if texts are not kept.
    directory: u64,
    places: Span<AtomicU64>,
    /// Offset of the next text.
    next: u64,
    words: u64,
    bytes: u64,
}

impl TextCopy {
    /// True if a segment can hold this many words of texts.
    pub(crate) fn fits(geometry: &Geometry, words: u64) -> bool {
        words <= geometry.text_entries << geometry.text_shift
    }

    /// Returns the bytes of directory, places and texts.
    pub(crate) fn sizes(geometry: &Geometry, rows: u32, words: u64) -> [u64; 3] {
        let places = if geometry.settings.store { rows as u64 * TEXT_PLACE_BYTES } else { 0 };
        [geometry.text_directory_words() * WORD, places, words * WORD]
    }

    /// Makes a writer without texts, in blocks of those sizes. `starts` has the blocks' offsets.
    pub(crate) fn new(memory: &Memory, rows: u32, starts: [u64; 3]) -> TextCopy {
        let geometry = memory.geometry();
        if !geometry.settings.store {
            return TextCopy::default();
        }
        let [directory, places, texts] = starts;
        let words = memory.region().view(Span::new(directory, geometry.text_directory_words()));
        let (of_rows, of_texts) = words.split_at(geometry.row_entries as usize);
        lead(of_rows, places, TEXT_PLACE_BYTES << geometry.row_shift);
        lead(of_texts, texts, WORD << geometry.text_shift);
        let places = Span::new(places, rows as u64);
        TextCopy { directory, places, next: texts, words: 0, bytes: 0 }
    }

    /// Returns the directory's offset, or 0 if texts are not kept.
    pub(crate) fn directory(&self) -> u64 {
        self.directory
    }

    /// Returns the bytes of the texts copied.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies the text of row `old` of `texts` as that of row `new`.
    pub(crate) fn add(&mut self, memory: &Memory, texts: Texts<'_>, old: u32, new: u32) {
        let from = texts.place(old);
        if from.bytes > 0 {
            memory.region().copy_words(self.next, texts.start(from), from.words());
        }
        let place = TextPlace { first: self.words as u32, ..from };
        memory.region().view(self.places)[new as usize].store(place.word(), Relaxed);
        self.next += from.words() * WORD;
        self.words += from.words();
        self.bytes += from.bytes as u64;
    }
}

/// Makes a directory lead to consecutive chunks of `chunk_bytes` bytes each, from `start` on.
pub(crate) fn lead(entries: &[AtomicU64], start: u64, chunk_bytes: u64) {
    for (index, entry) in (0..).zip(entries) {
        entry.store(start + index * chunk_bytes, Release);
    }
}

//! The living [texts](crate::rows::texts) of the segments that a [rewrite](crate::rewrite) takes together: one behind the other, in one
//! piece, behind a directory like any other.

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
    /// Where the next text goes.
    next: u64,
    words: u64,
    bytes: u64,
}

impl TextCopy {
    /// Whether a segment may have this many words of texts.
    pub(crate) fn fits(geometry: &Geometry, words: u64) -> bool {
        words <= geometry.text_entries << geometry.text_shift
    }

    /// Bytes of directory, places and texts.
    pub(crate) fn sizes(geometry: &Geometry, rows: u32, words: u64) -> [u64; 3] {
        let places = if geometry.settings.store { rows as u64 * TEXT_PLACE_BYTES } else { 0 };
        [geometry.text_directory_words() * WORD, places, words * WORD]
    }

    /// Without texts so far, in blocks of those sizes.
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

    /// Offset of the directory; 0 if texts are not kept.
    pub(crate) fn directory(&self) -> u64 {
        self.directory
    }

    /// Bytes of the texts copied.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies the text of the row `old` of `texts`, which becomes the row `new`.
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

/// Makes a directory lead to chunks of `chunk_bytes` bytes that lie one behind the other from `start` on.
pub(crate) fn lead(entries: &[AtomicU64], start: u64, chunk_bytes: u64) {
    for (index, entry) in (0..).zip(entries) {
        entry.store(start + index * chunk_bytes, Release);
    }
}

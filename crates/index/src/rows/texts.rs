//! The texts of a segment in DRAM: the bytes of its documents as they were given, if the index
//! keeps them.
//!
//! They lie in chunks in the long-term ring, like rows and vectors. A document's text is contiguous
//! and begins with a word. Behind the rows of a chunk and their [running
//! counts](crate::rows::lengths) there is a word for each row. It has the place of the row's text:
//! first word (low half), bytes (high half). One *directory* leads to all of it. It has the
//! beginning of these words for each chunk of rows, then the chunks of text.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use spirit_mem::{Region, Span};

use crate::ground::geometry::Geometry;

const WORD: u64 = size_of::<u64>() as u64;

/// The place of a row's text, in the texts of its segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextPlace {
    /// First word.
    pub(crate) first: u32,
    /// Number of bytes.
    pub(crate) bytes: u32,
}

impl TextPlace {
    pub(crate) fn from_word(word: u64) -> TextPlace {
        TextPlace { first: word as u32, bytes: (word >> 32) as u32 }
    }

    pub(crate) fn word(self) -> u64 {
        self.first as u64 | (self.bytes as u64) << 32
    }

    /// Returns the number of words that it takes.
    pub(crate) fn words(self) -> u64 {
        (self.bytes as u64).div_ceil(WORD)
    }
}

/// The texts of one segment in DRAM.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    region: &'a Region,
    /// Offsets of the places, by chunk of rows.
    places: &'a [AtomicU64],
    chunks: &'a [AtomicU64],
    row_shift: u32,
    shift: u32,
}

impl<'a> Texts<'a> {
    /// Makes the texts behind the directory at `directory`.
    pub(crate) fn new(region: &'a Region, geometry: &Geometry, directory: u64) -> Texts<'a> {
        let words = region.view(Span::new(directory, geometry.text_directory_words()));
        let (places, chunks) = words.split_at(geometry.row_entries as usize);
        let (row_shift, shift) = (geometry.row_shift, geometry.text_shift);
        Texts { region, places, chunks, row_shift, shift }
    }

    /// Returns the offset of the word with the place of a row's text. The segment has the row.
    pub(crate) fn place_at(&self, local: u32) -> u64 {
        let chunk = self.places[(local >> self.row_shift) as usize].load(Acquire);
        chunk + (local & ((1 << self.row_shift) - 1)) as u64 * WORD
    }

    /// Returns the place of a row's text.
    pub(crate) fn place(&self, local: u32) -> TextPlace {
        let word = &self.region.view(Span::<AtomicU64>::new(self.place_at(local), 1))[0];
        TextPlace::from_word(word.load(Relaxed))
    }

    /// Returns the offset of a text.
    pub(crate) fn start(&self, place: TextPlace) -> u64 {
        let chunk = self.chunks[(place.first >> self.shift) as usize].load(Acquire);
        chunk + (place.first & ((1 << self.shift) - 1)) as u64 * WORD
    }

    /// Appends `bytes` bytes of a text from `from` on, which is a multiple of 8.
    pub(crate) fn write(&self, place: TextPlace, from: u32, bytes: u32, out: &mut Vec<u8>) {
        if bytes > 0 {
            let end = out.len() + bytes as usize;
            let at = self.start(place) + from as u64;
            self.region.read_words(at, (bytes as u64).next_multiple_of(WORD), out);
            out.truncate(end);
        }
    }
}

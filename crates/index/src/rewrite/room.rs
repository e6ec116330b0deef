//! The room of a copy: the size and the place of each part.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use spirit_mem::Span;

use crate::column::writer::Layout;
use crate::ground::geometry::{Geometry, ROW_BYTES};
use crate::ground::ids::SegmentId;
use crate::memory::Memory;
use crate::rewrite::text_copy::{TextCopy, lead};
use crate::rows::lengths::LENGTH_BYTES;
use crate::terms::term_order::order_bytes;

pub(super) const ROW_WORDS: usize = (ROW_BYTES / 8) as usize;
/// Number of parts, in the order of [`Content::sizes`].
const PARTS: usize = 13;

/// The sizes of a copy's contents.
pub(super) struct Content {
    pub(super) rows: u32,
    pub(super) terms: u64,
    /// Units of vectors and stored keys.
    pub(super) units: u64,
    pub(super) text_words: u64,
    pub(super) posting_words: u64,
    pub(super) columns: Layout,
}

/// The places of a copy's parts.
#[derive(Default)]
pub(super) struct Room {
    pub(super) row_directory: u64,
    pub(super) vector_directory: u64,
    pub(super) row_words: Span<AtomicU64>,
    pub(super) row_map: Span<AtomicU32>,
    pub(super) vectors: Span<AtomicU16>,
    pub(super) lengths: Span<AtomicU16>,
    pub(super) term_map: Span<AtomicU32>,
    /// Offset of the order of the segment's terms.
    pub(super) order: u64,
    pub(super) postings: Span<AtomicU32>,
    /// The columns' layout and offset, if there are columns.
    pub(super) columns: Option<(Layout, u64)>,
    pub(super) texts: TextCopy,
}

impl Content {
    /// Returns the bytes of each part, or `None` if they exceed a segment's limits.
    fn sizes(&self, geometry: &Geometry) -> Option<[u64; PARTS]> {
        let rows = u64::from(self.rows);
        let fits = rows.div_ceil(1 << geometry.row_shift) <= geometry.row_entries
            && self.units.div_ceil(1 << geometry.vector_shift) <= geometry.vector_entries
            && TextCopy::fits(geometry, self.text_words);
        fits.then(|| {
            let [text_directory, text_places, texts] =
                TextCopy::sizes(geometry, self.rows, self.text_words);
            [
                // Readers view a directory at its full size, even if only a part of it is used.
                geometry.row_entries * 8,
                geometry.vector_entries * 8,
                rows * ROW_BYTES,
                rows * 4,
                self.units * 2,
                rows * LENGTH_BYTES,
                self.terms * 4,
                order_bytes(self.terms),
                self.posting_words * 4,
                self.columns.bytes(),
                text_directory,
                text_places,
                texts,
            ]
        })
    }
}

impl Room {
    /// Allocates room for all parts in one piece of the reserve for rewrites. Returns `None` if it
    /// is too small.
    pub(super) fn allocate(memory: &Memory, id: SegmentId, content: Content) -> Option<Room> {
        let sizes = content.sizes(memory.geometry())?.map(|size| size.next_multiple_of(64));
        let mut next = memory.allocate_reserved(sizes.iter().sum(), id)?;
        let starts = sizes.map(|size| {
            next += size;
            next - size
        });
        Some(Room::at(memory, starts, content))
    }

    /// Lays the parts out at these offsets and makes the directories lead to them.
    fn at(memory: &Memory, starts: [u64; PARTS], content: Content) -> Room {
        let [
            row_directory,
            vector_directory,
            row_words,
            row_map,
            vectors,
            lengths,
            term_map,
            order,
            postings,
            columns,
            text_directory,
            text_places,
            texts,
        ] = starts;
        let (geometry, region) = (memory.geometry(), memory.region());
        let directory = |start, chunks_max| region.view(Span::new(start, chunks_max));
        let of_rows = directory(row_directory, geometry.row_entries);
        lead(of_rows, row_words, ROW_BYTES << geometry.row_shift);
        let of_vectors = directory(vector_directory, geometry.vector_entries);
        lead(of_vectors, vectors, 2 << geometry.vector_shift);
        let rows = u64::from(content.rows);
        Room {
            row_directory,
            vector_directory,
            row_words: Span::new(row_words, rows * ROW_WORDS as u64),
            row_map: Span::new(row_map, rows),
            vectors: Span::new(vectors, content.units),
            lengths: Span::new(lengths, rows),
            term_map: Span::new(term_map, content.terms),
            order,
            postings: Span::new(postings, content.posting_words),
            columns: (content.columns.bytes() > 0).then_some((content.columns, columns)),
            texts: TextCopy::new(memory, content.rows, [text_directory, text_places, texts]),
        }
    }
}

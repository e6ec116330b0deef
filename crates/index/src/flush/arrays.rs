//! The arrays that a flush makes of a segment. They lie in one block of the long-term partition.

use std::sync::atomic::{AtomicU16, AtomicU32};

use spirit_mem::{Region, Span};

use crate::column::Columns;
use crate::fresh::FreshCounts;
use crate::ground::ids::{Partition, SegmentId};
use crate::ground::term::FieldId;
use crate::memory::Memory;
use crate::rows::lengths::{LENGTH_BYTES, LengthArray};
use crate::terms::term_order::order_bytes;

/// Alignment of each array: a cache line.
const LINE_BYTES: u64 = 64;

/// The arrays of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrays {
    /// The dictionary's number of each ordinal.
    pub(super) term_map: Span<AtomicU32>,
    /// The documents' lengths, newest first.
    pub(super) lengths: Span<AtomicU16>,
    /// Offset of the order of the segment's terms.
    pub(super) order: u64,
    /// Posting arrays.
    pub(super) postings: Span<AtomicU32>,
    /// Offset of the columns; 0 if there are none.
    pub(super) columns: u64,
}

impl Arrays {
    /// Returns the documents' lengths in a field.
    pub(super) fn lengths_of<'a>(&self, region: &'a Region, field: FieldId) -> LengthArray<'a> {
        match (field, self.columns) {
            (FieldId::TEXT, _) => LengthArray::new(region.view(self.lengths)),
            (_, 0) => LengthArray::ones(self.lengths.len() as u32),
            (_, columns) => Columns::at(region, columns).lengths_of(field),
        }
    }

    /// Allocates the arrays of a segment with `posting_words` words of posting arrays and
    /// `column_bytes` bytes of columns. Returns `None` while there is no room.
    pub(super) fn allocate(
        memory: &Memory,
        owner: SegmentId,
        counts: &FreshCounts,
        posting_words: u64,
        column_bytes: u64,
    ) -> Option<Arrays> {
        let FreshCounts { rows, terms, .. } = *counts;
        let lengths = rows as u64 * LENGTH_BYTES;
        let order = order_bytes(terms as u64);
        let sizes = [terms as u64 * 4, lengths, order, posting_words * 4, column_bytes];
        let padded = sizes.map(|bytes| bytes.next_multiple_of(LINE_BYTES));
        let bytes = padded.iter().sum();
        let mut next = memory.allocate(Partition::Long, bytes, owner)?;
        memory.take_pages(next, bytes);
        let [term_map, lengths, order, postings, columns] = padded.map(|bytes| {
            let start = next;
            next += bytes;
            start
        });
        Some(Arrays {
            term_map: Span::new(term_map, terms as u64),
            lengths: Span::new(lengths, rows as u64),
            order,
            postings: Span::new(postings, posting_words),
            columns: if column_bytes > 0 { columns } else { 0 },
        })
    }
}

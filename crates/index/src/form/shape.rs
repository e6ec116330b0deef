//! The shape of an engraved segment: the facts that readers and stages rely on without a check. A
//! start refuses a segment of another shape. So no reader follows an offset out of a segment, for
//! any contents of the file.
//!
//! The shape is small beside the segment. It has the sizes, and the directories of rows, vectors
//! and columns. It has the heads of the text index, and of the order of terms or of packed terms.
//! While the segment is not merged, it has its terms too. Rows, vectors, posting arrays and texts
//! are not checked; their readers expect any words.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::column::shape as column_shape;
use crate::form::engraved_terms::{EngravedTerms, TERM_KEY_BYTES, hash_bytes};
use crate::form::node::NODE_BYTES;
use crate::form::text_index::{TEXT_ENTRY_BYTES, TextIndex};
use crate::ground::corrupt::Corrupt;
use crate::ground::geometry::{Geometry, ROW_BYTES};
use crate::ground::ids::SegmentId;
use crate::ground::layout::PAGE;
use crate::ground::line_table::PAYLOAD_LIMIT;
use crate::ground::section::{Kind, Section, Sections};
use crate::ground::slot::Entry as SlotEntry;
use crate::lists::packed::{PACKED_FIRST, head_words};
use crate::memory::descriptor::Descriptor;
use crate::memory::flushed::list_end;
use crate::rows::lengths::{Statistics, length_bytes, short_length_bytes};
use crate::rows::packed::{PACKED_CHUNK, PackedRow};
use crate::rows::stamps::stamp_bytes;
use crate::terms::entries::Entry;
use crate::terms::packed_terms::PackedTerms;
use crate::terms::term_order::{Leads, head, head_of, order_bytes};
use crate::tier::pages::{Pages, check_bytes};

/// Alignment of sections.
const LINE_BYTES: u64 = 64;
/// Upper bound of numbers that only grow, so that sums of them do not overflow.
pub(crate) const NUMBERS_MAX: u64 = 1 << 60;
/// Upper bound of row numbers, which the key table keeps in fewer bits. It leaves room for the rows
/// that are added until the next start.
pub(crate) const ROWS_MAX: u64 = PAYLOAD_LIMIT - (1 << 36);

/// The offset of a section, and the reason why it is wrong.
type Problem = (u64, &'static str);

/// Checks that the sections are those of the segment that `entry` describes.
pub(crate) fn check(
    region: &Region,
    geometry: &Geometry,
    entry: &SlotEntry,
    sections: &Sections,
) -> Result<(), Corrupt> {
    let corrupt = |(at, why)| Corrupt { what: "segment", at, why };
    check_numbers(geometry, entry)?;
    for kind in Kind::ALL {
        let section = sections.get(kind);
        // An empty section may lie behind its block, but must lie in the region: readers look at it
        // like any other.
        if section.start > region.bytes() {
            return Err(corrupt((section.start, "a section is misplaced")));
        }
        place(entry, kind, section).map_err(corrupt)?;
    }
    sizes(geometry, entry, sections).map_err(corrupt)?;
    let chunks = [
        (Kind::RowDirectory, Kind::Rows, ROW_BYTES << geometry.row_shift),
        (Kind::VectorDirectory, Kind::Vectors, 2 << geometry.vector_shift),
    ];
    for (kind, contents, chunk_bytes) in chunks {
        let directory = sections.get(kind);
        Pages::of(entry, sections).look_at_section(region, kind)?;
        if kind == Kind::RowDirectory && sections.are_packed() {
            packed_rows(region, geometry, entry, sections).map_err(corrupt)?;
            continue;
        }
        places(region, directory, sections.get(contents), chunk_bytes).map_err(corrupt)?;
    }
    if sections.are_packed() {
        packed_terms(region, entry, sections).map_err(corrupt)?;
    } else {
        term_order(region, sections).map_err(corrupt)?;
    }
    let Section { start, bytes, .. } = sections.get(Kind::Columns);
    column_shape::check(region, start, bytes, entry.rows).map_err(|(at, why)| Corrupt {
        what: "columns",
        at,
        why,
    })?;
    if geometry.settings.store {
        text_index(region, sections)?;
    }
    Ok(())
}

/// Checks that long terms of a segment that is not merged stay in their section. First compares the
/// terms' pages with their checks.
pub(crate) fn check_terms(
    region: &Region,
    entry: &SlotEntry,
    sections: &Sections,
) -> Result<(), Corrupt> {
    let corrupt = |(at, why)| Corrupt { what: "terms of a segment", at, why };
    for kind in [Kind::Nodes, Kind::TermKeys, Kind::LongTerms, Kind::TermHashes] {
        Pages::of(entry, sections).look_at_section(region, kind)?;
    }
    let terms = EngravedTerms::of(region, sections);
    let long_bytes = sections.get(Kind::LongTerms).bytes;
    for index in 0..terms.len() {
        let found = terms.key(index);
        if found.key.is_long() && found.long_end().is_none_or(|end| end > long_bytes) {
            return Err(corrupt((terms.key_place(index), "a long term leaves its section")));
        }
    }
    Ok(())
}

/// The places where a segment's lists can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists {
    /// Number of words of posting arrays.
    pub words: u64,
    /// Number of words of packed lists.
    pub packed_words: u64,
    /// Number of rows of each bitmap in the posting arrays; 0 if there are none.
    pub bitmap_rows: u32,
}

impl Lists {
    /// Returns the places in the segment that a descriptor describes.
    pub(crate) fn of(descriptor: Descriptor<'_>) -> Lists {
        Lists {
            words: descriptor.posting_words(),
            packed_words: descriptor.packed_words(),
            bitmap_rows: descriptor.bitmap_rows(),
        }
    }

    /// True if an entry leads to one of the lists. An array must fit whole. A packed list is only
    /// checked at its head: its reader stops at the last word. A single posting lies in its entry.
    pub(crate) fn hold(&self, entry: Entry) -> bool {
        match (entry.postings, entry.packed_at()) {
            (0 | 1, _) => entry.postings == 1,
            (_, Some(at)) => {
                at >= PACKED_FIRST && at as u64 + head_words(entry.postings) < self.packed_words
            }
            (postings, None) => {
                let first = entry.payload as u64;
                first > 0 && list_end(first, postings, self.bitmap_rows) <= self.words
            }
        }
    }
}

/// Checks that the numbers in a slot are possible.
pub(crate) fn check_numbers(geometry: &Geometry, entry: &SlotEntry) -> Result<(), Corrupt> {
    let corrupt = |why| Err(Corrupt { what: "segment slot", at: entry.long_start, why });
    let grown = [
        entry.base_sequence,
        entry.sequence_end,
        entry.log_from,
        entry.documents_end,
        entry.accepted,
        entry.expired,
        entry.explicit_end,
        entry.numbers_end,
    ];
    if grown.into_iter().any(|number| number > NUMBERS_MAX) || entry.row_end > ROWS_MAX {
        return corrupt("a number in it exceeds its limit");
    }
    if !entry.log_from.is_multiple_of(8) {
        return corrupt("it says that the log begins within a word");
    }
    if entry.rows > geometry.rows_max() as u64 || entry.terms > geometry.terms_max() {
        return corrupt("it has more rows or terms than a segment can have");
    }
    if entry.base_row.checked_add(entry.rows) != Some(entry.row_end) {
        return corrupt("its number of rows differs from its first and last row");
    }
    if Statistics::from_word(entry.kept).documents > entry.rows {
        return corrupt("more documents have tokens than there are rows");
    }
    let blocks = [entry.long_start, entry.long_bytes, entry.short_start, entry.short_bytes];
    if !blocks.into_iter().all(|at| at.is_multiple_of(PAGE)) {
        return corrupt("its blocks are not whole pages");
    }
    if entry.bitmap_rows != 0 && entry.bitmap_rows != entry.rows {
        return corrupt("its bitmaps' number of rows is not the segment's");
    }
    Ok(())
}

fn place(entry: &SlotEntry, kind: Kind, section: Section) -> Result<(), Problem> {
    let (start, bytes) = match kind.is_short_term() {
        true => (entry.short_start, entry.short_bytes),
        false => (entry.long_start, entry.long_bytes),
    };
    let inside = section.start >= start
        && section.start.checked_add(section.bytes).is_some_and(|end| end - start <= bytes);
    if section.bytes > 0 && !(inside && section.start.is_multiple_of(LINE_BYTES)) {
        return Err((section.start, "a section is misplaced"));
    }
    Ok(())
}

fn sizes(geometry: &Geometry, entry: &SlotEntry, sections: &Sections) -> Result<(), Problem> {
    // Terms without postings have no node.
    let terms = sections.get(Kind::Nodes).bytes / NODE_BYTES;
    let vectors_max = (geometry.vector_chunks_max << geometry.vector_shift) * 2;
    for kind in Kind::ALL {
        let Section { start, bytes, .. } = sections.get(kind);
        let right = match kind {
            Kind::RowDirectory => bytes == geometry.row_chunks_max * 8,
            Kind::VectorDirectory => bytes == geometry.vector_chunks_max * 8,
            // The heads of packed rows have their bytes.
            Kind::Rows => bytes == entry.rows * ROW_BYTES || sections.are_packed(),
            Kind::Deaths if sections.are_packed() => bytes == stamp_bytes(entry.rows),
            Kind::Deaths => bytes == 0,
            Kind::Vectors => bytes <= vectors_max,
            // Segments have one of the two forms.
            Kind::Nodes
            | Kind::TermKeys
            | Kind::LongTerms
            | Kind::TermHashes
            | Kind::TermOrder
            | Kind::Postings
                if sections.are_packed() =>
            {
                bytes == 0
            }
            Kind::PackedTerms => sections.are_packed() || bytes == 0,
            Kind::PageChecks => bytes == check_bytes(Pages::of(entry, sections).count()),
            Kind::Nodes => bytes == terms * NODE_BYTES && terms <= entry.terms,
            Kind::TermKeys => bytes == terms * TERM_KEY_BYTES,
            Kind::TermOrder => bytes == order_bytes(terms),
            Kind::TermHashes => bytes == hash_bytes(terms),
            Kind::KeyHashes => bytes <= entry.rows * 8,
            Kind::Lengths => {
                let are_short = sections.are_packed() && bytes == short_length_bytes(entry.rows);
                are_short || bytes == length_bytes(entry.rows)
            }
            Kind::TextIndex if geometry.settings.store => {
                bytes >= TEXT_ENTRY_BYTES && bytes.is_multiple_of(TEXT_ENTRY_BYTES)
            }
            Kind::TextIndex => bytes == 0,
            Kind::Texts => geometry.settings.store || bytes == 0,
            // The shape of columns has its own check. Packed lists are never empty.
            Kind::Postings | Kind::PackedLists | Kind::LongTerms | Kind::Columns => true,
        };
        if !right || !bytes.is_multiple_of(8) {
            return Err((start, "a section has another size than the segment's slot says"));
        }
    }
    Ok(())
}

/// Checks the head of the order of terms against the section table.
fn term_order(region: &Region, sections: &Sections) -> Result<(), Problem> {
    let terms = sections.get(Kind::Nodes).bytes / NODE_BYTES;
    let starts = [Kind::Nodes, Kind::TermKeys, Kind::LongTerms];
    let starts = starts.map(|kind| sections.get(kind).start);
    let at = sections.get(Kind::TermOrder).start;
    let right = head(region, at) == head_of(terms, Leads::Nodes(starts));
    if right { Ok(()) } else { Err((at, "the order of terms belongs to other terms")) }
}

/// Checks the head of packed terms against the section table.
fn packed_terms(region: &Region, entry: &SlotEntry, sections: &Sections) -> Result<(), Problem> {
    let Section { start, bytes, .. } = sections.get(Kind::PackedTerms);
    let found = PackedTerms::at(region, start, SegmentId(entry.id as u32));
    let right = found.filter(|found| found.bytes() == bytes && found.len() as u64 <= entry.terms);
    right.map(|_| ()).ok_or((start, "the packed terms belong to another segment"))
}

/// Checks the head of the text index against the section table.
fn text_index(region: &Region, sections: &Sections) -> Result<(), Corrupt> {
    let [index, texts] = [Kind::TextIndex, Kind::Texts].map(|kind| sections.get(kind));
    let found = TextIndex::at(region, index.start)?;
    let blocks = index.bytes / TEXT_ENTRY_BYTES - 1;
    if found.blocks() as u64 != blocks || found.texts() != (texts.start, texts.bytes) {
        let why = "it belongs to other texts";
        return Err(Corrupt { what: "text index", at: index.start, why });
    }
    Ok(())
}

/// Checks the directory of a copy's chunks. They lie one behind the other. Behind the last one the
/// directory has zeros.
fn places(
    region: &Region,
    directory: Section,
    contents: Section,
    chunk_bytes: u64,
) -> Result<(), Problem> {
    let words = region.view(Span::<AtomicU64>::new(directory.start, directory.bytes / 8));
    for (index, word) in (0..).zip(words) {
        let at = index * chunk_bytes;
        let expected = if at < contents.bytes { contents.start + at } else { 0 };
        if word.load(Relaxed) != expected {
            return Err((directory.start + index * 8, "a directory leads elsewhere"));
        }
    }
    Ok(())
}

/// Checks chunks of packed rows. They lie one behind the other, each with the length in its head,
/// and lead to their death stamps. Behind the last one the directory has zeros.
fn packed_rows(
    region: &Region,
    geometry: &Geometry,
    entry: &SlotEntry,
    sections: &Sections,
) -> Result<(), Problem> {
    let [directory, rows, deaths] =
        [Kind::RowDirectory, Kind::Rows, Kind::Deaths].map(|kind| sections.get(kind));
    let words = region.view(Span::<AtomicU64>::new(directory.start, directory.bytes / 8));
    let mut at = rows.start;
    // Invariant: the next chunk must begin at `at`.
    for (index, word) in (0u64..).zip(words) {
        let first = index << geometry.row_shift;
        let left = entry.rows.saturating_sub(first);
        let expected = if left > 0 { at | PACKED_CHUNK } else { 0 };
        if word.load(Relaxed) != expected {
            return Err((directory.start + index * 8, "a directory leads elsewhere"));
        }
        if left == 0 {
            continue;
        }
        let head = PackedRow::at(region, at, 0).map(PackedRow::head);
        let right = head.filter(|head| head.is_right() && head.deaths == deaths.start + first * 4);
        let Some(head) = right else { return Err((at, "packed rows have an invalid head")) };
        at += head.chunk_words(left.min(1 << geometry.row_shift) as u32) * 8;
    }
    let right = at == rows.start + rows.bytes;
    if right { Ok(()) } else { Err((at, "packed rows do not end where their section does")) }
}

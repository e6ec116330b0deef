//! The places of a segment's copy: a block in each ring, the sections in it, and the pieces that
//! are copied unchanged.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::Span;

use crate::engrave::list_packer::{self, LIST_BYTES_MAX};
use crate::engrave::row_packer::RowPacker;
use crate::engrave::{Engrave, Piece, key_engraver, length_engraver, text_engraver};
use crate::form::engraved_terms::{TERM_KEY_BYTES, hash_bytes};
use crate::form::node::NODE_BYTES;
use crate::fresh::FreshCounts;
use crate::ground::geometry::{Postings, ROW_BYTES};
use crate::ground::ids::Partition;
use crate::ground::layout::{PAGE, PIECE_BYTES};
use crate::ground::section::{Kind, SECTION_WORDS, SECTIONS, Section};
use crate::ground::term::INLINE_BYTES_MAX;
use crate::memory::Memory;
use crate::memory::flush_stop::FlushStop;
use crate::rows::lengths::length_bytes;
use crate::rows::stamps::stamp_bytes;
use crate::terms::packed_terms::writer::PackedTermsWriter;
use crate::terms::term_order::order_bytes;
use crate::tier::Nvm;
use crate::tier::pages::check_bytes;

impl Engrave {
    /// Takes a block in each ring and divides it into sections.
    pub(super) fn plan(&mut self, memory: &Memory, nvm: &Nvm) -> Result<(), FlushStop> {
        if !nvm.has_slot(self.id.position(), memory.reclaimed()) {
            return Err(FlushStop::HeapFull);
        }
        let is_packed = memory.geometry().settings.postings == Postings::Packed || self.must_pack;
        let packed_bytes = match is_packed {
            true => list_packer::bytes_max(memory, self.id, self.term_map(memory)),
            false => 0,
        };
        self.packs = (1..=LIST_BYTES_MAX).contains(&packed_bytes);
        self.rows = self.packs.then(|| RowPacker::new(memory, &self.segment(memory)));
        let sizes = self.sizes(memory, packed_bytes);
        let table = (SECTIONS as u64 * SECTION_WORDS as u64 * 8).next_multiple_of(64);
        let padded = |short: bool| -> u64 {
            let kinds = Kind::ALL.into_iter().zip(sizes);
            let kinds = kinds.filter(|(kind, _)| kind.is_short_term() == short);
            kinds.map(|(_, bytes)| bytes.next_multiple_of(64)).sum()
        };
        // Blocks are whole pages, so that each page belongs to one segment.
        let short = padded(true).next_multiple_of(PAGE).max(PAGE);
        let contents = table + padded(false);
        let pages = (contents + short).div_ceil(PAGE);
        // The checks cover their own pages too.
        let checks = check_bytes(pages + pages / 512 + 2);
        let long = (contents + checks).next_multiple_of(PAGE);
        let start =
            memory.allocate(Partition::NvmLong, long, self.id).ok_or(FlushStop::HeapFull)?;
        self.long = (start, long);
        let Some(start) = memory.allocate(Partition::NvmShort, short, self.id) else {
            memory.give_back(Partition::NvmLong, self.id);
            return Err(FlushStop::TermsFull);
        };
        self.short = (start, short);
        self.mark_proved(memory);
        let (mut long_at, mut short_at) = (self.long.0 + table, self.short.0);
        for (kind, bytes) in Kind::ALL.into_iter().zip(sizes) {
            let at = if kind.is_short_term() { &mut short_at } else { &mut long_at };
            self.sections.set(kind, Section { start: *at, bytes, check: 0 });
            *at += bytes.next_multiple_of(64);
        }
        self.cut_into_pieces(memory);
        Ok(())
    }

    /// Marks the blocks as proved: this process writes them and need not check them.
    fn mark_proved(&self, memory: &Memory) {
        let Some(proved) = memory.region().proved() else { return };
        for (start, bytes) in [self.long, self.short] {
            proved.mark_all(start..start + bytes);
        }
    }

    /// Returns the bytes of each section, or an upper bound of them. Space that is left over is
    /// given back later.
    fn sizes(&self, memory: &Memory, packed_bytes: u64) -> [u64; SECTIONS] {
        let (geometry, segment, packs) = (memory.geometry(), self.segment(memory), self.packs);
        let FreshCounts { rows, terms, unit_end, long_bytes, .. } = self.counts;
        let terms = terms as u64;
        let texts = segment.dram_texts().map_or((0, 0), |texts| text_engraver::sizes(texts, rows));
        Kind::ALL.map(|kind| match kind {
            Kind::RowDirectory => geometry.row_chunks_max * 8,
            Kind::VectorDirectory => geometry.vector_chunks_max * 8,
            Kind::Rows => self.rows.as_ref().map_or(rows as u64 * ROW_BYTES, RowPacker::bytes),
            Kind::Vectors if packs => {
                key_engraver::bytes(self.keyed_rows(memory).map(|(_, key)| key))
            }
            Kind::Vectors => (unit_end as u64 * 2).next_multiple_of(8),
            Kind::KeyHashes => self.keyed_rows(memory).count() as u64 * 8,
            Kind::Lengths => length_engraver::bytes(&segment, packs),
            Kind::Columns => segment.all_columns().map_or(0, |columns| columns.bytes()),
            Kind::TextIndex => texts.0,
            // Upper bound for texts that cannot be compressed.
            Kind::Texts => texts.1,
            Kind::Deaths if packs => stamp_bytes(rows as u64),
            Kind::PackedLists if packs => packed_bytes,
            Kind::PackedTerms if packs => {
                // Terms beyond those counted in `long_bytes` are short.
                let bytes = terms * INLINE_BYTES_MAX as u64 + long_bytes;
                PackedTermsWriter::bytes_max(terms, bytes).next_multiple_of(8)
            }
            // The number of pages is known once all else is written.
            Kind::Deaths | Kind::PackedLists | Kind::PackedTerms | Kind::PageChecks => 0,
            // Packed lists, and terms that lead to them, replace these sections.
            Kind::Postings
            | Kind::Nodes
            | Kind::TermKeys
            | Kind::LongTerms
            | Kind::TermHashes
            | Kind::TermOrder
                if packs =>
            {
                0
            }
            Kind::Postings => (segment.descriptor().posting_words() * 4).next_multiple_of(8),
            Kind::Nodes => terms * NODE_BYTES,
            Kind::TermKeys => terms * TERM_KEY_BYTES,
            Kind::LongTerms => long_bytes,
            Kind::TermHashes => hash_bytes(terms),
            Kind::TermOrder => order_bytes(terms),
        })
    }

    fn cut_into_pieces(&mut self, memory: &Memory) {
        let geometry = memory.geometry();
        let descriptor = self.segment(memory).descriptor();
        self.pieces.clear();
        let row_chunk = ROW_BYTES << geometry.row_shift;
        let vector_chunk = 2 << geometry.vector_shift;
        if !self.packs {
            self.add_chunks(memory, Kind::Rows, descriptor.row_directory(), row_chunk);
            self.add_chunks(memory, Kind::Vectors, descriptor.vector_directory(), vector_chunk);
            let postings = self.sections.get(Kind::Postings);
            self.add_pieces(postings.start, descriptor.postings(), postings.bytes);
        }
        let lengths = self.sections.get(Kind::Lengths);
        if lengths.bytes == length_bytes(self.counts.rows as u64) {
            self.add_pieces(lengths.start, descriptor.lengths(), lengths.bytes);
        }
        let columns = self.sections.get(Kind::Columns);
        self.add_pieces(columns.start, descriptor.columns(), columns.bytes);
    }

    /// Adds the chunks behind a directory. They are consecutive in the copy.
    fn add_chunks(&mut self, memory: &Memory, kind: Kind, directory: u64, chunk_bytes: u64) {
        let section = self.sections.get(kind);
        let chunks = section.bytes.div_ceil(chunk_bytes);
        let places: Span<AtomicU64> = Span::new(directory, chunks);
        let mut done = 0;
        for place in memory.region().view(places) {
            let bytes = chunk_bytes.min(section.bytes - done);
            self.add_pieces(section.start + done, place.load(Relaxed), bytes);
            done += bytes;
        }
    }

    fn add_pieces(&mut self, to: u64, from: u64, bytes: u64) {
        for done in (0..bytes).step_by(PIECE_BYTES as usize) {
            let bytes = PIECE_BYTES.min(bytes - done);
            self.pieces.push(Piece { to: to + done, from: from + done, bytes });
        }
    }
}

//! Engraving: a flushed segment is copied to the second tier (paper §4.7), and its operations leave
//! the log.
//!
//! A raw copy has the form of the flushed segment, in chunks of equal size. So readers read both by
//! the same code. A packed copy has other rows and lists. The flush stage has other things to do
//! too, so a segment is engraved in steps. Each piece is written back at once.
//!
//! 1. *Plan*: take a block in each ring.
//! 2. *Copy*: copy the arrays that stay as they are, such as columns; in a raw copy also rows,
//!    vectors, posting arrays and lengths. Write the chunks' directories.
//! 3. *Rows*, *Texts*, *Terms*, *Order*, *Keys*: pack the rows; compress the texts; write the
//!    terms, whose lists may be packed, and their order; write the sorted hashes of explicit keys.
//! 4. *Mark*: write the pages' checks, the section table and the slot. Then join the copies: under
//!    the key lock, show the copy to the ingest role. It stamps deaths in both copies from now on.
//!    Carry over the deaths since the copy. This is idempotent: a stamp never changes. Fence; mark;
//!    fence. Now the log begins behind the segment's operations.
//!
//! A cut before the mark is durable loses nothing: the operations are in the log. A segment costs
//! two fences.

pub(crate) mod commit;
pub(crate) mod inversion;
pub(crate) mod key_engraver;
pub(crate) mod length_engraver;
pub(crate) mod list_packer;
pub(crate) mod order_engraver;
pub(crate) mod packed_term_engraver;
mod plan;
pub(crate) mod row_packer;
pub(crate) mod term_engraver;
pub(crate) mod text_engraver;

pub use commit::commit;

use std::sync::atomic::AtomicU32;

use spirit_door::Site;
use spirit_mem::Span;

use crate::engrave::order_engraver::OrderEngraver;
use crate::engrave::packed_term_engraver::PackedTermEngraver;
use crate::engrave::row_packer::RowPacker;
use crate::engrave::term_engraver::TermEngraver;
use crate::engrave::text_engraver::TextEngraver;
use crate::form::merged::lines_max;
use crate::fresh::FreshCounts;
use crate::ground::corrupt::checksum;
use crate::ground::geometry::ROW_BYTES;
use crate::ground::ids::{Partition, SegmentId, State};
use crate::ground::layout::{PAGE, PIECE_BYTES};
use crate::ground::section::{Kind, SECTIONS, Section, Sections};
use crate::ground::slot::{Entry, Slots};
use crate::keys;
use crate::memory::Memory;
use crate::memory::flush_stop::FlushStop;
use crate::rows::stamps::Stamps;
use crate::rows::{KeyKind, RowKey};
use crate::snapshot::{Segment, Snapshot};
use crate::terms::term_order::TermOrder;
use crate::tier::Nvm;
use crate::tier::pages::{Pages, check_bytes};

/// The facts that the ingest role knows about a full segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct SegmentEnd {
    /// Upper bound of the sequence numbers in this and older segments, exclusive.
    pub sequence_end: u64,
    /// Log position of the first operation behind them.
    pub log_from: u64,
    /// One past the highest number that a document of the executor took.
    pub documents_end: u64,
    /// Number of documents that the executor accepted.
    pub accepted: u64,
    /// One past the largest number given as an explicit key.
    pub explicit_end: u64,
    /// Arrival of the last operation, in milliseconds since 1970.
    pub arrived_ms: u64,
}

/// One piece of the copy.
#[derive(Clone, Copy, Debug)]
struct Piece {
    to: u64,
    from: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Plan,
    Copy { next: usize },
    Rows,
    Texts,
    Terms,
    Order,
    Keys,
    Mark,
    Done,
}

/// A segment on its way to the second tier.
#[derive(Debug)]
pub struct Engrave {
    id: SegmentId,
    counts: FreshCounts,
    end: SegmentEnd,
    step: Step,
    sections: Sections,
    long: (u64, u64),
    short: (u64, u64),
    /// True if they are to be packed, whatever the index's setting says.
    must_pack: bool,
    /// True if its lists and its terms are packed.
    packs: bool,
    pieces: Vec<Piece>,
    /// The writer of the rows, if they are packed.
    rows: Option<RowPacker>,
    /// The writer of the texts, if they are kept.
    texts: Option<Box<TextEngraver>>,
    /// The writer of unpacked terms.
    terms: Option<Box<TermEngraver>>,
    /// The writer of the order of unpacked terms.
    order: Option<OrderEngraver>,
    /// The writer of packed lists and of the terms that lead to them.
    packed: Option<Box<PackedTermEngraver>>,
}

impl Engrave {
    /// Makes the engraving of a segment that has been flushed.
    pub fn new(id: SegmentId, counts: FreshCounts, end: SegmentEnd) -> Engrave {
        Engrave {
            id,
            counts,
            end,
            step: Step::Plan,
            sections: Sections::default(),
            long: (0, 0),
            short: (0, 0),
            must_pack: false,
            packs: false,
            pieces: Vec::new(),
            rows: None,
            texts: None,
            terms: None,
            order: None,
            packed: None,
        }
    }

    /// Returns the segment.
    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// Returns the facts of the segment that its slot gets.
    pub fn end(&self) -> SegmentEnd {
        self.end
    }

    /// Returns the lines that its terms take in the merged dictionary, at most, if it is not packed.
    pub fn merged_lines_max(&self) -> u64 {
        lines_max(self.counts.terms as u64, self.counts.long_bytes)
    }

    /// True until its form is decided, by its first step.
    pub fn is_undecided(&self) -> bool {
        self.step == Step::Plan
    }

    /// Packs it, whatever the index's setting says. Its form must be undecided.
    pub fn pack(&mut self) {
        self.must_pack = true;
    }

    /// Takes the next step. Returns true if that was the last. An error means that there is no room
    /// now: ask again. `locked` runs its argument while no row can die.
    pub fn advance(
        &mut self,
        memory: &Memory,
        locked: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<bool, FlushStop> {
        let nvm = memory.nvm().expect("there is a second tier to engrave in");
        match self.step {
            Step::Plan => {
                self.plan(memory, nvm)?;
                self.step = Step::Copy { next: 0 };
            }
            Step::Copy { next } => {
                if let Some(piece) = self.pieces.get(next) {
                    let Piece { to, from, bytes } = *piece;
                    memory.take_pages(to, bytes);
                    nvm.door().copy(Site::Body, memory.region(), to, from, bytes);
                    nvm.door().write_back(Site::BodyWriteBack, memory.region(), to, bytes);
                    self.step = Step::Copy { next: next + 1 };
                } else {
                    self.write_directories(memory, nvm);
                    self.step = Step::Rows;
                }
            }
            Step::Rows => {
                if self.write_rows(memory, nvm) {
                    self.step = Step::Texts;
                }
            }
            Step::Texts => {
                if self.write_texts(memory, nvm) {
                    self.step = Step::Terms;
                }
            }
            Step::Terms => {
                if self.write_terms(memory, nvm) {
                    self.step = Step::Order;
                }
            }
            Step::Order => {
                if self.write_order(memory, nvm) {
                    self.step = Step::Keys;
                }
            }
            Step::Keys => {
                self.write_key_hashes(memory, nvm);
                self.step = Step::Mark;
            }
            Step::Mark => {
                self.mark(memory, nvm, locked);
                self.step = Step::Done;
            }
            Step::Done => {}
        }
        Ok(self.step == Step::Done)
    }

    fn segment<'a>(&self, memory: &'a Memory) -> Segment<'a> {
        Snapshot::of_role(memory, u64::MAX).of(self.id)
    }

    /// Writes some of the packed rows. After the last, writes stored keys and short lengths.
    /// Returns true if all are written.
    fn write_rows(&mut self, memory: &Memory, nvm: &Nvm) -> bool {
        let segment = self.segment(memory);
        let Some(packer) = &mut self.rows else { return true };
        if !packer.advance(memory, nvm, &segment, &self.sections) {
            return false;
        }
        self.rows = None;
        let keys = self.keyed_rows(memory).map(|(_, key)| key);
        key_engraver::write(memory, nvm, &self.sections, &segment, keys);
        length_engraver::write(memory, nvm, self.sections.get(Kind::Lengths), &segment);
        true
    }

    /// Writes the directories of raw chunks. The row packer writes the directory of packed rows,
    /// whose chunks differ in size.
    fn write_directories(&self, memory: &Memory, nvm: &Nvm) {
        let geometry = memory.geometry();
        let chunks = [
            (Kind::RowDirectory, Kind::Rows, ROW_BYTES << geometry.row_shift),
            (Kind::VectorDirectory, Kind::Vectors, 2 << geometry.vector_shift),
        ];
        for (directory, contents, chunk_bytes) in chunks.into_iter().skip(self.packs.into()) {
            let (directory, contents) = (self.sections.get(directory), self.sections.get(contents));
            let places = (0..directory.bytes / 8).map(|i| i * chunk_bytes);
            let places = places.map(|at| if at < contents.bytes { contents.start + at } else { 0 });
            let bytes: Vec<u8> = places.flat_map(u64::to_le_bytes).collect();
            self.write(memory, nvm, directory.start, &bytes);
        }
    }

    /// Returns the place of the map from ordinals to the dictionary's numbers.
    fn term_map(&self, memory: &Memory) -> Span<AtomicU32> {
        Span::new(self.segment(memory).descriptor().term_map(), self.counts.terms as u64)
    }

    /// Writes some of the texts. Returns true if all are written. The sections behind the texts
    /// then begin where the texts end.
    fn write_texts(&mut self, memory: &Memory, nvm: &Nvm) -> bool {
        let Some(texts) = self.segment(memory).dram_texts() else { return true };
        let rows = self.counts.rows;
        let engraver = self.texts.get_or_insert_with(|| Box::new(TextEngraver::new(rows)));
        let [index, section] = [Kind::TextIndex, Kind::Texts].map(|kind| self.sections.get(kind));
        let Some(bytes) = engraver.advance(memory, nvm, texts, index, section) else {
            return false;
        };
        self.texts = None;
        self.sections.set(Kind::Texts, Section { bytes, ..section });
        let end = (section.start + bytes).next_multiple_of(64);
        for kind in [Kind::PackedLists, Kind::PackedTerms] {
            let section = self.sections.get(kind);
            self.sections.set(kind, Section { start: end, ..section });
        }
        true
    }

    /// Shrinks the block after its last section is written, so that it ends behind the page checks.
    fn shrink(&mut self, memory: &Memory) {
        let last = self.sections.get(Kind::PackedTerms);
        let start = (last.start + last.bytes).next_multiple_of(64);
        // The checks cover their own pages too. The loop finds their size in at most two steps.
        let end = |bytes: u64| (start + bytes - self.long.0).next_multiple_of(PAGE);
        let bytes = |end: u64| check_bytes((end + self.short.1) / PAGE);
        let mut bytes_now = bytes(end(0));
        while bytes(end(bytes_now)) != bytes_now {
            bytes_now = bytes(end(bytes_now));
        }
        self.sections.set(Kind::PageChecks, Section { start, bytes: bytes_now, check: 0 });
        self.long.1 = end(bytes_now);
        memory.shrink(Partition::NvmLong, self.long.1, self.id);
    }

    /// Yields the rows with explicit keys.
    fn keyed_rows<'m>(&self, memory: &'m Memory) -> impl Iterator<Item = (u32, RowKey)> + use<'m> {
        let rows = self.segment(memory).row_table();
        (0..self.counts.rows).map(move |local| (local, rows.row(local).key())).filter(|(_, key)| {
            matches!(key.kind(), KeyKind::Inline { .. } | KeyKind::Stored { .. })
        })
    }

    /// Writes some of the terms, which readers search until the segment is merged. Returns true if
    /// all are written.
    fn write_terms(&mut self, memory: &Memory, nvm: &Nvm) -> bool {
        if self.packs {
            return self.write_packed_terms(memory, nvm);
        }
        let (id, map) = (self.id, self.term_map(memory));
        let engraver = self.terms.get_or_insert_with(|| {
            let nodes = self.sections.get(Kind::Nodes);
            memory.take_pages(nodes.start, nodes.bytes);
            memory.take_pages(self.short.0, self.short.1);
            Box::new(TermEngraver::new(id, map))
        });
        let done = engraver.advance(memory, nvm, &mut self.sections);
        if done {
            self.shrink(memory);
            self.order = self.terms.take().map(|terms| terms.into_order());
        }
        done
    }

    /// Packs some of the lists, or writes some of the terms that lead to them. Returns true if all
    /// are written.
    fn write_packed_terms(&mut self, memory: &Memory, nvm: &Nvm) -> bool {
        let (id, map, order) = (self.id, self.term_map(memory), self.term_order(memory));
        let engraver =
            self.packed.get_or_insert_with(|| Box::new(PackedTermEngraver::new(memory, id, map)));
        let done = engraver.advance(memory, nvm, order, &mut self.sections);
        if done {
            self.shrink(memory);
            self.packed = None;
        }
        done
    }

    /// Returns the order of the segment's terms in DRAM.
    fn term_order<'m>(&self, memory: &'m Memory) -> TermOrder<'m> {
        TermOrder::at(memory.region(), self.segment(memory).descriptor().term_order())
    }

    /// Writes some of the order of terms. Returns true if all of it is written.
    fn write_order(&mut self, memory: &Memory, nvm: &Nvm) -> bool {
        let order = self.term_order(memory);
        let Some(engraver) = &mut self.order else { return true };
        let done = engraver.advance(memory.region(), nvm, order, &mut self.sections);
        if done {
            self.order = None;
        }
        done
    }

    /// Writes the hashes that lead to explicit keys until the key table contains them.
    fn write_key_hashes(&mut self, memory: &Memory, nvm: &Nvm) {
        let segment = self.segment(memory);
        let mut key = Vec::new();
        let hash = |(local, word)| {
            key.clear();
            keys::write_key(&segment, word, &mut key);
            (keys::hash(&key) & 0xFFFF_FFFF) << 32 | local as u64
        };
        let mut hashes: Vec<u64> = self.keyed_rows(memory).map(hash).collect();
        hashes.sort_unstable();
        let section = self.sections.get(Kind::KeyHashes);
        self.sections.set(Kind::KeyHashes, Section { bytes: hashes.len() as u64 * 8, ..section });
        let places = (section.start..).step_by(PIECE_BYTES as usize);
        for (at, piece) in places.zip(hashes.chunks(PIECE_BYTES as usize / 8)) {
            let bytes: Vec<u8> = piece.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.write(memory, nvm, at, &bytes);
        }
    }

    fn write(&self, memory: &Memory, nvm: &Nvm, at: u64, bytes: &[u8]) {
        nvm.door().write(Site::BodyWords, memory.region(), at, bytes);
        nvm.door().write_back(Site::BodyWriteBack, memory.region(), at, bytes.len() as u64);
    }

    fn mark(&mut self, memory: &Memory, nvm: &Nvm, locked: impl FnOnce(&mut dyn FnMut())) {
        let position = self.id.position();
        let slots = Slots::new(memory.region(), nvm.layout());
        self.write_slot(memory, nvm, slots);
        let segment = self.segment(memory);
        let of_copy = Stamps::of(&self.sections);
        locked(&mut || {
            let dead = segment.descriptor().dead() as u32;
            let sites = [Site::BodyStamp, Site::BodyWriteBack];
            slots.set_dead(nvm.door(), sites, position, dead);
            segment.descriptor().lead_to_stamps(&self.sections);
        });
        carry_deaths(memory, nvm, &segment, of_copy);
        nvm.door().fence(Site::BodyFence, memory.region());
        slots.set_live(nvm.door(), position, State::Engraved);
        if self.packs {
            memory.note_packed(position);
        }
        // Lead to the terms before the segment is merged and before the DRAM dictionary sheds its
        // entries. The shedding may precede the commit. A reader that loads a boundary behind the
        // segment must find its terms in the second tier.
        segment.descriptor().lead_to_terms(&self.sections);
        nvm.set_log_head(self.end.log_from);
        memory.table().publish(self.id, State::Engraved);
        memory.notify_space();
    }

    /// Writes the checks of the sections' pages. All sections are written already.
    fn write_page_checks(&mut self, memory: &Memory, nvm: &Nvm) {
        let section = self.sections.get(Kind::PageChecks);
        let pages = Pages::new(&self.sections, self.long, self.short);
        let words = pages.checks_in(memory.region());
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        self.write(memory, nvm, section.start, &bytes);
        let check = crc32c::crc32c(&bytes);
        self.sections.set(Kind::PageChecks, Section { check, ..section });
    }

    fn write_slot(&mut self, memory: &Memory, nvm: &Nvm, slots: Slots<'_>) {
        self.write_page_checks(memory, nvm);
        let words = self.sections.words();
        nvm.door().write_words(Site::BodyWords, memory.region(), self.long.0, &words);
        let table_bytes = words.len() as u64 * 8;
        nvm.door().write_back(Site::BodyWriteBack, memory.region(), self.long.0, table_bytes);
        let segment = self.segment(memory);
        let descriptor = segment.descriptor();
        let entry = Entry {
            id: self.id.0 as u64,
            base_row: descriptor.base_row(),
            rows: self.counts.rows as u64,
            base_sequence: descriptor.base_sequence(),
            sequence_end: self.end.sequence_end,
            log_from: self.end.log_from,
            documents_end: self.end.documents_end,
            accepted: self.end.accepted,
            expired: memory.expired().documents(),
            oldest: memory.window().oldest as u64,
            explicit_end: self.end.explicit_end,
            numbers_start: descriptor.numbers_start(),
            numbers_end: descriptor.numbers_end(),
            row_end: descriptor.base_row() + self.counts.rows as u64,
            terms: self.counts.terms as u64,
            posting_count: descriptor.posting_count(),
            tokens: descriptor.tokens(),
            vector_units: match self.packs {
                true => self.keyed_rows(memory).map(|(_, key)| key_engraver::units(key)).sum(),
                false => descriptor.vector_units(),
            },
            bitmap_rows: if self.packs { 0 } else { descriptor.bitmap_rows() as u64 },
            long_start: self.long.0,
            long_bytes: self.long.1,
            short_start: self.short.0,
            short_bytes: self.short.1,
            sections: SECTIONS as u64,
            sections_check: checksum(0, &words) as u64,
            arrived_ms: self.end.arrived_ms,
            text_bytes: self.counts.text_bytes,
            kept: self.counts.kept.word(),
        };
        slots.write(nvm.door(), self.id.position(), &entry);
    }
}

/// Stores the deaths that the copy of a segment's rows misses. Each kill stamps both copies from
/// now on. So the missed deaths were stored before the ingest role saw the copy. A row that seems
/// to live here may be stamped meanwhile.
fn carry_deaths(memory: &Memory, nvm: &Nvm, segment: &Segment<'_>, stamps: Stamps) {
    let (door, region) = (nvm.door(), memory.region());
    let table = segment.row_table();
    for local in 0..segment.rows() {
        let stamp = table.row(local).death();
        if stamp != 0 && stamp != stamps.get(region, local) {
            let at = stamps.set(door, Site::BodyStamp, region, local, stamp);
            door.write_back(Site::BodyWriteBack, region, at, 8);
        }
    }
}

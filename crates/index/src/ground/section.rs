//! The parts of a segment's copy in the second tier: a table of typed sections. New kinds can be
//! added, and a reader skips kinds that it does not know.
//!
//! The table lies at the beginning of the segment's long-term block. An entry is three words:
//!
//! | word | |
//! |---|---|
//! | 0 | kind (low half); the checksum of page checks, 0 for other kinds (high half) |
//! | 1 | start |
//! | 2 | bytes |
//!
//! The page checks (`pages.rs`) cover the data of the other sections.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::slot::Entry;

/// Number of words of a table entry.
pub(crate) const SECTION_WORDS: usize = 3;
/// Largest number of entries of a table, those of unknown kinds included.
const ENTRIES_MAX: usize = 64;
/// Number of kinds that this version writes.
pub(crate) const SECTIONS: usize = 19;

/// The contents of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Kind {
    /// The beginning of each chunk of rows.
    RowDirectory = 1,
    /// The beginning of each chunk of vectors.
    VectorDirectory = 2,
    /// Rows.
    Rows = 3,
    /// Document vectors and stored keys.
    Vectors = 4,
    /// Posting arrays and bitmaps.
    Postings = 5,
    /// A node a term, in the order of the terms' hashes. This and the other sections of terms are
    /// empty if lists are packed.
    Nodes = 6,
    /// The key of each term, in the order of nodes. In the short-term block.
    TermKeys = 7,
    /// The bytes of long terms. In the short-term block.
    LongTerms = 8,
    /// The low halves of the terms' hashes, ascending. In the short-term block.
    TermHashes = 9,
    /// The hashes of explicit keys with their rows, ascending.
    KeyHashes = 10,
    /// The documents' lengths, newest first.
    Lengths = 11,
    /// The terms in the order of their bytes.
    TermOrder = 12,
    /// The columns of the rows' values, if there are any.
    Columns = 13,
    /// The death stamps of packed rows; those of others are in the rows.
    Deaths = 14,
    /// The place of each block of texts, by row.
    TextIndex = 15,
    /// Blocks of compressed texts. Its length is known once it is written, and so is the start of
    /// the next section.
    Texts = 16,
    /// Packed lists, instead of posting arrays. Its length is known once it is written.
    PackedLists = 17,
    /// The terms that lead to packed lists. Its length is known once it is written.
    PackedTerms = 18,
    /// A checksum for each page of both blocks: see `pages.rs`. The last section in its block.
    PageChecks = 19,
}

// Kinds count from 1, without gaps.
const _: () = {
    let mut index = 0;
    while index < SECTIONS {
        assert!(Kind::ALL[index] as usize == index + 1);
        index += 1;
    }
};

impl Kind {
    /// All kinds, in the order of their sections.
    pub const ALL: [Kind; SECTIONS] = [
        Kind::RowDirectory,
        Kind::VectorDirectory,
        Kind::Rows,
        Kind::Vectors,
        Kind::Postings,
        Kind::Nodes,
        Kind::TermKeys,
        Kind::LongTerms,
        Kind::TermHashes,
        Kind::KeyHashes,
        Kind::Lengths,
        Kind::TermOrder,
        Kind::Columns,
        Kind::Deaths,
        Kind::TextIndex,
        Kind::Texts,
        Kind::PackedLists,
        Kind::PackedTerms,
        Kind::PageChecks,
    ];

    /// True if it lies in the short-term block.
    pub fn is_short_term(self) -> bool {
        matches!(self, Kind::TermKeys | Kind::LongTerms | Kind::TermHashes)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::RowDirectory => "row directory",
            Kind::VectorDirectory => "vector directory",
            Kind::Rows => "rows",
            Kind::Vectors => "document vectors",
            Kind::Postings => "posting arrays",
            Kind::Nodes => "nodes",
            Kind::TermKeys => "term keys",
            Kind::LongTerms => "long terms",
            Kind::TermHashes => "term hashes",
            Kind::KeyHashes => "key hashes",
            Kind::Lengths => "lengths",
            Kind::TermOrder => "order of terms",
            Kind::Columns => "columns",
            Kind::Deaths => "death stamps",
            Kind::TextIndex => "text index",
            Kind::Texts => "texts",
            Kind::PackedLists => "packed lists",
            Kind::PackedTerms => "packed terms",
            Kind::PageChecks => "page checks",
        }
    }

    fn from_word(word: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u64 == word & 0xFFFF_FFFF)
    }
}

/// The place of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Offset.
    pub start: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Checksum of page checks; 0 for the sections that they cover.
    pub check: u32,
}

/// The sections of one segment, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections([Section; SECTIONS]);

impl Sections {
    /// Returns the section of `kind`. A segment without one returns an empty section.
    pub fn get(&self, kind: Kind) -> Section {
        self.0[kind as usize - 1]
    }

    /// Sets the section of `kind`.
    pub fn set(&mut self, kind: Kind, section: Section) {
        self.0[kind as usize - 1] = section;
    }

    /// True if the segment's lists are packed, and its terms with them.
    pub fn are_packed(&self) -> bool {
        self.get(Kind::PackedLists).bytes > 0
    }

    /// Returns the table's words.
    pub fn words(&self) -> [u64; SECTIONS * SECTION_WORDS] {
        let mut words = [0; SECTIONS * SECTION_WORDS];
        for (entry, kind) in words.chunks_mut(SECTION_WORDS).zip(Kind::ALL) {
            let Section { start, bytes, check } = self.get(kind);
            entry.copy_from_slice(&[kind as u64 | (check as u64) << 32, start, bytes]);
        }
        words
    }

    /// Reads the table that `entry` leads to.
    pub fn of(region: &Region, entry: &Entry) -> Result<Sections, Corrupt> {
        let at = entry.long_start;
        if entry.sections.saturating_mul(SECTION_WORDS as u64 * 8) > entry.long_bytes {
            return Err(Corrupt { what: "section table", at, why: "it leaves its block" });
        }
        let blocks = [(at, entry.long_bytes), (entry.short_start, entry.short_bytes)];
        Self::read(region, at, entry.sections, entry.sections_check, blocks)
    }

    /// Reads a table of `count` entries at `at`, whose checksum is `check`. Each entry must lie in
    /// one of `blocks` (start and bytes).
    pub fn read(
        region: &Region,
        at: u64,
        count: u64,
        check: u64,
        blocks: [(u64, u64); 2],
    ) -> Result<Sections, Corrupt> {
        let corrupt = |at, why| Corrupt { what: "section table", at, why };
        if count > ENTRIES_MAX as u64 {
            return Err(corrupt(at, "it has more than 64 entries"));
        }
        let stored: Span<AtomicU64> = Span::new(at, count * SECTION_WORDS as u64);
        let stored = region.peek(stored).ok_or_else(|| corrupt(at, "it leaves the heap"))?;
        // Queries call this, and allocate nothing.
        let mut words = [0; ENTRIES_MAX * SECTION_WORDS];
        let words = &mut words[..stored.len()];
        for (word, stored) in words.iter_mut().zip(stored) {
            *word = stored.load(Relaxed);
        }
        if checksum(0, words) as u64 != check {
            return Err(corrupt(at, "its checksum is wrong"));
        }
        Self::parse(words, at, blocks)
    }

    /// Parses the words of the table at `at`.
    pub(crate) fn parse(
        words: &[u64],
        at: u64,
        blocks: [(u64, u64); 2],
    ) -> Result<Sections, Corrupt> {
        let corrupt = |at, why| Corrupt { what: "section table", at, why };
        let mut sections = Sections::default();
        for (i, entry) in words.chunks(SECTION_WORDS).enumerate() {
            let Some(kind) = Kind::from_word(entry[0]) else { continue };
            let section =
                Section { start: entry[1], bytes: entry[2], check: (entry[0] >> 32) as u32 };
            let within = |(start, bytes): (u64, u64)| {
                let end = section.start.checked_add(section.bytes);
                section.start >= start && end.is_some_and(|end| end <= start.saturating_add(bytes))
            };
            if section.bytes > 0 && !blocks.into_iter().any(within)
                || !section.start.is_multiple_of(8)
            {
                let at = at + (i * SECTION_WORDS * 8) as u64;
                return Err(corrupt(at, "an entry leads out of the segment"));
            }
            sections.set(kind, section);
        }
        Ok(sections)
    }
}

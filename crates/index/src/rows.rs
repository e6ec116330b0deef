//! The rows of a segment: what is known of each document besides its terms.
//!
//! Every operation takes one row of the executor, in order: an added document, an update's new version, and
//! also a delete (a row that is born dead). So one number, *rows visible*, publishes an operation whole, and a
//! row number is an operation's time. A row is three 64-bit words:
//!
//! | word | low half | high half |
//! |---|---|---|
//! | 0 | sequence number, counted from the segment's base | start of the document vector, in units |
//! | 1 | tokens (positions) | death stamp |
//! | 2 | key ([`RowKey`]) | |
//!
//! The **death stamp** is 0 for a row that lives; else it is the operation that killed it, as its row number
//! counted from this segment's base, plus one (at most 2^32 - 2). A snapshot that sees `n` rows from that base
//! honours the stamp if it is at most `n`: an update's death of the old version and its new version become
//! visible by the same store. Stamps are written by the ingest role only.
//!
//! Rows and vectors lie in chunks in the long-term ring; a directory a segment leads to them, so a segment
//! takes what it needs and nothing moves while readers look. In the second tier the rows of a segment whose lists are packed
//! are packed too; the directory says which form a chunk has.

pub(crate) mod length_class;
pub mod lengths;
pub(crate) mod packed;
pub(crate) mod record_places;
pub(crate) mod stamps;
pub(crate) mod texts;
pub mod vector;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Region, Span};

use crate::ground::geometry::ROW_BYTES;
use packed::{PACKED_CHUNK, PackedRow};

/// 64-bit words of a row.
pub(crate) const ROW_WORDS: u64 = ROW_BYTES / 8;

/// A row's key word: how the document is called.
///
/// | low 2 bits | the rest |
/// |---|---|
/// | 0 | no key: not a document |
/// | 1 | automatic: the number in the 62 bits above |
/// | 2 | inline: length in bits 2..8, up to 7 bytes above |
/// | 3 | stored with the vector, or apart (bit 63): length in bits 2..16, unit in the high half |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowKey(pub u64);

/// In the unit of a stored key: it lies among those of a segment without vectors, which are packed lists' instead.
pub(crate) const KEY_APART: u32 = 1 << 31;

/// Longest key whose bytes lie in the row.
pub const KEY_INLINE_MAX: usize = 7;

impl RowKey {
    /// An automatic key.
    pub fn automatic(number: u64) -> RowKey {
        RowKey(number << 2 | 1)
    }

    /// A key of at most [`KEY_INLINE_MAX`] bytes.
    pub fn inline(bytes: &[u8]) -> RowKey {
        let mut word = [0; 8];
        word[1..=bytes.len()].copy_from_slice(bytes);
        RowKey(u64::from_le_bytes(word) | (bytes.len() as u64) << 2 | 2)
    }

    /// A key of `len` bytes that begins at `unit` of the segment's vectors.
    pub fn stored(unit: u32, len: usize) -> RowKey {
        RowKey((unit as u64) << 32 | (len as u64) << 2 | 3)
    }

    /// What the word says.
    pub fn kind(self) -> KeyKind {
        match self.0 & 3 {
            1 => KeyKind::Automatic(self.0 >> 2),
            2 => {
                let word = self.0.to_le_bytes();
                let mut bytes = [0; KEY_INLINE_MAX];
                bytes.copy_from_slice(&word[1..]);
                KeyKind::Inline { bytes, len: ((word[0] >> 2) as usize).min(KEY_INLINE_MAX) }
            }
            3 => KeyKind::Stored {
                unit: (self.0 >> 32) as u32,
                len: (self.0 >> 2 & 0x3FFF) as usize,
            },
            _ => KeyKind::None,
        }
    }
}

/// A decoded [`RowKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Not a document.
    None,
    /// The number of documents that the index had accepted before.
    Automatic(u64),
    /// Bytes in the row.
    Inline {
        /// Zero padded.
        bytes: [u8; KEY_INLINE_MAX],
        /// How many of them count.
        len: usize,
    },
    /// Bytes with the document vectors.
    Stored {
        /// First unit.
        unit: u32,
        /// Bytes.
        len: usize,
    },
}

/// The rows of one segment.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    region: &'a Region,
    directory: &'a [AtomicU64],
    shift: u32,
}

/// One row, in either form.
#[derive(Clone, Copy)]
pub struct Row<'a>(Form<'a>);

#[derive(Clone, Copy)]
enum Form<'a> {
    Words(RowWords<'a>),
    Packed(PackedRow<'a>),
}

/// One row that is three words.
#[derive(Clone, Copy)]
pub struct RowWords<'a>(&'a [AtomicU64]);

/// What a local id leads to that no row has, as one in a damaged posting: a dead row, no document's.
static NO_ROW: [AtomicU64; ROW_WORDS as usize] =
    [AtomicU64::new(0), AtomicU64::new(1 << 32), AtomicU64::new(0)];

impl<'a> Rows<'a> {
    /// Rows behind a directory of chunks of `1 << shift` rows.
    #[inline]
    pub fn new(region: &'a Region, directory: Span<AtomicU64>, shift: u32) -> Self {
        Rows { region, directory: region.view(directory), shift }
    }

    /// The row of a local id; a dead one if the segment has no such row.
    #[inline(always)]
    pub fn row(&self, local: u32) -> Row<'a> {
        match self.chunk(local) {
            Some(chunk) if chunk & PACKED_CHUNK != 0 => self.packed_row(chunk, local),
            chunk => Row(Form::Words(self.words_in(chunk, local))),
        }
    }

    /// The words of a local id's row; those of a dead one if the segment has no such row. None if it is packed.
    #[inline(always)]
    pub(crate) fn unpacked(&self, local: u32) -> Option<RowWords<'a>> {
        let chunk = self.chunk(local);
        let is_packed = chunk.is_some_and(|chunk| chunk & PACKED_CHUNK != 0);
        if is_packed { None } else { Some(self.words_in(chunk, local)) }
    }

    /// The same; those of a dead row if it is packed.
    #[inline(always)]
    pub fn words(&self, local: u32) -> RowWords<'a> {
        self.unpacked(local).unwrap_or(RowWords(&NO_ROW))
    }

    #[inline(never)]
    fn packed_row(&self, chunk: u64, local: u32) -> Row<'a> {
        let index = self.index(local) as u32;
        match PackedRow::at(self.region, chunk & !PACKED_CHUNK, index) {
            Some(row) => Row(Form::Packed(row)),
            None => Row(Form::Words(RowWords(&NO_ROW))),
        }
    }

    #[inline(always)]
    fn words_in(&self, chunk: Option<u64>, local: u32) -> RowWords<'a> {
        let at = chunk.map(|chunk| chunk.wrapping_add(self.index(local) * ROW_BYTES));
        let words = at.and_then(|at| self.region.get(Span::new(at, ROW_WORDS)));
        RowWords(words.unwrap_or(&NO_ROW))
    }

    #[inline(always)]
    fn chunk(&self, local: u32) -> Option<u64> {
        Some(self.directory.get((local >> self.shift) as usize)?.load(Acquire))
    }

    /// A row's place in its chunk.
    #[inline(always)]
    fn index(&self, local: u32) -> u64 {
        (local & ((1 << self.shift) - 1)) as u64
    }

    /// The offset of a row, or of its chunk if that is packed, if the segment may have such a row.
    #[inline(always)]
    pub fn place(&self, local: u32) -> Option<u64> {
        let chunk = self.chunk(local)?;
        Some(match chunk & PACKED_CHUNK {
            0 => chunk.wrapping_add(self.index(local) * ROW_BYTES),
            _ => chunk & !PACKED_CHUNK,
        })
    }

    /// How many of the first `rows` rows have a sequence (counted from the base) below `sequence`.
    pub fn before(&self, rows: u32, sequence: u64) -> u32 {
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.row(middle).sequence() as u64) < sequence {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }
}

impl<'a> Row<'a> {
    /// Asks for it.
    #[inline(always)]
    pub fn prefetch(self) {
        match self.0 {
            Form::Words(row) => row.prefetch(),
            Form::Packed(row) => row.prefetch(),
        }
    }

    /// Sequence number, counted from the segment's base.
    #[inline(always)]
    pub fn sequence(self) -> u32 {
        match self.0 {
            Form::Words(row) => row.sequence(),
            Form::Packed(row) => row.sequence(),
        }
    }

    /// Its tokens: positions used, kept or not. A packed row says how many more they are than `length`, which is what the array of
    /// lengths has.
    pub fn tokens(self, length: u16) -> u32 {
        match self.0 {
            Form::Words(row) => row.tokens(),
            Form::Packed(row) => row.holes().wrapping_add(length as u32),
        }
    }

    /// Its key.
    #[inline(always)]
    pub fn key(self) -> RowKey {
        match self.0 {
            Form::Words(row) => row.key(),
            Form::Packed(row) => row.key(),
        }
    }

    /// Its death stamp; 0 while it lives.
    #[inline(always)]
    pub fn death(self) -> u32 {
        match self.0 {
            Form::Words(row) => row.death(),
            Form::Packed(row) => row.death(),
        }
    }

    /// Whether the row, which has this local id, ever came to life: one that was given up is born dead.
    #[inline]
    pub fn has_lived(self, local: u32) -> bool {
        self.death() != local + 1
    }

    /// Whether a snapshot that sees `visible` rows from the segment's base finds it dead.
    #[inline(always)]
    pub fn is_dead(self, visible: u64) -> bool {
        let stamp = self.death();
        stamp != 0 && stamp as u64 <= visible
    }
}

/// Highest death stamp: the row died by that operation or a later one. `u32::MAX` is no stamp, so that an inverted stamp is
/// never 0.
pub(crate) const STAMP_MAX: u32 = u32::MAX - 1;

/// The death stamp of a row killed by the operation that is row `by`, counted from the segment's base.
pub(crate) fn stamp_of(by: u64) -> u32 {
    (by + 1).min(STAMP_MAX.into()) as u32
}

impl<'a> RowWords<'a> {
    /// The row in these three words.
    pub fn at(words: &'a [AtomicU64]) -> RowWords<'a> {
        RowWords(words)
    }

    /// Writes the row of an operation that is not visible yet.
    #[inline(always)]
    pub fn write(self, sequence: u32, vector: u32, tokens: u32, key: RowKey) {
        self.0[0].store(sequence as u64 | (vector as u64) << 32, Relaxed);
        self.0[1].store(tokens as u64, Relaxed);
        self.0[2].store(key.0, Relaxed);
    }

    /// Changes the sequence number of a row that is not visible yet.
    pub fn renumber(self, sequence: u32) {
        self.0[0].store(sequence as u64 | (self.vector() as u64) << 32, Relaxed);
    }

    /// Asks for it.
    #[inline(always)]
    pub fn prefetch(self) {
        spirit_mem::prefetch(&self.0[0]);
    }

    /// Sequence number, counted from the segment's base.
    #[inline]
    pub fn sequence(self) -> u32 {
        self.0[0].load(Relaxed) as u32
    }

    /// Where its vector starts, in units.
    #[inline]
    pub fn vector(self) -> u32 {
        (self.0[0].load(Relaxed) >> 32) as u32
    }

    /// Its tokens: positions used, kept or not.
    #[inline]
    pub fn tokens(self) -> u32 {
        self.0[1].load(Relaxed) as u32
    }

    /// Its key.
    #[inline]
    pub fn key(self) -> RowKey {
        RowKey(self.0[2].load(Relaxed))
    }

    /// Its death stamp; 0 while it lives.
    #[inline]
    pub fn death(self) -> u32 {
        (self.0[1].load(Relaxed) >> 32) as u32
    }

    /// Kills the row by the operation that is row `by`, counted from this segment's base. Ingest role only.
    /// Takes effect for readers when that operation becomes visible.
    pub fn kill(self, by: u64) {
        let word = self.tokens() as u64 | (stamp_of(by) as u64) << 32;
        self.0[1].store(word, Release);
    }
}

//! The rows of a segment: the data of each document besides its terms.
//!
//! Every operation takes one row of the executor, in order: an added document, an update's new
//! version, and also a delete (a row that is born dead). So one number, *rows visible*, publishes a
//! whole operation, and a row number is an operation's time. A row is three 64-bit words:
//!
//! | word | low half | high half |
//! |---|---|---|
//! | 0 | sequence number, from the segment's base | start of the document vector, in units |
//! | 1 | tokens (positions) | death stamp |
//! | 2 | key ([`RowKey`]) | |
//!
//! The **death stamp** is 0 for a row that lives. Otherwise it names the operation that killed the
//! row: its row number counted from this segment's base, plus one (at most 2^32 - 2). A snapshot
//! that sees `n` rows from that base honours the stamp if it is at most `n`. So an update's death
//! of the old version and its new version become visible by one store. Only the ingest role writes
//! stamps.
//!
//! Rows and vectors lie in chunks in the long-term ring. Each segment has a directory that leads to
//! them. So a segment takes only the memory that it needs, and nothing moves while readers look. In
//! the second tier, a segment with packed lists has packed rows too. The directory says which form
//! a chunk has.

pub(crate) mod length_class;
pub(crate) mod lengths;
pub(crate) mod packed;
pub(crate) mod record_places;
pub(crate) mod stamps;
pub(crate) mod texts;
pub mod vector;

pub use lengths::{LENGTH_BYTES, LENGTH_MAX, RunningCounts, Statistics};

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use spirit_mem::{Region, Span};

use crate::ground::geometry::ROW_BYTES;
use packed::{PACKED_CHUNK, PackedRow};

/// Number of 64-bit words of a row.
pub(crate) const ROW_WORDS: u64 = ROW_BYTES / 8;

/// A row's key word.
///
/// | low 2 bits | the rest |
/// |---|---|
/// | 0 | no key: not a document |
/// | 1 | automatic: the number in the 62 bits above |
/// | 2 | inline: length in bits 2..8, up to 7 bytes above |
/// | 3 | stored with the vector, or apart (bit 63): length in bits 2..16, unit in the high half |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowKey(pub u64);

/// Flag in the unit of a stored key: the key lies in a segment that has packed lists in place of
/// vectors.
pub(crate) const KEY_APART: u32 = 1 << 31;

/// Largest number of bytes of a key in the row.
pub const KEY_INLINE_MAX: usize = 7;

impl RowKey {
    /// Makes an automatic key.
    pub fn automatic(number: u64) -> RowKey {
        RowKey(number << 2 | 1)
    }

    /// Makes a key of at most [`KEY_INLINE_MAX`] bytes.
    pub fn inline(bytes: &[u8]) -> RowKey {
        let mut word = [0; 8];
        word[1..=bytes.len()].copy_from_slice(bytes);
        RowKey(u64::from_le_bytes(word) | (bytes.len() as u64) << 2 | 2)
    }

    /// Makes a key of `len` bytes that begins at `unit` of the segment's vectors.
    pub fn stored(unit: u32, len: usize) -> RowKey {
        RowKey((unit as u64) << 32 | (len as u64) << 2 | 3)
    }

    /// Decodes the word.
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
        /// The bytes, zero padded.
        bytes: [u8; KEY_INLINE_MAX],
        /// Number of bytes that count.
        len: usize,
    },
    /// Bytes with the document vectors.
    Stored {
        /// First unit.
        unit: u32,
        /// Number of bytes.
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

/// One row of three words.
#[derive(Clone, Copy)]
pub struct RowWords<'a>(&'a [AtomicU64]);

/// The dead row of a local id without a row, as in a damaged posting. It is not a document's.
static NO_ROW: [AtomicU64; ROW_WORDS as usize] =
    [AtomicU64::new(0), AtomicU64::new(1 << 32), AtomicU64::new(0)];

impl<'a> Rows<'a> {
    /// Makes the rows behind a directory of chunks of `1 << shift` rows.
    #[inline]
    pub fn new(region: &'a Region, directory: Span<AtomicU64>, shift: u32) -> Self {
        Rows { region, directory: region.view(directory), shift }
    }

    /// Returns the row of a local id, or a dead one if the segment has no such row.
    #[inline(always)]
    pub fn row(&self, local: u32) -> Row<'a> {
        match self.chunk(local) {
            Some(chunk) if chunk & PACKED_CHUNK != 0 => self.packed_row(chunk, local),
            chunk => Row(Form::Words(self.words_in(chunk, local))),
        }
    }

    /// Returns the words of a local id's row, or those of a dead row if the segment has no such
    /// row. Returns `None` if the row is packed.
    #[inline(always)]
    pub(crate) fn unpacked(&self, local: u32) -> Option<RowWords<'a>> {
        let chunk = self.chunk(local);
        let is_packed = chunk.is_some_and(|chunk| chunk & PACKED_CHUNK != 0);
        if is_packed { None } else { Some(self.words_in(chunk, local)) }
    }

    /// Like `unpacked`, but returns the words of a dead row if the row is packed.
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

    /// Returns a row's index in its chunk.
    #[inline(always)]
    fn index(&self, local: u32) -> u64 {
        (local & ((1 << self.shift) - 1)) as u64
    }

    /// Returns the offset of a row, or of its chunk if that is packed, if the segment may have such
    /// a row.
    #[inline(always)]
    pub fn place(&self, local: u32) -> Option<u64> {
        let chunk = self.chunk(local)?;
        Some(match chunk & PACKED_CHUNK {
            0 => chunk.wrapping_add(self.index(local) * ROW_BYTES),
            _ => chunk & !PACKED_CHUNK,
        })
    }

    /// Counts the rows among the first `rows` whose sequence number (from the base) is below
    /// `sequence`.
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
    /// Prefetches the row.
    #[inline(always)]
    pub fn prefetch(self) {
        match self.0 {
            Form::Words(row) => row.prefetch(),
            Form::Packed(row) => row.prefetch(),
        }
    }

    /// Returns the sequence number, counted from the segment's base.
    #[inline(always)]
    pub fn sequence(self) -> u32 {
        match self.0 {
            Form::Words(row) => row.sequence(),
            Form::Packed(row) => row.sequence(),
        }
    }

    /// Returns the number of tokens: positions used, kept or not. A packed row stores the
    /// difference from `length`, its entry in the array of lengths.
    pub fn tokens(self, length: u16) -> u32 {
        match self.0 {
            Form::Words(row) => row.tokens(),
            Form::Packed(row) => row.holes().wrapping_add(length as u32),
        }
    }

    /// Returns the key.
    #[inline(always)]
    pub fn key(self) -> RowKey {
        match self.0 {
            Form::Words(row) => row.key(),
            Form::Packed(row) => row.key(),
        }
    }

    /// Returns the death stamp, or 0 while the row lives.
    #[inline(always)]
    pub fn death(self) -> u32 {
        match self.0 {
            Form::Words(row) => row.death(),
            Form::Packed(row) => row.death(),
        }
    }

    /// True if the row, which has this local id, ever came to life. A row that was given up is born
    /// dead.
    #[inline]
    pub fn has_lived(self, local: u32) -> bool {
        self.death() != local + 1
    }

    /// True if the row is dead for a snapshot that sees `visible` rows from the segment's base.
    #[inline(always)]
    pub fn is_dead(self, visible: u64) -> bool {
        let stamp = self.death();
        stamp != 0 && stamp as u64 <= visible
    }
}

/// Highest death stamp: the row died by that operation or a later one. `u32::MAX` is not a stamp,
/// so that an inverted stamp is never 0.
pub(crate) const STAMP_MAX: u32 = u32::MAX - 1;

/// Returns the death stamp of a row killed by the operation that is row `by`, counted from the
/// segment's base.
pub(crate) fn stamp_of(by: u64) -> u32 {
    (by + 1).min(STAMP_MAX.into()) as u32
}

impl<'a> RowWords<'a> {
    /// Makes the row in these three words.
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

    /// Prefetches the row.
    #[inline(always)]
    pub fn prefetch(self) {
        spirit_mem::prefetch(&self.0[0]);
    }

    /// Returns the sequence number, counted from the segment's base.
    #[inline]
    pub fn sequence(self) -> u32 {
        self.0[0].load(Relaxed) as u32
    }

    /// Returns the place of its vector, in units.
    #[inline]
    pub fn vector(self) -> u32 {
        (self.0[0].load(Relaxed) >> 32) as u32
    }

    /// Returns the number of tokens: positions used, kept or not.
    #[inline]
    pub fn tokens(self) -> u32 {
        self.0[1].load(Relaxed) as u32
    }

    /// Returns the key.
    #[inline]
    pub fn key(self) -> RowKey {
        RowKey(self.0[2].load(Relaxed))
    }

    /// Returns the death stamp, or 0 while the row lives.
    #[inline]
    pub fn death(self) -> u32 {
        (self.0[1].load(Relaxed) >> 32) as u32
    }

    /// Kills the row by the operation that is row `by`, counted from this segment's base. Ingest
    /// role only. The death takes effect for readers when that operation becomes visible.
    pub fn kill(self, by: u64) {
        let word = self.tokens() as u64 | (stamp_of(by) as u64) << 32;
        self.0[1].store(word, Release);
    }
}

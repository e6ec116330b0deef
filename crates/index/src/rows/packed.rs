//! Packed rows, in a segment with packed lists: chunks in which each row takes the bits that its
//! chunk needs.
//!
//! Sequence numbers and automatic keys grow by one from row to row, with exceptions. A document has
//! as many tokens as its length, plus holes. So a chunk's head has the first of these numbers, and
//! a row has the difference from its expected numbers. Most differences are 0 and take no bits. A
//! head is three words:
//!
//! | word | |
//! |---|---|
//! | 0 | base of keys |
//! | 1 | base of sequence numbers (low half); then, a byte each, the bits of a row's |
//! | | sequence number, holes and key, and [flags](Head) |
//! | 2 | the place of the death stamp of the chunk's first row |
//!
//! The rows follow as a stream of bits, lowest first. Death stamps lie elsewhere, since they
//! change. They are stored inverted. So no half of a word is 0, and a page of zeros is damage
//! instead of living rows.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use spirit_mem::{Region, Span};

use crate::rows::{KeyKind, RowKey};

/// Flag in a directory: the chunk has packed rows.
pub(crate) const PACKED_CHUNK: u64 = 1;
/// Stored death stamps of two living rows.
pub(crate) const ALIVE: u64 = u64::MAX;
/// Number of words of a chunk's head.
pub(crate) const HEAD_WORDS: u64 = 3;

/// Flag: keys are automatic, numbers that grow by one from row to row.
const AUTOMATIC: u8 = 1;
/// Flag: some rows have no key, and all bits of their key are set.
const SOME_WITHOUT: u8 = 2;

/// Largest number of bits of a sequence number, the holes and a key.
const WIDTHS_MAX: [u8; 3] = [32, 32, 64];

/// Returns the stored word of the death stamps of two rows.
pub(crate) fn word_of_stamps([first, second]: [u32; 2]) -> u64 {
    !(u64::from(first) | u64::from(second) << 32)
}

/// Returns the death stamp of the first or the second row from a stored word.
pub(crate) fn stamp_in(word: u64, second: bool) -> u32 {
    !(word >> (32 * u32::from(second))) as u32
}

/// The fields of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Sequence number, counted from the segment's base.
    pub(crate) sequence: u32,
    /// Number of tokens, less the row's entry in the array of lengths.
    pub(crate) holes: u32,
    /// The key's word.
    pub(crate) key: RowKey,
}

/// The common data of the rows of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    key: u64,
    sequence: u32,
    widths: [u8; 3],
    flags: u8,
    /// Offset of the death stamp of the first row.
    pub(crate) deaths: u64,
}

impl Head {
    /// Makes the head of a chunk of these rows. Their death stamps have no place yet.
    pub(crate) fn of(rows: &[Fields]) -> Head {
        let keyed = || rows.iter().filter(|row| row.key != RowKey::default());
        let is_automatic = |row: &Fields| matches!(row.key.kind(), KeyKind::Automatic(_));
        let automatic = if keyed().all(is_automatic) { AUTOMATIC } else { 0 };
        let without = if keyed().count() < rows.len() { SOME_WITHOUT } else { 0 };
        let mut head = Head { flags: automatic | without, ..Head::default() };
        let sequences = (0i64..).zip(rows).map(|(i, row)| row.sequence as i64 - i);
        head.sequence = sequences.min().unwrap_or(0) as u32;
        let keys = (0u64..).zip(rows).filter(|(_, row)| row.key != RowKey::default());
        head.key = match automatic {
            0 => keys.map(|(_, row)| row.key.0).min().unwrap_or(0),
            _ => {
                let numbers = keys.map(|(i, row)| (row.key.0 >> 2).cast_signed() - i.cast_signed());
                numbers.min().unwrap_or(0).cast_unsigned()
            }
        };
        let mut highest = [0; 3];
        for (i, row) in (0..).zip(rows) {
            for (highest, value) in highest.iter_mut().zip(head.residues(i, *row)) {
                *highest = value.unwrap_or(0).max(*highest);
            }
        }
        // The value with all bits set is not a key's.
        highest[2] += u64::from(without != 0);
        head.widths = highest.map(|highest| (u64::BITS - highest.leading_zeros()) as u8);
        head
    }

    /// Returns the differences of row `i` from its expected values; `None` for a missing key.
    fn residues(&self, i: u32, row: Fields) -> [Option<u64>; 3] {
        let sequence = row.sequence.wrapping_sub(self.sequence).wrapping_sub(i);
        let key = match self.flags & AUTOMATIC {
            0 => row.key.0.wrapping_sub(self.key),
            _ => (row.key.0 >> 2).wrapping_sub(self.key).wrapping_sub(i as u64),
        };
        let key = (row.key != RowKey::default()).then_some(key);
        [Some(sequence as u64), Some(row.holes as u64), key]
    }

    /// Parses a head's words.
    fn from_words([key, shape, deaths]: [u64; HEAD_WORDS as usize]) -> Head {
        let [.., sequence, holes, keys, flags] = shape.to_le_bytes();
        let widths = [sequence, holes, keys];
        Head { key, sequence: shape as u32, widths, flags, deaths }
    }

    /// Returns the head's words.
    fn words(&self) -> [u64; HEAD_WORDS as usize] {
        let [a, b, c, d] = self.sequence.to_le_bytes();
        let [sequence, holes, keys] = self.widths;
        let shape = u64::from_le_bytes([a, b, c, d, sequence, holes, keys, self.flags]);
        [self.key, shape, self.deaths]
    }

    /// Returns the bits of a row.
    fn row_bits(&self) -> u64 {
        self.widths.map(u64::from).iter().sum()
    }

    /// Returns the words of a chunk of this many rows, with its head.
    pub(crate) fn chunk_words(&self, rows: u32) -> u64 {
        HEAD_WORDS + (self.row_bits() * rows as u64).div_ceil(64)
    }

    /// True if this can be a head.
    pub(crate) fn is_right(&self) -> bool {
        self.widths.iter().zip(WIDTHS_MAX).all(|(width, most)| *width <= most)
            && self.flags <= AUTOMATIC | SOME_WITHOUT
    }

    /// Appends the chunk of these rows, which have this head.
    pub(crate) fn write(&self, rows: &[Fields], out: &mut Vec<u64>) {
        out.extend(self.words());
        let (first, mut bit) = (out.len(), 0);
        out.resize(first + (self.row_bits() * rows.len() as u64).div_ceil(64) as usize, 0);
        for (i, row) in (0..).zip(rows) {
            for (value, width) in self.residues(i, *row).into_iter().zip(self.widths) {
                put_bits(&mut out[first..], bit, value.unwrap_or(u64::MAX), width);
                bit += width as u64;
            }
        }
    }
}

/// Returns a mask of the lowest `width` bits.
#[inline]
fn mask(width: u8) -> u64 {
    u64::MAX.checked_shr(u64::BITS.saturating_sub(width as u32)).unwrap_or(0)
}

fn put_bits(words: &mut [u64], bit: u64, value: u64, width: u8) {
    let (index, shift) = ((bit / 64) as usize, (bit % 64) as u32);
    let value = value & mask(width);
    if value == 0 {
        return;
    }
    words[index] |= value << shift;
    if shift + width as u32 > u64::BITS && shift > 0 {
        words[index + 1] |= value >> (u64::BITS - shift);
    }
}

/// A row of a packed chunk.
#[derive(Clone, Copy)]
pub(crate) struct PackedRow<'a> {
    region: &'a Region,
    head: &'a [AtomicU64],
    /// Offset of the chunk's rows.
    rows: u64,
    /// The row's index in the chunk.
    index: u32,
}

impl<'a> PackedRow<'a> {
    /// Returns row `index` of the chunk at `chunk`, or `None` if that leaves the region.
    #[inline]
    pub(crate) fn at(region: &'a Region, chunk: u64, index: u32) -> Option<PackedRow<'a>> {
        let head = region.get(Span::new(chunk, HEAD_WORDS))?;
        Some(PackedRow { region, head, rows: chunk + HEAD_WORDS * 8, index })
    }

    /// Returns the head of its chunk.
    #[inline]
    pub(crate) fn head(self) -> Head {
        Head::from_words([0, 1, 2].map(|word: usize| self.head[word].load(Relaxed)))
    }

    /// Prefetches the head.
    #[inline]
    pub(crate) fn prefetch(self) {
        spirit_mem::prefetch(&self.head[0]);
    }

    /// Returns the bits of a field: 0 the sequence number, 1 the holes, 2 the key.
    #[inline]
    fn field(self, head: &Head, field: usize) -> u64 {
        let width = head.widths[field];
        if width == 0 {
            return 0;
        }
        let before: u64 = head.widths[..field].iter().map(|width| *width as u64).sum();
        let bit = head.row_bits() * self.index as u64 + before;
        let (word, shift) = (bit / 64, (bit % 64) as u32);
        let load = |word: u64| {
            let span = Span::<AtomicU64>::new(self.rows + word * 8, 1);
            self.region.get(span).map_or(0, |words| words[0].load(Relaxed))
        };
        let mut value = load(word) >> shift;
        if shift + width as u32 > u64::BITS && shift > 0 {
            value |= load(word + 1) << (u64::BITS - shift);
        }
        value & mask(width)
    }

    /// Returns the sequence number, counted from the segment's base.
    #[inline]
    pub(crate) fn sequence(self) -> u32 {
        let head = self.head();
        let residue = self.field(&head, 0) as u32;
        head.sequence.wrapping_add(self.index).wrapping_add(residue)
    }

    /// Returns the number of tokens, less the row's entry in the array of lengths.
    #[inline]
    pub(crate) fn holes(self) -> u32 {
        self.field(&self.head(), 1) as u32
    }

    /// Returns the key.
    #[inline]
    pub(crate) fn key(self) -> RowKey {
        let head = self.head();
        let residue = self.field(&head, 2);
        if head.flags & SOME_WITHOUT != 0 && residue == mask(head.widths[2]) {
            return RowKey::default();
        }
        let key = head.key.wrapping_add(residue);
        match head.flags & AUTOMATIC {
            0 => RowKey(key),
            _ => RowKey::automatic(key.wrapping_add(self.index as u64)),
        }
    }

    /// Returns the death stamp, or 0 while the row lives.
    #[inline]
    pub(crate) fn death(self) -> u32 {
        let at = self.head[2].load(Relaxed).wrapping_add(self.index as u64 / 2 * 8);
        let word = self.region.get(Span::<AtomicU64>::new(at, 1));
        word.map_or(0, |word| stamp_in(word[0].load(Acquire), self.index % 2 == 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rows::KEY_APART;

    /// What is read of the rows once they are packed.
    fn read(rows: &[Fields]) -> (Vec<Fields>, u64) {
        let region = Region::reserve(1 << 18, spirit_mem::Residency::OnTouch).unwrap();
        let head = Head { deaths: 64, ..Head::of(rows) };
        assert!(head.is_right());
        let mut words = Vec::new();
        head.write(rows, &mut words);
        assert_eq!(words.len() as u64, head.chunk_words(rows.len() as u32));
        for (to, word) in region.view(Span::<AtomicU64>::new(1 << 17, 1 << 14)).iter().zip(&words) {
            to.store(*word, Relaxed);
        }
        let read = |index| {
            let row = PackedRow::at(&region, 1 << 17, index).unwrap();
            assert_eq!(row.head(), head);
            Fields { sequence: row.sequence(), holes: row.holes(), key: row.key() }
        };
        ((0..rows.len() as u32).map(read).collect(), words.len() as u64)
    }

    fn key() -> impl Strategy<Value = RowKey> {
        prop_oneof![
            4 => (0u64..1 << 60).prop_map(RowKey::automatic),
            2 => prop::collection::vec(any::<u8>(), 1..8).prop_map(|bytes| RowKey::inline(&bytes)),
            1 => (0u32..1 << 30, 8usize..513).prop_map(|(at, len)| RowKey::stored(at | KEY_APART, len)),
            1 => Just(RowKey::default()),
        ]
    }

    proptest! {
        #[test]
        fn any_rows_come_back(
            rows in prop::collection::vec((any::<u32>(), any::<u32>(), key()), 1..100),
            bits in 0u32..33,
        ) {
            let short = |value: u32| value.checked_shr(32 - bits).unwrap_or(0);
            let fields = |(sequence, holes, key)| Fields { sequence: short(sequence), holes: short(holes), key };
            let rows: Vec<Fields> = rows.into_iter().map(fields).collect();
            prop_assert_eq!(read(&rows).0, rows);
        }

        #[test]
        fn numbers_with_gaps_come_back(gaps in prop::collection::vec((0u32..4, any::<bool>()), 1..300)) {
            let (mut sequence, mut number) = (7, 3);
            let rows: Vec<Fields> = gaps.into_iter().map(|(gap, is_document)| {
                sequence += gap;
                number += u64::from(is_document);
                let key = if is_document { RowKey::automatic(number) } else { RowKey::default() };
                Fields { sequence, holes: 0, key }
            }).collect();
            prop_assert_eq!(read(&rows).0, rows);
        }
    }

    #[test]
    fn what_is_as_expected_takes_no_room() {
        let row =
            |i: u32| Fields { sequence: 900 + i, holes: 0, key: RowKey::automatic(5 + i as u64) };
        let mut rows: Vec<Fields> = (0..4096).map(row).collect();
        assert_eq!(read(&rows), (rows.clone(), HEAD_WORDS));
        rows[17].holes = 1;
        assert_eq!(read(&rows), (rows.clone(), HEAD_WORDS + 4096 / 64));
        let deletes: Vec<Fields> =
            (0..100).map(|i| Fields { sequence: i, ..Fields::default() }).collect();
        assert_eq!(read(&deletes), (deletes.clone(), HEAD_WORDS + 2));
    }
}

//! Columns: a flushed segment's copy of its rows' [values](crate::ground::values), field by field
//! (doc values). The column of a field of text has lengths: numbers of kept tokens, saturated like
//! in the array of [lengths](crate::rows::lengths). Rows without tokens have none.
//!
//! | words | |
//! |---|---|
//! | 0 | number of columns (low half), rows of the segment (high half) |
//! | 4 for each column, by field | its *entry* |
//! | .. | the contents, column by column, each part from a word on |
//!
//! An entry:
//!
//! | word | low half | high half |
//! |---|---|---|
//! | 0 | field (8 bits), kind (8), value bytes (8: 0, 1, 2, 4, 8), form (8) | rows with a value |
//! | 1 | number of values | first word of the contents |
//! | 2, 3 | least value, highest value; for lengths their sum, the highest one | |
//!
//! Values are in [sortable](ValueKind::sortable) form. The value of a keyword is the place of its
//! term in the segment's [order of terms](crate::terms::term_order). Values are stored less the
//! least one, but lengths are stored unchanged. They take as few bytes as the highest needs. Rows
//! are counted from the newest, like ranks. A column has the form that takes less room:
//!
//! | form | | |
//! |---|---|---|
//! | 0 | *dense* | a bit a row, set if it has a value, unless all have; then a value a row, or 0 |
//! | 1 | *listed* | the row of each value, 32 bits, ascending; then the values |
//!
//! Rows with several values of a field are listed, and their values ascend. The least and the
//! highest value of keywords are the first and the last term of their field. So columns take at
//! most 12 bytes a value and 48 a column, for any contents of the segment. The fresh form had room
//! for this ([`geometry`](crate::ground::geometry)).
//!
//! A field of whole numbers may have been widened to floating-point ones. Columns from before stay
//! as they are: [`read_as`](Column::read_as) converts their values, and a range's ends to exactly
//! those stored values that are within.
//!
//! One word of a descriptor leads to all columns, as to texts. The copy in the second tier is
//! equal, word for word. Data read from there may be damaged. Its [shape] was checked, so that
//! nothing leads out of it. Values may be any. A check for damage may read columns while their
//! place is reused. So data outside the region reads as missing.

pub(crate) mod entry;
mod rows;
pub mod shape;
pub(crate) mod writer;

use std::ops::{Range, RangeInclusive};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_kernel::{Level, Width, and_bits, or_bits, range_bits};
use spirit_mem::{Region, Span};

use crate::ground::posting::{LOCAL_MAX, rank_of};
use crate::ground::term::FieldId;
use crate::ground::values::ValueKind;
use crate::rows::lengths::{LENGTH_BYTES, LengthArray, Statistics};
use entry::{ENTRY_WORDS, Entry, HEAD_WORDS, Parts, of_head};

const WORD: u64 = size_of::<u64>() as u64;
/// Number of words of bits that are found at a time.
const WORDS: usize = 64;

/// The stored columns of a segment.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    region: &'a Region,
    at: u64,
    rows: u32,
    entries: &'a [AtomicU64],
}

impl<'a> Columns<'a> {
    /// Returns the columns at `at`.
    pub fn at(region: &'a Region, at: u64) -> Columns<'a> {
        let head = region.view(Span::<AtomicU64>::new(at, HEAD_WORDS));
        let (count, rows) = of_head(head[0].load(Relaxed));
        let entries = Span::new(at + HEAD_WORDS * WORD, count as u64 * ENTRY_WORDS);
        Columns { region, at, rows, entries: region.get(entries).unwrap_or(&[]) }
    }

    /// Returns the number of rows of the segment.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the number of columns.
    fn len(&self) -> usize {
        self.entries.len() / ENTRY_WORDS as usize
    }

    fn entry(&self, index: usize) -> Option<Entry> {
        let first = index * ENTRY_WORDS as usize;
        Entry::from_words(&self.entries[first..first + ENTRY_WORDS as usize])
    }

    /// Returns the column at `index`.
    fn get(&self, index: usize) -> Option<Column<'a>> {
        let entry = self.entry(index)?;
        let Parts { rows: words, values } = entry.parts(self.rows);
        let first = self.at + entry.first as u64 * WORD;
        let (bits, listed) = if entry.is_listed { (0, entry.values as u64) } else { (words, 0) };
        Some(Column {
            entry,
            kind: entry.kind,
            rows: self.rows,
            bits: self.region.get(Span::new(first, bits))?,
            listed: self.region.get(Span::new(first, listed))?,
            values: self.region.get(Span::new(first + words * WORD, values))?,
        })
    }

    /// Yields all columns, by field.
    pub fn iter(self) -> impl Iterator<Item = Column<'a>> + use<'a> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }

    /// Returns the column of a field.
    pub fn of_field(&self, field: FieldId) -> Option<Column<'a>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)?.field < field { low = middle + 1 } else { high = middle }
        }
        let is_there = low < self.len();
        is_there.then(|| self.get(low)).flatten().filter(|column| column.field() == field)
    }

    /// Returns the lengths of a field of text, or ones where lengths do not matter.
    pub(crate) fn lengths_of(&self, field: FieldId) -> LengthArray<'a> {
        let lengths = self.of_field(field).filter(|column| column.kind() == ValueKind::Text);
        let array = lengths.and_then(|Column { entry, listed, .. }| {
            let Parts { rows: before, values } = entry.parts(self.rows);
            let first = self.at + (entry.first as u64 + before) * WORD;
            let units = self.region.get(Span::new(first, values * WORD / LENGTH_BYTES))?;
            let array = LengthArray::packed(units, self.rows, entry.width == Some(Width::One));
            Some(if entry.is_listed { array.of_rows(listed) } else { array })
        });
        array.unwrap_or(LengthArray::ones(self.rows))
    }

    /// Returns the bytes of all columns.
    pub fn bytes(&self) -> u64 {
        let last = self.len().checked_sub(1).and_then(|last| self.entry(last));
        last.map_or(0, |last| last.end(self.rows) * WORD)
    }
}

/// The values of one field in the rows of a flushed segment, dead rows included. All values are in
/// [sortable](ValueKind::sortable) form. Those of keywords are places in the segment's order of
/// terms.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    entry: Entry,
    /// The kind that its values are read as.
    kind: ValueKind,
    /// Number of rows of the segment.
    rows: u32,
    /// In a dense column, a bit for each row that has a value; empty if all have.
    bits: &'a [AtomicU64],
    /// In a listed column, the row of each value.
    listed: &'a [AtomicU32],
    values: &'a [AtomicU64],
}

impl Column<'_> {
    /// Returns its field.
    pub fn field(&self) -> FieldId {
        self.entry.field
    }

    /// Returns the kind of its values.
    pub fn kind(&self) -> ValueKind {
        self.kind
    }

    /// Returns the column with its values read as this kind, if they can be.
    #[inline]
    pub(crate) fn read_as(self, kind: ValueKind) -> Option<Self> {
        self.entry.kind.reads_as(kind).then_some(Column { kind, ..self })
    }

    /// Returns a stored value as one of the column's kind.
    #[inline]
    fn read(&self, stored: u64) -> u64 {
        if self.kind == self.entry.kind {
            return stored;
        }
        self.entry.kind.converted(self.kind, stored)
    }

    /// Returns the least value. For keywords, it is the first term of the field.
    pub fn min(&self) -> u64 {
        self.read(self.entry.min)
    }

    /// Returns the highest value. For keywords, it is the last term of the field.
    pub fn max(&self) -> u64 {
        self.read(self.entry.max)
    }

    /// Returns the number of values.
    pub fn values(&self) -> u64 {
        self.entry.values as u64
    }

    /// Returns the numbers of documents and tokens, for lengths of texts.
    pub fn statistics(&self) -> Statistics {
        Statistics { documents: self.rows_with(), tokens: self.entry.tokens }
    }

    /// Returns the number of rows with a value.
    pub fn rows_with(&self) -> u64 {
        self.entry.rows as u64
    }

    /// True if a row has more than one value.
    pub fn is_multi(&self) -> bool {
        self.entry.values > self.entry.rows
    }

    /// True if it takes no more room than it needs.
    pub(crate) fn is_tight(&self) -> bool {
        let Entry { min, max, .. } = self.entry;
        let width = entry::width_for(max.wrapping_sub(min));
        Entry { width, ..self.entry }.in_least_room(self.rows) == self.entry
    }

    /// True if there is no bit behind that of the last row.
    pub(crate) fn ends_with_its_rows(&self) -> bool {
        let used = self.rows as usize % 64;
        let last = self.bits.last().map_or(0, |word| word.load(Relaxed));
        used == 0 || last & !ones(used) == 0
    }

    /// Returns the rank of the segment's newest row.
    pub fn base_rank(&self) -> u32 {
        rank_of(self.rows.wrapping_sub(1) & LOCAL_MAX)
    }

    /// Returns the least value of a row.
    #[inline]
    pub fn first(&self, rank: u32) -> Option<u64> {
        self.of(rank).next()
    }

    /// Yields the values of a row, ascending.
    #[inline]
    pub fn of(&self, rank: u32) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let index = rank.wrapping_sub(self.base_rank());
        self.slots(index).map(|slot| self.read(self.value(slot)))
    }

    /// Yields all values with the ranks of their rows, which ascend. Those of one row ascend.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let slots = if self.entry.is_listed { self.listed.len() } else { self.rows as usize };
        let of_slot =
            |slot| Some((self.base_rank() + self.row(slot)?, self.read(self.value(slot))));
        (0..slots).filter_map(of_slot)
    }

    /// Sets the bits of rows that have a value `within`, in the window `bits` of ranks from `rank`
    /// on. No rank of the window is below the newest row's.
    pub fn range_bits(
        &self,
        level: Level,
        rank: u32,
        within: RangeInclusive<u64>,
        bits: &mut [u64],
    ) {
        let Entry { min, max, .. } = self.entry;
        let Some((low, high)) = self.stored_within(&within) else { return };
        if (low, high) == (min, max) {
            return self.presence_bits(level, rank, bits);
        }
        let within = low - min..=high - min;
        let first = rank.wrapping_sub(self.base_rank());
        if self.entry.is_listed {
            self.listed_bits(level, first, within, bits);
        } else {
            self.dense_bits(level, first as usize, within, bits);
        }
    }

    /// Returns the least and the highest number that a stored value may be, if its value is
    /// `within`.
    fn stored_within(&self, within: &RangeInclusive<u64>) -> Option<(u64, u64)> {
        let Entry { min, max, .. } = self.entry;
        if within.is_empty() || *within.end() < self.min() || *within.start() > self.max() {
            return None;
        }
        if self.kind == self.entry.kind {
            return Some(((*within.start()).max(min), (*within.end()).min(max)));
        }
        // No conversion changes the order, so both ends are found by halving.
        let low = first_in(min, max, |stored| self.read(stored) >= *within.start())?;
        let above = first_in(min, max, |stored| self.read(stored) > *within.end());
        let high = above.map_or(Some(max), |above| above.checked_sub(1))?;
        (low <= high).then_some((low, high))
    }

    /// Like [`range_bits`](Self::range_bits), but for rows that have any value.
    pub fn presence_bits(&self, level: Level, rank: u32, bits: &mut [u64]) {
        let first = rank.wrapping_sub(self.base_rank());
        if self.entry.is_listed {
            let slots = self.slots_in(first, bits.len());
            slots.for_each(|slot| self.set(slot, first, bits));
        } else if self.bits.is_empty() {
            let left = (self.rows as usize).saturating_sub(first as usize);
            for (number, word) in bits.iter_mut().enumerate() {
                *word |= ones(left.saturating_sub(number * 64));
            }
        } else {
            or_bits(level, self.bits, first as usize, bits);
        }
    }

    fn dense_bits(
        &self,
        level: Level,
        first: usize,
        within: RangeInclusive<u64>,
        bits: &mut [u64],
    ) {
        let Some(width) = self.entry.width else { return };
        let mut found = [0; WORDS];
        for (number, bits) in bits.chunks_mut(WORDS).enumerate() {
            let first = first + number * WORDS * 64;
            let found = &mut found[..bits.len()];
            range_bits(level, self.values, width, first, within.clone(), found);
            if !self.bits.is_empty() {
                and_bits(level, self.bits, first, found);
            }
            // The word of the last row's value may have more bits behind it.
            let left = (self.rows as usize).saturating_sub(first);
            for (number, (word, found)) in bits.iter_mut().zip(found).enumerate() {
                *word |= *found & ones(left.saturating_sub(number * 64));
            }
        }
    }

    fn listed_bits(&self, level: Level, first: u32, within: RangeInclusive<u64>, bits: &mut [u64]) {
        let Some(width) = self.entry.width else { return };
        let mut found = [0; WORDS];
        let slots = self.slots_in(first, bits.len());
        for start in slots.clone().step_by(WORDS * 64) {
            let count = (slots.end - start).min(WORDS * 64);
            let found = &mut found[..count.div_ceil(64)];
            range_bits(level, self.values, width, start, within.clone(), found);
            for (number, word) in found.iter().enumerate() {
                let mut left = word & ones(count - number * 64);
                while left != 0 {
                    self.set(start + number * 64 + left.trailing_zeros() as usize, first, bits);
                    left &= left - 1;
                }
            }
        }
    }

    /// Returns the row that has the value in a slot, counted from the newest.
    #[inline]
    fn row(&self, slot: usize) -> Option<u32> {
        match self.entry.is_listed {
            true => Some(self.listed[slot].load(Relaxed)).filter(|row| *row < self.rows),
            false => self.has(slot).then_some(slot as u32),
        }
    }

    /// Sets the bit of the row that has the value in a slot. `first` has the first bit.
    fn set(&self, slot: usize, first: u32, bits: &mut [u64]) {
        let bit = self.row(slot).map_or(usize::MAX, |row| row.wrapping_sub(first) as usize);
        if let Some(word) = bits.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    /// Returns the slots of listed values of rows from `first` on, as many rows as `words` words
    /// have bits.
    fn slots_in(&self, first: u32, words: usize) -> Range<usize> {
        let end = first as u64 + words as u64 * 64;
        let start = self.listed.partition_point(|row| row.load(Relaxed) < first);
        let rest = &self.listed[start..];
        start..start + rest.partition_point(|row| (row.load(Relaxed) as u64) < end)
    }

    /// Returns the slots of the values of the row with this index.
    #[inline]
    fn slots(&self, index: u32) -> Range<usize> {
        if self.entry.is_listed {
            let start = self.listed.partition_point(|row| row.load(Relaxed) < index);
            let same = self.listed[start..].iter().take_while(|row| row.load(Relaxed) == index);
            return start..start + same.count();
        }
        let index = index as usize;
        if self.has(index) { index..index + 1 } else { 0..0 }
    }

    /// True if a row of a dense column has a value.
    #[inline]
    fn has(&self, index: usize) -> bool {
        if self.bits.is_empty() {
            return index < self.rows as usize;
        }
        self.bits.get(index / 64).is_some_and(|word| word.load(Relaxed) >> (index % 64) & 1 == 1)
    }

    /// Returns the value in a slot, which must exist.
    #[inline]
    fn value(&self, slot: usize) -> u64 {
        match self.entry.width {
            None => self.entry.min,
            Some(Width::One) => self.packed::<1>(slot),
            Some(Width::Two) => self.packed::<2>(slot),
            Some(Width::Four) => self.packed::<4>(slot),
            Some(Width::Eight) => self.packed::<8>(slot),
        }
    }

    /// Returns the value in a slot that has this many bytes.
    #[inline]
    fn packed<const BYTES: usize>(&self, slot: usize) -> u64 {
        let word = self.values[slot * BYTES / 8].load(Relaxed);
        let value = word >> (8 * (slot * BYTES % 8)) & u64::MAX >> (64 - 8 * BYTES);
        self.entry.min.wrapping_add(value)
    }
}

/// Returns the first number from `low` to `high` for which `is_right` holds. It holds for all that
/// follow. The loop ends because each round halves the numbers that are left.
fn first_in(low: u64, high: u64, is_right: impl Fn(u64) -> bool) -> Option<u64> {
    if low > high || !is_right(high) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_right(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// Returns a mask of the lowest `count` bits, or all if there are no more.
fn ones(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests;

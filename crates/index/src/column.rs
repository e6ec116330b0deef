//! Columns: what a flushed segment keeps of its rows' [values](crate::ground::values), field by field (doc values). That of a field of text has lengths:
//! how many tokens were kept, saturated as in the array of [lengths](crate::rows::lengths); rows without any have none.
//!
//! | words | |
//! |---|---|
//! | 0 | number of columns (low half), rows of the segment (high half) |
//! | 4 for each column, by field | its *entry* |
//! | .. | what it has, one column's behind the other's, each part from a word on |
//!
//! An entry:
//!
//! | word | low half | high half |
//! |---|---|---|
//! | 0 | field (8 bits), kind (8), bytes of a value (8: 0, 1, 2, 4 or 8), form (8) | rows that have a value |
//! | 1 | number of values | first word of what it has |
//! | 2, 3 | the least value, the highest one; of lengths all of them together, the highest one | |
//!
//! Values are in [sortable](ValueKind::sortable) form, that of a keyword is the place of its term in the segment's
//! [order of terms](crate::terms::term_order), less the least (a length is as it is), in as few bytes as the highest needs. Rows are counted from the newest, as ranks
//! are. A column has one of two forms, that which takes less room:
//!
//! | form | | |
//! |---|---|---|
//! | 0 | *dense* | a bit a row that says whether it has a value, if not all rows have one; then a value for each row, 0 where there is none |
//! | 1 | *listed* | the row of each value, 32 bits, ascending; then the values, those of one row ascending |
//!
//! Rows with several values of a field are listed. The least and the highest value of keywords are the first and the last
//! term of their field. So whatever a segment has takes at most 12 bytes a value and 48 a column, which is what its fresh form had room
//! for ([`geometry`](crate::ground::geometry)).
//!
//! One word of a descriptor leads to all of it, as to texts, and the copy in the second tier is the same, word for word. What is read from there
//! may be damaged: its [shape] was looked at, so that nothing leads out of it, and values may be any. Anyone who looks for damage may read it
//! while it becomes something else, so what leads out of the region all the same is not there.

pub(crate) mod entry;
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
/// Words of bits that are found at a time.
const WORDS: usize = 64;

/// The columns of a segment, where they lie.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    region: &'a Region,
    at: u64,
    rows: u32,
    entries: &'a [AtomicU64],
}

impl<'a> Columns<'a> {
    /// Those at `at`.
    pub fn at(region: &'a Region, at: u64) -> Columns<'a> {
        let head = region.view(Span::<AtomicU64>::new(at, HEAD_WORDS));
        let (count, rows) = of_head(head[0].load(Relaxed));
        let entries = Span::new(at + HEAD_WORDS * WORD, count as u64 * ENTRY_WORDS);
        Columns { region, at, rows, entries: region.get(entries).unwrap_or(&[]) }
    }

    /// Rows of the segment.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.entries.len() / ENTRY_WORDS as usize
    }

    fn entry(&self, index: usize) -> Option<Entry> {
        let first = index * ENTRY_WORDS as usize;
        Entry::from_words(&self.entries[first..first + ENTRY_WORDS as usize])
    }

    /// The one at `index`.
    fn get(&self, index: usize) -> Option<Column<'a>> {
        let entry = self.entry(index)?;
        let Parts { rows: words, values } = entry.parts(self.rows);
        let first = self.at + entry.first as u64 * WORD;
        let (bits, listed) = if entry.is_listed { (0, entry.values as u64) } else { (words, 0) };
        Some(Column {
            entry,
            rows: self.rows,
            bits: self.region.get(Span::new(first, bits))?,
            listed: self.region.get(Span::new(first, listed))?,
            values: self.region.get(Span::new(first + words * WORD, values))?,
        })
    }

    /// All of them, by field.
    pub fn iter(self) -> impl Iterator<Item = Column<'a>> + use<'a> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }

    /// That of a field.
    pub fn of_field(&self, field: FieldId) -> Option<Column<'a>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)?.field < field { low = middle + 1 } else { high = middle }
        }
        let is_there = low < self.len();
        is_there.then(|| self.get(low)).flatten().filter(|column| column.field() == field)
    }

    /// The lengths of a field of text; where they do not matter, ones.
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

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        let last = self.len().checked_sub(1).and_then(|last| self.entry(last));
        last.map_or(0, |last| last.end(self.rows) * WORD)
    }
}

/// The values that the rows of a flushed segment have of one field, dead rows among them. All values are in
/// [sortable](ValueKind::sortable) form; those of keywords are places in the segment's order of terms.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    entry: Entry,
    /// Rows of the segment.
    rows: u32,
    /// Of a dense column, a bit each row that has a value; empty if all have.
    bits: &'a [AtomicU64],
    /// Of a listed column, the row of each value.
    listed: &'a [AtomicU32],
    values: &'a [AtomicU64],
}

impl Column<'_> {
    /// Its field.
    pub fn field(&self) -> FieldId {
        self.entry.field
    }

    /// What its values are.
    pub fn kind(&self) -> ValueKind {
        self.entry.kind
    }

    /// No value is below this one, which there is; of keywords, it is the first term of the field.
    pub fn min(&self) -> u64 {
        self.entry.min
    }

    /// No value is above this one, which there is; of keywords, it is the last term of the field.
    pub fn max(&self) -> u64 {
        self.entry.max
    }

    /// How many values there are.
    pub fn values(&self) -> u64 {
        self.entry.values as u64
    }

    /// Of lengths of texts: documents and their tokens.
    pub fn statistics(&self) -> Statistics {
        Statistics { documents: self.rows_with(), tokens: self.entry.tokens }
    }

    /// How many rows have a value.
    pub fn rows_with(&self) -> u64 {
        self.entry.rows as u64
    }

    /// Whether a row has more than one value.
    pub fn is_multi(&self) -> bool {
        self.entry.values > self.entry.rows
    }

    /// Whether it takes no more room than it needs.
    pub(crate) fn is_tight(&self) -> bool {
        let Entry { min, max, .. } = self.entry;
        let width = entry::width_for(max.wrapping_sub(min));
        Entry { width, ..self.entry }.in_least_room(self.rows) == self.entry
    }

    /// Whether there is no bit behind that of the last row.
    pub(crate) fn ends_with_its_rows(&self) -> bool {
        let used = self.rows as usize % 64;
        let last = self.bits.last().map_or(0, |word| word.load(Relaxed));
        used == 0 || last & !ones(used) == 0
    }

    /// The rank of the segment's newest row.
    pub fn base_rank(&self) -> u32 {
        rank_of(self.rows.wrapping_sub(1) & LOCAL_MAX)
    }

    /// The least value of a row.
    #[inline]
    pub fn first(&self, rank: u32) -> Option<u64> {
        self.of(rank).next()
    }

    /// The values of a row, ascending.
    #[inline]
    pub fn of(&self, rank: u32) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let index = rank.wrapping_sub(self.base_rank());
        self.slots(index).map(|slot| self.value(slot))
    }

    /// All values with the ranks of their rows, which ascend; those of one row ascend.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let slots = if self.entry.is_listed { self.listed.len() } else { self.rows as usize };
        let of_slot = |slot| Some((self.base_rank() + self.row(slot)?, self.value(slot)));
        (0..slots).filter_map(of_slot)
    }

    /// Adds to the window `bits` of ranks, of which the first is `rank`, those of rows that have a value `within`. No rank of the window
    /// is below the newest row's.
    pub fn range_bits(
        &self,
        level: Level,
        rank: u32,
        within: RangeInclusive<u64>,
        bits: &mut [u64],
    ) {
        let (low, high) = ((*within.start()).max(self.min()), (*within.end()).min(self.max()));
        if within.is_empty() || low > high {
            return;
        }
        if (low, high) == (self.min(), self.max()) {
            return self.presence_bits(level, rank, bits);
        }
        let within = low - self.min()..=high - self.min();
        let first = rank.wrapping_sub(self.base_rank());
        if self.entry.is_listed {
            self.listed_bits(level, first, within, bits);
        } else {
            self.dense_bits(level, first as usize, within, bits);
        }
    }

    /// The same of rows that have any value.
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
            // Behind the last row there may be more of its value's word.
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

    /// The row that has the value in a slot, counted from the newest.
    #[inline]
    fn row(&self, slot: usize) -> Option<u32> {
        match self.entry.is_listed {
            true => Some(self.listed[slot].load(Relaxed)).filter(|row| *row < self.rows),
            false => self.has(slot).then_some(slot as u32),
        }
    }

    /// Sets the bit of the row that has the value in a slot; `first` has the first bit.
    fn set(&self, slot: usize, first: u32, bits: &mut [u64]) {
        let bit = self.row(slot).map_or(usize::MAX, |row| row.wrapping_sub(first) as usize);
        if let Some(word) = bits.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    /// The listed values of rows from `first` on, as many as `words` words have bits.
    fn slots_in(&self, first: u32, words: usize) -> Range<usize> {
        let end = first as u64 + words as u64 * 64;
        let start = self.listed.partition_point(|row| row.load(Relaxed) < first);
        let rest = &self.listed[start..];
        start..start + rest.partition_point(|row| (row.load(Relaxed) as u64) < end)
    }

    /// Where the values of the row with this index are.
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

    /// Whether a row of a dense column has a value.
    #[inline]
    fn has(&self, index: usize) -> bool {
        if self.bits.is_empty() {
            return index < self.rows as usize;
        }
        self.bits.get(index / 64).is_some_and(|word| word.load(Relaxed) >> (index % 64) & 1 == 1)
    }

    /// The value in a slot, which there is.
    #[inline]
    fn value(&self, slot: usize) -> u64 {
        let bytes = entry::width_bytes(self.entry.width) as usize;
        if bytes == 0 {
            return self.entry.min;
        }
        let word = self.values[slot * bytes / 8].load(Relaxed);
        let value = word >> (8 * (slot * bytes % 8)) & u64::MAX >> (64 - 8 * bytes);
        self.entry.min.wrapping_add(value)
    }
}

/// The lowest `count` bits, all if there are no more.
fn ones(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests;

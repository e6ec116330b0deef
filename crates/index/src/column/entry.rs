//! The entries of the directory of a segment's columns, and the places that they define.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_kernel::Width;

use crate::ground::term::FieldId;
use crate::ground::values::{ValueKind, of_which, which};

/// Number of words before the entries.
pub(crate) const HEAD_WORDS: u64 = 1;
/// Number of words of an entry.
pub(crate) const ENTRY_WORDS: u64 = 4;
/// Bytes of a row's number in a listed column.
const LISTED_BYTES: u64 = size_of::<u32>() as u64;
// These values are in `docs/format-columns-and-texts.md`.
const _: () = assert!(HEAD_WORDS == 1 && ENTRY_WORDS == 4 && LISTED_BYTES == 4);
const _: () = assert!(ValueKind::Keyword as u8 == 2 && ValueKind::Boolean as u8 == 6);

/// Returns the word with the numbers of columns and of the segment's rows.
pub(crate) fn head_word(columns: u32, rows: u32) -> u64 {
    columns as u64 | (rows as u64) << 32
}

/// Returns the numbers of columns and rows in a head.
pub(crate) fn of_head(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// The contents of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) field: FieldId,
    pub(crate) kind: ValueKind,
    /// The width of each value, less the least; `None` if all values are equal.
    pub(crate) width: Option<Width>,
    /// True if its values are listed with their rows; otherwise there is one for each row.
    pub(crate) is_listed: bool,
    /// Number of rows with a value.
    pub(crate) rows: u32,
    /// Number of values.
    pub(crate) values: u32,
    /// The first word of its contents, counted from the head.
    pub(crate) first: u32,
    /// Lower bound of the values. Lengths of texts are stored unchanged: for those it is 0.
    pub(crate) min: u64,
    /// Highest value.
    pub(crate) max: u64,
    /// Sum of all lengths of texts.
    pub(crate) tokens: u64,
}

/// Numbers of words of the parts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The rows with a value: a bit for each row, or the number of each value's row.
    pub(crate) rows: u64,
    /// The values.
    pub(crate) values: u64,
}

impl Entry {
    /// Returns the words of its contents in a segment of `rows` rows.
    pub(crate) fn parts(&self, rows: u32) -> Parts {
        let packed = |count: u32| (count as u64 * width_bytes(self.width)).div_ceil(8);
        if self.is_listed {
            let numbers = (self.values as u64 * LISTED_BYTES).div_ceil(8);
            return Parts { rows: numbers, values: packed(self.values) };
        }
        let bits = if self.rows < rows { (rows as u64).div_ceil(64) } else { 0 };
        Parts { rows: bits, values: packed(rows) }
    }

    /// Returns one past the last word of its contents.
    pub(crate) fn end(&self, rows: u32) -> u64 {
        let Parts { rows, values } = self.parts(rows);
        self.first as u64 + rows + values
    }

    /// Returns the column in the form that takes less room. Rows with several values are listed.
    pub(crate) fn in_least_room(self, rows: u32) -> Entry {
        let [dense, listed] = [false, true].map(|is_listed| Entry { is_listed, ..self });
        let is_multi = self.values > self.rows;
        if is_multi || listed.end(rows) < dense.end(rows) { listed } else { dense }
    }

    pub(crate) fn words(&self) -> [u64; ENTRY_WORDS as usize] {
        let width = width_bytes(self.width) << 16 | u64::from(self.is_listed) << 24;
        let which = which(self.field, self.kind) as u64 | width;
        let counts = self.values as u64 | (self.first as u64) << 32;
        let least = if self.kind == ValueKind::Text { self.tokens } else { self.min };
        [which | (self.rows as u64) << 32, counts, least, self.max]
    }

    /// Parses an entry's words.
    pub(crate) fn from_words(words: &[AtomicU64]) -> Option<Entry> {
        let [which, counts, least, max] = [0, 1, 2, 3].map(|i| words[i].load(Relaxed));
        let (field, kind) = of_which(which as u16);
        let kind = kind?;
        let (min, tokens) = if kind == ValueKind::Text { (0, least) } else { (least, 0) };
        let entry = Entry {
            field,
            kind,
            width: width_of((which >> 16) as u8)?,
            is_listed: which >> 24 & 1 == 1,
            rows: (which >> 32) as u32,
            values: counts as u32,
            first: (counts >> 32) as u32,
            min,
            max,
            tokens,
        };
        (entry.words()[0] == which).then_some(entry)
    }
}

/// Returns the least width of numbers up to `span`, or `None` if there is only 0.
pub(crate) fn width_for(span: u64) -> Option<Width> {
    match span {
        0 => None,
        1..=0xFF => Some(Width::One),
        0x100..=0xFFFF => Some(Width::Two),
        0x1_0000..=0xFFFF_FFFF => Some(Width::Four),
        _ => Some(Width::Eight),
    }
}

/// Returns the bytes of a value.
pub(crate) fn width_bytes(width: Option<Width>) -> u64 {
    width.map_or(0, |width| width as u64)
}

/// Returns the width of this many bytes, if there is one.
fn width_of(bytes: u8) -> Option<Option<Width>> {
    let widths = [None, Some(Width::One), Some(Width::Two), Some(Width::Four), Some(Width::Eight)];
    widths.into_iter().find(|width| width_bytes(*width) == bytes as u64)
}

/// True if numbers up to `span` fit in a width.
pub(crate) fn holds(width: Option<Width>, span: u64) -> bool {
    width_bytes(width_for(span)) <= width_bytes(width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_survive_their_words(
            [which, counts, min, max] in any::<[u64; 4]>(),
            kind in 1u64..7,
            width in prop::sample::select(vec![0u64, 1, 2, 4, 8]),
        ) {
            let which = which & 0xFFFF_FFFF_0100_0FFF | kind << 12 | width << 16;
            let words = [which, counts, min, max].map(AtomicU64::new);
            let entry = Entry::from_words(&words).unwrap();
            prop_assert_eq!(entry.words(), [which, counts, min, max]);
            for wrong in [which ^ 8 << 12, which ^ 0x10 << 16, which ^ 2 << 24] {
                let words = [wrong, counts, min, max].map(AtomicU64::new);
                prop_assert_eq!(Entry::from_words(&words), None);
            }
        }

        #[test]
        fn a_width_holds_what_it_is_for(span in any::<u64>(), bits in 0u32..64) {
            let span = span >> bits;
            let width = width_for(span);
            prop_assert!(holds(width, span));
            let bytes = width_bytes(width);
            prop_assert!(bytes == 8 || span >> (8 * bytes) == 0);
            prop_assert!(bytes <= 1 || span >> (4 * bytes) > 0, "{} for {}", bytes, span);
        }
    }
}

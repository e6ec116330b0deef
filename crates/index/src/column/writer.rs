//! Writes the columns of a segment, whose values are given twice: first to settle how they are laid out and how much room that
//! takes, then to be written. Each time those of a field come newest row first, and those of a row in ascending order; fields may
//! come in any order. Lengths of texts can be written before the rest: block maxima are computed of them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::column::entry::{ENTRY_WORDS, Entry, HEAD_WORDS, head_word, width_bytes, width_for};
use crate::ground::term::FieldId;
use crate::ground::values::{RowValue, ValueKind};
use crate::terms::term_order::TermOrder;

const WORD: u64 = size_of::<u64>() as u64;
/// One past the highest number of a field.
const FIELDS: usize = 1 << u8::BITS;
/// The index of no row.
const NO_ROW: u32 = u32::MAX;

/// What columns a segment is going to have.
#[derive(Debug)]
pub(crate) struct Plan {
    /// By field.
    columns: Vec<Option<Planned>>,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    kind: ValueKind,
    rows: u32,
    values: u64,
    min: u64,
    max: u64,
    /// Of lengths of texts, all of them together.
    tokens: u64,
    /// The row that the last value was of.
    last: u32,
}

impl Plan {
    /// Of no values.
    pub(crate) fn new() -> Plan {
        Plan { columns: vec![None; FIELDS] }
    }

    /// There is a value, in sortable form, in the row with this index, the newest being 0. What numbers terms have does not
    /// matter yet.
    pub(crate) fn add(&mut self, index: u32, RowValue { field, kind, bits }: RowValue) {
        let min = if kind == ValueKind::Text { 0 } else { u64::MAX };
        let none = Planned { kind, rows: 0, values: 0, min, max: 0, tokens: 0, last: NO_ROW };
        let column = self.columns[field.0 as usize].get_or_insert(none);
        column.rows += u32::from(column.last != index);
        column.values += 1;
        column.last = index;
        if kind == ValueKind::Text {
            column.tokens += bits;
        }
        if kind != ValueKind::Keyword {
            column.min = column.min.min(bits);
            column.max = column.max.max(bits);
        }
    }

    /// Settles how much room terms need: a field has at most this many.
    pub(crate) fn bound_terms(&mut self, terms: &[u64; FIELDS]) {
        for (column, terms) in self.columns.iter_mut().zip(terms) {
            if let Some(column) = column.as_mut().filter(|c| c.kind == ValueKind::Keyword) {
                (column.min, column.max) = (0, terms.saturating_sub(1));
            }
        }
    }

    /// Whether any value is a term.
    pub(crate) fn has_terms(&self) -> bool {
        self.columns.iter().flatten().any(|column| column.kind == ValueKind::Keyword)
    }

    /// How the columns of a segment of `rows` rows are laid out; none if there are too many values.
    pub(crate) fn layout(&self, rows: u32) -> Option<Layout> {
        let count = self.columns.iter().flatten().count() as u64;
        let mut at = HEAD_WORDS + count * ENTRY_WORDS;
        let mut entries = Vec::with_capacity(count as usize);
        for (field, column) in (0..=u8::MAX).zip(&self.columns) {
            let Some(planned) = *column else { continue };
            let Planned { kind, rows: having, values, min, max, tokens, .. } = planned;
            let entry = Entry {
                field: FieldId(field),
                kind,
                width: width_for(max - min),
                is_listed: false,
                rows: having,
                values: u32::try_from(values).ok()?,
                first: u32::try_from(at).ok()?,
                min,
                max,
                tokens,
            };
            let entry = entry.in_least_room(rows);
            at = entry.end(rows);
            entries.push(entry);
        }
        Some(Layout { rows, entries, bytes: if count == 0 { 0 } else { at * WORD } })
    }
}

/// How the columns of a segment are laid out.
#[derive(Debug)]
pub(crate) struct Layout {
    rows: u32,
    entries: Vec<Entry>,
    bytes: u64,
}

impl Layout {
    /// Bytes of all of it: none if there are no columns.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether any value is a term.
    pub(crate) fn has_terms(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind == ValueKind::Keyword)
    }

    /// Begins to write the columns at `at`, where there is room for them: lengths of texts can be written.
    pub(crate) fn begin<'a>(&self, region: &'a Region, at: u64) -> ColumnWriter<'a> {
        let words: &[AtomicU64] = region.view(Span::new(at, self.bytes / WORD));
        words.iter().for_each(|word| word.store(0, Relaxed));
        words[0].store(head_word(self.entries.len() as u32, self.rows), Relaxed);
        self.writer(region, at, |entry| entry)
    }

    /// Goes on with columns that were [begun](Self::begin): all but lengths of texts can be written. Values that are terms are places in
    /// `order`.
    pub(crate) fn go_on<'a>(
        &self,
        region: &'a Region,
        at: u64,
        order: TermOrder<'_>,
    ) -> ColumnWriter<'a> {
        self.writer(region, at, |entry| with_terms_of(entry, order))
    }

    fn writer<'a>(
        &self,
        region: &'a Region,
        at: u64,
        settled: impl Fn(Entry) -> Entry,
    ) -> ColumnWriter<'a> {
        let words: &[AtomicU64] = region.view(Span::new(at, self.bytes / WORD));
        let mut writer = ColumnWriter { columns: vec![None; FIELDS] };
        let places = words[HEAD_WORDS as usize..].chunks(ENTRY_WORDS as usize);
        for (entry, place) in self.entries.iter().zip(places) {
            let entry = settled(*entry);
            place.iter().zip(entry.words()).for_each(|(to, word)| to.store(word, Relaxed));
            let column = Writing::new(region, words, at, entry, self.rows);
            writer.columns[entry.field.0 as usize] = Some(column);
        }
        writer
    }
}

/// What lies between the least and the highest value of a column of terms is all terms of its field.
fn with_terms_of(entry: Entry, order: TermOrder<'_>) -> Entry {
    if entry.kind != ValueKind::Keyword {
        return entry;
    }
    let terms = order.of_field(entry.field);
    let max = terms.end.saturating_sub(1).max(terms.start);
    Entry { min: terms.start as u64, max: max as u64, ..entry }
}

/// Columns that are being written.
pub(crate) struct ColumnWriter<'a> {
    /// By field.
    columns: Vec<Option<Writing<'a>>>,
}

#[derive(Clone)]
struct Writing<'a> {
    entry: Entry,
    /// The bits of rows that have a value.
    bits: &'a [AtomicU64],
    /// The numbers of rows whose values are listed.
    numbers: &'a [AtomicU32],
    values: &'a [AtomicU64],
    /// Values written.
    written: usize,
}

impl<'a> Writing<'a> {
    fn new(region: &'a Region, words: &'a [AtomicU64], at: u64, entry: Entry, rows: u32) -> Self {
        let parts = entry.parts(rows);
        let (first, values) = (entry.first as u64, entry.first as u64 + parts.rows);
        let listed = if entry.is_listed { entry.values as u64 } else { 0 };
        let bits = if entry.is_listed { first..first } else { first..values };
        let range = |range: std::ops::Range<u64>| &words[range.start as usize..range.end as usize];
        Writing {
            entry,
            bits: range(bits),
            numbers: region.view(Span::new(at + first * WORD, listed)),
            values: range(values..values + parts.values),
            written: 0,
        }
    }

    fn put(&mut self, index: u32, value: u64) {
        let slot = if self.entry.is_listed {
            self.numbers[self.written].store(index, Relaxed);
            self.written
        } else {
            if let Some(word) = self.bits.get(index as usize / 64) {
                word.store(word.load(Relaxed) | 1 << (index % 64), Relaxed);
            }
            index as usize
        };
        self.written += 1;
        let bytes = width_bytes(self.entry.width) as usize;
        if let Some(word) = self.values.get(slot * bytes / 8) {
            let shifted = (value - self.entry.min) << (8 * (slot * bytes % 8));
            word.store(word.load(Relaxed) | shifted, Relaxed);
        }
    }
}

impl ColumnWriter<'_> {
    /// Writes a value, in sortable form, of the row with this index.
    pub(crate) fn put(&mut self, index: u32, value: RowValue) {
        let column = self.columns[value.field.0 as usize].as_mut();
        column.expect("values come as they were planned").put(index, value.bits);
    }
}

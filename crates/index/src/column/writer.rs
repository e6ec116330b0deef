//! Writes the columns of a segment. Its values are passed twice: first to plan the layout, then to
//! be written. If a field was widened meanwhile, its column has the wider kind, and the other values
//! are converted. Each time the values of a field come newest row first, and those of a row in
//! ascending order. Fields may come in any order. Lengths of texts can be written before the rest,
//! because block maxima need them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_mem::{Region, Span};

use crate::column::entry::{ENTRY_WORDS, Entry, HEAD_WORDS, head_word, width_bytes, width_for};
use crate::ground::per_field::PerField;
use crate::ground::term::FieldId;
use crate::ground::values::{RowValue, ValueKind};
use crate::terms::term_order::TermOrder;

const WORD: u64 = size_of::<u64>() as u64;
/// The index of no row.
const NO_ROW: u32 = u32::MAX;

/// The columns that a segment is going to have.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    columns: PerField<Option<Planned>>,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    kind: ValueKind,
    rows: u32,
    values: u64,
    min: u64,
    max: u64,
    /// Sum of all lengths of texts.
    tokens: u64,
    /// The row of the last value.
    last: u32,
}

impl Plan {
    /// Makes a plan without values.
    pub(crate) fn new() -> Plan {
        Plan::default()
    }

    /// Adds a value, in sortable form, of the row with this index, the newest being 0. The numbers
    /// of terms do not matter yet.
    pub(crate) fn add(&mut self, index: u32, RowValue { field, kind, bits }: RowValue) {
        let min = if kind == ValueKind::Text { 0 } else { u64::MAX };
        let none = Planned { kind, rows: 0, values: 0, min, max: 0, tokens: 0, last: NO_ROW };
        let column = self.columns.get_mut(field).get_or_insert(none);
        let bits = column.take_kind(kind, bits);
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

    /// Bounds the room that terms need: a field has at most this many.
    pub(crate) fn bound_terms(&mut self, terms: &PerField<u64>) {
        for (field, column) in self.columns.iter_mut() {
            if let Some(column) = column.as_mut().filter(|c| c.kind == ValueKind::Keyword) {
                let terms = terms.get(field).copied().unwrap_or(0);
                (column.min, column.max) = (0, terms.saturating_sub(1));
            }
        }
    }

    /// True if any value is a term.
    pub(crate) fn has_terms(&self) -> bool {
        self.planned().any(|(_, column)| column.kind == ValueKind::Keyword)
    }

    /// Iterates over the columns, in the order of their fields.
    fn planned(&self) -> impl Iterator<Item = (FieldId, Planned)> {
        self.columns.iter().filter_map(|(field, column)| Some((field, (*column)?)))
    }

    /// Returns the layout of the columns of a segment of `rows` rows, or `None` if there are too
    /// many values.
    pub(crate) fn layout(&self, rows: u32) -> Option<Layout> {
        let count = self.planned().count() as u64;
        let mut at = HEAD_WORDS + count * ENTRY_WORDS;
        let mut entries = Vec::with_capacity(count as usize);
        for (field, planned) in self.planned() {
            let Planned { kind, rows: having, values, min, max, tokens, .. } = planned;
            let entry = Entry {
                field,
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

impl Planned {
    /// Returns the value as one of the column's kind. Whole numbers and floating-point ones make a
    /// column of the latter.
    fn take_kind(&mut self, kind: ValueKind, bits: u64) -> u64 {
        if (self.kind, kind) == (ValueKind::Integer, ValueKind::Float) {
            // The order stays, so these values are still the least and the highest.
            self.min = self.kind.converted(kind, self.min);
            self.max = self.kind.converted(kind, self.max);
            self.kind = kind;
        }
        kind.converted(self.kind, bits)
    }
}

/// The layout of a segment's columns.
#[derive(Debug)]
pub(crate) struct Layout {
    rows: u32,
    entries: Vec<Entry>,
    bytes: u64,
}

impl Layout {
    /// Returns the bytes of the columns, or 0 if there are none.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if any value is a term.
    pub(crate) fn has_terms(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind == ValueKind::Keyword)
    }

    /// Begins to write the columns at `at`, where there is room for them. Lengths of texts can be
    /// written then.
    pub(crate) fn begin<'a>(&self, region: &'a Region, at: u64) -> ColumnWriter<'a> {
        let words: &[AtomicU64] = region.view(Span::new(at, self.bytes / WORD));
        words.iter().for_each(|word| word.store(0, Relaxed));
        words[0].store(head_word(self.entries.len() as u32, self.rows), Relaxed);
        self.writer(region, at, |entry| entry)
    }

    /// Continues columns that were [begun](Self::begin). All values but lengths of texts can be
    /// written then. Values that are terms are places in `order`.
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
        let mut writer = ColumnWriter { columns: PerField::default() };
        let places = words[HEAD_WORDS as usize..].chunks(ENTRY_WORDS as usize);
        for (entry, place) in self.entries.iter().zip(places) {
            let entry = settled(*entry);
            place.iter().zip(entry.words()).for_each(|(to, word)| to.store(word, Relaxed));
            let column = Writing::new(region, words, at, entry, self.rows);
            *writer.columns.get_mut(entry.field) = Some(column);
        }
        writer
    }
}

/// Returns the entry with the bounds of its terms: all terms between the least and the highest are
/// the field's.
fn with_terms_of(entry: Entry, order: TermOrder<'_>) -> Entry {
    if entry.kind != ValueKind::Keyword {
        return entry;
    }
    let terms = order.of_field(entry.field);
    let max = terms.end.saturating_sub(1).max(terms.start);
    Entry { min: terms.start as u64, max: max as u64, ..entry }
}

/// The writer of planned columns.
pub(crate) struct ColumnWriter<'a> {
    columns: PerField<Option<Writing<'a>>>,
}

#[derive(Clone)]
struct Writing<'a> {
    entry: Entry,
    /// The bits of rows with a value.
    bits: &'a [AtomicU64],
    /// The numbers of rows whose values are listed.
    numbers: &'a [AtomicU32],
    values: &'a [AtomicU64],
    /// Number of values written.
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
        let column = self.columns.get_mut(value.field).as_mut();
        let column = column.expect("every value was planned");
        column.put(index, value.kind.converted(column.entry.kind, value.bits));
    }
}

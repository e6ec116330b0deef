//! The values of a segment under flush, in the form that [columns](crate::column) take. The newest
//! row comes first. Values are in sortable form, and those of one field ascend.

use std::sync::atomic::Ordering::Relaxed;

use crate::column::writer::{Layout, Plan};
use crate::fresh::extent::Extent;
use crate::fresh::field_lengths::FieldLength;
use crate::ground::per_field::PerField;
use crate::ground::values::{RowValue, ValueKind, Values};
use crate::memory::Memory;
use crate::memory::descriptor::Descriptor;
use crate::rows::record_places::RecordPlaces;
use crate::terms::term_order::TermOrder;
use crate::terms::term_sorter::TermSorter;

/// The values' places in a fresh segment.
pub(super) struct FreshValues<'a> {
    extent: Extent<'a>,
    places: RecordPlaces<'a>,
    rows: u32,
}

impl<'a> FreshValues<'a> {
    pub(super) fn new(
        memory: &'a Memory,
        descriptor: Descriptor<'_>,
        extent: Extent<'a>,
        rows: u32,
    ) -> Self {
        let places = RecordPlaces::new(memory.region(), memory.geometry(), descriptor.records());
        FreshValues { extent, places, rows }
    }

    /// Returns the layout of the columns, if there are any. The segment has `terms` terms.
    pub(super) fn layout(&self, terms: u32) -> Option<Box<Layout>> {
        if self.places.is_empty() {
            return None;
        }
        let mut plan = Plan::new();
        self.each(|ordinal| ordinal, |index, value| plan.add(index, value));
        if plan.has_terms() {
            plan.bound_terms(&self.terms_of_fields(terms));
        }
        let layout = plan.layout(self.rows).expect("an extent has fewer values than words");
        (layout.bytes() > 0).then(|| Box::new(layout))
    }

    /// Counts the terms with postings of each field.
    fn terms_of_fields(&self, terms: u32) -> PerField<u64> {
        let mut counts = PerField::default();
        for ordinal in 0..terms {
            let record = self.extent.record(ordinal);
            let has_postings = record.list().count.load(Relaxed) > 0;
            *counts.get_mut(record.key().field()) += u64::from(has_postings);
        }
        counts
    }

    /// Begins the columns at `at` and writes the lengths of text fields.
    pub(super) fn begin(&self, memory: &Memory, layout: &Layout, at: u64) {
        let mut writer = layout.begin(memory.region(), at);
        self.each(
            |ordinal| ordinal,
            |index, value| {
                if value.kind == ValueKind::Text {
                    writer.put(index, value);
                }
            },
        );
    }

    /// Writes the rest of the columns at `at`. Call it after `sorter` has written the order of
    /// terms, at `order`.
    pub(super) fn write(
        &self,
        memory: &Memory,
        layout: &Layout,
        [at, order]: [u64; 2],
        sorter: &TermSorter,
        terms: u32,
    ) {
        let region = memory.region();
        let places = if layout.has_terms() { sorter.places(terms as usize) } else { Vec::new() };
        let mut writer = layout.go_on(region, at, TermOrder::at(region, order));
        let place = |ordinal: u64| places[ordinal as usize] as u64;
        self.each(place, |index, value| {
            if value.kind != ValueKind::Text {
                writer.put(index, value);
            }
        });
    }

    /// Calls `act` with the values of all rows, newest row first. `place` maps an ordinal to its
    /// term's place in the order of terms.
    fn each(&self, place: impl Fn(u64) -> u64, mut act: impl FnMut(u32, RowValue)) {
        let mut row = Vec::new();
        for (index, local) in (0..self.rows).rev().enumerate() {
            let first = self.places.get(local);
            if first == 0 {
                continue;
            }
            let mut values = Values::new(self.extent.area().get(first as usize..).unwrap_or(&[]));
            row.clear();
            // Each step consumes words of the record, so that the loop ends with the record.
            while let Some(value) = values.next() {
                let bits = match value.kind {
                    ValueKind::Keyword => place(value.bits),
                    ValueKind::Text => {
                        let words = [value.bits, values.next().map_or(0, |own| own.bits)];
                        FieldLength::from_words(words).length.into()
                    }
                    kind => kind.sortable(value.bits),
                };
                // An abandoned row has texts of length 0.
                if value.kind != ValueKind::Text || bits > 0 {
                    row.push(RowValue { bits, ..value });
                }
            }
            row.sort_unstable_by_key(|value| (value.field, value.bits));
            row.iter().for_each(|value| act(index as u32, *value));
        }
    }
}

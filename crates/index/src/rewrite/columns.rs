//! The living values of the segments of a run, in the form that [columns](crate::column) take. Rows
//! of newer segments come first. Terms keep their order, although their places change.

use crate::column::Column;
use crate::column::writer::{Layout, Plan};
use crate::ground::per_field::PerField;
use crate::ground::posting::rank_of;
use crate::ground::values::{RowValue, ValueKind};
use crate::memory::Memory;
use crate::rewrite::source::{DEAD, Source};
use crate::terms::term_order::TermOrder;
use crate::terms::term_sorter::TermSorter;

/// The values of a run of segments with `rows` living rows.
pub(super) struct LivingValues<'s, 'a> {
    pub(super) sources: &'s [Source<'a>],
    pub(super) rows: u32,
}

fn is_of_lengths(column: &Column<'_>) -> bool {
    column.kind() == ValueKind::Text
}

impl LivingValues<'_, '_> {
    /// Returns the columns' layout, or `None` if the values exceed what columns can hold.
    pub(super) fn layout(&self) -> Option<Layout> {
        let mut plan = Plan::new();
        let mut terms = PerField::default();
        for source in self.sources.iter().rev() {
            for column in source.segment.columns() {
                if column.kind() == ValueKind::Keyword {
                    *terms.get_mut(column.field()) += column.max() - column.min() + 1;
                }
                self.each(source, &column, |index, value| plan.add(index, value));
            }
        }
        plan.bound_terms(&terms);
        plan.layout(self.rows)
    }

    /// Begins the columns at `at` and writes the lengths of text fields.
    pub(super) fn begin(&self, memory: &Memory, layout: &Layout, at: u64) {
        let mut writer = layout.begin(memory.region(), at);
        for source in self.sources.iter().rev() {
            for column in source.segment.columns().filter(is_of_lengths) {
                self.each(source, &column, |index, value| writer.put(index, value));
            }
        }
    }

    /// Writes the rest of the columns at `at`. The order of terms is at `order`.
    pub(super) fn write(
        &self,
        memory: &Memory,
        layout: &Layout,
        [at, order]: [u64; 2],
        sorter: &TermSorter,
        terms: usize,
    ) {
        let region = memory.region();
        let places = if layout.has_terms() { sorter.places(terms) } else { Vec::new() };
        let mut writer = layout.go_on(region, at, TermOrder::at(region, order));
        for source in self.sources.iter().rev() {
            let old = TermOrder::at(region, source.segment.descriptor().term_order());
            let place =
                |place: u64| places[source.ordinals[old.number(place as usize) as usize] as usize];
            for column in source.segment.columns().filter(|column| !is_of_lengths(column)) {
                self.each(source, &column, |index, value| {
                    let bits = match value.kind {
                        ValueKind::Keyword => place(value.bits) as u64,
                        _ => value.bits,
                    };
                    writer.put(index, RowValue { bits, ..value });
                });
            }
        }
    }

    /// Calls `act` with the living values of a column, newest row first.
    fn each(&self, source: &Source<'_>, column: &Column<'_>, mut act: impl FnMut(u32, RowValue)) {
        for (rank, bits) in column.iter() {
            let new = source.map[rank_of(rank) as usize];
            if new != DEAD {
                let value = RowValue { field: column.field(), kind: column.kind(), bits };
                act(self.rows - 1 - new, value);
            }
        }
    }
}

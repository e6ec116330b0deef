//! Columns against a list of values, over any rows, gaps, widths and kinds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spirit_mem::Residency;

use crate::column::writer::{Layout, Plan};
use crate::column::*;
use crate::ground::per_field::PerField;
use crate::ground::term::TermBuffer;
use crate::ground::values::RowValue;
use crate::rows::lengths::LENGTH_MAX;
use crate::terms::term_order::{Leads, TermOrder};
use crate::terms::term_sorter::TermSorter;

const REGION_BYTES: u64 = 1 << 20;
/// Where the order of terms is, and the columns.
const ORDER: u64 = 64;
const AT: u64 = 4096;
/// Terms of each field that has any.
const TERMS: u64 = 9;
/// Those of this field do not have a column, and come before those that do.
const OTHERS: u16 = 1;

/// The values of one field: by row, counted from the newest.
#[derive(Clone, Debug)]
struct Given {
    kind: ValueKind,
    rows: BTreeMap<u32, Vec<u64>>,
}

/// Values that differ by more than this many bits, or not at all.
fn value(kind: ValueKind) -> BoxedStrategy<u64> {
    match kind {
        ValueKind::Keyword => (0..TERMS).boxed(),
        ValueKind::Boolean => (0u64..2).boxed(),
        ValueKind::Text => prop_oneof![1u64..40, 1u64..400, Just(LENGTH_MAX as u64)].boxed(),
        _ => any::<u64>().boxed(),
    }
}

fn given(rows: u32) -> impl Strategy<Value = Given> {
    use ValueKind::*;
    let kind = prop::sample::select(vec![Text, Keyword, Integer, Float, Time, Boolean]);
    (kind, 0u32..65, any::<u64>(), 0u32..160, 1usize..4).prop_flat_map(
        move |(kind, narrow, low, share, most)| {
            let most = if kind == Text { 1 } else { most };
            let values = prop::collection::vec(value(kind), 1..=most);
            let narrowed = move |value: u64| match kind {
                Text | Keyword | Boolean => value,
                _ => low.saturating_add(value.checked_shr(narrow).unwrap_or(0)),
            };
            let row = (0u32..100, values).prop_map(move |(chance, values)| {
                let mut values: Vec<_> = values.into_iter().map(narrowed).collect();
                values.sort_unstable();
                (chance < share).then_some(values)
            });
            prop::collection::vec(row, rows as usize).prop_map(move |given| {
                let rows = (0..).zip(given).filter_map(|(row, values)| Some((row, values?)));
                Given { kind, rows: rows.collect() }
            })
        },
    )
}

/// The values of some rows in some fields. Fields without values have no column.
fn all() -> impl Strategy<Value = (u32, BTreeMap<u16, Given>)> {
    (1u32..400).prop_flat_map(|rows| {
        let fields = prop::collection::btree_map(OTHERS + 1..=FieldId::MAX.0, given(rows), 0..6);
        let with_values = |mut fields: BTreeMap<u16, Given>| {
            fields.retain(|_, given| !given.rows.is_empty());
            fields
        };
        (Just(rows), fields.prop_map(with_values))
    })
}

/// Writes an order in which each field of keywords has all its terms, and another one some.
fn write_order(region: &Region, fields: &BTreeMap<u16, Given>) {
    let keywords = fields.iter().filter(|(_, given)| given.kind == ValueKind::Keyword);
    let having: Vec<u16> = std::iter::once(OTHERS).chain(keywords.map(|(f, _)| *f)).collect();
    let numbers = 0..having.len() as u32 * TERMS as u32;
    let write = |number: u32, out: &mut TermBuffer| {
        out[0] = number as u8 % TERMS as u8;
        (FieldId(having[number as usize / TERMS as usize]), 1)
    };
    TermSorter::default().write_order(region, ORDER, Leads::TermMap(7), numbers, write);
}

/// The values as columns have them: terms of a field are at places in the order.
fn placed(fields: &BTreeMap<u16, Given>) -> BTreeMap<u16, Given> {
    let mut placed = fields.clone();
    let keywords = placed.values_mut().filter(|given| given.kind == ValueKind::Keyword);
    for (number, given) in (1..).zip(keywords) {
        let first = number * TERMS;
        given.rows.values_mut().flatten().for_each(|value| *value += first);
    }
    placed
}

fn values_of(fields: &BTreeMap<u16, Given>) -> impl Iterator<Item = (u32, RowValue)> {
    fields.iter().flat_map(|(field, given)| {
        given.rows.iter().flat_map(move |(row, values)| {
            let value =
                |bits: &u64| RowValue { field: FieldId(*field), kind: given.kind, bits: *bits };
            values.iter().map(move |bits| (*row, value(bits)))
        })
    })
}

fn write(region: &Region, rows: u32, fields: &BTreeMap<u16, Given>) -> Layout {
    let mut plan = Plan::new();
    values_of(fields).for_each(|(row, value)| plan.add(row, value));
    let mut terms = PerField::default();
    fields.keys().for_each(|field| *terms.get_mut(FieldId(*field)) = TERMS);
    plan.bound_terms(&terms);
    let layout = plan.layout(rows).unwrap();
    assert_eq!(plan.has_terms(), layout.has_terms());
    if layout.bytes() > 0 {
        // What was there before does not show.
        let words = region.view(Span::<AtomicU64>::new(AT, layout.bytes() / WORD));
        words.iter().for_each(|word| word.store(u64::MAX, Relaxed));
        let is_length = |value: &RowValue| value.kind == ValueKind::Text;
        let mut lengths = layout.begin(region, AT);
        let placed = placed(fields);
        values_of(&placed).filter(|(_, v)| is_length(v)).for_each(|(row, v)| lengths.put(row, v));
        let mut others = layout.go_on(region, AT, TermOrder::at(region, ORDER));
        values_of(&placed).filter(|(_, v)| !is_length(v)).for_each(|(row, v)| others.put(row, v));
    }
    layout
}

fn check_column(column: &Column<'_>, rows: u32, given: &Given, [from, to]: [u64; 2], start: u32) {
    assert_eq!(column.kind(), given.kind);
    let all: Vec<_> =
        given.rows.iter().flat_map(|(row, values)| values.iter().map(|v| (*row, *v))).collect();
    let values: Vec<u64> = all.iter().map(|(_, value)| *value).collect();
    assert_eq!(column.values(), values.len() as u64);
    assert_eq!(column.rows_with(), given.rows.len() as u64);
    assert_eq!(column.is_multi(), given.rows.values().any(|values| values.len() > 1));
    let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
    if given.kind == ValueKind::Text {
        assert_eq!((column.min(), column.max()), (0, max));
        let statistics = Statistics { documents: all.len() as u64, tokens: values.iter().sum() };
        assert_eq!(column.statistics(), statistics);
    } else if given.kind == ValueKind::Keyword {
        assert!(column.min() <= min && column.max() >= max);
        assert_eq!(column.max() - column.min(), TERMS - 1);
    } else {
        assert_eq!((column.min(), column.max()), (min, max));
    }
    let base = column.base_rank();
    assert_eq!(base, rank_of(rows - 1));
    assert_eq!(column.iter().map(|(rank, v)| (rank - base, v)).collect::<Vec<_>>(), all);
    for row in 0..rows + 2 {
        let of: Vec<u64> = column.of(base + row).collect();
        assert_eq!(of, given.rows.get(&row).cloned().unwrap_or_default(), "row {row}");
        assert_eq!(column.first(base + row), of.first().copied());
    }
    assert_eq!(column.first(base.wrapping_sub(1)), None);
    let (mut found, mut wanted) = (Vec::new(), Vec::new());
    let bits: Vec<u64> = (0..9).map(|turn| from.rotate_left(turn) | to).collect();
    column.each_row(base + start, &bits, |values| found.push(values.to_vec()));
    for bit in (0..9 * 64).filter(|bit| bits[bit / 64] >> (bit % 64) & 1 == 1) {
        wanted.push(given.rows.get(&(start + bit as u32)).cloned().unwrap_or_default());
    }
    assert_eq!(found, wanted);
    let expected = |is_in: &dyn Fn(&u64) -> bool| {
        let mut bits = vec![1 << 63; 9];
        for (row, values) in &given.rows {
            let Some(bit) = row.checked_sub(start).filter(|bit| *bit < 9 * 64) else { continue };
            bits[bit as usize / 64] |= u64::from(values.iter().any(is_in)) << (bit % 64);
        }
        bits
    };
    for level in Level::all_supported() {
        let mut bits = vec![1 << 63; 9];
        column.presence_bits(level, base + start, &mut bits);
        assert_eq!(bits, expected(&|_| true));
        for within in [from..=to, 0..=u64::MAX, min..=min, min..=max, max..=max] {
            let mut bits = vec![1 << 63; 9];
            column.range_bits(level, base + start, within.clone(), &mut bits);
            assert_eq!(bits, expected(&|value| within.contains(value)), "{within:?}");
        }
    }
}

/// Lengths are read row by row, and scored by.
fn check_lengths(lengths: &LengthArray<'_>, rows: u32, given: &Given) {
    let of_row = |row: u32| match given.kind {
        ValueKind::Text => given.rows.get(&row).map_or(0, |values| values[0] as u16),
        _ => u16::from(row < rows),
    };
    assert_eq!(lengths.len(), rows as usize);
    for row in 0..rows + 2 {
        assert_eq!(lengths.get(row as usize).unwrap_or(0), of_row(row), "row {row}");
    }
    if given.kind != ValueKind::Text {
        return;
    }
    let bm25 = spirit_kernel::Bm25 { weight: 1.0, c0: 0.0, c1: 1.0, term: 0 };
    for row in 0..rows {
        let score = bm25.score((row + 5) << 8 | 1, lengths.by_rank(5));
        assert_eq!(score, 1.0 / (1.0 + f32::from(of_row(row))), "row {row}");
    }
}

proptest! {
    #[test]
    fn columns_are_what_was_given(
        (rows, fields) in all(),
        bounds in any::<[u64; 2]>(),
        shift in 0u32..64,
        start in 0u32..500,
    ) {
        let region = Region::reserve(REGION_BYTES, Residency::OnTouch).unwrap();
        write_order(&region, &fields);
        let layout = write(&region, rows, &fields);
        let bytes = layout.bytes();
        prop_assert_eq!(bytes == 0, fields.is_empty());
        prop_assert_eq!(shape::check(&region, AT, bytes, rows as u64), Ok(()));
        if fields.is_empty() {
            return Ok(());
        }
        let values = values_of(&fields).count() as u64;
        prop_assert!(bytes <= 8 + 48 * fields.len() as u64 + 12 * values);
        prop_assert!(shape::check(&region, AT, bytes - 8, rows as u64).is_err());
        prop_assert!(shape::check(&region, AT, bytes, rows as u64 + 1).is_err());
        let columns = Columns::at(&region, AT);
        prop_assert_eq!(columns.bytes(), bytes);
        prop_assert_eq!(columns.iter().count(), fields.len());
        for field in 0..=FieldId::MAX.0 {
            let column = columns.of_field(FieldId(field));
            prop_assert_eq!(column.is_some(), fields.contains_key(&field));
        }
        for (field, given) in &placed(&fields) {
            let column = columns.of_field(FieldId(*field)).unwrap();
            let near = [bounds[0] >> shift, column.min().saturating_add(bounds[1] >> shift)];
            check_column(&column, rows, given, near, start);
            check_lengths(&columns.lengths_of(FieldId(*field)), rows, given);
        }
    }

    /// Whatever is in columns whose shape is right, reading them ends, and finds no row that there is not.
    #[test]
    fn damaged_columns_are_refused_or_read(
        (rows, fields) in all(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..64), 1..9),
        within in any::<[u64; 2]>(),
        start in 0u32..500,
    ) {
        let region = Region::reserve(REGION_BYTES, Residency::OnTouch).unwrap();
        write_order(&region, &fields);
        let layout = write(&region, rows, &fields);
        prop_assume!(layout.bytes() > 0);
        let words = region.view(Span::<AtomicU64>::new(AT, layout.bytes() / WORD));
        for (at, word, shift) in damage {
            let word_at = &words[at.index(words.len())];
            word_at.store(word_at.load(Relaxed) ^ word >> shift, Relaxed);
        }
        if shape::check(&region, AT, layout.bytes(), rows as u64).is_err() {
            return Ok(());
        }
        for column in Columns::at(&region, AT).iter() {
            prop_assert!(column.iter().all(|(rank, _)| rank - column.base_rank() < rows));
            let mut bits = [0; 70];
            column.presence_bits(Level::detect(), column.base_rank() + start, &mut bits);
            column.range_bits(Level::detect(), column.base_rank() + start, within[0]..=within[1], &mut bits);
            let of: usize = (0..rows).map(|row| column.of(column.base_rank() + row).count()).sum();
            let most = column.values().max(rows as u64) as usize;
            prop_assert!(of <= most && column.iter().count() <= most);
        }
    }
}

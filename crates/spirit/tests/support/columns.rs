//! The columns of flushed segments, held to the documents that are stored beside them: every row's, the dead among them.

use std::collections::BTreeMap;

use spirit::Index;
use spirit::lab::FieldId;
use spirit::lab::Level;
use spirit::schema::Schema;
use spirit_index::column::Column;
use spirit_index::form::TextScratch;
use spirit_index::ground::TERM_BYTES_MAX;
use spirit_index::ground::ValueKind;
use spirit_index::ground::rank_of;
use spirit_index::memory::Memory;
use spirit_index::rows::KeyKind;
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_schema::{Field, FieldValue, encoded};

use super::field_lengths::lengths_of;
use super::pinned;

/// The values of a segment's fields: rank and value, in the order of both.
type Naive = BTreeMap<(FieldId, ValueKind), Vec<(u32, u64)>>;

/// Looks at every segment that readers see flushed, of an index that keeps its documents; says how many values there are.
pub(crate) fn check_columns(index: &Index) -> Result<u64, String> {
    assert!(index.settings().store, "documents are what columns are held to");
    let schema = index.schema();
    index.memories().map(|memory| check_memory(memory, &schema)).sum()
}

/// Reads all that columns have, whatever that is; says how much.
pub(crate) fn read_columns(index: &Index) -> u64 {
    let read = |segment: Segment<'_>| {
        let words = segment.rows().div_ceil(64) as usize;
        let mut bits = vec![0; words];
        for column in segment.columns() {
            let (level, base) = (Level::detect(), column.base_rank());
            let middle = column.min() + (column.max() - column.min()) / 2;
            column.presence_bits(level, base, &mut bits);
            column.range_bits(level, base, middle..=column.max(), &mut bits);
            let of_rows: usize = (0..segment.rows()).map(|row| column.of(base + row).count()).sum();
            assert!(of_rows as u64 <= column.values() + u64::from(segment.rows()));
        }
        segment.columns().map(|column| column.iter().count() as u64).sum::<u64>()
    };
    let in_memory = |memory| Snapshot::take(memory).registered().map(read).sum::<u64>();
    index.memories().map(in_memory).sum()
}

fn check_memory(memory: &Memory, schema: &Schema) -> Result<u64, String> {
    pinned(memory, |snapshot| {
        snapshot.registered().map(|segment| check_segment(&segment, schema)).sum()
    })
}

fn check_segment(segment: &Segment<'_>, schema: &Schema) -> Result<u64, String> {
    let mut naive = naive(segment, schema)?;
    let mut count = 0;
    for column in segment.columns() {
        let which = (column.field(), column.kind());
        let wrong = |what: &str| Err(format!("column {which:?} of {:?}: {what}", segment.id()));
        let Some(expected) = naive.remove(&which) else { return wrong("no row has a value") };
        if !column.iter().eq(expected.iter().copied()) {
            return wrong("its values are not those of the documents");
        }
        count += column.values();
        let Some(same) = segment.column(which.0, which.1) else { return wrong("it is not found") };
        if same.iter().count() != expected.len() {
            return wrong("another one is found for it");
        }
        if !counts_are_right(&column, &expected) {
            return wrong("it counts other values than it has");
        }
        for within in [0..=u64::MAX, middle(&expected)..=u64::MAX, 0..=middle(&expected)] {
            let hit = expected.iter().filter(|(_, value)| within.contains(value));
            let mut hit: Vec<u32> = hit.map(|(rank, _)| *rank).collect();
            hit.dedup();
            let words = segment.rows().div_ceil(64) as usize;
            let mut bits = vec![0; words];
            column.range_bits(Level::detect(), column.base_rank(), within.clone(), &mut bits);
            let is_set = |bit: &u32| bits[*bit as usize / 64] >> (bit % 64) & 1 == 1;
            let set = (0..words as u32 * 64).filter(is_set).map(|bit| column.base_rank() + bit);
            if !set.eq(hit) {
                return wrong("a range finds other rows");
            }
        }
    }
    if naive.is_empty() {
        Ok(count)
    } else {
        Err(format!("there is no column for {:?}", naive.keys()))
    }
}

fn middle(values: &[(u32, u64)]) -> u64 {
    values[values.len() / 2].1
}

fn counts_are_right(column: &Column<'_>, expected: &[(u32, u64)]) -> bool {
    let values = || expected.iter().map(|(_, value)| *value);
    let mut ranks: Vec<u32> = expected.iter().map(|(rank, _)| *rank).collect();
    ranks.dedup();
    let is_keyword = column.kind() == ValueKind::Keyword;
    if column.kind() == ValueKind::Text && column.statistics().tokens != values().sum::<u64>() {
        return false;
    }
    let is_length = column.kind() == ValueKind::Text && column.min() == 0;
    let (least, highest) = (values().min().unwrap(), values().max().unwrap());
    column.values() == expected.len() as u64
        && column.rows_with() == ranks.len() as u64
        && column.is_multi() == (ranks.len() < expected.len())
        && (column.min() == least || is_length || is_keyword && column.min() < least)
        && (column.max() == highest || is_keyword && column.max() > highest)
}

/// What the stored documents of a segment say.
fn naive(segment: &Segment<'_>, schema: &Schema) -> Result<Naive, String> {
    let (mut all, mut scratch) = (Naive::new(), TextScratch::default());
    for local in (0..segment.rows()).rev() {
        let mut document = Vec::new();
        let read = segment.write_text(local, &mut scratch, &mut document);
        read.map_err(|error| error.to_string())?;
        let Some(end) = document.iter().position(|byte| *byte == encoded::TEXT_END) else {
            continue;
        };
        let row = segment.row_table().row(local);
        if row.key().kind() == KeyKind::None || row.has_lived(local) {
            for (field, length) in lengths_of(schema, &document) {
                let lengths = all.entry((field, ValueKind::Text)).or_default();
                lengths.push((rank_of(local), length.into()));
            }
        }
        for (field, value) in encoded::values(&document[end + 1..]) {
            let of_field = schema.get(field).and_then(Field::keywords);
            let (field, value) = match (of_field, value) {
                (Some(keywords), FieldValue::Text(text)) if text.len() <= TERM_BYTES_MAX => {
                    (keywords, FieldValue::Keyword(text))
                }
                _ => (field, value),
            };
            let (kind, value) = match value {
                FieldValue::Text(_) | FieldValue::Object => continue,
                FieldValue::Keyword(text) => {
                    (ValueKind::Keyword, place_of(segment, field, text.as_bytes())?)
                }
                FieldValue::Integer(n) => of_bits(ValueKind::Integer, n.cast_unsigned()),
                FieldValue::Float(n) => of_bits(ValueKind::Float, n.to_bits()),
                FieldValue::Time(n) => of_bits(ValueKind::Time, n.cast_unsigned()),
                FieldValue::Boolean(yes) => of_bits(ValueKind::Boolean, yes.into()),
            };
            all.entry((field, kind)).or_default().push((rank_of(local), value));
        }
    }
    // A segment that was filled while a field was widened has all its values in the wider kind.
    let widened: Vec<FieldId> =
        all.keys().filter(|(_, kind)| *kind == ValueKind::Float).map(|(field, _)| *field).collect();
    for field in widened {
        let integers = all.remove(&(field, ValueKind::Integer)).unwrap_or_default();
        let wider = integers.into_iter().map(|(rank, value)| {
            let number = ValueKind::Integer.from_sortable(value).cast_signed() as f64;
            (rank, ValueKind::Float.sortable(number.to_bits()))
        });
        all.entry((field, ValueKind::Float)).or_default().extend(wider);
    }
    all.values_mut().for_each(|values| values.sort_unstable());
    Ok(all)
}

fn of_bits(kind: ValueKind, bits: u64) -> (ValueKind, u64) {
    (kind, kind.sortable(bits))
}

/// Where a term is in the segment's order.
fn place_of(segment: &Segment<'_>, field: FieldId, term: &[u8]) -> Result<u64, String> {
    let mut bytes = [0; TERM_BYTES_MAX];
    let mut cursor = segment.terms_from(field, term);
    let place = cursor.place();
    let found = cursor.next_term(&mut bytes).filter(|found| found.field == field);
    match found {
        Some(found) if bytes[..found.len] == *term => Ok(place),
        _ => Err(format!("the segment does not have the keyword {term:?}")),
    }
}
